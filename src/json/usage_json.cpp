#include "json/usage_json.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <ranges>
#include <string_view>

#include "base/json_text.hpp"

namespace undertext {
namespace {

constexpr std::size_t recent_max = 100;

void append_number(std::string& out, double number) {
  char digits[32];
  const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end.ptr);
}

// What a request and the totals of many have in common.
template <class Usage>
void append_counts(std::string& out, const Usage& usage) {
  out += R"(,"prompt":)" + std::to_string(usage.prompt) + R"(,"completion":)" + std::to_string(usage.completion);
  out += R"(,"cached":)" + std::to_string(usage.cached) + R"(,"total":)" + std::to_string(usage.total) + R"(,"cost":)";
  append_number(out, usage.cost);
}

void append_totals(std::string& out, const UsageTotals& totals) {
  out += R"({"requests":)" + std::to_string(totals.requests);
  append_counts(out, totals);
  out += '}';
}

void append_request(std::string& out, const RequestUsage& usage) {
  out += R"({"requestId":)";
  append_json_string(out, usage.request_id);
  out += R"(,"model":)";
  append_json_string(out, usage.model);
  append_counts(out, usage);
  out += R"(,"estimatedPrompt":)" + std::to_string(usage.estimated_prompt) + R"(,"timestamp":)" + std::to_string(usage.at_ms) + "}";
}

template <class List, class Append>
void append_list(std::string& out, std::string_view lead, const List& list, Append append) {
  out += lead;
  const char* separator = "";
  for (const auto& element : list) {
    out += separator;
    append(out, element);
    separator = ",";
  }
  out += ']';
}

}  // namespace

void read_usage(Fields& fields, UsageReport& report) {
  RequestUsage& usage = report.usage;
  fields.need("requestId", usage.request_id, "The provider's id of the request, or one of your own.");
  fields.take("model", usage.model, "The model that answered.");
  fields.need("prompt", usage.prompt, "Tokens of the request.");
  fields.take("completion", usage.completion, "Tokens of the answer.");
  fields.take("cached", usage.cached, "Tokens of the request that were read from a cache.");
  fields.take("total", usage.total, "As reported.");
  fields.take("estimatedPrompt", usage.estimated_prompt, "What the request was counted as before it was sent.");
  std::optional<Integer> at;
  fields.take("timestamp", at, "Milliseconds since 1970.");
  if (at) usage.at_ms = at->value;
  if (const std::optional<JsonValue> cost = fields.find("cost", {"What it cost.", "number"})) {
    const std::string_view spelled = cost->raw();
    const bool read = cost->is(JsonType::number) &&
                      std::from_chars(spelled.data(), spelled.data() + spelled.size(), usage.cost).ec == std::errc();
    if (!read) fields.fail("cost", "must be a number");
  }
  fields.take("final", report.final, "false: a later report of the same request takes its place.");
  // Both are kept, and handed out with every answer.
  constexpr std::size_t name_bytes_max = 256;
  if (usage.request_id.size() > name_bytes_max) fields.fail("requestId", "is longer than 256 bytes");
  if (usage.model.size() > name_bytes_max) fields.fail("model", "is longer than 256 bytes");
}

void append_json(std::string& out, const UsageTracker& usage) {
  const UsageStatistics statistics = usage.statistics();
  out += R"({"totals":)";
  append_totals(out, statistics.totals);
  append_list(out, R"(,"models":[)", statistics.by_model, [&](std::string& to, const UsageStatistics::OfModel& model) {
    const UsageCorrection learned = usage.correction(model.model);
    to += R"({"model":)";
    append_json_string(to, model.model);
    to += R"(,"totals":)";
    append_totals(to, model.totals);
    to += R"(,"factor":)";
    append_number(to, learned.factor);
    to += R"(,"factorHigh":)";
    append_number(to, learned.factor_high);
    to += R"(,"learnedFrom":)" + std::to_string(learned.learned_from) + "}";
  });
  append_list(out, R"(,"open":[)", usage.open(), append_request);
  const std::deque<RequestUsage>& all = usage.history();
  const auto newest = all.end() - static_cast<std::ptrdiff_t>(std::min(all.size(), recent_max));
  append_list(out, R"(,"recent":[)", std::ranges::subrange(newest, all.end()), append_request);
  out += '}';
}

void describe_usage(Shapes& shapes) {
  Shape shape{.name = "UsageReport", .text = "What a provider reported of a request."};
  Reading reading;
  Fields fields(shape, shapes, reading);
  UsageReport report;
  read_usage(fields, report);
  shapes.add(std::move(shape));
}

}  // namespace undertext
