#include "handles.hpp"
#include "json/request.hpp"

using namespace undertext;
using c::Failed, c::guarded;

undertext_status undertext_conversation_view(const undertext_conversation* conversation,
                                             uint64_t version, undertext_view** view,
                                             undertext_string* error) {
  *view = nullptr;
  return guarded(conversation, error, [&](const undertext_conversation& at) -> Failed {
    const Conversation& from = at.conversation;
    Result<History> history = from.history();
    if (version != UNDERTEXT_HEAD && Version(version) != history->version())
      history = history->fork(Version(version));
    if (!history) return std::move(history.error());
    *view =
        new undertext_view{*history, history->view(), from.settings(), from.counting(), from.aim()};
    return std::nullopt;
  });
}

void undertext_view_close(undertext_view* view) { delete view; }
uint64_t undertext_view_size(const undertext_view* view) {
  return view == nullptr ? 0 : view->view.size();
}
uint64_t undertext_view_tokens(const undertext_view* view) {
  return view == nullptr ? 0 : view->view.sums().tokens();
}
uint64_t undertext_view_version(const undertext_view* view) {
  return view == nullptr ? 0 : view->history.version().value;
}

undertext_status undertext_view_get(const undertext_view* view, uint64_t index,
                                    undertext_entry* entry, undertext_string* message,
                                    undertext_string* error) {
  c::clear(message);
  if (entry != nullptr) *entry = {};
  return guarded(view, error, [&](const undertext_view& of) -> Failed {
    if (index >= of.view.size()) {
      return Error{ErrorCode::not_found,
                   "the view has " + std::to_string(of.view.size()) + " messages", "index"};
    }
    const Message found = of.view[index];
    if (message != nullptr) c::give(message, std::string(found.json()));
    if (entry != nullptr) {
      *entry = {of.view.ordinal(index).value, of.view.time_ms(index), of.view.tokens(index),
                static_cast<uint32_t>(found.role())};
    }
    return std::nullopt;
  });
}

undertext_status undertext_view_answer(const undertext_view* view, undertext_text query,
                                       undertext_string* answer) {
  undertext_status said = UNDERTEXT_OK;
  const undertext_status failed = guarded(view, answer, [&](const undertext_view& of) -> Failed {
    LineAnswer answered =
        answer_query({of.history, of.settings, of.counting, of.aim}, c::view_of(query));
    if (answered.error) said = c::status_of(answered.error->code);
    c::give(answer, std::move(answered.line));
    return std::nullopt;
  });
  return failed != UNDERTEXT_OK ? failed : said;
}
