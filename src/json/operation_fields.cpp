#include "json/operation_fields.hpp"

#include <algorithm>
#include <utility>

#include "history/operation_table.hpp"
#include "message/identity_text.hpp"

namespace undertext {
namespace {

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

template <class T>
bool is_set(const T& value) {
  if constexpr (requires { value.has_value(); }) {
    return value.has_value();
  } else if constexpr (requires { value.empty(); }) {
    return !value.empty();
  } else {
    return value != 0;
  }
}

class RecordOut {
 public:
  explicit RecordOut(std::string& out) : out_(out) {}

  void need(FieldName name, const auto& value) {
    if (!std::exchange(is_first_, false)) out_ += ',';
    append_json_string(out_, name.record);
    out_ += ':';
    write(value);
  }
  void take(FieldName name, const auto& value) {
    if (is_set(value)) need(name, value);
  }
  void preset(FieldName name, const auto& value) { need(name, value); }
  void filled(FieldName name, const auto& value) { take(name, value); }
  void since(std::uint8_t, FieldName name, const auto& value) { take(name, value); }
  void messages(FieldName, const std::vector<Message>&) {}
  void message(FieldName, const std::vector<Message>&) {}
  void summary(FieldName name, const std::optional<Message>& message) {
    take(name, message.has_value());
  }
  void names(const Names& names) {
    need(words_of<Names::By>[static_cast<std::size_t>(names.by)], names.numbers);
  }
  void index_or_names(const Names& names) {
    if (names.by == Names::By::index && names.numbers.size() == 1) {
      need("index", names.numbers.front());
    } else {
      this->names(names);
    }
  }
  template <class... T>
  void choice(const std::variant<T...>& chosen, const WordsOf<T...>& words) {
    std::visit(
        [&](const auto& alternative) {
          if constexpr (std::is_same_v<decltype(alternative), const Names&>) {
            names(alternative);
          } else {
            need(words[chosen.index()], alternative);
          }
        },
        chosen);
  }

 private:
  void write(std::uint64_t number) { out_ += std::to_string(number); }
  void write(bool flag) { out_ += flag ? "true" : "false"; }
  void write(const std::string& text) { append_json_string(out_, text); }
  void write(const Identity& identity) { write(identity_hex(identity)); }
  void write(Version version) { write(version.value); }
  void write(Role role) { append_json_string(out_, name(role)); }
  template <class Enum>
    requires(words_of<Enum>.size() > 0)
  void write(Enum word) {
    append_json_string(out_, words_of<Enum>[static_cast<std::size_t>(word)]);
  }
  // A record is one line: line breaks between the words of the object become spaces.
  void write(const SetMetadata& change) {
    std::ranges::replace_copy_if(
        change.object_json, std::back_inserter(out_), [](char c) { return c == '\n' || c == '\r'; },
        ' ');
  }
  void write(const op::TransformFunction&) { write(true); }
  template <class T>
  void write(const std::optional<T>& value) {
    write(*value);
  }
  void write(const Described auto& object) {
    out_ += '{';
    is_first_ = true;
    describe(*this, object);
    is_first_ = false;
    out_ += '}';
  }
  template <class T>
  void write(const std::vector<T>& list) {
    out_ += '[';
    const char* separator = "";
    for (const T& element : list) {
      out_ += std::exchange(separator, ",");
      write(element);
    }
    out_ += ']';
  }

  std::string& out_;
  bool is_first_ = false;  // of an object
};

// A mark map that is given may be less than one that is returned.
template <class T>
inline constexpr std::string_view shape_name = {};
template <>
inline constexpr std::string_view shape_name<MarkMap> = "GivenMarkMap";
template <>
inline constexpr std::string_view shape_name<TypeIndices> = "GivenTypeIndices";

enum class Form : std::uint8_t { request, record };

class JsonIn {
 public:
  JsonIn(Fields& fields, Form form, std::uint8_t tag = 0)
      : fields_(fields), is_record_(form == Form::record), tag_(tag) {}

  template <class T>
  void need(FieldName name, T& value) {
    take(name, value);
    fields_.require(is_record_ ? name.record : name.request);
  }
  void take(FieldName name, auto& value) {
    read(is_record_ ? name.record : name.request, value, name.text);
  }
  void preset(FieldName name, auto& value) { take(name, value); }
  void filled(FieldName name, auto& list) { fields_.take_filled(name.request, list, name.text); }
  void since(std::uint8_t tag, FieldName name, auto& value) {
    if (tag_ >= tag) take(name, value);
  }
  void messages(FieldName name, std::vector<Message>& list) {
    if (!is_record_) need(name, list);
  }
  void message(FieldName name, std::vector<Message>& list) {
    if (!is_record_) fields_.need_message(name.request, list, name.text);
  }
  void summary(FieldName name, std::optional<Message>& message) {
    if (!is_record_) return take(name, message);
    bool was_given = false;
    take(name, was_given);
    if (was_given) message = some_message();
  }
  void names(Names& names) {
    const bool by_index = fields_.has("indices");
    const bool by_ordinal = fields_.has("ordinals");
    if (by_index && by_ordinal)
      fields_.fail("indices", "and ordinals exclude each other; give one of the two");
    if (!by_index && !by_ordinal)
      fields_.missing("indices",
                      "(positions in the view) or ordinals (places in the log) must be given");
    names.by = by_ordinal ? Names::By::ordinal : Names::By::index;
    read_numbers(names);
    fields_.describe_choice({{"indices", "ordinals"}, true});
  }
  void index_or_names(Names& names) {
    if (is_record_ && !fields_.has("index")) return this->names(names);
    names = Names::indices({0});
    fields_.need("index", names.numbers.front(), "Its position in the view.");
  }
  template <class... T>
  void choice(std::variant<T...>& chosen, const WordsOf<T...>& words) {
    if (fields_.describes()) return describe_choice<T...>(words);
    std::vector<std::string_view> possible;
    std::size_t given = 0, index = 0;
    (count_given<T>(words[index++], possible, given), ...);
    if (given > 1)
      fields_.fail(possible.front(),
                   listed(possible, "and") + " exclude each other; give one of them");
    index = 0;
    (read_given<T>(words[index++], chosen), ...);
    if (given > 0) return;
    if constexpr ((std::is_same_v<T, Names> || ...)) {
      names(chosen.template emplace<Names>());
    } else {
      fields_.missing(possible.front(), listed(possible, "or") + " must be given");
    }
  }

 private:
  void read_numbers(Names& names) {
    fields_.take("indices", names.numbers, "Positions in the view.");
    fields_.take("ordinals", names.numbers, "Places in the log.");
  }
  template <class... T>
  void describe_choice(const WordsOf<T...>& words) {
    std::vector<std::string_view> possible;
    std::size_t given = 0, index = 0;
    (count_given<T>(words[index++], possible, given), ...);
    index = 0;
    (describe_alternative<T>(words[index++]), ...);
    fields_.describe_choice({{possible.begin(), possible.end()}, true});
  }
  template <class T>
  void describe_alternative(std::string_view word) {
    T alternative{};
    if constexpr (std::is_same_v<T, Names>) {
      read_numbers(alternative);
    } else if constexpr (is_list<T>) {
      filled({word, "All messages of these roles."}, alternative);
    } else if constexpr (!std::is_same_v<T, op::TransformFunction>) {
      read(word, alternative, change_text(&alternative));
    }
  }
  static std::string_view change_text(const ReplaceText*) {
    return "Replaces a text wherever it stands.";
  }
  static std::string_view change_text(const TruncateText*) { return "Shortens each text."; }
  static std::string_view change_text(const SetMetadata*) {
    return "Sets these members of `metadata`.";
  }

  template <class T>
  bool is_given(std::string_view word) const {
    if constexpr (std::is_same_v<T, Names>)
      return fields_.has("indices") || fields_.has("ordinals");
    return (is_record_ || !std::is_same_v<T, op::TransformFunction>) && fields_.has(word);
  }
  template <class T>
  void count_given(std::string_view word, std::vector<std::string_view>& possible,
                   std::size_t& given) const {
    if constexpr (std::is_same_v<T, Names>) {
      possible.insert(possible.end(), words_of<Names::By>.begin(), words_of<Names::By>.end());
    } else if (is_record_ || !std::is_same_v<T, op::TransformFunction>) {
      possible.push_back(word);
    }
    if (is_given<T>(word)) ++given;
  }
  template <class T, class Variant>
  void read_given(std::string_view word, Variant& chosen) {
    if (!is_given<T>(word)) return;
    T& alternative = chosen.template emplace<T>();
    if constexpr (std::is_same_v<T, Names>) {
      names(alternative);
    } else if constexpr (is_list<T>) {
      filled(word, alternative);
    } else {
      read(word, alternative, {});
    }
  }
  // All but the first.
  static std::string listed(const std::vector<std::string_view>& words, std::string_view last) {
    std::string list;
    for (std::size_t i = 1; i < words.size(); ++i) {
      if (i > 1) list += i + 1 == words.size() ? " " + std::string(last) + " " : ", ";
      list += words[i];
    }
    return list;
  }

  void read(std::string_view name, auto& value, std::string_view text) {
    fields_.take(name, value, text);
  }
  void read(std::string_view name, SetMetadata& change, std::string_view text) {
    RawObject object;
    fields_.take(name, object, text);
    change.object_json = std::move(object.json);
  }
  void read(std::string_view name, Identity& identity, std::string_view text) {
    std::string hex;
    fields_.take(name, hex, text);
    const std::optional<Identity> read = identity_of_hex(hex);
    if (!read) return fields_.fail(name, "must be 32 hexadecimal digits");
    identity = *read;
  }
  void read(std::string_view name, ReconcileOutcome& outcome, std::string_view text) {
    std::string word;
    fields_.take(name, word, text);
    const auto& words = words_of<ReconcileOutcome>;
    const auto found = std::ranges::find(words, word);
    if (found == words.end()) return fields_.fail(name, "\"" + clipped(word) + "\" is unknown");
    outcome = static_cast<ReconcileOutcome>(found - words.begin());
  }
  void read(std::string_view name, op::TransformFunction&, std::string_view text) {
    bool is_function = true;
    fields_.take(name, is_function, text);
  }
  template <Described T>
  void read(std::string_view name, T& object, std::string_view text) {
    fields_.take_object(name, [&](Fields& inner) { read_object(inner, object); },
                        {text, shape_name<std::remove_const_t<T>>});
  }
  template <Described T>
  void read(std::string_view name, std::optional<T>& object, std::string_view text) {
    fields_.take_object(name, [&](Fields& inner) { read_object(inner, object.emplace()); }, text);
  }
  template <Described T>
  void read(std::string_view name, std::vector<T>& list, std::string_view text) {
    fields_.take_objects(
        name, [&](Fields& inner) { read_object(inner, list.emplace_back()); }, text);
  }
  void read_object(Fields& fields, Described auto& object) const {
    JsonIn inner(fields, is_record_ ? Form::record : Form::request);
    describe(inner, object);
  }

  Fields& fields_;
  const bool is_record_;
  const std::uint8_t tag_;  // of a record
};

void take_described(Fields& fields, Operation::What& what, Form form, std::uint8_t tag = 0) {
  JsonIn io(fields, form, tag);
  std::visit([&](auto& each) { describe(io, each); }, what);
}

// Of those with this name, the one that the fields tell.
const OperationRow* row_recorded_as(std::string_view operation, const Fields& fields) {
  const OperationRow* found = nullptr;
  for (const OperationRow& row : operation_rows) {
    if (row.name != operation || first_tag(row) == 0) continue;
    if (row.told_by.empty() ? found == nullptr : fields.has(row.told_by)) found = &row;
  }
  return found;
}

[[noreturn]] void fail_newer(const std::string& what, const char* field) {
  throw Failure(
      Error{ErrorCode::unsupported, what + " was recorded by a newer release of Undertext", field});
}

}  // namespace

void take_arguments(Fields& fields, Operation::What& what) {
  take_described(fields, what, Form::request);
}

void take_which(Fields& fields, op::Transform& transform) {
  JsonIn(fields, Form::request).choice(transform.which, which_words);
}

void append_record(std::string& out, const RecordedOperation& record) {
  const OperationRow& row = row_of(record.operation);
  const std::uint8_t tag = record.tag != 0 ? record.tag : written_tag(row);
  RecordOut io(out);
  io.take("description", record.operation.options.description);
  io.take("operationId", record.operation.options.operation_id);
  if (tag != first_tag(row)) io.need("tag", std::uint64_t{tag});
  std::visit([&](const auto& what) { describe(io, what); }, record.operation.what);
  io.take("kept", record.kept);
}

RecordedOperation take_record(Fields& fields, std::string_view operation) {
  if (operation.empty()) fields.fail("operation", "must be the name of an operation");
  if (operation.empty()) return {};
  const OperationRow* const row = row_recorded_as(operation, fields);
  if (row == nullptr) fail_newer("the operation \"" + clipped(operation) + "\"", "operation");
  std::uint64_t tag = first_tag(*row);
  fields.take("tag", tag);
  if (!has_tag(*row, tag)) fail_newer("this " + std::string(row->name), "tag");
  RecordedOperation record{{make_operation(*row), {}}, {}, static_cast<std::uint8_t>(tag)};
  fields.take("description", record.operation.options.description);
  fields.take("operationId", record.operation.options.operation_id);
  take_described(fields, record.operation.what, Form::record, record.tag);
  if (fields.has("kept")) JsonIn(fields, Form::record).take("kept", record.kept.emplace());
  return record;
}

}  // namespace undertext
