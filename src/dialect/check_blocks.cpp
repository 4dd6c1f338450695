// What a block may be: texts, media, arguments, ids, names, parts.
#include <algorithm>
#include <set>

#include "dialect/check.hpp"
#include "dialect/check_rules.hpp"
#include "dialect/write_parts.hpp"

namespace undertext {
namespace {

bool is_word(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

}  // namespace

bool is_good_call_id(std::string_view id, const Profile& profile) {
  if (id.empty()) return false;
  if (profile.call_id_max == 0) return true;
  if (id.size() > profile.call_id_max) return false;
  return profile.dialect != Dialect::anthropic || is_word(id);
}

bool may_name_tool(char c, Dialect dialect) { return is_word({&c, 1}) || (dialect == Dialect::gemini && (c == '.' || c == ':')); }

bool is_good_tool_name(std::string_view name, const Profile& profile) {
  if (name.empty()) return false;
  if (profile.tool_name_max == 0) return true;
  if (name.size() > profile.tool_name_max) return false;
  // Gemini's begin as names of variables do.
  const bool is_number = (name[0] >= '0' && name[0] <= '9') || name[0] == '-' || name[0] == '.' || name[0] == ':';
  if (profile.dialect == Dialect::gemini && is_number) return false;
  return std::all_of(name.begin(), name.end(), [&profile](char c) { return may_name_tool(c, profile.dialect); });
}

namespace {

class BlockRules {
 public:
  BlockRules(const RequestDraft& draft, const Profile& profile, const RequestFacts& facts, std::vector<Fault>& found)
      : draft_(draft), profile_(profile), facts_(facts), found_(found) {}

  void run() {
    for (const Turn& top : draft_.top) check_texts(top, top_turn);
    for (std::size_t i = 0; i < draft_.turns.size(); ++i) {
      const Turn& turn = draft_.turns[i];
      check_texts(turn, i);
      check_media(turn, i);
      for (std::size_t b = 0; b < turn.blocks.size(); ++b) check_block(turn.blocks[b], i, b);
      if (profile_.dialect == Dialect::anthropic && turn.role == Role::assistant) check_server_pairs(turn, i);
    }
    if (facts_.has_state_conflict) found_.push_back({FindingCode::state_conflict, top_turn, no_block, {}});
  }

 private:
  void add(FindingCode code, std::size_t turn, std::size_t block, std::string_view about = {}) {
    found_.push_back({code, turn, block, std::string(about)});
  }

  void check_texts(const Turn& turn, std::size_t i) {
    if (profile_.empty_text) return;
    if (turn.blocks.empty() || (turn.blocks.size() == 1 && turn.shape == Turn::Shape::string && is_empty(turn.blocks[0])))
      return add(FindingCode::empty_message, i, no_block);
    for (std::size_t b = 0; b < turn.blocks.size(); ++b) {
      const Block& block = turn.blocks[b];
      if (is_empty(block)) {
        add(FindingCode::empty_text, i, b);
        if (!block.cache.empty() && profile_.cache_markers_max > 0) add(FindingCode::cache_on_empty, i, b);
      }
      if (block.kind == BlockKind::result && !block.is_server && profile_.dialect == Dialect::anthropic &&
          std::any_of(block.inner.begin(), block.inner.end(), [this](const Block& inner) { return is_empty(inner); }))
        add(FindingCode::empty_text, i, b, block.id);
    }
  }
  bool is_empty(const Block& block) const {
    if (block.kind != BlockKind::text) return false;
    // Gemini ends a stream with a signature on an empty text, which must come back.
    if (profile_.dialect == Dialect::gemini && !block.signature.empty()) return false;
    return is_blank(block.text);
  }

  void check_media(const Turn& turn, std::size_t i) {
    if (profile_.images_in_results) return;
    for (std::size_t b = 0; b < turn.blocks.size(); ++b) {
      const Block& block = turn.blocks[b];
      const bool inside =
          std::any_of(block.inner.begin(), block.inner.end(), [](const Block& x) { return x.kind == BlockKind::media; });
      const bool beside = block.kind == BlockKind::media && block.type != "audio" && turn.role != Role::user;
      if (inside || beside) add(FindingCode::media_in_tool_result, i, b, block.id);
    }
  }

  void check_block(const Block& block, std::size_t i, std::size_t b) {
    if (block.payloads != 1) add(FindingCode::gem_part_union, i, b);
    const bool is_call = is_client(block, BlockKind::call), is_result = is_client(block, BlockKind::result);
    if (!is_call && !is_result) return;
    if (block.has_own_id && !block.is_legacy && !is_good_call_id(block.id, profile_))
      add(FindingCode::call_id_format, i, b, block.id);
    if (!is_call || (block.has_own_form && copies(block, profile_.dialect))) return;
    if (!is_good_tool_name(block.name, profile_)) add(FindingCode::tool_name_format, i, b, block.name);
    const bool is_object = block.json.empty() || block.json.front() == '{';
    if (profile_.arguments_object && copies(block, profile_.dialect) && !is_object)
      add(FindingCode::args_not_object, i, b, block.id);
    if (facts_.has_tools && facts_.tools.find(block.name) == facts_.tools.end()) add(FindingCode::tool_undefined, i, b, block.name);
  }

  void check_server_pairs(const Turn& turn, std::size_t i) {
    std::set<std::string_view> uses, results;
    for (const Block& block : turn.blocks) {
      if (!block.is_server) continue;
      if (block.kind == BlockKind::call) uses.insert(block.id);
      if (block.kind == BlockKind::result && uses.count(block.id) > 0) results.insert(block.id);
    }
    // A turn that the provider paused in the middle of goes back as it is.
    const bool may_wait = i + 1 == draft_.turns.size();
    for (std::size_t b = 0; b < turn.blocks.size(); ++b) {
      const Block& block = turn.blocks[b];
      if (!block.is_server || (block.kind != BlockKind::call && block.kind != BlockKind::result)) continue;
      if (results.count(block.id) == 0 && !(may_wait && block.kind == BlockKind::call))
        add(FindingCode::server_pair_orphan, i, b, block.id);
    }
  }

  const RequestDraft& draft_;
  const Profile& profile_;
  const RequestFacts& facts_;
  std::vector<Fault>& found_;
};

}  // namespace

void check_blocks(const RequestDraft& draft, const Profile& profile, const RequestFacts& facts, std::vector<Fault>& found) {
  BlockRules(draft, profile, facts, found).run();
}

}  // namespace undertext
