#include "dialect/cache_markers.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/json_text.hpp"
#include "dialect/rules.hpp"

namespace undertext {
namespace {

constexpr std::string_view marker = R"({"type":"ephemeral"})",
                           long_lived_marker = R"({"type":"ephemeral","ttl":"1h"})";
constexpr std::uint64_t markers_max = 4;

// Anthropic refuses markers on thinking and on blank text; blocks of other kinds are not known to
// take one.
bool may_be_marked(const Block& block) {
  switch (block.kind) {
    case BlockKind::text: return !is_blank(block.text);
    case BlockKind::media: return true;
    case BlockKind::call:
    case BlockKind::result: return !block.is_server;
    default: return false;
  }
}

std::uint64_t markers_in(const Block& block) {
  std::uint64_t count = block.cache.empty() ? 0 : 1;
  for (const Block& inner : block.inner) count += markers_in(inner);
  return count;
}

// The caller's tools, and the field by which the provider is asked to mark the end itself.
struct RestOfRequest {
  std::vector<std::string> tools = {};
  std::uint64_t markers = 0;
  std::size_t last_tool = 0;  // that may have a marker: its number from 1 on; 0: none
  bool marks_end = false;
};

RestOfRequest read_rest(std::string_view request, std::string_view sent_tools) {
  RestOfRequest rest;
  if (request.empty()) return rest;
  const Result<JsonText> text = JsonText::parse(request, {.depth = 4096});
  const auto is_set = [](const JsonValue& object, std::string_view key) {
    const std::optional<JsonValue> value = object.find(key);
    return value && !value->is(JsonType::null);
  };
  rest.marks_end = is_set(text->root(), "cache_control");
  if (rest.marks_end) ++rest.markers;
  const Result<JsonText> renamed =
      JsonText::parse(sent_tools.empty() ? "null" : sent_tools, {.depth = 4096});
  const std::optional<JsonValue> tools =
      sent_tools.empty() ? text->root().find("tools") : renamed->root();
  if (!tools || !tools->is(JsonType::array)) return rest;
  for (const JsonValue tool : tools->elements()) {
    rest.tools.emplace_back(tool.raw());
    if (!tool.is(JsonType::object)) continue;
    const std::optional<JsonValue> deferred = tool.find("defer_loading");
    if (is_set(tool, "cache_control")) {
      ++rest.markers;
      rest.last_tool = 0;  // what stands before it is marked already
    } else if (!(deferred && deferred->is(JsonType::boolean) && deferred->boolean())) {
      rest.last_tool = rest.tools.size();
    }
  }
  return rest;
}

// Blocks are numbered through in the order of the request. A prefix is the number of its blocks.
class Placing {
 public:
  Placing(RequestDraft& draft, const Profile& profile, const RenderOptions& options, Arena& arena,
          std::string_view tools)
      : profile_(profile),
        options_(options),
        arena_(arena),
        rest_(read_rest(options.request, tools)) {
    for (Turn& turn : draft.top) add(turn);
    instructions_ = blocks_.size();
    for (Turn& turn : draft.turns) {
      if (turn.role == Role::assistant) last_answer_ = blocks_.size();
      add(turn);
    }
    const std::uint64_t most = profile.cache_markers_max == 0
                                   ? markers_max
                                   : std::min(profile.cache_markers_max, markers_max);
    std::uint64_t given = rest_.markers;
    for (const At& at : blocks_) given += markers_in(block(at));
    free_ = most - std::min(most, given);
  }

  // In the order of what is lost without them.
  std::string run() {
    const std::size_t cached = cached_prefix();
    if (!rest_.marks_end) mark(blocks_.size());
    if (!is_in_reach(cached)) mark(cached);
    if (instructions_ > 0) {
      mark(instructions_);
    } else {
      mark_tools();
    }
    mark(prefix_of(options_.cached.edited));
    mark_tools();
    mark(cached);
    return tools_json();
  }

 private:
  struct At {
    Turn* turn;
    std::size_t block;
  };
  static Block& block(const At& at) { return at.turn->blocks[at.block]; }
  void add(Turn& turn) {
    for (std::size_t b = 0; b < turn.blocks.size(); ++b) blocks_.push_back({&turn, b});
  }

  // The blocks of the view's first messages. Blocks that repairs made belong to no message.
  std::size_t prefix_of(std::uint64_t messages) const {
    std::size_t end = 0;
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const std::uint64_t source = block(blocks_[i]).source;
      if (source == no_source) continue;
      if (source >= messages) break;
      end = i + 1;
    }
    return end;
  }

  // What the cache holds already. Where nothing is known of earlier requests, the last one ended
  // before the model's last answer.
  std::size_t cached_prefix() const {
    const std::vector<std::uint64_t>& ends = options_.cached.ends;
    return ends.empty() ? last_answer_ : prefix_of(ends.back());
  }

  // The last block of a prefix that may have a marker, as a prefix; 0: none.
  std::size_t markable(std::size_t prefix) const {
    while (prefix > 0 && !may_be_marked(block(blocks_[prefix - 1]))) --prefix;
    return prefix;
  }

  // Whether a marker that is there looks back as far as the end of this prefix.
  bool is_in_reach(std::size_t prefix) const {
    prefix = markable(prefix);
    if (prefix == 0) return true;
    const std::uint64_t reach =
        profile_.cache.lookback == 0 ? blocks_.size() : profile_.cache.lookback;
    for (std::size_t i = prefix; i <= blocks_.size() && i - prefix < reach; ++i)
      if (!block(blocks_[i - 1]).cache.empty()) return true;
    return rest_.marks_end && blocks_.size() - prefix < reach;
  }

  // A marker that lives longer must not stand behind one that lives shorter.
  bool is_before_long_lived(std::size_t prefix) const {
    return std::any_of(blocks_.begin() + static_cast<std::ptrdiff_t>(prefix), blocks_.end(),
                       [](const At& at) { return is_long_lived(block(at).cache); });
  }
  std::string_view marker_at(std::size_t prefix) const {
    return is_before_long_lived(prefix) ? long_lived_marker : marker;
  }

  void mark(std::size_t prefix) {
    prefix = markable(prefix);
    if (prefix == 0 || free_ == 0) return;
    Block& marked = block(blocks_[prefix - 1]);
    if (markers_in(marked) > 0) return;
    marked.cache = marker_at(prefix);
    if (!marked.raw.empty())
      marked.raw = arena_.keep(
          with_member(without_member(marked.raw, "cache_control"), "cache_control", marked.cache));
    blocks_[prefix - 1].turn->touch();
    --free_;
  }

  void mark_tools() {
    if (free_ == 0 || rest_.last_tool == 0) return;
    std::string& tool = rest_.tools[rest_.last_tool - 1];
    tool = with_member(without_member(tool, "cache_control"), "cache_control", marker_at(0));
    rest_.last_tool = 0;
    has_marked_tools_ = true;
    --free_;
  }

  std::string tools_json() const {
    std::string json;
    if (!has_marked_tools_) return json;
    for (const std::string& tool : rest_.tools) (json += json.empty() ? '[' : ',') += tool;
    return json += ']';
  }

  const Profile& profile_;
  const RenderOptions& options_;
  Arena& arena_;
  RestOfRequest rest_;
  std::vector<At> blocks_;
  std::size_t instructions_ = 0;  // blocks
  std::size_t last_answer_ = 0;   // blocks before it
  std::uint64_t free_ = 0;        // markers that may still be put
  bool has_marked_tools_ = false;
};

}  // namespace

void place_cache_markers(RequestDraft& draft, const Profile& profile, const RenderOptions& options,
                         Arena& arena, std::string& tools) {
  const bool takes_markers =
      profile.dialect == Dialect::anthropic && profile.cache.kind == CacheRules::Kind::breakpoints;
  if (options.cache_markers != CacheMarkers::automatic || !takes_markers) return;
  if (std::string marked = Placing(draft, profile, options, arena, tools).run(); !marked.empty())
    tools = std::move(marked);
}

}  // namespace undertext
