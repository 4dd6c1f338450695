#include "plain_model.hpp"

namespace undertext {

std::vector<std::size_t> PlainModel::named(const State& s, const Names& names) const {
  std::vector<std::size_t> indices;
  for (const std::uint64_t ordinal : named_ordinals(s, names)) {
    const auto at = std::find(s.view.begin(), s.view.end(), ordinal);
    if (at == s.view.end()) refuse("ordinals");
    indices.push_back(static_cast<std::size_t>(at - s.view.begin()));
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

PlainModel::Ordinals PlainModel::named_ordinals(const State& s, const Names& names) const {
  const bool by_index = names.by == Names::By::index;
  const std::string field = by_index ? "indices" : "ordinals";
  if (names.numbers.empty()) refuse(field);
  Ordinals ordinals;
  for (const std::uint64_t n : names.numbers) {
    if (n >= (by_index ? s.view.size() : log.size())) refuse(field);
    ordinals.push_back(by_index ? s.view[n] : n);
  }
  if (std::set<std::uint64_t>(ordinals.begin(), ordinals.end()).size() != ordinals.size())
    refuse(field);
  return ordinals;
}

PlainModel::Ordinals PlainModel::partners(const Ordinals& view, std::uint64_t ordinal,
                                          const ToolLink& link) const {
  // A result answers the last call of its id before it, else the first after it that has no result
  // of its own.
  const auto holds = [&](std::uint64_t o, ToolLink::Side side) {
    const std::vector<ToolLink> links = log[o].tool_links();
    return std::find(links.begin(), links.end(), ToolLink{side, link.id}) != links.end();
  };
  const auto call_of = [&](std::size_t result_at) -> std::optional<std::uint64_t> {
    for (std::size_t i = result_at + 1; i-- > 0;) {
      if (holds(view[i], ToolLink::Side::call)) return view[i];
    }
    std::size_t first = result_at;
    while (first < view.size() && !holds(view[first], ToolLink::Side::call)) ++first;
    if (first == view.size()) return {};
    for (std::size_t i = first;
         i < view.size() && (i == first || !holds(view[i], ToolLink::Side::call)); ++i) {
      if (holds(view[i], ToolLink::Side::result)) return {};
    }
    return view[first];
  };
  Ordinals found;
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (!holds(view[i], ToolLink::Side::result)) continue;
    const std::optional<std::uint64_t> call = call_of(i);
    if (!call) continue;
    if (link.side == ToolLink::Side::result && view[i] == ordinal) found.push_back(*call);
    if (link.side == ToolLink::Side::call && *call == ordinal) found.push_back(view[i]);
  }
  return found;
}

bool PlainModel::has_partner(const Ordinals& view, std::uint64_t ordinal,
                             const ToolLink& link) const {
  return !partners(view, ordinal, link).empty();
}

bool PlainModel::pairs_are_clear(const Ordinals& view) const {
  std::map<std::string, std::uint64_t> calls_ever;
  for (const Message& message : log) {
    for (const ToolLink& link : message.tool_links())
      calls_ever[link.id] += link.side == ToolLink::Side::call ? 1 : 0;
  }
  std::set<std::string> called, answered;
  for (const std::uint64_t ordinal : view) {
    for (const ToolLink& link : log[ordinal].tool_links()) {
      if (link.side == ToolLink::Side::result) {
        answered.insert(link.id);
      } else if (!called.insert(link.id).second ||
                 (answered.count(link.id) > 0 && calls_ever[link.id] > 1)) {
        return false;
      }
    }
  }
  return true;
}

bool PlainModel::calls(std::uint64_t ordinal) const {
  const std::vector<ToolLink> links = log[ordinal].tool_links();
  return role(ordinal) == Role::assistant &&
         std::any_of(links.begin(), links.end(),
                     [](const ToolLink& link) { return link.side == ToolLink::Side::call; });
}

PlainModel::Ordinals PlainModel::following(const Ordinals& view, std::size_t index) const {
  Ordinals run, found;
  for (std::size_t i = index + 1; i < view.size(); ++i) {
    if (role(view[i]) == Role::user || role(view[i]) == Role::tool) break;
    if (role(view[i]) == Role::assistant) run.push_back(view[i]);
  }
  for (const std::uint64_t ordinal : run) {
    if (log[ordinal].has_reasoning()) break;
    if (calls(ordinal)) found.push_back(ordinal);
  }
  const Message& message = log[view[index]];
  if (found.empty() && !run.empty() && message.is_only_reasoning()) found.push_back(run.front());
  return found;
}

bool PlainModel::has_call(const Ordinals& view, std::uint64_t reasoning) const {
  for (std::size_t i = 0; i < view.size(); ++i) {
    if (view[i] != reasoning) continue;
    const Ordinals found = following(view, i);
    return std::any_of(found.begin(), found.end(),
                       [&](std::uint64_t o) { return calls(o) && !log[o].has_reasoning(); });
  }
  return false;
}

bool PlainModel::parts_reasoning(const Ordinals& before, const Ordinals& after) const {
  std::map<std::uint64_t, Ordinals> now;  // what follows from each
  std::set<std::uint64_t> follows;
  for (std::size_t i = 0; i < after.size(); ++i) {
    if (!log[after[i]].has_reasoning()) continue;
    now[after[i]] = following(after, i);
    follows.insert(now[after[i]].begin(), now[after[i]].end());
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!log[before[i]].has_reasoning()) continue;
    const Ordinals was = following(before, i);
    if (in(after, before[i])) {
      if (now[before[i]].size() < was.size()) return true;
    } else if (std::any_of(was.begin(), was.end(), [&](std::uint64_t o) {
                 return in(after, o) && follows.count(o) == 0;
               })) {
      return true;
    }
  }
  return false;
}

PlainModel::Ordinals PlainModel::mended(const State& s, const Ordinals& before, Ordinals after,
                                        Pairs pairs) const {
  for (bool changed = pairs != Pairs::literal; changed;) {
    changed = false;
    std::set<std::uint64_t> drop, add;
    for (const std::uint64_t ordinal : after) {
      for (const ToolLink& link : log[ordinal].tool_links()) {
        const Ordinals were = partners(before, ordinal, link);
        if (were.empty() ||
            std::any_of(were.begin(), were.end(), [&](std::uint64_t o) { return in(after, o); }))
          continue;
        if (pairs == Pairs::grow) add.insert(were.begin(), were.end());
        if (pairs == Pairs::shrink && !pinned(s, ordinal)) drop.insert(ordinal);
      }
    }
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!log[before[i]].has_reasoning()) continue;
      Ordinals unit = following(before, i);
      unit.push_back(before[i]);
      const auto stays = [&](std::uint64_t o) { return in(after, o); };
      if (std::all_of(unit.begin(), unit.end(), stays) ||
          std::none_of(unit.begin(), unit.end(), stays))
        continue;
      if (pairs == Pairs::grow) add.insert(unit.begin(), unit.end());
      const auto is_pinned_here = [&](std::uint64_t o) { return stays(o) && pinned(s, o); };
      if (pairs == Pairs::shrink && stays(before[i]) &&
          std::any_of(unit.begin(), unit.end(), is_pinned_here))
        continue;
      for (const std::uint64_t o : unit) {
        if (pairs == Pairs::shrink && !pinned(s, o)) drop.insert(o);
      }
    }
    Ordinals next;
    for (const std::uint64_t ordinal : before) {
      if ((in(after, ordinal) || add.count(ordinal)) && !drop.count(ordinal))
        next.push_back(ordinal);
    }
    changed = next != after;
    after = next;
  }
  return after;
}

namespace {

bool calls_itself(const Message& message) {
  const std::vector<ToolLink> links = message.tool_links();
  return std::any_of(links.begin(), links.end(),
                     [](const ToolLink& link) { return link.side == ToolLink::Side::call; });
}

}  // namespace

std::vector<Warning> PlainModel::warnings(const Ordinals& before, const Ordinals& after) const {
  std::vector<Warning> found;
  for (const std::uint64_t ordinal : after) {
    if (!in(before, ordinal)) continue;
    for (const ToolLink& link : log[ordinal].tool_links()) {
      const Ordinals were = partners(before, ordinal, link);
      const bool stays =
          std::any_of(were.begin(), were.end(), [&](std::uint64_t o) { return in(after, o); });
      if (were.empty() || stays || has_partner(after, ordinal, link)) continue;
      found.push_back({link.side == ToolLink::Side::call ? Warning::Code::tool_call_without_result
                                                         : Warning::Code::tool_result_without_call,
                       Ordinal(ordinal), link.id});
    }
    if (log[ordinal].has_reasoning() && !calls_itself(log[ordinal]) && has_call(before, ordinal) &&
        !has_call(after, ordinal))
      found.push_back({Warning::Code::reasoning_without_call, Ordinal(ordinal), ""});
  }
  return found;
}

void PlainModel::put(State& s, const std::vector<std::size_t>& indices, const Ordinals& put) {
  Ordinals next;
  for (std::size_t i = 0; i < s.view.size(); ++i) {
    if (i == indices.front()) next.insert(next.end(), put.begin(), put.end());
    if (std::find(indices.begin(), indices.end(), i) == indices.end()) next.push_back(s.view[i]);
  }
  open_batch(s, s.view, log_before_);
  s.view = next;
}

void PlainModel::run(State& s, const op::Append& o) {
  if (o.messages.empty()) refuse("messages");
  for (const Message& m : o.messages) s.view.push_back(store(m));
}

void PlainModel::run(State& s, const op::Insert& o) {
  if (o.messages.empty()) refuse("messages");
  if (o.position > s.view.size()) refuse("position");
  open_batch(s, s.view, log_before_);
  const std::optional<std::uint64_t> front =
      o.position < s.view.size() ? std::optional(s.view[o.position]) : std::nullopt;
  auto at = s.view.begin() + static_cast<std::ptrdiff_t>(o.position);
  for (const Message& m : o.messages)
    at = s.view.insert(at, front ? store_before(m, *front) : store(m)) + 1;
}

void PlainModel::run(State& s, const op::Replace& o) {
  if (o.messages.empty()) refuse("message");
  if (o.names.by == Names::By::index && o.names.numbers.size() == 1 &&
      o.names.numbers[0] >= s.view.size())
    refuse("index");
  const std::vector<std::size_t> indices = named(s, o.names);
  Ordinals fresh, originals;
  for (const std::size_t i : indices) originals.push_back(s.view[i]);
  for (const Message& m : o.messages) {
    fresh.push_back(store_before(m, originals[0]));
    copies[fresh.back()] = originals;
  }
  put(s, indices, fresh);
}

void PlainModel::run(State& s, const op::Truncate& o) {
  if (!o.keep_first && !o.keep_last && !o.remove_first && !o.remove_last && !o.range)
    refuse("keepFirst");
  if (o.range && o.range->start > o.range->end) refuse("range");
  Ordinals list;
  for (const std::uint64_t ordinal : s.view) {
    if (!o.role || role(ordinal) == *o.role) list.push_back(ordinal);
  }
  const auto slice = [&](std::uint64_t start, std::uint64_t end) {
    end = std::min<std::uint64_t>(end, list.size());
    start = std::min(start, end);
    list = Ordinals(list.begin() + static_cast<std::ptrdiff_t>(start),
                    list.begin() + static_cast<std::ptrdiff_t>(end));
  };
  if (o.keep_first) slice(0, *o.keep_first);
  if (o.keep_last)
    slice(list.size() - std::min<std::uint64_t>(list.size(), *o.keep_last), list.size());
  if (o.remove_first) slice(*o.remove_first, list.size());
  if (o.remove_last) slice(0, list.size() - std::min<std::uint64_t>(list.size(), *o.remove_last));
  if (o.range) slice(o.range->start, o.range->end);
  Ordinals kept;
  for (const std::uint64_t ordinal : s.view) {
    if (in(list, ordinal) || pinned(s, ordinal)) kept.push_back(ordinal);
  }
  kept = mended(s, s.view, kept, o.pairs.value_or(pairs_));
  open_batch(s, s.view, log_before_);
  s.view = kept;
}

void PlainModel::run(State& s, const op::Clear& o) {
  Ordinals kept;
  for (const std::uint64_t ordinal : s.view) {
    if (pinned(s, ordinal) || (o.keep_system_message && role(ordinal) == Role::system))
      kept.push_back(ordinal);
  }
  open_batch(s, s.view, log_before_);
  s.view = kept;
}

void PlainModel::run(State& s, const op::Filter& o) {
  if (o.roles.empty() && o.content_contains.empty() && o.content_excludes.empty()) refuse("roles");
  for (const std::string& t : o.content_contains) {
    if (t.empty()) refuse("contentContains");
  }
  for (const std::string& t : o.content_excludes) {
    if (t.empty()) refuse("contentExcludes");
  }
  Ordinals kept;
  for (const std::uint64_t ordinal : s.view) {
    const std::string text = log[ordinal].text();
    const auto has = [&](const std::string& t) { return text.find(t) != std::string::npos; };
    const bool role_ok = o.roles.empty() ||
                         std::find(o.roles.begin(), o.roles.end(), role(ordinal)) != o.roles.end();
    const bool contains = o.content_contains.empty() ||
                          std::any_of(o.content_contains.begin(), o.content_contains.end(), has);
    const bool excludes = std::any_of(o.content_excludes.begin(), o.content_excludes.end(), has);
    if (pinned(s, ordinal) || (role_ok && contains && !excludes)) kept.push_back(ordinal);
  }
  kept = mended(s, s.view, kept, o.pairs.value_or(pairs_));
  open_batch(s, s.view, log_before_);
  s.view = kept;
}

void PlainModel::run(State& s, const op::Delete& o) {
  const std::vector<std::size_t> indices = named(s, o.names);
  Ordinals kept;
  for (std::size_t i = 0; i < s.view.size(); ++i) {
    if (std::find(indices.begin(), indices.end(), i) == indices.end()) kept.push_back(s.view[i]);
  }
  kept = mended(s, s.view, kept, o.pairs.value_or(pairs_));
  open_batch(s, s.view, log_before_);
  s.view = kept;
}

void PlainModel::run(State& s, const op::Compress& o) {
  const std::vector<std::size_t> indices = named(s, o.names);
  Ordinals fresh;
  compressed_.emplace();
  for (const std::size_t i : indices) compressed_->hidden.push_back(s.view[i]);
  if (o.summary) {
    fresh.push_back(store_before(*o.summary, compressed_->hidden[0]));
    summaries[fresh[0]] = compressed_->hidden;
    compressed_->summaries.emplace_back(fresh[0], compressed_->hidden);
  }
  put(s, indices, fresh);
}

void PlainModel::run(State& s, const op::ApplyPlan& o) {
  if (o.plan.base.value != versions.size() - 1) refuse("plan", ErrorCode::conflict);
  if (o.plan.replacements.empty()) return;
  std::map<std::size_t, const Replacement*> hidden_by;
  for (const Replacement& r : o.plan.replacements) {
    if (r.hidden.empty()) refuse("plan");
    std::uint64_t end = 0;
    for (const Range& range : r.hidden) {
      if (range.start < end || range.start >= range.end || range.end > s.view.size())
        refuse("plan");
      if (r.summary && end > 0 && range.start > end) refuse("plan");
      end = range.end;
      for (std::size_t i = range.start; i < range.end; ++i) {
        if (!hidden_by.emplace(i, &r).second) refuse("plan");
        if (role(s.view[i]) == Role::system || pinned(s, s.view[i])) refuse("plan");
      }
    }
  }
  Ordinals next;
  std::set<const Replacement*> placed;
  compressed_.emplace();
  compressed_->plan = o.plan;
  for (std::size_t i = 0; i < s.view.size(); ++i) {
    const auto hidden = hidden_by.find(i);
    if (hidden == hidden_by.end()) {
      next.push_back(s.view[i]);
      continue;
    }
    compressed_->hidden.push_back(s.view[i]);
    if (!hidden->second->summary || !placed.insert(hidden->second).second) continue;
    next.push_back(store_before(*hidden->second->summary, s.view[i]));
    for (const auto& [index, by] : hidden_by) {
      if (by == hidden->second) summaries[next.back()].push_back(s.view[index]);
    }
    compressed_->summaries.emplace_back(next.back(), summaries[next.back()]);
  }
  if (!warnings(s.view, next).empty() || parts_reasoning(s.view, next)) refuse("plan");
  if (next.empty()) refuse("plan");
  const auto tokens = [&](const Ordinals& view) {
    std::uint64_t sum = 0;
    for (const std::uint64_t ordinal : view) sum += count_tokens(log[ordinal]);
    return sum;
  };
  if (tokens(next) > tokens(s.view)) refuse("plan");
  open_batch(s, s.view, log_before_);
  s.view = next;
}

void PlainModel::run(State& s, const op::CompressBy& o) {
  if (!o.plan) refuse("plan");
  const Result<Plan> plan = o.plan(History());  // those that the test makes do not look at it
  if (!plan) refuse(plan.error().field, plan.error().code);
  run(s, op::ApplyPlan{*plan});
}

void PlainModel::run(State& s, const op::Expand& o) {
  if (o.index >= s.view.size()) refuse("index");
  const std::uint64_t maker = s.view[o.index];
  const Ordinals* const originals = stands_for(maker);
  if (!originals) refuse("index");
  std::set<std::uint64_t> leaving{maker};
  const auto made_in = [&](std::uint64_t ordinal) {
    std::size_t version = 0;
    while (versions[version].log_length <= ordinal) ++version;
    return version;
  };
  for (const auto& [ordinal, others] : copies) {
    if (others == *originals && made_in(ordinal) == made_in(maker)) leaving.insert(ordinal);
  }
  Ordinals staying = s.view;
  std::erase_if(staying, [&](std::uint64_t ordinal) { return leaving.count(ordinal) > 0; });
  // No text returns beside itself.
  if (tells(staying, maker)) refuse("index");
  for (const std::uint64_t ordinal : *originals) {
    if (has_stand_in(staying, ordinal)) refuse("index");
  }
  open_batch(s, s.view, log_before_);
  bring_back(s, leaving, *originals);
}

void PlainModel::run(State& s, const op::Show& o) {
  const Ordinals named = named_ordinals(s, Names::ordinals(o.ordinals));
  for (const std::uint64_t ordinal : named) {
    if (!can_return(s, ordinal) || has_stand_in(named, ordinal) || tells(s.view, ordinal))
      refuse("ordinals");
  }
  const std::set<std::uint64_t> all = with_units(s, {named.begin(), named.end()});
  open_batch(s, s.view, log_before_);
  bring_back(s, {}, {all.begin(), all.end()});
}

const PlainModel::Ordinals* PlainModel::stands_for(std::uint64_t ordinal) const {
  for (const auto* made : {&summaries, &copies}) {
    if (const auto found = made->find(ordinal); found != made->end()) return &found->second;
  }
  return nullptr;
}

bool PlainModel::has_stand_in(const Ordinals& view, std::uint64_t ordinal) const {
  for (const auto* made : {&summaries, &copies}) {
    for (const auto& [maker, originals] : *made) {
      if (in(originals, ordinal) && (in(view, maker) || has_stand_in(view, maker))) return true;
    }
  }
  return false;
}

void PlainModel::bring_back(State& s, const std::set<std::uint64_t>& leaving,
                            const Ordinals& ordinals) {
  const auto place = [&](std::uint64_t ordinal) {
    return std::find(order.begin(), order.end(), ordinal) - order.begin();
  };
  std::erase_if(s.view, [&](std::uint64_t ordinal) { return leaving.count(ordinal) > 0; });
  for (const std::uint64_t ordinal : ordinals) {
    s.view.insert(std::find_if(s.view.begin(), s.view.end(),
                               [&](std::uint64_t other) { return place(other) > place(ordinal); }),
                  ordinal);
  }
}

// The version that last showed it.
std::size_t PlainModel::last_seen(std::uint64_t ordinal) const {
  std::size_t v = versions.size();
  while (v > 0 && !in(versions[v - 1].state.view, ordinal)) --v;
  return v;
}

bool PlainModel::tells(const Ordinals& here, std::uint64_t ordinal) const {
  const Ordinals* const originals = stands_for(ordinal);
  return originals && std::any_of(originals->begin(), originals->end(),
                                  [&](std::uint64_t o) { return in(here, o) || tells(here, o); });
}

// The units in which messages were last seen; then, for those without a partner, the nearest of
// those that were seen last; and so on.
std::set<std::uint64_t> PlainModel::with_units(const State& s, std::set<std::uint64_t> all) const {
  const auto returns = [&](std::uint64_t ordinal) {
    Ordinals here = s.view;
    here.insert(here.end(), all.begin(), all.end());
    return !in(here, ordinal) && !has_stand_in(here, ordinal) && !tells(here, ordinal);
  };
  const auto has_link = [&](std::uint64_t ordinal, const std::string& id, ToolLink::Side side) {
    const std::vector<ToolLink> links = log[ordinal].tool_links();
    return std::any_of(links.begin(), links.end(),
                       [&](const ToolLink& link) { return link.id == id && link.side == side; });
  };
  std::set<std::uint64_t> fresh = all;
  while (!fresh.empty()) {
    std::set<std::uint64_t> left = fresh;
    for (std::size_t v = versions.size(); v-- > 0;) {
      Ordinals seen;
      for (const std::uint64_t ordinal : versions[v].state.view) {
        if (left.erase(ordinal)) seen.push_back(ordinal);
      }
      for (const std::uint64_t ordinal :
           mended(versions[v].state, versions[v].state.view, seen, Pairs::grow)) {
        if (!returns(ordinal)) continue;
        all.insert(ordinal);
        fresh.insert(ordinal);
      }
    }
    std::set<std::uint64_t> partners;
    for (const std::uint64_t ordinal : fresh) {
      for (const ToolLink& link : log[ordinal].tool_links()) {
        const bool wants_call = link.side == ToolLink::Side::result;
        const ToolLink::Side side = wants_call ? ToolLink::Side::call : ToolLink::Side::result;
        std::optional<std::uint64_t> last_before, first_after;
        bool has_one = false, passed = false;
        std::size_t last = 0;
        for (const std::uint64_t other : order) {
          if (!has_link(other, link.id, side)) continue;
          has_one = has_one || in(s.view, other) || all.count(other) > 0;
          if (returns(other)) last = std::max(last, last_seen(other));
        }
        for (const std::uint64_t other : order) {
          passed = passed || other == ordinal;
          if (!has_link(other, link.id, side) || !returns(other) || last_seen(other) < last)
            continue;
          if (!passed) last_before = other;
          if (passed && !first_after) first_after = other;
        }
        if (has_one) continue;
        const std::optional<std::uint64_t> nearest =
            wants_call ? (last_before ? last_before : first_after)
                       : (first_after ? first_after : last_before);
        if (nearest) partners.insert(*nearest);
      }
    }
    fresh.clear();
    for (const std::uint64_t ordinal : partners) {
      if (!returns(ordinal)) continue;
      all.insert(ordinal);
      fresh.insert(ordinal);
    }
  }
  return all;
}

void PlainModel::run(State& s, const op::Merge& o) {
  if (o.indices.size() < 2) refuse("indices");
  const std::vector<std::size_t> indices = named(s, Names::indices(o.indices));
  std::vector<Message> messages;
  for (const std::size_t i : indices) messages.push_back(log[s.view[i]]);
  for (const Message& m : messages) {
    if (m.role() != messages[0].role()) refuse("indices");
    const auto answers = [&](const Message& other) {
      std::set<std::string> ids;
      for (const ToolLink& link : other.tool_links()) {
        if (link.side == ToolLink::Side::result) ids.insert(link.id);
      }
      return ids;
    };
    if (m.role() == Role::tool && answers(m) != answers(messages[0])) refuse("indices");
  }
  Result<Message> merged = merge_messages(messages, o.separator, {});
  if (!merged) refuse(merged.error().field, merged.error().code);
  const std::uint64_t fresh = store_before(*merged, s.view[indices[0]]);
  for (const std::size_t i : indices) copies[fresh].push_back(s.view[i]);
  put(s, indices, {fresh});
}

void PlainModel::run(State& s, const op::Split& o) {
  if (o.index >= s.view.size()) refuse("index");
  Result<std::vector<Message>> pieces = split_message(log[s.view[o.index]], o.at, {});
  if (!pieces) refuse(pieces.error().field, pieces.error().code);
  Ordinals fresh;
  for (const Message& m : *pieces) {
    fresh.push_back(store_before(m, s.view[o.index]));
    copies[fresh.back()] = {s.view[o.index]};
  }
  put(s, {static_cast<std::size_t>(o.index)}, fresh);
}

void PlainModel::run(State& s, const op::Transform& o) {
  std::vector<std::size_t> indices;
  if (const Names* names = std::get_if<Names>(&o.which)) {
    indices = named(s, *names);
  } else {
    const std::vector<Role>& roles = std::get<std::vector<Role>>(o.which);
    if (roles.empty()) refuse("roles");
    for (std::size_t i = 0; i < s.view.size(); ++i) {
      if (std::find(roles.begin(), roles.end(), role(s.view[i])) != roles.end())
        indices.push_back(i);
    }
  }
  std::vector<Message> changed;
  for (const std::size_t i : indices) {
    Result<Message> m = replace_text(log[s.view[i]], std::get<ReplaceText>(o.change), {});
    if (!m) refuse(m.error().field, m.error().code);
    changed.push_back(*m);
  }
  open_batch(s, s.view, log_before_);
  for (std::size_t k = 0; k < indices.size(); ++k) {
    const std::uint64_t original = s.view[indices[k]];
    s.view[indices[k]] = store_before(changed[k], original);
    copies[s.view[indices[k]]] = {original};
  }
}

void PlainModel::run(State& s, const op::StartBatch& o) {
  const std::uint64_t boundary = o.boundary.value_or(log.size());
  if (boundary < s.batches.back().boundary || boundary > log.size()) refuse("boundary");
  Ordinals below, left;
  for (const std::uint64_t ordinal : s.view) {
    if (ordinal < boundary) below.push_back(ordinal);
    if (ordinal >= boundary || pinned(s, ordinal)) left.push_back(ordinal);
  }
  open_batch(s, below, boundary);
  if (o.hide_prior) s.view = left;
}

void PlainModel::run(State& s, const op::Rollback& o) {
  if (o.target_batch_index >= s.batches.size()) refuse("targetBatchIndex");
  if (o.target_batch_index + 1 == s.batches.size()) return;
  s.view = *s.batches[o.target_batch_index].snapshot;
  s.batches.resize(o.target_batch_index + 1);
  s.batches.back().snapshot.reset();
}

void PlainModel::run(State& s, const op::EndBatch& o) {
  if (o.target_batch >= s.batches.size()) refuse("targetBatch");
  Ordinals carried;
  if (o.target_batch + 1 < s.batches.size()) {
    for (const std::uint64_t ordinal : s.view) {
      if (std::find(o.carry.begin(), o.carry.end(), role(ordinal)) != o.carry.end() &&
          !in(*s.batches[o.target_batch].snapshot, ordinal) &&
          ordinal >= s.batches[o.target_batch].left_at) {
        carried.push_back(ordinal);
      }
    }
  }
  run(s, op::Rollback{o.target_batch});
  s.view.insert(s.view.end(), carried.begin(), carried.end());
}

void PlainModel::run(State& s, const op::Mark& o) {
  if (o.mark.empty()) refuse("mark");
  for (const std::uint64_t ordinal : named_ordinals(s, o.names)) s.marks[o.mark].insert(ordinal);
}

void PlainModel::run(State& s, const op::Unmark& o) {
  if (o.mark.empty()) refuse("mark");
  for (const std::uint64_t ordinal : named_ordinals(s, o.names)) s.marks[o.mark].erase(ordinal);
}

void PlainModel::run(State& s, const op::Undo&) {
  if (!versions.back().undo) refuse("", ErrorCode::not_found);
  const std::uint64_t target = *versions.back().undo;
  s = versions[target].state;
  undo_ = versions[target].undo;
  redo_ = versions.size() - 1;
}

void PlainModel::run(State& s, const op::Redo&) {
  if (!versions.back().redo) refuse("", ErrorCode::not_found);
  const std::uint64_t target = *versions.back().redo;
  s = versions[target].state;
  undo_ = versions[target].undo;
  redo_ = versions[target].redo;
}

void PlainModel::run(State& s, const op::Restore& o) {
  if (o.version >= versions.size()) refuse("version", ErrorCode::not_found);
  s = versions[o.version].state;
}

void PlainModel::run(State& s, const op::ImportMarkMap& o) {
  s.view = o.map.original_indices;
  s.batches.clear();
  for (std::uint64_t k = 0; k <= o.map.current_batch; ++k) {
    if (k > 0) {
      s.batches.back().snapshot.emplace();
      s.batches.back().left_at = log.size();
      for (const std::uint64_t ordinal : s.view) {
        if (ordinal < o.map.batch_boundaries[k]) s.batches.back().snapshot->push_back(ordinal);
      }
    }
    s.batches.push_back({o.map.batch_boundaries[k]});
  }
}

PlainModel::Outcome PlainModel::apply(const Operation& operation, Pairs pairs,
                                      std::int64_t now_ms) {
  now_ms_ = now_ms;
  const std::vector<Message> log_before = log;
  const std::map<std::uint64_t, Ordinals> summaries_before = summaries, copies_before = copies;
  const Ordinals order_before = order;
  pairs_ = pairs;
  log_before_ = log.size();
  undo_ = versions.size() - 1;
  redo_.reset();
  compressed_.reset();
  State next = head();
  Outcome outcome;
  try {
    if (operation.options.expected_version &&
        operation.options.expected_version->value != versions.size() - 1) {
      refuse("expectedVersion", ErrorCode::conflict);
    }
    std::visit([&](const auto& what) { run(next, what); }, operation.what);
  } catch (const Refused& refused) {
    log = log_before;
    times.resize(log.size());
    summaries = summaries_before;
    copies = copies_before;
    order = order_before;
    outcome.error = refused.code;
    outcome.field = refused.field;
    return outcome;
  }
  outcome.warnings = warnings(head().view, next.view);
  outcome.warnings_are_clear = pairs_are_clear(head().view) && pairs_are_clear(next.view);
  if (compressed_) compressions[versions.size()] = *compressed_;
  versions.push_back({next, std::string(name(operation)), undo_, redo_, log.size()});
  return outcome;
}

void PlainModel::go_back_to(std::uint64_t version) {
  versions.resize(version + 1);
  log.erase(log.begin() + static_cast<std::ptrdiff_t>(versions.back().log_length), log.end());
  times.resize(log.size());
  summaries.erase(summaries.lower_bound(log.size()), summaries.end());
  copies.erase(copies.lower_bound(log.size()), copies.end());
  std::erase_if(order, [&](std::uint64_t ordinal) { return ordinal >= log.size(); });
  compressions.erase(compressions.upper_bound(version), compressions.end());
}

}  // namespace undertext
