// The ordered messages of one scope (the view of some version, a batch's snapshot, or the log): an immutable value.
//
//     for (const Message& message : view) send(message.json());
//     view[3].text();  view.sums().tokens();
//
// A View is a small handle; copying is O(1), and it stays readable, from any thread, whatever is done to the conversation
// afterwards. Random access and index_of() cost O(log n) (index_of() more among thousands of messages that were inserted one by one
// between the same two appended ones); going through all messages costs O(1) a message. An iterator is about two kilobytes: use it in place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <vector>

#include <undertext/export.hpp>
#include <undertext/ids.hpp>
#include <undertext/message.hpp>

namespace undertext {

// What is known of some messages without reading them.
struct ViewSums {
  std::uint64_t role_counts[role_count] = {};
  std::uint64_t role_tokens[role_count] = {};
  std::uint64_t bytes = 0;  // of JSON

  std::uint64_t count() const { return role_counts[0] + role_counts[1] + role_counts[2] + role_counts[3]; }
  std::uint64_t tokens() const { return role_tokens[0] + role_tokens[1] + role_tokens[2] + role_tokens[3]; }
};

class UNDERTEXT_API View {
 public:
  class iterator;
  using const_iterator = iterator;

  std::uint64_t size() const;
  bool empty() const { return size() == 0; }
  ViewSums sums() const;
  ViewSums sums(std::uint64_t start, std::uint64_t end) const;  // of a range; O(log n)

  std::uint64_t count(Role role, std::uint64_t start, std::uint64_t end) const;  // in a range; O(log n)

  // index < size()
  Message operator[](std::uint64_t index) const;
  Ordinal ordinal(std::uint64_t index) const;
  std::int64_t time_ms(std::uint64_t index) const;  // the message's timestamp, else its arrival
  std::uint32_t tokens(std::uint64_t index) const;

  std::optional<std::uint64_t> index_of(Ordinal ordinal) const;

  // The place of the k-th message (from 0) of a role, or nothing when there are fewer. O(log n).
  std::optional<std::uint64_t> index_of_role(Role role, std::uint64_t k) const;

  // Where the longest tail begins whose messages have at most `tokens_max` tokens together. O(log n).
  std::uint64_t tail_within(std::uint64_t tokens_max) const;

  // Where the view may be cut in two: not inside a tool pair, a set of parallel calls, or a turn in which a model thinks between its tool
  // calls. 0 and size() always may. O(log n), and more by the length of a turn. (Every place of a log counts as one.)
  bool is_legal_cut(std::uint64_t index) const;
  std::uint64_t next_legal_cut(std::uint64_t index) const;      // the first at or after
  std::uint64_t previous_legal_cut(std::uint64_t index) const;  // the last at or before

  iterator begin() const;
  iterator end() const;

  struct Rep;  // internal
  explicit View(std::shared_ptr<const Rep> rep) : rep_(std::move(rep)) {}
  const Rep& rep() const { return *rep_; }

 private:
  std::shared_ptr<const Rep> rep_;
};

// Goes through the messages in order. Valid as long as its View.
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
  static constexpr std::uint32_t read_max = 32;  // as many as lie side by side in a view
  void read_on();                                // from index_ on
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
  std::shared_ptr<const std::vector<Message>> fetched_[2];  // those of a half that were not in memory

  // Stretches of the log met so far. Neighbours in the view are mostly neighbours in the log too; where they are not, one comes back to
  // a stretch soon.
  static constexpr std::size_t stretch_count = 64, stretch_ordinals = 64;
  struct Stretch {
    const void* items = nullptr;
    std::uint32_t begin = 0, count = 0;
  };
  Stretch stretches_[stretch_count];
};

}  // namespace undertext
