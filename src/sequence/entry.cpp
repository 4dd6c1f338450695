#include "sequence/entry.hpp"

namespace undertext {
namespace {

// A message that was appended stands at the place of its own ordinal, and most follow one another;
// so most of an entry is the one before it and a little more.
std::int64_t difference(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::int64_t>(a) - static_cast<std::int64_t>(b);
}

std::uint32_t sum(PageIn& in, std::uint32_t to) {
  const std::int64_t n = static_cast<std::int64_t>(to) + in.signed_number();
  if (n < 0 || n > static_cast<std::int64_t>(no_place)) in.fail("a number is out of range");
  return static_cast<std::uint32_t>(n);
}

std::int64_t time_difference(std::int64_t a, std::int64_t b) {  // wraps around, and back
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}
std::int64_t time_sum(PageIn& in, std::int64_t to) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(to) +
                                   static_cast<std::uint64_t>(in.signed_number()));
}

std::uint32_t read_tokens(PageIn& in) {
  const std::uint32_t tokens = in.number32();
  constexpr std::uint32_t written_max = (1u << 30) - 1;  // by the first releases
  if (tokens > written_max) in.fail("a count of tokens is out of range");
  return std::min(tokens, tokens_per_message_max);
}

// The role, and what else is known of a message, in bits.
constexpr std::uint32_t role_mask = 3, with_place = 4, with_reach = 8, with_calls = 16,
                        with_reasoning = 32;

// What follows in the sums of entries, in bits.
constexpr std::uint64_t sums_with_reach = 1, sums_with_units = 2;

template <class Item>
std::uint32_t kind_of(const Item& item) {
  return item.role_bits | (item.calls ? with_calls : 0u) | (item.reasons ? with_reasoning : 0u);
}

template <class Item>
std::uint32_t read_kind(PageIn& in, std::uint32_t known, Item& item) {
  const std::uint32_t kind = in.number32();
  if ((kind & ~known) != 0) in.fail("there is no such kind of message");
  item.role_bits = kind & role_mask;
  item.calls = (kind & with_calls) != 0;
  item.reasons = (kind & with_reasoning) != 0;
  return kind;
}

}  // namespace

void StoredMessage::set_units(const Message& message, const std::vector<ToolLink>& links) {
  const auto is_call = [](const ToolLink& link) { return link.side == ToolLink::Side::call; };
  calls = role() == Role::assistant && std::any_of(links.begin(), links.end(), is_call);
  reasons = message.has_reasoning();
}

void ItemCodec<Entry>::write(PageOut& out, const Entry* items, unsigned n) {
  std::uint32_t ordinal = 0;
  std::int64_t time = 0;
  for (const Entry* e = items; e != items + n; ++e) {
    out.number(kind_of(*e) | (e->place != e->ordinal ? with_place : 0u) |
               (e->reach != no_place ? with_reach : 0u));
    out.signed_number(difference(e->ordinal, ordinal));
    if (e->place != e->ordinal) out.signed_number(difference(e->place, e->ordinal));
    if (e->reach != no_place) out.signed_number(difference(e->reach, e->ordinal));
    out.number(e->bytes);
    out.number(e->tokens);
    out.signed_number(time_difference(e->time_ms(), time));
    ordinal = e->ordinal;
    time = e->time_ms();
  }
}

std::vector<Entry> ItemCodec<Entry>::read(PageIn& in, unsigned n) {
  std::vector<Entry> items;
  items.reserve(n);
  std::uint32_t ordinal = 0;
  std::int64_t time = 0;
  for (unsigned i = 0; i < n; ++i) {
    Entry e{};
    const std::uint32_t kind =
        read_kind(in, role_mask | with_place | with_reach | with_calls | with_reasoning, e);
    e.ordinal = ordinal = sum(in, ordinal);
    e.place = (kind & with_place) != 0 ? sum(in, ordinal) : ordinal;
    e.reach = (kind & with_reach) != 0 ? sum(in, ordinal) : no_place;
    e.bytes = in.number32();
    e.tokens = read_tokens(in) & tokens_per_message_max;
    time = time_sum(in, time);
    e.set_time_ms(time);
    items.push_back(e);
  }
  return items;
}

void ItemCodec<StoredMessage>::write(PageOut& out, const StoredMessage* items, unsigned n) {
  std::int64_t time = 0;
  for (const StoredMessage* m = items; m != items + n; ++m) {
    out.number(kind_of(*m));
    out.number(m->bytes);
    out.number(m->tokens);
    out.signed_number(time_difference(m->time_ms, time));
    time = m->time_ms;
  }
}

std::vector<StoredMessage> ItemCodec<StoredMessage>::read(PageIn& in, unsigned n) {
  std::vector<StoredMessage> items;
  items.reserve(n);
  std::int64_t time = 0;
  for (unsigned i = 0; i < n; ++i) {
    StoredMessage m;
    read_kind(in, role_mask | with_calls | with_reasoning, m);
    m.bytes = in.number32();
    m.tokens = read_tokens(in) & tokens_per_message_max;
    time = time_sum(in, time);
    m.time_ms = time;
    items.push_back(std::move(m));
  }
  return items;
}

void SumsCodec<MessageSums>::write(PageOut& out, const MessageSums& sums) {
  for (std::size_t r = 0; r < role_count; ++r) {
    out.number(sums.role_counts[r]);
    if (sums.role_counts[r] > 0) out.number(sums.role_tokens[r]);
  }
  out.number(sums.bytes);
  out.signed_number(sums.time_min);
  out.signed_number(time_difference(sums.time_max, sums.time_min));
}

MessageSums SumsCodec<MessageSums>::read(PageIn& in) {
  MessageSums sums;
  for (std::size_t r = 0; r < role_count; ++r) {
    sums.role_counts[r] = in.number32();
    if (sums.role_counts[r] > 0) sums.role_tokens[r] = in.number();
  }
  sums.bytes = in.number();
  sums.time_min = in.signed_number();
  sums.time_max = time_sum(in, sums.time_min);
  return sums;
}

void SumsCodec<EntrySums>::write(PageOut& out, const EntrySums& sums) {
  SumsCodec<MessageSums>::write(out, sums);
  out.number(sums.ordinal_min);
  out.signed_number(difference(sums.ordinal_max, sums.ordinal_min));
  out.signed_number(difference(sums.place_max, sums.ordinal_max));
  const bool has_units = sums.call_count > 0 || sums.reasoning_count > 0;
  out.number((sums.reach_min != no_place ? sums_with_reach : 0) |
             (has_units ? sums_with_units : 0));
  if (sums.reach_min != no_place) out.number(sums.reach_min);
  if (has_units) {
    out.number(sums.call_count);
    out.number(sums.reasoning_count);
  }
}

EntrySums SumsCodec<EntrySums>::read(PageIn& in) {
  EntrySums sums;
  static_cast<MessageSums&>(sums) = SumsCodec<MessageSums>::read(in);
  sums.ordinal_min = in.number32();
  sums.ordinal_max = sum(in, sums.ordinal_min);
  sums.place_max = sum(in, sums.ordinal_max);
  const std::uint64_t parts = in.number();
  if (parts > (sums_with_reach | sums_with_units)) in.fail("there are no such sums");
  sums.reach_min = (parts & sums_with_reach) != 0 ? in.number32() : no_place;
  if ((parts & sums_with_units) != 0) {
    sums.call_count = in.number32();
    sums.reasoning_count = in.number32();
  }
  return sums;
}

}  // namespace undertext
