// The shapes of the protocol's JSON, as data: operations, queries, answers, settings, errors. The
// JSON Schema, the OpenAPI document and the types of other languages are made from these.
//
// Requests are described by the code that reads them (fields.hpp), so that no reader takes a member
// that is not part of its shape.
// Answers are described in tables beside their writers, and tests hold real answers against them.
//
// A type is an expression:
//
//     integer  signed  number  string  boolean  null     an integer is 0 or more; a signed one may be less
//     any                                                whatever JSON there is
//     "fits"  true  -1                                   this value and no other
//     Stats                                              another shape
//     Stats[]  Role[+]                                   a list; a list that is not empty
//     {EndpointSettings}                                 an object whose keys the caller chooses
//     string|null                                        either
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

struct Member {
  std::string name;
  std::string type;
  std::string text = {};  // for people
  bool required = false;
  std::string preset = {};  // JSON: what it is when it is absent; empty: nothing in particular
};

// Members of which one at most may be given; exactly one where it is required. Members of `beside`
// go with the last of them: any number of them may stand beside it, or in its place.
struct Choice {
  std::vector<std::string> names;
  bool required = false;
  std::vector<std::string> beside = {};
};

// A member that may be given only beside another.
struct Need {
  std::string name, needed;
};

struct Shape {
  std::string name;  // such as "TruncateOperation"
  std::string text = {};
  std::vector<Member> members = {};
  std::vector<Choice> choices = {};
  std::vector<Need> needs = {};
  bool is_open = false;      // may have further members
  bool is_answer = false;    // of the engine: a later release may add members
  std::string type = {};     // of what is no object: its type, and no members
  std::string told_by = {};  // of a union: the member that tells which of them it is
  std::string example = {};  // JSON
  std::string pattern = {};  // of a string

  const Member* find(std::string_view member) const;  // null: there is none
};

class Shapes {
 public:
  // The same shape may be added again; another one of the same name is a bug.
  void add(Shape shape);
  const Shape& at(std::string_view name) const;    // which is there, else it is a bug
  const Shape* find(std::string_view name) const;  // null: there is none
  std::span<const Shape> all() const { return shapes_; }

 private:
  std::vector<Shape> shapes_;
};

// "a"|"b" out of a and b.
std::string type_of_words(std::span<const std::string_view> words);
// "START_BATCH" as StartBatch, "markMap" as MarkMap.
std::string pascal_case(std::string_view name);

// A row of a table of answers: a member is optional where its name ends with a question mark.
struct AnswerMember {
  std::string_view name, type, text = {};
};
Shape answer_shape(std::string_view name, std::string_view text,
                   std::initializer_list<AnswerMember> members);

}  // namespace undertext
