// A store that could not be opened, and may be opened later: until then every call is answered as
// opening it was. For callers that must not wait for it, such as a gateway, whose traffic goes on.
//
//     std::shared_ptr<Store> store = late_store(
//         {.name = "sqlite:agent.db", .failure = opened.error(), .open = [] { return open_store(…); }});
//     store->list();      // opens it, once `between_tries` has passed since the last try
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include <undertext/store.hpp>

namespace undertext {

struct LateStoreOptions {
  std::string name = {};  // until it is open
  Error failure = {};     // of the first try
  // May throw Failure. One call at a time, whose caller waits for it; others are answered as the
  // last try was.
  std::function<Result<std::shared_ptr<Store>>()> open = {};
  std::chrono::milliseconds between_tries{1000};
};
std::shared_ptr<Store> late_store(LateStoreOptions options);

}  // namespace undertext
