#include "history/client_references.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "message/item_id.hpp"

namespace undertext {
namespace {

using Items = std::unordered_map<std::string, std::optional<std::uint32_t>>;

// Answers are items of the provider's.
void find_items(const Log& log, Items& items) {
  StoredReader stored(log);
  std::size_t left = items.size();
  for (auto ordinal = static_cast<std::uint32_t>(log.size()); ordinal-- > 0 && left > 0;) {
    if (stored[ordinal].role() != Role::assistant) continue;
    const auto found = items.find(item_id(stored.message(ordinal)));
    if (found == items.end() || found->second) continue;
    found->second = ordinal;
    --left;
  }
}

// By ordinal, where identities are made as the request has them.
std::unordered_map<std::uint32_t, Identity> known_identities(const ClientState& client, const VolatileParts& parts) {
  std::unordered_map<std::uint32_t, Identity> known;
  if (client.volatile_key != volatile_key(parts)) return known;
  client.list.visit(
      0, client.list.size(), [](const NoSums&) { return true; },
      [&](std::uint64_t, const ClientEntry& entry) {
        known.emplace(entry.ordinal, entry.identity);
        return true;
      });
  return known;
}

Error no_message(std::size_t place) {
  Error error{ErrorCode::invalid_argument, "there is no message with this ordinal", "ordinal"};
  error.path = "messages[" + std::to_string(place) + "].ordinal";
  return error;
}

}  // namespace

bool has_references(const op::Reconcile& sent) {
  return std::any_of(sent.list.begin(), sent.list.end(),
                     [](const op::Reconcile::Sent& each) { return each.ordinal || !each.item.empty(); });
}

Result<op::Reconcile> with_references(const History::Rep& rep, const op::Reconcile& sent) {
  op::Reconcile all = sent;
  Items items;
  for (const op::Reconcile::Sent& each : all.list)
    if (!each.item.empty()) items.emplace(each.item, std::nullopt);
  find_items(rep.log, items);
  const std::unordered_map<std::uint32_t, Identity> known = known_identities(rep.client(), sent.volatile_parts);
  StoredReader stored(rep.log);
  for (std::size_t place = 0; place < all.list.size(); ++place) {
    op::Reconcile::Sent& each = all.list[place];
    if (!each.item.empty()) each.ordinal = items.at(each.item);
    if (!each.ordinal) continue;
    if (*each.ordinal >= rep.log.size()) return no_message(place);
    const auto ordinal = static_cast<std::uint32_t>(*each.ordinal);
    const auto found = known.find(ordinal);
    each.identity = found != known.end() ? found->second : identity(stored.message(ordinal), sent.volatile_parts);
  }
  return all;
}

}  // namespace undertext
