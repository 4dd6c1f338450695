// What the requests that a gateway recorded cost so far, for Prometheus. By tenant and by row of
// the table of models: nothing that a client could make more of.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include <undertext/conversation.hpp>
#include <undertext/ledger.hpp>

namespace undertext {

// Any thread may call it.
class MoneyCounts {
 public:
  // The newest request of the conversation has been recorded. May throw Failure.
  void recorded(const std::string& tenant, const Conversation& conversation);
  std::string text() const;  // in the format of Prometheus

 private:
  struct Count {
    LedgerTotals totals;
    std::uint64_t findings = 0;
  };
  static constexpr std::size_t counts_max = 1000;  // any further tenant is counted as "other"
  mutable std::mutex mutex_;
  // by tenant and model; guarded by mutex_
  std::map<std::pair<std::string, std::string>, Count> counts_;
};

}  // namespace undertext
