// A random client that keeps its own list, for tests: it appends, retries, rewinds, edits and
// compacts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace undertext {

// What the client remembers of a message. It spells it as it likes.
struct Remembered {
  std::string role, text;
  bool is_summary = false;
  friend bool operator==(const Remembered&, const Remembered&) = default;
};
using ClientList = std::vector<Remembered>;

class RandomClient {
 public:
  explicit RandomClient(std::uint64_t seed) : random_(seed), is_unique_(one_in(2)) {
    list_.push_back({"system", "be good"});
  }

 protected:
  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::size_t some_place() { return below(list_.size()); }

  Remembered fresh() {
    static constexpr const char* again[] = {"yes", "go on", "ok"};
    const std::string text =
        !is_unique_ && one_in(3) ? again[below(3)] : "text " + std::to_string(next_text_++);
    return {one_in(2) ? "user" : "assistant", text};
  }

  using Difference = ClientList::difference_type;
  ClientList::iterator at(std::size_t place) {
    return list_.begin() + static_cast<Difference>(place);
  }

  // An answer to what it sent last, which the client has or leaves out of its next requests.
  Remembered answer(const ClientList& sent) {
    const Remembered made{"assistant", "answer " + std::to_string(next_text_++)};
    if (one_in(3)) {
      left_out_.push_back({sent.empty() ? Remembered() : sent.back(), made});
    } else {
      list_.push_back(made);
    }
    return made;
  }
  void change_list() {
    earlier_.push_back(list_);
    switch (below(12)) {
      case 0: break;                                            // a retry
      case 1: list_.resize(below(list_.size() + 1)); break;     // a rewind
      case 2: list_ = earlier_[below(earlier_.size())]; break;  // back to an earlier request
      case 3:
        if (!list_.empty()) list_[some_place()] = fresh();
        break;
      case 4:
        if (!list_.empty()) list_.back() = fresh();
        break;
      case 5: {
        const std::size_t from = below(list_.size() + 1),
                          to = from + below(list_.size() + 1 - from);
        list_.erase(at(from), at(to));
        break;
      }
      case 6: list_.insert(at(below(list_.size() + 1)), fresh()); break;
      case 7: compact(); break;
      case 8:
        if (list_.size() > 1 && !is_unique_) std::swap(list_[some_place()], list_[some_place()]);
        break;
      default: break;
    }
    if (!one_in(3))
      for (std::uint64_t more = below(4); more > 0; --more) list_.push_back(fresh());
    spells_lists_ = one_in(2);
  }

  // As Claude Code does it (one stretch), or as Codex does it (messages of the user stay).
  void compact() {
    if (list_.size() < 4) return;
    compact({"user", "summary " + std::to_string(next_text_++), true}, 2 + below(list_.size() - 2));
  }
  void compact(const Remembered& summary, std::size_t end) {
    left_out_.clear();  // the summary tells them
    ClientList compacted(list_.begin(), list_.begin() + 1);
    const bool is_answer = summary.role == "assistant";  // which stands behind what is kept
    const bool keeps_users = is_answer || one_in(2);
    if (!keeps_users) compacted.push_back(summary);
    for (std::size_t i = 1; i < end; ++i)
      if (keeps_users && list_[i].role == "user" && !list_[i].is_summary)
        compacted.push_back(list_[i]);
    if (keeps_users) compacted.push_back(summary);
    compacted.insert(compacted.end(), list_.begin() + static_cast<Difference>(end), list_.end());
    list_ = std::move(compacted);
  }

  std::mt19937_64 random_;
  const bool is_unique_;  // no message twice, and none moves
  ClientList list_;
  std::vector<ClientList> earlier_;
  // Answers that the client does not send, each with the message that was its last one then.
  std::vector<std::pair<Remembered, Remembered>> left_out_;
  std::uint64_t next_text_ = 0;
  bool spells_lists_ = false;
};

}  // namespace undertext
