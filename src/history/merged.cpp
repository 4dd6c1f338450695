#include "history/merged.hpp"

#include "history/state.hpp"

namespace undertext {
namespace {

// What this version took from a fork; nothing, where it did something else.
std::optional<TakenFromFork> taken_by(const History::Rep& rep, std::uint64_t version) {
  const VersionRow& row = rep.versions[version];
  if (version == 0 || !row.operation) return {};
  const std::uint64_t first = rep.versions[version - 1].log_length;
  const Operation::What& what = row.operation->operation.what;
  if (const auto* merged = std::get_if<op::MergedFork>(&what))
    return TakenFromFork{version, first, merged->from, merged->fork_version, merged->ordinals};
  if (const auto* expanded = std::get_if<op::ExpandFork>(&what))
    return TakenFromFork{version, first, expanded->from, expanded->fork_version,
                         expanded->ordinals};
  return {};
}

}  // namespace

const op::MergedFork* summary_of_fork_at(const History::Rep& rep, std::uint64_t index) {
  if (index >= rep.head.view.size()) return nullptr;
  const VersionRow& row = rep.versions[rep.version_that_stored(rep.head.view[index].ordinal)];
  const auto* merged =
      row.operation ? std::get_if<op::MergedFork>(&row.operation->operation.what) : nullptr;
  return merged && merged->mode == MergeMode::summary ? merged : nullptr;
}

std::optional<ForkedFrom> forked_from(const History::Rep& rep, std::uint64_t ordinal) {
  const std::optional<TakenFromFork> taken = taken_by(rep, rep.version_that_stored(ordinal));
  if (!taken) return {};
  ForkedFrom found{taken->from, taken->fork_version};
  if (ordinal - taken->first < taken->ordinals.size())
    found.ordinal = taken->ordinals[ordinal - taken->first];
  return found;
}

std::vector<TakenFromFork> taken_from_forks(const History::Rep& rep, std::uint64_t first_version) {
  std::vector<TakenFromFork> all;
  for (std::uint64_t version = first_version; version <= rep.head_number(); ++version)
    if (std::optional<TakenFromFork> taken = taken_by(rep, version))
      all.push_back(std::move(*taken));
  return all;
}

}  // namespace undertext
