#include "history/saved.hpp"

#include <algorithm>

#include "history/operation_bytes.hpp"

namespace undertext {
namespace {

// 1: links of fewer kinds of calls, as pages that are not read any more. 2: no order of the log. 3:
// no client list; where there is none, it is still written, so that older releases read it.
constexpr std::uint64_t first_format = 1, format_without_order = 2, format_without_clients = 3,
                        format = 4;

void save_view(PageOut& out, const PlacedView& view) {
  view.entries.save(out);
  view.places.save(out);
}

PlacedView load_view(PageIn& in) {
  PlacedView view;
  view.entries = EntryTree::load(in);
  view.places = PlaceTree::load(in);
  return view;
}

void save_state(PageOut& out, const State& state) {
  out.number(state.log_length);
  state.view.save(out);
  state.frame->batches.save(out);
  state.frame->marks.save(out);
  state.frame->places.save(out);
}

State load_state(PageIn& in) {
  State state;
  state.log_length = in.number32();
  state.view = EntryTree::load(in);
  BatchTree batches = BatchTree::load(in);
  Marks marks = Marks::load(in);
  PlaceTree places = PlaceTree::load(in);
  state.frame = Shared<Frame>::make(std::move(batches), std::move(marks), std::move(places));
  return state;
}

// Items that hold trees are written from the last: later ones hold longer tails, and the page of a
// longer tail serves for a shorter one.
template <class Item, class Save>
void write_from_last(PageOut& out, const Item* items, unsigned n, Save save) {
  std::vector<std::string> parts(n);
  for (unsigned i = n; i-- > 0;) {
    PageOut part(out.writer);
    save(part, items[i]);
    parts[i] = std::move(part.bytes);
  }
  for (const std::string& part : parts) out.bytes += part;
}

void write_optional(ByteOut& out, const std::optional<std::uint32_t>& number) {
  out.number(number ? *number + std::uint64_t{1} : 0);
}
std::optional<std::uint32_t> read_optional(ByteIn& in) {
  const std::uint64_t number = in.number();
  if (number == 0) return {};
  if (number > no_place) in.fail("a version is out of range");
  return static_cast<std::uint32_t>(number - 1);
}

}  // namespace

void ItemCodec<Batch>::write(PageOut& out, const Batch* items, unsigned n) {
  write_from_last(out, items, n, [](PageOut& part, const Batch& batch) {
    part.number(batch.boundary);
    part.number(batch.opened_in);
    save_view(part, batch.before);
  });
}

std::vector<Batch> ItemCodec<Batch>::read(PageIn& in, unsigned n) {
  std::vector<Batch> items;
  items.reserve(n);
  for (unsigned i = 0; i < n; ++i) {
    const std::uint32_t boundary = in.number32();
    const std::uint32_t opened_in = in.number32();
    items.push_back({boundary, opened_in, load_view(in)});
  }
  return items;
}

void ItemCodec<State>::write(PageOut& out, const State* items, unsigned n) {
  write_from_last(out, items, n, save_state);
}

std::vector<State> ItemCodec<State>::read(PageIn& in, unsigned n) {
  std::vector<State> items;
  items.reserve(n);
  for (unsigned i = 0; i < n; ++i) items.push_back(load_state(in));
  return items;
}

void ItemCodec<ClientRow>::write(PageOut& out, const ClientRow* items, unsigned n) {
  write_from_last(out, items, n, [](PageOut& part, const ClientRow& row) {
    part.number(row.version);
    row.state.save(part);
  });
}

std::vector<ClientRow> ItemCodec<ClientRow>::read(PageIn& in, unsigned n) {
  std::vector<ClientRow> items;
  items.reserve(n);
  for (unsigned i = 0; i < n; ++i) {
    const std::uint32_t version = in.number32();
    items.push_back({version, ClientState::load(in)});
  }
  return items;
}

void ItemCodec<VersionRow>::write(PageOut& out, const VersionRow* items, unsigned n) {
  VersionRow before;
  for (const VersionRow* row = items; row != items + n; ++row) {
    out.signed_number(row->at_ms - before.at_ms);
    out.number(row->log_length - before.log_length);
    out.number(row->state - before.state);
    out.flag(static_cast<bool>(row->operation));
    if (row->operation) {
      write_record(out, *row->operation, KeptPart::absent);
      write_optional(out, row->operation->restores);
      write_optional(out, row->operation->undo);
      write_optional(out, row->operation->redo);
    }
    before = *row;
  }
}

std::vector<VersionRow> ItemCodec<VersionRow>::read(PageIn& in, unsigned n) {
  std::vector<VersionRow> items;
  items.reserve(n);
  VersionRow row;
  for (unsigned i = 0; i < n; ++i) {
    row.at_ms += in.signed_number();
    row.log_length += in.number32();
    row.state += in.number32();
    row.operation = {};
    if (in.flag()) {
      RecordedOperation record = read_record(in, KeptPart::absent);
      const std::optional<std::uint32_t> restores = read_optional(in), undo = read_optional(in),
                                         redo = read_optional(in);
      row.operation = Shared<LinkedOperation>::make(std::move(record), restores, undo, redo);
    }
    items.push_back(row);
  }
  return items;
}

std::string SavedHistory::save(const History::Rep& rep, PageWriter& writer) {
  PageOut out(writer);
  out.number(rep.clients.empty() ? format_without_clients : format);
  out.number(rep.first_version);
  out.number(rep.first_state);
  save_state(out, rep.head);  // first: it holds the longest tails
  rep.states.save(out);
  rep.versions.save(out);
  rep.log.stored.save(out);
  rep.log.summaries.save(out);
  out.flag(rep.log.links_known);
  rep.log.links.save(out);
  rep.log.notes.save(out);
  out.flag(rep.log.order_known);
  rep.log.order.save(out);
  rep.log.copies.save(out);
  rep.log.spans.save(out);
  if (!rep.clients.empty()) rep.clients.save(out);
  return std::move(out.bytes);
}

History SavedHistory::load(std::string_view root, std::shared_ptr<PageSpace> space,
                           std::shared_ptr<const BodySource> bodies) {
  PageIn in(root, std::move(space), 0);
  const std::uint64_t written = in.number();
  if (written < first_format || written > format) {
    throw Failure(Error{ErrorCode::unsupported,
                        "this conversation was stored in format " + std::to_string(written) +
                            ", which this version does not know; use a newer one"});
  }
  auto rep = std::make_shared<History::Rep>();
  rep->first_version = in.number32();
  rep->first_state = in.number32();
  rep->head = load_state(in);
  rep->states = decltype(rep->states)::load(in);
  rep->versions = decltype(rep->versions)::load(in);
  rep->log.stored = StoredTree::load(in);
  if (written == first_format) NoteTree::load(in);
  rep->log.summaries = decltype(rep->log.summaries)::load(in);
  const bool flag = in.flag();
  rep->log.links_known = written != first_format && flag;
  if (written != first_format) {
    rep->log.links = LinkTree::load(in);
    rep->log.notes = NoteTree::load(in);
  }
  rep->log.order_known = false;
  if (written > format_without_order) {
    rep->log.order_known = in.flag();
    rep->log.order = LogOrder::load(in);
    rep->log.copies = Log::MadeTree::load(in);
    rep->log.spans = decltype(rep->log.spans)::load(in);
  }
  if (written == format) rep->clients = ClientRows::load(in);
  rep->log.bodies = std::move(bodies);
  in.end();
  if (rep->versions.empty() || rep->head.frame->batches.empty())
    in.fail("it has no version, or no batch");
  if (rep->first_version >= rep->versions.size() || rep->head.log_length != rep->log.size())
    in.fail("its sizes do not go together");
  return History(std::move(rep));
}

}  // namespace undertext
