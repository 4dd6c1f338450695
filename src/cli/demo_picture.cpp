#include "cli/demo_picture.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <undertext/blocks.hpp>
#include <undertext/message.hpp>
#include <undertext/operation.hpp>
#include <undertext/query.hpp>
#include <undertext/view.hpp>

namespace undertext {

namespace {

constexpr Style faint{.color = tint::quiet};

Style role_style(Role role) {
  static constexpr std::uint8_t tints[role_count] = {139, 74, 71, 173};
  return {.color = tints[static_cast<std::size_t>(role)]};
}

Style fill_style(std::uint64_t tokens, std::uint64_t budget) {
  return {.color = tokens > budget ? tint::over : tint::fill};
}

// `a` - `b`, or 0.
std::size_t less(std::size_t a, std::size_t b) { return a > b ? a - b : 0; }

std::string repeated(std::string_view text, std::size_t count) {
  std::string out;
  while (count-- > 0) out += text;
  return out;
}

// Where things stand in a row. The text gives way when there is little room, then the bars.
struct Columns {
  explicit Columns(std::size_t width)
      : bar_cells(cells_of_bars(width)), bar(less(width, bar_cells + 6)), end(width) {}

  static constexpr std::size_t sign = 2, index_end = 6, ordinal = 8, role = 12, link = 22,
                               text = 24;
  std::size_t bar_cells;
  std::size_t bar;
  std::size_t end;
  std::size_t room_from(std::size_t column) const { return less(bar, column + 2); }

 private:
  static std::size_t cells_of_bars(std::size_t width) {
    if (width < 60) return 0;
    return width < 90 ? 10 : 20;
  }
};

struct Row {
  enum class Kind : std::uint8_t { kept, added, hidden };
  Kind kind;
  std::uint64_t index;  // in the view, or in the view before for a hidden one
  Ordinal ordinal;
  Message message;
  std::uint64_t tokens;
};

// The rows of `now`, and between them those of `before` that it lacks, each where it stood, or
// below the summary that hides it.
std::vector<Row> rows_between(const History& history, const View& before, const View& now) {
  std::vector<Row> rows;
  std::uint64_t next = 0;  // of `before`
  const auto add = [&rows](Row::Kind kind, const View& view, std::uint64_t i) {
    rows.push_back({kind, i, view.ordinal(i), view[i], view.tokens(i)});
  };
  const auto is_hidden = [&](std::uint64_t i) { return !now.index_of(before.ordinal(i)); };
  for (std::uint64_t i = 0; i < now.size(); ++i) {
    if (const std::optional<std::uint64_t> place = before.index_of(now.ordinal(i))) {
      for (; next < *place; ++next) {
        if (is_hidden(next)) add(Row::Kind::hidden, before, next);
      }
      next = std::max(next, *place + 1);
      add(Row::Kind::kept, now, i);
    } else {
      const bool is_summary = !history.stands_for(now.ordinal(i)).empty();
      for (; !is_summary && next < before.size() && is_hidden(next); ++next)
        add(Row::Kind::hidden, before, next);
      add(Row::Kind::added, now, i);
    }
  }
  for (; next < before.size(); ++next) {
    if (is_hidden(next)) add(Row::Kind::hidden, before, next);
  }
  return rows;
}

// Which rows stand for themselves: with ShownRows::near_changes, no kept row whose neighbours are
// kept too, unless too few are left out.
std::vector<bool> rows_shown(const std::vector<Row>& rows, ShownRows which) {
  std::vector<bool> shown(rows.size(), which == ShownRows::all);
  if (which == ShownRows::all) return shown;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (rows[i].kind == Row::Kind::kept) continue;
    for (std::size_t k = i == 0 ? 0 : i - 1; k < std::min(i + 2, rows.size()); ++k) shown[k] = true;
  }
  constexpr std::ptrdiff_t folded_min = 3;
  for (auto begin = shown.begin(); begin != shown.end();) {
    const auto end = std::find(begin, shown.end(), !*begin);
    if (!*begin && end - begin < folded_min) std::fill(begin, end, true);
    begin = end;
  }
  return shown;
}

std::string one_line(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\r' || c == '\t';
    if (!blank) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  return printable(out);
}

// Tells which messages have the other half of their tool pair in the view.
class ToolPairs {
 public:
  explicit ToolPairs(const View& view) {
    for (const Message& message : view) {
      for (const ToolLink& link : message.tool_links()) sides_.insert({link.id, link.side});
    }
  }

  // A bracket on each side of a whole pair, an exclamation mark on what is left of a broken one.
  std::string_view sign(const Message& message) const {
    std::string_view sign = " ";
    for (const ToolLink& link : message.tool_links()) {
      const bool calls = link.side == ToolLink::Side::call;
      if (!sides_.contains({link.id, calls ? ToolLink::Side::result : ToolLink::Side::call}))
        return "!";
      sign = calls ? "╭" : "╰";
    }
    return sign;
  }

 private:
  std::set<std::pair<std::string, ToolLink::Side>> sides_;
};

// What the rows of one view have in common.
struct Drawing {
  const History& history;
  std::uint64_t budget;
  Columns columns;
  ToolPairs pairs;
  std::vector<std::uint64_t> pinned;  // ordinals, rising
};

void add_text(Line& line, const Row& row, const Drawing& drawing) {
  const bool hidden = row.kind == Row::Kind::hidden;
  const std::size_t room = drawing.columns.room_from(Columns::text);
  std::string before, after;
  if (const std::size_t originals = drawing.history.stands_for(row.ordinal).size(); originals > 0) {
    before = clip("stands for " + std::to_string(originals) + "  ", room);
  }
  for (const ContentBlock& block : read_blocks(row.message))
    if (block.kind == ContentBlock::Kind::call) after += "  → " + one_line(block.name);
  constexpr std::size_t text_cells_min = 12;
  if (count_cells(before) + text_cells_min + count_cells(after) > room) after.clear();
  line.add(before, hidden ? faint : Style{.color = tint::summary});
  line.add(clip(one_line(row.message.text()), less(room, count_cells(before) + count_cells(after))),
           hidden ? faint : Style{});
  line.add(after, hidden ? faint : role_style(Role::tool));
}

void add_link(Line& line, const Row& row, const Drawing& drawing) {
  if (row.kind == Row::Kind::hidden) return;
  if (std::binary_search(drawing.pinned.begin(), drawing.pinned.end(), row.ordinal.value)) {
    line.add("◆", {.color = tint::accent});
    return;
  }
  const std::string_view sign = drawing.pairs.sign(row.message);
  line.add(sign,
           sign == "!" ? Style{.color = tint::warning, .bold = true} : role_style(Role::tool));
}

Line row_line(const Row& row, const Drawing& drawing) {
  const Columns& columns = drawing.columns;
  const bool hidden = row.kind == Row::Kind::hidden;
  const Style role = hidden ? faint : role_style(row.message.role());
  Line line;
  line.pad_to(Columns::sign);
  if (row.kind == Row::Kind::added) line.add("+", {.color = tint::good, .bold = true});
  if (hidden) line.add("−", {.color = tint::over});
  if (!hidden) line.add_right(std::to_string(row.index), Columns::index_end);
  line.pad_to(Columns::ordinal).add("#" + std::to_string(row.ordinal.value), faint);
  line.pad_to(Columns::role).add(name(row.message.role()), role).pad_to(Columns::link);
  add_link(line, row, drawing);
  line.pad_to(Columns::text);
  add_text(line, row, drawing);
  line.pad_to(columns.bar);
  const std::string filled = bar(row.tokens, drawing.budget, columns.bar_cells);
  line.add(hidden ? repeated("░", count_cells(filled)) : filled, role);
  return line.add_right(std::to_string(row.tokens), columns.end, hidden ? faint : Style{});
}

Line folded_line(std::uint64_t count, std::uint64_t tokens, const Drawing& drawing) {
  const Columns& columns = drawing.columns;
  Line line;
  line.add_right("⋮", Columns::index_end, faint)
      .pad_to(Columns::text)
      .add(std::to_string(count) + " as before", faint);
  line.pad_to(columns.bar)
      .add(bar(tokens, drawing.budget, columns.bar_cells), {.color = tint::fill});
  return line.add_right(std::to_string(tokens), columns.end, faint);
}

Line totals_line(const Drawing& drawing) {
  const Columns& columns = drawing.columns;
  const Stats stats = drawing.history.stats();
  const bool over = stats.tokens > drawing.budget;
  const Style style = fill_style(stats.tokens, drawing.budget);
  const std::string budget = std::to_string(drawing.budget);
  const std::string_view budget_word = over ? "over budget" : "budget";
  const std::size_t budget_cells = budget_word.size() + 1 + budget.size() + 1;
  const std::string counts = std::to_string(stats.current_batch_messages) + " messages, " +
                             std::to_string(stats.total_messages) + " in the log, batch " +
                             std::to_string(stats.current_batch_index);
  Line line;
  line.pad_to(Columns::ordinal)
      .add(clip(counts, less(columns.bar, Columns::ordinal + budget_cells + 1)), faint);
  line.pad_to(less(columns.bar, budget_cells))
      .add(budget_word, over ? style : faint)
      .add(" " + budget, faint)
      .pad_to(columns.bar);
  const std::string filled = bar(stats.tokens, drawing.budget, columns.bar_cells);
  line.add(filled, style).add(repeated("·", columns.bar_cells - count_cells(filled)), faint);
  return line.add_right(std::to_string(stats.tokens), columns.end,
                        {.color = over ? style.color : std::nullopt, .bold = true});
}

}  // namespace

void draw_view(Screen& screen, const History& history, Version before, std::uint64_t token_budget,
               ShownRows which) {
  const View now = history.view();
  const Drawing drawing{history, token_budget, Columns(screen.columns()), ToolPairs(now),
                        history.marked(pinned_mark)};
  const std::vector<Row> rows = rows_between(history, history.view_at(before).value(), now);
  const std::vector<bool> shown = rows_shown(rows, which);

  Line head;
  head.add_right("#", Columns::index_end, faint).pad_to(Columns::ordinal).add("log", faint);
  head.pad_to(Columns::role).add("role", faint).pad_to(Columns::text).add("message", faint);
  screen.print(head.add_right("tokens", drawing.columns.end, faint));
  for (std::size_t i = 0; i < rows.size();) {
    if (shown[i]) {
      screen.print(row_line(rows[i++], drawing));
      continue;
    }
    std::uint64_t count = 0, tokens = 0;
    for (; i < rows.size() && !shown[i]; ++i, ++count) tokens += rows[i].tokens;
    screen.print(folded_line(count, tokens, drawing));
  }
  screen.print(totals_line(drawing));
}

void draw_timeline(Screen& screen, const History& history, std::uint64_t token_budget) {
  static constexpr std::uint8_t depth_tints[] = {68, 73, 108, 143};
  const auto depth_style = [](std::uint64_t depth) {
    return Style{.color = depth_tints[depth % std::size(depth_tints)]};
  };
  const std::vector<VersionInfo> versions = history.versions();
  std::uint64_t depth_max = 0;
  for (const VersionInfo& version : versions) depth_max = std::max(depth_max, version.batch_index);

  const Columns columns(screen.columns());
  constexpr std::size_t version_end = 9, rails = 18;
  const std::size_t operation = rails + 2 * static_cast<std::size_t>(depth_max) + 4;
  const std::size_t description = operation + 14;
  Line head;
  head.add_right("version", version_end, faint).add_right("batch", rails - 1, faint).pad_to(rails);
  for (std::uint64_t k = 0; k <= depth_max; ++k) head.add(std::to_string(k) + " ", depth_style(k));
  screen.print(
      head.pad_to(operation).add("operation", faint).add_right("tokens", columns.end, faint));
  std::uint64_t depth = 0;
  for (const VersionInfo& version : versions) {
    Line line;
    line.add_right("v" + std::to_string(version.version), version_end, faint).pad_to(rails);
    const std::uint64_t now = version.batch_index;
    for (std::uint64_t k = 0; k < now; ++k)
      line.add(k < depth ? "│ " : k == depth ? "├─" : "┬─", depth_style(k));
    line.add("●", depth_style(now));
    for (std::uint64_t k = now + 1; k <= depth; ++k)
      line.add(k < depth ? "─┴" : "─╯", depth_style(k));
    depth = now;
    const bool first = version.operation.empty();
    line.pad_to(operation).add(first ? "empty" : version.operation, first ? faint : Style{});
    std::string words = printable(version.description);
    if (words.empty() && version.restores) words = "back to v" + std::to_string(*version.restores);
    line.pad_to(description).add(clip(words, columns.room_from(description)), faint);
    line.pad_to(columns.bar)
        .add(bar(version.tokens, token_budget, columns.bar_cells),
             fill_style(version.tokens, token_budget));
    screen.print(line.add_right(std::to_string(version.tokens), columns.end));
  }
}

}  // namespace undertext
