#include "json/request_record_json.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/base64.hpp"
#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "json/answer_json.hpp"
#include "json/reconcile_json.hpp"
#include "json/usage_json.hpp"

namespace undertext {
namespace {

void append_text_member(std::string& out, std::string_view lead, std::string_view text) {
  if (text.empty()) return;
  append_json_string(out += lead, text);
}
void append_number_member(std::string& out, std::string_view lead, std::int64_t number) {
  (out += lead) += std::to_string(number);
}
void append_number_member(std::string& out, std::string_view lead, std::uint64_t number) {
  (out += lead) += std::to_string(number);
}

void append_json(std::string& out, const VolatilePart& part) {
  out += part.kind == VolatilePart::Kind::marker ? R"({"kind":"marker")" : R"({"kind":"text")";
  append_number_member(out, R"(,"index":)", part.index);
  if (part.ordinal) append_number_member(out, R"(,"ordinal":)", part.ordinal->value);
  append_number_member(out, R"(,"block":)", part.block);
  if (part.inner) append_number_member(out, R"(,"inner":)", *part.inner);
  (out += R"(,"json":)") += part.json;
  out += '}';
}

// The conversation whose session it was sent in, where that is another one: a key of its record.
std::string_view part_of(const RequestRecord& record) {
  constexpr std::string_view kind = "part_of:";
  const auto at = std::find_if(record.keys.begin(), record.keys.end(),
                               [&](const std::string& key) { return key.starts_with(kind); });
  return at == record.keys.end() ? std::string_view() : std::string_view(*at).substr(kind.size());
}

void append_record_members(std::string& out, const RequestRecord& record) {
  append_number_member(out, R"({"number":)", record.number);
  append_number_member(out, R"(,"version":)", record.version.value);
  if (record.answer_version.value != 0)
    append_number_member(out, R"(,"answerVersion":)", record.answer_version.value);
  append_number_member(out, R"(,"timestamp":)", record.at_ms);
  append_text_member(out, R"(,"client":)", record.client);
  append_text_member(out, R"(,"dialect":)", record.dialect);
  append_text_member(out, R"(,"kind":)", name(record.kind));
  append_text_member(out, R"(,"method":)", record.method);
  append_text_member(out, R"(,"path":)", record.path);
  append_text_member(out, R"(,"model":)", record.model);
  append_text_member(out, R"(,"toolsDigest":)", record.tools_digest);
  append_text_member(out, R"(,"parametersDigest":)", record.parameters_digest);
  append_number_member(out, R"(,"messages":)", record.messages);
  append_text_member(out, R"(,"responseId":)", record.response_id);
  append_text_member(out, R"(,"belongsTo":)", part_of(record));
  append_number_member(out, R"(,"status":)", std::uint64_t{record.status});
  out += record.is_torn ? R"(,"torn":true)" : R"(,"torn":false)";
  if (!record.usage.request_id.empty()) append_json(out += R"(,"usage":)", record.usage);
  if (record.first_byte_ms) append_number_member(out, R"(,"firstByteMs":)", *record.first_byte_ms);
  if (record.duration_ms) append_number_member(out, R"(,"durationMs":)", *record.duration_ms);
  append_number_member(out, R"(,"requestBytes":)", record.request_bytes);
  append_number_member(out, R"(,"answerBytes":)", record.answer_bytes);
  out += record.has_raw_request ? R"(,"hasRawRequest":true)" : R"(,"hasRawRequest":false)";
  out += record.has_raw_answer ? R"(,"hasRawAnswer":true)" : R"(,"hasRawAnswer":false)";
  out += R"(,"volatileParts":[)";
  const char* separator = "";
  for (const VolatilePart& part : record.volatile_parts)
    append_json(out += std::exchange(separator, ","), part);
  out += R"(],"keys":[)";
  separator = "";
  for (const std::string& key : record.keys) {
    out += std::exchange(separator, ",");
    append_json_string(out, find_invalid_utf8(key) ? base64(key) : key);
  }
  out += ']';
}

void append_raw_member(std::string& out, std::string_view name, std::string_view text) {
  const bool is_text = !find_invalid_utf8(text);
  out += ",\"";
  out += name;
  out += is_text ? "\":" : "Base64\":";
  append_json_string(out, is_text ? std::string(text) : base64(text));
}

void take_raw_text(Fields& fields, std::string_view name, std::string_view in_base64, About about,
                   std::string& to) {
  fields.take(name, to, about);
  std::optional<std::string> encoded;
  fields.take(in_base64, encoded, "The same in base64, where it is no UTF-8.");
  fields.exclude(name, in_base64);
  if (!encoded) return;
  if (std::optional<std::string> bytes = from_base64(*encoded)) {
    to = *std::move(bytes);
  } else {
    fields.fail(in_base64, "is no base64");
  }
}

}  // namespace

void append_json(std::string& out, const RequestRecord& record) {
  append_record_members(out, record);
  out += '}';
}

void append_json(std::string& out, const WholeRequest& whole) {
  append_record_members(out, whole.record);
  if (whole.record.has_raw_request) append_raw_member(out, "request", whole.request);
  if (whole.record.has_raw_answer) append_raw_member(out, "answer", whole.answer);
  out += '}';
}

Result<WholeRequest> whole_request(const Conversation& conversation, std::uint64_t number,
                                   const std::shared_ptr<Work>& work) {
  Result<std::vector<RequestRecord>> records =
      conversation.requests({.first = number, .limit = 1}, work);
  if (!records) return records.error();
  if (number == 0 || records->empty())
    return Error{ErrorCode::not_found, "there is no request " + std::to_string(number), "number"};
  WholeRequest whole{std::move(records->front())};
  if (whole.record.has_raw_request) {
    Result<std::string> text = conversation.raw_request(number, work);
    if (!text) return text.error();
    whole.request = *std::move(text);
  }
  if (whole.record.has_raw_answer) {
    Result<std::string> text = conversation.raw_answer(number, work);
    if (!text) return text.error();
    whole.answer = *std::move(text);
  }
  return whole;
}

void read_given_request(Fields& fields, const MessageLimits& limits, GivenRequest& given) {
  const std::optional<ClientProfile> client = take_client(fields);
  const std::optional<Dialect> dialect = take_dialect(fields);
  take_raw_text(fields, "request", "requestBase64", "The raw request, as it was sent.",
                given.request);
  take_raw_text(fields, "answer", "answerBase64", "The raw answer, as it came.", given.answer);
  ClientRequestHead head;
  fields.take("path", head.path, "Of the request. What follows a ? is left out.");
  if (client && !given.request.empty()) {
    if (const Result<ClientRequest> read =
            read_client_request(*client, dialect, given.request, limits, head))
      given.record = describe_request(*client, *read, given.request, head);
  }
  RequestRecord& record = given.record;
  if (client) record.client = client->name;
  record.path = head.path.substr(0, head.path.find('?'));
  fields.take("method", record.method, "Of the request.");
  fields.take("version", given.version, "What the request saw. Default: the head.");
  fields.take("answerVersion", record.answer_version, "The version that has the answer.");
  std::optional<Integer> at, first_byte, duration;
  fields.take("timestamp", at, "When it came, in milliseconds since 1970. Default: now.");
  if (at) record.at_ms = at->value;
  fields.take("responseId", record.response_id, "The provider's id of the answer.");
  std::uint64_t status = 0;
  fields.take("status", status, "Of HTTP; 0: no answer came.");
  record.status = static_cast<std::uint32_t>(std::min<std::uint64_t>(status, 999));
  fields.take("torn", record.is_torn, "The answer ended before its end.");
  fields.take("firstByteMs", first_byte, "From the request to the answer's first byte.");
  fields.take("durationMs", duration, "From the request to the answer's last byte.");
  if (first_byte) record.first_byte_ms = first_byte->value;
  if (duration) record.duration_ms = duration->value;
  fields.take_object("usage", [&](Fields& usage) { read_request_usage(usage, record.usage); },
                     {"As the provider reported it.", "GivenRequestUsage"});
  std::vector<std::string> keys;
  fields.take("keys", keys, "By which it is found again, besides the digest of its list.");
  for (std::string& key : keys)
    if (std::find(record.keys.begin(), record.keys.end(), key) == record.keys.end())
      record.keys.push_back(std::move(key));
  if (!record.response_id.empty()) record.keys.push_back("response:" + record.response_id);
}

void describe_given_request(Shapes& shapes) {
  Shape shape{.name = "GivenRequest", .text = "A request of a client, to be recorded."};
  Reading reading;
  Fields fields(shape, shapes, reading);
  GivenRequest given;
  read_given_request(fields, {}, given);
  shapes.add(std::move(shape));
}

std::uint64_t record_given(Conversation& conversation, GivenRequest given) {
  conversation.catch_up().value();
  given.record.version = given.version.value_or(conversation.version());
  return conversation.record_request(std::move(given.record), given.request, given.answer).value();
}

}  // namespace undertext
