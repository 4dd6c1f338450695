// Where a query looks, and how it finds its messages without reading the others.
#pragma once

#include <cstdint>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/query.hpp>

#include "history/state.hpp"

namespace undertext {

// A message that passed a query's filters.
struct Found {
  std::uint64_t position;  // in the scope: an index of a view, or an ordinal of the log
  std::uint32_t ordinal;
  std::uint32_t tokens;
};

// Borrows the log of the history it is of.
class Scope {
 public:
  // not_found for a version or batch that does not exist; invalid_argument for filters that exclude
  // each other.
  static Result<Scope> of(const History::Rep& rep, const MessageQuery& query);

  Result<MessageList> messages(const MessageQuery& query) const;  // too_large: see MessageQuery
  MessageCount count(const MessageQuery& query) const;

 private:
  explicit Scope(const Log& log) : log_(&log) {}

  template <class AnyTree>
  Range role_window(const AnyTree& tree, const MessageQuery& query) const;
  template <class AnyTree>
  std::vector<Found> find(const AnyTree& tree, const MessageQuery& query) const;
  std::vector<Found> find_marked(const MessageQuery& query) const;
  template <class AnyTree>
  Result<MessageList> list(const AnyTree& tree, const MessageQuery& query) const;
  template <class AnyTree>
  MessageCount tally(const AnyTree& tree, const MessageQuery& query) const;

  const Log* log_;
  PlacedView view_;
  Marks marks_;
  bool is_log_ = false;
  std::uint64_t length_ = 0;
};

}  // namespace undertext
