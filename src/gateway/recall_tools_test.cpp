#include "gateway/recall_tools.hpp"

#include <ostream>

#include <gtest/gtest.h>

#include <undertext/blocks.hpp>
#include <undertext/dialect.hpp>

#include "base/json_text.hpp"

namespace undertext {
namespace {

// One dialect's words for: the model says "Let me look." and calls a tool; the model says "It was
// blue."; the model calls the client's own tool. Streamed and whole.
struct Said {
  Dialect dialect;
  std::string request;
  std::string (*look)(bool streamed, const std::string& calls);
  std::string (*say)(bool streamed, const std::string& text);
  std::string (*call)(const std::string& id, const std::string& name);
};
std::ostream& operator<<(std::ostream& out, const Said& said) { return out << name(said.dialect); }

std::string event(const std::string& data, const std::string& name = "") {
  return (name.empty() ? "" : "event: " + name + "\n") + "data: " + data + "\n\n";
}

// Anthropic

std::string anthropic_stream(const std::vector<std::string>& blocks, const std::string& stop) {
  std::string out = event(
      R"({"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"m",)"
      R"("content":[],"stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}}})",
      "message_start");
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const JsonText block = JsonText::parse(blocks[i], {}).value();
    const std::string at = std::to_string(i);
    const bool is_text = block.root().find("type")->string_is("text");
    std::string start = blocks[i], delta;
    if (is_text) {
      start = R"({"type":"text","text":""})";
      delta =
          R"({"type":"text_delta","text":)" + std::string(block.root().find("text")->raw()) + "}";
    } else {
      std::string input;
      append_json_string(input, block.root().find("input")->raw());
      start = R"({"type":"tool_use","id":)" + std::string(block.root().find("id")->raw()) +
              R"(,"name":)" + std::string(block.root().find("name")->raw()) + R"(,"input":{}})";
      delta = R"({"type":"input_json_delta","partial_json":)" + input + "}";
    }
    out += event(
        R"({"type":"content_block_start","index":)" + at + R"(,"content_block":)" + start + "}",
        "content_block_start");
    out += event(R"({"type":"content_block_delta","index":)" + at + R"(,"delta":)" + delta + "}",
                 "content_block_delta");
    out += event(R"({"type":"content_block_stop","index":)" + at + "}", "content_block_stop");
  }
  out += event(R"({"type":"message_delta","delta":{"stop_reason":")" + stop +
                   R"("},"usage":{"output_tokens":7}})",
               "message_delta");
  return out + event(R"({"type":"message_stop"})", "message_stop");
}
std::string anthropic_answer(bool streamed, const std::vector<std::string>& blocks,
                             const std::string& stop) {
  if (streamed) return anthropic_stream(blocks, stop);
  std::string content;
  for (const std::string& block : blocks) content += (content.empty() ? "" : ",") + block;
  return R"({"id":"msg_1","type":"message","role":"assistant","model":"m","content":[)" + content +
         R"(],"stop_reason":")" + stop + R"(","usage":{"input_tokens":9,"output_tokens":7}})";
}
std::vector<std::string> split_objects(const std::string& list) {
  std::vector<std::string> all;
  const std::string whole = "[" + list + "]";
  const JsonText text = JsonText::parse(whole, {}).value();
  for (const JsonValue each : text.root().elements()) all.emplace_back(each.raw());
  return all;
}

const Said anthropic{
    Dialect::anthropic,
    R"({"model":"m","max_tokens":99,"messages":[{"role":"user","content":"Which colour?"}],"tools":[{"name":"read","input_schema":{"type":"object"}}]})",
    [](bool streamed, const std::string& calls) {
      std::vector<std::string> blocks = {R"({"type":"text","text":"Let me look."})"};
      for (std::string& call : split_objects(calls)) blocks.push_back(std::move(call));
      return anthropic_answer(streamed, blocks, "tool_use");
    },
    [](bool streamed, const std::string& text) {
      return anthropic_answer(streamed, {R"({"type":"text","text":")" + text + "\"}"}, "end_turn");
    },
    [](const std::string& id, const std::string& name) {
      return R"({"type":"tool_use","id":")" + id + R"(","name":")" + name +
             R"(","input":{"text":"kettle"}})";
    }};

// Chat

std::string chat_chunk(const std::string& id, const std::string& delta,
                       const std::string& finish = "null") {
  return event(R"({"id":")" + id +
               R"(","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":)" +
               delta + R"(,"finish_reason":)" + finish + "}]}");
}
const Said chat{
    Dialect::openai_chat,
    R"({"model":"m","messages":[{"role":"user","content":"Which colour?"}],"tools":[{"type":"function","function":{"name":"read","parameters":{"type":"object"}}}]})",
    [](bool streamed, const std::string& calls) -> std::string {
      if (!streamed)
        return R"({"id":"c1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"Let me look.","tool_calls":[)" +
               calls + R"(]},"finish_reason":"tool_calls"}]})";
      std::string out = chat_chunk("c1", R"({"role":"assistant","content":""})") +
                        chat_chunk("c1", R"({"content":"Let me look."})");
      std::size_t index = 0;
      for (const std::string& call : split_objects(calls))
        out += chat_chunk("c1", R"({"tool_calls":[{"index":)" + std::to_string(index++) + "," +
                                    call.substr(1) + "]}");
      return out + chat_chunk("c1", "{}", "\"tool_calls\"") + event("[DONE]");
    },
    [](bool streamed, const std::string& text) -> std::string {
      if (!streamed)
        return R"({"id":"c2","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":")" +
               text + R"("},"finish_reason":"stop"}]})";
      return chat_chunk("c2", R"({"role":"assistant","content":""})") +
             chat_chunk("c2", R"({"content":")" + text + "\"}") +
             chat_chunk("c2", "{}", "\"stop\"") + event("[DONE]");
    },
    [](const std::string& id, const std::string& name) {
      return R"({"id":")" + id + R"(","type":"function","function":{"name":")" + name +
             R"(","arguments":"{\"text\":\"kettle\"}"}})";
    }};

// Responses

std::string responses_answer(bool streamed, const std::string& id,
                             const std::vector<std::string>& items) {
  std::string output;
  for (const std::string& item : items) output += (output.empty() ? "" : ",") + item;
  const auto response = [&](const std::string& status, const std::string& list) {
    return R"({"id":")" + id + R"(","object":"response","model":"m","status":")" + status +
           R"(","output":[)" + list + "]}";
  };
  if (!streamed) return response("completed", output);
  std::uint64_t number = 0;
  std::string out;
  const auto add = [&](const std::string& type, const std::string& members) {
    out += event(R"({"type":")" + type + R"(","sequence_number":)" + std::to_string(number++) +
                     "," + members + "}",
                 type);
  };
  add("response.created", R"("response":)" + response("in_progress", ""));
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string at = R"("output_index":)" + std::to_string(i);
    add("response.output_item.added", at + R"(,"item":)" + items[i]);
    add("response.output_item.done", at + R"(,"item":)" + items[i]);
  }
  add("response.completed", R"("response":)" + response("completed", output));
  return out;
}
std::string message_item(const std::string& text) {
  return R"({"type":"message","id":"msg_x","role":"assistant","status":"completed","content":[{"type":"output_text","text":")" +
         text + R"(","annotations":[]}]})";
}
const Said responses{
    Dialect::openai_responses,
    R"({"model":"m","input":"Which colour?","tools":[{"type":"function","name":"read","parameters":{"type":"object"},"strict":false}]})",
    [](bool streamed, const std::string& calls) {
      std::vector<std::string> items = {message_item("Let me look.")};
      for (std::string& call : split_objects(calls)) items.push_back(std::move(call));
      return responses_answer(streamed, "resp_1", items);
    },
    [](bool streamed, const std::string& text) {
      return responses_answer(streamed, "resp_2", {message_item(text)});
    },
    [](const std::string& id, const std::string& name) {
      return R"({"type":"function_call","id":"fc_)" + id + R"(","call_id":")" + id +
             R"(","name":")" + name +
             R"(","arguments":"{\"text\":\"kettle\"}","status":"completed"})";
    }};

// Gemini

std::string gemini_answer(bool streamed, const std::vector<std::string>& parts) {
  const auto answer = [](const std::string& list, const std::string& more) {
    return R"({"candidates":[{"content":{"role":"model","parts":[)" + list + "]}" + more +
           R"(,"index":0}],"responseId":"r"})";
  };
  std::string list, stream;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    list += (list.empty() ? "" : ",") + parts[i];
    stream += event(answer(parts[i], i + 1 == parts.size() ? R"(,"finishReason":"STOP")" : ""));
  }
  return streamed ? stream : answer(list, R"(,"finishReason":"STOP")");
}
const Said gemini{
    Dialect::gemini,
    R"({"contents":[{"role":"user","parts":[{"text":"Which colour?"}]}],"tools":[{"functionDeclarations":[{"name":"read"}]}]})",
    [](bool streamed, const std::string& calls) {
      std::vector<std::string> parts = {R"({"text":"Let me look."})"};
      for (std::string& call : split_objects(calls)) parts.push_back(std::move(call));
      return gemini_answer(streamed, parts);
    },
    [](bool streamed, const std::string& text) {
      return gemini_answer(streamed, {R"({"text":")" + text + "\"}"});
    },
    [](const std::string&, const std::string& name) {
      return R"({"functionCall":{"name":")" + name + R"(","args":{"text":"kettle"}}})";
    }};

// What the client makes of what it got.
struct Seen {
  std::string text = {};
  std::vector<std::string> calls = {};
  bool complete = false;
};
Seen seen(Dialect dialect, bool streamed, const std::string& bytes) {
  const ProviderResponse response =
      read_response(dialect, bytes, streamed ? ResponseForm::event_stream : ResponseForm::whole);
  Seen seen{.complete = response.complete};
  for (const Message& message : response.messages)
    for (const ContentBlock& block : read_blocks(message)) {
      if (block.kind == ContentBlock::Kind::text) seen.text += block.text;
      if (block.kind == ContentBlock::Kind::call) seen.calls.push_back(block.name);
    }
  return seen;
}

class RecallTools : public testing::TestWithParam<std::tuple<Said, bool>> {
 protected:
  const Said& dialect() const { return std::get<0>(GetParam()); }
  bool streamed() const { return std::get<1>(GetParam()); }

  RecallTurn turn() const {
    return RecallTurn::begin(dialect().dialect, dialect().request).value();
  }
  std::string look(const std::string& calls) const { return dialect().look(streamed(), calls); }
  std::string say(const std::string& text) const { return dialect().say(streamed(), text); }
  std::string call(const std::string& id, const std::string& name) const {
    return dialect().call(id, name);
  }
  // In pieces, as a network has it.
  std::vector<RecallCall> answer(RecallTurn& turn, const std::string& bytes) {
    turn.begin_answer(streamed() ? ResponseForm::event_stream : ResponseForm::whole);
    for (std::size_t at = 0; at < bytes.size(); at += 7) got_ += turn.read(bytes.substr(at, 7));
    std::vector<RecallCall> calls = turn.end_answer();
    if (calls.empty()) got_ += turn.rest();
    return calls;
  }
  Seen client() const { return seen(dialect().dialect, streamed(), got_); }
  // The messages of a request: the texts, and which calls have results.
  std::string told(const std::string& request) const {
    std::string out;
    const std::vector<Message> messages =
        import_messages(dialect().dialect, request).value().messages;
    for (const Message& message : messages)
      for (const ContentBlock& block : read_blocks(message)) {
        if (block.kind == ContentBlock::Kind::text) out += block.text + "|";
        if (block.kind == ContentBlock::Kind::call) out += "call " + block.name + "|";
        if (block.kind == ContentBlock::Kind::result) {
          out += "result ";
          for (const ContentBlock& inner : block.blocks) out += inner.text;
          out += "|";
        }
      }
    return out;
  }
  void expect_valid(const std::string& request) const {
    const std::vector<Finding> findings =
        validate_request(request, default_profile(dialect().dialect)).value();
    for (const Finding& finding : findings)
      ADD_FAILURE() << finding.code << " " << finding.place.path << "\n" << request;
  }

  std::string got_;
};

TEST_P(RecallTools, AreOfferedBesideTheClientsOwn) {
  const RecallTurn turn = this->turn();
  const JsonText request = JsonText::parse(turn.request(), {}).value();
  const std::string_view tools = request.root().find("tools")->raw();
  for (const char* name : {"\"context_search\"", "\"context_expand\"", "\"context_status\""})
    EXPECT_NE(tools.find(name), std::string_view::npos) << tools;
  EXPECT_NE(tools.find("\"read\""), std::string_view::npos);
  EXPECT_EQ(told(turn.request()), told(dialect().request));
}

TEST_P(RecallTools, AnAnswerWithoutTheirCallsReachesTheClientByteForByte) {
  for (const std::string& bytes : {say("It was blue."), look(call("a", "read"))}) {
    RecallTurn turn = this->turn();
    got_.clear();
    EXPECT_TRUE(answer(turn, bytes).empty());
    EXPECT_EQ(got_, bytes);
  }
}

TEST_P(RecallTools, AreAnsweredWithoutTheClient) {
  RecallTurn turn = this->turn();
  const std::vector<RecallCall> calls = answer(turn, look(call("a", "context_search")));
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].name, "context_search");
  EXPECT_EQ(calls[0].arguments_json, R"({"text":"kettle"})");
  const std::string next = turn.continued({{"the kettle is \"blue\""}});
  EXPECT_EQ(told(next),
            "Which colour?|Let me look.|call context_search|result the kettle is \"blue\"|");
  expect_valid(next);
  EXPECT_TRUE(answer(turn, say(" It was blue.")).empty());
  EXPECT_EQ(client().text, "Let me look. It was blue.");
  EXPECT_TRUE(client().calls.empty());
  EXPECT_TRUE(client().complete);
}

TEST_P(RecallTools, CallsOfTheClientsToolsComeBehindThem) {
  RecallTurn turn = this->turn();
  ASSERT_EQ(answer(turn, look(call("a", "context_search"))).size(), 1u);
  turn.continued({{"nothing"}});
  EXPECT_TRUE(answer(turn, look(call("b", "read"))).empty());
  EXPECT_EQ(client().calls, std::vector<std::string>{"read"});
  EXPECT_EQ(client().text, "Let me look.Let me look.");
  EXPECT_TRUE(client().complete);
}

TEST_P(RecallTools, ACallOfTheClientsBesideOneOfTheseIsToBeRepeated) {
  RecallTurn turn = this->turn();
  ASSERT_EQ(answer(turn, look(call("a", "read") + "," + call("b", "context_status"))).size(), 1u);
  const std::string next = turn.continued({{"12 messages"}});
  EXPECT_NE(told(next).find("result Not run"), std::string::npos) << told(next);
  EXPECT_NE(told(next).find("result 12 messages"), std::string::npos) << told(next);
  expect_valid(next);
  EXPECT_TRUE(answer(turn, look(call("c", "read"))).empty());
  EXPECT_EQ(client().calls, std::vector<std::string>{"read"});
}

TEST_P(RecallTools, AModelThatDoesNotStopIsStopped) {
  RecallTurn turn = this->turn();
  for (std::uint32_t i = 1; i < RecallTurn::answers_max; ++i) {
    ASSERT_EQ(answer(turn, look(call("a" + std::to_string(i), "context_search"))).size(), 1u) << i;
    turn.continued({{"nothing"}});
  }
  EXPECT_TRUE(answer(turn, look(call("last", "context_search"))).empty());
  EXPECT_EQ(client().calls, std::vector<std::string>{"context_search"})
      << "the client says that there is no such tool";
  EXPECT_TRUE(client().complete);
}

TEST_P(RecallTools, AnAnswerThatBreaksOffReachesTheClientAsFarAsItCame) {
  const std::string bytes = look(call("a", "context_search"));
  for (std::size_t size = 0; size < bytes.size(); size += 13) {
    RecallTurn turn = this->turn();
    got_.clear();
    const std::vector<RecallCall> calls = answer(turn, bytes.substr(0, size));
    if (!calls.empty()) continue;  // it was all there but for bytes that say nothing
    EXPECT_TRUE(streamed() || got_ == bytes.substr(0, size));
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDialect, RecallTools,
                         testing::Combine(testing::Values(anthropic, chat, responses, gemini),
                                          testing::Bool()),
                         [](const auto& each) {
                           return std::string(name(std::get<0>(each.param).dialect)) +
                                  (std::get<1>(each.param) ? "_streamed" : "_whole");
                         });

TEST(RecallToolsOffer, IsLeftOutWhereTheChoiceIsNotTheModels) {
  for (const auto& [dialect, body] :
       {std::pair{Dialect::anthropic,
                  R"({"messages":[],"tool_choice":{"type":"tool","name":"read"}})"},
        {Dialect::anthropic, R"({"messages":[],"tool_choice":{"type":"none"}})"},
        {Dialect::anthropic,
         R"({"messages":[],"tools":[{"name":"context_search","input_schema":{}}]})"},
        {Dialect::anthropic, R"({"messages":"no"})"},
        {Dialect::anthropic, R"([1])"},
        {Dialect::anthropic, "no JSON"},
        {Dialect::openai_chat, R"({"messages":[],"tool_choice":"none"})"},
        {Dialect::openai_chat, R"({"messages":[],"n":2})"},
        {Dialect::openai_chat, R"({"messages":[],"functions":[]})"},
        {Dialect::openai_chat,
         R"({"messages":[],"tool_choice":{"type":"function","function":{"name":"f"}}})"},
        {Dialect::openai_responses, R"({"input":[],"tool_choice":{"type":"function","name":"f"}})"},
        {Dialect::openai_responses, R"({"input":[],"background":true})"},
        {Dialect::gemini, R"({"contents":[],"cachedContent":"c"})"},
        {Dialect::gemini, R"({"contents":[],"tools":[{"googleSearch":{}}]})"}})
    EXPECT_FALSE(RecallTurn::begin(dialect, body)) << body;
  EXPECT_TRUE(
      RecallTurn::begin(Dialect::anthropic, R"({"messages":[],"tool_choice":{"type":"any"}})"));
  EXPECT_TRUE(
      RecallTurn::begin(Dialect::openai_chat, R"({"messages":[],"tool_choice":"required"})"));
  EXPECT_TRUE(RecallTurn::begin(Dialect::gemini,
                                R"({"contents":[],"tools":[{"functionDeclarations":[]}]})"));
}

TEST(RecallToolsOffer, IsMadeToARequestWithoutTools) {
  for (const auto& [dialect, body] : {std::pair{Dialect::anthropic, R"({"messages":[]})"},
                                      {Dialect::openai_chat, R"({"messages":[],"n":1})"},
                                      {Dialect::openai_responses, R"({"input":"hello"})"},
                                      {Dialect::gemini, R"({"contents":[]})"}})
    EXPECT_TRUE(RecallTurn::begin(dialect, body)
                    ->request()
                    .starts_with("{\"tools\":" + context_tools(dialect) + ","))
        << body;
}

TEST(RecallToolsStream, LaterBlocksAndItemsAreNumberedBehindTheFirst) {
  RecallTurn turn = RecallTurn::begin(Dialect::anthropic, anthropic.request).value();
  turn.begin_answer(ResponseForm::event_stream);
  turn.read(anthropic.look(true, anthropic.call("a", "context_search")));
  ASSERT_EQ(turn.end_answer().size(), 1u);
  turn.continued({{"x"}});
  turn.begin_answer(ResponseForm::event_stream);
  const std::string next = turn.read(anthropic.say(true, "yes"));
  EXPECT_EQ(next.find("message_start"), std::string::npos);
  EXPECT_EQ(next.find(R"("index":0)"), std::string::npos);
  EXPECT_NE(next.find(R"("index":1)"), std::string::npos);

  RecallTurn other = RecallTurn::begin(Dialect::openai_responses, responses.request).value();
  other.begin_answer(ResponseForm::event_stream);
  const std::string first = other.read(responses.look(true, responses.call("a", "context_search")));
  EXPECT_NE(first.find(R"("sequence_number":2)"), std::string::npos) << first;
  ASSERT_EQ(other.end_answer().size(), 1u);
  other.continued({{"x"}});
  other.begin_answer(ResponseForm::event_stream);
  const std::string second = other.read(responses.say(true, "yes"));
  EXPECT_NE(second.find(R"("sequence_number":3,"output_index":1)"), std::string::npos) << second;
  EXPECT_NE(second.find("Let me look."), std::string::npos) << "response.completed has all items";
}

}  // namespace
}  // namespace undertext
