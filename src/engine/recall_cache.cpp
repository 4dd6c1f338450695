#include "engine/recall_cache.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "history/repeated.hpp"
#include "history/state.hpp"

namespace undertext {

void index_messages(RecallIndex& index, const History& history, std::uint64_t end) {
  Log log = history.rep().log;
  // The index is everybody's: no single request pays for the bytes, but each stops when it has to.
  // What is indexed by then stays, and the next one continues.
  const std::shared_ptr<Work> work = std::exchange(log.work, nullptr);
  StoredReader stored(log);
  for (std::uint32_t ordinal = index.size(); ordinal < end; ++ordinal) {
    if (work) work->go_on();
    index.add(own_words(log, ordinal, stored.message(ordinal)));
  }
}

MessageWords own_words(const Log& log, std::uint32_t ordinal, const Message& body) {
  return repeated_original(log, ordinal, body) ? MessageWords() : text_words(body);
}

namespace {

// The part of a row that the index does not have yet; gaps before it are filled from the messages.
void add_row(RecallIndex& index, const History& history, WordsRow row, std::uint64_t log_length) {
  const std::uint64_t end = std::min(row.end, log_length);
  if (row.first >= end || end <= index.size()) return;
  index_messages(index, history, row.first);
  auto segment = std::make_shared<const Segment>(Segment::read(std::move(row.bytes)));
  if (segment->first() != row.first || segment->end() < row.end)
    throw Failure(
        Error{ErrorCode::corrupt, "a row of the index is of other messages than it says"});
  if (segment->first() < index.size() || segment->end() > end)
    segment = std::make_shared<const Segment>(
        Segment::merged({segment.get()}, index.size(), static_cast<std::uint32_t>(end)));
  index.add(std::move(segment));
}

}  // namespace

RecallIndex RecallCache::index_of(const History& history, std::uint64_t published,
                                  const ReadWords& read_words) {
  const std::uint64_t length = history.rep().log.size();
  const std::uint64_t for_good = std::min(length, published);
  RecallIndex index = [&] {
    const std::lock_guard guard(lock_);
    if (!has_read_ && read_words)
      for (WordsRow& row : read_words()) add_row(index_, history, std::move(row), for_good);
    has_read_ = true;
    index_messages(index_, history, for_good);
    return index_;
  }();
  index_messages(index, history, length);
  return index;
}

void RecallCache::clear() {
  const std::lock_guard guard(lock_);
  index_ = RecallIndex();
  has_read_ = false;
}

}  // namespace undertext
