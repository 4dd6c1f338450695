// A view as a request.
#include "dialect/render.hpp"

#include <algorithm>
#include <utility>

#include <undertext/dialect.hpp>

#include "base/answering_failure.hpp"
#include "base/json_text.hpp"
#include "dialect/cache_markers.hpp"
#include "dialect/rules.hpp"
#include "dialect/tool_names.hpp"
#include "dialect/volatile_parts.hpp"

namespace undertext {

std::string path_of(Dialect dialect, std::size_t turn, std::size_t block,
                    const RequestDraft& draft) {
  if (turn == top_turn) {
    if (block == no_block) return {};
    return dialect == Dialect::anthropic ? "system." + std::to_string(block)
           : dialect == Dialect::gemini  ? "systemInstruction"
                                         : "instructions";
  }
  const std::string i = std::to_string(turn);
  const bool has_block = block != no_block;
  switch (dialect) {
    case Dialect::anthropic:
      return "messages." + i + (has_block ? ".content." + std::to_string(block) : "");
    case Dialect::gemini:
      return "contents[" + i + "]" + (has_block ? ".parts[" + std::to_string(block) + "]" : "");
    case Dialect::openai_responses: return "input[" + i + "]";
    case Dialect::openai_chat: break;
  }
  std::string path = "messages[" + i + "]";
  if (has_block && draft.turns[turn].blocks[block].kind == BlockKind::call)
    path += ".tool_calls[id=" + std::string(draft.turns[turn].blocks[block].id) + "]";
  return path;
}

namespace {

Place place_of(std::uint64_t source, const View* view) {
  Place place;
  if (source == no_source) return place;
  place.index = source;
  if (view != nullptr) place.ordinal = view->ordinal(source);
  return place;
}

}  // namespace

namespace {

std::uint64_t source_of(const Fault& fault, const RequestDraft& draft) {
  if (fault.turn != top_turn) {
    const Turn& turn = draft.turns[fault.turn];
    return fault.block < turn.blocks.size() ? undertext::source_of(turn, turn.blocks[fault.block])
                                            : turn.source;
  }
  if (fault.block == no_block) return no_source;
  std::size_t begin = 0;
  for (const Turn& turn : draft.top) {
    if (fault.block < begin + turn.blocks.size()) return turn.source;
    begin += turn.blocks.size();
  }
  return no_source;
}

}  // namespace

std::vector<Finding> public_findings(const std::vector<Fault>& found, const RequestDraft& draft,
                                     Dialect dialect, const View* view) {
  std::vector<Finding> findings;
  findings.reserve(found.size());
  for (const Fault& one : found) {
    const Rule& rule = rule_of(one.code);
    Finding finding{rule.name, rule.error_in(dialect), rule.repair, {}, one.about};
    finding.place = place_of(source_of(one, draft), view);
    finding.place.path = path_of(dialect, one.turn, one.block, draft);
    findings.push_back(std::move(finding));
  }
  return findings;
}

std::vector<Loss> public_losses(const std::vector<Lost>& lost, const View* view) {
  std::vector<Loss> losses;
  losses.reserve(lost.size());
  for (const Lost& one : lost) {
    const LossText& text = text_of(one.code);
    losses.push_back({text.code, text.severity, text.note, place_of(one.source, view)});
  }
  return losses;
}

RequestDraft adapted(const std::vector<Turn>& turns, const Profile& profile, Arena& arena) {
  RequestDraft draft;
  draft.turns.reserve(turns.size());
  Adapter adapter(profile, draft, arena);
  for (const Turn& turn : turns) adapter.add(turn);
  adapter.finish();
  return draft;
}

std::vector<Turn> read_view(const View& view, Arena& arena) {
  std::vector<Turn> turns;
  turns.reserve(view.size());
  for (const Message& message : view) {
    turns.push_back(read_stored(message, arena));
    turns.back().source = turns.size() - 1;
  }
  return turns;
}

namespace {

bool has_changed_prefix(const std::vector<Fault>& changed) {
  return std::any_of(changed.begin(), changed.end(), [](const Fault& one) {
    return one.code == FindingCode::think_prefix_changed;
  });
}

// The tools of the request under the names that their calls have. Empty: none changes.
std::string rename_tools(RequestDraft& draft, const Profile& profile, const RequestFacts& facts,
                         std::string_view request, Rendering& rendering) {
  bool changes = false;
  for (const std::string& name : facts.tools) {
    if (is_good_tool_name(name, profile) || name.empty()) continue;
    sendable_tool_name(name, profile, facts.tools, draft.tool_names);
    changes = true;
  }
  rendering.tool_names = draft.tool_names;
  if (!changes) return {};
  // which read_request_facts() has read
  const Result<JsonText> text = JsonText::parse(request, {.depth = 4096});
  return sendable_tools(text->root().find("tools")->raw(), draft.tool_names);
}

}  // namespace

Result<Rendering> render_draft(RequestDraft draft, const Profile& profile,
                               const RenderOptions& options, Arena& arena, const View* view) {
  Result<RequestFacts> facts = read_request_facts(options.request, profile);
  if (!facts) return std::move(facts.error());
  if (view != nullptr) put_volatile_parts(draft, profile, options, *view, arena);
  Rendering rendering;
  std::vector<Fault> changed;
  if (options.sent || !options.sent_before.empty()) {
    std::vector<RequestDraft> sent;
    // What was sent was rendered as this is, repairs included.
    const auto add = [&](const View& then) {
      sent.push_back(adapted(read_view(then, arena), profile, arena));
      RequestFacts sent_facts = *facts;
      Repair{sent.back(), profile, sent_facts, arena}.run();
      note_followers(sent.back(), *facts);
    };
    for (const View& then : options.sent_before) add(then);
    if (options.sent) add(*options.sent);
    changed = check_against(sent, draft, profile);
    if (options.bound == BoundThinking::refuse && has_changed_prefix(changed))
      return Error{.code = ErrorCode::conflict,
                   .message = "the edit makes signed thinking void: " + changed.front().about,
                   .field = "sent"};
  }
  std::vector<Fault> found = check(draft, profile, *facts);
  found.insert(found.end(), changed.begin(), changed.end());
  rendering.findings = public_findings(found, draft, profile.dialect, view);
  const bool was_disabled = facts->is_thinking_disabled;
  std::string tools;  // of the caller's, if something about them changes
  if (options.repair) {
    const bool keeps_bound = options.bound == BoundThinking::drop_block;
    note_followers(draft, *facts);
    Repair repair{draft, profile, *facts, arena};
    repair.run_against(changed, keeps_bound);
    repair.run();
    if (keeps_bound && has_changed_prefix(changed))
      rendering.advice.push_back(
          "set thinking.block_binding.prefix_mismatch_behavior to \"drop_block\", with the beta "
          "thinking-binding-controls-2026-08-01");
    tools = rename_tools(draft, profile, *facts, options.request, rendering);
  }
  place_cache_markers(draft, profile, options, arena, tools);
  rendering.json = request_json(profile.dialect, draft);
  if (!tools.empty()) rendering.json.insert(1, R"("tools":)" + tools + ',');
  if (facts->is_thinking_disabled && !was_disabled) {
    rendering.json.insert(1, R"("thinking":{"type":"disabled"},)");
    rendering.advice.push_back(
        "thinking is disabled for this request: the open tool loop has lost the block it must "
        "begin with");
  }
  rendering.losses = public_losses(draft.lost, view);
  return rendering;
}

namespace {

// Whether `before`, of which the messages from `begin` on were new, matters to one who sees `now`:
// some of these are still there, and what stands before them is not the same.
bool matters(const View& before, std::uint64_t begin, const View& now,
             const std::vector<std::uint64_t>& shown) {
  const auto left = std::lower_bound(shown.begin(), shown.end(), before.ordinal(begin).value);
  if (left == shown.end() || *left > before.ordinal(before.size() - 1).value) return false;
  for (std::uint64_t i = 0; i < before.size(); ++i)
    if (i >= now.size() || before.ordinal(i) != now.ordinal(i)) return true;
  return false;
}

}  // namespace

Result<std::vector<View>> views_sent(const History& history, Version last, const Profile& profile) {
  return answering_failure([&]() -> Result<std::vector<View>> {
    const Result<View> now = history.view_at(last);
    if (!now) return now.error();
    std::vector<View> views;
    if (!profile.thinking_bound && profile.dialect != Dialect::openai_responses) return views;
    std::vector<std::uint64_t> shown(now->size());
    for (std::uint64_t i = 0; i < shown.size(); ++i) shown[i] = now->ordinal(i).value;
    std::sort(shown.begin(), shown.end());
    std::uint64_t begin = 0;  // where the messages begin that were appended since the last edit
    std::uint64_t batch = history.version_info(history.first_version()).batch_index;
    for (std::uint64_t version = history.first_version().value + 1; version <= last.value;
         ++version) {
      const VersionInfo info = history.version_info(Version(version));
      // A client's request that only goes on with its list opens no batch.
      const bool is_append = info.operation == "APPEND" ||
                             (info.operation == "RECONCILE" && info.batch_index == batch);
      batch = info.batch_index;
      if (is_append) continue;
      const View before = history.view_at(Version(version - 1)).value();
      if (begin < before.size() && matters(before, begin, *now, shown)) views.push_back(before);
      begin = info.message_count;
    }
    return views;
  });
}

Result<Rendering> render(const View& view, const Profile& profile, const RenderOptions& options) {
  return answering_failure([&]() -> Result<Rendering> {
    Arena arena;
    return render_draft(adapted(read_view(view, arena), profile, arena), profile, options, arena,
                        &view);
  });
}

Result<std::vector<Finding>> validate(const View& view, const Profile& profile,
                                      const RenderOptions& options) {
  RenderOptions as_it_stands = options;
  as_it_stands.repair = false;
  as_it_stands.bound = BoundThinking::strip;
  Result<Rendering> rendering = render(view, profile, as_it_stands);
  if (!rendering) return std::move(rendering.error());
  return std::move(rendering->findings);
}

}  // namespace undertext
