// A block before everything that an answer of Anthropic's API says: the compaction that the gateway
// made for the request.
//
//     AnswerBlock before(block);
//     before.begin(ResponseForm::event_stream);
//     write(before.read(bytes));                 // what of the answer the client gets now
//     write(before.end());                       // the rest
//
// All else of the answer keeps its bytes, but for the indices of its blocks, which are one higher.
// What is no message, such as an error, stays as it is, and so does what comes behind a whole
// answer, or an event, of more than held_bytes_max. A value; one thread at a time.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <undertext/response.hpp>

namespace undertext {

// A compaction block, and the events that bring it as the first block of a stream.
std::string compaction_block(std::string_view summary, std::string_view item);
std::string compaction_events(std::string_view block);

class AnswerBlock {
 public:
  static constexpr std::size_t held_bytes_max = std::size_t{32} << 20;

  explicit AnswerBlock(std::string block) : block_(std::move(block)) {}

  void begin(ResponseForm form) { form_ = form; }
  std::string read(std::string_view bytes);
  std::string end();

 private:
  std::string with_event(std::string_view event);

  std::string block_;  // JSON
  ResponseForm form_ = ResponseForm::whole;
  std::string held_;           // of a whole answer all, of a stream the event that has not ended
  std::size_t looked_at_ = 0;  // so much of it has no end of an event
  bool is_said_ = false, is_given_up_ = false;
};

}  // namespace undertext
