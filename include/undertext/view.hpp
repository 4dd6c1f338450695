// The ordered messages of one scope: the view of a version, a batch's snapshot, or the log. An
// immutable value.
//
//     for (const Message& message : view) send(message.json());
//     view[3].text();  view.sums().tokens();
//
// A View is a small handle: copying is O(1). It stays readable from any thread, whatever happens to
// the conversation afterwards.
// Random access and index_of() cost O(log n). index_of() costs more among thousands of messages
// that were inserted one by one between the same two appended ones. Iterating costs O(1) a message.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <undertext/export.hpp>
#include <undertext/ids.hpp>
#include <undertext/message.hpp>

namespace undertext {

// Totals of a range of messages, known without reading them.
struct ViewSums {
  std::uint64_t role_counts[role_count] = {};
  std::uint64_t role_tokens[role_count] = {};
  std::uint64_t bytes = 0;  // of JSON

  std::uint64_t count() const {
    return role_counts[0] + role_counts[1] + role_counts[2] + role_counts[3];
  }
  std::uint64_t tokens() const {
    return role_tokens[0] + role_tokens[1] + role_tokens[2] + role_tokens[3];
  }
};

class UNDERTEXT_API View {
 public:
  class iterator;
  using const_iterator = iterator;

  std::uint64_t size() const;
  bool empty() const { return size() == 0; }
  ViewSums sums() const;
  ViewSums sums(std::uint64_t start, std::uint64_t end) const;  // of a range; O(log n)

  // in a range; O(log n)
  std::uint64_t count(Role role, std::uint64_t start, std::uint64_t end) const;

  // index < size()
  Message operator[](std::uint64_t index) const;
  Ordinal ordinal(std::uint64_t index) const;
  std::int64_t time_ms(std::uint64_t index) const;  // the message's timestamp, else its arrival
  std::uint32_t tokens(std::uint64_t index) const;

  std::optional<std::uint64_t> index_of(Ordinal ordinal) const;

  // The index of the k-th message (from 0) of a role; unset when there are fewer. O(log n).
  std::optional<std::uint64_t> index_of_role(Role role, std::uint64_t k) const;

  // The index at which the longest tail with at most `tokens_max` tokens begins. O(log n).
  std::uint64_t tail_within(std::uint64_t tokens_max) const;

  // Whether the view may be cut before `index`: not inside a tool pair, a set of parallel calls, or
  // a turn in which a model thinks between its tool calls. 0 and size() are always legal, and so is
  // every index of a log. O(log n + length of a turn).
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

}  // namespace undertext

#include <undertext/view_iterator.hpp>
