#include "history/client_references.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "history/client_match.hpp"
#include "message/item_id.hpp"

namespace undertext {
namespace {

// Finds the messages that a request names by the ids of items: answers of the provider's. What the
// client named before stands as far from the beginning or the end of its list as then; what it was
// answered since stands behind that list. Only an item that it names for the first time is looked
// for in all of the log, and where it is not there only once: then the list has its name.
class ItemFinder {
 public:
  ItemFinder(const Log& log, const ClientState& client)
      : log_(log), client_(client), stored_(log) {}

  void find(std::vector<op::Reconcile::Sent>& list) {
    Items named, fresh;
    const auto listed = static_cast<std::int64_t>(client_.list.size());
    std::int64_t before = 0;  // how many more messages the client's list has before this place
    const std::int64_t in_all = listed - static_cast<std::int64_t>(list.size());
    for (std::size_t place = 0; place < list.size(); ++place) {
      op::Reconcile::Sent& each = list[place];
      if (each.item.empty()) continue;
      Seen seen = Seen::nothing;
      for (const std::int64_t more : {before, in_all}) {
        const std::int64_t at = static_cast<std::int64_t>(place) + more;
        if (at < 0 || at >= listed) continue;
        seen = look(static_cast<std::uint64_t>(at), each);
        if (seen == Seen::nothing) continue;
        before = more;
        break;
      }
      if (seen == Seen::nothing) fresh.emplace(each.item, std::nullopt);
      if (seen == Seen::name) named.emplace(each.item, std::nullopt);
    }
    Items& answered = named;  // of the newest messages both are looked for
    answered.insert(fresh.begin(), fresh.end());
    find_from(client_.log_length, static_cast<std::uint32_t>(log_.size()), answered);
    for (auto& [item, ordinal] : fresh) ordinal = answered.at(item);
    std::erase_if(fresh, [](const auto& each) { return each.second.has_value(); });
    find_from(0, client_.log_length, fresh);
    for (op::Reconcile::Sent& each : list) {
      if (each.item.empty() || each.ordinal) continue;
      for (const Items* const items : {&answered, &fresh})
        if (const auto found = items->find(each.item); found != items->end() && found->second)
          each.ordinal = found->second;
    }
  }

 private:
  using Items = std::unordered_map<std::string, std::optional<std::uint32_t>>;
  enum class Seen : std::uint8_t { nothing, name, item };

  Seen look(std::uint64_t at, op::Reconcile::Sent& sent) {
    const std::uint32_t ordinal = client_.list[at].ordinal;
    const Message& message = stored_.message(ordinal);
    if (referenced_item(message) == sent.item) return Seen::name;
    if (message.role() != Role::assistant || item_id(message) != sent.item) return Seen::nothing;
    sent.ordinal = ordinal;
    return Seen::item;
  }

  // The last one of each in [begin, end).
  void find_from(std::uint32_t begin, std::uint32_t end, Items& items) {
    std::size_t left = items.size();
    for (std::uint32_t ordinal = end; ordinal-- > begin && left > 0;) {
      if (stored_[ordinal].role() != Role::assistant) continue;
      const auto found = items.find(item_id(stored_.message(ordinal)));
      if (found == items.end() || found->second) continue;
      found->second = ordinal;
      --left;
    }
  }

  const Log& log_;
  const ClientState& client_;
  StoredReader stored_;
};

// By ordinal, where identities are made as the request has them.
std::unordered_map<std::uint32_t, Identity> known_identities(const ClientState& client,
                                                             const VolatileParts& parts) {
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

bool has_references(const op::Reconcile& sent, std::uint64_t first) {
  add_messages_walked(sent.list.size() - first);
  return std::any_of(sent.list.begin() + static_cast<std::ptrdiff_t>(first), sent.list.end(),
                     is_reference);
}

Result<op::Reconcile> with_references(const History::Rep& rep, const op::Reconcile& sent) {
  op::Reconcile all = sent;
  const ClientState client = rep.client();
  ItemFinder(rep.log, client).find(all.list);
  const std::unordered_map<std::uint32_t, Identity> known =
      known_identities(client, sent.volatile_parts);
  StoredReader stored(rep.log);
  for (std::size_t place = 0; place < all.list.size(); ++place) {
    op::Reconcile::Sent& each = all.list[place];
    if (!each.ordinal) continue;
    if (*each.ordinal >= rep.log.size()) return no_message(place);
    const auto ordinal = static_cast<std::uint32_t>(*each.ordinal);
    const auto found = known.find(ordinal);
    each.identity = found != known.end() ? found->second
                                         : identity(stored.message(ordinal), sent.volatile_parts);
  }
  return all;
}

}  // namespace undertext
