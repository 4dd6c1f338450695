#include "history/repeated.hpp"

namespace undertext {

bool is_worth_sharing(const Message& body) {
  constexpr std::size_t bytes_min = 1024;
  return body.json().size() >= bytes_min;
}

std::optional<std::uint32_t> repeated_original(const Log& log, std::uint32_t ordinal,
                                               const Message& body) {
  if (!is_worth_sharing(body)) return {};
  const std::vector<std::uint32_t>* const originals = log.stands_for(ordinal);
  if (!originals || originals->size() != 1 || log.originals(ordinal)) return {};
  const std::uint32_t original = originals->front();
  if (log.stored[original].bytes != log.stored[ordinal].bytes || log.message(original) != body)
    return {};
  return original;
}

}  // namespace undertext
