// The order of a log: one total order of all its messages, visible or not. It only grows, and
// belongs to no version.
//
// An appended message comes last. What is put at the place of a message of the view (an insertion,
// a summary, an edited copy) comes right before that message. So the order is a forest: what was
// put points to the message it was put in front of, and what was appended is a root.
//
//     0        1        2          3 was put in front of 1, 4 in front of 3, 5 in front of 1
//            /   \                 the order is 0 4 3 5 1 2
//           3     5                (first what was put in front of a message, the earliest first; then the message)
//           |
//           4
//
// A view stands in this order unless END_BATCH carried a message to its end, or IMPORT_MARK_MAP
// said otherwise.
#pragma once

#include <cstdint>
#include <vector>

#include "history/by_ordinal.hpp"

namespace undertext {

// A message that was put. Depth and jump make the common ancestor of two messages findable in O(log
// n) steps: the jump of a message leads to an ancestor whose depth depends on its own depth alone.
struct PutNote {
  std::uint32_t ordinal;
  std::uint32_t front;  // the message it was put in front of
  std::uint32_t root;   // the appended message above it
  std::uint32_t depth;  // below the root
  std::uint32_t jump;
  friend bool operator==(const PutNote&, const PutNote&) = default;
};
template <>
struct ItemCodec<PutNote> {
  static void write(PageOut& out, const PutNote* items, unsigned n);
  static std::vector<PutNote> read(PageIn& in, unsigned n);
};

class LogOrder {
 public:
  bool before(std::uint32_t a, std::uint32_t b) const;  // O(log n) steps of O(log n)

  // Messages are noted with rising ordinals, and put in front of one with a lower ordinal.
  void put(std::uint32_t ordinal, std::uint32_t front);
  void cut(std::uint64_t length);  // forgets the messages from `length` on

  bool is_in_order(const std::vector<std::uint32_t>& ordinals) const;
  void sort(std::vector<std::uint32_t>& ordinals) const;

  // Whether some view of the conversation may stand in another order.
  bool departed() const { return departed_; }
  void depart() { departed_ = true; }

  void save(PageOut& out) const;
  static LogOrder load(PageIn& in);

 private:
  PutNote at(std::uint32_t ordinal) const;

  ByOrdinal<PutNote> notes_;
  bool departed_ = false;
};

}  // namespace undertext
