#include "history/draft.hpp"

#include <algorithm>
#include <limits>

#include "history/operation_table.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t log_length_max = std::numeric_limits<std::uint32_t>::max() - 1;

Error bad_name(const Names& names, const std::string& problem) {
  return {ErrorCode::invalid_argument, problem, std::string(words_of<Names::By>[static_cast<std::size_t>(names.by)])};
}

}  // namespace

Draft::Draft(const History::Rep& base, const ApplyContext& context, const std::vector<StoredMessage>* given,
             const RecordedOperation* record)
    : base_(base),
      context_(context),
      log_(base.log),
      view_(base.head.placed()),
      batches_(base.head.frame->batches),
      marks_(base.head.frame->marks),
      given_(given),
      record_(record) {}

Result<std::vector<std::uint32_t>> Draft::ordinals_of(const Names& names) const {
  if (names.numbers.empty()) return bad_name(names, "name at least one message");
  const bool by_index = names.by == Names::By::index;
  std::vector<std::uint32_t> ordinals;
  ordinals.reserve(names.numbers.size());
  for (const std::uint64_t number : names.numbers) {
    const std::uint64_t limit = by_index ? view_.size() : log_.size();
    if (number >= limit) {
      return bad_name(names, (by_index ? "no message at index " : "no message with ordinal ") + std::to_string(number) +
                                 "; there are " + std::to_string(limit));
    }
    ordinals.push_back(by_index ? view_.entries[number].ordinal : static_cast<std::uint32_t>(number));
  }
  std::vector<std::uint64_t> sorted = names.numbers;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) return bad_name(names, std::to_string(*twice) + " is named twice");
  return ordinals;
}

Result<std::vector<std::uint64_t>> Draft::indices_of(const Names& names) const {
  Result<std::vector<std::uint32_t>> ordinals = ordinals_of(names);
  if (!ordinals) return ordinals.error();
  std::vector<std::uint64_t> indices;
  if (names.by == Names::By::index) {
    indices = names.numbers;
  } else {
    indices.reserve(ordinals->size());
    for (const std::uint32_t ordinal : *ordinals) {
      const std::optional<std::uint64_t> index = view_.index_of(ordinal);
      if (!index) return bad_name(names, "the message with ordinal " + std::to_string(ordinal) + " is not in the view");
      indices.push_back(*index);
    }
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

std::vector<std::uint64_t> Draft::pinned_indices() const {
  std::vector<std::uint64_t> indices;
  for (const std::uint32_t ordinal : marks_.ordinals(pinned_mark)) {
    if (const std::optional<std::uint64_t> index = view_.index_of(ordinal)) indices.push_back(*index);
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

Result<std::vector<std::uint32_t>> Draft::store(std::span<const Message> messages) {
  if (messages.size() > log_length_max - log_.size())
    return Error{ErrorCode::too_large, "the conversation holds as many messages as it can"};
  std::vector<std::uint32_t> ordinals;
  ordinals.reserve(messages.size());
  for (const Message& made : messages) {
    const StoredMessage* const known = given_ ? next_given() : nullptr;
    const Message& message = known ? *known->body : made;
    stored_links_.push_back(message.has_tool_links() ? message.tool_links() : std::vector<ToolLink>());
    const std::uint32_t tokens = known ? known->tokens : context_.count_tokens ? context_.count_tokens(message) : 0;
    ordinals.push_back(log_.store(message, stored_links_.back(), context_.now_ms, tokens));
  }
  return ordinals;
}

const StoredMessage* Draft::next_given() const {
  const std::uint64_t stored = log_.size() - log_length_before();
  if (stored >= given_->size()) throw Failure(Error{ErrorCode::corrupt, "an operation stored more messages than are there"});
  return &(*given_)[stored];
}

Result<std::uint32_t> Draft::store_summary(const Message& message, std::vector<std::uint32_t> originals) {
  Result<std::vector<std::uint32_t>> stored = store({&message, 1});
  if (!stored) return stored.error();
  log_.note_summary(stored->front(), std::move(originals));
  return stored->front();
}

void Draft::append(std::span<const std::uint32_t> ordinals) {
  for (const std::uint32_t ordinal : ordinals) {
    if (ordinal >= log_length_before()) {
      view_.append(log_, ordinal, stored_links_[ordinal - log_length_before()]);
    } else {
      view_.append(log_, ordinal);
    }
  }
}

void Draft::edit(const std::vector<Splice>& splices) {
  Stretches gone;
  for (const Splice& s : splices) add_stretch(gone, s.at, s.at + s.erase);
  if (!gone.empty()) kept_ = complement(gone, view_.size());
  view_.edit(log_, splices);
}

void Draft::keep_only(const Stretches& kept) {
  kept_ = kept;
  view_.keep_only(log_, kept);
}

void Draft::open_batch(std::uint32_t boundary, PlacedView snapshot) {
  batches_.push_back({boundary, static_cast<std::uint32_t>(base_.versions.size()), std::move(snapshot)});
  opened_batch_ = true;
}

void Draft::roll_back(std::uint64_t batch) {
  if (batch == current_batch()) return;
  replace_state(snapshot_of(batches_, batch), batches_);
  batches_.splice(batch + 1, batches_.size() - batch - 1, {});
}

void Draft::restore(std::uint64_t version) {
  const State state = base_.state_at(version);
  replace_state(state.placed(), state.frame->batches);
  marks_ = state.frame->marks;
  restores_ = static_cast<std::uint32_t>(version);
}

void Draft::replace_state(PlacedView view, BatchTree batches) {
  view_ = std::move(view);
  batches_ = std::move(batches);
  view_swapped_ = true;
}

Step Draft::finish(const Operation& operation) && {
  Applied applied;
  const PlacedView before = base_.head.placed();
  // Without a pair there is none to break, and no need to find out what was kept.
  if ((view_swapped_ || kept_) && before.has_pairs()) {
    applied.warnings = broken_pairs(log_, before, view_swapped_ ? kept_between(before, view_) : *kept_, view_);
  }

  const bool is_append = traits_of(operation).only_appends;
  auto rep = std::make_shared<History::Rep>();
  rep->versions = base_.versions;
  rep->states = base_.states;
  rep->first_version = base_.first_version;
  rep->first_state = base_.first_state;
  if (!is_append) rep->states.push_back(base_.head);

  rep->head.view = std::move(view_.entries);
  rep->head.log_length = static_cast<std::uint32_t>(log_.size());
  rep->head.frame =
      is_append ? base_.head.frame : Shared<Frame>::make(std::move(batches_), std::move(marks_), std::move(view_.places));

  VersionRow row;
  row.at_ms = context_.now_ms;
  row.log_length = rep->head.log_length;
  row.state = rep->first_state + static_cast<std::uint32_t>(rep->states.size());
  if (!is_append || !operation.options.description.empty()) {
    RecordedOperation recorded{to_record(operation, context_.pairs), {}, tag()};
    if (is_filter_by_text(operation)) recorded.kept = kept_;
    row.operation = Shared<LinkedOperation>::make(std::move(recorded), restores_, undo_, redo_);
  }
  rep->versions.push_back(row);
  rep->log = std::move(log_);

  applied.operation = name(operation);
  applied.version = Version(rep->head_number());
  applied.stats = stats_of(*rep);
  applied.affected_batch_index = BatchIndex(applied.stats.current_batch_index);
  applied.opened_batch = opened_batch_;
  return {History(std::move(rep)), std::move(applied)};
}

Stats stats_of(const History::Rep& rep) {
  const State& head = rep.head;
  Stats stats;
  stats.total_messages = rep.log.size();
  stats.current_batch_messages = head.view.size();
  stats.total_batches = head.frame->batches.size();
  stats.current_batch_index = stats.total_batches - 1;
  stats.tokens = head.view.total(TokensOf());
  return stats;
}

}  // namespace undertext
