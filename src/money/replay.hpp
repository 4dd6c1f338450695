// A conversation as a gateway with another policy would have kept it: the client's list goes on,
// and the policy edits what is sent.
//
//     PolicyReplay replay(policy, counting, PolicyReplay::Summaries::sized);
//     replay.append(messages, tokens);                    // what the client's next request added
//     if (replay.edit(moment)) …                          // the policy edited it, as the gateway would have
//     replay.send();                                      // what it shares with the request before
//     replay.history().view();                            // what is sent
//
// A value but for its own history. Decides with the functions that the gateway decides with
// (policy/policy.hpp, policy/edit_plan.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <undertext/history.hpp>

#include "policy/edit_plan.hpp"
#include "policy/policy.hpp"
#include "sequence/entry.hpp"

namespace undertext {

class PolicyReplay {
 public:
  enum class Summaries : std::uint8_t {
    written,  // digests, as the gateway makes them
    sized,    // none is written: each is taken to be as long as it may be
  };
  using Count = std::function<std::uint32_t(const Message&)>;

  PolicyReplay(GatewayPolicy policy, Count count, Summaries summaries);

  // To the end. `tokens`: of each, known already; empty: they are counted.
  void append(std::span<const Message> messages, std::span<const std::uint32_t> tokens = {});
  // Messages that the client dropped, by the order in which they were appended. What a summary
  // stands for stays there.
  void drop(std::span<const std::uint64_t> numbers);
  void start_over();                                                  // with an empty list
  void follow(GatewayPolicy policy) { policy_ = std::move(policy); }  // from the next edit on

  // What is known of a request before it is sent.
  struct Moment {
    EditMeasure measure = {};
    std::optional<std::uint64_t> window = {};
    std::uint64_t reserve = 0;
    std::optional<std::int64_t> idle_ms = {};
    std::int64_t cache_lifetime_ms = 300'000;
  };
  bool edit(const Moment& moment);

  // The view is sent: how many of its messages are the beginning of what was sent before.
  std::uint64_t send();

  const History& history() const { return history_; }
  std::uint64_t edits() const { return edits_; }

 private:
  void apply(Operation operation, const Count& count);

  GatewayPolicy policy_;
  const Count count_;
  const StrategyPtr summary_;  // null: as the gateway has it
  History history_;
  EditWaits waits_;
  EntryTree sent_;  // the view that was sent last
  std::uint64_t edits_ = 0;
  std::vector<std::uint32_t> ordinals_;  // of what was appended, in order
};

}  // namespace undertext
