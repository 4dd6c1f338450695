// What becomes of a view when a client drops messages, or sends some again.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <unordered_set>
#include <vector>

#include "history/placed_view.hpp"

namespace undertext {

class FollowedView {
 public:
  // `listed` answers the ordinals of the client list, as it was and as it will be: messages that
  // only the client takes out. `may_show`: whether a message may be left when another one is
  // expanded.
  FollowedView(const Log& log, PlacedView view,
               std::function<std::unordered_set<std::uint32_t>()> listed,
               std::function<bool(std::uint32_t)> may_show)
      : log_(log),
        view_(std::move(view)),
        listed_(std::move(listed)),
        may_show_(std::move(may_show)) {}

  // These leave the view. Where a visible message stands for some of them, it is expanded to those
  // that remain. `covered` are those among them that a summary of the client's own stands for.
  void drop(const std::vector<std::uint32_t>& gone, const std::vector<std::uint32_t>& covered);
  // It returns, unless it is there or a visible message stands for it that is not the client's own.
  // After drop().
  void show(std::uint32_t ordinal);

  Stretches hidden() const;
  std::vector<std::uint64_t> shown() const { return {shown_.begin(), shown_.end()}; }
  // What the client's summary takes the place of, in the log's order; but for what is said
  // otherwise. After show().
  std::vector<std::uint64_t> covered() const;

 private:
  std::vector<std::uint32_t> new_stand_ins(const std::vector<std::uint32_t>& ordinals);
  struct Expanded {
    std::vector<std::uint32_t> gone;  // what it stands for that went
    bool remains = false;             // whether there is more
  };
  Expanded expand(std::uint32_t maker);
  bool is_listed(std::uint32_t ordinal);
  // Whether a message that is visible afterwards stands for it, or the other way round: EXPAND
  // would say the same twice.
  bool is_said_otherwise(std::uint32_t ordinal) const;

  const Log& log_;
  const PlacedView view_;
  const std::function<std::unordered_set<std::uint32_t>()> listed_;
  const std::function<bool(std::uint32_t)> may_show_;
  std::optional<std::unordered_set<std::uint32_t>> known_listed_;
  std::unordered_set<std::uint32_t> gone_;
  std::unordered_set<std::uint32_t> above_;  // all that stands for one of them
  std::set<std::uint32_t> leaving_, shown_, covered_;
};

}  // namespace undertext
