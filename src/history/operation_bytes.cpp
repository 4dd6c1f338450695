#include "history/operation_bytes.hpp"

#include <utility>

#include "history/operation_table.hpp"
#include "history/stretches.hpp"
#include "message/identity_text.hpp"

namespace undertext {
namespace {

template <class T>
concept Enumeration = std::is_enum_v<T>;

class BytesOut {
 public:
  BytesOut(ByteOut& out, std::uint8_t tag) : out_(out), tag_(tag) {}

  void need(FieldName, const auto& value) { write(value); }
  void take(FieldName, const auto& value) { write(value); }
  void preset(FieldName, const auto& value) { write(value); }
  void filled(FieldName, const auto& value) { write(value); }
  void since(std::uint8_t tag, FieldName, const auto& value) {
    if (tag_ >= tag) write(value);
  }
  void messages(FieldName, const std::vector<Message>&) {}
  void message(FieldName, const std::vector<Message>&) {}
  void summary(FieldName, const std::optional<Message>& message) { out_.flag(message.has_value()); }
  void names(const Names& names) {
    write(names.by);
    write(names.numbers);
  }
  void index_or_names(const Names& names) { this->names(names); }
  template <class... T>
  void choice(const std::variant<T...>& chosen, const WordsOf<T...>&) {
    out_.number(chosen.index());
    std::visit([&](const auto& alternative) { write(alternative); }, chosen);
  }

 private:
  void write(std::uint64_t number) { out_.number(number); }
  void write(bool flag) { out_.flag(flag); }
  void write(const std::string& text) { out_.text(text); }
  void write(const Identity& identity) { out_.bytes += identity_bytes(identity); }
  void write(Version version) { out_.number(version.value); }
  void write(Enumeration auto word) { out_.number(static_cast<std::uint64_t>(word)); }
  void write(const Names& names) { this->names(names); }
  void write(const SetMetadata& change) { out_.text(change.object_json); }
  void write(const op::TransformFunction&) {}  // what it made is in the log
  void write(const Described auto& object) { describe(*this, object); }
  template <class T>
  void write(const std::optional<T>& value) {
    if constexpr (Enumeration<T>) {
      out_.number(value ? static_cast<std::uint64_t>(*value) + 1 : 0);
    } else {
      out_.flag(value.has_value());
      if (value) write(*value);
    }
  }
  template <class T>
  void write(const std::vector<T>& list) {
    out_.number(list.size());
    for (const T& element : list) write(element);
  }
  // Differences, since most rise.
  void write(const std::vector<std::uint64_t>& list) {
    out_.number(list.size());
    std::uint64_t before = 0;
    for (const std::uint64_t n : list)
      out_.signed_number(static_cast<std::int64_t>(n - std::exchange(before, n)));
  }

  ByteOut& out_;
  const std::uint8_t tag_;
};

class BytesIn {
 public:
  BytesIn(ByteIn& in, std::uint8_t tag) : in_(in), tag_(tag) {}

  void need(FieldName, auto& value) { read(value); }
  void take(FieldName, auto& value) { read(value); }
  void preset(FieldName, auto& value) { read(value); }
  void filled(FieldName, auto& value) { read(value); }
  void since(std::uint8_t tag, FieldName, auto& value) {
    if (tag_ >= tag) read(value);
  }
  void messages(FieldName, std::vector<Message>&) {}
  void message(FieldName, std::vector<Message>&) {}
  void summary(FieldName, std::optional<Message>& message) {
    if (in_.flag()) message = some_message();
  }
  void names(Names& names) {
    read(names.by);
    read(names.numbers);
  }
  void index_or_names(Names& names) { this->names(names); }
  template <class... T>
  void choice(std::variant<T...>& chosen, const WordsOf<T...>&) {
    const std::uint64_t wanted = below(sizeof...(T));
    std::uint64_t index = 0;
    ((index++ == wanted ? read(chosen.template emplace<T>()) : void()), ...);
  }

 private:
  std::uint64_t below(std::uint64_t end) {
    const std::uint64_t n = in_.number();
    if (n >= end) in_.fail("a choice is out of range");
    return n;
  }
  void read(std::uint64_t& number) { number = in_.number(); }
  void read(bool& flag) { flag = in_.flag(); }
  void read(std::string& text) { text = in_.text(); }
  void read(Identity& identity) { identity = *identity_of_bytes(in_.raw(16)); }
  void read(Version& version) { version = Version(in_.number()); }
  template <Enumeration Enum>
  void read(Enum& word) {
    word = static_cast<Enum>(below(choices_of<Enum>));
  }
  void read(Names& names) { this->names(names); }
  void read(SetMetadata& change) { read(change.object_json); }
  void read(op::TransformFunction&) {}
  void read(Described auto& object) { describe(*this, object); }
  template <class T>
  void read(std::optional<T>& value) {
    if constexpr (Enumeration<T>) {
      if (const std::uint64_t word = below(choices_of<T> + 1)) value = static_cast<T>(word - 1);
    } else {
      if (in_.flag()) read(value.emplace());
    }
  }
  template <class T>
  void read(std::vector<T>& list) {
    list.resize(in_.count());
    for (T& element : list) read(element);
  }
  void read(std::vector<std::uint64_t>& list) {
    list.resize(in_.count());
    std::uint64_t before = 0;
    for (std::uint64_t& n : list) n = before += static_cast<std::uint64_t>(in_.signed_number());
  }

  ByteIn& in_;
  const std::uint8_t tag_;
};

void write_kept(ByteOut& out, const Stretches& kept) {
  out.number(kept.size());
  std::uint64_t end = 0;
  for (const Range& r : kept) {
    out.number(r.start - end);
    out.number(r.end - r.start);
    end = r.end;
  }
}

Stretches read_kept(ByteIn& in) {
  Stretches kept(in.count());
  std::uint64_t end = 0;
  for (Range& r : kept) {
    r.start = end + in.number();
    r.end = end = r.start + in.number();
  }
  return kept;
}

}  // namespace

void write_record(ByteOut& out, const RecordedOperation& record, KeptPart kept) {
  const Operation& operation = record.operation;
  const std::uint8_t tag = record.tag != 0 ? record.tag : written_tag(row_of(operation));
  const bool writes_kept = kept == KeptPart::present && records_kept(operation, tag);
  if (tag == 0 || (writes_kept && !record.kept)) {
    throw Failure(Error{ErrorCode::internal,
                        "a " + std::string(name(operation)) + " lacks what its record holds"});
  }
  out.number(tag);
  std::visit([io = BytesOut(out, tag)](const auto& what) mutable { describe(io, what); },
             operation.what);
  out.text(operation.options.description);
  if (writes_kept) write_kept(out, *record.kept);
}

RecordedOperation read_record(ByteIn& in, KeptPart kept) {
  const std::uint64_t tag = in.number();
  if (tag == 0 || tag > tag_max) in.fail("there is no such operation");
  const OperationRow* const row = row_with_tag(tag);
  if (row == nullptr) in.fail_newer();
  RecordedOperation record{{make_operation(*row), {}}, {}, static_cast<std::uint8_t>(tag)};
  Operation& operation = record.operation;
  std::visit([io = BytesIn(in, record.tag)](auto& what) mutable { describe(io, what); },
             operation.what);
  operation.options.description = in.text();
  if (kept == KeptPart::present && records_kept(operation, record.tag)) record.kept = read_kept(in);
  return record;
}

}  // namespace undertext
