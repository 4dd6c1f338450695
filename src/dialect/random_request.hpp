// For tests: request bodies as clients of each dialect send them, with every kind of part, unknown
// fields, odd spellings, and things that are wrong; then edited as agents edit. The same seed makes
// the same conversation.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <undertext/dialect.hpp>
#include <undertext/history.hpp>

#include "history/random_conversation.hpp"

namespace undertext {

class RandomRequest {
 public:
  // `shares_ids`: one call in three has the id of the call before it.
  explicit RandomRequest(std::uint64_t seed, std::uint64_t first_id = 0, bool shares_ids = false)
      : random_(seed), next_(first_id), shares_ids_(shares_ids) {}

  std::uint64_t below(std::uint64_t n) { return random_() % n; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  std::string body(Dialect dialect) {
    std::string list;
    for (std::uint64_t n = below(7); n > 0; --n) {
      std::string more = turn(dialect);
      if (!list.empty() && !more.empty()) list += one_in(5) ? " ,\n" : ",";
      list += more;
    }
    const bool top = one_in(2);
    switch (dialect) {
      case Dialect::openai_chat:
        return R"({"messages":[)" +
               (top ? R"({"role":")" + pick({"system", "developer"}) + R"(","content":"be good"})" +
                          (list.empty() ? "" : ",")
                    : "") +
               list + R"(],"model":"m"})";
      case Dialect::openai_responses:
        return "{" + (top ? std::string(R"("instructions":"be \u0067ood",)") : "") +
               R"("input":[)" + list + "]}";
      case Dialect::anthropic:
        return "{" +
               (top ? R"("system":)" +
                          pick(
                              {R"("S")",
                               R"([{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}])",
                               R"([{"type":"text","text":"S","new":1}])"}) +
                          ","
                    : "") +
               R"("messages":[)" + list + "]}";
      case Dialect::gemini:
        return "{" + (top ? std::string(R"("systemInstruction":{"parts":[{"text":"S"}]},)") : "") +
               R"("contents":[)" + list + "]}";
    }
    return {};
  }

  // The messages of such a body, edited.
  History edited(Dialect dialect) {
    const Imported imported = import_messages(dialect, body(dialect)).value();
    History history;
    if (!imported.messages.empty())
      history = RandomConversation::applied(history, op::Append{imported.messages});
    for (std::uint64_t n = below(5); n > 0 && history.view().size() > 0; --n)
      history = edit(history);
    return history;
  }

 private:
  std::string pick(std::vector<std::string> words) { return words[below(words.size())]; }
  std::string text() {
    return pick({"hello", "caf\\u00e9 \\ud83d\\ude00", "a\\nb", " ", "", "x \\\"y\\\" ",
                 "long words in a row"});
  }
  std::string id() {
    return one_in(9) ? "id with spaces, and much longer than any provider allows it to be " +
                           std::to_string(next_++)
                     : short_id();
  }
  std::string short_id() {
    const bool is_shared = shares_ids_ && next_ > 0 && one_in(3);
    return "call_" + std::to_string(is_shared ? next_ - 1 : next_++);
  }

  History edit(const History& history) {
    const std::uint64_t n = history.view().size();
    const std::uint64_t at = below(n);
    switch (below(7)) {
      case 0: return RandomConversation::applied(history, op::Delete{Names::indices({at})});
      case 1:
        return RandomConversation::applied(
            history, op::Transform{Names::indices({at}), ReplaceText{"l", "L"}});
      case 2:
        return RandomConversation::applied(
            history, op::Transform{Names::indices({at}), SetMetadata{R"({"k":1})"}});
      case 3: return RandomConversation::applied(history, op::Split{at, {1}});
      case 4: return RandomConversation::applied(history, op::Merge{{at, (at + 1) % n}});
      case 5: return RandomConversation::applied(history, op::Truncate{.keep_last = n - at});
      default:
        return RandomConversation::applied(
            history,
            op::Insert{at,
                       {Message::parse(
                            R"({"role":"system","content":"in between","id":"m1","timestamp":5})")
                            .value()}});
    }
  }

  std::string turn(Dialect dialect) {
    switch (dialect) {
      case Dialect::openai_chat: return chat_turn();
      case Dialect::openai_responses: return responses_turn();
      case Dialect::anthropic: return anthropic_turn();
      case Dialect::gemini: return gemini_turn();
    }
    return {};
  }

  std::string joined(const std::vector<std::string>& list) {
    std::string out;
    for (const std::string& one : list) out += (out.empty() ? "" : ",") + one;
    return out;
  }

  std::string chat_part() {
    return pick(
        {R"({"type":"text","text":")" + text() + "\"}",
         R"({"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}})",
         R"({"type":"image_url","image_url":{"url":"https://x/y.png"}})",
         R"({"type":"input_audio","input_audio":{"data":"AA","format":"wav"}})",
         R"({"type":"file","file":{"file_id":"file-1"}})",
         R"({"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,AA"}})",
         R"({"type":"text","text":"c","prompt_cache_breakpoint":{"mode":"explicit"}})",
         R"({"type":"new_thing","x":[1.0]})"});
  }
  std::string chat_turn() {
    std::vector<std::string> list;
    if (!one_in(4))
      list.push_back(one_in(2) ? R"({"role":"user","content":")" + text() +
                                     (one_in(3) ? R"(","name":"ana"})" : "\"}")
                               : R"({"role":"user","content":[)" + chat_part() + "," + chat_part() +
                                     "]}");
    if (one_in(8))
      list.push_back(
          R"({"role":"assistant","content":null,"function_call":{"name":"now","arguments":"{}"}},{"role":"function","name":"now","content":"12"})");
    if (one_in(2)) {
      const std::string a = id(), b = id();
      list.push_back(R"({"role":"assistant",)" +
                     pick({R"("content":null,)", "", R"("content":"",)",
                           R"("content":"so","reasoning_content":"hm",)",
                           R"("content":"so","x_new":{"k":1.50},)"}) +
                     R"("tool_calls":[{"id":")" + a +
                     R"(","type":"function","function":{"name":"f","arguments":")" +
                     pick({"{\\\"a\\\":1.0}", "{}", "no json", ""}) + R"("}},{"id":")" + b +
                     R"(","type":"custom","custom":{"name":"p.y","input":"1+1"}}]})");
      if (!one_in(5))
        list.push_back(R"({"role":"tool","tool_call_id":")" + a + R"(","content":")" + text() +
                       "\"}");
      if (!one_in(5))
        list.push_back(
            R"({"role":"tool","tool_call_id":")" + b +
            R"(","content":[{"type":"text","text":"t"})" +
            (one_in(3) ? R"(,{"type":"image_url","image_url":{"url":"https://x/i"}})" : "") + "]}");
    }
    if (one_in(2))
      list.push_back(
          pick({R"({"role":"assistant","content":"done "})",
                R"({"role":"assistant","content":null,"refusal":"no"})",
                R"({"role":"assistant","content":[{"type":"refusal","refusal":"no"}]})",
                R"({"role":"assistant","content":null,"audio":{"id":"audio_1"}})",
                R"({"role":"assistant","content":null})", R"({"role":"system","content":"later"})",
                R"({"content":"keys","role":"assistant","refusal":null,"annotations":[]})"}));
    return joined(list);
  }

  std::string responses_turn() {
    std::vector<std::string> list;
    if (!one_in(4))
      list.push_back(pick(
          {R"({"role":"user","content":")" + text() + "\"}",
           R"({"type":"message","role":"user","content":[{"type":"input_text","text":")" + text() +
               R"("},{"type":"input_image","image_url":"data:image/png;base64,AA","detail":"auto"}]})",
           R"({"role":"developer","content":"d"})", R"({"type":"item_reference","id":"msg_1"})",
           R"({"type":"compaction","id":"c1","encrypted_content":"zz"})",
           R"({"type":"compaction_trigger"})"}));
    if (one_in(2))
      list.push_back(R"({"type":"reasoning","id":"rs_)" + std::to_string(next_++) +
                     R"(","summary":[])" + (one_in(2) ? R"(,"encrypted_content":"gA"})" : "}"));
    if (one_in(2)) {
      const std::string a = id();
      list.push_back(one_in(4) ? R"({"type":"custom_tool_call","call_id":")" + a +
                                     R"(","name":"p","input":"x"})"
                               : R"({"type":"function_call","id":"fc_1","call_id":")" + a +
                                     R"(","name":"f","arguments":"{ \"a\":1}"})");
      if (!one_in(5))
        list.push_back(
            R"({"type":"function_call_output","call_id":")" + a + R"(","output":)" +
            pick(
                {R"("ok")",
                 R"([{"type":"input_text","text":"t"},{"type":"input_image","image_url":"https://x/i","detail":"low"}])"}) +
            "}");
    }
    if (one_in(3)) list.push_back(responses_run());
    if (one_in(2))
      list.push_back(pick(
          {R"({"type":"message","id":"msg_2","role":"assistant","status":"completed","phase":"final_answer","content":[{"type":"output_text","text":"hi","annotations":[]}]})",
           R"({"type":"web_search_call","id":"ws_1","status":"completed"})",
           R"({"role":"assistant","content":"plain"})"}));
    return joined(list);
  }

  // Reasoning, the calls of several kinds that follow from it, and their outputs.
  std::string responses_run() {
    std::vector<std::string> list, outputs;
    if (!one_in(3))
      list.push_back(R"({"type":"reasoning","id":"rs_)" + std::to_string(next_++) +
                     R"(","summary":[],"encrypted_content":"gA"})");
    for (std::uint64_t n = 1 + below(3); n > 0; --n) {
      const std::string own = short_id(), quoted = R"(","call_id":")" + own + "\"";
      switch (below(5)) {
        case 0:
          list.push_back(R"({"type":"shell_call)" + quoted + R"(,"action":{"commands":["ls"]}})");
          outputs.push_back(
              R"({"type":"shell_call_output)" + quoted +
              R"(,"output":[{"stdout":"a","stderr":"","outcome":{"type":"exit","exit_code":0}}]})");
          break;
        case 1:
          list.push_back(R"({"type":"apply_patch_call)" + quoted +
                         R"(,"status":"completed","operation":{"type":"delete_file","path":"a"}})");
          outputs.push_back(R"({"type":"apply_patch_call_output)" + quoted +
                            R"(,"status":"completed","output":"done"})");
          break;
        case 2:
          list.push_back(
              R"({"type":"local_shell_call","id":"ls_1)" + quoted +
              R"(,"status":"completed","action":{"type":"exec","command":["ls"],"env":{}}})");
          outputs.push_back(R"({"type":"local_shell_call_output","id":")" + own +
                            R"(","output":"a"})");
          break;
        case 3:
          list.push_back(
              R"({"type":"computer_call","id":"cu_1)" + quoted +
              R"(,"action":{"type":"wait"},"pending_safety_checks":[],"status":"completed"})");
          outputs.push_back(
              R"({"type":"computer_call_output)" + quoted +
              R"(,"output":{"type":"computer_screenshot","image_url":"data:image/png;base64,AA"}})");
          break;
        default:
          list.push_back(R"({"type":"function_call)" + quoted + R"(,"name":"f","arguments":"{}"})");
          outputs.push_back(R"({"type":"function_call_output)" + quoted + R"(,"output":"ok"})");
      }
    }
    if (one_in(8)) outputs.pop_back();
    list.insert(list.end(), outputs.begin(), outputs.end());
    return joined(list);
  }

  std::string anthropic_turn() {
    std::vector<std::string> list;
    if (!one_in(4))
      list.push_back(pick(
          {R"({"role":"user","content":")" + text() + "\"}",
           R"({"role":"user","content":[{"type":"text","text":")" + text() +
               R"(","cache_control":{"type":"ephemeral"}},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}]})",
           R"({"role":"user","content":[{"type":"document","source":{"type":"url","url":"https://x/d.pdf"},"title":"D"},{"type":"text","text":"q","cache_control":{"type":"ephemeral","ttl":"1h"}}]})",
           R"({"role":"system","content":"note"})",
           R"({"content":[{"text":"order","type":"text"}],"role":"user"})"}));
    if (one_in(2)) {
      const std::string a = id(), b = id(),
                        think = pick({R"({"type":"thinking","thinking":"t","signature":"s)" +
                                          std::to_string(next_++) + "\"},",
                                      R"({"type":"redacted_thinking","data":"x"},)",
                                      R"({"type":"thinking","thinking":"t","signature":""},)", ""});
      list.push_back(R"({"role":"assistant","content":[)" + think + R"({"type":"tool_use","id":")" +
                     a + R"(","name":"f","input":{"a":1e2}},{"type":"tool_use","id":")" + b +
                     R"(","name":"g","input":{}}]})");
      const std::string first =
          R"({"type":"tool_result","tool_use_id":")" + a +
          R"(","content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA"}}],"is_error":true})";
      const std::string second =
          R"({"type":"tool_result","tool_use_id":")" + b + R"(","content":"r2"})";
      list.push_back(R"({"role":"user","content":[)" +
                     pick({first + "," + second, second,
                           first + R"(,{"type":"text","text":"and"},)" + second}) +
                     "]}");
    }
    if (one_in(2))
      list.push_back(pick(
          {R"({"role":"assistant","content":"answer "})",
           R"({"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"z"}]})",
           R"({"role":"assistant","content":[{"type":"server_tool_use","id":"srv_1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"srv_1","content":[]},{"type":"text","text":"ok"}]})",
           R"({"role":"assistant","content":[{"type":"compaction","content":"sum","signature":"cs"}]})",
           R"({"role":"assistant","content":[{"type":"text","text":"t","citations":null}]})"}));
    return joined(list);
  }

  std::string gemini_turn() {
    std::vector<std::string> list;
    if (!one_in(4))
      list.push_back(pick(
          {R"({"role":"user","parts":[{"text":")" + text() + R"("}]})",
           R"({"parts":[{"text":"q"},{"inlineData":{"mimeType":"image/png","data":"AA"}}]})",
           R"({"role":"user","parts":[{"fileData":{"mimeType":"video/mp4","fileUri":"gs://v"}},{"text":"w"}]})",
           R"({"role":"user","parts":[]})",
           R"({"role":"user","parts":[{"text":"a","inlineData":{"mimeType":"audio/wav","data":"AA"}},{}]})"}));
    if (one_in(2)) {
      const bool ids = one_in(2);
      const std::string a = id(), b = id();
      const auto own = [&](const std::string& one) {
        return ids ? R"("id":")" + one + "\"," : std::string();
      };
      list.push_back(R"({"role":"model","parts":[)" +
                     pick({R"({"text":"hm","thought":true,"thoughtSignature":"ts"},)", ""}) +
                     R"({"functionCall":{)" + own(a) + R"("name":"f","args":{"x":1}})" +
                     pick({R"(,"thoughtSignature":"sig")", ""}) + R"(},{"functionCall":{)" +
                     own(b) + R"("name":"g"}}]})");
      const std::string first = R"({"functionResponse":{)" + own(a) +
                                R"("name":"f","response":{"output":"o"}}})",
                        second = R"({"functionResponse":{)" + own(b) +
                                 R"("name":"g","response":{"rows":[1,2]}}})";
      list.push_back(R"({"role":"user","parts":[)" +
                     pick({first + "," + second, first, second + "," + first}) + "]}");
    }
    if (one_in(2))
      list.push_back(pick(
          {R"({"role":"model","parts":[{"text":"answer"},{"text":"","thoughtSignature":"end"}]})",
           R"({"role":"model","parts":[{"executableCode":{"language":"PYTHON","code":"1"}},{"codeExecutionResult":{"outcome":"OUTCOME_OK","output":"1"}}]})",
           R"({"role":"model","parts":[{"text":"one"}]},{"role":"model","parts":[{"text":"two"}]})"}));
    return joined(list);
  }

  std::mt19937_64 random_;
  std::uint64_t next_;
  bool shares_ids_;
};

}  // namespace undertext
