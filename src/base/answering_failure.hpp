// Where a Result is promised, nothing is thrown: what a stored history reads (pages, bodies) fails
// as a Failure from deep below, and becomes the answer here.
#pragma once

#include <undertext/error.hpp>

namespace undertext {

// Carries out `work`, and answers what it throws as Failure.
template <class Work>
auto answering_failure(Work work) -> decltype(work()) {
  try {
    return work();
  } catch (const Failure& failure) {
    return failure.error();
  }
}

}  // namespace undertext
