// Where a query looks, and how it finds its messages without reading the others.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/query.hpp>

#include "history/state.hpp"

namespace undertext {

// The messages an answer is made of: `count` of the wanted roles within [begin, end) when nothing but roles and places was asked for;
// else the positions themselves. Positions are those of the scope: indices of a view, or ordinals of the log.
struct Selection {
  bool by_range = false;
  std::uint64_t begin = 0, end = 0;
  std::vector<std::uint64_t> positions;
};

class Scope {
 public:
  // not_found for a version or batch that does not exist; invalid_argument for filters that exclude each other.
  static Result<Scope> of(const History::Rep& rep, const MessageQuery& query);

  MessageList messages(const MessageQuery& query) const;
  MessageCount count(const MessageQuery& query) const;

 private:
  template <class AnyTree>
  Selection select(const AnyTree& tree, const MessageQuery& query) const;
  template <class AnyTree>
  Selection select_by_role(const AnyTree& tree, const MessageQuery& query) const;
  template <class AnyTree>
  Selection select_by_visit(const AnyTree& tree, const MessageQuery& query) const;
  Selection select_marked(const MessageQuery& query) const;
  template <class AnyTree>
  MessageList list(const AnyTree& tree, const MessageQuery& query) const;
  template <class AnyTree>
  MessageCount tally(const AnyTree& tree, const MessageQuery& query) const;

  const StoredMessage& stored(const Entry& entry) const { return log_.stored[entry.ordinal]; }
  static const StoredMessage& stored(const StoredMessage& item) { return item; }
  static std::uint64_t ordinal(std::uint64_t, const Entry& entry) { return entry.ordinal; }
  static std::uint64_t ordinal(std::uint64_t position, const StoredMessage&) { return position; }

  Log log_;
  PlacedView view_;
  Marks marks_;
  bool is_log_ = false;
  std::uint64_t length_ = 0;
};

}  // namespace undertext
