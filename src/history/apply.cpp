// Every operation, as a function from one history to the next. Each overload of `perform` turns a
// draft of the next version into what its operation asks for, or says why it cannot.
#include <algorithm>
#include <limits>
#include <set>
#include <string>

#include <undertext/history.hpp>

#include "base/answering_failure.hpp"
#include "history/client_match.hpp"
#include "history/client_references.hpp"
#include "history/draft.hpp"
#include "history/expected_version.hpp"
#include "history/first_reader.hpp"
#include "history/import.hpp"
#include "history/linked.hpp"
#include "history/merged.hpp"
#include "history/operation_table.hpp"
#include "history/ordered.hpp"
#include "history/plan.hpp"
#include "history/reconcile.hpp"
#include "history/replay.hpp"
#include "history/shown.hpp"
#include "message/edit.hpp"
#include "message/redacted.hpp"

namespace undertext {
namespace {

using Problem = std::optional<Error>;

Error bad(std::string field, std::string message) {
  return {ErrorCode::invalid_argument, std::move(message), std::move(field)};
}

Problem index_problem(const Draft& draft, std::uint64_t index) {
  if (index < draft.view().size()) return {};
  return bad("index", "no message at index " + std::to_string(index) + "; the view has " +
                          std::to_string(draft.view().size()));
}

// The messages at `indices` go; `put` stand in the place of the first.
void put_in_place(Draft& draft, const std::vector<std::uint64_t>& indices,
                  std::vector<std::uint32_t> put) {
  std::vector<Splice> splices;
  splices.reserve(indices.size());
  for (const std::uint64_t index : indices) splices.push_back({index, 1});
  splices.front().put = std::move(put);
  draft.edit(splices);
}

std::vector<Message> messages_at(const Draft& draft, const std::vector<std::uint64_t>& indices) {
  std::vector<Message> messages;
  messages.reserve(indices.size());
  StoredReader stored(draft.log());
  for (const std::uint64_t index : indices)
    messages.push_back(stored.message(draft.view().entries[index].ordinal));
  return messages;
}

template <class Keep>
Stretches stretches_where(const PlacedView& view, std::span<const Role> roles, Keep keep) {
  bool wanted[role_count] = {};
  for (const Role role : roles) wanted[static_cast<std::size_t>(role)] = true;
  if (roles.empty()) std::fill(std::begin(wanted), std::end(wanted), true);
  Stretches found;
  view.entries.visit(
      0, view.size(),
      [&](const EntrySums& s) {
        for (std::size_t r = 0; r < role_count; ++r) {
          if (wanted[r] && s.role_counts[r] > 0) return true;
        }
        return false;
      },
      [&](std::uint64_t i, const Entry& e) {
        if (wanted[e.role_bits] && keep(e)) add_stretch(found, i, i + 1);
        return true;
      });
  return found;
}

// Keeps these, and mends the units that would break. What is replayed here does not say what it
// kept: it is of the first releases, which knew fewer units.
void keep_units(Draft& draft, Stretches kept, Pairs pairs,
                const std::vector<std::uint64_t>& pinned) {
  const auto mend = draft.replays() ? mend_first_pairs : mend_units;
  draft.keep_only(mend(draft.log(), draft.view(), std::move(kept), pairs, pinned));
  draft.open_batch();
}

void keep_with_pins(Draft& draft, const Stretches& kept, Pairs pairs) {
  const std::vector<std::uint64_t> pinned = draft.pinned_indices();
  keep_units(draft, with_indices(kept, pinned), pairs, pinned);
}

// Whether it was carried out before, and its record says what it kept.
bool keep_as_then(Draft& draft) {
  if (!draft.kept_then()) return false;
  draft.keep_only(*draft.kept_then());
  draft.open_batch();
  return true;
}

Problem perform(Draft& draft, const op::Append& append) {
  if (append.messages.empty()) return bad("messages", "give at least one message");
  Result<std::vector<std::uint32_t>> stored = draft.store(append.messages);
  if (!stored) return stored.error();
  draft.append(*stored);
  return {};
}

Problem perform(Draft& draft, const op::Insert& insert) {
  if (insert.messages.empty()) return bad("messages", "give at least one message");
  if (insert.position > draft.view().size()) {
    return bad("position", "position " + std::to_string(insert.position) +
                               " is beyond the view's length " +
                               std::to_string(draft.view().size()));
  }
  Result<std::vector<std::uint32_t>> stored = draft.store(insert.messages);
  if (!stored) return stored.error();
  draft.edit({{insert.position, 0, *stored}});
  draft.open_batch();
  return {};
}

// Each of several messages stands for all that they replace, and the log notes that. What is
// replayed was carried out once.
Problem too_many_pairs(const Draft& draft, std::uint64_t messages, std::uint64_t replaced) {
  constexpr std::uint64_t pairs_max = 1 << 20;
  if (draft.replays() || messages == 1 || messages <= pairs_max / replaced) return {};
  return Error{ErrorCode::too_large,
               "one REPLACE may put " +
                   std::to_string(std::max<std::uint64_t>(pairs_max / replaced, 1)) +
                   " messages in the place of so many: send several",
               "message"};
}

Problem perform(Draft& draft, const op::Replace& replace) {
  if (replace.messages.empty()) return bad("message", "give the message that takes the place");
  if (replace.names.by == Names::By::index && replace.names.numbers.size() == 1) {
    if (Problem problem = index_problem(draft, replace.names.numbers[0])) return problem;
  }
  Result<std::vector<std::uint64_t>> indices = draft.indices_of(replace.names);
  if (!indices) return indices.error();
  if (Problem problem = too_many_pairs(draft, replace.messages.size(), indices->size()))
    return problem;
  Result<std::vector<std::uint32_t>> stored = draft.store_copies(replace.messages, *indices);
  if (!stored) return stored.error();
  put_in_place(draft, *indices, *stored);
  draft.open_batch();
  return {};
}

Problem perform(Draft& draft, const op::Truncate& truncate) {
  if (!truncate.keep_first && !truncate.keep_last && !truncate.remove_first &&
      !truncate.remove_last && !truncate.range) {
    return bad("keepFirst",
               "give at least one of keepFirst, keepLast, removeFirst, removeLast and range");
  }
  if (truncate.range && truncate.range->start > truncate.range->end)
    return bad("range", "range.start is beyond range.end");

  if (keep_as_then(draft)) return {};
  const PlacedView& view = draft.view();
  CountOf of_role;
  if (truncate.role) of_role.wanted[static_cast<std::size_t>(*truncate.role)] = true;
  std::uint64_t start = 0;
  std::uint64_t end = truncate.role ? view.entries.total(of_role) : view.size();
  const auto length = [&] { return end - start; };
  if (truncate.keep_first) end = start + std::min(length(), *truncate.keep_first);
  if (truncate.keep_last) start = end - std::min(length(), *truncate.keep_last);
  if (truncate.remove_first) start += std::min(length(), *truncate.remove_first);
  if (truncate.remove_last) end -= std::min(length(), *truncate.remove_last);
  if (truncate.range) {
    end = start + std::min(length(), truncate.range->end);
    start += std::min(length(), truncate.range->start);
  }

  Stretches kept;
  if (!truncate.role) {
    add_stretch(kept, start, end);
  } else if (start < end) {
    std::uint64_t left = end - start;
    view.entries.visit(
        view.entries.seek(of_role, start), view.size(),
        [&](const EntrySums& s) { return of_role(s) > 0; },
        [&](std::uint64_t i, const Entry& e) {
          if (e.role() != *truncate.role) return true;
          add_stretch(kept, i, i + 1);
          return --left > 0;
        });
  }
  keep_with_pins(draft, kept, truncate.pairs.value_or(draft.context().pairs));
  return {};
}

Problem perform(Draft& draft, const op::Clear& clear) {
  Stretches kept;
  const Role system = Role::system;
  if (clear.keep_system_message)
    kept = stretches_where(draft.view(), {&system, 1}, [](const Entry&) { return true; });
  keep_with_pins(draft, kept, Pairs::literal);
  return {};
}

Problem perform(Draft& draft, const op::Filter& filter) {
  if (filter.roles.empty() && filter.content_contains.empty() && filter.content_excludes.empty()) {
    return bad("roles", "give at least one of roles, contentContains and contentExcludes");
  }
  const auto has_empty = [](const std::vector<std::string>& list) {
    return std::find(list.begin(), list.end(), "") != list.end();
  };
  if (has_empty(filter.content_contains))
    return bad("contentContains", "an empty text is in every message; leave it out");
  if (has_empty(filter.content_excludes))
    return bad("contentExcludes", "an empty text is in every message; leave it out");
  if (keep_as_then(draft)) return {};
  const bool by_text = !filter.content_contains.empty() || !filter.content_excludes.empty();
  StoredReader stored(draft.log());
  constexpr std::size_t looked_max = std::size_t{1} << 20;
  std::size_t looked = 0;  // bytes, since it was last asked whether to go on
  const Stretches kept = stretches_where(draft.view(), filter.roles, [&](const Entry& e) {
    if (!by_text) return true;
    const Message& message = stored.message(e.ordinal);
    const auto in_text = [&](const std::string& needle) {
      // A request may have thousands of texts to look for in megabytes.
      looked += message.json().size();
      if (looked >= looked_max) {
        draft.log().go_on();
        looked = 0;
      }
      return message.text_contains(needle);
    };
    return (filter.content_contains.empty() ||
            std::any_of(filter.content_contains.begin(), filter.content_contains.end(), in_text)) &&
           std::none_of(filter.content_excludes.begin(), filter.content_excludes.end(), in_text);
  });
  keep_with_pins(draft, kept, filter.pairs.value_or(draft.context().pairs));
  return {};
}

Problem perform(Draft& draft, const op::Delete& del) {
  Result<std::vector<std::uint64_t>> indices = draft.indices_of(del.names);
  if (!indices) return indices.error();
  if (keep_as_then(draft)) return {};
  const Pairs pairs = del.pairs.value_or(draft.context().pairs);
  const std::vector<std::uint64_t> pinned =
      pairs == Pairs::shrink ? draft.pinned_indices() : std::vector<std::uint64_t>();
  keep_units(draft, without_indices({{0, draft.view().size()}}, *indices), pairs, pinned);
  return {};
}

Problem perform(Draft& draft, const op::Compress& compress) {
  Result<std::vector<std::uint64_t>> indices = draft.indices_of(compress.names);
  if (!indices) return indices.error();
  std::vector<std::uint32_t> put;
  if (compress.summary) {
    std::vector<std::uint32_t> originals;
    for (const std::uint64_t index : *indices)
      originals.push_back(draft.view().entries[index].ordinal);
    Result<std::uint32_t> summary = draft.store_summary(*compress.summary, std::move(originals));
    if (!summary) return summary.error();
    put.push_back(*summary);
  }
  put_in_place(draft, *indices, std::move(put));
  draft.open_batch();
  return {};
}

Problem perform(Draft& draft, const op::ApplyPlan& apply) { return apply_plan(draft, apply.plan); }

// History::apply has put a plan in its place.
Problem perform(Draft&, const op::CompressBy&) {
  return Error{ErrorCode::internal, "a plan was to be made before"};
}

// Its body went with the versions that showed it.
Problem pruned_problem(const Draft& draft, std::uint32_t ordinal, const char* field) {
  if (draft.replays() || draft.base().first_version == 0 ||
      !was_pruned(draft.log().message(ordinal)))
    return {};
  return Error{ErrorCode::not_found,
               "the message with ordinal " + std::to_string(ordinal) + " was pruned", field};
}

// The messages of the view that one operation made from the same originals, `maker` among them.
std::set<std::uint32_t> made_together(const Draft& draft, std::uint32_t maker,
                                      const std::vector<std::uint32_t>& originals) {
  const std::uint64_t version = draft.base().version_that_stored(maker);
  const auto is_of_them = [&](std::uint64_t ordinal) {
    draft.log().go_on();
    const std::vector<std::uint32_t>* const others =
        draft.log().stands_for(static_cast<std::uint32_t>(ordinal));
    return others && *others == originals && draft.base().version_that_stored(ordinal) == version;
  };
  std::uint64_t first = maker, end = maker + std::uint64_t{1};
  while (first > 0 && is_of_them(first - 1)) --first;
  while (end < draft.log().size() && is_of_them(end)) ++end;
  std::set<std::uint32_t> found;
  for (std::uint64_t ordinal = first; ordinal < end; ++ordinal) {
    if (draft.view().shows(static_cast<std::uint32_t>(ordinal)))
      found.insert(static_cast<std::uint32_t>(ordinal));
  }
  return found;
}

std::string at_index(const Draft& draft, std::uint32_t ordinal) {
  return "ordinal " + std::to_string(ordinal) + " at index " +
         std::to_string(*draft.view().index_of(ordinal));
}

// Whether the view would say twice what `originals` say when they return and `leaving` go: an
// edited piece of a split message tells its part of it.
Problem said_twice_problem(const Draft& draft, std::uint32_t maker,
                           const std::vector<std::uint32_t>& originals,
                           const std::set<std::uint32_t>& leaving) {
  if (draft.replays()) return {};
  if (const std::optional<std::uint32_t> other = visible_original(draft.log(), draft.view(), maker))
    return bad("index", "the message with " + at_index(draft, *other) +
                            " is among what it stands for: hide that first");
  for (const std::uint32_t ordinal : originals) {
    if (const std::optional<std::uint32_t> other =
            stand_in(draft.log(), draft.view(), ordinal, leaving))
      return bad("index", "the message with " + at_index(draft, *other) +
                              " stands for a part of the same: EXPAND that first");
  }
  return {};
}

Problem perform(Draft& draft, const op::Expand& expand) {
  if (Problem problem = index_problem(draft, expand.index)) return problem;
  const std::uint32_t maker = draft.view().entries[expand.index].ordinal;
  const std::vector<std::uint32_t>* originals = draft.log().stands_for(maker);
  if (!originals)
    return bad("index",
               "the message at index " + std::to_string(expand.index) + " stands for no others");
  for (const std::uint32_t ordinal : *originals) {
    if (draft.view().shows(ordinal))
      return bad("index", "ordinal " + std::to_string(ordinal) +
                              ", for which the message stands, is in the view");
    if (Problem problem = pruned_problem(draft, ordinal, "index")) return problem;
  }
  // all of them at its place
  if (draft.tag() == first_tag(operation_rows[alternative_of<op::Expand>()])) {
    put_in_place(draft, {expand.index}, *originals);
    draft.note_departure(draft.view());
  } else {
    const std::set<std::uint32_t> leaving = made_together(draft, maker, *originals);
    if (Problem problem = said_twice_problem(draft, maker, *originals, leaving)) return problem;
    std::vector<std::uint64_t> indices;
    for (const std::uint32_t ordinal : leaving) indices.push_back(*draft.view().index_of(ordinal));
    std::sort(indices.begin(), indices.end());
    draft.bring_back(*originals, indices);
  }
  draft.open_batch();
  return {};
}

Problem perform(Draft& draft, const op::Show& show) {
  Result<std::vector<std::uint32_t>> ordinals = draft.ordinals_of(Names::ordinals(show.ordinals));
  if (!ordinals) return ordinals.error();
  const std::set<std::uint32_t> asked(ordinals->begin(), ordinals->end());
  for (const std::uint32_t ordinal : *ordinals) {
    const std::string which = "the message with ordinal " + std::to_string(ordinal);
    if (draft.view().shows(ordinal)) return bad("ordinals", which + " is in the view");
    if (draft.replays()) continue;  // it was checked, and its unit is part of the record
    if (const std::optional<std::uint32_t> other = stand_in(draft.log(), ordinal, asked))
      return bad("ordinals", which + " and the one with ordinal " + std::to_string(*other) +
                                 ", which stands for it, cannot both return");
    if (const std::optional<std::uint32_t> maker = stand_in(draft.log(), draft.view(), ordinal)) {
      return bad("ordinals", which + " is hidden behind the one with " + at_index(draft, *maker) +
                                 ", which stands for it: EXPAND that");
    }
    if (const std::optional<std::uint32_t> other =
            visible_original(draft.log(), draft.view(), ordinal))
      return bad("ordinals", which + " stands for the one with " + at_index(draft, *other) +
                                 ": hide that first");
    if (Problem problem = pruned_problem(draft, ordinal, "ordinals")) return problem;
  }
  if (!draft.replays()) {
    *ordinals = with_hidden_units(draft.base(), *ordinals);
    draft.record_as(op::Show{{ordinals->begin(), ordinals->end()}});
  }
  draft.bring_back(std::move(*ordinals), {});
  draft.open_batch();
  return {};
}

std::set<std::string> result_ids(const Message& message) {
  std::set<std::string> ids;
  for (ToolLink& link : message.tool_links()) {
    if (link.side == ToolLink::Side::result) ids.insert(std::move(link.id));
  }
  return ids;
}

Result<Message> merge_at(const Draft& draft, const std::vector<std::uint64_t>& indices,
                         const std::string& separator) {
  const std::vector<Message> messages = messages_at(draft, indices);
  const std::set<std::string> ids = result_ids(messages.front());
  for (const Message& message : messages) {
    if (message.role() != messages.front().role())
      return bad("indices", "messages to merge have one role");
    if (message.role() == Role::tool && result_ids(message) != ids)
      return bad("indices", "results of different calls cannot be merged");
  }
  return merge_messages(messages, separator, draft.context().limits);
}

Problem perform(Draft& draft, const op::Merge& merge) {
  if (merge.indices.size() < 2) return bad("indices", "name two or more messages");
  Result<std::vector<std::uint64_t>> indices = draft.indices_of(Names::indices(merge.indices));
  if (!indices) return indices.error();
  // What is carried out again looks into no body: some may have been taken out since.
  Result<Message> merged =
      draft.replays() ? some_message() : merge_at(draft, *indices, merge.separator);
  if (!merged) return merged.error();
  draft.count_made(*merged);
  Result<std::vector<std::uint32_t>> stored = draft.store_copies({&*merged, 1}, *indices);
  if (!stored) return stored.error();
  put_in_place(draft, *indices, *stored);
  draft.open_batch();
  return {};
}

Problem perform(Draft& draft, const op::Split& split) {
  if (Problem problem = index_problem(draft, split.index)) return problem;
  Result<std::vector<Message>> pieces =
      draft.replays()
          ? Result<std::vector<Message>>(std::vector<Message>(split.at.size() + 1, some_message()))
          : split_message(messages_at(draft, {split.index}).front(), split.at,
                          draft.context().limits);
  if (!pieces) return pieces.error();
  for (const Message& piece : *pieces) draft.count_made(piece);
  Result<std::vector<std::uint32_t>> stored = draft.store_copies(*pieces, {split.index});
  if (!stored) return stored.error();
  put_in_place(draft, {split.index}, *stored);
  draft.open_batch();
  return {};
}

struct Change {
  const Message& message;
  const MessageLimits& limits;

  Result<Message> operator()(const ReplaceText& change) const {
    return replace_text(message, change, limits);
  }
  Result<Message> operator()(const TruncateText& change) const {
    return truncate_text(message, change, limits);
  }
  Result<Message> operator()(const SetMetadata& change) const {
    return set_metadata(message, change, limits);
  }
  Result<Message> operator()(const op::TransformFunction& change) const {
    if (!change) return bad("transform", "the function is empty");
    return change(message);
  }
};

Problem perform(Draft& draft, const op::Transform& transform) {
  std::vector<std::uint64_t> indices;
  if (const Names* names = std::get_if<Names>(&transform.which)) {
    Result<std::vector<std::uint64_t>> named = draft.indices_of(*names);
    if (!named) return named.error();
    indices = std::move(*named);
  } else {
    const std::vector<Role>& roles = std::get<std::vector<Role>>(transform.which);
    if (roles.empty()) return bad("roles", "name at least one role");
    for (const Range& r : stretches_where(draft.view(), roles, [](const Entry&) { return true; })) {
      for (std::uint64_t i = r.start; i < r.end; ++i) indices.push_back(i);
    }
  }
  std::vector<Message> changed;
  changed.reserve(indices.size());
  if (draft.replays()) changed.assign(indices.size(), some_message());
  for (std::size_t k = changed.size(); k < indices.size(); ++k) {
    const Message message = messages_at(draft, {indices[k]}).front();
    Result<Message> result = std::visit(Change{message, draft.context().limits}, transform.change);
    if (!result) return result.error();
    // A copy in which nothing changed is the message itself, and takes no bytes of its own.
    const bool is_same = *result == message;
    if (!is_same) draft.count_made(*result);
    changed.push_back(is_same ? message : std::move(*result));
  }
  std::vector<Splice> splices;
  splices.reserve(indices.size());
  for (std::size_t k = 0; k < indices.size(); ++k) {
    Result<std::vector<std::uint32_t>> copy = draft.store_copies({&changed[k], 1}, {indices[k]});
    if (!copy) return copy.error();
    splices.push_back({indices[k], 1, std::move(*copy)});
  }
  draft.edit(splices);
  draft.open_batch();
  return {};
}

Problem perform(Draft& draft, const op::StartBatch& start) {
  const std::uint64_t lowest = draft.batches()[draft.current_batch()].boundary;
  const std::uint64_t boundary = start.boundary.value_or(draft.log().size());
  if (boundary < lowest || boundary > draft.log().size()) {
    return bad("boundary", "a boundary here is from " + std::to_string(lowest) + " to " +
                               std::to_string(draft.log().size()));
  }
  const Stretches below = draft.view().stretches_below(boundary);
  PlacedView snapshot = only_kept(draft.log(), draft.view(), below);
  if (start.hide_prior)
    draft.keep_only(with_indices(complement(below, draft.view().size()), draft.pinned_indices()));
  draft.open_batch(static_cast<std::uint32_t>(boundary), std::move(snapshot));
  return {};
}

Problem batch_problem(const Draft& draft, std::uint64_t batch, const char* field) {
  if (batch <= draft.current_batch()) return {};
  return bad(field, "there is no batch " + std::to_string(batch) + "; the current one is " +
                        std::to_string(draft.current_batch()));
}

Problem perform(Draft& draft, const op::Rollback& rollback) {
  if (Problem problem = batch_problem(draft, rollback.target_batch_index, "targetBatchIndex"))
    return problem;
  draft.roll_back(rollback.target_batch_index);
  return {};
}

Problem perform(Draft& draft, const op::EndBatch& end) {
  if (Problem problem = batch_problem(draft, end.target_batch, "targetBatch")) return problem;
  std::vector<std::uint32_t> carried;
  if (end.target_batch < draft.current_batch() && !end.carry.empty()) {
    // The log's length when the batch was left; an explicit boundary of the next one may lie below
    // it.
    const std::uint64_t boundary =
        draft.base().versions[draft.batches()[end.target_batch + 1].opened_in - 1].log_length;
    const PlacedView& snapshot = snapshot_of(draft.batches(), end.target_batch);
    CountOf wanted;
    for (const Role role : end.carry) wanted.wanted[static_cast<std::size_t>(role)] = true;
    draft.view().entries.visit(
        0, draft.view().size(), [&](const EntrySums& s) { return s.ordinal_max >= boundary; },
        [&](std::uint64_t, const Entry& e) {
          if (e.ordinal >= boundary && wanted.wanted[e.role_bits] && !snapshot.shows(e.ordinal)) {
            carried.push_back(e.ordinal);
          }
          return true;
        });
  }
  draft.roll_back(end.target_batch);
  draft.append(carried);
  return {};
}

template <class MarkOrUnmark>
Result<std::vector<std::uint32_t>> to_mark(const Draft& draft, const MarkOrUnmark& mark) {
  if (mark.mark.empty()) return bad("mark", "a mark has a name");
  return draft.ordinals_of(mark.names);
}

Problem perform(Draft& draft, const op::Mark& mark) {
  Result<std::vector<std::uint32_t>> ordinals = to_mark(draft, mark);
  if (!ordinals) return ordinals.error();
  draft.add_mark(mark.mark, *ordinals);
  return {};
}

Problem perform(Draft& draft, const op::Unmark& mark) {
  Result<std::vector<std::uint32_t>> ordinals = to_mark(draft, mark);
  if (!ordinals) return ordinals.error();
  draft.remove_mark(mark.mark, *ordinals);
  return {};
}

// What UNDO and REDO would bring back from a version. An ordinary operation is undone by the
// version before it; an UNDO or REDO stands where its target stood, so it has its target's links,
// and the way back.
struct Links {
  std::optional<std::uint32_t> undo, redo;
};
Links links_of(const History::Rep& rep, std::uint64_t version) {
  if (version == 0) return {};
  const VersionRow& row = rep.versions[version];
  if (row.operation && traits_of(row.operation->operation).moves_undo)
    return {row.operation->undo, row.operation->redo};
  return {static_cast<std::uint32_t>(version - 1), {}};
}

Problem perform(Draft& draft, const op::Undo&) {
  const std::uint64_t head = draft.base().head_number();
  const std::optional<std::uint32_t> target = links_of(draft.base(), head).undo;
  if (!target) return Error{ErrorCode::not_found, "there is nothing to undo"};
  if (!draft.base().has_version(*target)) return no_version("", *target, draft.base());
  draft.restore(*target);
  draft.set_undo(links_of(draft.base(), *target).undo, static_cast<std::uint32_t>(head));
  return {};
}

Problem perform(Draft& draft, const op::Redo&) {
  const std::optional<std::uint32_t> target =
      links_of(draft.base(), draft.base().head_number()).redo;
  if (!target) return Error{ErrorCode::not_found, "there is nothing to redo"};
  if (!draft.base().has_version(*target)) return no_version("", *target, draft.base());
  const Links links = links_of(draft.base(), *target);
  draft.restore(*target);
  draft.set_undo(links.undo, links.redo);
  return {};
}

Problem perform(Draft& draft, const op::Restore& restore) {
  if (!draft.base().has_version(restore.version))
    return no_version("version", restore.version, draft.base());
  draft.restore(restore.version);
  return {};
}

Problem perform(Draft& draft, const op::ImportMarkMap& import) {
  return import_mark_map(draft, import.map);
}

// History::apply has put the differences in its place.
Problem perform(Draft&, const op::Reconcile&) {
  return Error{ErrorCode::internal, "the differences were to be found before"};
}
Problem perform(Draft& draft, const op::Reconciled& reconciled) {
  return apply_differences(draft, reconciled);
}

Problem perform(Draft&, const op::Recall&) {
  return Error{ErrorCode::internal, "the search was to be made before"};
}
Problem perform(Draft& draft, const op::Recalled& recalled) {
  if (recalled.messages.size() != 1)
    return bad("messages", "give the one message that quotes what was found");
  draft.count_made(recalled.messages.front());
  Result<std::vector<std::uint32_t>> stored = draft.store(recalled.messages);
  if (!stored) return stored.error();
  draft.append(*stored);
  draft.add_mark(recalled_mark, *stored);
  return {};
}

Problem perform(Draft&, const op::MergeFork&) {
  return Error{ErrorCode::internal, "the fork was to be read before"};
}
Problem perform(Draft& draft, const op::MergedFork& merged) {
  if (merged.messages.empty()) return bad("messages", "give what the fork achieved");
  for (const Message& message : merged.messages) draft.count_made(message);
  Result<std::vector<std::uint32_t>> stored = draft.store(merged.messages);
  if (!stored) return stored.error();
  draft.append(*stored);
  draft.only_appended();
  return {};
}

Problem perform(Draft& draft, const op::ExpandFork& expand) {
  if (Problem problem = index_problem(draft, expand.index)) return problem;
  if (expand.messages.empty()) return bad("messages", "give the fork's messages");
  for (const Message& message : expand.messages) draft.count_made(message);
  Result<std::vector<std::uint32_t>> stored = draft.store_copies(expand.messages, {expand.index});
  if (!stored) return stored.error();
  put_in_place(draft, {expand.index}, *stored);
  draft.open_batch();
  return {};
}

// Whose arguments exclude each other.
Problem merge_problem(const op::MergeFork& merge) {
  const bool picks = merge.mode == MergeMode::pick;
  if (picks && merge.ordinals.empty()) return bad("ordinals", "name the fork's messages to take");
  if (!picks && !merge.ordinals.empty()) return bad("ordinals", "go with the mode pick only");
  if (merge.summary && merge.mode != MergeMode::summary)
    return bad("summary", "goes with the mode summary only");
  return {};
}

bool are_within(const Stretches& stretches, std::uint64_t size) {
  std::uint64_t end = 0;
  for (const Range& r : stretches) {
    if (r.start < end || r.start >= r.end || r.end > size) return false;
    end = r.end;
  }
  return true;
}

// No version: the head is told as it is.
Result<Step> unchanged(const History& history) {
  Applied applied;
  applied.operation = operation_rows[alternative_of<op::Reconcile>()].name;
  applied.version = history.version();
  applied.stats = history.stats();
  applied.affected_batch_index = BatchIndex(applied.stats.current_batch_index);
  return Step{history, std::move(applied)};
}

Result<Step> follow_whole(const History& history, const op::Reconcile& reconcile,
                          std::uint64_t alike, const OperationOptions& options,
                          const ApplyContext& context) {
  Differences found = differences(history.limited(context.work).rep(), reconcile, alike);
  Result<Step> step = found.reconciliation.outcome == ReconcileOutcome::same
                          ? unchanged(history)
                          : history.apply({std::move(found.record), options}, context);
  if (step) step->applied.reconciliation = found.reconciliation;
  return step;
}

Result<Step> follow(const History& history, const op::Reconcile& reconcile,
                    const OperationOptions& options, const ApplyContext& context) {
  const History limited = history.limited(context.work);
  // A long request is mostly what it was: it is walked through once.
  const std::uint64_t alike = common_beginning(limited.rep(), reconcile);
  if (!has_references(reconcile, alike))
    return follow_whole(history, reconcile, alike, options, context);
  const Result<op::Reconcile> whole = with_references(limited.rep(), reconcile);
  return whole ? follow_whole(history, *whole, alike, options, context) : whole.error();
}

Result<Step> carry_out(Draft& draft, const Operation& operation) {
  if (Problem problem =
          std::visit([&](const auto& what) { return perform(draft, what); }, operation.what))
    return *problem;
  return std::move(draft).finish(operation);
}

}  // namespace

Result<Step> replay(const History& history, RecordedOperation record, std::int64_t at_ms,
                    const std::vector<StoredMessage>& given) {
  Operation& operation = record.operation;
  if (record.tag != 0 && !has_tag(row_of(operation), record.tag)) {
    return Error{ErrorCode::corrupt,
                 "a stored " + std::string(name(operation)) + " has the tag of another operation"};
  }
  const bool has_kept = records_kept(operation, record.tag);
  // A FILTER by text that does not say it is from an export of the first release.
  if (record.kept ? !has_kept || !are_within(*record.kept, history.view().size())
                  : has_kept && !is_filter_by_text(operation)) {
    return Error{ErrorCode::corrupt,
                 "a stored " + std::string(name(operation)) + " cannot have kept what it says"};
  }
  if (!history.rep().log.order_known && needs_order(record))
    return replay(with_order(history), std::move(record), at_ms, given);
  // Only here a replay needs to know what belongs together.
  if (!record.kept && mends_units(operation) && !history.rep().log.links_known)
    return replay(with_links(history), std::move(record), at_ms, given);
  // Any of them will do: what was made then is taken.
  std::visit(
      [&](auto& what) {
        if constexpr (requires { what.messages; })
          what.messages.assign(given.size(), some_message());
      },
      operation.what);
  constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
  const ApplyContext context{
      at_ms, {}, Pairs::literal, {unlimited, std::numeric_limits<std::uint32_t>::max()}};
  Draft draft(history.rep(), context, &given, &record);
  Result<Step> step = carry_out(draft, operation);
  if (!step) {
    return Error{ErrorCode::corrupt, "a stored " + std::string(name(operation)) +
                                         " cannot be replayed: " + step.error().message};
  }
  if (step->history.rep().log.size() != history.rep().log.size() + given.size()) {
    return Error{ErrorCode::corrupt, "a stored " + std::string(name(operation)) +
                                         " has another number of messages than it stored"};
  }
  return step;
}

Result<Step> History::apply(const Operation& operation, const ApplyContext& context) const {
  return answering_failure([&]() -> Result<Step> {
    if (std::optional<Error> error = check_expected_version(operation.options, version()))
      return std::move(*error);
    if (!rep().log.links_known) return with_links(*this).apply(operation, context);
    if (!rep().log.order_known) return with_order(*this).apply(operation, context);
    if (rep().versions.size() > std::numeric_limits<std::uint32_t>::max() - 1) {
      return Error{ErrorCode::too_large, "the conversation has as many versions as it can"};
    }
    if (context.work) context.work->go_on();
    if (const auto* compress = std::get_if<op::CompressBy>(&operation.what)) {
      if (!compress->plan) return bad("plan", "the function is empty");
      Result<Plan> plan = compress->plan(limited(context.work));
      if (!plan) return plan.error();
      return apply({op::ApplyPlan{std::move(*plan)}, operation.options}, context);
    }
    if (const auto* recall = std::get_if<op::Recall>(&operation.what)) {
      if (!recall->find)
        return Error{ErrorCode::unsupported, "only a conversation has an index to search",
                     "operation"};
      Result<op::Recalled> recalled = recall->find(limited(context.work));
      if (!recalled) return recalled.error();
      return apply({std::move(*recalled), operation.options}, context);
    }
    if (const auto* merge = std::get_if<op::MergeFork>(&operation.what)) {
      if (Problem problem = merge_problem(*merge)) return std::move(*problem);
      if (!merge->find)
        return Error{ErrorCode::unsupported, "only a stored conversation knows its forks",
                     "operation"};
      Result<op::MergedFork> merged = merge->find(limited(context.work));
      if (!merged) return merged.error();
      return apply({std::move(*merged), operation.options}, context);
    }
    const auto* const expand = std::get_if<op::Expand>(&operation.what);
    const op::MergedFork* const of_fork =
        expand ? summary_of_fork_at(rep(), expand->index) : nullptr;
    if (of_fork) {
      if (!expand->find)
        return Error{ErrorCode::unsupported, "only a stored conversation can read its forks",
                     "index"};
      Result<op::ExpandFork> found = expand->find(*of_fork);
      if (!found) return found.error();
      found->index = expand->index;
      return apply({std::move(*found), operation.options}, context);
    }
    if (const auto* reconcile = std::get_if<op::Reconcile>(&operation.what))
      return follow(*this, *reconcile, operation.options, context);
    Draft draft(rep(), context);
    return carry_out(draft, operation);
  });
}

}  // namespace undertext
