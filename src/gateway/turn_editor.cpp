#include "gateway/turn_editor.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <undertext/dialect.hpp>
#include <undertext/models.hpp>

#include "compression/kept.hpp"
#include "compression/plan_by.hpp"
#include "gateway/answer_block.hpp"
#include "gateway/asked_edits.hpp"
#include "gateway/clear_thinking.hpp"
#include "gateway/compaction_answer.hpp"
#include "gateway/error_reply.hpp"
#include "gateway/request_text.hpp"
#include "history/growth.hpp"
#include "store/fresh_id.hpp"

namespace undertext {
namespace {

constexpr std::size_t conversations_max = 4096;  // of which something is remembered

Profile profile_of(const std::string& model, Dialect dialect) {
  for (const std::string& name : find_model(model).profiles)
    if (Result<Profile> profile = find_profile(name); profile && profile->dialect == dialect)
      return *std::move(profile);
  return default_profile(dialect);
}

bool shows_client_list(const History& history, const std::vector<Ordinal>& list) {
  const View view = history.view();
  if (view.size() != list.size()) return false;
  for (auto each = view.begin(); each != view.end(); ++each)
    if (each.ordinal() != list[each.index()]) return false;
  return true;
}

std::uint64_t tokens_of(const History& history, const std::vector<Ordinal>& list) {
  const View log = history.log();
  std::uint64_t tokens = 0;
  for (const Ordinal ordinal : list) tokens += log.tokens(ordinal.value);
  return tokens;
}

// What happens when a request is sent as an edit says: its record tells what the model saw.
std::function<void()> seen(const ObservedTurn& turn, Version version,
                           std::uint64_t estimated_prompt) {
  return [sent = turn.sent, version, estimated_prompt] {
    sent->set({.version = version, .estimated_prompt = estimated_prompt});
  };
}

// The parts of this request, which is not recorded yet, where they stand in the conversation.
VolatileNow volatile_parts_of(const ObservedTurn& turn, const std::vector<Ordinal>& list) {
  VolatileNow now{.system_texts = turn.volatile_parts.system_texts,
                  .parts = turn.record.volatile_parts};
  if (list.size() < turn.record.messages) return now;
  const std::uint64_t before = list.size() - turn.record.messages;
  for (VolatilePart& part : now.parts)
    if (part.index < turn.record.messages) part.ordinal = list[before + part.index];
  return now;
}

std::string codes_of(const std::vector<Finding>& findings) {
  std::vector<std::string_view> codes;
  std::string text;
  for (const Finding& finding : findings) {
    if (std::find(codes.begin(), codes.end(), finding.code) != codes.end()) continue;
    codes.push_back(finding.code);
    text += (text.empty() ? "" : ", ") + std::string(finding.code);
  }
  return text;
}

// The last request of the conversation that is recorded.
std::optional<RequestRecord> last_request(const Conversation& conversation) {
  Result<std::vector<RequestRecord>> last = conversation.requests({.last = 1});
  if (!last || last->empty()) return std::nullopt;
  return std::move(last->front());
}

using Planner = std::function<Result<Plan>(const History&, const Aim&)>;

// An edit that the client asked for. Nothing happens where it frees nothing.
void compress_as_asked(Conversation& conversation, const GatewayPolicy& policy,
                       std::optional<std::uint64_t> tokens_max, const Planner& planner) {
  Aim aim = conversation.aim(tokens_max);
  aim.digest_last = true;
  aim.survival = policy.survival;
  const auto plan = [&](const History& now) -> Result<Plan> {
    Result<Plan> best = planner(now, aim);
    if (best && best->replacements.empty())
      return Error{ErrorCode::cannot_fit, "nothing can be freed"};
    return best;
  };
  static_cast<void>(
      conversation.apply({op::CompressBy{plan}, {.description = "asked for by the client"}}));
}

Planner planner_of(StrategyPtr strategy) {
  return [strategy = std::move(strategy)](const History& now, const Aim& aim) {
    return plan_reaching(*strategy, now, aim, IfShort::accept);
  };
}

// Summaries stand for all that a compaction hides, so that it expands to the originals: where the
// target leaves no room for them, it is exceeded, up to `tokens_enough`.
Planner compaction_within(std::uint64_t tokens_enough) {
  return [tokens_enough](const History& now, const Aim& aim) {
    Result<Plan> plan = plan_reaching(*default_strategy(), now, aim, IfShort::accept);
    const auto drops = [](const Replacement& replacement) { return !replacement.summary; };
    if (!plan || std::none_of(plan->replacements.begin(), plan->replacements.end(), drops))
      return plan;
    Result<Plan> summarised = plan_reaching(*smart_summary(), now, aim, IfShort::accept);
    const std::uint64_t left = summarised ? summarised->tokens_after : now.stats().tokens;
    return left <= tokens_enough ? std::move(summarised) : std::move(plan);
  };
}

// All that the view says but its system prompt, in few words.
std::string summary_of(const Conversation& conversation) {
  constexpr std::uint64_t summary_tokens_max = 2048;
  constexpr std::size_t text_bytes_max = 8192;
  const std::uint64_t known = conversation.history().log().size();
  std::string text;
  Result<Conversation> trial = conversation.trial(conversation.version());
  if (trial)
    static_cast<void>(
        trial->compress(*smart_summary({.keep = 0, .summary_tokens_max = summary_tokens_max})));
  const View view = trial ? trial->view() : conversation.view();
  for (auto each = view.begin(); each != view.end(); ++each)
    if (each.ordinal().value >= known) text += (text.empty() ? "" : "\n\n") + each->text();
  if (!text.empty()) return text;
  for (const Message& message : view)
    if (message.role() != Role::system && text.size() < text_bytes_max)
      text += (text.empty() ? "" : "\n\n") + message.text();
  if (text.size() <= text_bytes_max) return text;
  std::size_t end = text_bytes_max;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

}  // namespace

// What is known of a request, and how it is counted.
struct TurnEditor::Measure : EditMeasure {
  // A compaction that the request asked its provider for, and has the block of.
  struct Made {
    CompactionPointer pointer;
    std::uint64_t tokens_before = 0;
    bool pauses = false;
  };
  std::optional<Made> made = {};
  RequestText text;
  std::optional<std::int64_t> idle_ms = {};  // since the conversation was sent last
  std::optional<AskedEdits> asked = {};      // that the provider was asked for
  std::function<void()> before_edit = {};    // that may take long
};

class TurnEditor::Turn {
 public:
  Turn(TurnEditor& editor, Key key) : editor_(editor), key_(std::move(key)) {
    const std::lock_guard lock(editor_.mutex_);
    is_ours_ = editor_.being_edited_.insert(key_).second;
  }
  ~Turn() {
    if (!is_ours_) return;
    const std::lock_guard lock(editor_.mutex_);
    editor_.being_edited_.erase(key_);
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

  // false: another request of the conversation is
  explicit operator bool() const { return is_ours_; }

 private:
  TurnEditor& editor_;
  const Key key_;
  bool is_ours_ = false;
};

// Also of what was sent a moment ago, and is not recorded yet. It is sent again now.
std::optional<std::int64_t> TurnEditor::last_sent_ms(const Key& key,
                                                     std::optional<std::int64_t> recorded_ms,
                                                     std::int64_t now_ms) {
  const std::lock_guard lock(mutex_);
  std::optional<std::int64_t> last = recorded_ms;
  if (const auto here = sent_at_ms_.find(key); here != sent_at_ms_.end())
    last = std::max(last.value_or(0), here->second);
  if (sent_at_ms_.size() >= conversations_max) sent_at_ms_.erase(sent_at_ms_.begin());
  sent_at_ms_[key] = now_ms;
  return last;
}

RequestEdit TurnEditor::edit(const ObservedTurn& turn, std::int64_t now_ms,
                             const ExchangeEditor::Offer& offer) {
  Measure measure;
  measure.text = read_request_text(turn.dialect, turn.request, turn.record.path);
  Conversation& conversation = *turn.conversation;
  const Key key(turn.tenant, conversation.id());
  const GatewayPolicy policy = options_.policies.of(
      {.tenant = turn.tenant, .model = measure.text.model, .conversation = conversation.id()});
  if (turn.is_compaction) return compacted(turn, policy, measure, now_ms);
  // What the provider has of a conversation that a request only adds to cannot be changed by it.
  const bool is_list = turn.is_followed || turn.aside;
  if (!turn.has_pointer && (!policy.edits() || !is_list || turn.is_delta)) return {};

  if (const Result<ToolsCount> tools = count_tools(measure.text.tools, conversation.counting()))
    measure.overhead_tokens = tools->tokens;
  std::optional<std::int64_t> sent_ms;
  if (const std::optional<RequestRecord> last = last_request(conversation)) {
    // Under the name that its answer gives the model, which is mostly longer than the request's.
    measure.factor = conversation.usage().correction(last->usage.model).factor;
    sent_ms = last->at_ms + last->duration_ms.value_or(0);
  }
  sent_ms = last_sent_ms(key, sent_ms, now_ms);
  if (sent_ms) measure.idle_ms = std::max<std::int64_t>(now_ms - *sent_ms, 0);

  if (turn.aside) {
    // What the client asks to be compacted is what the model has seen, with the client's
    // instructions behind it.
    Conversation trial = conversation.trial(conversation.version()).value();
    trial.apply({*turn.aside}).value();
    return rendered(turn, policy, measure, trial.history(), turn.record.version);
  }
  if (policy.compaction == GatewayPolicy::Compaction::pointer)
    measure.asked = asked_edits(turn.dialect, turn.request,
                                profile_of(measure.text.model, turn.dialect).thinking_bound
                                    ? ThinkingEdits::leave
                                    : ThinkingEdits::make);
  measure.before_edit = [&, has_offered = false]() mutable {
    if (!offer || std::exchange(has_offered, true)) return;
    const History shown = conversation.history();
    if (turn.has_pointer || !shows_client_list(shown, shown.client_list()))
      offer(rendered(turn, policy, measure, shown, shown.version()));
  };
  if (measure.asked) make_asked_edits(turn, policy, measure);
  compress_if_due(turn, policy, measure);
  const History history = conversation.history();
  if (!measure.made) return rendered(turn, policy, measure, history, history.version());
  const auto& [pointer, tokens_before, pauses] = *measure.made;
  const std::string item = options_.seal->seal(pointer, turn.whose);
  if (!pauses) {
    RequestEdit edit = rendered(turn, policy, measure, history, history.version());
    if (edit.body) edit.first_block = compaction_block(pointer.summary, item);
    return edit;
  }
  const std::uint64_t tokens_after = history.stats().tokens;
  RequestEdit edit = paused_answer({.item = item,
                                    .id = fresh_id(now_ms),
                                    .created_at_ms = now_ms,
                                    .tokens_before = tokens_before,
                                    .tokens_after = tokens_after},
                                   pointer.summary, turn.request);
  edit.answer_fields = {
      {"x-undertext-version", std::to_string(history.version().value)},
      {"x-undertext-saved", std::to_string(tokens_before - std::min(tokens_before, tokens_after))}};
  edit.on_sent = seen(turn, history.version(), 0);
  return edit;
}

CompactionPointer TurnEditor::pointer_to(const Conversation& conversation) {
  bool has_told = true;
  {
    const std::lock_guard lock(mutex_);
    std::swap(has_told, has_told_);
  }
  if (!has_told && options_.on_event)
    options_.on_event("a compaction was answered",
                      conversation.id() +
                          ": the client's session needs Undertext from now on; before removing it: "
                          "undertext detach SESSION");
  return {.conversation = conversation.id(),
          .version = conversation.version().value,
          .summary = summary_of(conversation)};
}

void TurnEditor::compress_if_due(const ObservedTurn& turn, const GatewayPolicy& policy,
                                 const Measure& measure) {
  Conversation& conversation = *turn.conversation;
  const History history = conversation.history();
  const std::uint64_t tokens = history.stats().tokens;
  const std::optional<EditGoal> goal =
      edit_goal(policy, {.tokens = measure.as_sent(tokens),
                         .window = find_model(measure.text.model).limits.window,
                         .reserve = measure.text.answer_tokens,
                         .tokens_per_turn = tokens_per_turn(history),
                         .idle_ms = measure.idle_ms,
                         .cache_lifetime_ms = measure.text.cache_lifetime_ms});
  if (!goal) return;
  const Key key(turn.tenant, conversation.id());
  const Turn ours(*this, key);
  if (!ours) return;
  {
    const std::lock_guard lock(mutex_);
    if (waits_.size() >= conversations_max) waits_.erase(waits_.begin());
    if (waits_[key].waits(tokens, *goal)) return;
  }
  if (measure.before_edit) measure.before_edit();
  const Aim aim = conversation.aim();
  const auto plan = [&](const History& now) { return edit_plan(policy, *goal, measure, now, aim); };
  const Result<Outcome> outcome = conversation.apply(
      {op::CompressBy{plan}, {.description = "policy " + std::string(name(policy.mode))}});
  if (outcome) return;
  {
    const std::lock_guard lock(mutex_);
    waits_[key].failed(tokens, *goal);
  }
  if (options_.on_event)
    options_.on_event("a conversation was not compressed",
                      conversation.id() + ": " + outcome.error().message);
}

void TurnEditor::compact_as_asked(Conversation& conversation, const GatewayPolicy& policy,
                                  const Measure& measure) {
  const std::uint64_t before = conversation.stats().tokens;
  const std::optional<std::uint64_t> window =
      policy.window_tokens ? policy.window_tokens : find_model(measure.text.model).limits.window;
  std::uint64_t target = window ? std::min(*window / 8, before / 2) : before / 4;
  if (policy.target_tokens)
    target = *policy.target_tokens;
  else if (policy.target_percent && window)
    target = *window / 100 * *policy.target_percent;
  compress_as_asked(conversation, policy, target,
                    compaction_within(window ? measure.as_counted(*window) : before));
}

namespace {

EditGoal goal_of(const AskedEdit& edit) {
  return {.tokens_gain = edit.above_tokens.value_or(0) / 4};
}

}  // namespace

// After a compaction that stayed above its trigger, a client that pauses for each would never go on,
// and one that does not would lose the provider's cache with every request.
bool TurnEditor::waits_to_compact(const Key& key, std::uint64_t tokens, const AskedEdit& edit) {
  const std::lock_guard lock(mutex_);
  if (asked_waits_.size() >= conversations_max) asked_waits_.erase(asked_waits_.begin());
  return asked_waits_[key].waits(tokens, goal_of(edit));
}

// The edits that a request asks its provider for, which the gateway makes in its place.
void TurnEditor::make_asked_edits(const ObservedTurn& turn, const GatewayPolicy& policy,
                                  Measure& measure) {
  Conversation& conversation = *turn.conversation;
  const Key key(turn.tenant, conversation.id());
  for (const AskedEdit& edit : measure.asked->edits) {
    const History history = conversation.history();
    const std::uint64_t tokens = history.stats().tokens;
    const auto is_due = [&](const History& now) {
      return edit.kind == AskedEdit::Kind::clear_thinking ? true  // in every request
             : edit.above_tokens    ? measure.as_sent(now.stats().tokens) > *edit.above_tokens
             : edit.above_tool_uses ? whole_results(now) > *edit.above_tool_uses
                                    : false;
    };
    if (!is_due(history)) continue;
    if (edit.kind == AskedEdit::Kind::compact) {
      if (waits_to_compact(key, tokens, edit)) continue;
      if (measure.before_edit) measure.before_edit();
      compact_as_asked(conversation, policy, measure);
      if (const History now = conversation.history(); is_due(now)) {
        const std::lock_guard lock(mutex_);
        asked_waits_[key].failed(now.stats().tokens, goal_of(edit));
      }
      if (edit.gives_block && options_.seal && conversation.version() != history.version())
        measure.made = {
            .pointer = pointer_to(conversation), .tokens_before = tokens, .pauses = edit.pauses};
    } else if (edit.kind == AskedEdit::Kind::clear_thinking) {
      compress_as_asked(conversation, policy, {}, planner_of(clear_thinking(edit.keep)));
    } else {
      const ClearToolResults clearing{
          .keep = edit.keep, .exclude = edit.exclude, .tokens_gain_min = edit.tokens_gain_min};
      compress_as_asked(conversation, policy, {}, planner_of(clear_tool_results(clearing)));
    }
  }
}

// A compaction that a client asks for. The item stands for the client's whole list; what the model
// sees in its place from then on is the view, which is compressed now and can be edited at any
// time.
RequestEdit TurnEditor::compacted(const ObservedTurn& turn, const GatewayPolicy& policy,
                                  const Measure& measure, std::int64_t now_ms) {
  Conversation& conversation = *turn.conversation;
  const std::uint64_t before = conversation.stats().tokens;
  // What cannot be made smaller stays; the item is then as good as the list that it stands for.
  compact_as_asked(conversation, policy, measure);
  const History history = conversation.history();
  const std::uint64_t after = history.stats().tokens;

  const CompactionPointer pointer = pointer_to(conversation);
  RequestEdit edit = compaction_answer({.item = options_.seal->seal(pointer, turn.whose),
                                        .id = fresh_id(now_ms),
                                        .created_at_ms = now_ms,
                                        .tokens_before = before,
                                        .tokens_after = after},
                                       turn.record.path, turn.request);
  edit.answer_fields = {{"x-undertext-version", std::to_string(history.version().value)},
                        {"x-undertext-saved", std::to_string(before - std::min(before, after))}};
  edit.on_sent = seen(turn, history.version(), 0);
  return edit;
}

RequestEdit TurnEditor::without_store(Dialect dialect, std::string_view body,
                                      std::string_view whose) const {
  RequestEdit edit;
  if (!options_.seal) return edit;
  const std::vector<SealedItem> items = sealed_items(dialect, body);
  if (items.empty()) return edit;
  std::vector<std::string> summaries;
  for (const auto& [sealed, whole, is_block] : items) {
    std::optional<CompactionPointer> pointer =
        options_.seal->open(body.substr(sealed.begin, sealed.end - sealed.begin), whose);
    if (!pointer) {
      http::Reply refusal = gateway_error(
          dialect == Dialect::anthropic ? Provider::anthropic : Provider::openai, 400,
          "invalid_compaction", "the request has a compaction item that is not valid here");
      edit.answer =
          http::RelayedHead{.status = refusal.status, .fields = std::move(refusal.fields)};
      edit.answer->fields.push_back({"content-type", "application/json"});
      edit.answer->fields.push_back({"content-length", std::to_string(refusal.body.size())});
      edit.answer_body = std::move(refusal.body);
      return edit;
    }
    summaries.push_back(std::move(pointer->summary));
  }
  edit.body = with_summaries(dialect, body, summaries);
  return edit;
}

// What is sent of this history, which the record tells as `version`.
RequestEdit TurnEditor::rendered(const ObservedTurn& turn, const GatewayPolicy& policy,
                                 const Measure& measure, const History& history,
                                 Version version) const {
  const std::vector<Ordinal> list = history.client_list();
  const std::uint64_t list_tokens = tokens_of(history, list);
  RequestEdit unchanged;
  unchanged.answer_fields = {{"x-undertext-version", std::to_string(version.value)},
                             {"x-undertext-saved", "0"}};
  unchanged.on_sent = seen(turn, version, list_tokens + measure.overhead_tokens);

  const Profile profile = profile_of(measure.text.model, turn.dialect);
  const bool is_edited = !shows_client_list(history, list);
  if (turn.has_pointer) {
    RequestEdit simple =
        without_store(turn.dialect, measure.asked ? measure.asked->body : turn.request, turn.whose);
    simple.answer_fields = std::move(unchanged.answer_fields);
    simple.on_sent = std::move(unchanged.on_sent);
    unchanged = std::move(simple);
  }
  std::vector<Finding> refused;
  if (policy.repair) refused = validate_request(turn.request, profile).value();
  if (!is_edited && refused.empty() && !turn.has_pointer) {
    if (measure.asked) unchanged.body = measure.asked->body;
    return unchanged;
  }

  RenderOptions options{
      .repair = true, .request = turn.rest, .volatile_now = volatile_parts_of(turn, list)};
  options.sent_before = views_sent(history, history.version(), profile).value();
  const Rendering rendering = render(history.view(), profile, options).value();
  RequestEdit edit = unchanged;
  edit.body = with_rendered(turn.dialect, measure.asked ? measure.asked->body : turn.request,
                            rendering.json);
  // the conversation that an item names is gone
  if (!sealed_items(turn.dialect, *edit.body).empty()) return unchanged;
  if (const std::vector<Finding> left = validate_request(*edit.body, profile).value();
      !left.empty()) {
    if (options_.on_event)
      options_.on_event("a request was not edited",
                        turn.conversation->id() + ": " + codes_of(left));
    return unchanged;
  }
  const std::uint64_t tokens = history.stats().tokens;
  edit.on_sent = seen(turn, version, tokens + measure.overhead_tokens);
  edit.answer_fields[1].value = std::to_string(list_tokens - std::min(list_tokens, tokens));
  if (!refused.empty()) {
    const std::string codes = codes_of(refused);
    edit.answer_fields.push_back({"x-undertext-repaired", codes});
    if (options_.on_event)
      options_.on_event("a request was repaired", turn.conversation->id() + ": " + codes);
  }
  return edit;
}

}  // namespace undertext
