#include "engine/request_bytes.hpp"

#include <algorithm>
#include <bit>

#include "base/bytes.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t facts_format = 2, parts_format = 1, packed_format = 1;
// of releases that did not know what was written to a cache
constexpr std::uint64_t facts_without_writes = 1;
constexpr std::uint64_t raw_request_flag = 1, raw_answer_flag = 2;

// Both directions walk the same list, so that no two members change places.
template <class Io, class Record>
void describe_facts(Io& io, Record& record, std::uint64_t format) {
  io.number(record.answer_version.value);
  for (auto* text : {&record.client, &record.dialect, &record.method, &record.path, &record.model,
                     &record.tools_digest, &record.parameters_digest, &record.response_id})
    io.text(*text);
  io.kind(record.kind);
  io.number(record.messages);
  io.number(record.status);
  io.flag(record.is_torn);
  io.optional_number(record.first_byte_ms);
  io.optional_number(record.duration_ms);
  io.number(record.request_bytes);
  io.number(record.answer_bytes);
  io.flag(record.has_raw_request);
  io.flag(record.has_raw_answer);
  auto& usage = record.usage;
  io.text(usage.request_id);
  io.text(usage.model);
  for (auto* number :
       {&usage.prompt, &usage.completion, &usage.cached, &usage.total, &usage.estimated_prompt})
    io.number(*number);
  io.real(usage.cost);
  io.signed_number(usage.at_ms);
  if (format == facts_without_writes) return;
  io.number(usage.cache_written);
  io.number(usage.cache_written_hour);
}

struct FactsOut {
  ByteOut out = {};
  void number(std::uint64_t n) { out.number(n); }
  void signed_number(std::int64_t n) { out.signed_number(n); }
  void text(const std::string& text) { out.text(text); }
  void flag(bool flag) { out.flag(flag); }
  void real(double real) { out.number(std::bit_cast<std::uint64_t>(real)); }
  void kind(ClientRequestKind kind) { out.number(static_cast<std::uint64_t>(kind)); }
  void optional_number(const std::optional<std::int64_t>& number) {
    out.flag(number.has_value());
    if (number) out.signed_number(*number);
  }
};

struct FactsIn {
  ByteIn in;
  void number(std::uint64_t& n) { n = in.number(); }
  void number(std::uint32_t& n) { n = in.number32(); }
  void signed_number(std::int64_t& n) { n = in.signed_number(); }
  void text(std::string& text) { text = std::string(in.text()); }
  void flag(bool& flag) { flag = in.flag(); }
  void real(double& real) { real = std::bit_cast<double>(in.number()); }
  void kind(ClientRequestKind& kind) {
    const std::uint64_t number = in.number();
    if (number > static_cast<std::uint64_t>(ClientRequestKind::count_tokens)) in.fail_newer();
    kind = static_cast<ClientRequestKind>(number);
  }
  void optional_number(std::optional<std::int64_t>& number) {
    number.reset();
    if (in.flag()) number = in.signed_number();
  }
};

void write(ByteOut& out, const VolatilePart& part) {
  out.number(static_cast<std::uint64_t>(part.kind));
  out.number(part.index);
  out.number(part.ordinal ? part.ordinal->value + 1 : 0);
  out.number(part.block);
  out.number(part.inner ? *part.inner + 1 : 0);
  out.text(part.json);
}

VolatilePart read_part(ByteIn& in) {
  VolatilePart part;
  part.kind = in.number() == 0 ? VolatilePart::Kind::marker : VolatilePart::Kind::text;
  part.index = in.number();
  if (const std::uint64_t ordinal = in.number(); ordinal > 0) part.ordinal = Ordinal(ordinal - 1);
  part.block = in.number();
  if (const std::uint64_t inner = in.number(); inner > 0) part.inner = inner - 1;
  part.json = std::string(in.text());
  return part;
}

std::string name_of(const RequestRow& row) { return "request " + std::to_string(row.number); }

}  // namespace

RequestRow row_of(const RequestRecord& record) {
  RequestRow row;
  row.version = record.version.value;
  row.at_ms = record.at_ms;
  row.keys = record.keys;
  FactsOut facts;
  facts.number(facts_format);
  describe_facts(facts, record, facts_format);
  row.facts = std::move(facts.out.bytes);
  ByteOut parts;
  parts.number(parts_format);
  parts.number((record.has_raw_request ? raw_request_flag : 0) |
               (record.has_raw_answer ? raw_answer_flag : 0));
  parts.number(record.volatile_parts.size());
  for (const VolatilePart& part : record.volatile_parts) write(parts, part);
  row.parts = std::move(parts.bytes);
  return row;
}

RequestRecord record_of(const RequestRow& row) {
  RequestRecord record;
  record.number = row.number;
  record.version = Version(row.version);
  record.at_ms = row.at_ms;
  record.keys = row.keys;
  std::sort(record.keys.begin(), record.keys.end());
  FactsIn facts{ByteIn(row.facts, name_of(row))};
  const std::uint64_t format = facts.in.number();
  if (format != facts_format && format != facts_without_writes) facts.in.fail_newer();
  describe_facts(facts, record, format);
  record.has_raw_request = record.has_raw_answer = false;
  if (row.parts.empty()) return record;
  ByteIn parts(row.parts, name_of(row));
  if (parts.number() != parts_format) parts.fail_newer();
  const std::uint64_t flags = parts.number();
  record.has_raw_request = (flags & raw_request_flag) != 0;
  record.has_raw_answer = (flags & raw_answer_flag) != 0;
  for (std::uint64_t left = parts.count(); left > 0; --left)
    record.volatile_parts.push_back(read_part(parts));
  return record;
}

bool was_redacted(const RequestRow& row) { return row.parts.empty(); }

std::string PackedText::bytes() const {
  ByteOut out;
  out.number(packed_format);
  out.number(size);
  out.bytes.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  out.number(base);
  out.number(depth);
  out.number(messages.size());
  std::uint64_t end = 0;
  for (const Run& run : messages) {
    out.signed_number(static_cast<std::int64_t>(run.first) - static_cast<std::int64_t>(end));
    out.number(run.count);
    end = run.first + run.count;
  }
  out.bytes += packed;
  return std::move(out.bytes);
}

PackedText PackedText::read(std::string_view bytes) {
  ByteIn in(bytes, "a packed text");
  if (in.number() != packed_format) in.fail_newer();
  PackedText text;
  text.size = in.number();
  const std::string_view digest = in.raw(text.digest.size());
  std::copy(digest.begin(), digest.end(), text.digest.begin());
  text.base = in.number();
  text.depth = in.number();
  std::uint64_t end = 0;
  for (std::uint64_t left = in.count(); left > 0; --left) {
    Run run;
    run.first = static_cast<std::uint64_t>(static_cast<std::int64_t>(end) + in.signed_number());
    run.count = in.number();
    end = run.first + run.count;
    text.messages.push_back(run);
  }
  text.packed = std::string(in.raw(in.left()));
  return text;
}

std::vector<PackedText::Run> PackedText::runs_of(const std::vector<std::uint64_t>& ordinals) {
  std::vector<Run> runs;
  for (const std::uint64_t ordinal : ordinals) {
    if (!runs.empty() && runs.back().first + runs.back().count == ordinal) {
      ++runs.back().count;
    } else {
      runs.push_back({ordinal, 1});
    }
  }
  return runs;
}

}  // namespace undertext
