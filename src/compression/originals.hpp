// The messages behind some of a view: where one of them is a summary, what it stands for, as its
// record says, read through to the end.
//
//     Originals originals(log);
//     for (…) originals.add(ordinal);      // in view order
//     std::vector<Message> messages = originals.take();
//
// Each message comes once. Borrows the log.
#pragma once

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>
#include <vector>

#include <undertext/message.hpp>

#include "history/log.hpp"

namespace undertext {

class Originals {
 public:
  explicit Originals(const Log& log) : log_(log) {}

  void add(std::uint32_t ordinal) {
    // Summaries of summaries are few deep, but a program may make them by hand: so without
    // recursion.
    std::vector<std::uint32_t> open{ordinal};
    while (!open.empty()) {
      const std::uint32_t next = open.back();
      open.pop_back();
      if (!seen_.insert(next).second) continue;
      if (const std::vector<std::uint32_t>* behind = log_.originals(next)) {
        open.insert(open.end(), behind->rbegin(), behind->rend());
      } else {
        messages_.push_back(log_.message(next));
        first_ = std::min(first_, next);
        last_ = std::max(last_, next);
      }
    }
  }
  std::uint32_t first() const { return std::min(first_, last_); }  // ordinals
  std::uint32_t last() const { return last_; }
  std::vector<Message> take() { return std::move(messages_); }

 private:
  const Log& log_;
  std::unordered_set<std::uint32_t> seen_;
  std::uint32_t first_ = no_place, last_ = 0;
  std::vector<Message> messages_;
};

}  // namespace undertext
