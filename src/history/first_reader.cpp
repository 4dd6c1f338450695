#include "history/first_reader.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>

#include "base/json_text.hpp"

namespace undertext {
namespace {

std::optional<JsonValue> text_of(const JsonValue& object, std::string_view key) {
  if (!object.is(JsonType::object)) return {};
  std::optional<JsonValue> value = object.find(key);
  return value && value->is(JsonType::string) && !value->string_raw().empty() ? value
                                                                              : std::nullopt;
}

// The fields of a part may stand in an object of the part's type inside it.
template <class Visit>
void visit_parts_of(const JsonValue& message, std::string_view type, Visit visit) {
  const std::optional<JsonValue> content = message.find("content");
  if (!content || !content->is(JsonType::array)) return;
  for (const JsonValue part : content->elements()) {
    const std::optional<JsonValue> given = text_of(part, "type");
    if (!given || !given->string_is(type)) continue;
    const std::optional<JsonValue> inner = part.find(type);
    visit(inner && inner->is(JsonType::object) ? *inner : part);
  }
}

// By id, the sides on which the message holds it.
struct Sides {
  bool calls = false, answers = false;
};
using LinksThen = std::map<std::string, Sides>;

LinksThen links_then(const Message& message) {
  LinksThen links;
  const auto add_call = [&](const std::optional<JsonValue>& id) {
    if (id) links[id->string()].calls = true;
  };
  const auto add_result = [&](const std::optional<JsonValue>& id) {
    if (id) links[id->string()].answers = true;
  };
  JsonText text;
  text.read(message.json(), {.depth = std::numeric_limits<std::uint32_t>::max()});
  const JsonValue root = text.root();
  for (const JsonMember member : root.members()) {
    if (!member.value.is(JsonType::array)) continue;
    if (member.key.string_is("toolCalls") || member.key.string_is("tool_calls")) {
      for (const JsonValue call : member.value.elements()) add_call(text_of(call, "id"));
    }
  }
  for (const std::string_view key : {"toolCallId", "tool_call_id"}) add_result(text_of(root, key));
  visit_parts_of(root, "tool_use", [&](const JsonValue& use) { add_call(text_of(use, "id")); });
  visit_parts_of(root, "tool_result",
                 [&](const JsonValue& result) { add_result(text_of(result, "tool_use_id")); });
  return links;
}

// A message of the view that mentions an id.
struct FirstMention {
  std::uint64_t index = 0;
  std::uint32_t ordinal = 0;
  bool calls = false, answers = false;
};

struct FirstPair {
  const FirstMention *call, *result;
};

std::vector<FirstPair> pairs_then(const std::vector<FirstMention>& found) {
  std::vector<FirstPair> pairs;
  const auto calls = [](const FirstMention& o) { return o.calls; };
  const auto answers = [](const FirstMention& o) { return o.answers; };
  const auto first_call = std::find_if(found.begin(), found.end(), calls);
  if (first_call == found.end()) return pairs;
  const auto second_call = std::find_if(first_call + 1, found.end(), calls);
  const FirstMention* call =
      std::none_of(first_call, second_call, answers) ? &*first_call : nullptr;
  for (const FirstMention& o : found) {
    if (o.calls) call = &o;
    if (call && o.answers) pairs.push_back({call, &o});
  }
  return pairs;
}

// A message that stays while all its partners for one id go, as far as they were found.
struct FirstHalf {
  std::uint64_t index = 0;
  std::string id = {};
  bool is_result = false;
  std::vector<std::uint64_t> partners = {};
};

template <class Look>
auto once_a_message(Look look) {
  return [look, last = std::optional<std::uint32_t>()](const Link& link, std::uint64_t) mutable {
    if (last == link.ordinal) return true;
    last = link.ordinal;
    return look(link.ordinal);
  };
}

class FirstPairs {
 public:
  FirstPairs(const Log& log, const PlacedView& view) : log_(log), view_(view) {}

  std::vector<FirstHalf> halves(const Stretches& kept) {
    std::vector<FirstHalf> found;
    for (const std::uint64_t later : reaching_across(kept)) {
      const std::uint32_t ordinal = view_.entries[later].ordinal;
      const LinksThen links = links_of(ordinal);
      for (const auto& link : links) add_halves(found, link.first, ordinal, kept);
    }
    // Around different results of one call different partners were found. Which of them count is
    // decided by this sort: it must stay this one.
    const auto key = [](const FirstHalf& h) { return std::tie(h.index, h.id, h.is_result); };
    std::sort(found.begin(), found.end(),
              [&](const FirstHalf& a, const FirstHalf& b) { return key(a) < key(b); });
    const auto same = [&](const FirstHalf& a, const FirstHalf& b) { return key(a) == key(b); };
    found.erase(std::unique(found.begin(), found.end(), same), found.end());
    return found;
  }

 private:
  std::vector<std::uint64_t> reaching_across(const Stretches& kept) const {
    std::vector<std::uint64_t> found;
    const auto look = [&](std::uint64_t edge, std::uint64_t next_edge) {
      if (edge == 0) return;
      const std::uint32_t place = view_.entries[edge - 1].place;
      view_.entries.visit(
          edge, next_edge, [&](const EntrySums& s) { return s.reach_min <= place; },
          [&](std::uint64_t i, const Entry& e) {
            if (e.reach <= place) found.push_back(i);
            return true;
          });
    };
    for (std::size_t k = 0; k < kept.size(); ++k) {
      look(kept[k].start, kept[k].end);
      look(kept[k].end, k + 1 < kept.size() ? kept[k + 1].start : view_.size());
    }
    return found;
  }

  void add_halves(std::vector<FirstHalf>& found, const std::string& id, std::uint32_t ordinal,
                  const Stretches& kept) {
    const std::vector<FirstMention> around = occurrences(id, ordinal);
    const std::vector<FirstPair> pairs = pairs_then(around);
    for (const FirstPair& pair : pairs) {
      const bool call_stays = keeps(kept, pair.call->index);
      const bool has_ordinal = pair.call->ordinal == ordinal || pair.result->ordinal == ordinal;
      if (!has_ordinal || call_stays == keeps(kept, pair.result->index)) continue;
      FirstHalf half{call_stays ? pair.call->index : pair.result->index, id, !call_stays};
      bool is_whole = false;
      for (const FirstPair& other : pairs) {
        if ((call_stays ? other.call : other.result)->index != half.index) continue;
        half.partners.push_back((call_stays ? other.result : other.call)->index);
        is_whole = is_whole || keeps(kept, half.partners.back());
      }
      if (!is_whole) found.push_back(std::move(half));
    }
  }

  // In view order: no more than 32 messages of the view, and 4096 of the log, on either side;
  // before the message, so many as it took to find a call.
  std::vector<FirstMention> occurrences(const std::string& id, std::uint32_t around) {
    std::vector<FirstMention> found;
    std::size_t looked = 0, limit = 32;
    bool met_call = false;
    const auto look = [&](std::uint32_t ordinal) {
      const LinksThen& links = links_of(ordinal);
      const auto link = links.find(id);
      if (link == links.end()) return true;
      if (const std::optional<std::uint64_t> index = view_.index_of(ordinal)) {
        found.push_back({*index, ordinal, link->second.calls, link->second.answers});
        met_call = met_call || link->second.calls;
      }
      return ++looked < 4096 && (found.size() < limit || !met_call);
    };
    const std::uint64_t hash = Log::hash_of(id);
    log_.visit_mentions_below(hash, around, once_a_message(look));
    looked = 0;
    met_call = true;
    limit = found.size() + 32;
    log_.visit_mentions_from(hash, around, once_a_message(look));
    std::sort(found.begin(), found.end(),
              [](const FirstMention& a, const FirstMention& b) { return a.index < b.index; });
    return found;
  }

  const LinksThen& links_of(std::uint32_t ordinal) {
    const auto [known, is_new] = known_.try_emplace(ordinal);
    if (is_new) known->second = links_then(log_.message(ordinal));
    return known->second;
  }

  const Log& log_;
  const PlacedView& view_;
  std::unordered_map<std::uint32_t, LinksThen> known_;
};

}  // namespace

Stretches mend_first_pairs(const Log& log, const PlacedView& before, Stretches kept, Pairs pairs,
                           const std::vector<std::uint64_t>& pinned) {
  if (pairs == Pairs::literal) return kept;
  FirstPairs first(log, before);
  for (;;) {
    std::vector<std::uint64_t> change;
    for (const FirstHalf& half : first.halves(kept)) {
      if (pairs == Pairs::grow) {
        change.insert(change.end(), half.partners.begin(), half.partners.end());
      } else if (!std::binary_search(pinned.begin(), pinned.end(), half.index)) {
        change.push_back(half.index);
      }
    }
    if (change.empty()) return kept;
    std::sort(change.begin(), change.end());
    change.erase(std::unique(change.begin(), change.end()), change.end());
    kept = pairs == Pairs::grow ? with_indices(kept, change) : without_indices(kept, change);
  }
}

}  // namespace undertext
