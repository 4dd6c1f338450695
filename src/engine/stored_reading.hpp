// What a stored history reads when it is looked at: pages of its trees, and bodies of its messages,
// of which the last read are kept.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include <undertext/operation.hpp>
#include <undertext/store.hpp>

#include "engine/lineage.hpp"
#include "history/log.hpp"
#include "sequence/page.hpp"

namespace undertext {

class StoredPages : public PageSpace {
 public:
  StoredPages(std::uint16_t id, std::shared_ptr<Store> store, Lineage lineage)
      : PageSpace(id), store_(std::move(store)), lineage_(std::move(lineage)) {}

 protected:
  std::string read_page(std::uint64_t page) override;

 private:
  const std::shared_ptr<Store> store_;
  const Lineage lineage_;
};

// Keeps at most about `bytes_max` of bodies. They are read and dropped by blocks of neighbours: the
// oldest block goes first, unless it was used since it was last its turn.
class StoredBodies : public BodySource {
 public:
  StoredBodies(std::shared_ptr<Store> store, Lineage lineage, std::uint64_t bytes_max)
      : store_(std::move(store)), lineage_(std::move(lineage)), bytes_max_(bytes_max) {}

  Message body(std::uint32_t ordinal) const override;
  void keep(std::uint32_t ordinal, const Message& message) const;

 private:
  // Whoever reads one message mostly reads its neighbours next.
  static constexpr std::uint32_t neighbours = 64;
  struct Block {
    std::array<MessageSlot, neighbours> messages = {};
    std::uint64_t bytes = 0;
    bool is_used = true;  // since it was its turn
  };
  // With lock_ held:
  void add(std::uint32_t ordinal, const Message& message) const;
  void make_room(std::uint32_t ordinal, const Message& message) const;

  const std::shared_ptr<Store> store_;
  const Lineage lineage_;
  const std::uint64_t bytes_max_;
  mutable std::mutex lock_;
  mutable std::unordered_map<std::uint32_t, Block> blocks_;  // guarded by lock_
  mutable std::deque<std::uint32_t> turns_;                  // of all blocks, the next one first
  mutable std::uint64_t bytes_ = 0;
};

// Of a record's body; Message::is_redacted() as the record says. corrupt.
Result<Message> read_message(const MessageRecord& record);
// The same. Throws Failure.
Message message_of(const MessageRecord& record);
// Of a record's arguments. Throws Failure: corrupt; unsupported for what a newer release stored.
RecordedOperation operation_of(const VersionRecord& record);

}  // namespace undertext
