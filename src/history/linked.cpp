#include "history/linked.hpp"

#include <algorithm>
#include <vector>

#include "history/changed_states.hpp"

namespace undertext {
namespace {

void make_links(Log& log) {
  log.links_known = true;
  StoredReader reader(log);
  std::uint32_t ordinal = 0;
  const StoredTree stored = log.stored;
  const auto change = [&](StoredMessage message) {
    const Message& body = reader.message(ordinal);
    const std::vector<ToolLink> links = body.tool_links();
    log.add_links(ordinal++, links);
    message.set_units(body, links);
    return message;
  };
  StoredTree::ChangedNodes known;
  log.stored = stored.changed(change, known);
}

// By ordinal, how far back an entry reaches: the least place that any message which shares an id
// with it, from the other side, has in any view.
std::vector<std::uint32_t> reaches(const Log& log, const std::vector<std::uint32_t>& least_places) {
  std::vector<Link> links;
  links.reserve(log.links.size());
  log.links.visit(
      0, log.links.size(), [](const LinkSums&) { return true; },
      [&](std::uint64_t, const Link& link) {
        links.push_back(link);
        return true;
      });
  std::sort(links.begin(), links.end(),
            [](const Link& a, const Link& b) { return a.hash() < b.hash(); });
  std::vector<std::uint32_t> found(log.size(), no_place);
  for (std::size_t begin = 0, end = 0; begin < links.size(); begin = end) {
    std::uint32_t calls = no_place, results = no_place;  // the least places of each side
    for (; end < links.size() && links[end].hash() == links[begin].hash(); ++end) {
      std::uint32_t& least = links[end].is_call() ? calls : results;
      least = std::min(least, least_places[links[end].ordinal]);
    }
    for (std::size_t i = begin; i < end; ++i) {
      std::uint32_t& reach = found[links[i].ordinal];
      reach = std::min(reach, links[i].is_call() ? results : calls);
    }
  }
  return found;
}

// Changes entries twice: the first time to learn their places.
template <class ChangeAll>
void link_entries(const Log& log, ChangeAll change_all) {
  std::vector<std::uint32_t> least_places(log.size(), no_place);
  change_all([&](const Entry& e) {
    log.check_ordinal(e.ordinal);
    least_places[e.ordinal] = std::min(least_places[e.ordinal], e.place);
    return e;
  });
  const std::vector<std::uint32_t> reach = reaches(log, least_places);
  StoredReader stored(log);
  change_all([&](Entry e) {
    e.reach = reach[e.ordinal];
    e.calls = stored[e.ordinal].calls;
    e.reasons = stored[e.ordinal].reasons;
    return e;
  });
}

}  // namespace

History with_links(const History& history) {
  if (history.rep().log.links_known) return history;
  auto made = std::make_shared<History::Rep>(history.rep());
  make_links(made->log);
  const History::Rep before = *made;
  link_entries(made->log, [&](auto change) {
    made->states = before.states;
    made->head = before.head;
    ChangedStates(change).change(*made);
  });
  return History(std::move(made));
}

View::Rep with_links(const View::Rep& view) {
  if (view.log.links_known || view.is_log) return view;
  View::Rep made = view;
  make_links(made.log);
  link_entries(made.log, [&](auto change) {
    made.placed.entries = ChangedStates(change).entries(view.placed.entries);
  });
  return made;
}

View view_with_links(const History& history) {
  const View view = history.view();
  return history.rep().log.links_known ? view
                                       : View(std::make_shared<View::Rep>(with_links(view.rep())));
}

}  // namespace undertext
