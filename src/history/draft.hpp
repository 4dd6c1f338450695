// The next version while it is being made: starts as the head, is changed by one operation, and
// either becomes a version or is dropped.
//
// An operation says which stretches of the view go, which messages come (edit(), keep_only()), and
// whether a batch opens; what follows from that is the same for all and is done once, in finish():
// the warnings and the record.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <undertext/history.hpp>

#include "history/pairs.hpp"
#include "history/state.hpp"

namespace undertext {

class Draft {
 public:
  // With `given` and `record`: the operation was carried out before, and what it stored are these
  // messages, whatever it would make now.
  Draft(const History::Rep& base, const ApplyContext& context,
        const std::vector<StoredMessage>* given = nullptr,
        const RecordedOperation* record = nullptr);

  bool replays() const { return given_ != nullptr; }
  // Which meaning of the operation is asked for (operation_table.hpp); 0: the present one.
  std::uint8_t tag() const { return record_ ? record_->tag : std::uint8_t{0}; }

  const History::Rep& base() const { return base_; }
  const ApplyContext& context() const { return context_; }
  const Log& log() const { return log_; }
  const PlacedView& view() const { return view_; }
  const BatchTree& batches() const { return batches_; }
  std::uint64_t current_batch() const { return batches_.size() - 1; }
  std::uint64_t log_length_before() const { return base_.log.size(); }

  // Naming: rising indices of visible messages. invalid_argument with field "indices" or
  // "ordinals".
  Result<std::vector<std::uint64_t>> indices_of(const Names& names) const;
  // Ordinals, hidden ones too when named by ordinal.
  Result<std::vector<std::uint32_t>> ordinals_of(const Names& names) const;
  std::vector<std::uint64_t> pinned_indices() const;

  // too_large: the log is full.
  Result<std::vector<std::uint32_t>> store(std::span<const Message> messages);
  // Of a message that the operation makes, before it is stored. Throws Failure: over the limits of
  // the work.
  void count_made(const Message& message);
  Result<std::uint32_t> store_summary(const Message& message, std::vector<std::uint32_t> originals);
  // A message that was stored before is a summary of others from now on.
  void note_summary(std::uint32_t ordinal, std::vector<std::uint32_t> originals) {
    log_.note_summary(ordinal, std::move(originals));
  }
  // Stores what is made from the visible messages at `originals`, and stands for them from then on.
  Result<std::vector<std::uint32_t>> store_copies(std::span<const Message> messages,
                                                  const std::vector<std::uint64_t>& originals);
  // The same for what stands for any messages of the log.
  Result<std::uint32_t> store_copy(const Message& message, std::vector<std::uint32_t> originals);
  // A message that was just stored comes right before `front` in the log's order. In the order in
  // which they were stored.
  void put_in_front(std::uint32_t ordinal, std::uint32_t front) { log_.order.put(ordinal, front); }
  void append(std::span<const std::uint32_t> ordinals);
  void edit(const std::vector<Splice>& splices);
  void keep_only(const Stretches& kept);
  // Messages that the view does not show come to where the log's order has them; those at `leaving`
  // (rising indices) go.
  void bring_back(std::vector<std::uint32_t> ordinals, const std::vector<std::uint64_t>& leaving);
  // Nothing but appends happened: the version shares its state with the one before.
  void only_appended() { only_appended_ = true; }

  void set_client(ClientState client) { client_ = std::move(client); }
  // To be called when `view` may stand in another order than the log's.
  void note_departure(const PlacedView& view);
  // What is carried out again keeps what it kept then; null: that follows from the operation.
  const Stretches* kept_then() const {
    return record_ && record_->kept ? &*record_->kept : nullptr;
  }
  void add_mark(std::string_view mark, const std::vector<std::uint32_t>& ordinals) {
    marks_.add(mark, ordinals);
  }
  void remove_mark(std::string_view mark, const std::vector<std::uint32_t>& ordinals) {
    marks_.remove(mark, ordinals);
  }

  // A batch that begins at `boundary` and leaves `snapshot` behind.
  void open_batch(std::uint32_t boundary, PlacedView snapshot);
  void open_batch() {
    open_batch(static_cast<std::uint32_t>(log_length_before()), base_.head.placed());
  }

  // The view as it last was in `batch`, which becomes the current one.
  void roll_back(std::uint64_t batch);
  // The whole state of a version.
  void restore(std::uint64_t version);
  void replace_state(PlacedView view, BatchTree batches);
  // where a record says more than was asked for
  void record_as(Operation::What what) { recorded_ = std::move(what); }
  void set_undo(std::optional<std::uint32_t> undo, std::optional<std::uint32_t> redo) {
    undo_ = undo;
    redo_ = redo;
  }

  // invalid_argument: a plan would break a unit.
  Result<Step> finish(const Operation& operation) &&;

 private:
  const StoredMessage* next_given() const;
  void put_in_order(const std::vector<Splice>& splices);
  void change_view(const std::vector<Splice>& splices);
  Result<std::vector<Warning>> broken_units(bool is_plan);

  const History::Rep& base_;
  const ApplyContext& context_;
  Log log_;
  PlacedView view_;
  BatchTree batches_;
  Marks marks_;
  const std::vector<StoredMessage>* given_;
  const RecordedOperation* record_;
  std::optional<ViewChange> change_;  // of the view; unset: nothing, or appends only
  // the view is another one; what was kept is yet to be found out
  bool view_swapped_ = false;
  bool returns_ = false;  // messages that were stored before come to the view
  bool opened_batch_ = false;
  bool only_appended_ = false;
  std::optional<ClientState> client_;  // unset: as it was
  std::optional<Operation::What> recorded_;
  std::optional<std::uint32_t> restores_, undo_, redo_;
};

Stats stats_of(const History::Rep& rep);

}  // namespace undertext
