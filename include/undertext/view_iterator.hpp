// The iterator of a View. Included by view.hpp; include that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <vector>

#include <undertext/export.hpp>
#include <undertext/ids.hpp>
#include <undertext/message.hpp>
#include <undertext/view.hpp>

namespace undertext {

// Goes through the messages in order. Valid as long as its View. About two kilobytes: use it in
// place.
class UNDERTEXT_API View::iterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = Message;
  using difference_type = std::ptrdiff_t;
  using pointer = const Message*;
  using reference = const Message&;

  iterator() = default;
  const Message& operator*() const { return *messages_[half_ + at_]; }
  const Message* operator->() const { return messages_[half_ + at_]; }
  std::uint64_t index() const { return index_; }
  Ordinal ordinal() const { return Ordinal(ordinals_[half_ + at_]); }

  iterator& operator++() {
    ++index_;
    if (++at_ == count_) read_on();
    return *this;
  }
  void operator++(int) { ++*this; }
  friend bool operator==(const iterator& a, const iterator& b) { return a.index_ == b.index_; }

 private:
  friend class View;
  // messages read at a time: a leaf of the view's tree
  static constexpr std::uint32_t read_max = 32;
  void read_on();  // from index_ on
  void look_ahead();

  const Rep* rep_ = nullptr;
  std::uint64_t index_ = 0;
  std::uint32_t half_ = 0;            // of the arrays below: one is read while the other is filled
  std::uint32_t at_ = 0, count_ = 0;  // in that half
  std::uint32_t ahead_count_ = 0;     // in the other
  std::uint64_t ahead_index_ = 0;     // of what is filled next
  std::uint32_t walk_child_ = 0;
  const void* walk_parent_ = nullptr;
  const Message* messages_[2 * read_max] = {};
  std::uint32_t ordinals_[2 * read_max] = {};
  // those of a half that were not in memory
  std::shared_ptr<const std::vector<Message>> fetched_[2];

  // Recently read stretches of the log. Neighbours in the view are mostly neighbours in the log
  // too; where they are not, a stretch is soon needed again.
  static constexpr std::size_t stretch_count = 64, stretch_ordinals = 64;
  struct Stretch {
    const void* items = nullptr;
    std::uint32_t begin = 0, count = 0;
  };
  Stretch stretches_[stretch_count];
};

}  // namespace undertext
