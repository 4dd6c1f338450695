#include "json/fields.hpp"

#include <algorithm>
#include <charconv>
#include <limits>

namespace undertext {

void Reading::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

void Reading::missing(Error error) {
  if (!missing_) missing_ = std::move(error);
}

std::string clipped(std::string_view text) {
  constexpr std::size_t bytes_max = 120;
  if (text.size() <= bytes_max) return std::string(text);
  std::size_t end = bytes_max;
  // not inside a code point
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return std::string(text.substr(0, end)) + "…";
}

std::string Fields::path(Place place) const {
  std::string result;
  if (outer_ != nullptr) result = outer_->path({name_}) + ".";
  result += place.name;
  if (place.element) result += "[" + std::to_string(*place.element) + "]";
  return result;
}

Error Fields::error(Place place, std::string message) const {
  Error result{ErrorCode::invalid_argument, std::move(message), std::string(place.name)};
  if (outer_ != nullptr || place.element) result.path = path(place);
  return result;
}

void Fields::fail(std::string_view name, std::string_view problem) {
  reading_->fail(error({name}, path({name}) + " " + std::string(problem)));
}

void Fields::fail_inside(std::string_view name, Error problem) {
  // The path of a list begins with what its format calls it.
  const std::size_t bracket = problem.path.find('[');
  const bool is_list =
      bracket != std::string::npos && name == "messages" && problem.path.find('.') > bracket;
  if (is_list) {
    problem.path = path({name}) + problem.path.substr(bracket);
  } else {
    problem.path = problem.path.empty() ? path({name}) : path({name}) + "." + problem.path;
  }
  if (problem.field.empty()) problem.field = name;
  problem.byte_offset.reset();
  problem.message = problem.path + ": " + problem.message;
  reading_->fail(std::move(problem));
}

void Fields::missing(std::string_view name) { missing(name, "is missing"); }

void Fields::missing(std::string_view name, std::string_view problem) {
  reading_->missing(
      error({name}, std::string(what_) + ": " + path({name}) + " " + std::string(problem)));
}

void Fields::wrong_type(Place place, JsonValue value, std::string_view wanted) {
  std::string message = path(place) + " must be " + std::string(wanted) + "; it is ";
  switch (value.type()) {
    case JsonType::array:
    case JsonType::object:
      message += "an ";
      message += undertext::name(value.type());
      break;
    case JsonType::string: message += "\"" + clipped(value.string()) + "\""; break;
    default: message += clipped(value.raw());
  }
  reading_->fail(error(place, std::move(message)));
}

namespace {

JsonValue empty_object() {
  static const JsonText text = JsonText::parse("{}", {}).value();
  return text.root();
}

}  // namespace

Fields::Fields(Shape& shape, Shapes& shapes, Reading& reading)
    : Fields(empty_object(), shape.name, reading) {
  shape_ = &shape;
  shapes_ = &shapes;
}

// Who asks twice for a member says more of it the second time, or the first.
void Fields::describe(std::string_view name, About about, std::string type, std::string preset,
                      bool required) {
  const auto found = std::ranges::find_if(
      shape_->members, [&](const Member& member) { return member.name == name; });
  Member& member =
      found == shape_->members.end() ? shape_->members.emplace_back(std::string(name)) : *found;
  if (member.type.empty() || member.type == "Json")
    member.type = about.type.empty() ? std::move(type) : std::string(about.type);
  if (member.text.empty()) member.text = about.text;
  if (member.preset.empty()) member.preset = std::move(preset);
  member.required = member.required || required;
}

void Fields::describe_choice(Choice choice) {
  if (describes()) shape_->choices.push_back(std::move(choice));
}

void Fields::require(std::string_view name) {
  if (!describes()) {
    if (!has(name)) missing(name);
    return;
  }
  std::ranges::find_if(shape_->members, [&](const Member& member) {
    return member.name == name;
  })->required = true;
}

void Fields::exclude(std::string_view one, std::string_view other, std::string_view why) {
  describe_choice({{std::string(one), std::string(other)}});
  if (has(one) && has(other))
    fail(one, "and " + std::string(other) + " exclude each other" + std::string(why));
}

std::optional<JsonValue> Fields::find(std::string_view name, About about) {
  if (describes()) {
    describe(name, about, "Json", {});
    return std::nullopt;
  }
  asked_.at(asked_count_++) = name;
  return object_.find(name);
}

void Fields::done() {
  if (describes()) return;
  for (JsonMember member : object_.members()) {
    bool known = false;
    for (std::size_t i = 0; i < asked_count_ && !known; ++i)
      known = member.key.string_is(asked_[i]);
    if (known) continue;
    const std::string name = clipped(member.key.string());
    reading_->fail(error({name}, std::string(what_) + " has no field " + path({name})));
    return;
  }
}

std::optional<bool> Fields::value_of(JsonValue value, Place place, const bool*) {
  if (value.is(JsonType::boolean)) return value.boolean();
  wrong_type(place, value, "true or false");
  return std::nullopt;
}

std::optional<std::uint64_t> Fields::value_of(JsonValue value, Place place, const std::uint64_t*) {
  if (value.is(JsonType::number)) {
    if (std::optional<std::uint64_t> number = value.uint64_saturated()) return number;
  }
  wrong_type(place, value, "an integer from 0 up, spelled without fraction or exponent");
  return std::nullopt;
}

std::optional<double> Fields::value_of(JsonValue value, Place place, const double*) {
  double number = 0;
  const std::string_view raw = value.raw();
  if (value.is(JsonType::number) &&
      std::from_chars(raw.data(), raw.data() + raw.size(), number).ec == std::errc())
    return number;
  wrong_type(place, value, "a number");
  return std::nullopt;
}

std::optional<Integer> Fields::value_of(JsonValue value, Place place, const Integer*) {
  if (value.is(JsonType::number)) {
    if (std::optional<std::int64_t> number = value.int64()) return Integer{*number};
    const bool integer = value.raw().find_first_of(".eE") == std::string_view::npos;
    using Limits64 = std::numeric_limits<std::int64_t>;
    if (integer) return Integer{value.raw().front() == '-' ? Limits64::min() : Limits64::max()};
  }
  wrong_type(place, value, "an integer, spelled without fraction or exponent");
  return std::nullopt;
}

std::optional<std::string> Fields::value_of(JsonValue value, Place place, const std::string*) {
  if (value.is(JsonType::string)) return value.string();
  wrong_type(place, value, "a string");
  return std::nullopt;
}

std::optional<Role> Fields::value_of(JsonValue value, Place place, const Role*) {
  if (value.is(JsonType::string)) {
    if (std::optional<Role> role = role_named(value.string())) return role;
  }
  wrong_type(place, value, "system, user, assistant or tool");
  return std::nullopt;
}

std::optional<std::size_t> Fields::word(JsonValue value, Place place,
                                        std::span<const std::string_view> words) {
  std::string wanted;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (value.is(JsonType::string) && value.string_is(words[i])) return i;
    wanted += i == 0 ? "" : i + 1 == words.size() ? " or " : ", ";
    wanted += words[i];
  }
  wrong_type(place, value, wanted);
  return std::nullopt;
}

std::optional<Pairs> Fields::value_of(JsonValue value, Place place, const Pairs*) {
  const std::optional<std::size_t> which = word(value, place, words_of<Pairs>);
  return which ? std::optional(static_cast<Pairs>(*which)) : std::nullopt;
}

std::optional<TruncateText::Keep> Fields::value_of(JsonValue value, Place place,
                                                   const TruncateText::Keep*) {
  const std::optional<std::size_t> which = word(value, place, words_of<TruncateText::Keep>);
  return which ? std::optional(static_cast<TruncateText::Keep>(*which)) : std::nullopt;
}

std::optional<MergeMode> Fields::value_of(JsonValue value, Place place, const MergeMode*) {
  const std::optional<std::size_t> which = word(value, place, words_of<MergeMode>);
  return which ? std::optional(static_cast<MergeMode>(*which)) : std::nullopt;
}

std::optional<RawObject> Fields::value_of(JsonValue value, Place place, const RawObject*) {
  if (value.is(JsonType::object)) return RawObject{std::string(value.raw())};
  wrong_type(place, value, "an object");
  return std::nullopt;
}

// Message::parse speaks of the message by itself; here its errors learn where in the request the
// message stands.
std::optional<Message> Fields::value_of(JsonValue value, Place place, const Message*) {
  if (reading_->failed()) return std::nullopt;  // a message can be large, and will not be used
  Result<Message> message = Message::parse(value.raw(), reading_->limits());
  if (message) return std::move(*message);
  Error problem = std::move(message.error());
  const std::string& inside = problem.path.empty() ? problem.field : problem.path;
  if (inside.empty()) {
    if (outer_ != nullptr || place.element) problem.path = path(place);
  } else {
    problem.path = path(place) + "." + inside;
  }
  if (problem.field.empty()) problem.field = place.name;
  if (problem.byte_offset) *problem.byte_offset += value.offset();
  problem.message = path(place) + ": " + problem.message;
  reading_->fail(std::move(problem));
  return std::nullopt;
}

void Fields::need_message(std::string_view name, std::vector<Message>& to, About about) {
  std::optional<Message> message;
  need(name, message, about);
  if (message) to.push_back(std::move(*message));
}

void Fields::need_message_or_messages(std::string_view name, std::vector<Message>& to,
                                      About about) {
  if (describes()) return describe(name, about, "Message|Message[]", {}, true);
  std::optional<JsonValue> value = find(name);
  if (!value) return missing(name);
  if (value->is(JsonType::array)) return assign(*value, name, to);
  if (!value->is(JsonType::object))
    return wrong_type(name, *value, "a message or a list of messages");
  if (auto message = value_of(*value, {name}, static_cast<const Message*>(nullptr)))
    to.push_back(std::move(*message));
}

}  // namespace undertext
