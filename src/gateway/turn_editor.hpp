// Changes a client's request as the policy of its conversation says, after the conversation has
// followed it and before it is sent.
//
//     std::shared_ptr<ObservedTurn> turn = recorder.begin(sent).value();     // RECONCILE
//     RequestEdit edit = editor.edit(*turn, now_ms, offer);                  // what to send
//     edit.on_sent();                                                        // it is sent so
//
// An edit is a COMPRESS of the conversation: a version with a receipt. It stays: from then on the
// conversation's view is what is sent, with the newest request's tools, parameters and volatile
// parts, so that its rendered prefix stays the same until the next edit. As long as the view is the
// client's list and nothing is to be repaired, the request goes as it came. What is sent in its
// place is valid by the rules of its model (dialect.hpp), or it goes as it came.
//
// Before an edit that may take long it offers what the conversation shows until then: a request
// whose edit is late continues the prefix that the provider has, and the edit shows in the next
// one. What is recorded as seen is what was sent.
//
// Any thread may call it, for many requests at once; of one conversation one request at a time is
// the reason of an edit. May throw Failure, which costs the request its edit.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "gateway/asked_edits.hpp"
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

  // The turn is left alone: RequestEdit::on_sent tells it what was sent, which may be an offer.
  RequestEdit edit(const ObservedTurn& turn, std::int64_t now_ms,
                   const ExchangeEditor::Offer& offer = {});
  // What becomes of a request with compaction items of the gateway's where there is no time, or no
  // store, for edit(): their summaries stand in their place. An item that does not open is refused.
  // Needs nothing but the request.
  RequestEdit without_store(Dialect dialect, std::string_view body, std::string_view whose) const;
  const GatewayPolicies& policies() const { return options_.policies; }

 private:
  using Key = std::pair<std::string, std::string>;  // tenant, conversation
  struct Measure;
  // The right of a request to be the reason of an edit.
  class Turn;

  std::optional<std::int64_t> last_sent_ms(const Key& key, std::optional<std::int64_t> recorded_ms,
                                           std::int64_t now_ms);
  RequestEdit compacted(const ObservedTurn& turn, const GatewayPolicy& policy,
                        const Measure& measure, std::int64_t now_ms);
  static void compact_as_asked(Conversation& conversation, const GatewayPolicy& policy,
                               const Measure& measure);
  void make_asked_edits(const ObservedTurn& turn, const GatewayPolicy& policy, Measure& measure);
  bool waits_to_compact(const Key& key, std::uint64_t tokens, const AskedEdit& edit);
  CompactionPointer pointer_to(const Conversation& conversation);
  void compress_if_due(const ObservedTurn& turn, const GatewayPolicy& policy,
                       const Measure& measure);
  RequestEdit rendered(const ObservedTurn& turn, const GatewayPolicy& policy,
                       const Measure& measure, const History& history, Version version) const;

  const TurnEditorOptions options_;
  std::mutex mutex_;  // guards the rest
  std::set<Key> being_edited_;
  // after a try that freed too little, of a policy's edit and of a compaction that a client asks for
  std::map<Key, EditWaits> waits_, asked_waits_;
  bool has_told_ = false;  // what happens when Undertext is removed
  // of conversations whose last request may not be recorded yet
  std::map<Key, std::int64_t> sent_at_ms_;
};

}  // namespace undertext
