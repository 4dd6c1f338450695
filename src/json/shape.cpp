#include "json/shape.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace undertext {
namespace {

bool is_same(const Shape& a, const Shape& b) {
  const auto same_member = [](const Member& x, const Member& y) {
    return x.name == y.name && x.type == y.type && x.required == y.required;
  };
  return a.type == b.type && std::ranges::equal(a.members, b.members, same_member);
}

template <class Range>
auto find_named(Range& range, std::string_view name) -> decltype(std::data(range)) {
  const auto found =
      std::ranges::find_if(range, [&](const auto& each) { return each.name == name; });
  return found == range.end() ? nullptr : &*found;
}

}  // namespace

const Member* Shape::find(std::string_view member) const { return find_named(members, member); }

void Shapes::add(Shape shape) {
  const Shape* const before = find(shape.name);
  if (before == nullptr) return shapes_.push_back(std::move(shape));
  if (!is_same(*before, shape)) throw std::logic_error("two shapes are called " + shape.name);
}

const Shape* Shapes::find(std::string_view name) const { return find_named(shapes_, name); }

const Shape& Shapes::at(std::string_view name) const {
  if (const Shape* const found = find(name)) return *found;
  throw std::logic_error("there is no shape " + std::string(name));
}

std::string type_of_words(std::span<const std::string_view> words) {
  std::string type;
  for (const std::string_view word : words) ((type += type.empty() ? "\"" : "|\"") += word) += '"';
  return type;
}

std::string pascal_case(std::string_view name) {
  const bool is_upper = std::ranges::none_of(name, [](char c) { return c >= 'a' && c <= 'z'; });
  std::string out;
  bool starts = true;
  for (const char c : name) {
    if (c == '_') {
      starts = true;
      continue;
    }
    if (starts && c >= 'a' && c <= 'z') {
      out += static_cast<char>(c - 'a' + 'A');
    } else if (!starts && is_upper && c >= 'A' && c <= 'Z') {
      out += static_cast<char>(c - 'A' + 'a');
    } else {
      out += c;
    }
    starts = false;
  }
  return out;
}

Shape answer_shape(std::string_view name, std::string_view text,
                   std::initializer_list<AnswerMember> members) {
  Shape shape{.name = std::string(name), .text = std::string(text), .is_answer = true};
  for (const AnswerMember& member : members) {
    const bool is_optional = member.name.ends_with('?');
    shape.members.push_back(
        {.name = std::string(member.name.substr(0, member.name.size() - (is_optional ? 1 : 0))),
         .type = std::string(member.type),
         .text = std::string(member.text),
         .required = !is_optional});
  }
  return shape;
}

}  // namespace undertext
