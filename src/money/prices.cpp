#include "money/prices.hpp"

#include <algorithm>

#include <undertext/dialect.hpp>

namespace undertext {
namespace {

constexpr double million = 1e6;
// What providers promise after the last use, unless a marker asks for an hour (docs/money.md).
constexpr std::int64_t usual_lifetime_ms = 300'000, hour_ms = 3'600'000;

CacheRules rules_of(const Model& model, std::string_view dialect_text) {
  const std::optional<Dialect> dialect = dialect_named(dialect_text);
  if (!dialect) return {};
  for (const std::string& name : model.profiles)
    if (const Result<Profile> profile = find_profile(name); profile && profile->dialect == *dialect)
      return profile->cache;
  return default_profile(*dialect).cache;
}

double times(std::uint64_t tokens, double price) {
  return static_cast<double>(tokens) * price / million;
}

}  // namespace

bool is_billed(const RequestRecord& record) {
  if (record.kind == ClientRequestKind::count_tokens) return false;
  if (!record.usage.request_id.empty()) return true;
  const bool is_turn = record.kind != ClientRequestKind::compaction;
  const bool is_under_way = is_turn && record.dialect == name(Dialect::openai_responses) &&
                            record.answer_version.value == 0 && !record.response_id.empty();
  return record.status >= 200 && record.status < 300 && !is_under_way;
}

std::optional<double> Tariff::dollars(const BilledTokens& tokens) const {
  if (!input || !output) return std::nullopt;
  return times(tokens.plain, *input) + times(tokens.read, read) + times(tokens.written, write) +
         times(tokens.written_hour, write_hour) + times(tokens.output, *output);
}

double Tariff::dollars_missed(std::uint64_t tokens) const {
  if (!input) return 0;
  const double paid = rules.kind == CacheRules::Kind::breakpoints ? write : *input;
  return times(tokens, std::max(0.0, paid - read));
}

Tariff tariff_of(std::string_view model_name, std::string_view dialect) {
  const Model model = find_model(model_name);
  Tariff tariff{.rules = rules_of(model, dialect), .window = model.limits.window};
  const Model::Prices& prices = model.prices;
  tariff.input = prices.input;
  tariff.output = prices.output;
  const double input = prices.input.value_or(0);
  tariff.read = prices.cache_read.value_or(input * tariff.rules.read);
  tariff.write = prices.cache_write.value_or(input * tariff.rules.write);
  tariff.write_hour = prices.cache_write_hour.value_or(tariff.write);
  return tariff;
}

const Tariff& Tariffs::of(const std::string& model, const std::string& dialect) {
  const auto [found, is_new] = known_.try_emplace({model, dialect});
  if (is_new) found->second = tariff_of(model, dialect);
  return found->second;
}

bool is_kept_for_hour(const RequestRecord& record) {
  const auto asks_for_hour = [](const VolatilePart& part) {
    return part.kind == VolatilePart::Kind::marker && part.json.find("\"1h\"") != part.json.npos;
  };
  const auto& parts = record.volatile_parts;
  return record.usage.cache_written_hour > 0 ||
         std::any_of(parts.begin(), parts.end(), asks_for_hour);
}

std::int64_t cache_lifetime_ms(const RequestRecord& record) {
  return is_kept_for_hour(record) ? hour_ms : usual_lifetime_ms;
}

}  // namespace undertext
