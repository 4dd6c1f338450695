// Reads a store's URL: libpq's parameters, and our own among them.
#pragma once

#include <string>
#include <string_view>

#include <undertext/error.hpp>

#include "postgres/connection.hpp"

namespace undertext::postgres {

struct StoreUrl {
  ConnectionSettings settings;
  std::string name;  // for people: without the password and everything behind the question mark
};

// invalid_argument: libpq does not understand it, or it has a parameter of ours that we do not.
Result<StoreUrl> read_url(std::string_view url);

}  // namespace undertext::postgres
