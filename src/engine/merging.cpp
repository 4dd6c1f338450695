// MERGE_FORK, and EXPAND of what it appended: reading a fork.
//
// A merge by summary reads one message of the fork, and stores one. The fork's messages stay where
// they are until somebody expands the summary.
#include <algorithm>
#include <utility>

#include "base/json_text.hpp"
#include "engine/conversation_rep.hpp"
#include "history/state.hpp"
#include "message/quotation.hpp"

namespace undertext {
namespace {

Error nothing_own(const std::string& fork) {
  return {ErrorCode::not_found, "the fork " + fork + " has no messages of its own", "from"};
}

// The messages of the view that the fork stored itself, in view order. O(log n + these).
std::vector<std::uint64_t> own_in_view(const History& fork, std::uint64_t first_own) {
  std::vector<std::uint64_t> found;
  const PlacedView view = fork.rep().head.placed();
  view.entries.visit(
      0, view.size(), [&](const EntrySums& sums) { return sums.ordinal_max >= first_own; },
      [&](std::uint64_t, const Entry& entry) {
        if (entry.ordinal >= first_own) found.push_back(entry.ordinal);
        return true;
      });
  return found;
}

// Whether a message of the fork's own is the result of a call from before the fork to which this
// conversation shows a result of its own: a provider refuses a second one.
bool is_answered_here(const History& here, const History& fork, std::uint64_t first_own,
                      std::uint64_t ordinal) {
  const Log& log = here.rep().log;
  const PlacedView view = here.rep().head.placed();
  for (const Mention& mention : fork.rep().log.mentions(static_cast<std::uint32_t>(ordinal))) {
    if (!mention.answers) continue;
    bool is_from_before = false;
    fork.rep().log.visit_mentions_below(mention.hash, ordinal, [&](const Link& link, auto) {
      if (!link.is_call()) return true;
      is_from_before = link.ordinal < first_own;
      return false;
    });
    if (!is_from_before) continue;
    bool is_answered = false;
    log.visit_mentions_from(mention.hash, first_own, [&](const Link& link, auto) {
      if (link.is_call()) return false;  // the id is used again
      is_answered = view.shows(link.ordinal);
      return !is_answered;
    });
    if (is_answered) return true;
  }
  return false;
}

Result<std::vector<std::uint64_t>> picked(const History& fork, std::uint64_t first_own,
                                          std::vector<std::uint64_t> ordinals) {
  const auto bad = [](std::uint64_t ordinal, const char* problem) {
    return Error{ErrorCode::invalid_argument,
                 "the message with ordinal " + std::to_string(ordinal) + problem, "ordinals"};
  };
  std::sort(ordinals.begin(), ordinals.end());
  if (const auto twice = std::adjacent_find(ordinals.begin(), ordinals.end());
      twice != ordinals.end())
    return bad(*twice, " is named twice");
  if (ordinals.front() < first_own)
    return bad(ordinals.front(), " is no message of the fork's own: this conversation has it");
  if (ordinals.back() >= fork.stats().total_messages)
    return bad(ordinals.back(), " is not in the fork's log");
  return ordinals;
}

// The last thing that the fork's model said, of the few last messages of its role.
std::optional<std::pair<Ordinal, std::string>> last_answer(const History& fork,
                                                           std::uint64_t first_own) {
  constexpr std::uint64_t looked_at = 16;
  const MessageList last = fork.messages({.roles = {Role::assistant}, .last = looked_at}).value();
  for (std::size_t i = last.messages.size(); i-- > 0;) {
    if (last.ordinals[i].value < first_own) break;
    if (std::string text = last.messages[i].text(); !text.empty())
      return std::pair(last.ordinals[i], std::move(text));
  }
  return {};
}

// What the fork achieved: its size, and its last answer as data.
Result<Message> made_summary(const std::string& id, const History& fork, const Origin& origin,
                             const MessageLimits& limits) {
  const std::uint64_t end = fork.stats().total_messages;
  const std::uint64_t tokens = fork.log().sums(origin.log_length, end).tokens();
  std::string text = "A fork of this conversation, " + id + ", went on from version " +
                     std::to_string(origin.version) + " and stored " +
                     std::to_string(end - origin.log_length) + " messages (" +
                     std::to_string(tokens) + " tokens).";
  if (const auto answer = last_answer(fork, origin.log_length)) {
    Quotation quotation;
    quotation.add("[" + std::to_string(answer->first.value) + "] the fork's last answer",
                  answer->second);
    text += "\n" + quotation.text();
  } else {
    text += " It has no answer yet.";
  }
  std::string json = R"({"role":"user","content":)";
  append_json_string(json, text);
  append_json_string(json += R"(,"metadata":{"fork":{"conversation":)", id);
  json += R"(,"version":)" + std::to_string(fork.version().value) + R"(,"messages":)" +
          std::to_string(end - origin.log_length) + R"(,"tokens":)" + std::to_string(tokens) +
          "}}}";
  return Message::parse(json, limits);
}

std::vector<Message> messages_of(const History& fork, const std::vector<std::uint64_t>& ordinals) {
  std::vector<Message> messages;
  messages.reserve(ordinals.size());
  for (const std::uint64_t ordinal : ordinals)
    messages.push_back(fork.rep().log.message(static_cast<std::uint32_t>(ordinal)));
  return messages;
}

}  // namespace

Result<op::MergedFork> Conversation::Rep::merge(const op::MergeFork& asked,
                                                const History& now) const {
  Result<Durable::OpenedFork> opened = durable->open_fork(asked.from, settings);
  if (!opened) return opened.error();
  const Origin& origin = opened->origin;
  if (origin.conversation != durable->id())
    return Error{ErrorCode::not_found,
                 "the conversation " + asked.from + " is a fork of " + origin.conversation +
                     ", not of this one",
                 "from"};
  const History fork = opened->conversation.history();
  op::MergedFork merged{asked.from, fork.version().value, asked.mode};
  switch (asked.mode) {
    case MergeMode::summary: {
      if (fork.stats().total_messages == origin.log_length) return nothing_own(asked.from);
      Result<Message> summary = asked.summary
                                    ? Result<Message>(*asked.summary)
                                    : made_summary(asked.from, fork, origin, context.limits);
      if (!summary) return summary.error();
      merged.messages.push_back(std::move(*summary));
      return merged;
    }
    case MergeMode::messages:
      merged.ordinals = own_in_view(fork, origin.log_length);
      std::erase_if(merged.ordinals, [&](std::uint64_t ordinal) {
        return is_answered_here(now, fork, origin.log_length, ordinal);
      });
      break;
    case MergeMode::pick: {
      Result<std::vector<std::uint64_t>> named = picked(fork, origin.log_length, asked.ordinals);
      if (!named) return named.error();
      for (const std::uint64_t ordinal : *named)
        if (is_answered_here(now, fork, origin.log_length, ordinal))
          return Error{ErrorCode::invalid_argument,
                       "the message with ordinal " + std::to_string(ordinal) +
                           " is the result of a call that has a result here",
                       "ordinals"};
      merged.ordinals = std::move(*named);
      break;
    }
  }
  if (merged.ordinals.empty()) return nothing_own(asked.from);
  merged.messages = messages_of(fork, merged.ordinals);
  return merged;
}

Result<op::ExpandFork> Conversation::Rep::expand(const op::MergedFork& merged) const {
  Result<Durable::OpenedFork> opened = durable->open_fork(merged.from, settings);
  if (!opened) {
    opened.error().field = "index";
    return opened.error();
  }
  const Result<History> fork = opened->conversation.history().fork(Version(merged.fork_version));
  if (!fork) return Error{ErrorCode::not_found, fork.error().message, "index"};
  op::ExpandFork expanded{0, merged.from, merged.fork_version,
                          own_in_view(*fork, opened->origin.log_length)};
  if (expanded.ordinals.empty())
    return Error{ErrorCode::not_found,
                 "the view of the fork " + merged.from + " showed no messages of its own", "index"};
  expanded.messages = messages_of(*fork, expanded.ordinals);
  return expanded;
}

}  // namespace undertext
