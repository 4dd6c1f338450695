// The clients that are known, as one table.
#include <algorithm>
#include <array>

#include <undertext/client.hpp>

#include "message/client_text.hpp"

namespace undertext {
namespace {

using Words = std::span<const std::string_view>;
template <std::size_t n>
using List = std::array<std::string_view, n>;

struct ClientRow {
  std::string_view name;
  std::optional<Dialect> dialect = {};
  Words volatile_members = {};  // besides those of all clients
  Words volatile_system_texts = {};
  Words summary_texts = {};
  Words summary_questions = {};
  Words compaction_texts = {};
  Words own_headers = {};
  Words session_headers = {};
  Words session_pointers = {};
  Words agent_headers = {};
  Words asking_headers = {};
  Words parent_pointers = {};
  Words stable_system = {};
  bool is_given_view = false;
};

// Claude Code: the billing line belongs to the beginning of the first message, and changes when a
// compaction replaces that.
constexpr List<1> claude_billing = {"x-anthropic-billing-header:"};
constexpr List<1> claude_summary = {"This session is being continued from a previous conversation"};
constexpr List<1> claude_compaction = {"CRITICAL: Respond with TEXT ONLY"};
constexpr List<1> claude_session_headers = {"x-claude-code-session-id"};
constexpr List<1> claude_session_pointers = {"/metadata/user_id#/session_id"};
constexpr List<1> claude_agent = {"x-claude-code-agent-id"};
constexpr List<1> claude_stable = {"/system/1/text"};

constexpr List<1> codex_summary = {"Another language model started to solve this problem"};
constexpr List<1> codex_compaction = {"You are performing a CONTEXT CHECKPOINT COMPACTION"};
constexpr List<2> codex_own_headers = {"x-codex-turn-metadata", "x-codex-window-id"};
constexpr List<3> codex_session_headers = {"thread-id", "session-id", "session_id"};
constexpr List<1> codex_session_pointers = {"/prompt_cache_key"};
constexpr List<1> codex_asking = {"x-codex-parent-thread-id"};
constexpr List<1> codex_parent = {"x-codex-turn-metadata#/forked_from_thread_id"};
constexpr List<1> codex_stable = {"/input/0/content/0/text"};

constexpr List<1> gemini_cli_summary = {"<state_snapshot>"};
constexpr List<3> gemini_cli_compaction = {
    "First, reason in your scratchpad. Then, generate the <state_snapshot>",
    "Generate a new <state_snapshot>", "A previous <state_snapshot> exists"};
constexpr List<1> gemini_cli_own_headers = {"user-agent: GeminiCLI"};

constexpr List<1> opencode_questions = {opencode_question};
constexpr List<3> opencode_compaction = {
    "Here is the conversation so far:\n\n<conversation>\n",
    "Provide a detailed prompt for continuing our conversation above",
    "Provide a detailed but concise summary of our conversation above"};
constexpr List<1> opencode_own_headers = {"user-agent: opencode/"};
constexpr List<3> opencode_session_headers = {"x-session-id", "x-session-affinity",
                                              "x-opencode-session"};
constexpr List<1> opencode_asking = {"x-parent-session-id"};

// What Chat's vendors put beside the content is not sent back by most.
constexpr List<3> chat_reasoning = {"reasoning", "reasoning_content", "reasoning_details"};
constexpr List<2> other_session_headers = {"x-session-id", "x-session-affinity"};

constexpr ClientRow rows[] = {
    {.name = "claude_code",
     .dialect = Dialect::anthropic,
     .volatile_system_texts = claude_billing,
     .summary_texts = claude_summary,
     .compaction_texts = claude_compaction,
     .own_headers = claude_session_headers,
     .session_headers = claude_session_headers,
     .session_pointers = claude_session_pointers,
     .agent_headers = claude_agent,
     .stable_system = claude_stable},
    {.name = "codex",
     .dialect = Dialect::openai_responses,
     .summary_texts = codex_summary,
     .compaction_texts = codex_compaction,
     .own_headers = codex_own_headers,
     .session_headers = codex_session_headers,
     .session_pointers = codex_session_pointers,
     .asking_headers = codex_asking,
     .parent_pointers = codex_parent,
     .stable_system = codex_stable},
    {.name = "gemini_cli",
     .dialect = Dialect::gemini,
     .summary_texts = gemini_cli_summary,
     .compaction_texts = gemini_cli_compaction,
     .own_headers = gemini_cli_own_headers,
     .session_headers = other_session_headers},
    // speaks the dialect of any provider
    {.name = "opencode",
     .summary_questions = opencode_questions,
     .compaction_texts = opencode_compaction,
     .own_headers = opencode_own_headers,
     .session_headers = opencode_session_headers,
     .asking_headers = opencode_asking},
    {.name = "openai_chat",
     .dialect = Dialect::openai_chat,
     .volatile_members = chat_reasoning,
     .session_headers = other_session_headers},
    {.name = "openai_responses",
     .dialect = Dialect::openai_responses,
     .session_headers = other_session_headers},
    {.name = "anthropic", .dialect = Dialect::anthropic, .session_headers = other_session_headers},
    {.name = "gemini", .dialect = Dialect::gemini, .session_headers = other_session_headers},
    {.name = "generic", .session_headers = other_session_headers},
    {.name = "framework", .is_given_view = true},
};

std::vector<std::string> strings(Words words) { return {words.begin(), words.end()}; }

ClientProfile profile_of(const ClientRow& row) {
  ClientProfile profile;
  profile.name = row.name;
  profile.dialect = row.dialect;
  for (const std::string_view member : row.volatile_members)
    profile.volatile_parts.members.emplace_back(member);
  profile.volatile_parts.system_texts = strings(row.volatile_system_texts);
  profile.summary_texts = strings(row.summary_texts);
  profile.summary_questions = strings(row.summary_questions);
  profile.compaction_texts = strings(row.compaction_texts);
  profile.own_headers = strings(row.own_headers);
  profile.session_headers = strings(row.session_headers);
  profile.session_pointers = strings(row.session_pointers);
  profile.agent_headers = strings(row.agent_headers);
  profile.asking_headers = strings(row.asking_headers);
  profile.parent_pointers = strings(row.parent_pointers);
  profile.stable_system = strings(row.stable_system);
  profile.is_given_view = profile.volatile_parts.nothing = row.is_given_view;
  return profile;
}

}  // namespace

std::span<const std::string_view> client_names() {
  static constexpr auto names = [] {
    std::array<std::string_view, std::size(rows)> all;
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = rows[i].name;
    return all;
  }();
  return names;
}

Result<ClientProfile> find_client(std::string_view name) {
  for (const ClientRow& row : rows)
    if (row.name == name) return profile_of(row);
  return Error{ErrorCode::not_found, "no client is called \"" + std::string(name) + "\"", "client"};
}

ClientProfile client_of(Dialect dialect, const ClientRequestHead& head) {
  const auto is_there = [&](std::string_view own) {
    const std::size_t colon = own.find(": ");
    const std::string value = head.header(own.substr(0, colon));
    return !value.empty() && (colon == own.npos || value.starts_with(own.substr(colon + 2)));
  };
  ClientProfile of_dialect = find_client(name(dialect)).value();
  for (const ClientRow& row : rows) {
    if (row.dialect.value_or(dialect) != dialect ||
        std::none_of(row.own_headers.begin(), row.own_headers.end(), is_there))
      continue;
    ClientProfile client = profile_of(row);
    if (!row.dialect) client.volatile_parts = std::move(of_dialect.volatile_parts);
    return client;
  }
  return of_dialect;
}

}  // namespace undertext
