// The postings of a stretch of a log: for each word the messages that have it, and how often. An
// immutable value of bytes, which are what a store keeps.
//
//     header     format, first ordinal, number of messages, their lengths, number of words
//     directory  for every 32 words: the first of them, and where their postings begin
//     postings   word (difference), size, then per message: ordinal (difference), count
//
// Of 32 bits of hash and a list of differences, the text itself is nowhere.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "recall/words.hpp"

namespace undertext {

struct Posting {
  std::uint32_t ordinal = 0;
  std::uint32_t count = 0;
  std::uint32_t length = 0;  // of the message, in words
};

class Segment {
 public:
  // The messages from `first` on, in order.
  static Segment of(std::uint32_t first, const std::vector<MessageWords>& messages);
  // Of bytes() that were stored. Throws Failure: corrupt; unsupported: a later release wrote them.
  static Segment read(std::string bytes);
  // Neighbours, in order, as one; without messages outside [first, end). Time linear in their
  // bytes.
  static Segment merged(const std::vector<const Segment*>& segments, std::uint32_t first,
                        std::uint32_t end);

  // The same messages, as those from `first` on.
  Segment moved_to(std::uint32_t first) const;

  const std::string& bytes() const { return bytes_; }
  std::uint32_t first() const { return first_; }
  std::uint32_t end() const { return first_ + static_cast<std::uint32_t>(lengths_.size()); }
  // in words
  std::uint32_t length(std::uint32_t ordinal) const { return lengths_[ordinal - first_]; }
  // of all messages
  std::uint64_t words() const { return total_; }

  // The postings of a word, rising. O(log words + postings).
  std::vector<Posting> find(Word word) const;
  // The same, behind what is in `found`.
  void add_found(Word word, std::vector<Posting>& found) const;
  // Of any of these words, rising, as if they were one. As find() for each, or one walk over all
  // words.
  std::vector<Posting> find_any(const std::vector<Word>& words) const;
  // The same of the words with a character: one walk over all words.
  std::vector<Posting> find_any(const WordsWith& words) const;

 private:
  struct Place {
    Word word = 0;
    std::uint32_t at = 0;  // in the postings
  };
  class Words;

  Segment() = default;

  std::string bytes_;
  std::uint32_t first_ = 0;
  std::uint64_t total_ = 0;
  std::vector<std::uint32_t> lengths_;
  std::vector<Place> directory_;
  std::size_t postings_ = 0;  // where they begin in bytes_
};

}  // namespace undertext
