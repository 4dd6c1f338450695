#include "history/log.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "base/text_hash.hpp"

namespace undertext {

Link Link::of(const ToolLink& link, std::uint32_t ordinal) {
  const bool is_call = link.side == ToolLink::Side::call;
  return {(Log::hash_of(link.id) << 1) | (is_call ? 1 : 0), ordinal, is_call ? no_place : 0};
}

std::uint64_t Log::hash_of(std::string_view id) { return text_hash(id) >> 1; }

void Log::throw_no_message(std::uint64_t ordinal) {
  throw Failure(Error{ErrorCode::corrupt, "a version names a message with ordinal " +
                                              std::to_string(ordinal) +
                                              ", which the log does not have"});
}

std::uint64_t Log::first_note(std::uint64_t key) const {
  std::uint64_t found = notes.size();
  notes.visit(
      0, notes.size(), [&](const NoteSums& s) { return s.last_key >= key; },
      [&](std::uint64_t i, const LinkNote& note) {
        if (note.key() < key) return true;
        found = i;
        return false;
      });
  return found;
}

std::uint64_t Log::first_link(std::uint64_t ordinal) const { return first_from(links, ordinal); }

std::vector<Mention> Log::mentions(std::uint32_t ordinal, std::uint64_t first) const {
  std::vector<Mention> found;
  links.visit(
      first, links.size(), [](const LinkSums&) { return true; },
      [&](std::uint64_t, const Link& link) {
        if (link.ordinal != ordinal) return false;
        found.push_back({link.hash(), link.is_call(), !link.is_call()});
        return true;
      });
  if (found.size() < 2) return found;
  std::sort(found.begin(), found.end(),
            [](const Mention& a, const Mention& b) { return a.hash < b.hash; });
  std::size_t kept = 0;
  for (const Mention& mention : found) {
    if (kept > 0 && found[kept - 1].hash == mention.hash) {
      found[kept - 1].calls |= mention.calls;
      found[kept - 1].answers |= mention.answers;
    } else {
      found[kept++] = mention;
    }
  }
  found.resize(kept);
  return found;
}

std::vector<std::uint32_t> Log::waiting() const {
  std::vector<std::uint32_t> found;
  for (std::uint64_t from = 0; from < links.size();) {
    const bool none = links.visit(
        from, links.size(), [](const LinkSums& s) { return s.answered_max == no_place; },
        [&](std::uint64_t, const Link& link) {
          if (link.answered_at != no_place) return true;
          found.push_back(link.ordinal);
          return false;
        });
    if (none) break;
    from = first_link(std::uint64_t{found.back()} + 1);
  }
  return found;
}

void Log::set_answered(std::uint64_t link, std::uint32_t answered_at) {
  Link changed = links[link];
  changed.answered_at = answered_at;
  links.splice(link, 1, {&changed, 1});
}

void Log::add_links(std::uint32_t ordinal, const std::vector<ToolLink>& message_links) {
  const std::uint64_t first = links.size();
  for (const ToolLink& given : message_links) {
    const Link link = Link::of(given, ordinal);
    const LinkNote note = LinkNote::of(link.hash(), links.size());
    const std::uint64_t at = first_note(note.key());
    // of a link that was cut off
    const bool known = at < notes.size() && notes[at].key() == note.key();
    notes.splice(at, known ? 1 : 0, {&note, 1});
    links.push_back(link);
  }
  if (originals(ordinal)) return;  // what stands for a result brings none
  for (std::uint64_t i = first; i < links.size(); ++i) {
    const Link result = links[i];
    if (result.is_call()) continue;
    std::vector<std::uint64_t> answered;
    visit_mentions_below(result.hash(), std::uint64_t{ordinal} + 1,
                         [&](const Link& other, std::uint64_t index) {
                           // Calls before an earlier result are answered by that.
                           if (!other.is_call())
                             return other.ordinal == ordinal || originals(other.ordinal) != nullptr;
                           if (other.answered_at != no_place) return false;
                           answered.push_back(index);
                           return true;
                         });
    for (const std::uint64_t call : answered) set_answered(call, ordinal);
  }
}

std::uint32_t Log::store(const Message& message, std::int64_t now_ms, std::uint32_t tokens) {
  const auto ordinal = static_cast<std::uint32_t>(stored.size());
  StoredMessage next(message, message.timestamp_ms().value_or(now_ms),
                     std::min(tokens, tokens_per_message_max));
  const std::vector<ToolLink> message_links = message.tool_links();
  next.set_units(message, message_links);
  if (links_known) add_links(ordinal, message_links);
  stored.push_back(next);
  return ordinal;
}

void Log::cut(std::uint64_t length) {
  stored.splice(length, stored.size() - length, {});
  const std::uint64_t kept_links = first_link(length);
  links.splice(kept_links, links.size() - kept_links, {});
  // Notes stay: there may be very many, and the links tell which of them count. Calls whose results
  // are cut off wait again.
  std::vector<std::uint64_t> waiting_again;
  links.visit(
      0, links.size(), [&](const LinkSums& s) { return s.answered_max >= length; },
      [&](std::uint64_t i, const Link& link) {
        if (link.is_call() && link.answered_at >= length && link.answered_at != no_place)
          waiting_again.push_back(i);
        return true;
      });
  for (const std::uint64_t link : waiting_again) set_answered(link, no_place);
  for (MadeTree* const made : {&summaries, &copies}) {
    std::uint64_t kept = made->size();
    while (kept > 0 && (*made)[kept - 1].ordinal >= length) --kept;
    made->splice(kept, made->size() - kept, {});
  }
  order.cut(length);
  std::vector<std::uint64_t> gone;
  spans.visit(
      0, spans.size(), [&](const SpanSums& s) { return s.stand_in_max >= length; },
      [&](std::uint64_t i, const OriginalsSpan& span) {
        if (span.stand_in >= length) gone.push_back(i);
        return true;
      });
  while (!gone.empty()) {
    spans.splice(gone.back(), 1, {});
    gone.pop_back();
  }
}

namespace {

using SpanTree = HouseTree<OriginalsSpan, SpanSums>;

// Stretches of neighbours; what stands for them is yet to be named.
std::vector<OriginalsSpan> stretches_of(std::vector<std::uint32_t> originals) {
  std::sort(originals.begin(), originals.end());
  std::vector<OriginalsSpan> stretches;
  for (const std::uint32_t original : originals) {
    if (!stretches.empty() && stretches.back().end == original) {
      ++stretches.back().end;
    } else {
      stretches.push_back({original, original + 1, 0});
    }
  }
  return stretches;
}

std::uint64_t first_span_from(const SpanTree& spans, std::uint32_t first) {
  std::uint64_t found = spans.size();
  spans.visit(
      0, spans.size(), [&](const SpanSums& s) { return s.first_max >= first; },
      [&](std::uint64_t i, const OriginalsSpan& span) {
        if (span.first < first) return true;
        found = i;
        return false;
      });
  return found;
}

void add_stretches(SpanTree& spans, std::uint32_t stand_in,
                   const std::vector<OriginalsSpan>& stretches) {
  for (const OriginalsSpan& stretch : stretches) {
    const OriginalsSpan span{stretch.first, stretch.end, stand_in};
    spans.splice(first_span_from(spans, span.first), 0, {&span, 1});
  }
}

}  // namespace

void Log::note_summary(std::uint32_t ordinal, std::vector<std::uint32_t> originals) {
  if (order_known) add_spans(ordinal, originals);
  std::uint64_t at = summaries.size();  // nearly always behind all others
  while (at > 0 && summaries[at - 1].ordinal > ordinal) --at;
  const OriginalsNote note{ordinal, Shared<std::vector<std::uint32_t>>::make(std::move(originals))};
  summaries.splice(at, 0, {&note, 1});
}

void Log::note_copies(const std::vector<std::uint32_t>& made,
                      std::vector<std::uint32_t> originals) {
  const std::vector<OriginalsSpan> stretches = stretches_of(originals);
  for (const std::uint32_t copy : made) {
    go_on();
    add_stretches(spans, copy, stretches);
  }
  const auto shared = Shared<std::vector<std::uint32_t>>::make(std::move(originals));
  for (const std::uint32_t copy : made) copies.push_back({copy, shared});
}

void Log::add_spans(std::uint32_t stand_in, std::vector<std::uint32_t> originals) {
  add_stretches(spans, stand_in, stretches_of(std::move(originals)));
}

std::uint64_t Log::spans_from(std::uint32_t first) const { return first_span_from(spans, first); }

std::vector<std::uint32_t> Log::stand_ins_of(std::uint32_t ordinal) const {
  std::vector<std::uint32_t> makers;
  spans.visit(
      0, spans_from(ordinal + 1), [&](const SpanSums& s) { return s.end_max > ordinal; },
      [&](std::uint64_t, const OriginalsSpan& span) {
        if (span.end > ordinal) makers.push_back(span.stand_in);
        return true;
      });
  return makers;
}

namespace {

const std::vector<std::uint32_t>* originals_in(const Log::MadeTree& made, std::uint32_t ordinal) {
  std::uint64_t low = 0, high = made.size();
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    const OriginalsNote& note = made[middle];
    if (note.ordinal == ordinal) return &*note.originals;
    (note.ordinal < ordinal ? low : high) = note.ordinal < ordinal ? middle + 1 : middle;
  }
  return nullptr;
}

}  // namespace

const std::vector<std::uint32_t>* Log::originals(std::uint32_t ordinal) const {
  return originals_in(summaries, ordinal);
}

const std::vector<std::uint32_t>* Log::stands_for(std::uint32_t ordinal) const {
  const std::vector<std::uint32_t>* const found = originals_in(summaries, ordinal);
  return found ? found : originals_in(copies, ordinal);
}

void ItemCodec<OriginalsSpan>::write(PageOut& out, const OriginalsSpan* items, unsigned n) {
  std::uint32_t first = 0;  // never falls
  for (const OriginalsSpan* span = items; span != items + n; ++span) {
    out.number(span->first - first);
    out.number(span->end - span->first);
    out.number(span->stand_in - span->first);
    first = span->first;
  }
}

std::vector<OriginalsSpan> ItemCodec<OriginalsSpan>::read(PageIn& in, unsigned n) {
  std::vector<OriginalsSpan> items;
  items.reserve(n);
  std::uint64_t first = 0;
  for (unsigned i = 0; i < n; ++i) {
    first += in.number();
    const std::uint64_t end = first + in.number32(), stand_in = first + in.number32();
    if (first >= end || end > stand_in || stand_in >= no_place)
      in.fail("a message stands for what cannot be");
    items.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(end),
                     static_cast<std::uint32_t>(stand_in)});
  }
  return items;
}

void ItemCodec<Link>::write(PageOut& out, const Link* items, unsigned n) {
  std::uint32_t ordinal = 0;
  for (const Link* link = items; link != items + n; ++link) {
    out.number(link->ordinal - ordinal);
    out.number(link->hash_and_side);
    // The result of a call comes soon after it, as a rule.
    if (link->is_call())
      out.number(
          link->answered_at == no_place ? 0 : link->answered_at - link->ordinal + std::uint64_t{1});
    ordinal = link->ordinal;
  }
}

std::vector<Link> ItemCodec<Link>::read(PageIn& in, unsigned n) {
  std::vector<Link> items;
  items.reserve(n);
  std::uint64_t ordinal = 0;
  for (unsigned i = 0; i < n; ++i) {
    ordinal += in.number();
    if (ordinal >= no_place) in.fail("an ordinal is out of range");
    Link link{in.number(), static_cast<std::uint32_t>(ordinal), 0};
    if (link.is_call()) {
      const std::uint64_t answered = in.number();
      if (answered > no_place - ordinal) in.fail("a call is answered too late");
      link.answered_at =
          answered == 0 ? no_place : static_cast<std::uint32_t>(ordinal + answered - 1);
    }
    items.push_back(link);
  }
  return items;
}

void ItemCodec<LinkNote>::write(PageOut& out, const LinkNote* items, unsigned n) {
  std::uint32_t hash = 0;
  for (const LinkNote* note = items; note != items + n; ++note) {
    out.number(note->hash - hash);
    out.number(note->link);
    hash = note->hash;
  }
}

std::vector<LinkNote> ItemCodec<LinkNote>::read(PageIn& in, unsigned n) {
  std::vector<LinkNote> items;
  items.reserve(n);
  std::uint64_t hash = 0;
  for (unsigned i = 0; i < n; ++i) {
    hash += in.number();
    if (hash > std::numeric_limits<std::uint32_t>::max()) in.fail("a hash is out of range");
    items.push_back({static_cast<std::uint32_t>(hash), in.number32()});
  }
  return items;
}

// Mostly stretches of neighbours.
void ItemCodec<OriginalsNote>::write(PageOut& out, const OriginalsNote* items, unsigned n) {
  for (const OriginalsNote* note = items; note != items + n; ++note) {
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

std::vector<OriginalsNote> ItemCodec<OriginalsNote>::read(PageIn& in, unsigned n) {
  std::vector<OriginalsNote> items;
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
      if (run == 0 || run > size - originals.size() || first < 0 ||
          first + run > static_cast<std::int64_t>(ordinal)) {
        in.fail("a summary stands for what cannot be");
      }
      for (std::uint32_t i = 0; i < run; ++i)
        originals.push_back(static_cast<std::uint32_t>(first) + i);
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
  e.calls = stored.calls;
  e.reasons = stored.reasons;
  e.role_bits = stored.role_bits;
  e.set_time_ms(stored.time_ms);
  return e;
}

}  // namespace undertext
