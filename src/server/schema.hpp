// JSON Schemas, as JSON text, for the rows of the table.
#pragma once

#include <string>
#include <string_view>

namespace undertext::schema {

inline constexpr std::string_view any = "{}";
inline constexpr std::string_view object = R"({"type":"object"})";
inline constexpr std::string_view integer = R"({"type":"integer","minimum":0})";
inline constexpr std::string_view text = R"({"type":"string"})";

inline std::string named(std::string_view name) { return R"({"$ref":"#/components/schemas/)" + std::string(name) + R"("})"; }
inline std::string list_of(std::string_view element) { return R"({"type":"array","items":)" + std::string(element) + "}"; }

// {"ok":true,"result":…}, and what else stands beside the result: R"("next":{…})".
inline std::string result_of(std::string_view result, std::string_view beside = {}) {
  std::string out =
      R"({"type":"object","required":["ok","result"],"properties":{"ok":{"const":true},"result":)" + std::string(result);
  if (!beside.empty()) (out += ',') += beside;
  return out += "}}";
}

}  // namespace undertext::schema
