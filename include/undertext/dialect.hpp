// The message formats of providers: what they send comes in, what they accept goes out.
//
//     Imported in = import_messages(Dialect::anthropic, request_body).value();          // messages for op::Append
//     Profile profile = find_profile("openai_chat").value();
//     Rendering out = render(conversation.view(), profile).value();
//     out.json;        // {"messages":[…]}: valid, whatever was trimmed or edited before
//     out.findings;    // what the provider would have refused, with its error text and the repair
//     out.losses;      // what the other dialect cannot express
//
// Raw first: an unedited message from import_messages() is rendered to its own dialect byte for
// byte. Across dialects everything passes through one neutral form; docs/dialects.md has its table,
// and every code of findings and losses.
//
// All of this is pure: the same view and profile give the same bytes, synthetic ids included. No
// conversation is changed. Any thread may call any of it.
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

// What one provider, or one family of models behind a dialect, accepts, as data. parse() reads the
// JSON of docs/dialects.md; missing members have the dialect's defaults.
struct Profile {
  std::string name;
  Dialect dialect = Dialect::openai_chat;

  bool system_role = true;      // system messages exist
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
  std::vector<std::string> without = {};  // rules that do not apply, by the codes of their findings

  // invalid_argument: no JSON, no known dialect, an unknown or wrong member.
  UNDERTEXT_API static Result<Profile> parse(std::string_view json);
};

// The shipped profiles: one named after each dialect, and those of vendors and model families with
// special rules.
UNDERTEXT_API Result<Profile> find_profile(std::string_view name);  // not_found
UNDERTEXT_API std::span<const std::string_view> profile_names();
UNDERTEXT_API Profile default_profile(Dialect dialect);

// A position in the view and in the request. A turn that a repair added has none in the view.
struct Place {
  std::optional<std::uint64_t> index = {};  // in the view
  std::optional<Ordinal> ordinal = {};
  // in the request before repair, in the provider's notation: "messages.2.content.0"
  std::string path = {};
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

// How to treat thinking blocks whose prefix has changed, where the provider binds them to it.
enum class BoundThinking : std::uint8_t {
  strip,       // omit them
  refuse,      // render() returns conflict
  drop_block,  // keep them; the request must ask the provider to drop them: see Rendering::advice
};

// Tools that are renamed for a provider that refuses the caller's name: from the name as sent to
// the caller's. A name is always mapped to the same one.
using ToolNames = std::map<std::string, std::string, std::less<>>;

// A part of a client's request that changes from request to request: a cache marker, or a text of
// the system prompt.
struct VolatilePart {
  enum class Kind : std::uint8_t {
    marker,  // a member of a block
    text,    // a whole block
  };
  Kind kind = Kind::marker;
  std::uint64_t index = 0;              // of the message, in the request's list
  std::optional<Ordinal> ordinal = {};  // of the same message, in the log; unset: not known
  std::uint64_t block = 0;              // in the message
  // of a marker inside a tool result: the index of the block in its content
  std::optional<std::uint64_t> inner = {};
  std::string json = {};  // the marker, or the block
  friend bool operator==(const VolatilePart&, const VolatilePart&) = default;
};

// The current volatile parts of a conversation that follows a client: they replace the stored ones
// in its requests.
struct VolatileNow {
  std::vector<std::string> system_texts = {};  // prefixes of stored system blocks that are omitted
  // of the newest request; inserted for messages in the view
  std::vector<VolatilePart> parts = {};
};

struct RenderOptions {
  bool repair = true;  // false: unchanged, with findings for what the provider would refuse
  // The other fields of the request (tools, store, …) as a JSON object, for the rules that need
  // them.
  std::string_view request = {};
  std::optional<View> sent = {};  // the view of the last request: for bound thinking
  // the views of earlier requests, the oldest first: views_sent()
  std::vector<View> sent_before = {};
  BoundThinking bound = BoundThinking::strip;
  // automatic: places cache markers by the rule of docs/dialects.md.
  CacheMarkers cache_markers = CacheMarkers::given;
  // for automatic markers: the prefixes that earlier requests cached, from cached_prefixes()
  CachedPrefixes cached = {};
  // Unset: stored parts stay as they are. With automatic markers, the markers among these are
  // ignored.
  std::optional<VolatileNow> volatile_now = {};
};

struct Rendering {
  // An object with the fields of the conversation (messages; system, messages; systemInstruction,
  // contents; …) and those of RenderOptions::request that had to change.
  std::string json;
  std::vector<Finding> findings;
  std::vector<Loss> losses;
  std::vector<std::string> advice;  // what the caller must also set in the request
  ToolNames tool_names = {};        // empty when every name is sent as it is
};

// The views that a provider saw before each edit up to `last`, if answers were appended as they
// arrived; for RenderOptions::sent_before. Reasoning is bound to the prefix with which it was made,
// whatever was edited later. Empty for a profile that binds nothing. not_found: no such version.
// O(versions + n log n).
UNDERTEXT_API Result<std::vector<View>> views_sent(const History& history, Version last,
                                                   const Profile& profile);

// invalid_argument: `request` is no JSON object. conflict: see BoundThinking::refuse.
UNDERTEXT_API Result<Rendering> render(const View& view, const Profile& profile,
                                       const RenderOptions& options = {});

// As edit_cost() of edit_cost.hpp by the profile's rules. Also counts the signed thinking that is
// broken at `next` and was not at `sent`: the provider would refuse it, and render() omits it.
UNDERTEXT_API Result<EditCost> edit_cost(const History& history, Version sent, Version next,
                                         const Profile& profile, const CostOptions& options = {});

// Only the findings: empty when the provider would accept the view as it is.
UNDERTEXT_API Result<std::vector<Finding>> validate(const View& view, const Profile& profile,
                                                    const RenderOptions& options = {});

// The same for a request: a body, or an array of messages. invalid_argument: it is neither.
UNDERTEXT_API Result<std::vector<Finding>> validate_request(std::string_view json,
                                                            const Profile& profile);

struct Imported {
  std::vector<Message> messages;
  std::string rest;  // the body's other fields, as a JSON object
  // import_after(): the number of messages of the view that came back unchanged
  std::uint64_t known = 0;
};

// Imports a request body, an array, a single message or item, or a response: its message, its
// output items, or its only candidate (invalid_argument: it has several, of which one is chosen).
// `names`, from Rendering::tool_names, maps tools back to the caller's names.
// invalid_argument with the path: not of this dialect. too_large: a message over the limit.
UNDERTEXT_API Result<Imported> import_messages(Dialect dialect, std::string_view json,
                                               const MessageLimits& limits = {},
                                               const ToolNames& names = {});

// The same for a client that sends back what it received, and more: what equals the rendering of
// `view` is skipped, and only the rest is imported. So a conversation that is stored in one dialect
// and continued in another keeps its bytes. `names` is needed for tools that the view does not call
// yet.
UNDERTEXT_API Result<Imported> import_after(const View& view, const Profile& profile,
                                            std::string_view json, const MessageLimits& limits = {},
                                            const ToolNames& names = {});

// Renders successive views of a growing conversation. It caches what it read, so one more turn
// costs that turn, a walk over the cached ones, and writing the bytes. For one thread.
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

// Assembles the events of a streamed answer.
//
//     StreamAssembler stream(Dialect::anthropic);
//     while (…) stream.feed(data);              // the data of one server-sent event: a JSON object, or [DONE]
//     Streamed answer = stream.finish();        // import_messages(dialect, answer.message)
class UNDERTEXT_API StreamAssembler {
 public:
  // calls come out under the caller's names
  explicit StreamAssembler(Dialect dialect, ToolNames names = {});
  ~StreamAssembler();
  StreamAssembler(StreamAssembler&&) noexcept;
  StreamAssembler& operator=(StreamAssembler&&) noexcept;

  // invalid_argument: no JSON object. too_large: an answer of more than 64 MiB. What was fed before
  // stays.
  Result<void> feed(std::string_view data);

  struct Streamed {
    // in the dialect: a message, an array of items, or a content; empty when nothing came
    std::string message;
    std::string finish_reason;  // the provider's; empty: none
    std::string usage_json;     // empty when there was none
    std::string id;             // of the response, such as msg_… or resp_…; empty: none
    std::string model;          // likewise
    std::string error_json;     // the provider's error in mid-stream
    bool complete = false;      // the stream ended properly
  };
  Streamed finish() const;

 private:
  struct Rep;
  std::unique_ptr<Rep> rep_;
};

}  // namespace undertext
