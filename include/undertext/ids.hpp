// The numbers of Undertext. Each kind is a type of its own, so that an ordinal cannot be passed
// where a version is meant.
//
// A position in a view ("index") is a plain std::uint64_t: it means something only together with
// that view.
#pragma once

#include <compare>
#include <cstdint>

namespace undertext {

template <class Tag>
struct Number {
  std::uint64_t value = 0;

  constexpr Number() = default;
  constexpr explicit Number(std::uint64_t v) : value(v) {}
  friend constexpr auto operator<=>(const Number&, const Number&) = default;
};

// a message's number in the log, from 0; never reused, never changed
using Ordinal = Number<struct OrdinalTag>;
// the number of a state; 0 is the empty conversation
using Version = Number<struct VersionTag>;
using BatchIndex = Number<struct BatchIndexTag>;  // an index in the stack of batches, from 0

}  // namespace undertext
