// Reads the members of a JSON object into typed C++ values, and notices every member that nobody
// asked for.
//
//     Reading reading;                                  // one request: what is wrong with it so far
//     Fields fields(object, "TRUNCATE", reading);
//     fields.take("keepFirst", truncate.keep_first);    // an optional stays unset when the member is absent
//     fields.need("index", replace.index);              // an absent member is an error
//     fields.done();                                    // anything left over is an error
//     if (reading.failed()) return reading.take_error();
//
// Nothing has to be tested in between: the first thing wrong is remembered, and reading goes on
// without doing much. An absent member counts only when nothing else is wrong, since the member
// with the misspelled name tells more.
//
// Every error is invalid_argument (or what Message::parse says) with `field`, the bare name of the
// member, and `path` when it does not stand at the top. Fields and JsonValue borrow the request's
// text.
//
// The same calls describe: over a Shape instead of an object, every member that a reader asks for
// becomes a member of the shape, and every nested object a shape of its own. Nothing is there then,
// so a reader must ask for all its members whatever it finds.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/message.hpp>
#include <undertext/operation.hpp>

#include "base/json_text.hpp"
#include "history/operation_table.hpp"
#include "json/shape.hpp"

namespace undertext {

// What has been found wrong with a request.
class Reading {
 public:
  Reading() = default;
  explicit Reading(const MessageLimits& limits) : limits_(limits) {}

  const MessageLimits& limits() const { return limits_; }
  void fail(Error error);     // kept if it is the first
  void missing(Error error);  // kept if it is the first, and given if there is no other
  bool failed() const { return error_.has_value() || missing_.has_value(); }
  Error take_error() { return std::move(error_ ? *error_ : *missing_); }  // failed()

 private:
  MessageLimits limits_;
  std::optional<Error> error_;
  std::optional<Error> missing_;
};

// A value that is any JSON object, as its text.
struct RawObject {
  std::string json;
};

// A number that may be negative, such as a time in milliseconds. Beyond the type it is the nearest
// number of the type.
struct Integer {
  std::int64_t value = 0;
};

// What a shape says of a member beyond what its C++ type does.
struct About {
  constexpr About() = default;
  constexpr About(const char* what) : text(what) {}
  constexpr About(std::string_view what) : text(what) {}
  constexpr About(std::string_view what, std::string_view as) : text(what), type(as) {}
  std::string_view text = {};
  // an expression of shape.hpp; of a nested object, the name of its shape
  std::string_view type = {};
};

class Fields {
 public:
  // `object` is an object; `what` names it in messages to people, such as "TRUNCATE" or "the
  // settings".
  Fields(JsonValue object, std::string_view what, Reading& reading)
      : Fields(object, what, reading, nullptr, {}) {}
  // Describes. Nested objects go to `shapes`; what readers report goes to `reading`, and means
  // nothing.
  Fields(Shape& shape, Shapes& shapes, Reading& reading);
  bool describes() const { return shape_ != nullptr; }

  // Reads a member into `to`. Absent: `to` stays as it is. T is bool, std::uint64_t (spelled as an
  // integer; clamped), Integer, std::string, Role, Pairs, TruncateText::Keep, Message, RawObject, a
  // number of ids.hpp, or a std::vector or std::optional of one.
  template <class T>
  void take(std::string_view name, T& to, About about = {}) {
    if (describes()) return describe(name, about, type_of(&to), preset_of(to));
    if (std::optional<JsonValue> value = find(name)) assign(*value, name, to);
  }
  template <class T>
  void need(std::string_view name, T& to, About about = {}) {
    if (describes()) return describe(name, about, type_of(&to), {}, true);
    if (std::optional<JsonValue> value = find(name)) {
      assign(*value, name, to);
    } else {
      missing(name);
    }
  }

  // A list that means something only when there is something in it.
  template <class T>
  void take_filled(std::string_view name, std::vector<T>& to, About about = {}) {
    if (describes())
      return describe(name, about, type_of(static_cast<const T*>(nullptr)) + "[+]", {});
    if (std::optional<JsonValue> value = find(name)) {
      assign(*value, name, to);
      if (value->is(JsonType::array) && value->empty())
        fail(name, "must not be empty; leave it out instead");
    }
  }

  // One message.
  void need_message(std::string_view name, std::vector<Message>& to, About about = {});
  // One message, or a list of messages.
  void need_message_or_messages(std::string_view name, std::vector<Message>& to, About about = {});

  // A nested object: `read` gets its Fields; what it leaves over is an error. Returns whether the
  // member is there.
  template <std::invocable<Fields&> Read>
  bool take_object(std::string_view name, Read read, About about = {}) {
    if (describes()) return describe_nested(name, about, "", "", read);
    std::optional<JsonValue> value = find(name);
    if (!value) return false;
    if (!value->is(JsonType::object)) {
      wrong_type(name, *value, "an object");
      return true;
    }
    Fields inner(*value, what_, *reading_, this, name);
    read(inner);
    inner.done();
    return true;
  }
  // A list of objects: `read` gets the Fields of each.
  template <std::invocable<Fields&> Read>
  void take_objects(std::string_view name, Read read, About about = {}) {
    if (describes()) return void(describe_nested(name, about, "", "[]", read));
    std::optional<JsonValue> value = find(name);
    if (!value) return;
    if (!value->is(JsonType::array)) return wrong_type(name, *value, "a list");
    std::size_t index = 0;
    for (JsonValue element : value->elements()) {
      const std::string element_name = std::string(name) + "[" + std::to_string(index++) + "]";
      if (!element.is(JsonType::object)) return wrong_type(element_name, element, "an object");
      Fields inner(element, what_, *reading_, this, element_name);
      read(inner);
      inner.done();
    }
  }
  // An object whose keys are names that the caller chose: `read` gets each key and the Fields of
  // its object.
  template <std::invocable<std::string, Fields&> Read>
  void take_named_objects(std::string_view name, Read read, About about = {}) {
    if (describes())
      return void(describe_nested(name, about, "{", "}", [&](Fields& inner) { read("", inner); }));
    std::optional<JsonValue> value = find(name);
    if (!value) return;
    if (!value->is(JsonType::object)) return wrong_type(name, *value, "an object");
    for (const JsonMember member : value->members()) {
      const std::string key = member.key.string();
      const std::string member_name = std::string(name) + "." + key;
      if (!member.value.is(JsonType::object))
        return wrong_type(member_name, member.value, "an object");
      Fields inner(member.value, what_, *reading_, this, member_name);
      read(key, inner);
      inner.done();
    }
  }
  template <std::invocable<Fields&> Read>
  void need_object(std::string_view name, Read read, About about = {}) {
    take_object(name, std::move(read), about);
    require(name);
  }

  // does not count as asked for
  bool has(std::string_view name) const { return object_.find(name).has_value(); }
  // counts as asked for
  std::optional<JsonValue> find(std::string_view name, About about = {});

  void require(std::string_view name);  // an error unless it is there
  // An error where both are there.
  void exclude(std::string_view one, std::string_view other,
               std::string_view why = "; give one of the two");
  void describe_choice(Choice choice);  // what a reader checks in its own words

  void fail(std::string_view name, std::string_view problem);  // such as ("at", "must rise")
  // `problem.path` leads on from the member
  void fail_inside(std::string_view name, Error problem);
  void missing(std::string_view name);                            // a member that must be there
  void missing(std::string_view name, std::string_view problem);  // the same in other words
  // whatever was not asked for is unknown
  void done();

 private:
  Fields(JsonValue object, std::string_view what, Reading& reading, const Fields* outer,
         std::string_view name)
      : object_(object), what_(what), reading_(&reading), outer_(outer), name_(name) {}

  void describe(std::string_view name, About about, std::string type, std::string preset,
                bool required = false);
  template <class Read>
  bool describe_nested(std::string_view name, About about, std::string_view before,
                       std::string_view after, Read read) {
    Shape nested{.name = about.type.empty() ? pascal_case(name) : std::string(about.type),
                 .text = std::string(about.text)};
    Fields inner(nested, *shapes_, *reading_);
    read(inner);
    describe(name, about.text, std::string(before) + nested.name + std::string(after), {});
    shapes_->add(std::move(nested));
    return true;
  }

  // The expression of shape.hpp for what value_of() reads.
  static std::string type_of(const bool*) { return "boolean"; }
  static std::string type_of(const std::uint64_t*) { return "integer"; }
  static std::string type_of(const Integer*) { return "signed"; }
  static std::string type_of(const double*) { return "number"; }
  static std::string type_of(const std::string*) { return "string"; }
  static std::string type_of(const Role*) { return "Role"; }
  static std::string type_of(const Pairs*) { return "Pairs"; }
  static std::string type_of(const TruncateText::Keep*) {
    return type_of_words(words_of<TruncateText::Keep>);
  }
  static std::string type_of(const MergeMode*) { return type_of_words(words_of<MergeMode>); }
  static std::string type_of(const Message*) { return "Message"; }
  static std::string type_of(const RawObject*) { return "JsonObject"; }
  template <class Tag>
  static std::string type_of(const Number<Tag>*) {
    return "integer";
  }
  template <class T>
  static std::string type_of(const std::vector<T>*) {
    return type_of(static_cast<const T*>(nullptr)) + "[]";
  }
  template <class T>
  static std::string type_of(const std::optional<T>*) {
    return type_of(static_cast<const T*>(nullptr));
  }
  // The value that stays where the member is absent, if that says anything.
  template <class T>
  static std::string preset_of(const T& value) {
    if constexpr (std::is_same_v<T, bool>) return value ? "true" : "false";
    if constexpr (std::is_same_v<T, std::uint64_t>) return value == 0 ? "" : std::to_string(value);
    if constexpr (std::is_enum_v<T>)
      return "\"" + std::string(words_of<T>[static_cast<std::size_t>(value)]) + "\"";
    return {};
  }

  // Where a value stands: a member, or an element of a member that is a list.
  struct Place {
    std::string_view name;
    std::optional<std::size_t> element = {};
  };

  template <class T>
  void assign(JsonValue value, std::string_view name, std::optional<T>& to) {
    if (auto read = value_of(value, {name}, static_cast<const T*>(nullptr))) to = std::move(*read);
  }
  template <class T>
  void assign(JsonValue value, std::string_view name, T& to) {
    if (auto read = value_of(value, {name}, static_cast<const T*>(nullptr))) to = std::move(*read);
  }

  // The value as a T, or nothing and an error. The pointer only names the type.
  template <class T>
  std::optional<std::vector<T>> value_of(JsonValue value, Place place, const std::vector<T>*) {
    if (!value.is(JsonType::array)) {
      wrong_type(place, value, "a list");
      return std::nullopt;
    }
    std::vector<T> list;
    for (JsonValue element : value.elements()) {
      auto read = value_of(element, {place.name, list.size()}, static_cast<const T*>(nullptr));
      if (!read) return std::nullopt;
      list.push_back(std::move(*read));
    }
    return list;
  }
  std::optional<bool> value_of(JsonValue value, Place place, const bool*);
  std::optional<std::uint64_t> value_of(JsonValue value, Place place, const std::uint64_t*);
  std::optional<Integer> value_of(JsonValue value, Place place, const Integer*);
  std::optional<double> value_of(JsonValue value, Place place, const double*);
  std::optional<std::string> value_of(JsonValue value, Place place, const std::string*);
  std::optional<Role> value_of(JsonValue value, Place place, const Role*);
  std::optional<Pairs> value_of(JsonValue value, Place place, const Pairs*);
  std::optional<TruncateText::Keep> value_of(JsonValue value, Place place,
                                             const TruncateText::Keep*);
  std::optional<MergeMode> value_of(JsonValue value, Place place, const MergeMode*);
  std::optional<Message> value_of(JsonValue value, Place place, const Message*);
  std::optional<RawObject> value_of(JsonValue value, Place place, const RawObject*);
  template <class Tag>
  std::optional<Number<Tag>> value_of(JsonValue value, Place place, const Number<Tag>*) {
    std::optional<std::uint64_t> number =
        value_of(value, place, static_cast<const std::uint64_t*>(nullptr));
    return number ? std::optional(Number<Tag>(*number)) : std::nullopt;
  }

  // which of them
  std::optional<std::size_t> word(JsonValue value, Place place,
                                  std::span<const std::string_view> words);
  void wrong_type(Place place, JsonValue value, std::string_view wanted);
  void wrong_type(std::string_view name, JsonValue value, std::string_view wanted) {
    wrong_type(Place{name}, value, wanted);
  }
  Error error(Place place, std::string message) const;
  std::string path(Place place) const;  // from the top, such as "truncate.range.start"

  JsonValue object_;
  std::string_view what_;
  Reading* reading_;
  const Fields* outer_;
  std::string_view name_;   // of this object within outer_
  Shape* shape_ = nullptr;  // set: it describes
  Shapes* shapes_ = nullptr;

  // More than any object of the protocol has; asking for more is a bug.
  static constexpr std::size_t asked_max = 24;
  std::array<std::string_view, asked_max> asked_ = {};
  std::size_t asked_count_ = 0;
};

// `text`, shortened to what a person wants to read in a message.
std::string clipped(std::string_view text);

}  // namespace undertext
