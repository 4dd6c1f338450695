#include "dialect/repair.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/json_string.hpp"
#include "dialect/check_rules.hpp"
#include "dialect/write_parts.hpp"
#include "message/read_fields.hpp"

namespace undertext {

std::string without_member(std::string_view object, std::string_view key) {
  const Result<JsonText> text = JsonText::parse(object, {.depth = 4096});
  if (!text || !text->root().is(JsonType::object)) return std::string(object);
  std::string out = "{";
  const char* separator = "";
  for (const JsonMember member : text->root().members()) {
    if (member.key.string_is(key)) continue;
    out += separator;
    out += member.key.raw();
    out += ':';
    out += member.value.raw();
    separator = ",";
  }
  return out + '}';
}

std::string with_member(std::string_view object, std::string_view key, std::string_view value) {
  std::string out(object.substr(0, object.rfind('}')));
  const bool is_empty = out.find_last_not_of(" \t\r\n{") == std::string::npos;
  if (!is_empty) out += ',';
  append_json_string(out, key);
  out += ':';
  out += value;
  return out + '}';
}

namespace {

std::string_view without_trailing_space(std::string_view body) {
  std::size_t end = 0;
  for (std::size_t at = 0; at < body.size();) {
    const JsonUnit unit = json_unit(body, at);
    at += unit.size;
    if (unit.code_point != ' ' && unit.code_point != '\n' && unit.code_point != '\t' && unit.code_point != '\r') end = at;
  }
  return body.substr(0, end);
}

std::string joined_text(const Turn& turn) {
  std::string body;
  for (const Block& block : turn.blocks) {
    if (block.text.empty()) continue;
    if (!body.empty()) body += "\\n";
    body += block.text;
  }
  return body;
}

}  // namespace

void Repair::remove_blocks(const std::vector<Fault>& found) {
  std::set<std::pair<std::size_t, std::size_t>> gone;
  for (const Fault& one : found) gone.emplace(one.turn, one.block);
  for (std::size_t i = 0; i < draft.turns.size(); ++i) {
    Turn& turn = draft.turns[i];
    std::vector<Block> kept;
    for (std::size_t b = 0; b < turn.blocks.size(); ++b)
      if (gone.count({i, b}) == 0) kept.push_back(std::move(turn.blocks[b]));
    if (kept.size() != turn.blocks.size()) turn.touch();
    turn.blocks = std::move(kept);
  }
}

void Repair::run() {
  // Each pass may uncover work for another, but none undoes what another did: a few rounds are enough, and the tests hold that they are.
  constexpr int rounds_max = 8;
  for (int round = 0; round < rounds_max; ++round) {
    const std::vector<Fault> found = check(draft, profile, facts);
    const bool has_work = std::any_of(found.begin(), found.end(), [](const Fault& one) {
      return one.code != FindingCode::tool_undefined && one.code != FindingCode::state_conflict;
    });
    if (!has_work) return;
    parts();
    pairs();
    results_first();
    media();
    empties();
    systems();
    turns();
    reasoning();
    ids_and_names();
    cache();
  }
}

void Repair::media() {
  if (profile.images_in_results) return;
  std::vector<Turn> out;
  std::vector<Block> moved;
  std::uint64_t source = no_source;
  const auto flush = [&] {
    if (moved.empty()) return;
    Turn carrier;
    carrier.is_made = true;
    carrier.source = source;
    carrier.blocks = std::exchange(moved, {});
    out.push_back(std::move(carrier));
  };
  for (Turn& turn : draft.turns) {
    if (turn.role != Role::tool) flush();
    bool changed = false;
    const auto take = [&](Block& block) {
      source = turn.source;
      moved.push_back(block);
      block = text_block("[image: see the next user message]");
      changed = true;
    };
    for (Block& block : turn.blocks) {
      for (Block& inner : block.inner)
        if (inner.kind == BlockKind::media) take(inner);
      if (block.kind == BlockKind::media && block.type != "audio" && turn.role != Role::user) take(block);
    }
    if (changed) {
      turn.touch();
      for (Block& block : turn.blocks)
        if (block.kind == BlockKind::result) block.raw = {};
      lose(LossCode::media_moved, turn);
    }
    out.push_back(std::move(turn));
  }
  flush();
  draft.turns = std::move(out);
}

void Repair::empties() {
  if (profile.empty_text) return;
  const bool keeps_signed = profile.dialect == Dialect::gemini;
  const auto is_empty = [keeps_signed](const Block& block) {
    return block.kind == BlockKind::text && !(keeps_signed && !block.signature.empty()) && is_blank(block.text);
  };
  const auto sweep = [&](std::vector<Turn>& list) {
    for (Turn& turn : list) {
      for (Block& block : turn.blocks) {
        if (block.kind != BlockKind::result || block.is_server || profile.dialect != Dialect::anthropic) continue;
        if (std::erase_if(block.inner, is_empty) == 0) continue;
        if (block.inner.empty()) {
          block.is_list = false;
          block.text = {};
        }
        block.raw = {};
        turn.touch();
      }
      if (std::erase_if(turn.blocks, is_empty) > 0) turn.touch();
    }
    std::erase_if(list, [](const Turn& turn) { return turn.blocks.empty(); });
  };
  sweep(draft.turns);
  sweep(draft.top);
}

void Repair::systems() {
  std::vector<Turn>& list = draft.turns;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].is_developer && !profile.developer_role && profile.system_role) {
      lose(LossCode::role_developer, list[i]);
      list[i].is_developer = false;
      list[i].touch();
    }
    const bool unsupported = list[i].role == Role::system && profile.dialect == Dialect::openai_chat && !profile.system_role;
    if (!unsupported && !is_system_misplaced(list, i, profile)) continue;
    lose(LossCode::system_as_user, list[i]);
    Turn user = made_turn(Role::user, arena.keep("<system-reminder>" + joined_text(list[i]) + "</system-reminder>"));
    user.source = list[i].source;
    list[i] = std::move(user);
  }
}

void Repair::turns() {
  std::vector<Turn>& list = draft.turns;
  for (Turn& turn : list) {
    if (profile.dialect == Dialect::openai_chat && has_empty_calls(turn)) {
      turn.has_empty_calls = false;
      turn.raw = arena.keep(without_member(turn.raw, "tool_calls"));
    }
    if (profile.dialect == Dialect::openai_chat && is_empty_content(turn)) {
      turn.touch();
      if (turn.blocks.empty()) turn.blocks.push_back(text_block({}));
    }
    if (turn.has_bad_role) {
      turn.has_bad_role = false;
      turn.role = Role::user;
      turn.touch();
    }
    const bool is_null = turn.shape == Turn::Shape::null || turn.shape == Turn::Shape::absent;
    const bool says = has_kind(turn, BlockKind::call) || has_kind(turn, BlockKind::refusal) || has_kind(turn, BlockKind::media);
    if (profile.dialect == Dialect::openai_chat && !profile.content_null && is_null && !turn.raw.empty() &&
        (turn.role != Role::assistant || !says)) {
      turn.shape = Turn::Shape::string;
      turn.touch();
      if (turn.blocks.empty()) turn.blocks.push_back(text_block({}));
    }
  }
  std::vector<Fault> found;
  if (profile.dialect == Dialect::anthropic) {
    for (const Fault& one : check(draft, profile, facts))
      if (one.code == FindingCode::compaction_multiple || one.code == FindingCode::compaction_not_first ||
          one.code == FindingCode::server_pair_orphan)
        found.push_back(one);
    if (!found.empty()) remove_blocks(found);
  }
  std::erase_if(list, [](const Turn& turn) { return turn.blocks.empty() && turn.raw.empty(); });
  if (profile.dialect == Dialect::openai_responses) {
    const auto is_trigger = [](const Turn& turn) { return !turn.blocks.empty() && turn.blocks[0].type == "compaction_trigger"; };
    if (!list.empty()) list.erase(std::remove_if(list.begin(), list.end() - 1, is_trigger), list.end() - 1);
    return;
  }
  merge_neighbours();
  std::size_t first = 0;
  while (first < list.size() && list[first].role == Role::system) ++first;
  const bool is_summary = profile.dialect == Dialect::anthropic && first < list.size() && !list[first].blocks.empty() &&
                          list[first].blocks[0].kind == BlockKind::compaction;
  if (list.empty() || (profile.first_user && first == list.size())) {
    list.push_back(made_turn(Role::user, "Continue."));
  } else if (profile.first_user && list[first].role != Role::user && !is_summary) {
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(first), made_turn(Role::user, "[Earlier messages were removed.]"));
  }
  if (!profile.user_after_tool) {
    std::vector<Turn> out;
    std::optional<Role> last;
    for (Turn& turn : list) {
      if (last == Role::tool && turn.role == Role::user) out.push_back(made_turn(Role::assistant, "Understood."));
      if (turn.role != Role::system) last = turn.role;
      out.push_back(std::move(turn));
    }
    list = std::move(out);
  }
  if (list.empty() || list.back().role != Role::assistant) return;
  if (!profile.prefill) {
    if (!has_calls(list.back())) list.push_back(made_turn(Role::user, "Continue."));
  } else if (profile.dialect == Dialect::anthropic && list.back().blocks.back().kind == BlockKind::text) {
    Block& block = list.back().blocks.back();
    const std::string_view trimmed = without_trailing_space(block.text);
    if (trimmed.size() == block.text.size()) return;
    block.text = trimmed;
    block.raw = {};
    list.back().touch();
  }
}

namespace {

// For each turn, whether it is the assistant's and calls something, or goes on in such a one.
std::vector<bool> turns_up_to_calls(const std::vector<Turn>& turns) {
  std::vector<bool> leads(turns.size());
  bool goes_on = false;
  for (std::size_t i = turns.size(); i-- > 0;) {
    goes_on = turns[i].role == Role::assistant && (goes_on || has_calls(turns[i]));
    leads[i] = goes_on;
  }
  return leads;
}

}  // namespace

void Repair::merge_neighbours() {
  const bool is_gemini = profile.dialect == Dialect::gemini, at_end = ends_twice(draft.turns, profile);
  if (!profile.strict_alternation && !is_gemini && !at_end) return;
  std::size_t end_begin = draft.turns.size();
  while (at_end && end_begin > 0 && draft.turns[end_begin - 1].role == Role::assistant) --end_begin;
  const std::vector<bool> leads_to_calls = is_gemini ? turns_up_to_calls(draft.turns) : std::vector<bool>(draft.turns.size());
  std::vector<Turn> out;
  std::size_t last = no_block;
  for (std::size_t at = 0; at < draft.turns.size(); ++at) {
    Turn& turn = draft.turns[at];
    const bool same = turn.role != Role::system && last != no_block && out[last].role == turn.role && turn.role != Role::tool;
    const bool is_end = at_end && at > end_begin;
    const bool merges = same && (profile.strict_alternation || is_end || leads_to_calls[at]);
    if (!merges) {
      if (turn.role != Role::system) last = out.size();
      out.push_back(std::move(turn));
      continue;
    }
    Turn& before = out[last];
    const auto is_text = [](const Turn& t) {
      return t.blocks.size() == 1 && t.blocks[0].kind == BlockKind::text && t.blocks[0].cache.empty();
    };
    if (profile.dialect == Dialect::openai_chat && is_text(before) && is_text(turn)) {
      Block text = text_block(arena.keep(std::string(before.blocks[0].text) + "\\n\\n" + std::string(turn.blocks[0].text)));
      before.blocks[0] = std::move(text);
      before.shape = Turn::Shape::string;
    } else {
      for (Block& block : turn.blocks) before.blocks.push_back(std::move(block));
      before.shape = Turn::Shape::list;
    }
    before.touch();
  }
  draft.turns = std::move(out);
}

void Repair::reasoning() {
  std::vector<Turn>& list = draft.turns;
  std::vector<Fault> found, gone;
  check_reasoning(draft, profile, facts, found);
  std::set<std::size_t> turns_gone;
  for (const Fault& one : found) {
    switch (one.code) {
      case FindingCode::think_unsigned:
      case FindingCode::think_last_block: gone.push_back(one); break;
      case FindingCode::think_missing: facts.is_thinking_disabled = true; break;
      case FindingCode::reasoning_no_follower:
      case FindingCode::reasoning_not_portable:
      case FindingCode::item_ref_unstored: turns_gone.insert(one.turn); break;
      case FindingCode::gem_sig_missing: {
        constexpr std::string_view sentinel = "skip_thought_signature_validator";
        Block& block = list[one.turn].blocks[one.block];
        block.signature = sentinel;
        if (copies(block, profile.dialect))
          block.raw = arena.keep(
              with_member(without_member(block.raw, "thoughtSignature"), "thoughtSignature", '"' + std::string(sentinel) + '"'));
        list[one.turn].touch();
        lose(LossCode::signature_sentinel, list[one.turn]);
        break;
      }
      case FindingCode::reasoning_content_missing: {
        Turn& turn = list[one.turn];
        Block block;
        block.kind = BlockKind::reasoning;
        block.type = "reasoning_content";
        turn.blocks.insert(turn.blocks.begin(), std::move(block));
        if (turn.is_raw_in(profile.dialect))
          turn.raw = arena.keep(with_member(without_member(turn.raw, "reasoning_content"), "reasoning_content", "\"\""));
        break;
      }
      default: break;
    }
  }
  if (!gone.empty()) {
    for (const Fault& one : gone) lose(LossCode::reasoning_dropped, list[one.turn]);
    remove_blocks(gone);
  }
  if (turns_gone.empty()) return;
  std::vector<Turn> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (turns_gone.count(i) == 0) {
      out.push_back(std::move(list[i]));
    } else {
      lose(list[i].blocks[0].kind == BlockKind::reasoning ? LossCode::reasoning_dropped : LossCode::item_reference, list[i]);
    }
  }
  list = std::move(out);
}

namespace {

std::string made_name(std::string_view from, const Profile& profile) {
  std::string name(from);
  for (char& c : name)
    if (!may_name_tool(c, profile.dialect)) c = '_';
  if (name.size() > profile.tool_name_max) name.resize(profile.tool_name_max);
  if (name.empty()) return "tool";
  if (!is_good_tool_name(name, profile)) name[0] = '_';
  return name;
}

}  // namespace

void Repair::ids_and_names() {
  std::map<std::string_view, std::string_view> renamed;  // tools, by call id
  for (Turn& turn : draft.turns) {
    for (Block& block : turn.blocks) {
      const bool is_call = is_client(block, BlockKind::call);
      if (!is_call && !is_client(block, BlockKind::result)) continue;
      if (block.has_own_id && !block.is_legacy && !is_good_call_id(block.id, profile) && !block.id.empty()) {
        rename_call(turn, block, arena.keep(made_id(block.id, 0)), arena);
        if (is_call) lose(LossCode::call_id_rewritten, turn);
      }
      if (is_call) renamed.erase(block.id);  // an id may be used again
      if (is_call && !block.has_own_form && !is_good_tool_name(block.name, profile)) {
        block.name = arena.keep(made_name(block.name, profile));
        block.raw = {};
        turn.touch();
        renamed[block.id] = block.name;
      }
      // Where a result names its tool, it is by that name that it is matched.
      const auto found = is_call ? renamed.end() : renamed.find(block.id);
      if (found != renamed.end() && (profile.dialect == Dialect::gemini || block.is_legacy) && block.name != found->second) {
        block.name = found->second;
        block.raw = {};
        turn.touch();
      }
      const bool is_object = block.json.empty() || block.json.front() == '{';
      if (is_call && profile.arguments_object && copies(block, profile.dialect) && !is_object) {
        block.raw = {};
        turn.touch();
        lose(LossCode::args_wrapped, turn);
      }
    }
  }
}

// A part of Gemini that holds two things becomes two parts, and one that holds nothing goes.
void Repair::parts() {
  for (std::size_t i = 0; i < draft.turns.size(); ++i) {
    Turn& turn = draft.turns[i];
    if (std::all_of(turn.blocks.begin(), turn.blocks.end(), [](const Block& block) { return block.payloads == 1; })) continue;
    std::vector<Block> blocks;
    for (Block& block : turn.blocks) {
      if (block.payloads == 1) {
        blocks.push_back(std::move(block));
        continue;
      }
      std::string content = turn.role == Role::assistant ? R"({"role":"model","parts":[)" : R"({"role":"user","parts":[)";
      const Result<JsonText> part = JsonText::parse(block.raw, {.depth = 4096});
      if (!part || !part->root().is(JsonType::object)) continue;
      for (const JsonMember member : part->root().members()) {
        if (!is_one_of(member.key, gemini_payloads)) continue;
        if (content.back() != '[') content += ',';
        content += '{';
        content += member.key.raw();
        content += ':';
        content += member.value.raw();
        content += '}';
      }
      const std::string_view kept = arena.keep(content + "]}");
      const Result<JsonText> read = JsonText::parse(kept, {.depth = 4096});
      ToolIds ids;
      ids.next = (i + 1) * 1'000'000 + blocks.size() * 1'000;  // apart from all that were given on the way in
      for (Block& piece : read_gemini(read->root(), arena, ids).blocks) blocks.push_back(std::move(piece));
    }
    turn.blocks = std::move(blocks);
    turn.touch();
  }
}

void Repair::cache() {
  if (profile.cache_markers_max == 0) return;
  const auto take_off = [this](Turn& turn, Block& block) {
    block.cache = {};
    if (!block.raw.empty()) block.raw = arena.keep(without_member(block.raw, "cache_control"));
    turn.touch();
  };
  std::uint64_t top_markers = facts.cache_markers, markers = 0;
  bool short_lived = false;
  const auto visit = [&](Turn& turn, std::uint64_t& count) {
    for (Block& block : turn.blocks) {
      if (block.cache.empty()) continue;
      if (block.kind == BlockKind::reasoning || (is_long_lived(block.cache) && short_lived)) {
        take_off(turn, block);
        continue;
      }
      if (!is_long_lived(block.cache)) short_lived = true;
      ++count;
    }
  };
  for (Turn& turn : draft.top) visit(turn, top_markers);
  for (Turn& turn : draft.turns) visit(turn, markers);
  const auto thin = [&](std::vector<Turn>& list, std::uint64_t excess) {
    for (Turn& turn : list)
      for (Block& block : turn.blocks)
        if (excess > 0 && !block.cache.empty()) {
          take_off(turn, block);
          --excess;
        }
  };
  const std::uint64_t most = profile.cache_markers_max;
  if (top_markers + markers <= most) return;
  const std::uint64_t excess = top_markers + markers - most;
  thin(draft.turns, std::min(excess, markers));
  if (excess > markers) thin(draft.top, excess - markers);
}

}  // namespace undertext
