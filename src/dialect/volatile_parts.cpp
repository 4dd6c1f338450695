#include "dialect/volatile_parts.hpp"

#include <algorithm>
#include <string>

#include "base/json_text.hpp"

namespace undertext {
namespace {

class VolatilePlacing {
 public:
  VolatilePlacing(RequestDraft& draft, const VolatileNow& now, const View& view, Arena& arena)
      : draft_(draft), now_(now), view_(view), arena_(arena) {}

  void leave_out_texts() {
    for (std::vector<Turn>* turns : {&draft_.top, &draft_.turns})
      for (Turn& turn : *turns)
        if (turn.role == Role::system || turn.is_top)
          if (std::erase_if(turn.blocks, [&](const Block& block) { return is_volatile(block); }) >
              0)
            turn.touch();
  }

  void put(const VolatilePart& part) {
    Turn* const turn = turn_of(part);
    if (turn == nullptr) return;
    if (part.kind == VolatilePart::Kind::text) return put_text(part, *turn);
    if (Block* const block = block_of(part, *turn)) mark(part, *turn, *block);
  }

  void drop_empty_turns() {
    for (std::vector<Turn>* turns : {&draft_.top, &draft_.turns})
      std::erase_if(*turns, [](const Turn& turn) {
        return turn.blocks.empty() && turn.role == Role::system && turn.raw.empty();
      });
  }

 private:
  bool is_volatile(const Block& block) const {
    return block.kind == BlockKind::text &&
           std::any_of(now_.system_texts.begin(), now_.system_texts.end(),
                       [&](const std::string& begin) { return block.text.starts_with(begin); });
  }

  bool is_of(const VolatilePart& part, std::uint64_t source) const {
    return source != no_source && view_.ordinal(source) == *part.ordinal;
  }

  // The turn that has the message, alone or with its neighbours.
  Turn* turn_of(const VolatilePart& part) {
    if (!part.ordinal) return nullptr;
    for (std::vector<Turn>* turns : {&draft_.top, &draft_.turns})
      for (Turn& turn : *turns) {
        if (is_of(part, turn.source)) return &turn;
        for (const Block& block : turn.blocks)
          if (block.source != no_source && is_of(part, block.source)) return &turn;
      }
    return nullptr;
  }

  Block* block_of(const VolatilePart& part, Turn& turn) {
    std::uint64_t at = 0;
    for (Block& block : turn.blocks)
      if (is_of(part, source_of(turn, block)) && at++ == part.block) return &block;
    return nullptr;
  }

  void put_text(const VolatilePart& part, Turn& turn) {
    const Result<JsonText> text = JsonText::parse(part.json, {.depth = 64});
    const std::optional<JsonValue> said = text ? text->root().find("text") : std::nullopt;
    if (!said || !said->is(JsonType::string)) return;
    Block block;
    block.kind = BlockKind::text;
    block.raw = arena_.keep(part.json);
    block.native = bit(Dialect::anthropic);
    const std::string_view raw = said->raw();
    block.text = arena_.keep(std::string(raw.substr(1, raw.size() - 2)));
    block.source = turn.source;
    const auto at =
        static_cast<std::ptrdiff_t>(std::min<std::uint64_t>(part.block, turn.blocks.size()));
    turn.blocks.insert(turn.blocks.begin() + at, std::move(block));
    turn.touch();
  }

  void mark(const VolatilePart& part, Turn& turn, Block& block) {
    if (!part.inner) {
      mark_block(part, block);
    } else if (*part.inner < block.inner.size()) {
      Block& inner = block.inner[*part.inner];
      const std::string_view before = inner.raw;
      mark_block(part, inner);
      const bool is_inside = !before.empty() && before.data() >= block.raw.data() &&
                             before.data() + before.size() <= block.raw.data() + block.raw.size();
      if (is_inside) {
        std::string raw(block.raw);
        raw.replace(static_cast<std::size_t>(before.data() - block.raw.data()), before.size(),
                    inner.raw);
        block.raw = arena_.keep(std::move(raw));
      } else {
        block.raw = {};
      }
    }
    turn.touch();
  }

  void mark_block(const VolatilePart& part, Block& block) {
    block.cache = arena_.keep(part.json);
    if (!block.raw.empty())
      block.raw = arena_.keep(
          with_member(without_member(block.raw, "cache_control"), "cache_control", block.cache));
  }

  RequestDraft& draft_;
  const VolatileNow& now_;
  const View& view_;
  Arena& arena_;
};

}  // namespace

void put_volatile_parts(RequestDraft& draft, const Profile& profile, const RenderOptions& options,
                        const View& view, Arena& arena) {
  if (!options.volatile_now) return;
  VolatilePlacing placing(draft, *options.volatile_now, view, arena);
  placing.leave_out_texts();
  // the one dialect whose clients have any so far
  const bool takes_parts = profile.dialect == Dialect::anthropic;
  if (takes_parts) {
    for (const VolatilePart& part : options.volatile_now->parts) {
      const bool is_marker = part.kind == VolatilePart::Kind::marker;
      if (!is_marker || options.cache_markers == CacheMarkers::given) placing.put(part);
    }
  }
  placing.drop_empty_turns();
}

}  // namespace undertext
