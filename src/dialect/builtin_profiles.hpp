// The profiles that come with the library, in the form that a user's own have: docs/dialects.md
// says what each member means.
#pragma once

#include <array>
#include <string_view>

namespace undertext {

struct BuiltinProfile {
  std::string_view name;
  std::string_view json;
};

inline constexpr std::array<BuiltinProfile, 15> builtin_profiles = {{
    {"openai_chat",
     R"({"name":"openai_chat","dialect":"openai_chat","cache":{"kind":"prefix","min":1024,"step":128,"write":1.0,"read":0.1}})"},
    {"openai_responses",
     R"({"name":"openai_responses","dialect":"openai_responses","cache":{"kind":"prefix","min":1024,"step":128,"write":1.0,"read":0.1}})"},
    {"openai_responses_stateless",
     R"({"name":"openai_responses_stateless","dialect":"openai_responses","store":false,"cache":{"kind":"prefix","min":1024,"step":128,"write":1.0,"read":0.1}})"},
    {"anthropic",
     R"({"name":"anthropic","dialect":"anthropic","cache":{"kind":"breakpoints","min":1024,"lookback":20,"write":1.25,"read":0.1}})"},
    {"anthropic_prefill",
     R"({"name":"anthropic_prefill","dialect":"anthropic","prefill":true,"system_anywhere":false,"cache":{"kind":"breakpoints","min":1024,"lookback":20,"write":1.25,"read":0.1}})"},
    {"anthropic_system_first",
     R"({"name":"anthropic_system_first","dialect":"anthropic","system_anywhere":false,"cache":{"kind":"breakpoints","min":2048,"lookback":20,"write":1.25,"read":0.1}})"},
    {"anthropic_thinking",
     R"({"name":"anthropic_thinking","dialect":"anthropic","thinking_required":true,"system_anywhere":false,"cache":{"kind":"breakpoints","min":1024,"lookback":20,"write":1.25,"read":0.1}})"},
    {"anthropic_bound",
     R"({"name":"anthropic_bound","dialect":"anthropic","thinking_bound":true,"cache":{"kind":"breakpoints","min":512,"lookback":20,"write":1.25,"read":0.1}})"},
    {"bedrock",
     R"({"name":"bedrock","dialect":"anthropic","strict_alternation":true,"system_anywhere":false,"cache":{"kind":"breakpoints","min":1024,"lookback":20,"write":1.25,"read":0.1}})"},
    {"gemini",
     R"({"name":"gemini","dialect":"gemini","cache":{"kind":"prefix","min":1024,"write":1.0,"read":0.1}})"},
    {"gemini3",
     R"({"name":"gemini3","dialect":"gemini","gemini3":true,"cache":{"kind":"prefix","min":4096,"write":1.0,"read":0.1}})"},
    {"deepseek",
     R"({"name":"deepseek","dialect":"openai_chat","developer_role":false,"requires_reasoning_content":true,"cache":{"kind":"prefix","write":1.0,"read":0.1}})"},
    {"mistral",
     R"({"name":"mistral","dialect":"openai_chat","strict_alternation":true,"first_user":true,"prefill":false,"developer_role":false,"system_anywhere":false,"user_after_tool":false})"},
    {"gemma",
     R"({"name":"gemma","dialect":"openai_chat","system_role":false,"developer_role":false,"strict_alternation":true,"first_user":true,"prefill":false})"},
    {"llama_cpp",
     R"({"name":"llama_cpp","dialect":"openai_chat","developer_role":false,"prefill_twice":false,"call_id_max":0,"cache":{"kind":"prefix","write":1.0,"read":0.0}})"},
}};

}  // namespace undertext
