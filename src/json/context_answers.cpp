#include "json/context_answers.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include <undertext/recall.hpp>
#include <undertext/tokenizer.hpp>

#include "base/utf8.hpp"
#include "engine/window.hpp"
#include "message/quotation.hpp"
#include "recall/passage.hpp"

namespace undertext {
namespace {

// What stands around quoted texts: the sentence before them, of a search two more, and the lines
// around each.
constexpr std::uint64_t frame_tokens = 50, found_frame_tokens = 110, piece_tokens = 48;
constexpr std::size_t summaries_named_max = 20, messages_looked_at_max = 10'000;
constexpr std::uint64_t originals_named_max = 1000;
// What follows a quotation that is a part: how to read on, by so many ordinals at most.
constexpr std::uint64_t rest_tokens = 75;
constexpr std::size_t rest_ordinals_max = 8;

std::size_t utf8_boundary(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  while (at > 0 && at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) --at;
  return at;
}

// The longest beginning, about, that has at most so many tokens.
std::string_view beginning_within(std::string_view text, std::uint64_t tokens_max,
                                  const Tokenizer& tokenizer) {
  // No tokenizer makes more tokens than there are bytes, and few make one of more than 32: so a
  // long text is not counted whole.
  std::string_view part =
      text.substr(0, utf8_boundary(text, static_cast<std::size_t>(tokens_max) * 32));
  for (std::uint64_t tokens = tokenizer.count(part); tokens > tokens_max;
       tokens = tokenizer.count(part)) {
    const auto size = static_cast<std::size_t>(static_cast<double>(part.size()) *
                                               static_cast<double>(tokens_max) /
                                               static_cast<double>(tokens) * 0.97);
    part = part.substr(0, utf8_boundary(part, std::min(size, part.size() - 1)));
  }
  return part;
}

// Quoted messages within a budget of tokens.
class QuotedAnswer {
 public:
  // `frame`: the tokens of what stands around the quotation.
  QuotedAnswer(std::uint64_t tokens_max, std::uint64_t frame,
               std::shared_ptr<const Tokenizer> tokenizer)
      : left_(tokens_max - std::min(tokens_max, frame)), tokenizer_(std::move(tokenizer)) {}

  const Tokenizer& tokenizer() const { return *tokenizer_; }

  // The beginning of a text that fits: all of it, a part or nothing. Its tokens are spent.
  std::optional<std::string_view> fit(std::string_view text, std::uint64_t tokens_max) {
    if (!has_room()) return {};
    const std::string_view part = beginning_within(text, room(tokens_max), *tokenizer_);
    if (part.empty() && !text.empty()) return {};
    left_ -= std::min(left_, tokenizer_->count(part) + piece_tokens);
    return part;
  }
  void quote(std::string heading, std::string_view fitting) {
    quotation_.add(std::move(heading), std::string(fitting));
  }
  // Both. How many bytes fit.
  std::size_t add(std::string heading, std::string_view text, std::uint64_t tokens_max) {
    const std::optional<std::string_view> part = fit(text, tokens_max);
    if (part) quote(std::move(heading), *part);
    return part ? part->size() : 0;
  }
  bool has_room() const { return left_ > piece_tokens; }
  // Of so many tokens as many as a text may have yet.
  std::uint64_t room(std::uint64_t tokens_max) const {
    return has_room() ? std::min(tokens_max, left_ - piece_tokens) : 0;
  }
  bool empty() const { return quotation_.empty(); }
  std::string text() const { return quotation_.text(); }

 private:
  std::uint64_t left_;
  std::shared_ptr<const Tokenizer> tokenizer_;
  Quotation quotation_;
};

std::string in_conversation(const ContextSource& source) {
  return source.id.empty() ? "" : " of conversation " + source.id;
}

std::string heading_of(const ContextSource& source, Ordinal ordinal, const Message& message) {
  return "[" + std::to_string(ordinal.value) + "] " + std::string(name(message.role())) +
         in_conversation(source);
}

// Found messages

struct FoundUnit {
  const ContextSource* source;
  RecalledUnit unit;
  std::size_t place_among_best;     // the size of `best`: it has none of them
  std::size_t place_in_source = 0;  // 0: the best of its conversation
};

std::size_t place_among(std::span<const StoreFound> best, const ContextSource& source,
                        const RecalledUnit& unit) {
  const auto at = std::ranges::find_if(best, [&](const StoreFound& found) {
    return found.conversation == source.id &&
           std::ranges::find(unit.matched, found.ordinal) != unit.matched.end();
  });
  return static_cast<std::size_t>(at - best.begin());
}

std::vector<FoundUnit> find_units(std::span<const ContextSource> sources,
                                  const tool::Search& search, std::span<const StoreFound> best) {
  // A long result that holds the answer is cut to what fits, so more is asked for than is shown.
  constexpr std::uint64_t found_tokens_max = 256'000, found_tokens_min = 32'000;
  const std::uint64_t found_tokens = std::max(found_tokens_min, found_tokens_max / sources.size());
  std::vector<FoundUnit> found;
  for (const ContextSource& source : sources) {
    RecallQuery query{.text = search.text, .budget_tokens = found_tokens};
    query.which.all = search.all || !source.is_seen;
    if (search.role) query.which.roles = {*search.role};
    std::size_t place = 0;
    Recalled recalled = source.conversation.recall(query, source.history).value();
    if (recalled.units.empty() && recalled.tokens_needed > 0) {
      query.budget_tokens = recalled.tokens_needed;
      recalled = source.conversation.recall(query, source.history).value();
    }
    for (RecalledUnit& unit : recalled.units) {
      const std::size_t among_best = place_among(best, source, unit);
      found.push_back({&source, std::move(unit), among_best, place++});
    }
  }
  std::ranges::stable_sort(found, [](const FoundUnit& a, const FoundUnit& b) {
    return std::tie(a.place_among_best, a.place_in_source) <
           std::tie(b.place_among_best, b.place_in_source);
  });
  return found;
}

// Where to begin to show a long text in which words were found. What leads to them, and they
// themselves, have at most so many bytes, hence tokens.
std::size_t telling_place(std::string_view text, const AskedWords& asked,
                          std::uint64_t tokens_max) {
  constexpr std::uint64_t lead_bytes = 200, passage_bytes = 600;
  const std::optional<std::size_t> at =
      best_passage(text, asked, std::min(passage_bytes, tokens_max / 2));
  return at ? lead_to(text, *at, std::min(lead_bytes, tokens_max / 4)) : 0;
}

// The messages of a unit by their indices: what was found, best first, and then what stands around
// it.
std::vector<std::size_t> by_worth(const RecalledUnit& unit) {
  std::vector<std::size_t> indices(unit.messages.size());
  std::iota(indices.begin(), indices.end(), std::size_t{0});
  std::ranges::stable_sort(indices, {}, [&](std::size_t i) {
    return std::ranges::find(unit.matched, unit.ordinals[i]);
  });
  return indices;
}

void add_found(QuotedAnswer& answer, const FoundUnit& found, const tool::Search& search,
               const AskedWords& asked) {
  const RecalledUnit& unit = found.unit;
  std::map<std::size_t, std::pair<std::string, std::string>> quoted;  // by index: heading, text
  for (const std::size_t i : by_worth(unit)) {
    const bool matched = std::ranges::find(unit.matched, unit.ordinals[i]) != unit.matched.end();
    const std::string text = readable_text(unit.messages[i]);
    const std::uint64_t room = answer.room(search.budget_tokens / (matched ? 3 : 8));
    std::string_view shown = text;
    const bool is_long =
        answer.tokenizer().count(shown.substr(0, utf8_boundary(shown, room * 32))) > room;
    // What was found may stand anywhere in a long text.
    if (is_long && matched) shown.remove_prefix(telling_place(text, asked, room));
    const std::optional<std::string_view> part = answer.fit(shown, room);
    if (!part) break;
    std::string heading = heading_of(*found.source, unit.ordinals[i], unit.messages[i]);
    if (is_long) heading += ", a part of " + std::to_string(text.size()) + " bytes";
    quoted[i] = {std::move(heading), std::string(*part)};
  }
  for (auto& [i, piece] : quoted) answer.quote(std::move(piece.first), piece.second);
}

// With what was not searched: of a conversation that the model sees, what is visible.
std::string nothing_found(std::span<const ContextSource> sources, const tool::Search& search) {
  std::string out = "Nothing was found. ";
  const auto seen = std::ranges::find_if(sources, &ContextSource::is_seen);
  if (search.all || seen == sources.end()) return out + "Try other words.";
  const bool has_hidden = seen->history.log().size() > seen->history.view().size();
  if (!seen->id.empty())
    out += "Of conversation " + seen->id +
           ", which is taken for yours, only hidden messages were " +
           (has_hidden ? "searched. " : "searched, and it has none. ");
  else if (!has_hidden)
    out += "No message is hidden: the whole conversation is in your context. ";
  return out + "Try other words, or all: true to search visible messages too.";
}

}  // namespace

std::string search_answer(std::span<const ContextSource> sources, const tool::Search& search,
                          std::span<const StoreFound> best) {
  if (sources.empty()) return "There is no conversation to search yet.";
  QuotedAnswer answer(search.budget_tokens, found_frame_tokens,
                      sources.front().conversation.tokenizer());
  const std::vector<FoundUnit> found = find_units(sources, search, best);
  const AskedWords asked = asked_words(search.text);
  std::size_t shown = 0;
  for (; shown < found.size() && answer.has_room(); ++shown)
    add_found(answer, found[shown], search, asked);
  if (answer.empty()) return nothing_found(sources, search);
  std::string out = "The number in brackets names a message for context_expand. ";
  if (shown < found.size())
    out += "More was found than fits: use other words, or a larger budgetTokens. ";
  return out + answer.text();
}

namespace {

// Originals as text

// A message that is read, and which of the given ordinals it is read for: itself, or a summary that
// stands for it.
struct AskedMessage {
  std::uint64_t ordinal = 0;
  std::size_t given = 0;
};

std::vector<AskedMessage> asked_messages(const ContextSource& source, const tool::Expand& expand) {
  const std::uint64_t end = source.history.log().size();
  const auto check = [&](std::uint64_t ordinal, const char* field) {
    if (ordinal < end) return;
    throw Failure({ErrorCode::not_found,
                   end == 0 ? "there are no messages yet"
                            : "messages are numbered 0 to " + std::to_string(end - 1),
                   field});
  };
  std::vector<AskedMessage> asked;
  if (expand.from) {
    check(*expand.from, "from");
    const std::uint64_t last = std::min(expand.to.value_or(*expand.from), end - 1);
    for (std::uint64_t ordinal = *expand.from; ordinal <= last; ++ordinal)
      asked.push_back({ordinal});
    return asked;
  }
  for (std::size_t given = 0; given < expand.ordinals.size(); ++given) {
    const Ordinal ordinal = expand.ordinals[given];
    check(ordinal.value, "ordinals");
    const std::vector<Ordinal> originals = source.history.stands_for(ordinal);
    for (const Ordinal original : originals) asked.push_back({original.value, given});
    if (originals.empty()) asked.push_back({ordinal.value, given});
  }
  if (expand.skip > 0 && expand.skip >= asked.size())
    throw Failure({ErrorCode::not_found,
                   "there are " + std::to_string(asked.size()) + " messages to read", "skip"});
  return asked;
}

// How to read on: by a range where what is left is one. Ordinals are those that were given, for one
// that was found in a summary may be a summary itself, and would be read as what it stands for.
std::string rest_of(const tool::Expand& expand, std::span<const AskedMessage> asked,
                    std::size_t read, std::size_t offset) {
  const std::span<const AskedMessage> left = asked.subspan(read);
  const bool is_range = std::ranges::adjacent_find(left, [](const auto& a, const auto& b) {
                          return b.ordinal != a.ordinal + 1;
                        }) == left.end();
  const std::span<const Ordinal> given = std::span(expand.ordinals).subspan(left.front().given);
  std::string out = "\nNot all of it fits. Read on with context_expand ", arguments;
  if (is_range) {
    arguments = R"("from":)" + std::to_string(left.front().ordinal) + R"(,"to":)" +
                std::to_string(left.back().ordinal);
  } else if (given.size() <= rest_ordinals_max) {
    const auto first = std::ranges::find(asked, left.front().given, &AskedMessage::given);
    read -= static_cast<std::size_t>(first - asked.begin());
    for (const Ordinal ordinal : given)
      (arguments += arguments.empty() ? R"("ordinals":[)" : ",") += std::to_string(ordinal.value);
    arguments += "]";
  } else {
    out += "of the same ordinals, with ";
  }
  if (!is_range && read > 0)
    (arguments += arguments.empty() ? "" : ",") += R"("skip":)" + std::to_string(read);
  if (offset > 0)
    (arguments += arguments.empty() ? "" : ",") += R"("offset":)" + std::to_string(offset);
  return out + "{" + arguments + "}.";
}

}  // namespace

std::string expand_answer(const ContextSource& source, const tool::Expand& expand) {
  const std::vector<AskedMessage> asked = asked_messages(source, expand);
  QuotedAnswer answer(expand.budget_tokens, frame_tokens + rest_tokens,
                      source.conversation.tokenizer());
  const View log = source.history.log();
  const View view = source.history.view();
  std::string rest;
  const auto first = static_cast<std::size_t>(expand.skip);
  for (std::size_t i = first; i < asked.size(); ++i) {
    const Ordinal ordinal(asked[i].ordinal);
    const Message message = log[ordinal.value];
    const std::string text = readable_text(message);
    const std::size_t skipped =
        i == first ? utf8_boundary(text, static_cast<std::size_t>(expand.offset)) : 0;
    std::string heading = heading_of(source, ordinal, message);
    if (!view.index_of(ordinal)) heading += ", hidden";
    if (skipped > 0) heading += ", from byte " + std::to_string(skipped);
    const std::string_view unread = std::string_view(text).substr(skipped);
    const bool had_room = answer.has_room();
    const std::size_t taken =
        had_room ? answer.add(std::move(heading), unread, expand.budget_tokens) : 0;
    if (had_room && taken == unread.size()) continue;
    rest = rest_of(expand, asked, i, skipped + taken);
    break;
  }
  return answer.text() + rest;
}

std::string ordinal_ranges(std::span<const std::uint64_t> ordinals) {
  std::string out;
  for (std::size_t i = 0; i < ordinals.size();) {
    std::size_t end = i + 1;
    while (end < ordinals.size() && ordinals[end] == ordinals[end - 1] + 1) ++end;
    out += (out.empty() ? "" : ", ") + std::to_string(ordinals[i]);
    if (end - i > 1) out += "-" + std::to_string(ordinals[end - 1]);
    i = end;
  }
  return out;
}

namespace {

std::string count_of(std::uint64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string ranges_of(const std::vector<Ordinal>& ordinals) {
  std::vector<std::uint64_t> numbers;
  for (const Ordinal ordinal : ordinals) numbers.push_back(ordinal.value);
  numbers.resize(std::min<std::size_t>(numbers.size(), originals_named_max));
  return ordinal_ranges(numbers);
}

std::string summaries_in(const History& history) {
  const View view = history.view();
  std::string out;
  std::size_t named = 0;
  const std::uint64_t end = std::min<std::uint64_t>(view.size(), messages_looked_at_max);
  for (std::uint64_t i = 0; i < end && named < summaries_named_max; ++i) {
    const std::vector<Ordinal> originals = history.stands_for(view.ordinal(i));
    if (originals.empty()) continue;
    out += "\n[" + std::to_string(view.ordinal(i).value) + "] stands for " + ranges_of(originals) +
           ".";
    ++named;
  }
  return out;
}

}  // namespace

std::string status_answer(const ContextSource& source) {
  const History& history = source.history;
  const View view = history.view();
  const Settings& settings = source.conversation.settings();
  const std::uint64_t hidden = history.log().size() - std::min(history.log().size(), view.size());
  std::string out = source.id.empty() ? "" : "Conversation " + source.id + ".\n";
  out += "In context: " + count_of(view.size(), "message") + ", " +
         count_of(view.sums().tokens(), "token");
  if (settings.token_limit) out += " of " + std::to_string(*settings.token_limit);
  if (const std::optional<std::uint64_t> window = settled_window(settings))
    out += ", in a window of " + std::to_string(*window);
  out += ".\nHidden: " + count_of(hidden, "message") +
         (hidden == 0 ? "." : "; context_search finds them, context_expand reads them.");
  if (const std::vector<std::uint64_t> pinned = history.marked("pinned"); !pinned.empty())
    out += "\nPinned: " +
           ordinal_ranges(
               std::span(pinned).first(std::min<std::size_t>(pinned.size(), originals_named_max))) +
           ".";
  out += "\nCheckpoints: 0 to " + std::to_string(history.stats().current_batch_index) +
         "; the last is current.";
  return out + summaries_in(history);
}

std::string read_answer(const ContextSource& source, const ContextCall& call) {
  if (const auto* search = std::get_if<tool::Search>(&call.what))
    return search_answer(std::span(&source, 1), *search);
  if (const auto* expand = std::get_if<tool::Expand>(&call.what))
    return expand_answer(source, *expand);
  return status_answer(source);
}

ContextToolResult tool_error(const Error& error) {
  std::string out = "Error: " + std::string(name(error.code)) + ": " + error.message + ".";
  switch (error.code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::not_found:
    case ErrorCode::too_large: out += " Change the arguments and call again."; break;
    case ErrorCode::conflict:
    case ErrorCode::unavailable: out += " Try again later."; break;
    default: out += " Go on without it."; break;
  }
  return {std::move(out), true};
}

}  // namespace undertext
