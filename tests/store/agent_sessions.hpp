// Requests shaped like those of coding agents: the sizes and the moving parts, with made-up words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace undertext::test {

class MadeUpText {
 public:
  explicit MadeUpText(std::uint64_t seed) : random_(seed) {
    for (int i = 0; i < 4000; ++i) {
      std::string word;
      for (std::uint64_t n = 2 + random_() % 9; n > 0; --n)
        word += static_cast<char>('a' + random_() % 26);
      words_.push_back(std::move(word));
    }
  }
  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  // Frequent words come more often, as in any text.
  std::string words(std::size_t size) {
    std::string text;
    while (text.size() < size) {
      const double share = static_cast<double>(below(1'000'000)) / 1e6;
      text +=
          words_[static_cast<std::size_t>(share * share * static_cast<double>(words_.size() - 1))];
      text += below(12) == 0 ? "\\n" : " ";
    }
    return text;
  }
  std::string noise(std::size_t size) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    while (text.size() < size) text += letters[below(letters.size())];
    return text;
  }

 private:
  std::mt19937_64 random_;
  std::vector<std::string> words_;
};

struct AgentTurn {
  std::string request;
  // as the provider streams it; the next request begins with what it says
  std::string answer;
  // of messages that were in no request or answer before, and of the answer
  std::uint64_t new_bytes = 0;
};

// One event of a stream.
inline std::string event(const std::string& type, const std::string& members) {
  return "event: " + type + "\ndata: {\"type\":\"" + type + "\"" + members + "}\n\n";
}

// Calls `add` with the pieces that a provider streams of a text in JSON: a few words each, and no
// escape cut in two.
template <class Add>
void for_each_piece(const std::string& text, Add add) {
  constexpr std::size_t piece_bytes = 24;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::min(text.size(), at + piece_bytes);
    while (end < text.size() && text[end - 1] == '\\') ++end;
    add(text.substr(at, end - at));
    at = end;
  }
}

// Claude Code: a billing line, two parts of a system prompt, tools; markers on the last two
// messages.
class ClaudeSession {
 public:
  explicit ClaudeSession(std::uint64_t seed, std::size_t tools_bytes = 50'000) : text_(seed) {
    for (int i = 0; tools_.size() < tools_bytes; ++i)
      tools_ += (i == 0 ? "" : ",") + (R"({"name":"tool)" + std::to_string(i)) +
                R"(","description":")" + text_.words(2000) +
                R"(","input_schema":{"type":"object","properties":{"path":{"type":"string"}}}})";
    system_ = text_.words(14'000);
  }

  AgentTurn next(std::size_t result_bytes) {
    AgentTurn turn;
    const std::string id = "toolu_" + text_.noise(22);
    if (messages_.empty()) {
      add(turn, R"({"role":"user","content":[)" + text_part(text_.words(3000)), "]}");
    } else {
      add(turn,
          R"({"role":"assistant","content":[{"type":"text","text":")" + said_ + R"("},)" +
              R"({"type":"tool_use","id":")" + asked_id_ + R"(","name":"tool1","input":{"path":")" +
              asked_path_ + "\"}",
          "}]}");
      turn.new_bytes = 0;  // it was in the answer
      add(turn,
          R"({"role":"user","content":[{"tool_use_id":")" + asked_id_ +
              R"(","type":"tool_result","content":")" + text_.words(result_bytes) + "\"",
          "}]}");
    }
    said_ = text_.words(200), asked_path_ = text_.words(60), asked_id_ = id;
    turn.answer = streamed();
    turn.new_bytes += turn.answer.size();
    turn.request = R"({"model":"claude-sonnet-4-5","messages":[)";
    for (std::size_t i = 0; i < messages_.size(); ++i) {
      const bool marked = i + 2 >= messages_.size();
      turn.request += (i == 0 ? "" : ",") + messages_[i].head;
      if (marked && messages_[i].end == "]}") {  // a whole part stands before it
        turn.request.pop_back();
        turn.request += R"(,"cache_control":{"type":"ephemeral"}}]})";
      } else {
        turn.request +=
            (marked ? R"(,"cache_control":{"type":"ephemeral"})" : "") + messages_[i].end;
      }
    }
    turn.request +=
        R"(],"system":[{"type":"text","text":"x-anthropic-billing-header: cc_version=2.1.)" +
        text_.noise(3) +
        R"(;"},{"type":"text","text":"You are Claude Code.","cache_control":{"type":"ephemeral"}},)" +
        R"({"type":"text","text":")" + system_ +
        R"(","cache_control":{"type":"ephemeral"}}],"tools":[)" + tools_ +
        R"(],"metadata":{"user_id":"{\"session_id\":\"s1\"}"},"max_tokens":32000,"stream":true})";
    if (messages_.size() == 1) turn.new_bytes = turn.request.size() + turn.answer.size();
    return turn;
  }

 private:
  std::string streamed() {
    std::string stream = event(
        "message_start",
        R"(,"message":{"id":"msg_)" + text_.noise(22) +
            R"(","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],)" +
            R"("stop_reason":null,"usage":{"input_tokens":9,"output_tokens":1}})");
    const auto block = [&](const std::string& index, const std::string& start,
                           const std::string& kind, const std::string& text) {
      stream +=
          event("content_block_start", R"(,"index":)" + index + R"(,"content_block":)" + start);
      for_each_piece(text, [&](const std::string& piece) {
        stream += event("content_block_delta",
                        R"(,"index":)" + index + R"(,"delta":{"type":")" + kind + piece + "\"}");
      });
      stream += event("content_block_stop", R"(,"index":)" + index);
    };
    block("0", R"({"type":"text","text":""})", R"(text_delta","text":")", said_);
    block("1", R"({"type":"tool_use","id":")" + asked_id_ + R"(","name":"tool1","input":{}})",
          R"(input_json_delta","partial_json":")", R"({\"path\":\")" + asked_path_ + R"(\"})");
    return stream +
           event("message_delta",
                 R"(,"delta":{"stop_reason":"tool_use"},"usage":{"output_tokens":90})") +
           event("message_stop", "");
  }

  struct Said {
    std::string head, end;
  };
  static std::string text_part(const std::string& text) {
    return R"({"type":"text","text":")" + text + "\"}";
  }
  void add(AgentTurn& turn, std::string head, std::string end) {
    turn.new_bytes += head.size() + end.size();
    messages_.push_back({std::move(head), std::move(end)});
  }

  MadeUpText text_;
  std::string tools_, system_;
  std::string said_, asked_path_, asked_id_;  // the answer to the last request
  std::vector<Said> messages_;
};

// Codex: instructions, items of several kinds, results of tools as large as they come.
class CodexSession {
 public:
  explicit CodexSession(std::uint64_t seed)
      : text_(seed), instructions_(text_.words(12'000)), tools_(text_.words(9000)) {}

  AgentTurn next(std::size_t result_bytes) {
    AgentTurn turn;
    if (items_.empty()) {
      add(turn, R"({"type":"message","role":"user","content":[{"type":"input_text","text":")" +
                    text_.words(2000) + "\"}]}");
    } else {
      add(turn, R"({"type":"reasoning","summary":[],"content":null,"encrypted_content":")" +
                    thought_ + "\"}");
      add(turn, R"({"type":"function_call","name":"shell","arguments":")" + arguments_ +
                    R"(","call_id":")" + id_ + "\"}");
      turn.new_bytes = 0;  // it was in the answer
      add(turn, R"({"type":"function_call_output","call_id":")" + id_ + R"(","output":")" +
                    text_.words(result_bytes) + "\"}");
    }
    id_ = "call_" + text_.noise(24), thought_ = text_.noise(900);
    arguments_ = R"({\"command\":[\"bash\",\"-lc\",\")" + text_.words(80) + R"(\"]})";
    turn.answer = streamed();
    turn.new_bytes += turn.answer.size();
    turn.request = R"({"model":"gpt-5-codex","instructions":")" + instructions_ + R"(","input":[)";
    for (std::size_t i = 0; i < items_.size(); ++i) turn.request += (i == 0 ? "" : ",") + items_[i];
    turn.request += R"(],"tools":[{"type":"function","name":"shell","description":")" + tools_ +
                    R"("}],"store":false,"stream":true,"prompt_cache_key":"thread-1"})";
    if (items_.size() == 1) turn.new_bytes = turn.request.size() + turn.answer.size();
    return turn;
  }

 private:
  std::string streamed() const {
    const std::string reasoning =
        R"({"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":")" + thought_ + "\"}";
    const auto call = [&](const std::string& status, const std::string& arguments) {
      return R"({"type":"function_call","id":"fc_1","status":")" + status +
             R"(","name":"shell","arguments":")" + arguments + R"(","call_id":")" + id_ + "\"}";
    };
    std::string stream =
        event("response.created", R"(,"response":{"id":"resp_1","object":"response","output":[]})");
    stream += event("response.output_item.done", R"(,"output_index":0,"item":)" + reasoning);
    stream += event("response.output_item.added",
                    R"(,"output_index":1,"item":)" + call("in_progress", ""));
    for_each_piece(arguments_, [&](const std::string& piece) {
      stream += event("response.function_call_arguments.delta",
                      R"(,"item_id":"fc_1","output_index":1,"delta":")" + piece + "\"");
    });
    stream += event("response.output_item.done",
                    R"(,"output_index":1,"item":)" + call("completed", arguments_));
    return stream +
           event("response.completed",
                 R"(,"response":{"id":"resp_1","object":"response","output":[)" + reasoning + "," +
                     call("completed", arguments_) + R"(],"usage":{"input_tokens":9}})");
  }

  void add(AgentTurn& turn, std::string item) {
    turn.new_bytes += item.size();
    items_.push_back(std::move(item));
  }

  MadeUpText text_;
  std::string instructions_, tools_;
  std::string thought_, arguments_, id_;  // the answer to the last request
  std::vector<std::string> items_;
};

}  // namespace undertext::test
