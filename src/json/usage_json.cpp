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

// What a request and the totals of many have in common.
template <class Usage>
void append_counts(std::string& out, const Usage& usage) {
  out += R"(,"prompt":)" + std::to_string(usage.prompt) + R"(,"completion":)" +
         std::to_string(usage.completion);
  out += R"(,"cached":)" + std::to_string(usage.cached) + R"(,"total":)" +
         std::to_string(usage.total) + R"(,"cost":)";
  append_json_number(out, usage.cost);
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
  out += R"(,"estimatedPrompt":)" + std::to_string(usage.estimated_prompt) + R"(,"timestamp":)" +
         std::to_string(usage.at_ms);
  if (usage.cache_written > 0) out += R"(,"cacheWritten":)" + std::to_string(usage.cache_written);
  if (usage.cache_written_hour > 0)
    out += R"(,"cacheWrittenHour":)" + std::to_string(usage.cache_written_hour);
  out += '}';
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

void take_number(Fields& fields, std::string_view name, double& to, std::string_view text) {
  const std::optional<JsonValue> number = fields.find(name, {text, "number"});
  if (!number) return;
  const std::string_view spelled = number->raw();
  const bool read =
      number->is(JsonType::number) &&
      std::from_chars(spelled.data(), spelled.data() + spelled.size(), to).ec == std::errc();
  if (!read) fields.fail(name, "must be a number");
}

template <class Usage>
void take_counts(Fields& fields, Usage& usage) {
  fields.need("prompt", usage.prompt, "Tokens of the request.");
  fields.take("completion", usage.completion, "Tokens of the answer.");
  fields.take("cached", usage.cached, "Tokens of the request that were read from a cache.");
  fields.take("total", usage.total, "As reported.");
  take_number(fields, "cost", usage.cost, "What it cost.");
}

void take_request(Fields& fields, RequestUsage& usage) {
  fields.need("requestId", usage.request_id,
              "The provider's id of the request, or one of your own.");
  fields.take("model", usage.model, "The model that answered.");
  take_counts(fields, usage);
  fields.take("estimatedPrompt", usage.estimated_prompt,
              "What the request was counted as before it was sent.");
  fields.take("cacheWritten", usage.cache_written,
              "Tokens of the request that were written to a cache.");
  fields.take("cacheWrittenHour", usage.cache_written_hour,
              "Of these, the ones that it keeps for an hour.");
  std::optional<Integer> at;
  fields.take("timestamp", at, "Milliseconds since 1970.");
  if (at) usage.at_ms = at->value;
  // Both are kept, and handed out with every answer.
  constexpr std::size_t name_bytes_max = 256;
  if (usage.request_id.size() > name_bytes_max)
    fields.fail("requestId", "is longer than 256 bytes");
  if (usage.model.size() > name_bytes_max) fields.fail("model", "is longer than 256 bytes");
}

void take_requests(Fields& fields, std::string_view name, std::vector<RequestUsage>& requests) {
  fields.take_objects(name,
                      [&](Fields& request) { take_request(request, requests.emplace_back()); },
                      {"As usage has them.", "GivenRequestUsage"});
}

// In the answer, what is open counts among the totals of its model.
void leave_out_open(UsageState& state) {
  const auto less = [](std::uint64_t& sum, std::uint64_t part) { sum -= std::min(sum, part); };
  for (const RequestUsage& usage : state.open) {
    for (UsageState::OfModel& of : state.models) {
      if (of.model != usage.model) continue;
      less(of.totals.requests, 1);
      less(of.totals.prompt, usage.prompt);
      less(of.totals.completion, usage.completion);
      less(of.totals.cached, usage.cached);
      less(of.totals.total, usage.total);
      of.totals.cost = std::max(0.0, of.totals.cost - usage.cost);
    }
  }
}

}  // namespace

void read_request_usage(Fields& fields, RequestUsage& usage) { take_request(fields, usage); }
void append_json(std::string& out, const RequestUsage& usage) { append_request(out, usage); }

void read_usage(Fields& fields, UsageReport& report) {
  take_request(fields, report.usage);
  fields.take("final", report.final, "false: a later report of the same request takes its place.");
}

void read_usage_state(Fields& fields, UsageState& state) {
  fields.find("totals", {"Ignored: they follow from the rest.", "UsageTotals"});
  fields.find("statistics", {"Ignored, likewise.", "UsageStatistics"});
  const auto read_totals = [](Fields& fields_of, UsageTotals& totals) {
    fields_of.need("requests", totals.requests, "How many.");
    take_counts(fields_of, totals);
  };
  const auto read_model = [&](Fields& model) {
    UsageState::OfModel& of = state.models.emplace_back();
    model.need("model", of.model, "Its name.");
    model.need_object("totals", [&](Fields& totals) { read_totals(totals, of.totals); },
                      {"What its requests came to.", "GivenUsageTotals"});
    model.take("promptMax", of.prompt_max, "Of a request.");
    model.take("completionMax", of.completion_max, "Of a request.");
    take_number(model, "factor", of.learned.factor, "Reported tokens by estimated ones.");
    of.learned.factor_high = of.learned.factor;
    take_number(model, "factorHigh", of.learned.factor_high, "The same, on the safe side.");
    model.take("learnedFrom", of.learned.learned_from, "Requests.");
  };
  fields.take_objects("models", read_model, {"By model.", "GivenModelUsage"});
  take_requests(fields, "open", state.open);
  take_requests(fields, "recent", state.history);
  leave_out_open(state);
}

void append_json(std::string& out, const UsageTracker& usage) {
  const UsageStatistics statistics = usage.statistics();
  out += R"({"totals":)";
  append_totals(out, statistics.totals);
  out += R"(,"statistics":{"promptMean":)";
  append_json_number(out, statistics.prompt_mean);
  out += R"(,"completionMean":)";
  append_json_number(out, statistics.completion_mean);
  out += R"(,"promptMax":)" + std::to_string(statistics.prompt_max) + R"(,"completionMax":)" +
         std::to_string(statistics.completion_max) + R"(,"cachedShare":)";
  append_json_number(out, statistics.cached_share);
  out += '}';
  const UsageState state = usage.state(0);
  append_list(out, R"(,"models":[)", statistics.by_model,
              [&](std::string& to, const UsageStatistics::OfModel& model) {
                const UsageCorrection learned = usage.correction(model.model);
                to += R"({"model":)";
                append_json_string(to, model.model);
                to += R"(,"totals":)";
                append_totals(to, model.totals);
                for (const UsageState::OfModel& of : state.models) {
                  if (of.model != model.model) continue;
                  to += R"(,"promptMax":)" + std::to_string(of.prompt_max) +
                        R"(,"completionMax":)" + std::to_string(of.completion_max);
                }
                to += R"(,"factor":)";
                append_json_number(to, learned.factor);
                to += R"(,"factorHigh":)";
                append_json_number(to, learned.factor_high);
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
  Shape given{.name = "GivenUsage", .text = "What was reported elsewhere, as `usage` has it."};
  Fields state_fields(given, shapes, reading);
  UsageState state;
  read_usage_state(state_fields, state);
  shapes.add(std::move(given));
}

}  // namespace undertext
