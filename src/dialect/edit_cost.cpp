// What an edit costs at a provider that keeps prompts in a cache and signs what its models think.
#include <algorithm>
#include <map>

#include <undertext/dialect.hpp>

#include "base/answering_failure.hpp"
#include "dialect/rules.hpp"

namespace undertext {
namespace {

// Signed blocks that cannot be sent as they are, by the message they stand in.
std::map<std::uint64_t, std::uint64_t> broken_in(const std::vector<Finding>& findings) {
  std::map<std::uint64_t, std::uint64_t> broken;
  for (const Finding& finding : findings) {
    const bool is_broken = finding.code == rule_of(FindingCode::think_modified).name ||
                           finding.code == rule_of(FindingCode::think_prefix_changed).name ||
                           finding.code == rule_of(FindingCode::reasoning_missing).name;
    if (is_broken && finding.place.ordinal) ++broken[finding.place.ordinal->value];
  }
  return broken;
}

}  // namespace

Result<EditCost> edit_cost(const History& history, Version sent, Version next,
                           const Profile& profile, const CostOptions& options) {
  return answering_failure([&]() -> Result<EditCost> {
    Result<EditCost> cost = edit_cost(history, sent, next, profile.cache, options);
    if (!cost) return cost;
    const View before = history.view_at(sent).value();
    const Result<std::vector<Finding>> old =
        validate(before, profile, {.sent_before = views_sent(history, sent, profile).value()});
    if (!old) return old.error();
    const Result<std::vector<Finding>> found =
        validate(history.view_at(next).value(), profile,
                 {.sent = before, .sent_before = views_sent(history, next, profile).value()});
    if (!found) return found.error();
    std::map<std::uint64_t, std::uint64_t> broken = broken_in(*old);
    for (const auto& [ordinal, blocks] : broken_in(*found))
      cost->broken_thinking += blocks - std::min(blocks, broken[ordinal]);
    return cost;
  });
}

}  // namespace undertext
