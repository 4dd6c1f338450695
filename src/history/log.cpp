#include "history/log.hpp"

#include <algorithm>
#include <string>

#include "base/find_bytes.hpp"

namespace undertext {
namespace {

std::uint32_t side_of(const ToolLink& link) { return link.side == ToolLink::Side::call ? LinkNote::calls : LinkNote::answers; }

}  // namespace

std::vector<LinkedId> linked_ids(const std::vector<ToolLink>& links) {
  std::vector<LinkedId> ids;
  ids.reserve(links.size());
  for (const ToolLink& link : links) ids.push_back({link.id, side_of(link)});
  std::sort(ids.begin(), ids.end(), [](const LinkedId& a, const LinkedId& b) { return a.id < b.id; });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (kept > 0 && ids[kept - 1].id == ids[i].id) {
      ids[kept - 1].sides |= ids[i].sides;
    } else {
      ids[kept++] = ids[i];
    }
  }
  ids.resize(kept);
  return ids;
}

// FNV-1a, folded to 30 bits.
std::uint32_t Log::hash_of(std::string_view id) {
  std::uint32_t h = 2166136261u;
  for (const char c : id) h = (h ^ static_cast<unsigned char>(c)) * 16777619u;
  return (h ^ (h >> 30)) & 0x3fffffffu;
}

void Log::throw_no_message(std::uint64_t ordinal) {
  throw Failure(Error{ErrorCode::corrupt,
                      "a version names a message with ordinal " + std::to_string(ordinal) + ", which the log does not have"});
}

std::uint64_t Log::first_note(std::uint64_t key) const {
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

std::uint32_t Log::sides_of(const LinkNote& note, std::string_view id) const {
  if (note.ordinal >= size()) return 0;
  const Message noted = message(note.ordinal);
  const std::string_view json = noted.json();
  if (!has_stale_notes && json.find('\\') == std::string_view::npos) {
    // Without escapes the id would stand there as it is; so most messages need not be parsed.
    std::string quoted = "\"";
    (quoted += id) += '"';
    return find_bytes(json, quoted) != std::string_view::npos ? note.sides() : 0;
  }
  std::uint32_t sides = 0;
  for (const ToolLink& link : noted.tool_links()) {
    if (link.id == id) sides |= side_of(link);
  }
  return sides;
}

std::uint32_t Log::store(const Message& message, const std::vector<ToolLink>& message_links, std::int64_t now_ms,
                         std::uint32_t tokens) {
  const auto ordinal = static_cast<std::uint32_t>(stored.size());
  stored.push_back(StoredMessage(message, message.timestamp_ms().value_or(now_ms), std::min(tokens, tokens_per_message_max)));
  for (const LinkedId& linked : linked_ids(message_links)) {
    const LinkNote note{(hash_of(linked.id) << 2) | linked.sides, ordinal};
    const std::uint64_t at = first_note(note.key());
    const bool known = at < links.size() && links[at].key() == note.key();
    links.splice(at, known ? 1 : 0, {&note, 1});
  }
  return ordinal;
}

void Log::cut(std::uint64_t length) {
  // Notes of tool-call ids stay: there may be very many, and whoever uses one looks into the message.
  has_stale_notes = has_stale_notes || length < stored.size();
  stored.splice(length, stored.size() - length, {});
  std::uint64_t kept = summaries.size();
  while (kept > 0 && summaries[kept - 1].ordinal >= length) --kept;
  summaries.splice(kept, summaries.size() - kept, {});
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

void ItemCodec<LinkNote>::write(PageOut& out, const LinkNote* items, unsigned n) {
  std::uint32_t hash = 0;
  for (const LinkNote* note = items; note != items + n; ++note) {
    out.number((static_cast<std::uint64_t>(note->hash() - hash) << 2) | note->sides());
    out.number(note->ordinal);
    hash = note->hash();
  }
}

std::vector<LinkNote> ItemCodec<LinkNote>::read(PageIn& in, unsigned n) {
  std::vector<LinkNote> items;
  items.reserve(n);
  std::uint64_t hash = 0;
  for (unsigned i = 0; i < n; ++i) {
    const std::uint64_t more = in.number();
    hash += more >> 2;
    if (hash > 0x3fffffffu) in.fail("a hash is out of range");
    items.push_back({static_cast<std::uint32_t>((hash << 2) | (more & 3)), in.number32()});
  }
  return items;
}

// Mostly stretches of neighbours.
void ItemCodec<SummaryNote>::write(PageOut& out, const SummaryNote* items, unsigned n) {
  for (const SummaryNote* note = items; note != items + n; ++note) {
    out.number(note->ordinal);
    const std::vector<std::uint32_t>& originals = *note->originals;
    out.number(originals.size());
    std::uint32_t before = 0;
    for (std::size_t i = 0; i < originals.size();) {
      std::size_t run = 1;
      while (i + run < originals.size() && originals[i + run] == originals[i] + run) ++run;
      out.signed_number(static_cast<std::int64_t>(originals[i]) - before);
      out.number(run);
      before = originals[i];
      i += run;
    }
  }
}

std::vector<SummaryNote> ItemCodec<SummaryNote>::read(PageIn& in, unsigned n) {
  std::vector<SummaryNote> items;
  items.reserve(n);
  for (unsigned k = 0; k < n; ++k) {
    const std::uint32_t ordinal = in.number32();
    const std::uint32_t size = in.number32();
    if (size > ordinal) in.fail("a summary stands for more than was there");
    std::vector<std::uint32_t> originals;
    std::int64_t first = 0;
    while (originals.size() < size) {
      first += in.signed_number();
      const std::uint32_t run = in.number32();
      if (run == 0 || run > size - originals.size() || first < 0 || first + run > static_cast<std::int64_t>(ordinal)) {
        in.fail("a summary stands for what cannot be");
      }
      for (std::uint32_t i = 0; i < run; ++i) originals.push_back(static_cast<std::uint32_t>(first) + i);
    }
    items.push_back({ordinal, Shared<std::vector<std::uint32_t>>::make(std::move(originals))});
  }
  return items;
}

Entry entry_of(const StoredMessage& stored, std::uint32_t ordinal, std::uint32_t place) {
  Entry e{};
  e.ordinal = ordinal;
  e.place = place;
  e.reach = no_place;
  e.bytes = stored.bytes;
  e.tokens = stored.tokens & tokens_per_message_max;
  e.role_bits = stored.role_bits;
  e.set_time_ms(stored.time_ms);
  return e;
}

}  // namespace undertext
