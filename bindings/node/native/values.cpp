#include "values.hpp"

#include <cmath>
#include <cstring>
#include <exception>
#include <new>

namespace undertext::node {

namespace {

// Whether a string of JavaScript has half a surrogate pair. Asked only where its UTF-8 has a
// U+FFFD, which is what Node writes for one.
bool has_lone_surrogate(napi_env env, napi_value value) {
  std::size_t length = 0;
  check(napi_get_value_string_utf16(env, value, nullptr, 0, &length));
  std::u16string units(length + 1, u'\0');
  check(napi_get_value_string_utf16(env, value, units.data(), units.size(), &length));
  for (std::size_t i = 0; i < length; ++i) {
    const char16_t unit = units[i];
    if (unit < 0xD800 || unit > 0xDFFF) continue;
    if (unit > 0xDBFF || i + 1 == length || units[i + 1] < 0xDC00 || units[i + 1] > 0xDFFF)
      return true;
    ++i;
  }
  return false;
}

constexpr double integer_max = 9007199254740992.0;

}  // namespace

Refused refused(undertext_status status, std::string_view field, std::string_view message) {
  std::string json = R"({"code":")" + std::string(undertext_status_name(status)) + '"';
  if (!field.empty()) json.append(R"(,"field":")").append(field) += '"';
  json += R"(,"message":")";
  if (!field.empty()) json.append(field) += ' ';
  json.append(message) += R"("})";
  return {status, std::move(json)};
}

napi_value error_value(napi_env env, undertext_status status, std::string_view json) {
  const napi_value code = make_text(env, undertext_status_name(status));
  napi_value error = nullptr;
  napi_create_error(env, code, make_text(env, json), &error);
  return error;
}

TextIn::TextIn(napi_env env, napi_value value, const char* name) {
  const napi_status status =
      napi_get_value_string_utf8(env, value, short_.data(), short_.size(), &size_);
  if (status == napi_string_expected) {
    napi_typedarray_type type;
    void* data = nullptr;
    if (napi_get_typedarray_info(env, value, &type, &size_, &data, nullptr, nullptr) != napi_ok ||
        type != napi_uint8_array) {
      throw refused(UNDERTEXT_INVALID_ARGUMENT, name, "must be a string");
    }
    long_.assign(static_cast<const char*>(data), size_);
    data_ = long_.data();
    return;
  }
  check(status);
  // A code point that did not fit whole is left out.
  if (size_ + 4 >= short_.size()) {
    check(napi_get_value_string_utf8(env, value, nullptr, 0, &size_));
    long_.resize(size_ + 1);
    check(napi_get_value_string_utf8(env, value, long_.data(), long_.size(), &size_));
    data_ = long_.data();
  }
  if (memmem(data_, size_, "\xEF\xBF\xBD", 3) != nullptr && has_lone_surrogate(env, value)) {
    throw refused(UNDERTEXT_INVALID_ARGUMENT, name,
                  "holds a lone surrogate, which is no character");
  }
}

std::string read_text(napi_env env, napi_value value, const char* name) {
  return TextIn(env, value, name).copy();
}

namespace {

// A long text that JavaScript hands over piece by piece, so that no piece takes long.
class TextObject final : public Wrapped {
 public:
  static constexpr Kind kind_of = Kind::text;
  TextObject() : Wrapped(kind_of) {}
  std::vector<std::string> pieces;
};

napi_value add_piece(const Call& call) {
  call.on<TextObject>().pieces.push_back(read_text(call.env, call[0], "text"));
  return nullptr;
}

}  // namespace

Pieces::Pieces(napi_env env, napi_value value, const char* name) {
  void* data = nullptr;
  if (is(env, value, napi_object) && napi_unwrap(env, value, &data) == napi_ok &&
      static_cast<Wrapped*>(data)->kind() == Kind::text) {
    pieces_.swap(static_cast<TextObject*>(data)->pieces);
  } else {
    pieces_.push_back(read_text(env, value, name));
  }
}

std::string Pieces::join() {
  if (pieces_.size() == 1) return std::move(pieces_.front());
  std::size_t size = 0;
  for (const std::string& piece : pieces_) size += piece.size();
  std::string text;
  text.reserve(size);
  for (const std::string& piece : pieces_) text += piece;
  pieces_.clear();
  return text;
}

void define_text(napi_env env) {
  define_class(env, Kind::text, "Text", {{"add", method<add_piece>}});
}
napi_value make_text_object(napi_env env) { return wrap(env, std::make_unique<TextObject>()); }

std::uint64_t read_count(napi_env env, napi_value value, const char* name,
                         std::optional<std::uint64_t> missing) {
  if (missing && is(env, value, napi_undefined)) return *missing;
  double number = 0;
  if (napi_get_value_double(env, value, &number) != napi_ok || !(number >= 0) ||
      number > integer_max || std::trunc(number) != number) {
    throw refused(UNDERTEXT_INVALID_ARGUMENT, name, "must be an integer that is not negative");
  }
  return static_cast<std::uint64_t>(number);
}

bool is(napi_env env, napi_value value, napi_valuetype type) {
  napi_valuetype found;
  check(napi_typeof(env, value, &found));
  return found == type;
}

napi_value make_text(napi_env env, std::string_view text) {
  napi_value value = nullptr;
  check(napi_create_string_utf8(env, text.data(), text.size(), &value));
  return value;
}

napi_value make_number(napi_env env, double number) {
  napi_value value = nullptr;
  check(napi_create_double(env, number, &value));
  return value;
}

napi_value make_undefined(napi_env env) {
  napi_value value = nullptr;
  check(napi_get_undefined(env, &value));
  return value;
}

std::vector<double> numbers_of(std::uint64_t version, const undertext_stats& stats) {
  std::vector<double> numbers;
  for (const std::uint64_t number :
       {version, stats.total_messages, stats.current_batch_messages, stats.total_batches,
        stats.current_batch_index, stats.tokens}) {
    numbers.push_back(static_cast<double>(number));
  }
  return numbers;
}

void define_class(napi_env env, Kind kind, const char* name,
                  std::initializer_list<std::pair<const char*, Method>> methods) {
  std::vector<napi_property_descriptor> properties;
  for (const auto& [called, function] : methods) {
    properties.push_back(
        {called, nullptr, function, nullptr, nullptr, nullptr, napi_default_method, nullptr});
  }
  napi_value made = nullptr;
  napi_ref kept = nullptr;
  // An object that JavaScript makes of it by itself stands for nothing, and its methods say so.
  check(napi_define_class(
      env, name, NAPI_AUTO_LENGTH,
      [](napi_env, napi_callback_info) -> napi_value { return nullptr; }, nullptr,
      properties.size(), properties.data(), &made));
  check(napi_create_reference(env, made, 1, &kept));
  Env::of(env).keep_class(kind, kept);
}

napi_value wrap(napi_env env, std::unique_ptr<Wrapped> object) {
  napi_value made = nullptr, type = nullptr;
  check(napi_get_reference_value(env, Env::of(env).class_of(object->kind()), &type));
  check(napi_new_instance(env, type, 0, nullptr, &made));
  check(napi_wrap(
      env, made, object.get(),
      [](napi_env, void* data, void*) { delete static_cast<Wrapped*>(data); }, nullptr, nullptr));
  object.release();
  return made;
}

Call::Call(napi_env in, napi_callback_info info) : env(in) {
  std::size_t count = arguments.size();
  check(napi_get_cb_info(env, info, &count, arguments.data(), &self, nullptr));
}

Wrapped& Call::unwrap(Kind kind) const {
  void* data = nullptr;
  if (napi_unwrap(env, self, &data) != napi_ok || static_cast<Wrapped*>(data)->kind() != kind) {
    throw refused(UNDERTEXT_INVALID_ARGUMENT, "this", "is an object of another class");
  }
  return *static_cast<Wrapped*>(data);
}

napi_value throw_now(napi_env env) noexcept {
  try {
    try {
      throw;
    } catch (const Refused& why) {
      napi_throw(env, error_value(env, why.status, why.json));
    } catch (const Pending&) {
      // JavaScript knows.
    } catch (const std::bad_alloc&) {
      napi_throw(env, error_value(env, UNDERTEXT_OUT_OF_MEMORY, ""));
    } catch (const std::exception&) {
      napi_throw(env, error_value(env, UNDERTEXT_INTERNAL, ""));
    }
  } catch (...) {
    napi_throw_error(env, "internal", "");
  }
  return nullptr;
}

}  // namespace undertext::node
