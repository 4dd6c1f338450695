#include "history/log.hpp"

#include <algorithm>

namespace undertext {
namespace {

// FNV-1a. Equal hashes are told apart by reading the messages, so that nothing but speed depends on it.
std::uint32_t hash_of(std::string_view id) {
  std::uint32_t h = 2166136261u;
  for (const char c : id) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return h;
}

// Where the first note at or after `note` stands.
std::uint64_t lower_bound(const HouseTree<LinkNote, LinkSums>& links, const LinkNote& note) {
  std::uint64_t found = links.size();
  links.visit(
      0, links.size(), [&](const LinkSums& s) { return s.last >= note; },
      [&](std::uint64_t i, const LinkNote& n) {
        if (n < note) return true;
        found = i;
        return false;
      });
  return found;
}

}  // namespace

std::uint32_t Log::store(const Message& message, std::int64_t now_ms, std::uint32_t tokens) {
  const auto ordinal = static_cast<std::uint32_t>(stored.size());
  stored.push_back({message, message.timestamp_ms().value_or(now_ms), std::min(tokens, tokens_per_message_max)});
  if (message.has_tool_links()) {
    for (const ToolLink& link : message.tool_links()) {
      const LinkNote note{hash_of(link.id), ordinal};
      const std::uint64_t at = lower_bound(links, note);
      if (at == links.size() || links[at] != note) links.splice(at, 0, {&note, 1});
    }
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

std::vector<std::uint32_t> Log::mentions(std::string_view id, std::uint32_t around) const {
  const std::uint32_t hash = hash_of(id);
  const std::uint64_t middle = lower_bound(links, {hash, around});
  std::vector<std::uint32_t> found;
  links.visit_back(
      0, middle, [](const LinkSums&) { return true; },
      [&](std::uint64_t, const LinkNote& note) {
        if (note.hash == hash) found.push_back(note.ordinal);
        return note.hash == hash && found.size() < mentions_max / 2;
      });
  std::reverse(found.begin(), found.end());
  links.visit(
      middle, links.size(), [](const LinkSums&) { return true; },
      [&](std::uint64_t, const LinkNote& note) {
        if (note.hash == hash) found.push_back(note.ordinal);
        return note.hash == hash && found.size() < mentions_max;
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
