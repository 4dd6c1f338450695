#include "history/import.hpp"

#include <algorithm>
#include <string>

#include "history/draft.hpp"

namespace undertext {
namespace {

Error bad(const char* field, std::string message) {
  return {ErrorCode::invalid_argument, std::move(message), field};
}

std::optional<Error> batches_problem(const MarkMap& map, std::uint64_t log_length) {
  const std::vector<std::uint64_t>& boundaries = map.batch_boundaries;
  if (boundaries.size() != map.boundary_to_batch.size())
    return bad("boundaryToBatch", "batchBoundaries and boundaryToBatch differ in length");
  if (boundaries.empty() || boundaries.front() != 0)
    return bad("batchBoundaries", "the first boundary is 0");
  if (!std::is_sorted(boundaries.begin(), boundaries.end()))
    return bad("batchBoundaries", "boundaries never fall");
  if (boundaries.back() > log_length)
    return bad("batchBoundaries", "a boundary lies beyond the log");
  std::vector<std::uint64_t> numbers = map.boundary_to_batch;
  std::sort(numbers.begin(), numbers.end());
  if (std::adjacent_find(numbers.begin(), numbers.end()) != numbers.end())
    return bad("boundaryToBatch", "a batch number is there twice");
  if (!std::binary_search(numbers.begin(), numbers.end(), map.current_batch))
    return bad("currentBatch", "the current batch is not in boundaryToBatch");
  for (std::size_t k = 0; k < map.boundary_to_batch.size(); ++k) {
    if (map.boundary_to_batch[k] != k)
      return bad("boundaryToBatch", "batches are numbered 0, 1, 2 and so on");
  }
  return {};
}

std::optional<Error> indices_problem(const MarkMap& map, const Log& log) {
  std::vector<std::uint64_t> sorted = map.original_indices;
  std::sort(sorted.begin(), sorted.end());
  if (!sorted.empty() && sorted.back() >= log.size())
    return bad("originalIndices",
               "index " + std::to_string(sorted.back()) + " lies beyond the log");
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end())
    return bad("originalIndices", "index " + std::to_string(*twice) + " is there twice");

  std::vector<std::uint64_t> by_role[role_count];
  for (const std::uint64_t ordinal : map.original_indices) {
    by_role[static_cast<std::size_t>(log.stored[ordinal].role())].push_back(ordinal);
  }
  const bool given = std::any_of(std::begin(map.type_indices), std::end(map.type_indices),
                                 [](const auto& list) { return !list.empty(); });
  if (given && !std::equal(std::begin(by_role), std::end(by_role), std::begin(map.type_indices))) {
    return bad("typeIndices", "the indices per role are not those of originalIndices");
  }
  return {};
}

}  // namespace

std::optional<Error> import_mark_map(Draft& draft, const MarkMap& map) {
  if (std::optional<Error> problem = batches_problem(map, draft.log().size())) return problem;
  if (std::optional<Error> problem = indices_problem(map, draft.log())) return problem;

  PlacedView view;
  view.append(draft.log(),
              std::vector<std::uint32_t>(map.original_indices.begin(), map.original_indices.end()));
  // From the last boundary down, so that every message leaves once.
  std::vector<PlacedView> snapshots(map.current_batch + 1);
  PlacedView snapshot = view;
  for (std::size_t k = map.current_batch; k > 0; --k) {
    snapshot = only_kept(draft.log(), snapshot, snapshot.stretches_below(map.batch_boundaries[k]));
    snapshots[k] = snapshot;
  }
  BatchTree batches;
  batches.push_back({0, 0, {}});
  const auto opened_in = static_cast<std::uint32_t>(draft.base().versions.size());
  for (std::size_t k = 1; k <= map.current_batch; ++k) {
    batches.push_back(
        {static_cast<std::uint32_t>(map.batch_boundaries[k]), opened_in, std::move(snapshots[k])});
  }
  draft.note_departure(view);
  draft.replace_state(std::move(view), std::move(batches));
  return {};
}

}  // namespace undertext
