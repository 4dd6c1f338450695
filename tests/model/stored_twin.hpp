// A history that is saved now and then, and read back: for the model test.
#pragma once

#include <map>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes.hpp"
#include "history/operation_bytes.hpp"
#include "history/replay.hpp"
#include "history/saved.hpp"
#include "plain_model.hpp"

namespace undertext {

class StoredTwin {
 public:
  explicit StoredTwin(const PlainModel& model) : model_(model) {}

  // Saves; when `commits`, as a store would that took the pages, else as one that failed.
  void save(const History& history, bool commits) {
    PageWriter writer(space_id, next_page_);
    std::string root = SavedHistory::save(history.rep(), writer);
    if (!commits) return;
    for (NewPage& page : writer.take_pages()) (*pages_)[page.number] = std::move(page.bytes);
    next_page_ = writer.next_page();
    writer.committed();
    root_ = std::move(root);
  }
  bool is_saved() const { return !root_.empty(); }

  History load() const {
    return SavedHistory::load(root_, std::make_shared<Pages>(pages_),
                              std::make_shared<Bodies>(model_));
  }
  void forget() { root_.clear(); }

 private:
  static constexpr std::uint16_t space_id = 7;
  using PageMap = std::map<std::uint64_t, std::string>;

  class Pages : public PageSpace {
   public:
    explicit Pages(std::shared_ptr<const PageMap> pages)
        : PageSpace(space_id), pages_(std::move(pages)) {}

   protected:
    std::string read_page(std::uint64_t page) override {
      const auto found = pages_->find(page);
      if (found == pages_->end()) throw_corrupt_page(page, "it is not there");
      return found->second;
    }

   private:
    const std::shared_ptr<const PageMap> pages_;
  };
  class Bodies : public BodySource {
   public:
    explicit Bodies(const PlainModel& model) : model_(model) {}
    Message body(std::uint32_t ordinal) const override { return model_.log.at(ordinal); }

   private:
    const PlainModel& model_;
  };

  const PlainModel& model_;
  std::shared_ptr<PageMap> pages_ = std::make_shared<PageMap>();
  std::uint64_t next_page_ = 1;
  std::string root_;
};

// The last operation of `after`, from its record alone, carried out again on `before`.
inline History carried_out_again(const History& before, const History& after) {
  const History::Rep& rep = after.rep();
  const VersionRow row = rep.versions[rep.head_number()];
  RecordedOperation record{{op::Append{}, {}}};
  if (row.operation) {
    ByteOut out;
    write_record(out, *row.operation, KeptPart::present);
    ByteIn in(out.bytes, "an operation");
    record = read_record(in, KeptPart::present);
    in.end();
  }
  std::vector<StoredMessage> given;
  for (std::uint64_t o = before.rep().log.size(); o < rep.log.size(); ++o) {
    const StoredMessage& stored = rep.log.stored[o];
    given.emplace_back(rep.log.message(static_cast<std::uint32_t>(o)), stored.time_ms,
                       stored.tokens);
  }
  return replay(before, std::move(record), row.at_ms, given).value().history;
}

}  // namespace undertext
