// Rendering a conversation that grows. What was read is kept as long as the view begins with the
// same messages; the bytes are kept as long as nothing has to be repaired, which for a conversation
// that was not edited is always.
#include <algorithm>
#include <optional>
#include <utility>

#include <undertext/dialect.hpp>

#include "base/answering_failure.hpp"
#include "dialect/render.hpp"
#include "dialect/request_draft.hpp"
#include "dialect/rules.hpp"

namespace undertext {

struct Renderer::Rep {
  explicit Rep(Profile given) : profile(std::move(given)) { reset(); }

  Result<const Rendering*> render(const View& next, const RenderOptions& options);

  void reset() {
    draft = {};
    arena = std::make_unique<Arena>();
    adapter = std::make_unique<Adapter>(profile, draft, *arena);
    view.reset();
    offsets.clear();
    rendering = {};
    lost_told = 0;
  }

  // Whether `next` is the view of the last time with something behind it. The turns borrow the
  // messages' bytes, so it must be the same bytes in the same place, not equal ones.
  bool continues(const View& next) const {
    if (!view || next.size() < view->size()) return false;
    auto after = next.begin();
    for (const Message& message : *view) {
      if (message.json().data() != after->json().data()) return false;
      ++after;
    }
    return true;
  }

  void read_on(const View& next) {
    std::uint64_t index = view ? view->size() : 0;
    const std::uint64_t size = next.size();
    // until all of `next` is read: after a failure the next call begins from the start
    view.reset();
    // From the last turn on: what comes may have joined it.
    const std::size_t turns_before = draft.turns.size(), tops_before = draft.top.size();
    for (; index < size; ++index) {
      Turn turn = read_stored(next[index], *arena);
      turn.source = index;
      adapter->add(std::move(turn));
    }
    if (draft.top.size() != tops_before) offsets.clear();
    offsets.resize(std::min(offsets.size(), turns_before == 0 ? 0 : turns_before - 1));
    view = next;
  }

  void write_on() {
    std::string& json = rendering.json;
    if (offsets.empty()) {
      json.clear();
      append_request_head(json, profile.dialect, draft);
    } else {
      json.resize(offsets.back());
    }
    for (std::size_t i = offsets.size(); i < draft.turns.size(); ++i) {
      if (i > 0) json += ',';
      append_turn(json, profile.dialect, draft.turns[i]);
      offsets.push_back(json.size());
    }
    json += "]}";
    for (const Loss& loss : public_losses(
             {draft.lost.begin() + static_cast<std::ptrdiff_t>(lost_told), draft.lost.end()},
             &*view))
      rendering.losses.push_back(loss);
    lost_told = draft.lost.size();
  }

  Profile profile;
  std::unique_ptr<Arena> arena;
  RequestDraft draft;  // not repaired
  std::unique_ptr<Adapter> adapter;
  std::optional<View> view;
  std::vector<std::size_t> offsets;  // where each turn ends in the bytes, as far as they are good
  std::size_t lost_told = 0;
  Rendering rendering;  // of the draft as it stands
  Rendering other;      // of anything else
};

Renderer::Renderer(Profile profile) : rep_(std::make_unique<Rep>(std::move(profile))) {}
Renderer::~Renderer() = default;
Renderer::Renderer(Renderer&&) noexcept = default;
Renderer& Renderer::operator=(Renderer&&) noexcept = default;

Result<const Rendering*> Renderer::render(const View& view, const RenderOptions& options) {
  return answering_failure([&] { return rep_->render(view, options); });
}

Result<const Rendering*> Renderer::Rep::render(const View& next, const RenderOptions& options) {
  if (!continues(next)) reset();
  read_on(next);
  Result<RequestFacts> facts = read_request_facts(options.request, profile);
  if (!facts) return std::move(facts.error());
  const bool is_plain = !options.sent && options.sent_before.empty() &&
                        options.cache_markers == CacheMarkers::given && !options.volatile_now;
  const bool takes_tools =
      std::all_of(facts->tools.begin(), facts->tools.end(),
                  [this](const std::string& name) { return is_good_tool_name(name, profile); });
  if (is_plain && takes_tools && !adapter->is_waiting() && check(draft, profile, *facts).empty()) {
    write_on();
    return &rendering;
  }
  Arena passing;
  RequestDraft repaired = draft;
  if (adapter->is_waiting()) repaired = adapted(read_view(next, passing), profile, passing);
  Result<Rendering> made = render_draft(std::move(repaired), profile, options, passing, &next);
  if (!made) return std::move(made.error());
  other = std::move(*made);
  return &other;
}

}  // namespace undertext
