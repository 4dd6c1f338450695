// What tokens cost: the prices of a model, and how its provider's cache bills.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include <undertext/edit_cost.hpp>
#include <undertext/models.hpp>
#include <undertext/request_record.hpp>

namespace undertext {

// Tokens of one request, by how they are billed.
struct BilledTokens {
  std::uint64_t plain = 0;         // neither read from a cache nor written to it
  std::uint64_t read = 0;          // from the cache
  std::uint64_t written = 0;       // to it, for the usual time
  std::uint64_t written_hour = 0;  // to it, for an hour
  std::uint64_t output = 0;
};

// Whether the provider was paid for it: it was answered, and is no count of tokens. A response that
// is made in the background is billed with the request that got its end.
bool is_billed(const RequestRecord& record);

struct Tariff {
  CacheRules rules = {};
  std::optional<std::uint64_t> window = {};
  std::optional<double> input = {}, output = {};  // US dollars for a million tokens
  double read = 0, write = 0, write_hour = 0;

  std::optional<double> dollars(const BilledTokens& tokens) const;  // unset: no price is known
  // what reading them from the cache would have saved
  double dollars_missed(std::uint64_t tokens) const;
};

// What a request of this model and dialect costs. What the table does not tell of a cache follows
// from the profile.
Tariff tariff_of(std::string_view model, std::string_view dialect);

// Tariffs that were asked for once.
class Tariffs {
 public:
  const Tariff& of(const std::string& model, const std::string& dialect);

 private:
  std::map<std::pair<std::string, std::string>, Tariff> known_;
};

// How long the provider keeps what the request left in its cache, after its last use.
std::int64_t cache_lifetime_ms(const RequestRecord& record);
bool is_kept_for_hour(const RequestRecord& record);

}  // namespace undertext
