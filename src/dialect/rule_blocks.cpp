// What blocks may hold: texts, failed results, pairs of the provider's own tools, parts of Gemini.
#include <algorithm>
#include <set>
#include <utility>

#include "dialect/rules.hpp"
#include "dialect/write_parts.hpp"
#include "message/read_fields.hpp"

namespace undertext {
namespace {

// A text that says nothing. Gemini ends a stream with a signature on an empty text, which must come
// back.
bool is_empty_text(const Block& block, Dialect dialect) {
  const bool is_thought = dialect == Dialect::gemini && block.kind == BlockKind::reasoning;
  if (block.kind != BlockKind::text && !is_thought) return false;
  return !(dialect == Dialect::gemini && !block.signature.empty()) && is_blank(block.text);
}
bool has_empty_inner(const Block& block, Dialect dialect) {
  return dialect == Dialect::anthropic && is_client(block, BlockKind::result) &&
         std::any_of(block.inner.begin(), block.inner.end(),
                     [dialect](const Block& inner) { return is_empty_text(inner, dialect); });
}

// Anthropic: a result that reports an error says so in text.
bool is_wordless_error(const Block& block) {
  if (!is_client(block, BlockKind::result) || !block.is_error) return false;
  if (!block.is_list) return block.json.empty() && is_blank(block.text);
  return block.inner.empty() ||
         std::any_of(block.inner.begin(), block.inner.end(),
                     [](const Block& inner) { return inner.kind != BlockKind::text; });
}

class BlockRules {
 public:
  BlockRules(const RuleInput& asked, Faults& found)
      : draft_(asked.draft), dialect_(asked.profile.dialect), found_(found) {}

  void run() {
    std::size_t at_top = 0;
    for (const Turn& top : draft_.top) {
      check_texts(top, top_turn, at_top);
      at_top += top.blocks.size();
    }
    for (std::size_t i = 0; i < draft_.turns.size(); ++i) {
      const Turn& turn = draft_.turns[i];
      check_texts(turn, i, 0);
      for (std::size_t b = 0; b < turn.blocks.size(); ++b) {
        if (turn.blocks[b].payloads != 1) found_.add(FindingCode::gem_part_union, i, b);
        if (is_wordless_error(turn.blocks[b]))
          found_.add(FindingCode::result_error_content, i, b, turn.blocks[b].id);
      }
      if (found_.wants(FindingCode::server_pair_orphan) && turn.role == Role::assistant)
        check_server_pairs(turn, i);
    }
  }

 private:
  void check_texts(const Turn& turn, std::size_t i, std::size_t first) {
    const bool is_string = turn.blocks.size() == 1 && turn.shape == Turn::Shape::string;
    if (turn.blocks.empty() || (is_string && is_empty_text(turn.blocks[0], dialect_)))
      return found_.add(FindingCode::empty_message, i);
    for (std::size_t b = 0; b < turn.blocks.size(); ++b) {
      const Block& block = turn.blocks[b];
      if (is_empty_text(block, dialect_)) {
        found_.add(FindingCode::empty_text, i, first + b);
        if (!block.cache.empty()) found_.add(FindingCode::cache_on_empty, i, first + b);
      } else if (has_empty_inner(block, dialect_)) {
        found_.add(FindingCode::empty_text, i, first + b, block.id);
      }
    }
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
      if (!block.is_server || (block.kind != BlockKind::call && block.kind != BlockKind::result))
        continue;
      if (results.count(block.id) == 0 && !(may_wait && block.kind == BlockKind::call))
        found_.add(FindingCode::server_pair_orphan, i, b, block.id);
    }
  }

  const RequestDraft& draft_;
  const Dialect dialect_;
  Faults& found_;
};

}  // namespace

void find_blocks(const RuleInput& asked, Faults& found) { BlockRules(asked, found).run(); }

void mend_texts(Repair& repair, const std::vector<Fault>&) {
  const Dialect dialect = repair.profile.dialect;
  const auto is_empty = [dialect](const Block& block) { return is_empty_text(block, dialect); };
  for (std::vector<Turn>* const list : {&repair.draft.turns, &repair.draft.top}) {
    for (Turn& turn : *list) {
      for (Block& block : turn.blocks) {
        if (!has_empty_inner(block, dialect)) continue;
        std::erase_if(block.inner, is_empty);
        if (block.inner.empty()) {
          block.is_list = false;
          block.text = {};
        }
        block.raw = {};
        turn.touch();
      }
      if (std::erase_if(turn.blocks, is_empty) > 0) turn.touch();
    }
    std::erase_if(*list, [](const Turn& turn) { return turn.blocks.empty(); });
  }
}

void mend_failed_results(Repair& repair, const std::vector<Fault>& faults) {
  for (const Fault& fault : faults) {
    Turn& turn = repair.draft.turns[fault.turn];
    std::vector<Block> texts, moved;
    for (Block& inner : turn.blocks[fault.block].inner) {
      if (inner.kind == BlockKind::text) {
        texts.push_back(std::move(inner));
      } else if (inner.kind == BlockKind::media) {
        texts.push_back(text_block(inner.media.kind == MediaKind::image ? "[image: see below]"
                                                                        : "[file: see below]"));
        inner.source = source_of(turn, turn.blocks[fault.block]);
        moved.push_back(std::move(inner));
      } else {
        texts.push_back(text_block(repair.arena.keep(escaped(inner.raw))));
      }
    }
    Block& result = turn.blocks[fault.block];
    if (!moved.empty()) repair.lose(LossCode::media_moved, turn, result);
    result.is_list = !texts.empty();
    if (texts.empty()) result.text = "[error]";
    result.inner = std::move(texts);
    result.raw = {};
    turn.touch();
    for (Block& block : moved) turn.blocks.push_back(std::move(block));
  }
}

// A part of Gemini that holds two things becomes two parts, and one that holds nothing goes.
void mend_parts(Repair& repair, const std::vector<Fault>& faults) {
  std::set<std::size_t> found;
  for (const Fault& fault : faults) found.insert(fault.turn);
  for (const std::size_t i : found) {
    Turn& turn = repair.draft.turns[i];
    std::vector<Block> blocks;
    for (Block& block : turn.blocks) {
      if (block.payloads == 1) {
        blocks.push_back(std::move(block));
        continue;
      }
      std::string content = turn.role == Role::assistant ? R"({"role":"model","parts":[)"
                                                         : R"({"role":"user","parts":[)";
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
      const std::string_view kept = repair.arena.keep(content + "]}");
      const Result<JsonText> read = JsonText::parse(kept, {.depth = 4096});
      ToolIds ids;
      // apart from all that were given on the way in
      ids.next = (i + 1) * 1'000'000 + blocks.size() * 1'000;
      for (Block& piece : read_gemini(read->root(), repair.arena, ids).blocks)
        blocks.push_back(std::move(piece));
    }
    turn.blocks = std::move(blocks);
    turn.touch();
  }
}

}  // namespace undertext
