// What a gateway may change in the requests that pass through it, as data.
//
//     GatewayPolicies policies = GatewayPolicies::read(R"({"mode":"compact","when":"cold"})").value();
//     GatewayPolicy policy = policies.of({.tenant = "acme", .model = "claude-opus-4-7"});
//     if (std::optional<EditGoal> goal = edit_goal(policy, situation))
//       conversation.compress(*edit_strategy(policy, *goal), {.tokens_max = goal->tokens_max});
//
// Values: no clock, no store. The same policy and situation give the same decision, so recorded
// turns can be replayed under another policy. docs/gateway.md has every member with its default.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/compression.hpp>
#include <undertext/error.hpp>

namespace undertext {

struct GatewayPolicy {
  enum class Mode : std::uint8_t {
    observe,  // requests pass unchanged
    fit,      // only what would exceed the model's window is edited, and only if it fits then
    tidy,     // results of tools that are superseded, repeated or old become stubs
    compact,  // the default pipeline: tidy, then summaries, then the largest tail that fits
  };
  enum class When : std::uint8_t {
    limit,  // above the threshold
    cold,   // above the threshold and the provider's cache has expired: an edit then costs nothing
  };
  enum class Tools : std::uint8_t {
    none,
    recall,  // the model gets tools that reach hidden messages
  };
  enum class Compaction : std::uint8_t {
    off,      // a client's requests for a compaction go to the provider
    pointer,  // the engine answers them, with an item that names conversation and version
  };

  Mode mode = Mode::observe;
  When when = When::limit;
  std::optional<std::uint64_t> window_tokens = {};     // default: the model's
  std::optional<std::uint64_t> threshold_tokens = {};  // default: threshold_percent
  // of the window; default: default_threshold_percent()
  std::optional<std::uint64_t> threshold_percent = {};
  std::optional<std::uint64_t> target_tokens = {};  // default: target_percent
  // of the window; default: a quarter of the threshold, of fit three
  std::optional<std::uint64_t> target_percent = {};
  std::uint64_t headroom_turns = 0;  // as CompressionConfig::headroom_turns
  // the newest results of tools, which tidy leaves as they are
  std::uint64_t keep_results = 3;
  // how long the provider's cache lives; default: the request's
  std::optional<std::uint64_t> cache_seconds = {};
  SurvivalPolicy survival = {};
  bool repair = false;  // what the provider would refuse is repaired
  Tools tools = Tools::none;
  Compaction compaction = Compaction::off;

  // Whether messages of requests may be changed. false: nothing waits for their conversation, and
  // without `tools`, which are offered beside the messages, they pass byte for byte.
  bool edits() const;
  // fit: 100; tidy, compact: 40, and 25 with when: cold
  std::uint64_t default_threshold_percent() const;
};
std::string_view name(GatewayPolicy::Mode mode);  // "observe", …

// Which request is asked about.
struct PolicySubject {
  std::string_view tenant = {};
  std::string_view model = {};
  std::string_view conversation = {};  // its id; empty: not known yet
};

// The policies of a gateway: its own, and what differs for a tenant, a model or a conversation. A
// member that a more specific one does not give is that of the less specific one: gateway, tenant,
// model, conversation. Models and conversations are named, or end with '*'; of several that match,
// the longer name is the more specific one.
class GatewayPolicies {
 public:
  GatewayPolicies() = default;  // observe
  // {"mode":…, …, "tenants":{NAME:{…}}, "models":{NAME:{…}}, "conversations":{ID:{…}}}, or the name
  // of a mode.
  // invalid_argument with the field: no JSON object, an unknown or wrong member.
  static Result<GatewayPolicies> read(std::string_view text);

  GatewayPolicy of(const PolicySubject& subject) const;
  // The gateway's own; those of a tenant, a model or a conversation count more.
  void set_tools(GatewayPolicy::Tools tools);
  // GatewayPolicy::edits() of this tenant, whatever the model and conversation. false: a request
  // passes at once.
  bool may_edit(std::string_view tenant) const;
  // somebody's policy has Compaction::pointer
  bool answers_compactions() const { return answers_compactions_; }
  // somebody's policy has Tools::recall
  bool offers_recall() const { return offers_recall_; }

 private:
  using Members = std::vector<std::function<void(GatewayPolicy&)>>;  // each sets one member
  using Layer = std::map<std::string, Members, std::less<>>;
  void note(const Members& members);
  Members own_;
  Layer tenants_, models_, conversations_;
  bool answers_compactions_ = false, offers_recall_ = false;
};

// What is known of a request before it is sent. Tokens are those that the provider would count, as
// far as is known.
struct EditSituation {
  std::uint64_t tokens = 0;  // of the whole request: the view, tools, instructions
  std::optional<std::uint64_t> window = {};
  std::uint64_t reserve = 0;          // for the answer
  std::uint64_t tokens_per_turn = 0;  // by which the conversation grew of late
  // since the provider last had the prefix; unset: not known
  std::optional<std::int64_t> idle_ms = {};
  // of what the request marks; GatewayPolicy::cache_seconds goes before it
  std::int64_t cache_lifetime_ms = 300'000;
  // what the provider charges for them, of the price of an input token
  double cache_write = 1.25, cache_read = 0.1;
};

// What an edit is to reach, of the whole request.
struct EditGoal {
  std::uint64_t tokens_max = 0;    // to come down to
  std::uint64_t tokens_limit = 0;  // beyond which the provider refuses it
  std::uint64_t tokens_gain = 0;   // the least that an edit which falls short has to free
  bool is_over_limit = false;
  bool is_cold = false;
  // for how many turns a token must be read from the cache to cost as much as writing it again
  double rewrite_turns = 0;
  std::uint64_t tokens_per_turn = 0;
};

// Unset: the request is not edited. A model whose window is not known is edited by thresholds in
// tokens only.
std::optional<EditGoal> edit_goal(const GatewayPolicy& policy, const EditSituation& situation);
// Null: of observe. `summary`: for a replay, which asks how large a request would be and not what
// it says: takes the place of the default pipeline up to its summary; what tidies only clears old
// results.
StrategyPtr edit_strategy(const GatewayPolicy& policy, const EditGoal& goal,
                          const StrategyPtr& summary = {});
// Whether an edit that leaves so many tokens of so many is worth a version: what it costs, or saves,
// at once, and the turns until the request is as large as it was, against turns that are left to
// the client, which compacts by itself before its window is full. While the cache lives what is
// left is written again, and at least half has to be freed. A request that exceeds the window is
// edited at any price.
bool is_worth(const GatewayPolicy& policy, const EditGoal& goal, std::uint64_t before,
              std::uint64_t after);

}  // namespace undertext
