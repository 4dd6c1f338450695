// Settings, and how summarisers and strategies that are functions of C become those of the engine.
#include <algorithm>
#include <limits>
#include <vector>

#include "handles.hpp"
#include "json/fields.hpp"
#include "json/settings_json.hpp"
#include "json/strategy_json.hpp"

using namespace undertext;
using c::Answered, c::failure, c::Failed, c::guarded, c::view_of;

namespace {

class CSummariser final : public Summariser {
 public:
  CSummariser(std::string name, undertext_summarise write, undertext_pace pace,
              std::shared_ptr<c::Context> context)
      : name_(std::move(name)),
        summarise_(write),
        slow_(pace != UNDERTEXT_QUICK),
        context_(std::move(context)) {}
  std::string_view name() const noexcept override { return name_; }
  bool is_slow() const noexcept override { return slow_; }

  Result<Summary> summarise(const SummaryRequest& request) const override {
    std::string messages = "[";
    for (const Message& message : request.messages) {
      if (messages.size() > 1) messages += ',';
      messages += message.json();
    }
    messages += ']';
    const undertext_cancel cancel{request.cancel};
    undertext_summary summary = {{"", 0, nullptr}, {"", 0, nullptr}, 0, 0};
    const undertext_status status =
        summarise_(context_->get(), c::text_of(messages), request.tokens_max, &cancel, &summary);
    const Answered text{summary.text}, model{summary.model};
    if (status != UNDERTEXT_OK) return failure(status, "the summariser " + name_, text.text());
    return Summary{std::string(text.text()), std::string(model.text()), summary.prompt_tokens,
                   summary.completion_tokens};
  }

 private:
  std::string name_;
  undertext_summarise summarise_;
  bool slow_;
  std::shared_ptr<c::Context> context_;
};

// Ordinals as stretches of the view: rising, not touching.
Result<std::vector<Range>> stretches_of(const View& view, const std::vector<Ordinal>& ordinals) {
  std::vector<std::uint64_t> indices;
  for (const Ordinal ordinal : ordinals) {
    const std::optional<std::uint64_t> index = view.index_of(ordinal);
    if (!index)
      return Error{ErrorCode::invalid_argument,
                   "ordinal " + std::to_string(ordinal.value) + " is not in the view", "hide"};
    indices.push_back(*index);
  }
  std::sort(indices.begin(), indices.end());
  if (std::adjacent_find(indices.begin(), indices.end()) != indices.end()) {
    return Error{ErrorCode::invalid_argument, "names a message twice", "hide"};
  }
  std::vector<Range> stretches;
  for (const std::uint64_t index : indices) {
    if (stretches.empty() || stretches.back().end != index) stretches.push_back({index, index});
    ++stretches.back().end;
  }
  return stretches;
}

class CStrategy final : public Strategy {
 public:
  CStrategy(std::string name, undertext_plan make, undertext_pace pace,
            std::shared_ptr<c::Context> context)
      : name_(std::move(name)),
        plan_(make),
        slow_(pace != UNDERTEXT_QUICK),
        context_(std::move(context)) {}
  std::string_view name() const noexcept override { return name_; }
  bool is_slow() const noexcept override { return slow_; }
  bool uses_default_target() const noexcept override { return true; }

  Result<Plan> plan(const History& history, const Aim& aim) const override {
    const undertext_view view{history, history.view()};
    const undertext_cancel cancel{aim.cancel};
    Plan plan{.base = history.version(), .replacements = {}, .strategy = name_};
    Answered answered;
    const undertext_status status = plan_(
        context_->get(), &view, aim.tokens_max.value_or(std::numeric_limits<std::uint64_t>::max()),
        &cancel, &answered.string);
    if (status != UNDERTEXT_OK) return failure(status, "the strategy " + name_, answered.text());
    if (answered.text().empty()) return plan;
    if (Failed bad = read(answered.text(), view.view, aim, plan)) {
      bad->message = "the strategy " + name_ + " proposed no plan: " + bad->message;
      return std::move(*bad);
    }
    return plan;
  }

 private:
  static Failed read(std::string_view json, const View& view, const Aim& aim, Plan& plan) {
    const Result<JsonText> text = JsonText::parse(json, {.depth = aim.limits.depth + 4});
    if (!text) return text.error();
    if (!text->root().is(JsonType::object))
      return Error{ErrorCode::invalid_argument, "it must be a JSON object"};
    Reading reading(aim.limits);
    Fields fields(text->root(), "a plan", reading);
    fields.take("reason", plan.reason);
    fields.take_objects("replacements", [&](Fields& inner) {
      Replacement replacement;
      std::vector<Ordinal> hide;
      inner.take_filled("hide", hide);
      inner.take("summary", replacement.summary);
      Result<std::vector<Range>> stretches = stretches_of(view, hide);
      if (!stretches) return inner.fail("hide", stretches.error().message);
      if (stretches->empty()) return inner.missing("hide");
      replacement.hidden = std::move(*stretches);
      plan.replacements.push_back(std::move(replacement));
    });
    fields.done();
    if (reading.failed()) return reading.take_error();
    return std::nullopt;
  }

  std::string name_;
  undertext_plan plan_;
  bool slow_;
  std::shared_ptr<c::Context> context_;
};

Error taken(undertext_text name) {
  return {ErrorCode::invalid_argument,
          "\"" + std::string(view_of(name)) + "\" is one of the engine's own; choose another name",
          "name"};
}

template <class Made, class Map, class Function>
Failed add(Map& to, std::string_view name, Function function, undertext_pace pace,
           std::shared_ptr<c::Context> context) {
  c::must_be_function(function, "function");
  if (name.empty()) return Error{ErrorCode::invalid_argument, "must not be empty", "name"};
  if (pace > UNDERTEXT_SLOW)
    return Error{ErrorCode::invalid_argument, "must be UNDERTEXT_QUICK or UNDERTEXT_SLOW", "pace"};
  to[std::string(name)] = std::make_shared<Made>(std::string(name), function, pace, context);
  context->take();
  return std::nullopt;
}

}  // namespace

undertext_status undertext_settings_new(undertext_settings** settings, undertext_string* error) {
  *settings = nullptr;
  return guarded(error, [&]() -> Failed {
    *settings = new undertext_settings();
    return std::nullopt;
  });
}

undertext_status undertext_settings_read(undertext_settings* settings, undertext_text json,
                                         undertext_string* error) {
  return guarded(settings, error, [&](undertext_settings& into) -> Failed {
    const Result<DoorSettings> read = read_settings(view_of(json), into.own);
    if (!read) return read.error();
    into.config = std::string(view_of(json));
    return std::nullopt;
  });
}

void undertext_settings_close(undertext_settings* settings) { delete settings; }

int undertext_is_cancelled(const undertext_cancel* cancel) {
  return cancel != nullptr && cancel->token.stop_requested() ? 1 : 0;
}

undertext_status undertext_settings_add_summariser(undertext_settings* settings,
                                                   undertext_text name, undertext_pace pace,
                                                   undertext_summarise summarise, undertext_end end,
                                                   void* context, undertext_string* error) {
  return guarded(settings, error, [&](undertext_settings& to) -> Failed {
    if (is_shipped_summariser(view_of(name))) return taken(name);
    return add<CSummariser>(to.own.summarisers, view_of(name), summarise, pace,
                            std::make_shared<c::Context>(context, end));
  });
}

undertext_status undertext_settings_add_strategy(undertext_settings* settings, undertext_text name,
                                                 undertext_pace pace, undertext_plan plan,
                                                 undertext_end end, void* context,
                                                 undertext_string* error) {
  return guarded(settings, error, [&](undertext_settings& to) -> Failed {
    if (is_shipped_strategy(view_of(name))) return taken(name);
    return add<CStrategy>(to.own.strategies, view_of(name), plan, pace,
                          std::make_shared<c::Context>(context, end));
  });
}
