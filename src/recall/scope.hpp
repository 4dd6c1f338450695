// Which messages a recall may find: those of its scope that pass the filters.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/query.hpp>

#include "history/state.hpp"

namespace undertext {

class RecallScope {
 public:
  // Of the head of `rep`, which must outlive this: at_version is not looked at. not_found,
  // invalid_argument: as Scope. Walks the log where the query has a window (start, end, first,
  // last).
  static Result<RecallScope> of(const History::Rep& rep, const MessageQuery& query);

  bool is_searched(std::uint32_t ordinal) const;  // in the scope, whatever the filters
  bool passes(std::uint32_t ordinal);             // in the scope, and past the filters

 private:
  RecallScope(const History::Rep& rep, const MessageQuery& query)
      : rep_(rep), query_(query), stored_(rep.log) {}
  bool passes_filters(std::uint32_t ordinal);
  void cut_to_window();

  const History::Rep& rep_;
  const MessageQuery query_;
  StoredReader stored_;
  PlacedView view_;
  std::vector<std::uint32_t> recalled_;  // messages that RECALL made
  std::optional<std::vector<std::uint32_t>> marked_;
  // all that pass, where start, end, first or last are given
  std::optional<std::vector<std::uint32_t>> window_;
};

}  // namespace undertext
