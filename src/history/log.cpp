#include "history/log.hpp"

#include <algorithm>

#include "base/find_bytes.hpp"

namespace undertext {
namespace {

// FNV-1a, folded to 30 bits. Messages of different ids with equal hashes are told apart by reading them.
std::uint32_t hash_of(std::string_view id) {
  std::uint32_t h = 2166136261u;
  for (const char c : id) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return (h ^ (h >> 30)) & 0x3fffffffu;
}

// Where the first note at or after `key` stands.
std::uint64_t lower_bound(const HouseTree<LinkNote, LinkSums>& links, std::uint64_t key) {
  std::uint64_t found = links.size();
  links.visit(
      0, links.size(), [&](const LinkSums& s) { return s.last_key >= key; },
      [&](std::uint64_t i, const LinkNote& note) {
        if (note.key() < key) return true;
        found = i;
        return false;
      });
  return found;
}

// Whether the message mentions the id, of which it is known to mention one with the same hash.
bool mentions_id(const Message& message, std::string_view id) {
  const std::string_view json = message.json();
  std::string quoted = "\"";
  (quoted += id) += '"';
  if (find_bytes(json, quoted) != std::string_view::npos) return true;
  if (json.find('\\') == std::string_view::npos) return false;  // without escapes the id would stand there as it is
  for (const ToolLink& link : message.tool_links()) {
    if (link.id == id) return true;
  }
  return false;
}

}  // namespace

std::uint32_t Log::store(const Message& message, const std::vector<ToolLink>& message_links, std::int64_t now_ms,
                         std::uint32_t tokens) {
  const auto ordinal = static_cast<std::uint32_t>(stored.size());
  stored.push_back({message, message.timestamp_ms().value_or(now_ms), std::min(tokens, tokens_per_message_max)});
  for (const ToolLink& link : message_links) {
    LinkNote note{(hash_of(link.id) << 2) | (link.side == ToolLink::Side::call ? LinkNote::calls : LinkNote::answers), ordinal};
    const std::uint64_t at = lower_bound(links, note.key());
    const bool known = at < links.size() && links[at].key() == note.key();
    if (known) note.hash_and_sides |= links[at].sides();
    links.splice(at, known ? 1 : 0, {&note, 1});
  }
  return ordinal;
}

void Log::note_summary(std::uint32_t ordinal, std::vector<std::uint32_t> originals) {
  summaries.push_back({ordinal, Shared<std::vector<std::uint32_t>>::make(std::move(originals))});
}

const std::vector<std::uint32_t>* Log::originals(std::uint32_t ordinal) const {
  std::uint64_t low = 0, high = summaries.size();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const SummaryNote& note = summaries[middle];
    if (note.ordinal == ordinal) return &*note.originals;
    (note.ordinal < ordinal ? low : high) = note.ordinal < ordinal ? middle + 1 : middle;
  }
  return nullptr;
}

std::vector<LinkNote> Log::mentions(std::string_view id, std::uint32_t around) const {
  const std::uint32_t hash = hash_of(id);
  const std::uint64_t middle = lower_bound(links, (static_cast<std::uint64_t>(hash) << 32) | around);
  std::vector<LinkNote> found;
  const auto add = [&](const LinkNote& note) {
    // A note of a message that this conversation forked off before is of no use here.
    if (note.ordinal < size() && mentions_id(message(note.ordinal), id)) found.push_back(note);
  };
  links.visit_back(
      0, middle, [](const LinkSums&) { return true; },
      [&](std::uint64_t, const LinkNote& note) {
        if (note.hash() == hash) add(note);
        return note.hash() == hash && found.size() < mentions_max / 2;
      });
  std::reverse(found.begin(), found.end());
  links.visit(
      middle, links.size(), [](const LinkSums&) { return true; },
      [&](std::uint64_t, const LinkNote& note) {
        if (note.hash() == hash) add(note);
        return note.hash() == hash && found.size() < mentions_max;
      });
  return found;
}

Entry entry_of(const StoredMessage& stored, std::uint32_t ordinal, std::uint32_t place) {
  Entry e{};
  e.ordinal = ordinal;
  e.place = place;
  e.reach = no_place;
  e.bytes = static_cast<std::uint32_t>(stored.message.json().size());
  e.tokens = stored.tokens & tokens_per_message_max;
  e.role_bits = static_cast<unsigned>(stored.message.role()) & 3u;
  e.set_time_ms(stored.time_ms);
  return e;
}

}  // namespace undertext
