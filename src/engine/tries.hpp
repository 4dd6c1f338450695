// How often a change is made again after another writer came first. Each round somebody has made
// progress, so that many in a row mean a store that answers conflict for another reason; the caller
// then gets the error.
#pragma once

#include <undertext/error.hpp>

namespace undertext {

class Tries {
 public:
  bool again() { return ++made_ < tries_max; }
  bool may_retry(const Error& error) { return error.code == ErrorCode::conflict && again(); }

 private:
  static constexpr int tries_max = 1000;
  int made_ = 0;
};

}  // namespace undertext
