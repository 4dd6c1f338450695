#include "history/client_list_at.hpp"

#include "history/state.hpp"

namespace undertext {

ClientTree client_tree_at(const History& history, Version version) {
  const ClientRows& rows = history.rep().clients;
  const std::uint64_t count = rows_up_to(rows, version.value);
  return count == 0 ? ClientTree() : rows[count - 1].state.list;
}

std::vector<std::uint64_t> client_list_at(const History& history, Version version) {
  return ordinals_of(client_tree_at(history, version), 0);
}

std::vector<std::uint64_t> ordinals_of(const ClientTree& list, std::uint64_t first) {
  std::vector<std::uint64_t> ordinals;
  list.visit(
      first, list.size(), [](const NoSums&) { return true; },
      [&](std::uint64_t, const ClientEntry& entry) {
        ordinals.push_back(entry.ordinal);
        return true;
      });
  return ordinals;
}

}  // namespace undertext
