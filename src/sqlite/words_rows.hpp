// The full-text index in a SQLite file: rows of words beside the messages they are of.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <undertext/store.hpp>

#include "sqlite/connection.hpp"
#include "sqlite/records.hpp"

namespace undertext {

std::vector<WordsRow> read_words(Connection& connection, std::uint64_t number, std::uint64_t first,
                                 std::uint64_t end, WordsBytes bytes);
std::optional<Error> write_words(Connection& connection, const StoredConversation& stored,
                                 const Commit& commit);
// Of every row that has words of this message.
void delete_words_of(Connection& connection, std::uint64_t number, std::uint64_t ordinal);
void delete_words(Connection& connection, std::uint64_t number);
std::uint64_t size_of_words(Connection& connection, std::uint64_t number);

}  // namespace undertext
