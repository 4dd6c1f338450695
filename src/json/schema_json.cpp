#include "json/schema_json.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>
#include <vector>

#include <undertext/undertext.hpp>

#include "base/json_text.hpp"
#include "json/answer_shapes.hpp"
#include "json/operation_json.hpp"
#include "json/query_json.hpp"
#include "json/request_record_json.hpp"
#include "json/settings_json.hpp"
#include "json/strategy_json.hpp"
#include "json/usage_json.hpp"

namespace undertext {
namespace {

// The alternatives of a type, which stand apart by | outside of braces and quotes.
std::vector<std::string_view> alternatives_of(std::string_view type) {
  std::vector<std::string_view> found;
  std::size_t start = 0, depth = 0;
  bool is_quoted = false;
  for (std::size_t i = 0; i <= type.size(); ++i) {
    const char c = i < type.size() ? type[i] : '|';
    if (c == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c != '|' || depth > 0) continue;
    found.push_back(type.substr(start, i - start));
    start = i + 1;
  }
  return found;
}

bool is_word(std::string_view type) { return type.starts_with('"'); }

// As it stands in "type"; empty: it does not.
std::string_view plain_type(std::string_view type) {
  for (const std::string_view plain : {"number", "string", "boolean", "null"})
    if (type == plain) return plain;
  return type == "signed" || type == "integer" ? "integer" : "";
}

void add_member(std::string& out, std::string_view name, std::string_view json) {
  if (out.back() != '{') out += ',';
  append_json_string(out, name);
  (out += ':') += json;
}

void add_text(std::string& out, std::string_view name, std::string_view text) {
  if (text.empty()) return;
  std::string json;
  append_json_string(json, text);
  add_member(out, name, json);
}

template <class Range, class Write>
std::string list_of(const Range& range, Write write) {
  std::string out = "[";
  for (const auto& each : range) {
    if (out.size() > 1) out += ',';
    out += write(each);
  }
  return out + "]";
}

// {"required":["a","b"]}: both are there.
std::string both(std::string_view a, std::string_view b) {
  return R"({"required":[)" + json_string(a) + "," + json_string(b) + "]}";
}

// What must not be of an object with choices: two of one choice, or none where one is required.
std::string refused_by(const std::vector<Choice>& choices) {
  std::vector<std::string> cases;
  for (const Choice& choice : choices) {
    for (std::size_t i = 0; i < choice.names.size(); ++i)
      for (std::size_t j = i + 1; j < choice.names.size(); ++j)
        cases.push_back(both(choice.names[i], choice.names[j]));
    for (std::size_t i = 0; i + 1 < choice.names.size(); ++i)
      for (const std::string& name : choice.beside) cases.push_back(both(choice.names[i], name));
    if (!choice.required) continue;
    const auto is_there = [](const std::string& name) {
      return R"({"required":[)" + json_string(name) + "]}";
    };
    std::vector<std::string> any = choice.names;
    any.insert(any.end(), choice.beside.begin(), choice.beside.end());
    cases.push_back(R"({"not":{"anyOf":)" + list_of(any, is_there) + "}}");
  }
  return R"({"anyOf":)" + list_of(cases, [](const std::string& each) { return each; }) + "}";
}

}  // namespace

std::string SchemaWriter::reference_to(std::string_view name) const {
  shapes_.at(name);
  return R"({"$ref":")" + references_ + std::string(name) + R"("})";
}

std::string SchemaWriter::of_type(std::string_view type) const {
  const std::vector<std::string_view> either = alternatives_of(type);
  if (either.size() > 1) {
    const auto as_is = [](std::string_view each) { return std::string(each); };
    if (std::ranges::all_of(either, is_word))
      return R"({"type":"string","enum":)" + list_of(either, as_is) + "}";
    return R"({"anyOf":)" + list_of(either, [&](std::string_view each) { return of_type(each); }) +
           "}";
  }
  if (type == "any") return "{}";
  if (type == "integer") return R"({"type":"integer","minimum":0})";
  if (const std::string_view plain = plain_type(type); !plain.empty())
    return R"({"type":")" + std::string(plain) + R"("})";
  if (is_word(type)) return R"({"type":"string","const":)" + std::string(type) + "}";
  if (type == "true" || type == "false")
    return R"({"type":"boolean","const":)" + std::string(type) + "}";
  if (type.starts_with('-')) return R"({"type":"integer","const":)" + std::string(type) + "}";
  for (const auto& [ending, more] : {std::pair("[]", ""), std::pair("[+]", R"(,"minItems":1)")}) {
    if (!type.ends_with(ending)) continue;
    return R"({"type":"array","items":)" + of_type(type.substr(0, type.rfind('['))) + more + "}";
  }
  if (type.starts_with('{'))
    return R"({"type":"object","additionalProperties":)" +
           of_type(type.substr(1, type.size() - 2)) + "}";
  return reference_to(type);
}

// Which value of the member `member` tells of which shape.
void SchemaWriter::append_mapping(std::string& out, std::string_view member, std::string_view type,
                                  std::string_view to) const {
  for (const std::string_view name : alternatives_of(type)) {
    const Shape& shape = shapes_.at(name);
    const std::string_view target = to.empty() ? name : to;
    if (!shape.type.empty()) {
      append_mapping(out, member, shape.type, target);
      continue;
    }
    const Member* const teller = shape.find(member);
    if (teller == nullptr)
      throw std::logic_error(shape.name + " does not tell by " + std::string(member));
    const std::string word = teller->type.substr(1, teller->type.size() - 2);
    if (out.find(json_string(word) + ":") == std::string::npos)
      add_member(out, word, json_string(references_ + std::string(target)));
  }
}

std::string SchemaWriter::of_union(const Shape& shape) const {
  std::string mapping = "{";
  append_mapping(mapping, shape.told_by, shape.type, {});
  std::string out = R"({"oneOf":)" + list_of(alternatives_of(shape.type),
                                             [&](std::string_view each) { return of_type(each); });
  add_text(out, "description", shape.text);
  return out + R"(,"discriminator":{"propertyName":)" + json_string(shape.told_by) +
         R"(,"mapping":)" + mapping + "}}}";
}

std::string SchemaWriter::of_object(const Shape& shape) const {
  std::string out = R"({"type":"object")", properties = "{";
  add_text(out, "description", shape.text);
  std::vector<std::string> required;
  for (const Member& member : shape.members) {
    std::string schema = of_type(member.type);
    schema.pop_back();
    add_text(schema, "description", member.text);
    if (!member.preset.empty()) add_member(schema, "default", member.preset);
    add_member(properties, member.name, schema + "}");
    if (member.required) required.push_back(member.name);
  }
  add_member(out, "properties", properties + "}");
  if (!required.empty()) add_member(out, "required", list_of(required, json_string));
  if (!shape.is_answer) add_member(out, "additionalProperties", shape.is_open ? "true" : "false");
  if (!shape.choices.empty()) {
    add_member(out, "not", refused_by(shape.choices));
    const auto names = [](const Choice& choice) {
      std::string each = R"({"names":)" + list_of(choice.names, json_string);
      if (!choice.beside.empty()) each += R"(,"beside":)" + list_of(choice.beside, json_string);
      return each + (choice.required ? R"(,"required":true})" : R"(,"required":false})");
    };
    add_member(out, "x-choices", list_of(shape.choices, names));
  }
  if (!shape.needs.empty()) {
    std::string needs = "{";
    for (const Need& need : shape.needs)
      add_member(needs, need.name, "[" + json_string(need.needed) + "]");
    add_member(out, "dependentRequired", needs + "}");
  }
  if (!shape.example.empty()) add_member(out, "examples", "[" + shape.example + "]");
  return out + "}";
}

std::string SchemaWriter::of_shape(const Shape& shape) const {
  if (shape.type.empty()) return of_object(shape);
  if (!shape.told_by.empty()) return of_union(shape);
  std::string out = of_type(shape.type);
  out.pop_back();
  add_text(out, "description", shape.text);
  add_text(out, "pattern", shape.pattern);
  return out + "}";
}

std::string SchemaWriter::of_all() const {
  std::string out = "{";
  for (const Shape& shape : shapes_.all()) add_member(out, shape.name, of_shape(shape));
  return out + "}";
}

Shapes protocol_shapes() {
  Shapes shapes;
  describe_words(shapes);
  describe_message(shapes);
  describe_operations(shapes);
  describe_strategies(shapes);
  describe_queries(shapes);
  describe_settings(shapes);
  describe_usage(shapes);
  describe_given_request(shapes);
  describe_answers(shapes);
  return shapes;
}

std::string protocol_schema() {
  const Shapes shapes = protocol_shapes();
  std::string out =
      R"({"$schema":"https://json-schema.org/draft/2020-12/schema","title":"The protocol of Undertext")";
  add_text(out, "description",
           "Version " + std::string(library_version()) +
               ". A line is an AnyOperation, a list of these, or a Query.");
  add_member(out, "$defs", SchemaWriter(shapes, "#/$defs/").of_all());
  return out + "}";
}

}  // namespace undertext
