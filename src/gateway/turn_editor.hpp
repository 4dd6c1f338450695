// Changes a client's request as the policy of its conversation says, after the conversation has
// followed it and before it is sent.
//
//     std::shared_ptr<ObservedTurn> turn = recorder.begin(sent).value();     // RECONCILE
//     RequestEdit edit = editor.edit(*turn, now_ms);                         // what to send
//
// An edit is a COMPRESS of the conversation: a version with a receipt. It stays: from then on the
// conversation's view is what is sent, with the newest request's tools, parameters and volatile
// parts, so that its rendered prefix stays the same until the next edit. As long as the view is the
// client's list and nothing is to be repaired, the request goes as it came. What is sent in its
// place is valid by the rules of its model (dialect.hpp), or it goes as it came.
//
// For one thread at a time. May throw Failure, which costs the request its edit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "gateway/editing.hpp"
#include "gateway/turn_recorder.hpp"
#include "policy/edit_plan.hpp"
#include "policy/policy.hpp"

namespace undertext {

struct TurnEditorOptions {
  GatewayPolicies policies = {};
  std::shared_ptr<const CompactionSeal> seal = {};  // of pointer compaction; null: there is none
  // Such as a repair: what was done to a request, and why. Null: nobody wants to know.
  std::function<void(std::string_view event, const std::string& detail)> on_event = {};
};

class TurnEditor {
 public:
  explicit TurnEditor(TurnEditorOptions options) : options_(std::move(options)) {}

  RequestEdit edit(ObservedTurn& turn, std::int64_t now_ms);
  // What becomes of a request with compaction items of the gateway's where there is no time, or no
  // store, for edit(): their summaries stand in their place. An item that does not open is refused.
  // Needs nothing but the request.
  RequestEdit without_store(Dialect dialect, std::string_view body, std::string_view whose) const;
  const GatewayPolicies& policies() const { return options_.policies; }

 private:
  using Key = std::pair<std::string, std::string>;  // tenant, conversation
  struct Measure;

  RequestEdit compacted(ObservedTurn& turn, const GatewayPolicy& policy, const Measure& measure,
                        std::int64_t now_ms);
  static void compact_as_asked(Conversation& conversation, const GatewayPolicy& policy,
                               const Measure& measure);
  void make_asked_edits(const ObservedTurn& turn, const GatewayPolicy& policy, Measure& measure);
  CompactionPointer pointer_to(const Conversation& conversation);
  void compress_if_due(const ObservedTurn& turn, const GatewayPolicy& policy,
                       const Measure& measure);
  RequestEdit rendered(ObservedTurn& turn, const GatewayPolicy& policy, const Measure& measure,
                       const History& history) const;

  const TurnEditorOptions options_;
  std::map<Key, EditWaits> waits_;  // after a try that freed too little
  bool has_told_ = false;           // what happens when Undertext is removed
  // of conversations whose last request may not be recorded yet
  std::map<Key, std::int64_t> sent_at_ms_;
};

}  // namespace undertext
