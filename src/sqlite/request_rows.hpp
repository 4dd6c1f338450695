// Request rows to rows of tables and back; as records.hpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <undertext/store.hpp>

#include "sqlite/connection.hpp"
#include "sqlite/records.hpp"

namespace undertext {

// Of a file of an older release: nothing.
std::vector<RequestRow> read_requests(Connection& connection, std::uint64_t number,
                                      std::uint64_t first, std::uint64_t end, RequestBytes bytes);
std::uint64_t last_request(Connection& connection, std::uint64_t number);
std::vector<FoundRequest> find_requests(Connection& connection, std::span<const std::string> keys);
std::uint64_t size_of_requests(Connection& connection, std::uint64_t number);

std::optional<Error> write_request(Connection& connection, const NewRequest& request);
void empty_requests(Connection& connection, std::uint64_t number);
void prune_requests(Connection& connection, std::uint64_t number, const Prune& prune);
void delete_requests(Connection& connection, std::uint64_t number);

}  // namespace undertext
