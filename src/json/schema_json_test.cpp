#include "json/schema_json.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

#include "json/fields.hpp"
#include "json/operation_json.hpp"
#include "json/query_json.hpp"

namespace undertext {
namespace {

Shapes with_stats() {
  Shapes shapes;
  shapes.add(answer_shape("Stats", "", {{"tokens", "integer"}}));
  return shapes;
}

std::string schema_of(std::string_view type) {
  const Shapes shapes = with_stats();
  return SchemaWriter(shapes, "#/").of_type(type);
}

TEST(SchemaJson, ATypeIsAnExpression) {
  EXPECT_EQ(schema_of("integer"), R"({"type":"integer","minimum":0})");
  EXPECT_EQ(schema_of("signed"), R"({"type":"integer"})");
  EXPECT_EQ(schema_of(R"("a"|"b")"), R"({"type":"string","enum":["a","b"]})");
  EXPECT_EQ(schema_of("Stats[+]"), R"({"type":"array","items":{"$ref":"#/Stats"},"minItems":1})");
  EXPECT_EQ(
      schema_of("{Stats|null}"),
      R"({"type":"object","additionalProperties":{"anyOf":[{"$ref":"#/Stats"},{"type":"null"}]}})");
  EXPECT_THROW(schema_of("Nothing"), std::logic_error);
}

TEST(SchemaJson, WhatAReaderAsksForIsItsShape) {
  Shape shape{.name = "Window"};
  Shapes shapes;
  Reading reading;
  Fields fields(shape, shapes, reading);
  std::uint64_t size = 7;
  std::vector<Role> roles;
  fields.need("size", size, "How large it is.");
  fields.take("more", size);
  fields.take_filled("roles", roles);
  fields.take_object("inside", [](Fields& inner) {
    bool flag = true;
    inner.take("flag", flag);
  });
  fields.exclude("more", "roles");
  ASSERT_EQ(shape.members.size(), 4u);
  EXPECT_TRUE(shape.find("size")->required);
  EXPECT_EQ(shape.find("size")->text, "How large it is.");
  EXPECT_EQ(shape.find("more")->preset, "7");
  EXPECT_EQ(shape.find("roles")->type, "Role[+]");
  EXPECT_EQ(shape.find("inside")->type, "Inside");
  EXPECT_EQ(shapes.at("Inside").find("flag")->preset, "true");
  EXPECT_EQ(shape.choices.front().names, (std::vector<std::string>{"more", "roles"}));
}

TEST(SchemaJson, TwoShapesOfOneNameAreTheSame) {
  Shapes shapes = with_stats();
  EXPECT_NO_THROW(shapes.add(shapes.at("Stats")));
  EXPECT_THROW(shapes.add(answer_shape("Stats", "", {{"tokens", "string"}})), std::logic_error);
}

TEST(SchemaJson, EveryMemberOfARequestHasAText) {
  const Shapes shapes = protocol_shapes();
  for (const Shape& shape : shapes.all()) {
    if (shape.is_answer || shape.is_open) continue;
    for (const Member& member : shape.members)
      EXPECT_FALSE(member.text.empty()) << shape.name << "." << member.name;
  }
}

TEST(SchemaJson, EveryQueryHasAnAnswer) {
  const Shapes shapes = protocol_shapes();
  for (const std::string& answer : query_answers())
    EXPECT_EQ(shapes.at(answer).members.front().name, "ok");
}

}  // namespace
}  // namespace undertext
