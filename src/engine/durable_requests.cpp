// Rows of requests in the store of a conversation.
#include <algorithm>
#include <map>
#include <set>

#include "engine/durable.hpp"
#include "engine/request_log.hpp"

namespace undertext {

std::vector<RequestRow> Durable::requests(std::uint64_t first, std::uint64_t end,
                                          RequestBytes bytes) const {
  return store_->requests(id_, first, end, bytes).value();
}

std::uint64_t Durable::last_request() const { return store_->last_request(id_).value(); }

Result<void> Durable::put_request(RequestRow row) const {
  return store_->put_request({id_, std::move(row), record_.next_page});
}

Result<void> Durable::empty_requests_of(const std::string& id, const Removal& removal) {
  return store_->redact(id, {}, removal);
}

void Durable::empty_requests() const { store_->redact(id_, {}, {}).value(); }

std::vector<RequestRow> Durable::requests_without(const History& history,
                                                  std::uint32_t first_version,
                                                  const std::vector<bool>& goes) {
  const RequestRows rows(this);
  RecentTexts recent;
  return RequestTexts(rows, history, recent)
      .without(Version(first_version),
               [&](std::uint64_t ordinal) { return ordinal < goes.size() && goes[ordinal]; });
}

bool Durable::has_redacted(const std::vector<std::uint64_t>& ordinals) const {
  std::map<std::string, std::set<std::uint64_t>> redacted;  // by whose record it is
  for (const std::uint64_t ordinal : ordinals) {
    const std::string& owner = owner_of_message(ordinal);
    auto found = redacted.find(owner);
    if (found == redacted.end()) {
      found = redacted.emplace(owner, std::set<std::uint64_t>()).first;
      for (const RemovalRecord& removal : store_->removals(owner).value())
        if (removal.ordinal) found->second.insert(*removal.ordinal);
    }
    if (found->second.contains(ordinal)) return true;
  }
  return false;
}

}  // namespace undertext
