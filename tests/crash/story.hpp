// A fixed sequence of calls that uses everything a store can do, and what a store holds after each:
// the store in memory tells, which shares no code with the others.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <undertext/store.hpp>

#include "../store/writing.hpp"

namespace undertext::test {

struct Step {
  std::string what;
  std::function<Result<void>(Store&)> run;
};

class Story {
 public:
  // `length` times round.
  explicit Story(int length);

  const std::vector<Step>& steps() const { return steps_; }
  // What a store holds after the first n steps, as contents() says it.
  const std::string& contents_after(std::size_t n) const { return contents_[n]; }
  // After how many steps a store holds this.
  std::optional<std::size_t> steps_for(const std::string& contents) const;

 private:
  std::vector<Step> steps_;
  std::vector<std::string> contents_;
};

// Everything that can be read, as a digest. `corrupt` where the store is damaged.
Result<std::string> contents(Store& store);

// Done, by this call or by an earlier one whose answer was lost.
Result<void> run_again(const Step& step, Store& store);

}  // namespace undertext::test
