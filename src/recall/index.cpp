#include "recall/index.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace undertext {
namespace {

// Segments of one level differ in size by less than eight times.
unsigned level_of(std::uint64_t bytes) {
  return static_cast<unsigned>(std::bit_width(bytes >> 12) + 2) / 3;
}

}  // namespace

std::size_t count_to_merge(const std::vector<std::uint64_t>& sizes) {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  unsigned level = 0;
  for (std::size_t i = sizes.size(); i-- > 0;) {
    if (count > 0 && level_of(sizes[i]) > level) break;
    level = std::max(level, level_of(sizes[i]));
    bytes += sizes[i];
    ++count;
  }
  return count >= RecallIndex::segments_per_merge && bytes <= RecallIndex::merged_bytes_max ? count
                                                                                            : 0;
}

void RecallIndex::add(MessageWords message) {
  words_ += message.length;
  ++size_;
  last_.push_back(std::move(message));
  if (last_.size() >= messages_per_segment) close_last();
}

void RecallIndex::add(std::shared_ptr<const Segment> segment) {
  if (!last_.empty()) close_last();
  size_ = segment->end();
  words_ += segment->words();
  segments_.push_back(std::move(segment));
}

void RecallIndex::add_merging(std::shared_ptr<const Segment> segment) {
  add(std::move(segment));
  merge_last();
}

void RecallIndex::close_last() {
  const auto first = size_ - static_cast<std::uint32_t>(last_.size());
  segments_.push_back(std::make_shared<const Segment>(Segment::of(first, last_)));
  last_.clear();
  merge_last();
}

void RecallIndex::merge_last() {
  std::vector<std::uint64_t> sizes;
  for (const auto& segment : segments_) sizes.push_back(segment->bytes().size());
  const std::size_t count = count_to_merge(sizes);
  if (count == 0) return;
  std::vector<const Segment*> some;
  for (std::size_t i = segments_.size() - count; i < segments_.size(); ++i)
    some.push_back(segments_[i].get());
  auto one = std::make_shared<const Segment>(
      Segment::merged(some, some.front()->first(), some.back()->end()));
  segments_.resize(segments_.size() - count);
  segments_.push_back(std::move(one));
}

std::uint32_t RecallIndex::length(std::uint32_t ordinal) const {
  const auto first_of_last = size_ - static_cast<std::uint32_t>(last_.size());
  if (ordinal >= size_) return 0;
  if (ordinal >= first_of_last) return last_[ordinal - first_of_last].length;
  const auto after = std::upper_bound(
      segments_.begin(), segments_.end(), ordinal,
      [](std::uint32_t wanted, const auto& segment) { return wanted < segment->first(); });
  return (*std::prev(after))->length(ordinal);
}

std::vector<Posting> RecallIndex::find(Word word) const {
  std::vector<Posting> found;
  for (const auto& segment : segments_) segment->add_found(word, found);
  std::uint32_t ordinal = size_ - static_cast<std::uint32_t>(last_.size());
  for (const MessageWords& message : last_) {
    const auto at =
        std::lower_bound(message.counts.begin(), message.counts.end(), word,
                         [](const WordCount& each, Word wanted) { return each.word < wanted; });
    if (at != message.counts.end() && at->word == word)
      found.push_back({ordinal, at->count, message.length});
    ++ordinal;
  }
  return found;
}

template <class Words, class Has>
std::vector<Posting> RecallIndex::find_each(const Words& words, Has has) const {
  std::vector<Posting> found;
  for (const auto& segment : segments_) {
    const std::vector<Posting> some = segment->find_any(words);
    found.insert(found.end(), some.begin(), some.end());
  }
  std::uint32_t ordinal = size_ - static_cast<std::uint32_t>(last_.size());
  for (const MessageWords& message : last_) {
    std::uint32_t count = 0;
    for (const WordCount& each : message.counts)
      if (has(each.word)) count += each.count;
    if (count > 0) found.push_back({ordinal, count, message.length});
    ++ordinal;
  }
  return found;
}

std::vector<Posting> RecallIndex::find_any(const std::vector<Word>& words) const {
  return find_each(words,
                   [&](Word word) { return std::binary_search(words.begin(), words.end(), word); });
}

std::vector<Posting> RecallIndex::find_any(const WordsWith& words) const {
  return find_each(words, [&](Word word) { return words.has(word); });
}

std::uint64_t RecallIndex::size_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& segment : segments_)
    bytes += segment->bytes().size() +
             std::uint64_t{segment->end() - segment->first()} * sizeof(std::uint32_t);
  for (const MessageWords& message : last_)
    bytes += sizeof(message) + message.counts.size() * sizeof(WordCount);
  return bytes;
}

}  // namespace undertext
