#include "message/edit.hpp"

#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace undertext {
namespace {

using Texts = std::vector<std::string>;
using Places = std::vector<std::uint64_t>;

Message parsed(std::string_view json) { return Message::parse(json).value(); }

std::string user(std::string_view content) {
  return R"({"role":"user","content":)" + std::string(content) + "}";
}
std::string assistant(std::string_view content) {
  return R"({"role":"assistant","content":)" + std::string(content) + "}";
}

Result<Message> merged(const Texts& messages, std::string_view separator = "\n",
                       const MessageLimits& limits = {}) {
  std::vector<Message> all;
  for (const std::string& json : messages) all.push_back(parsed(json));
  return merge_messages(all, separator, limits);
}

std::string merged_json(const Texts& messages, std::string_view separator = "\n") {
  return std::string(merged(messages, separator).value().json());
}

Texts split_json(std::string_view json, const Places& at) {
  Texts pieces;
  const std::vector<Message> split = split_message(parsed(json), at, {}).value();
  for (const Message& piece : split) pieces.emplace_back(piece.json());
  return pieces;
}

void refuses(const Error& error, ErrorCode code, std::string_view field) {
  EXPECT_EQ(error.code, code) << error.message;
  EXPECT_EQ(error.field, field) << error.message;
}

TEST(Merge, strings_are_joined_as_spelled_with_the_separator_between) {
  EXPECT_EQ(merged_json({user(R"("a")"), user(R"("b")")}), user(R"("a\nb")"));
  EXPECT_EQ(merged_json({user(R"("caf\u00e9")"), user(R"("é\/")"), user(R"("\"")")}, ""),
            user(R"("caf\u00e9é\/\"")"));
  EXPECT_EQ(merged_json({user(R"("a")"), user(R"("b")")}, "\"\\\t—"), user(R"("a\"\\\t—b")"));
  EXPECT_EQ(merged_json({R"({"role":"tool","content":""})", R"({"role":"tool","content":"x"})"}),
            R"({"role":"tool","content":"\nx"})");
}

TEST(Merge, lists_are_concatenated_and_a_string_among_them_becomes_a_text_part) {
  const std::string a = R"({"type":"text","text":"a"})";
  const std::string b = R"({"type":"x" , "y":1.0})";
  EXPECT_EQ(merged_json({user("[" + a + "]"), user("[ " + b + " , " + a + " ]")}),
            user("[" + a + "," + b + "," + a + "]"));
  EXPECT_EQ(merged_json({user(R"("s\u0041")"), user("[" + b + "]")}),
            user(R"([{"type":"text","text":"s\u0041"},)" + b + "]"));
  EXPECT_EQ(merged_json({user("[" + b + "]"), user(R"("s")")}),
            user("[" + b + R"(,{"type":"text","text":"s"}])"));
  EXPECT_EQ(merged_json({R"({"role":"tool","content":""})", R"({"role":"tool","content":[]})"}),
            R"({"role":"tool","content":[]})");
}

TEST(Merge, null_content_adds_nothing) {
  const std::string calls = R"({"role":"assistant","content":null,"toolCalls":[{"id":"1"}]})";
  EXPECT_EQ(merged_json({calls, assistant(R"("b")")}),
            R"({"role":"assistant","content":"b","toolCalls":[{"id":"1"}]})");
  EXPECT_EQ(merged_json({assistant(R"("a")"), calls, assistant(R"("b")")}),
            R"({"role":"assistant","content":"a\nb","toolCalls":[{"id":"1"}]})");
  EXPECT_EQ(merged_json({calls, calls}),
            R"({"role":"assistant","content":null,"toolCalls":[{"id":"1"},{"id":"1"}]})");
  EXPECT_EQ(merged_json({calls, assistant(R"([{"a":1}])")}),
            R"({"role":"assistant","content":[{"a":1}],"toolCalls":[{"id":"1"}]})");
}

TEST(Merge, tool_calls_are_concatenated_under_the_first_spelling_found) {
  EXPECT_EQ(
      merged_json({R"({"toolCalls":[{"id":"1"}],"role":"assistant","content":"a"})",
                   R"({"role":"assistant","content":"b","tool_calls":[ {"id":"2"} ,{"id":"3"}]})"}),
      R"({"toolCalls":[{"id":"1"},{"id":"2"},{"id":"3"}],"role":"assistant","content":"a\nb"})");
  EXPECT_EQ(merged_json({assistant(R"("a")"),
                         R"({"tool_calls":[{"id":"1"}],"role":"assistant","content":"b"})",
                         R"({"role":"assistant","content":"c","toolCalls":[{"id":"2"}]})"}),
            R"({"role":"assistant","content":"a\nb\nc","tool_calls":[{"id":"1"},{"id":"2"}]})");
  EXPECT_EQ(
      merged_json(
          {R"({"role":"assistant","tool_calls":[{"id":"1"}],"content":"a","toolCalls":[{"id":"2"}]})",
           assistant(R"("b")")}),
      R"({"role":"assistant","tool_calls":[{"id":"1"},{"id":"2"}],"content":"a\nb"})");
}

TEST(Merge, a_call_that_a_message_gives_twice_is_merged_once) {
  const std::string b = R"({"role":"assistant","content":"b","tool_calls":[{"id":"2"}]})";
  EXPECT_EQ(
      merged_json(
          {R"({"role":"assistant","content":"a","toolCalls":[{"id":"1"}],"tool_calls":[{"id":"1"},{"id":"3"}]})",
           b}),
      R"({"role":"assistant","content":"a\nb","toolCalls":[{"id":"1"},{"id":"3"},{"id":"2"}]})");
  EXPECT_EQ(
      merged_json(
          {R"({"role":"assistant","content":[{"type":"tool_use","id":"1"}],"toolCalls":[{"id":"1"},{"id":"3"}]})",
           b}),
      R"({"role":"assistant","content":[{"type":"tool_use","id":"1"},{"type":"text","text":"b"}],"toolCalls":[{"id":"3"},{"id":"2"}]})");
}

TEST(Merge, all_other_members_are_the_first_ones_in_their_order_and_bytes) {
  EXPECT_EQ(merged_json({R"({ "id" : "1", "content" :  "a" , "x":1.0,"role":"user" })",
                         R"({"id":"2","timestamp":5,"role":"user","content":"b","metadata":{}})"}),
            R"({"id" : "1","content" :  "a\nb","x":1.0,"role":"user"})");
}

TEST(Merge, one_message_is_itself) {
  const std::string spaced = R"({ "role":"user", "content":[ {} ] })";
  EXPECT_EQ(merged_json({spaced}), spaced);
}

TEST(Merge, a_result_over_the_limit_is_too_large) {
  const Texts messages(1000, user(R"("a")"));
  refuses(merged(messages, "\n", {.message_bytes = 1000}).error(), ErrorCode::too_large, "");
  refuses(merged(messages, std::string(1u << 20, 's')).error(), ErrorCode::too_large, "");
  EXPECT_EQ(merged(messages, "\n", {.message_bytes = 5000}).value().text().size(), 1999u);
}

TEST(Merge, a_separator_that_is_no_UTF_8_is_refused) {
  refuses(merged({user(R"("a")"), user(R"("b")")}, "\xff").error(), ErrorCode::invalid_argument,
          "separator");
}

TEST(Split, a_string_is_cut_between_code_points_as_spelled) {
  EXPECT_EQ(split_json(user(R"("abc")"), {1}), (Texts{user(R"("a")"), user(R"("bc")")}));
  EXPECT_EQ(split_json(user(R"("abc")"), {1, 2}),
            (Texts{user(R"("a")"), user(R"("b")"), user(R"("c")")}));
  EXPECT_EQ(split_json(user(R"("é€😀x")"), {1, 2, 3}),
            (Texts{user(R"("é")"), user(R"("€")"), user(R"("😀")"), user(R"("x")")}));
  EXPECT_EQ(split_json(user(R"("\u00e9\n\ud83d\ude00\"\ud83d\\")"), {1, 2, 3, 4, 5}),
            (Texts{user(R"("\u00e9")"), user(R"("\n")"), user(R"("\ud83d\ude00")"), user(R"("\"")"),
                   user(R"("\ud83d")"), user(R"("\\")")}));
}

TEST(Split, a_list_is_cut_between_parts) {
  EXPECT_EQ(split_json(user(R"([{"a":1}, {"b":2} ,{"c":3}])"), {1}),
            (Texts{user(R"([{"a":1}])"), user(R"([{"b":2},{"c":3}])")}));
  EXPECT_EQ(split_json(user(R"([{"a":1},{"b":[2,3]},{"c":3}])"), {1, 2}),
            (Texts{user(R"([{"a":1}])"), user(R"([{"b":[2,3]}])"), user(R"([{"c":3}])")}));
}

TEST(Split, the_id_stays_with_the_first_piece_tool_calls_with_the_last_the_rest_with_all) {
  EXPECT_EQ(
      split_json(
          R"({"id":"m","toolCalls":[{"id":"1"}],"role":"assistant", "x" : 1.0 ,"content":"abc","tool_calls":[],"toolCallId":"t"})",
          {1, 2}),
      (Texts{
          R"({"id":"m","role":"assistant","x" : 1.0,"content":"a","toolCallId":"t"})",
          R"({"role":"assistant","x" : 1.0,"content":"b","toolCallId":"t"})",
          R"({"toolCalls":[{"id":"1"}],"role":"assistant","x" : 1.0,"content":"c","tool_calls":[],"toolCallId":"t"})"}));
}

TEST(Split, places_must_rise_strictly_inside_the_content) {
  const std::string calls = R"({"role":"assistant","content":null,"toolCalls":[{}]})";
  const std::string nothing = R"({"role":"tool","content":""})";
  struct Case {
    std::string json;
    Places at;
  };
  for (const Case& c : std::initializer_list<Case>{
           {user(R"("abc")"), {}},
           {user(R"("abc")"), {0}},
           {user(R"("abc")"), {3}},
           {user(R"("abc")"), {4}},
           {user(R"("abc")"), {~0ull}},
           {user(R"("abc")"), {1, 1}},
           {user(R"("abc")"), {2, 1}},
           {user(R"("\ud83d\ude00")"), {1}},
           {user(R"([{}])"), {1}},
           {user(R"([{},{}])"), {2}},
           {user(R"([{},{}])"), {0, 1}},
           {calls, {1}},
           {nothing, {1}},
       }) {
    const Result<std::vector<Message>> split = split_message(parsed(c.json), c.at, {});
    ASSERT_FALSE(split) << c.json;
    refuses(split.error(), ErrorCode::invalid_argument, "at");
  }
}

TEST(Split, many_pieces_of_a_message_with_much_metadata_are_too_large_together) {
  const std::string large = R"({"role":"user","content":")" + std::string(1000, 'x') +
                            R"(","metadata":{"a":")" + std::string(100'000, 'y') + R"("}})";
  Places at;
  for (std::uint64_t i = 1; i < 1000; ++i) at.push_back(i);
  refuses(split_message(parsed(large), at, {.message_bytes = 200'000}).error(),
          ErrorCode::too_large, "");
  EXPECT_EQ(split_message(parsed(large), at, {.message_bytes = 8'000'000}).value().size(), 1000u);
}

TEST(Split, what_was_split_can_be_merged_again) {
  const std::string whole = user(R"("a\u00e9\ud83d\ude00€\n\\b")");
  for (std::uint64_t at = 1; at < 7; ++at)
    EXPECT_EQ(merged_json(split_json(whole, {at}), ""), whole);
}

void replaces(std::string_view json, const ReplaceText& change, std::string_view expected) {
  const Result<Message> edited = replace_text(parsed(json), change, {});
  ASSERT_TRUE(edited) << json << ": " << edited.error().message;
  EXPECT_EQ(edited->json(), expected);
}

TEST(ReplaceText, every_occurrence_is_replaced_and_other_bytes_stay) {
  replaces(user(R"("a cat, a cat")"), {"cat", "dog"}, user(R"("a dog, a dog")"));
  replaces(user(R"("aaaa")"), {"aa", "a"}, user(R"("aa")"));
  replaces(user(R"("aaa")"), {"aa", "b"}, user(R"("ba")"));
  replaces(user(R"("abc")"), {"x", "y"}, user(R"("abc")"));
  replaces(user(R"("abc")"), {"b", ""}, user(R"("ac")"));
  replaces(R"({ "role" : "user", "content" : "user", "n":1.0 })", {"user", "you"},
           R"({ "role" : "user", "content" : "you", "n":1.0 })");
}

TEST(ReplaceText, the_decoded_text_is_searched_and_the_rest_keeps_its_spelling) {
  replaces(user(R"("\u0041\n\/ caf\u00e9 \ud83d\ude00 \ud83d end")"), {"café", "tea"},
           user(R"("\u0041\n\/ tea \ud83d\ude00 \ud83d end")"));
  replaces(user(R"("a\nb\nc")"), {"\nb\n", " \"B\"\t"}, user(R"("a \"B\"\tc")"));
  replaces(user(R"("\u0061\u0061")"), {"a", "b"}, user(R"("bb")"));
  replaces(user(R"("x\ud83d\ude00y\\n")"), {"😀", "é"}, user(R"("xéy\\n")"));
  replaces(user(R"("C:\\new\n")"), {"\n", "n"}, user(R"("C:\\newn")"));
  replaces(user(R"("n\n")"), {"n", "m"}, user(R"("m\n")"));
}

TEST(ReplaceText, each_text_is_edited_by_itself_and_nothing_else_is) {
  replaces(
      R"({"role":"user","content":[{"type":"text","text":"x"},{"x":"x"},{"type":"tool_result","tool_use_id":"x","content":"x x"},)"
      R"( {"type":"tool_result","tool_result":{"content":[{"type":"text","text":"x"},{"type":"image","x":"x"}],"tool_use_id":"x"}}],"x":"x"})",
      {"x", "y"},
      R"({"role":"user","content":[{"type":"text","text":"y"},{"x":"x"},{"type":"tool_result","tool_use_id":"x","content":"y y"},)"
      R"( {"type":"tool_result","tool_result":{"content":[{"type":"text","text":"y"},{"type":"image","x":"x"}],"tool_use_id":"x"}}],"x":"x"})");
  replaces(user(R"([{"type":"text","text":"a"},{"type":"text","text":"b"}])"), {"a\nb", "c"},
           user(R"([{"type":"text","text":"a"},{"type":"text","text":"b"}])"));
}

TEST(ReplaceText, bad_arguments_and_results_are_refused) {
  const Message abc = parsed(user(R"("abc")"));
  refuses(replace_text(abc, {"", "x"}, {}).error(), ErrorCode::invalid_argument, "find");
  refuses(replace_text(abc, {"\x80", "x"}, {}).error(), ErrorCode::invalid_argument, "find");
  refuses(replace_text(abc, {"a", "\xff"}, {}).error(), ErrorCode::invalid_argument, "with");
  refuses(replace_text(abc, {"abc", ""}, {}).error(), ErrorCode::invalid_argument, "content");
  const Message many = parsed(user('"' + std::string(1'000'000, 'a') + '"'));
  refuses(replace_text(many, {"a", std::string(1'000'000, 'b')}, {}).error(), ErrorCode::too_large,
          "");
}

void truncates(std::string_view json, const TruncateText& change, std::string_view expected) {
  const Result<Message> edited = truncate_text(parsed(json), change, {});
  ASSERT_TRUE(edited) << json << ": " << edited.error().message;
  EXPECT_EQ(edited->json(), expected);
}

TEST(TruncateText, the_head_the_tail_or_both_stay_and_the_marker_stands_at_the_cut) {
  using Keep = TruncateText::Keep;
  const std::string whole = user(R"("abcdefg")");
  truncates(whole, {.chars_max = 3}, user(R"("abc")"));
  truncates(whole, {.chars_max = 3, .marker = "…\n"}, user(R"("abc…\n")"));
  truncates(whole, {.chars_max = 3, .keep = Keep::tail, .marker = "…"}, user(R"("…efg")"));
  truncates(whole, {.chars_max = 3, .keep = Keep::both, .marker = "…"}, user(R"("ab…g")"));
  truncates(whole, {.chars_max = 4, .keep = Keep::both, .marker = "…"}, user(R"("ab…fg")"));
  truncates(whole, {.chars_max = 0, .keep = Keep::both, .marker = "…"}, user(R"("…")"));
  for (const Keep keep : {Keep::head, Keep::tail, Keep::both}) {
    truncates(whole, {.chars_max = 7, .keep = keep, .marker = "…"}, whole);
    truncates(whole, {.chars_max = ~0ull, .keep = keep, .marker = "…"}, whole);
  }
}

TEST(TruncateText, code_points_are_counted_and_never_cut) {
  truncates(user(R"("é\u00e9\ud83d\ude00€\nx")"), {.chars_max = 3},
            user(R"("é\u00e9\ud83d\ude00")"));
  truncates(user(R"("é\u00e9\ud83d\ude00€\nx")"),
            {.chars_max = 4, .keep = TruncateText::Keep::tail}, user(R"("\ud83d\ude00€\nx")"));
}

TEST(TruncateText, each_text_is_cut_by_itself) {
  truncates(
      user(
          R"([{"type":"text","text":"abc"},{"type":"text","text":"d"},{"type":"tool_result","content":"efg"}])"),
      {.chars_max = 1, .marker = "."},
      user(
          R"([{"type":"text","text":"a."},{"type":"text","text":"d"},{"type":"tool_result","content":"e."}])"));
}

TEST(TruncateText, bad_arguments_and_results_are_refused) {
  refuses(truncate_text(parsed(user(R"("abc")")), {.chars_max = 0}, {}).error(),
          ErrorCode::invalid_argument, "content");
  refuses(truncate_text(parsed(user(R"("abc")")), {.chars_max = 1, .marker = "\xc3"}, {}).error(),
          ErrorCode::invalid_argument, "marker");
  refuses(truncate_text(parsed(user(R"("abc")")), {.chars_max = 1, .marker = std::string(100, 'm')},
                        {.message_bytes = 50})
              .error(),
          ErrorCode::too_large, "");
}

void sets(std::string_view json, std::string_view metadata, std::string_view expected) {
  const Result<Message> edited = set_metadata(parsed(json), {std::string(metadata)}, {});
  ASSERT_TRUE(edited) << json << ": " << edited.error().message;
  EXPECT_EQ(edited->json(), expected);
}

TEST(SetMetadata, members_are_set_in_their_place_or_at_the_end_and_others_stay) {
  sets(R"({"role":"user","content":"x"})", R"({"a":1.0})",
       R"({"role":"user","content":"x","metadata":{"a":1.0}})");
  sets(R"({"metadata":{ "a" : 1, "b":2},"role":"user","content":"x"})", R"({"a":"new","c":[ ]})",
       R"({"metadata":{"a" : "new","b":2,"c":[ ]},"role":"user","content":"x"})");
  sets(R"({"role":"user","content":"x","metadata":{"\u0061":1}})", R"({"a":2})",
       R"({"role":"user","content":"x","metadata":{"\u0061":2}})");
  sets(R"({"role":"user","content":"x","metadata":{}})", R"({"\ud800":1,"\ud801":2})",
       R"({"role":"user","content":"x","metadata":{"\ud800":1,"\ud801":2}})");
  sets(R"({"role":"user","content":"x","metadata":{"a":1}})", R"({"a":null})",
       R"({"role":"user","content":"x","metadata":{"a":null}})");
  sets(R"({ "role":"user","content":"x" })", "{}", R"({ "role":"user","content":"x" })");
}

TEST(SetMetadata, what_is_no_object_or_no_JSON_is_refused) {
  const Message x = parsed(user(R"("x")"));
  for (const char* bad : {"", "[]", "null", "{", "{\"a\":1,\"a\":2}"})
    refuses(set_metadata(x, {bad}, {}).error(), ErrorCode::invalid_argument, "setMetadata");
  EXPECT_FALSE(set_metadata(x, {R"({"a":[[]]})"}, {.depth = 3}));
  EXPECT_TRUE(set_metadata(x, {R"({"a":[[]]})"}, {.depth = 4}));
  refuses(set_metadata(x, {R"({"a":"long"})"}, {.message_bytes = 40}).error(), ErrorCode::too_large,
          "");
}

TEST(Edit, the_edited_message_is_as_it_was_also_after_a_failure) {
  const std::string json = user(R"("abc")");
  const Message message = parsed(json);
  EXPECT_FALSE(replace_text(message, {"abc", ""}, {}));
  EXPECT_TRUE(truncate_text(message, {.chars_max = 1}, {}));
  EXPECT_EQ(message.json(), json);
}

TEST(SplitMessage, a_call_that_is_a_part_and_in_the_list_stays_one_call) {
  const Message message =
      Message::parse(
          R"({"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"text","text":"x"},{"type":"tool_use","id":"b"}],)"
          R"("toolCalls":[{"id":"a"},{"id":"b"},{"id":"c"}]})")
          .value();
  const std::uint64_t at[] = {2};
  const std::vector<Message> pieces = split_message(message, at, {}).value();
  EXPECT_EQ(
      pieces[0].json(),
      R"({"role":"assistant","content":[{"type":"tool_use","id":"a"},{"type":"text","text":"x"}]})");
  EXPECT_EQ(
      pieces[1].json(),
      R"({"role":"assistant","content":[{"type":"tool_use","id":"b"}],"toolCalls":[{"id":"b"},{"id":"c"}]})");
}

}  // namespace
}  // namespace undertext
