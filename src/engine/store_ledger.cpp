#include <undertext/store_ledger.hpp>

#include <limits>
#include <string>
#include <utility>

#include <undertext/conversation.hpp>

#include "base/answering_failure.hpp"

namespace undertext {
namespace {

// Whether the conversation has a record of that time. Bodies stay where they are.
Result<bool> has_records(Store& store, const std::string& id, const LedgerQuery& query,
                         const Work* work) {
  for (std::uint64_t first = 1;;) {
    if (work) work->go_on();
    const Result<std::vector<RequestRow>> rows =
        store.requests(id, first, std::numeric_limits<std::uint64_t>::max(), RequestBytes::without);
    if (!rows) return rows.error();
    if (rows->empty()) return false;
    for (const RequestRow& row : *rows)
      if (row.at_ms >= query.from_ms && (!query.to_ms || row.at_ms < *query.to_ms)) return true;
    first = rows->back().number + 1;
  }
}

Result<void> add_conversation(const std::shared_ptr<Store>& store, const std::string& id,
                              const LedgerQuery& query, const std::shared_ptr<Work>& work,
                              std::vector<LedgerRow>& rows) {
  const Result<bool> has = has_records(*store, id, query, work.get());
  if (!has) return has.error();
  if (!*has) return {};
  const Result<Conversation> conversation =
      Conversation::open(store, id, {}, {.make = OpenOptions::Make::never});
  if (!conversation) return conversation.error();
  const Result<Ledger> ledger = conversation->ledger(query, work);
  if (!ledger) return ledger.error();
  add_rows(rows, ledger->days);
  return {};
}

}  // namespace

Result<std::vector<LedgerRow>> store_ledger(const std::shared_ptr<Store>& store,
                                            const LedgerQuery& query,
                                            const std::shared_ptr<Work>& work) {
  return answering_failure([&]() -> Result<std::vector<LedgerRow>> {
    std::vector<LedgerRow> rows;
    ListOptions list{.limit = 1000};
    for (;;) {
      const Result<std::vector<ConversationRecord>> some = store->list(list);
      if (!some) return some.error();
      for (const ConversationRecord& record : *some) {
        const Result<void> added = add_conversation(store, record.id, query, work, rows);
        if (!added && added.error().code != ErrorCode::not_found) return added.error();
      }
      if (some->size() < list.limit) return rows;
      list.after = some->back().id;
    }
  });
}

}  // namespace undertext
