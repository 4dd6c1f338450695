// The message formats of providers: what they send comes in, what they accept goes out.
//
//     Imported in = import_messages(Dialect::anthropic, request_body).value();          // messages for op::Append
//     Profile profile = find_profile("openai_chat").value();
//     Rendering out = render(conversation.view(), profile).value();
//     out.json;        // {"messages":[…]}: valid, whatever was trimmed or edited before
//     out.findings;    // what would have been refused, with the provider's words and what was done about it
//     out.losses;      // what the other dialect has no place for
//
// Raw first: a message that came in through import_messages() goes out to its own dialect as the very bytes it came with, as long as it is not
// edited. Across dialects everything goes through one neutral form; docs/dialects.md has its table, and every code of findings and losses.
//
// All of this is pure: the same view and profile give the same bytes, synthetic ids included; nothing in a conversation is touched. Any thread
// may call any of it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/dialect_name.hpp>
#include <undertext/edit_cost.hpp>
#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/history.hpp>
#include <undertext/ids.hpp>
#include <undertext/message.hpp>
#include <undertext/view.hpp>

namespace undertext {

// What one provider, or one family of models behind a dialect, accepts. Data: parse() reads the JSON of docs/dialects.md, in which whatever is
// not said is as the dialect has it.
struct Profile {
  std::string name;
  Dialect dialect = Dialect::openai_chat;

  bool system_role = true;      // there are system messages at all
  bool system_anywhere = true;  // also after the first turn
  bool developer_role = true;   // Chat: a system message may be called a developer's
  bool strict_alternation = false;
  bool first_user = false;    // the first turn must be a user's
  bool prefill = true;        // the last turn may be an assistant's
  bool prefill_twice = true;  // the last two may be
  bool user_after_tool = true;
  bool empty_text = true;        // blank text is accepted
  bool content_null = false;     // … even as null without calls
  bool results_first = false;    // before all else in their turn
  bool unique_call_ids = false;  // in the whole request
  bool images_in_results = true;
  bool arguments_object = false;
  bool requires_reasoning_content = false;
  bool thinking_bound = false;     // a thinking block is void when what stood before it changes
  bool thinking_required = false;  // an open tool loop begins with one
  bool gemini3 = false;            // calls of the current turn carry signatures
  bool store = true;               // the provider keeps items, so that ids may refer to them
  std::uint64_t call_id_max = 0;   // 0: any length, any characters
  std::uint64_t tool_name_max = 0;
  std::uint64_t cache_markers_max = 0;  // 0: any number
  CacheRules cache = {};
  std::vector<std::string> without = {};  // rules that it does not have, by the codes of their findings

  // invalid_argument: no JSON, no known dialect, an unknown or wrong member.
  UNDERTEXT_API static Result<Profile> parse(std::string_view json);
};

// The ones that come with the library: each dialect's own name, and those of vendors and model families with rules of their own.
UNDERTEXT_API Result<Profile> find_profile(std::string_view name);  // not_found
UNDERTEXT_API std::span<const std::string_view> profile_names();
UNDERTEXT_API Profile default_profile(Dialect dialect);

// Where something stands: in the view, and in the request. A turn that a repair made stands nowhere in the view.
struct Place {
  std::optional<std::uint64_t> index = {};  // in the view
  std::optional<Ordinal> ordinal = {};
  std::string path = {};  // in the request as it would be without repair, as this provider writes it: "messages.2.content.0"
};

struct Finding {
  std::string_view code;   // such as "PAIR_ORPHAN_RESULT"; docs/dialects.md has them all
  std::string_view error;  // what the provider would say, abridged
  std::string_view repair;
  Place place = {};
  std::string about = {};  // a tool-call id, or what broke a bound block
};

struct Loss {
  enum class Severity : std::uint8_t { low, medium, high, blocking };
  std::string_view code;  // such as "L_REASONING_DROPPED"
  Severity severity = Severity::low;
  std::string_view note;
  Place place = {};
};
UNDERTEXT_API std::string_view name(Loss::Severity severity);

// What to do with thinking blocks whose prefix has changed, where the provider binds them.
enum class BoundThinking : std::uint8_t {
  strip,       // leave them out
  refuse,      // render() answers conflict
  drop_block,  // leave them in; the request must ask the provider to drop them: see Rendering::advice
};

// Tools that a provider knows under another name than the caller, who may have given one that it refuses: the name as sent, and the caller's.
// A name becomes the same one in every request.
using ToolNames = std::map<std::string, std::string, std::less<>>;

// A part of a client's request that changes from request to request: a cache marker, or a text of the system prompt.
struct VolatilePart {
  enum class Kind : std::uint8_t {
    marker,  // stands on a block
    text,    // is a block
  };
  Kind kind = Kind::marker;
  std::uint64_t index = 0;                  // of the message, in the request's list
  std::optional<Ordinal> ordinal = {};      // of the same message, in the log; unset: not known
  std::uint64_t block = 0;                  // in the message
  std::optional<std::uint64_t> inner = {};  // of a marker inside a tool result: the block in its content
  std::string json = {};                    // the marker, or the block
  friend bool operator==(const VolatilePart&, const VolatilePart&) = default;
};

// What a conversation that follows a client puts into its requests in place of stored volatile parts.
struct VolatileNow {
  std::vector<std::string> system_texts = {};  // stored blocks of system messages that begin so are left out
  std::vector<VolatilePart> parts = {};        // those of the newest request; of messages in the view they are put in
};

struct RenderOptions {
  bool repair = true;  // false: as it stands, with findings for what would be refused
  std::string_view request =
      {};  // the other fields of the request (tools, store, …) as a JSON object, for the rules that need them
  std::optional<View> sent = {};       // what the provider saw last: for bound thinking
  std::vector<View> sent_before = {};  // and what it saw before that, the oldest first: views_sent()
  BoundThinking bound = BoundThinking::strip;
  // automatic: marks the request where the provider's cache wants that; docs/dialects.md has the rule.
  CacheMarkers cache_markers = CacheMarkers::given;
  CachedPrefixes cached = {};  // for automatic markers, what earlier requests left of the view: cached_prefixes()
  // Unset: stored parts stay as they are. With automatic markers, markers among these are not put in.
  std::optional<VolatileNow> volatile_now = {};
};

struct Rendering {
  std::string
      json;  // an object with the fields that hold the conversation: messages; system, messages; systemInstruction, contents; …
             // and those of RenderOptions::request that had to change
  std::vector<Finding> findings;
  std::vector<Loss> losses;
  std::vector<std::string> advice;  // what the caller has to set in the request besides
  ToolNames tool_names = {};        // empty when every name is sent as it is
};

// What a provider saw of `history` before each edit up to `last`, if answers were appended as they came, for RenderOptions::sent_before: reasoning
// is bound to what stood before it when it was made, however often there were edits since. Empty for a profile that binds nothing.
// not_found: no such version. O(versions + n log n).
UNDERTEXT_API Result<std::vector<View>> views_sent(const History& history, Version last, const Profile& profile);

// invalid_argument: `request` is no JSON object. conflict: see BoundThinking::refuse.
UNDERTEXT_API Result<Rendering> render(const View& view, const Profile& profile, const RenderOptions& options = {});

// As edit_cost() of edit_cost.hpp by the profile's rules, and with the signed thinking that is broken at `next` and was not at `sent`: the
// provider would refuse it, and render() leaves it out.
UNDERTEXT_API Result<EditCost> edit_cost(const History& history, Version sent, Version next, const Profile& profile,
                                         const CostOptions& options = {});

// Only the findings: empty when the provider would take the view as it stands.
UNDERTEXT_API Result<std::vector<Finding>> validate(const View& view, const Profile& profile, const RenderOptions& options = {});

// The same of a request as it would be sent: a body, or a bare array of messages. invalid_argument: it is no such thing.
UNDERTEXT_API Result<std::vector<Finding>> validate_request(std::string_view json, const Profile& profile);

struct Imported {
  std::vector<Message> messages;
  std::string rest;         // the body's other fields, as a JSON object
  std::uint64_t known = 0;  // import_after(): how many messages of the view came back as they were sent
};

// A request body, a bare array, or a single message or item. A response of the provider is one too: its message, its output items, or its first
// candidate. Tools come back under the caller's names, by the `names` that Rendering::tool_names had.
// invalid_argument with the path: not of this dialect. too_large: a message over the limit.
UNDERTEXT_API Result<Imported> import_messages(Dialect dialect, std::string_view json, const MessageLimits& limits = {},
                                               const ToolNames& names = {});

// The same for a client that sends back what it was given, and more: what equals the rendering of `view` is known, and only the rest is imported.
// So a conversation kept in one dialect and continued in another stays in its own bytes. `names` are needed for tools that the view does not
// call yet.
UNDERTEXT_API Result<Imported> import_after(const View& view, const Profile& profile, std::string_view json,
                                            const MessageLimits& limits = {}, const ToolNames& names = {});

// Renders one view after another of a growing conversation: what it read before it keeps, so that one more turn costs the turn, a walk over
// what is known of the others, and the bytes. For one thread.
class UNDERTEXT_API Renderer {
 public:
  explicit Renderer(Profile profile);
  ~Renderer();
  Renderer(Renderer&&) noexcept;
  Renderer& operator=(Renderer&&) noexcept;

  // As render(). The Rendering stays until the next call.
  Result<const Rendering*> render(const View& view, const RenderOptions& options = {});

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

// Puts the events of a streamed answer together.
//
//     StreamAssembler stream(Dialect::anthropic);
//     while (…) stream.feed(data);              // the data of one server-sent event: a JSON object, or [DONE]
//     Streamed answer = stream.finish();        // import_messages(dialect, answer.message)
class UNDERTEXT_API StreamAssembler {
 public:
  explicit StreamAssembler(Dialect dialect, ToolNames names = {});  // calls come out under the caller's names
  ~StreamAssembler();
  StreamAssembler(StreamAssembler&&) noexcept;
  StreamAssembler& operator=(StreamAssembler&&) noexcept;

  // invalid_argument: no JSON object. too_large: an answer of more than 64 MiB. What was fed before stays.
  Result<void> feed(std::string_view data);

  struct Streamed {
    std::string message;        // in the dialect: a message, an array of items, or a content; empty when nothing came
    std::string finish_reason;  // as the provider says it; empty when it said none
    std::string usage_json;     // empty when there was none
    std::string id;             // of the response, such as msg_… or resp_…; empty when it said none
    std::string model;          // likewise
    std::string error_json;     // the provider's error in mid-stream
    bool complete = false;      // the stream came to its proper end
  };
  Streamed finish() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace undertext
