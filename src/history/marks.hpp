// Marks: labels on messages, hidden ones included. A value: copies share everything.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/shared.hpp"
#include "sequence/entry.hpp"

namespace undertext {

// A label that was ever used, and its number. Ordered by text.
struct LabelNote {
  Shared<std::string> text;
  std::uint32_t number;
  friend bool operator==(const LabelNote& a, const LabelNote& b) {
    return a.number == b.number && *a.text == *b.text;
  }
};
template <>
struct ItemCodec<LabelNote> {
  static void write(PageOut& out, const LabelNote* items, unsigned n);
  static std::vector<LabelNote> read(PageIn& in, unsigned n);
};

// Ordered by label, then ordinal.
struct MarkNote {
  std::uint32_t label;  // its number
  std::uint32_t ordinal;
  std::uint64_t key() const { return (static_cast<std::uint64_t>(label) << 32) | ordinal; }
  friend bool operator==(const MarkNote&, const MarkNote&) = default;
};
template <>
struct ItemCodec<MarkNote> {
  static void write(PageOut& out, const MarkNote* items, unsigned n);
  static std::vector<MarkNote> read(PageIn& in, unsigned n);
};
struct MarkSums {
  std::uint64_t last_key = 0;
  static MarkSums of(const MarkNote& note) { return {note.key()}; }
  MarkSums& operator+=(const MarkSums& next) {
    last_key = std::max(last_key, next.last_key);
    return *this;
  }
  friend bool operator==(const MarkSums&, const MarkSums&) = default;
};
template <>
struct SumsCodec<MarkSums> {
  static void write(PageOut& out, const MarkSums& sums) { out.number(sums.last_key); }
  static MarkSums read(PageIn& in) { return {in.number()}; }
};

class Marks {
 public:
  void add(std::string_view label, const std::vector<std::uint32_t>& ordinals);     // O(k log n)
  void remove(std::string_view label, const std::vector<std::uint32_t>& ordinals);  // O(k log n)
  // rising; O(log n + answer)
  std::vector<std::uint32_t> ordinals(std::string_view label) const;
  // by text; O(labels log n)
  std::vector<std::string> labels(std::uint32_t ordinal) const;

  std::vector<std::uint32_t> all_ordinals() const;  // of every label; some more than once

  void save(PageOut& out) const;
  static Marks load(PageIn& in);

 private:
  std::uint64_t label_place(std::string_view label) const;
  std::optional<std::uint32_t> number_of(std::string_view label) const;
  std::uint64_t lower_bound(std::uint64_t key) const;

  HouseTree<LabelNote, NoSums> labels_;
  HouseTree<MarkNote, MarkSums> notes_;
};

}  // namespace undertext
