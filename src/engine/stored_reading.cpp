#include "engine/stored_reading.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "history/operation_bytes.hpp"
#include "message/redacted.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t bookkeeping_bytes = 48;  // of a kept body and its part of a block, about

}  // namespace

Result<Message> read_message(const MessageRecord& record) {
  constexpr MessageLimits unlimited{std::numeric_limits<std::uint64_t>::max(),
                                    std::numeric_limits<std::uint32_t>::max()};
  Result<Message> message = Message::parse(record.body, unlimited);
  if (!message) {
    return Error{ErrorCode::corrupt, "the message with ordinal " + std::to_string(record.ordinal) +
                                         " is damaged: " + message.error().message};
  }
  return record.redacted ? as_redacted(*message) : *std::move(message);
}

Message message_of(const MessageRecord& record) { return read_message(record).value(); }

RecordedOperation operation_of(const VersionRecord& record) {
  RecordedOperation recorded{{op::Append{}, {}}};
  if (!record.arguments.empty()) {
    const std::string_view arguments = record.arguments;
    ByteIn in(arguments.substr(are_redacted(arguments) ? 1 : 0),
              "version " + std::to_string(record.version));
    recorded = read_record(in, KeptPart::present);
    in.end();
  }
  recorded.operation.options.operation_id = record.operation_id;
  return recorded;
}

std::string StoredPages::read_page(std::uint64_t page) {
  const std::uint64_t numbers[] = {page};
  std::vector<Page> pages = store_->pages(lineage_.of_page(page).id, numbers).value();
  if (pages.size() != 1 || pages[0].number != page) throw_corrupt_page(page, "it is not there");
  return std::move(pages[0].bytes);
}

Message StoredBodies::body(std::uint32_t ordinal) const {
  {
    const std::lock_guard lock(lock_);
    if (const auto found = blocks_.find(ordinal / neighbours); found != blocks_.end()) {
      const MessageSlot& kept = found->second.messages[ordinal % neighbours];
      found->second.is_used = true;
      if (kept.is_here()) return *kept;
    }
  }
  const Lineage::Owner owner = lineage_.of_message(ordinal);
  const std::uint64_t block = ordinal - ordinal % neighbours;
  const auto read = [&](std::uint64_t first, std::uint64_t end) {
    return store_->messages(owner.id, first, std::min(end, owner.end)).value();
  };
  std::vector<MessageRecord> records = read(std::max(block, owner.first), block + neighbours);
  const auto is_wanted = [&](const MessageRecord& record) { return record.ordinal == ordinal; };
  // Very large neighbours may have left no room for it.
  if (std::none_of(records.begin(), records.end(), is_wanted))
    records = read(ordinal, std::uint64_t{ordinal} + 1);
  MessageSlot wanted;
  const std::lock_guard lock(lock_);
  for (const MessageRecord& record : records) {
    Message message = message_of(record);
    if (record.ordinal == ordinal) wanted = message;
    add(static_cast<std::uint32_t>(record.ordinal), message);
  }
  if (!wanted.is_here()) {
    throw Failure(Error{ErrorCode::corrupt, "the message with ordinal " + std::to_string(ordinal) +
                                                " is missing in the store"});
  }
  make_room(ordinal, *wanted);
  return *wanted;
}

void StoredBodies::keep(std::uint32_t ordinal, const Message& message) const {
  const std::lock_guard lock(lock_);
  add(ordinal, message);
  make_room(ordinal, message);
}

void StoredBodies::add(std::uint32_t ordinal, const Message& message) const {
  const auto [at, is_new] = blocks_.try_emplace(ordinal / neighbours);
  if (is_new) turns_.push_back(at->first);
  Block& block = at->second;
  MessageSlot& slot = block.messages[ordinal % neighbours];
  if (slot.is_here()) return;
  slot = message;
  const std::uint64_t bytes = message.json().size() + bookkeeping_bytes;
  block.bytes += bytes;
  bytes_ += bytes;
}

// For the message that was added last.
void StoredBodies::make_room(std::uint32_t ordinal, const Message& message) const {
  while (bytes_ > bytes_max_ && turns_.size() > 1) {
    const auto at = blocks_.find(turns_.front());
    turns_.pop_front();
    if (std::exchange(at->second.is_used, false)) {
      turns_.push_back(at->first);
    } else {
      bytes_ -= at->second.bytes;
      blocks_.erase(at);
    }
  }
  if (bytes_ <= bytes_max_) return;
  // One block alone is too large.
  blocks_.clear();
  turns_.clear();
  bytes_ = 0;
  add(ordinal, message);
}

}  // namespace undertext
