// What is known of conversations that the store reads only when they are asked for, such as the
// sessions of other programs: for the list, and for a search. Any thread may call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace undertext {

struct ConversationAbout {
  std::string client, title, project, model;
  std::int64_t started_at_ms = 0, updated_at_ms = 0;
  std::uint64_t input = 0, output = 0, cache_read = 0, cache_write = 0;  // tokens
  double cost = 0;                                                       // US dollars
};

// A conversation that was not read yet, and has the words.
struct UnreadFound {
  std::string conversation;
  std::string excerpt;
};

class Catalog {
 public:
  virtual ~Catalog() = default;
  virtual std::optional<ConversationAbout> about(std::string_view id) const = 0;
  virtual std::vector<UnreadFound> search_unread(std::string_view text,
                                                 std::size_t limit) const = 0;
};

}  // namespace undertext
