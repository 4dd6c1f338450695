// Records what a gateway observes as conversations: every exchange of a provider's API becomes a
// turn (turn_recorder.hpp).
// Where policies say so, requests are changed before they are sent (turn_editor.hpp).
//
//     auto recorder = std::make_shared<ConversationRecorder>(ConversationRecorderOptions{.turns = {…}});
//     Gateway::start({.upstreams = upstreams, .recorder = recorder, .editor = recorder});
//
// The recording and the editing threads take turns to let a conversation follow a request:
// whichever comes first does. Edits themselves are made side by side.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "gateway/editing.hpp"
#include "gateway/observed.hpp"
#include "gateway/turn_editor.hpp"
#include "gateway/turn_recorder.hpp"

namespace undertext {

struct ConversationRecorderOptions {
  TurnRecorderOptions turns;
  TurnEditorOptions edits = {};
  bool one_user = false;                                       // all credentials are one user's
  std::uint64_t decoded_bytes_max = std::uint64_t{128} << 20;  // of one body
  // A store that takes longer than this with one turn hangs: requests are not edited until it has
  // answered, and so much longer, unless it was fast with another turn meanwhile.
  std::chrono::milliseconds slow_after{1000}, edits_again_after{1000};
  std::function<void(const std::string& tenant, const Conversation& conversation)> on_recorded = {};
  // Something of a tenant could not be recorded.
  std::function<void(const std::string& tenant, const std::string& what, const Error& error)>
      on_failure = {};
};

// Whether it is a turn of a conversation, and nothing that a client asks beside one, such as for a
// title or a count of tokens.
bool is_turn(const ObservedRequest& request);

class ConversationRecorder final : public ExchangeRecorder, public ExchangeEditor {
 public:
  explicit ConversationRecorder(ConversationRecorderOptions options);

  void request(const std::shared_ptr<const ObservedRequest>& request) override;
  void finished(ObservedExchange exchange) override;
  std::uint64_t failures() const override { return failures_; }
  bool keeps_bodies(CallKind call) const override;
  std::shared_ptr<Conversation> conversation_of(std::uint64_t number) override;
  bool may_edit(const ObservedRequest& request) const override;
  RequestEdit edit(const std::shared_ptr<const ObservedRequest>& request,
                   const Offer& offer) override;
  RequestEdit unedited(const ObservedRequest& request) const override;
  bool is_held_up() const override;

 private:
  // The right to follow requests and answers, which takes as long as the store does.
  class Following;
  // The turn of a request, which may have been begun already. Null: it has none.
  std::shared_ptr<ObservedTurn> begin(const ObservedRequest& request);
  void failed(const ObservedRequest& request, const std::string& what, const Error& error);
  Result<SentRequest> sent(const ObservedRequest& request) const;

  const ConversationRecorderOptions options_;
  // Of the turn that is followed now, and of the last one that was slow, if none was fast since;
  // in milliseconds of the steady clock. 0: there is none.
  std::atomic<std::int64_t> following_since_ms_ = 0, slow_until_ms_ = 0;
  std::mutex mutex_;
  TurnRecorder turns_;
  TurnEditor editor_;
  // by ObservedRequest::number; null: it has no turn
  std::map<std::uint64_t, std::shared_ptr<ObservedTurn>> under_way_;
  // numbers of the last ones: an editor may be late
  std::set<std::uint64_t> ended_;
  std::atomic<std::uint64_t> failures_ = 0;
};

}  // namespace undertext
