// Every operation with every form of its arguments, as it is recorded: the bytes in hexadecimal, and
// the fields as JSON. They never change: stores and exports hold them. A new operation or tag adds rows.
#pragma once

#include <string>
#include <vector>

#include "history/operation_table.hpp"

namespace undertext {

struct RecordedExample {
  RecordedOperation record;
  const char* bytes;
  const char* json;
};

// Each record has the tag that its bytes begin with: those of the first releases stay as they are.
inline std::vector<RecordedExample> with_tags(std::vector<RecordedExample> examples) {
  for (RecordedExample& example : examples)
    example.record.tag = static_cast<std::uint8_t>(std::stoul(std::string(example.bytes).substr(0, 2), nullptr, 16));
  return examples;
}

inline const std::vector<RecordedExample>& recorded_examples() {
  static const std::vector<RecordedExample> examples = with_tags({
      {{{op::Append{}, {.description = "because"}}}, "010762656361757365", R"(,"description":"because")"},
      {{{op::Insert{0, {}}}}, "020000", R"(,"position":0)"},
      {{{op::Insert{300, {}}}}, "02ac0200", R"(,"position":300)"},
      {{{op::Replace{Names::indices({7}), {}}, {.description = "because"}}},
       "0300010e0762656361757365",
       R"(,"description":"because","index":7)"},
      {{{op::Replace{Names::indices({7, 3}), {}}}}, "0300020e0700", R"(,"indices":[7,3])"},
      {{{op::Replace{Names::ordinals({2}), {}}}}, "0301010400", R"(,"ordinals":[2])"},
      {{{op::Truncate{.keep_first = 4}, {.description = "because"}}},
       "0401040000000000000762656361757365",
       R"(,"description":"because","keepFirst":4)"},
      {{{op::Truncate{.keep_last = 0, .pairs = Pairs::literal}}}, "04000100000000000100", R"(,"keepLast":0,"pairs":"literal")"},
      {{{op::Truncate{.remove_first = 1, .remove_last = 200, .role = Role::system, .pairs = Pairs::shrink}}},
       "040000010101c80100010200",
       R"(,"removeFirst":1,"removeLast":200,"role":"system","pairs":"shrink")"},
      {{{op::Truncate{.range = Range{2, 1000}, .role = Role::tool, .pairs = Pairs::grow}, {.description = "because"}}},
       "04000000000102e80704030762656361757365",
       R"(,"description":"because","range":{"start":2,"end":1000},"role":"tool","pairs":"grow")"},
      {{{op::Truncate{.keep_first = 1, .keep_last = 2, .remove_first = 3, .remove_last = 4, .range = Range{0, 1}}}},
       "040101010201030104010001000000",
       R"(,"keepFirst":1,"keepLast":2,"removeFirst":3,"removeLast":4,"range":{"start":0,"end":1})"},
      {{{op::Truncate{.keep_last = 0, .pairs = Pairs::grow}}, {{{1, 3}}}},
       "17000100000000000300010102",
       R"(,"tag":23,"keepLast":0,"pairs":"grow","kept":[{"start":1,"end":3}])"},
      {{{op::Clear{}}}, "050100", R"(,"keepSystemMessage":true)"},
      {{{op::Clear{false}, {.description = "because"}}},
       "05000762656361757365",
       R"(,"description":"because","keepSystemMessage":false)"},
      {{{op::Filter{.roles = {Role::user, Role::assistant}, .pairs = Pairs::literal}}},
       "0602010200000100",
       R"(,"roles":["user","assistant"],"pairs":"literal")"},
      {{{op::Filter{
            .roles = {Role::system}, .content_contains = {"a", "b\n"}, .content_excludes = {"\"c\""}, .pairs = Pairs::grow}},
        {{{1, 3}, {200, 201}}}},
       "06010002016102620a01032263220300020102c50101",
       R"(,"roles":["system"],"contentContains":["a","b\n"],"contentExcludes":["\"c\""],"pairs":"grow","kept":[{"start":1,"end":3},{"start":200,"end":201}])"},
      {{{op::Filter{.content_excludes = {"x"}}, {.description = "because"}}, {{{1, 3}, {200, 201}}}},
       "060000010178000762656361757365020102c50101",
       R"(,"description":"because","contentExcludes":["x"],"kept":[{"start":1,"end":3},{"start":200,"end":201}])"},
      {{{op::Filter{.roles = {Role::user, Role::assistant}, .pairs = Pairs::literal}}},
       "1802010200000100",
       R"(,"tag":24,"roles":["user","assistant"],"pairs":"literal")"},
      {{{op::Delete{Names::ordinals({9, 2}), Pairs::shrink}}, {{{1, 3}}}},
       "190102120d0200010102",
       R"(,"tag":25,"ordinals":[9,2],"pairs":"shrink","kept":[{"start":1,"end":3}])"},
      {{{op::Delete{Names::indices({3, 4, 900})}}}, "0700030602800e0000", R"(,"indices":[3,4,900])"},
      {{{op::Delete{Names::ordinals({9, 2}), Pairs::shrink}}}, "070102120d0200", R"(,"ordinals":[9,2],"pairs":"shrink")"},
      {{{op::Compress{Names::indices({1, 2})}, {.description = "because"}}},
       "0800020202000762656361757365",
       R"(,"description":"because","indices":[1,2])"},
      {{{op::Compress{Names::ordinals({1, 2}), some_message()}}}, "08010202020100", R"(,"ordinals":[1,2],"summary":true)"},
      {{{op::ApplyPlan{{Version(12), {}}}}},
       "090c00000000000000000000",
       R"(,"plan":{"base":12,"replacements":[],"tokensBefore":0,"tokensAfter":0})"},
      {{{op::ApplyPlan{{Version(300),
                        {{{{1, 3}, {5, 9}}, some_message()}, {{{10, 11}}}},
                        "keep_recent",
                        "digest",
                        "m",
                        "full",
                        500,
                        20,
                        3,
                        4}},
         {.description = "because"}}},
       "09ac0202020103050901010a0b000b6b6565705f726563656e7406646967657374016d0466756c6cf4031403040762656361757365",
       R"(,"description":"because","plan":{"base":300,"replacements":[{"hidden":[{"start":1,"end":3},{"start":5,"end":9}],"summary":true},{"hidden":[{"start":10,"end":11}]}],"strategy":"keep_recent","summariser":"digest","model":"m","reason":"full","tokensBefore":500,"tokensAfter":20,"promptTokens":3,"completionTokens":4})"},
      {{{op::Expand{6}}}, "0a0600", R"(,"index":6)"},
      {{{op::Merge{{1, 2, 3}}}}, "0b03020202010a00", R"(,"indices":[1,2,3],"separator":"\n")"},
      {{{op::Merge{{5, 1}, ""}, {.description = "because"}}},
       "0b020a07000762656361757365",
       R"(,"description":"because","indices":[5,1],"separator":"")"},
      {{{op::Split{2, {1, 130}}}}, "0c020202820200", R"(,"index":2,"at":[1,130])"},
      {{{op::Transform{Names::indices({4}), ReplaceText{"find", ""}}}},
       "0d00000108000466696e640000",
       R"(,"indices":[4],"replaceText":{"find":"find","with":""})"},
      {{{op::Transform{Names::ordinals({4, 5}), TruncateText{80, TruncateText::Keep::both, "…"}}, {.description = "because"}}},
       "0d000102080201500203e280a60762656361757365",
       R"(,"description":"because","ordinals":[4,5],"truncateText":{"maxChars":80,"keep":"both","marker":"…"})"},
      {{{op::Transform{std::vector<Role>{Role::tool}, TruncateText{0, TruncateText::Keep::head, ""}}}},
       "0d0101030100000000",
       R"(,"roles":["tool"],"truncateText":{"maxChars":0,"keep":"head","marker":""})"},
      {{{op::Transform{std::vector<Role>{Role::user, Role::tool}, SetMetadata{R"({"a": 1})"}}}},
       "0d0102010302087b2261223a20317d00",
       R"(,"roles":["user","tool"],"setMetadata":{"a": 1})"},
      {{{op::Transform{Names::indices({0}), op::TransformFunction()}, {.description = "because"}}},
       "0d00000100030762656361757365",
       R"(,"description":"because","indices":[0],"function":true)"},
      {{{op::StartBatch{}}}, "0e000000", R"()"},
      {{{op::StartBatch{5, true}}}, "0e01050100", R"(,"boundary":5,"hidePrior":true)"},
      {{{op::EndBatch{0}, {.description = "because"}}}, "0f00000762656361757365", R"(,"description":"because","targetBatch":0)"},
      {{{op::EndBatch{2, {Role::assistant, Role::user}}}}, "0f0202020100", R"(,"targetBatch":2,"carry":["assistant","user"])"},
      {{{op::Rollback{1}}}, "100100", R"(,"targetBatchIndex":1)"},
      {{{op::Mark{Names::indices({0}), "pinned"}, {.description = "because"}}},
       "110001000670696e6e65640762656361757365",
       R"(,"description":"because","indices":[0],"mark":"pinned")"},
      {{{op::Unmark{Names::ordinals({1, 128}), "important"}}},
       "12010202fe0109696d706f7274616e7400",
       R"(,"ordinals":[1,128],"mark":"important")"},
      {{{op::Undo{}}}, "1300", R"()"},
      {{{op::Redo{}, {.description = "because"}}}, "140762656361757365", R"(,"description":"because")"},
      {{{op::Restore{77}}}, "154d00", R"(,"restoredVersion":77)"},
      {{{op::ImportMarkMap{}}},
       "16000000000000000000",
       R"(,"markMap":{"originalIndices":[],"typeIndices":{},"batchBoundaries":[],"boundaryToBatch":[],"currentBatch":0})"},
      {{{op::ImportMarkMap{{{2, 0, 1}, {{0}, {2}, {1}, {}}, {0, 3}, {0, 1}, 1}}, {.description = "because"}}},
       "160304030201000104010200020006020002010762656361757365",
       R"(,"description":"because","markMap":{"originalIndices":[2,0,1],"typeIndices":{"system":[0],"user":[2],"assistant":[1]},"batchBoundaries":[0,3],"boundaryToBatch":[0,1],"currentBatch":1})"},
  });
  return examples;
}

}  // namespace undertext
