// The facts that the digest finds in messages, by kind, and what of them a text still says.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/compression.hpp>
#include <undertext/work.hpp>

namespace undertext {

using Facts = std::array<std::vector<std::string>, fact_kind_count>;

// `after`: see SummaryRequest::after.
// This and what follows ask `work` (null: no limits) on the way, and throw its Failure.
Facts facts_of(std::span<const Message> messages, std::span<const Message> after = {},
               const Work* work = nullptr);

// Everything that messages say, calls and results included, white space made one space.
std::string all_said(const View& view, const Work* work = nullptr);
std::string all_said(std::span<const Message> messages, const Work* work = nullptr);

// The facts that `text` lacks and `kept` does not say either, as sections of a digest, as many as
// `tokens_max` allows; empty: it lacks none.
// Constraints and changed files are asked for, and the kinds of the policy, as many of each as it
// asks for.
std::string missing_sections(const Facts& facts, std::string_view text, std::string_view kept,
                             const SurvivalPolicy& policy, std::uint64_t tokens_max,
                             const std::function<std::uint64_t(std::string_view)>& count,
                             const Work* work = nullptr);

// Of facts, in a text as all_said() returns it.
Survival survival_in(const Facts& facts, std::string_view flat_text, const Work* work = nullptr);

// The first kind of which less survives than the policy asks for, as an error.
std::optional<Error> refused_by(const SurvivalPolicy& policy, const Survival& survived);

}  // namespace undertext
