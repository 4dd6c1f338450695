#include "history/client_list.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>

#include "base/text_hash.hpp"
#include "message/identity_text.hpp"

namespace undertext {
namespace {

// Where the first entry stands that is not less than `entry`.
std::uint64_t first_not_less(const ClientTree& sorted, const ClientEntry& entry) {
  std::uint64_t low = 0, high = sorted.size();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (sorted[middle] < entry) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

bool has(const ClientTree& sorted, const ClientEntry& entry, std::uint64_t& at) {
  at = first_not_less(sorted, entry);
  return at < sorted.size() && sorted[at] == entry;
}

void add(ClientTree& sorted, const ClientEntry& entry) {
  std::uint64_t at = 0;
  if (!has(sorted, entry, at)) sorted.splice(at, 0, {&entry, 1});
}

void remove(ClientTree& sorted, const ClientEntry& entry) {
  std::uint64_t at = 0;
  if (has(sorted, entry, at)) sorted.splice(at, 1, {});
}

}  // namespace

std::vector<std::uint32_t> ClientState::dropped_as(const Identity& identity,
                                                   std::uint64_t most) const {
  const std::uint64_t end = first_not_less(dropped, {identity, no_place});
  std::uint64_t begin = first_not_less(dropped, {identity, 0});
  begin = std::max(begin, end - std::min(end, most));
  std::vector<std::uint32_t> ordinals;
  for (std::uint64_t i = begin; i < end; ++i) ordinals.push_back(dropped[i].ordinal);
  return ordinals;
}

std::vector<std::uint32_t> ClientState::dropped_between(const Identity& identity,
                                                        std::uint64_t most, std::uint32_t begin,
                                                        std::uint32_t end) const {
  std::vector<std::uint32_t> ordinals;
  if (begin >= end) return ordinals;
  std::uint64_t at = first_not_less(dropped, {identity, begin});
  const std::uint64_t last = first_not_less(dropped, {identity, end});
  for (const std::uint64_t first_end = std::min(last, at + most); at < first_end; ++at)
    ordinals.push_back(dropped[at].ordinal);
  at = std::max(at, last - std::min(last, most));
  for (; at < last; ++at) ordinals.push_back(dropped[at].ordinal);
  return ordinals;
}

std::uint64_t ClientState::count_dropped_as(const Identity& identity) const {
  return first_not_less(dropped, {identity, no_place}) - first_not_less(dropped, {identity, 0});
}

bool ClientState::edit(const std::vector<ClientListEdit>& edits, const Work* work) {
  const auto go_on = [&] {
    if (work) work->go_on();
  };
  std::uint64_t end = 0;
  for (const ClientListEdit& edit : edits) {
    if (edit.start < end || edit.end < edit.start || edit.end > list.size()) return false;
    end = edit.end;
  }
  std::vector<ClientEntry> gone, come;
  for (auto edit = edits.rbegin(); edit != edits.rend(); ++edit) {
    go_on();
    for (std::uint64_t i = edit->start; i < edit->end; ++i) gone.push_back(list[i]);
    std::vector<ClientEntry> entries;
    for (const ClientListEntry& entry : edit->entries)
      entries.push_back({entry.identity, static_cast<std::uint32_t>(entry.ordinal)});
    come.insert(come.end(), entries.begin(), entries.end());
    list.splice(edit->start, edit->end - edit->start, entries);
  }
  std::unordered_set<std::uint32_t> still_there;
  for (const ClientEntry& entry : come) {
    go_on();
    still_there.insert(entry.ordinal);
    remove(dropped, entry);
  }
  for (const ClientEntry& entry : gone) {
    go_on();
    if (!still_there.contains(entry.ordinal)) add(dropped, entry);
  }
  return true;
}

void ClientState::leave_out(const std::vector<ClientListEntry>& entries) {
  for (const ClientListEntry& entry : entries)
    add(dropped, {entry.identity, static_cast<std::uint32_t>(entry.ordinal)});
}

void ClientState::save(PageOut& out) const {
  list.save(out);
  dropped.save(out);
  out.number(log_length);
  out.number(volatile_key);
}

ClientState ClientState::load(PageIn& in) {
  ClientState state;
  state.list = ClientTree::load(in);
  state.dropped = ClientTree::load(in);
  state.log_length = in.number32();
  state.volatile_key = in.number();
  return state;
}

std::uint64_t rows_up_to(const ClientRows& rows, std::uint64_t version) {
  std::uint64_t low = 0, high = rows.size();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    if (rows[middle].version <= version) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

std::uint64_t volatile_key(const VolatileParts& parts) {
  // To be raised where identity() answers something else than before: lists are then made again.
  constexpr int identity_version = 3;
  std::string all = std::to_string(identity_version) + '\n';
  for (const std::string& member : parts.members) (all += member) += '\n';
  all += '\n';
  for (const std::string& text : parts.system_texts) (all += text) += '\n';
  if (parts.nothing) all += "nothing";
  return text_hash(all);
}

void ItemCodec<ClientEntry>::write(PageOut& out, const ClientEntry* items, unsigned n) {
  std::int64_t before = -1;  // rises by one, mostly
  for (const ClientEntry* entry = items; entry != items + n; ++entry) {
    out.signed_number(static_cast<std::int64_t>(entry->ordinal) - before - 1);
    out.bytes += identity_bytes(entry->identity);
    before = entry->ordinal;
  }
}

std::vector<ClientEntry> ItemCodec<ClientEntry>::read(PageIn& in, unsigned n) {
  std::vector<ClientEntry> items;
  items.reserve(n);
  std::int64_t ordinal = -1;
  for (unsigned i = 0; i < n; ++i) {
    ordinal += in.signed_number() + 1;
    if (ordinal < 0 || ordinal >= static_cast<std::int64_t>(no_place))
      in.fail("an ordinal is out of range");
    items.push_back({*identity_of_bytes(in.raw(16)), static_cast<std::uint32_t>(ordinal)});
  }
  return items;
}

}  // namespace undertext
