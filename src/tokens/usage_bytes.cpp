#include "tokens/usage_bytes.hpp"

#include <bit>

#include "base/bytes.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t format = 2;
constexpr std::uint64_t format_without_writes = 1;  // likewise: see engine/request_bytes.cpp
constexpr std::size_t history_max = 100;

void write(ByteOut& out, double number) { out.number(std::bit_cast<std::uint64_t>(number)); }
double read_double(ByteIn& in) { return std::bit_cast<double>(in.number()); }

template <class Usage>
void write_counts(ByteOut& out, const Usage& usage) {
  for (const std::uint64_t n : {usage.prompt, usage.completion, usage.cached, usage.total})
    out.number(n);
  write(out, usage.cost);
}
template <class Usage>
void read_counts(ByteIn& in, Usage& usage) {
  for (std::uint64_t* n : {&usage.prompt, &usage.completion, &usage.cached, &usage.total})
    *n = in.number();
  usage.cost = read_double(in);
}

void write(ByteOut& out, const std::vector<RequestUsage>& requests) {
  out.number(requests.size());
  for (const RequestUsage& usage : requests) {
    out.text(usage.request_id);
    out.text(usage.model);
    write_counts(out, usage);
    out.signed_number(usage.at_ms);
    out.number(usage.estimated_prompt);
    out.number(usage.cache_written);
    out.number(usage.cache_written_hour);
  }
}
std::vector<RequestUsage> read_requests(ByteIn& in, std::uint64_t from_format) {
  std::vector<RequestUsage> requests(in.count());
  for (RequestUsage& usage : requests) {
    usage.request_id = std::string(in.text());
    usage.model = std::string(in.text());
    read_counts(in, usage);
    usage.at_ms = in.signed_number();
    usage.estimated_prompt = in.number();
    if (from_format == format_without_writes) continue;
    usage.cache_written = in.number();
    usage.cache_written_hour = in.number();
  }
  return requests;
}

}  // namespace

std::string usage_bytes(const UsageTracker& usage) {
  const UsageState state = usage.state(history_max);
  if (state.models.empty() && state.open.empty()) return {};
  ByteOut out;
  out.number(format);
  out.number(state.models.size());
  for (const UsageState::OfModel& model : state.models) {
    out.text(model.model);
    out.number(model.totals.requests);
    write_counts(out, model.totals);
    out.number(model.prompt_max);
    out.number(model.completion_max);
    write(out, model.learned.factor);
    write(out, model.learned.factor_high);
    out.number(model.learned.learned_from);
  }
  write(out, state.open);
  write(out, state.history);
  return std::move(out.bytes);
}

UsageTracker read_usage_bytes(std::string_view bytes) {
  if (bytes.empty()) return UsageTracker();
  ByteIn in(bytes, "the usage of a conversation");
  const std::uint64_t from_format = in.number();
  if (from_format != format && from_format != format_without_writes) in.fail_newer();
  UsageState state;
  state.models.resize(in.count());
  for (UsageState::OfModel& model : state.models) {
    model.model = std::string(in.text());
    model.totals.requests = in.number();
    read_counts(in, model.totals);
    model.prompt_max = in.number();
    model.completion_max = in.number();
    model.learned.factor = read_double(in);
    model.learned.factor_high = read_double(in);
    model.learned.learned_from = in.number();
  }
  state.open = read_requests(in, from_format);
  state.history = read_requests(in, from_format);
  in.end();
  Result<UsageTracker> usage = UsageTracker::restored(state);
  if (!usage) in.fail(usage.error().message);
  return *std::move(usage);
}

}  // namespace undertext
