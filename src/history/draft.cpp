#include "history/draft.hpp"

#include <algorithm>
#include <limits>

#include "history/operation_table.hpp"
#include "history/plan.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t log_length_max = std::numeric_limits<std::uint32_t>::max() - 1;

Error bad_name(const Names& names, const std::string& problem) {
  return {ErrorCode::invalid_argument, problem,
          std::string(words_of<Names::By>[static_cast<std::size_t>(names.by)])};
}

}  // namespace

Draft::Draft(const History::Rep& base, const ApplyContext& context,
             const std::vector<StoredMessage>* given, const RecordedOperation* record)
    : base_(base),
      context_(context),
      log_(base.log),
      view_(base.head.placed()),
      batches_(base.head.frame->batches),
      marks_(base.head.frame->marks),
      given_(given),
      record_(record) {
  log_.work = context.work;
}

Result<std::vector<std::uint32_t>> Draft::ordinals_of(const Names& names) const {
  if (names.numbers.empty()) return bad_name(names, "name at least one message");
  const bool by_index = names.by == Names::By::index;
  std::vector<std::uint32_t> ordinals;
  ordinals.reserve(names.numbers.size());
  for (const std::uint64_t number : names.numbers) {
    const std::uint64_t limit = by_index ? view_.size() : log_.size();
    if (number >= limit) {
      return bad_name(names, (by_index ? "no message at index " : "no message with ordinal ") +
                                 std::to_string(number) + "; there are " + std::to_string(limit));
    }
    ordinals.push_back(by_index ? view_.entries[number].ordinal
                                : static_cast<std::uint32_t>(number));
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
      if (!index)
        return bad_name(
            names, "the message with ordinal " + std::to_string(ordinal) + " is not in the view");
      indices.push_back(*index);
    }
  }
  std::sort(indices.begin(), indices.end());
  return indices;
}

std::vector<std::uint64_t> Draft::pinned_indices() const {
  std::vector<std::uint64_t> indices;
  for (const std::uint32_t ordinal : marks_.ordinals(pinned_mark)) {
    if (const std::optional<std::uint64_t> index = view_.index_of(ordinal))
      indices.push_back(*index);
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
    log_.go_on();
    const StoredMessage* const known = given_ ? next_given() : nullptr;
    const Message& message = known ? *known->body : made;
    const std::uint32_t tokens = known                   ? known->tokens
                                 : context_.count_tokens ? context_.count_tokens(message)
                                                         : 0;
    ordinals.push_back(log_.store(message, context_.now_ms, tokens));
  }
  return ordinals;
}

void Draft::count_made(const Message& message) {
  if (log_.work && !replays()) log_.work->make(message.json().size());
}

const StoredMessage* Draft::next_given() const {
  const std::uint64_t stored = log_.size() - log_length_before();
  if (stored >= given_->size())
    throw Failure(Error{ErrorCode::corrupt, "an operation stored more messages than are there"});
  return &(*given_)[stored];
}

Result<std::uint32_t> Draft::store_summary(const Message& message,
                                           std::vector<std::uint32_t> originals) {
  count_made(message);
  log_.note_summary(static_cast<std::uint32_t>(log_.size()), std::move(originals));
  Result<std::vector<std::uint32_t>> stored = store({&message, 1});
  if (!stored) return stored.error();
  return stored->front();
}

Result<std::vector<std::uint32_t>> Draft::store_copies(
    std::span<const Message> messages, const std::vector<std::uint64_t>& originals) {
  Result<std::vector<std::uint32_t>> stored = store(messages);
  if (!stored || !log_.order_known) return stored;
  std::vector<std::uint32_t> ordinals;
  ordinals.reserve(originals.size());
  for (const std::uint64_t index : originals) ordinals.push_back(view_.entries[index].ordinal);
  log_.note_copies(*stored, std::move(ordinals));
  return stored;
}

Result<std::uint32_t> Draft::store_copy(const Message& message,
                                        std::vector<std::uint32_t> originals) {
  Result<std::vector<std::uint32_t>> stored = store({&message, 1});
  if (!stored) return stored.error();
  log_.note_copies(*stored, std::move(originals));
  return stored->front();
}

void Draft::append(std::span<const std::uint32_t> ordinals) {
  std::optional<std::uint32_t> last;
  if (view_.size() > 0) last = view_.entries[view_.size() - 1].ordinal;
  for (const std::uint32_t ordinal : ordinals) {
    const bool is_new = ordinal >= log_length_before();
    if (!is_new) returns_ = true;
    if (!is_new && last && log_.order.before(ordinal, *last)) log_.order.depart();
    last = ordinal;
  }
  view_.append(log_, ordinals);
}

// What is new goes right before the message at whose place it is put, whether that goes or stays.
void Draft::put_in_order(const std::vector<Splice>& splices) {
  if (!log_.order_known) return;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> put;
  for (const Splice& s : splices) {
    if (s.at >= view_.size()) continue;
    for (const std::uint32_t ordinal : s.put) {
      if (ordinal >= log_length_before()) put.emplace_back(ordinal, view_.entries[s.at].ordinal);
    }
  }
  std::sort(put.begin(), put.end());
  for (const auto& [ordinal, front] : put) log_.order.put(ordinal, front);
}

void Draft::bring_back(std::vector<std::uint32_t> ordinals,
                       const std::vector<std::uint64_t>& leaving) {
  change_view(view_.returning(log_, std::move(ordinals), leaving));
}

void Draft::note_departure(const PlacedView& view) {
  if (!log_.order.is_in_order(view.ordinals({{0, view.size()}}))) log_.order.depart();
}

void Draft::edit(const std::vector<Splice>& splices) {
  put_in_order(splices);
  change_view(splices);
}

void Draft::change_view(const std::vector<Splice>& splices) {
  Stretches gone;
  change_.emplace();
  for (const Splice& s : splices) {
    add_stretch(gone, s.at, s.at + s.erase);
    change_->seams.push_back(s.at);
    for (const std::uint32_t ordinal : s.put) returns_ = returns_ || ordinal < log_length_before();
  }
  change_->kept = complement(gone, view_.size());
  view_.edit(log_, splices);
}

void Draft::keep_only(const Stretches& kept) {
  change_.emplace();
  change_->kept = kept;
  for (const Range& gap : complement(kept, view_.size())) change_->seams.push_back(gap.start);
  view_.keep_only(log_, kept);
}

void Draft::open_batch(std::uint32_t boundary, PlacedView snapshot) {
  batches_.push_back(
      {boundary, static_cast<std::uint32_t>(base_.versions.size()), std::move(snapshot)});
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
  view_swapped_ = returns_ = true;
}

Result<std::vector<Warning>> Draft::broken_units(bool is_plan) {
  const PlacedView before = base_.head.placed();
  // Without a unit there is none to break, and no need to find out what was kept.
  if ((!view_swapped_ && !change_) || !before.may_have_units()) return std::vector<Warning>();
  const auto change_to = log_.views_are_in_order() ? change_in_order : change_between;
  const ViewChange change = view_swapped_ ? change_to(before, view_) : *change_;
  const std::vector<Half> lost = halves(log_, before, change.kept);
  const bool only_hides = !returns_ && log_.links.size() == base_.log.links.size();
  relink(log_, lost, view_, only_hides);
  if (replays()) return std::vector<Warning>();
  std::vector<Warning> warnings = warnings_of(log_, before, change, lost, view_, only_hides);
  if (is_plan && !warnings.empty()) return bad_plan("would break a tool pair");
  if (is_plan && splits_reasoning(log_, before, change.kept, view_))
    return bad_plan("would part reasoning from its calls");
  return warnings;
}

Result<Step> Draft::finish(const Operation& operation) && {
  Applied applied;
  Result<std::vector<Warning>> warnings = broken_units(traits_of(operation).by_strategy);
  if (!warnings) return warnings.error();
  applied.warnings = std::move(*warnings);

  const bool is_plain_append = traits_of(operation).only_appends;
  const bool is_append = is_plain_append || only_appended_;
  auto rep = std::make_shared<History::Rep>();
  rep->versions = base_.versions;
  rep->states = base_.states;
  rep->first_version = base_.first_version;
  rep->first_state = base_.first_state;
  if (!is_append) rep->states.push_back(base_.head);

  rep->head.view = std::move(view_.entries);
  rep->head.log_length = static_cast<std::uint32_t>(log_.size());
  rep->head.frame = is_append ? base_.head.frame
                              : Shared<Frame>::make(std::move(batches_), std::move(marks_),
                                                    std::move(view_.places));

  VersionRow row;
  row.at_ms = context_.now_ms;
  row.log_length = rep->head.log_length;
  row.state = rep->first_state + static_cast<std::uint32_t>(rep->states.size());
  if (!is_plain_append || !operation.options.description.empty()) {
    RecordedOperation recorded{to_record(operation, context_.pairs), {}, tag()};
    if (recorded_) recorded.operation.what = std::move(*recorded_);
    if (recorded.tag == 0) recorded.tag = tag_to_write(recorded.operation);
    if (records_kept(recorded.operation, recorded.tag) && change_) recorded.kept = change_->kept;
    row.operation = Shared<LinkedOperation>::make(std::move(recorded), restores_, undo_, redo_);
  }
  rep->versions.push_back(row);
  rep->log = std::move(log_);
  rep->clients = base_.clients;
  if (client_)
    rep->clients.push_back({static_cast<std::uint32_t>(rep->head_number()), std::move(*client_)});
  rep->log.work = nullptr;

  applied.operation = name(operation);
  applied.version = Version(rep->head_number());
  applied.stats = stats_of(*rep);
  applied.affected_batch_index = BatchIndex(applied.stats.current_batch_index);
  applied.opened_batch = opened_batch_;
  return Step{History(std::move(rep)), std::move(applied)};
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
