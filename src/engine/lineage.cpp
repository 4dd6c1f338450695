#include "engine/lineage.hpp"

#include <algorithm>
#include <limits>

namespace undertext {

Result<Lineage> Lineage::of(Store& store, const ConversationRecord& record) {
  constexpr std::size_t depth_max = 10000;  // of forks of forks; more is a circle
  Lineage lineage;
  ConversationRecord part = record;
  for (;;) {
    if (!part.origin) {
      lineage.parts_.push_back({part.id});
      return lineage;
    }
    const Origin& origin = *part.origin;
    lineage.parts_.push_back({part.id, origin.next_page, origin.log_length, origin.version + 1});
    if (lineage.parts_.size() > depth_max)
      return Error{ErrorCode::corrupt, "the conversation " + record.id + " is its own origin"};
    Result<ConversationRecord> next = store.find(origin.conversation);
    if (!next) {
      if (next.error().code != ErrorCode::not_found) return next.error();
      return Error{ErrorCode::corrupt, "the conversation " + origin.conversation + ", of which " +
                                           part.id + " is a fork, is gone"};
    }
    part = std::move(*next);
  }
}

bool Lineage::has(const std::string& id) const {
  return std::any_of(parts_.begin(), parts_.end(), [&](const Part& part) { return part.id == id; });
}

Lineage::Owner Lineage::owner(std::uint64_t number, std::uint64_t Part::* first) const {
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
  for (const Part& part : parts_) {
    if (number >= part.*first) return {part.id, part.*first, end};
    // a fork may begin below the point at which its origin was forked
    end = std::min(end, part.*first);
  }
  return {parts_.back().id, 0, end};
}

}  // namespace undertext
