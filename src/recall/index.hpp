// The words of a whole log: segments, and behind them the messages that have no segment yet. A
// value:
// copies share everything.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "recall/segment.hpp"

namespace undertext {

class RecallIndex {
 public:
  // Messages come together to segments of so many, and so many segments of one size to a larger
  // one.
  static constexpr std::uint32_t messages_per_segment = 64;
  static constexpr std::size_t segments_per_merge = 8;
  static constexpr std::size_t merged_bytes_max = 4u << 20;  // a larger one is merged no more

  std::uint32_t size() const { return size_; }    // in messages, from ordinal 0 on
  std::uint64_t words() const { return words_; }  // of all of them

  // The next messages.
  void add(MessageWords message);
  void add(std::shared_ptr<const Segment> segment);  // begins at size()
  // The same, where many small segments are expected: they become fewer and larger.
  void add_merging(std::shared_ptr<const Segment> segment);

  std::uint32_t length(std::uint32_t ordinal) const;                    // in words; O(log n)
  std::vector<Posting> find(Word word) const;                           // rising
  std::vector<Posting> find_any(const std::vector<Word>& words) const;  // as Segment's
  std::vector<Posting> find_any(const WordsWith& words) const;
  std::uint64_t size_bytes() const;  // of what is in memory
  std::size_t segments() const { return segments_.size(); }

 private:
  template <class Words, class Has>
  std::vector<Posting> find_each(const Words& words, Has has) const;
  void close_last();
  void merge_last();

  std::vector<std::shared_ptr<const Segment>> segments_;
  std::vector<MessageWords> last_;  // without a segment
  std::uint32_t size_ = 0;
  std::uint64_t words_ = 0;
};

// Of neighbouring segments with so many bytes each, the oldest first: how many of the last ones are
// to become one. 0: none. What a store keeps is merged by the same rule as what is in memory.
std::size_t count_to_merge(const std::vector<std::uint64_t>& sizes);

}  // namespace undertext
