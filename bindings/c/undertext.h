/* Undertext for C: conversations of LLM agents as versioned, lossless sequences.
 *
 *     undertext_conversation *conversation;
 *     undertext_string answer;
 *     if (undertext_conversation_new(NULL, &conversation, NULL) != UNDERTEXT_OK) return 1;
 *     undertext_answer(conversation, undertext_text_of("{\"operation\":\"APPEND\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}"), &answer);
 *     puts(answer.data);                  // {"ok":true,"operation":"APPEND","version":1,…}
 *     undertext_string_close(&answer);
 *     undertext_conversation_close(conversation);
 *
 * Messages, operations, queries and their answers cross as the JSON of docs/operations.md; counts, tokens and versions as integers.
 *
 * Errors. Every function that can fail returns a status; UNDERTEXT_OK is 0. Its last argument,
 *   which may be NULL, is set to the error object of the protocol
 *   ({"code":…,"field":…,"message":…}); on success it is empty. A function that fails has changed
 *   nothing. Outputs are set on every path: handles to NULL, strings to empty, numbers to 0. A NULL
 *   handle, or a missing callback, is UNDERTEXT_INVALID_ARGUMENT. No C++ exception leaves this
 *   library. Treat an unknown status as UNDERTEXT_INTERNAL.
 * Strings. undertext_text is borrowed: it is read until the function returns, and need not be
 *   zero-terminated. undertext_string is owned by the caller, is zero-terminated (size does not
 *   count the zero), and is freed by undertext_string_close(). Both are UTF-8; other bytes are
 *   refused where they matter.
 * Handles. Each is freed by its function …_close(), which accepts NULL. A derived handle outlives
 *   the one it came from.
 * Threads. Any thread may call any function on any handle at any time, except undertext_settings
 *   and undertext_stream: one thread at a time. No handle may be freed while another thread uses
 *   it.
 * Blocking. Changes of a conversation wait for their turn, and, in a store, for the disk.
 *   undertext_answer() of a stored conversation first asks the store for newer versions. Reading
 *   from memory does not block, except after undertext_set_tokenizer(), which recounts all
 *   messages; reading a stored conversation may read from the store. undertext_conversation_close()
 *   and undertext_subscription_close() wait for running callbacks. So never call these while
 *   holding a lock that one of your callbacks needs (an event loop, an interpreter's lock).
 * Callbacks. The comment of each says on which thread it is called. Its context is freed by `end`
 *   (which may be NULL): exactly once if the function that took it succeeded, after the last call
 *   has returned, on any thread; never if it failed. A string that a callback sets is empty when it
 *   is called, and belongs to the library afterwards, whatever the status; make it by
 *   undertext_string_copy(). A callback must not throw, and must not free a handle of the
 *   conversation.
 * Compatibility. Declarations keep their meaning for as long as undertext_abi_version() is 1;
 *   symbols are versioned (UNDERTEXT_C_1). Structures do not grow.
 */
#ifndef UNDERTEXT_H
#define UNDERTEXT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#  define UNDERTEXT_C_API __attribute__((visibility("default")))
#else
#  define UNDERTEXT_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The codes of every API; undertext_status_name() returns their names on the wire. */
typedef int32_t undertext_status;
enum {
  UNDERTEXT_OK = 0,
  UNDERTEXT_INVALID_ARGUMENT = 1, /* fix the call; the error names the field */
  UNDERTEXT_NOT_FOUND = 2,
  UNDERTEXT_CONFLICT = 3,   /* another writer was first: reload and retry */
  UNDERTEXT_CANNOT_FIT = 4, /* no legal result is small enough */
  UNDERTEXT_CORRUPT = 5,
  UNDERTEXT_UNAVAILABLE = 6, /* retry later */
  UNDERTEXT_UNSUPPORTED = 7,
  UNDERTEXT_TOO_LARGE = 8,
  UNDERTEXT_INTERNAL = 9,       /* a bug in Undertext, or a callback that says so */
  UNDERTEXT_OUT_OF_MEMORY = 10, /* the error is empty then */
  UNDERTEXT_DENIED = 11         /* no or not enough rights */
};

/* Borrowed. */
typedef struct undertext_text {
  const char* data; /* may be NULL where size is 0 */
  size_t size;
} undertext_text;

/* Owned. */
typedef struct undertext_string {
  const char* data; /* "" when it is empty */
  size_t size;
  void* owner; /* the library's */
} undertext_string;

UNDERTEXT_C_API undertext_text
undertext_text_of(const char* zero_terminated);                        /* NULL is the empty text */
UNDERTEXT_C_API void undertext_string_close(undertext_string* string); /* leaves it empty */
UNDERTEXT_C_API undertext_status
undertext_string_copy(undertext_text text, undertext_string* string); /* for callbacks */

UNDERTEXT_C_API uint32_t undertext_abi_version(void);
UNDERTEXT_C_API const char* undertext_library_version(void); /* such as "0.1.0" */
UNDERTEXT_C_API const char* undertext_status_name(
    undertext_status status); /* such as "invalid_argument"; "ok"; "out_of_memory" */

typedef struct undertext_store undertext_store;
typedef struct undertext_settings undertext_settings;
typedef struct undertext_conversation undertext_conversation;
typedef struct undertext_view undertext_view;
typedef struct undertext_subscription undertext_subscription;
typedef struct undertext_stream undertext_stream;

#define UNDERTEXT_HEAD UINT64_MAX /* as a version: the newest, or any */

/* ---- Conversations ---- */

/* In memory. `settings` may be NULL; else they are copied. */
UNDERTEXT_C_API undertext_status undertext_conversation_new(const undertext_settings* settings,
                                                            undertext_conversation** conversation,
                                                            undertext_string* error);

/* In a store: an operation is durable when its function returns. `options` may be empty:
 * {"make":"if_missing"|"never"|"always","cacheBytes":…,"rebaseAppends":true,"checkpointVersions":…}.
 * The JSON of `settings` is stored with the conversation. Without it (settings NULL, or with
 * callbacks only), the stored settings are used. */
UNDERTEXT_C_API undertext_status undertext_conversation_open(
    undertext_store* store, undertext_text id, const undertext_settings* settings,
    undertext_text options, undertext_conversation** conversation, undertext_string* error);

/* Stops background work and waits for it; …_close_later() waits on a separate thread, for finalizers. */
UNDERTEXT_C_API void undertext_conversation_close(undertext_conversation* conversation);
UNDERTEXT_C_API void undertext_conversation_close_later(undertext_conversation* conversation);

/* One line of the protocol: an operation, an atomic list of operations, or a query. `answer` is the
 * line that `undertext exec` would give, errors included; the status is that error's code, or
 * UNDERTEXT_OK. */
UNDERTEXT_C_API undertext_status undertext_answer(undertext_conversation* conversation,
                                                  undertext_text line, undertext_string* answer);

typedef struct undertext_stats {
  uint64_t total_messages;         /* in the log */
  uint64_t current_batch_messages; /* in the view */
  uint64_t total_batches;
  uint64_t current_batch_index;
  uint64_t tokens; /* of the view */
} undertext_stats;

/* APPEND of a message, or of a JSON array of messages, without a JSON answer: the fastest way to
 * append. `version` and `stats` may be NULL. Events and warnings go to subscribers only. */
UNDERTEXT_C_API undertext_status undertext_append(undertext_conversation* conversation,
                                                  undertext_text messages, uint64_t* version,
                                                  undertext_stats* stats, undertext_string* error);

/* TRANSFORM by a callback. `which` selects the messages ({"roles":["tool"]}, {"indices":[…]} or
 * {"ordinals":[…]}), and may have expectedVersion, description and operationId. `transform` is
 * called for each message, on this thread and in the turn of this change (again for all of them, if
 * another process committed first), and sets the message that replaces it. To fail, it returns any
 * other status, with a message for people in `changed`; then nothing has changed. `answer` is the
 * answer of the operation, or the error. */
typedef undertext_status (*undertext_transform_message)(void* context, undertext_text message,
                                                        undertext_string* changed);
UNDERTEXT_C_API undertext_status undertext_transform(undertext_conversation* conversation,
                                                     undertext_text which,
                                                     undertext_transform_message transform,
                                                     void* context, undertext_string* answer);

/* Of the newest version known here: see undertext_catch_up(). */
UNDERTEXT_C_API uint64_t
undertext_conversation_version(const undertext_conversation* conversation); /* 0 for NULL */
UNDERTEXT_C_API undertext_text undertext_conversation_id(
    const undertext_conversation* conversation); /* empty: in memory; until closed */
UNDERTEXT_C_API undertext_status undertext_conversation_stats(
    const undertext_conversation* conversation, undertext_stats* stats, undertext_string* error);
/* Of the messages that the filters of a query select ({"role":"user"}; empty: all of the view).
 * `count` and `tokens` may be NULL. */
UNDERTEXT_C_API undertext_status
undertext_conversation_count(const undertext_conversation* conversation, undertext_text filters,
                             uint64_t* count, uint64_t* tokens, undertext_string* error);

/* A conversation that starts at `version`; remote commits are loaded first. With an empty `id` in
 * memory; else stored under that id (conflict: it is taken). Usage is not copied. */
UNDERTEXT_C_API undertext_status undertext_conversation_fork(undertext_conversation* conversation,
                                                             uint64_t version, undertext_text id,
                                                             undertext_conversation** fork,
                                                             undertext_string* error);

/* Replaces the view and the stack of batches by those of a mark map (the answer of the query
 * markMap), which is checked first. conflict: the head is not `expected_version`; UNDERTEXT_HEAD:
 * any head. */
UNDERTEXT_C_API undertext_status undertext_import_mark_map(undertext_conversation* conversation,
                                                           undertext_text mark_map,
                                                           uint64_t expected_version,
                                                           undertext_string* answer);

UNDERTEXT_C_API undertext_status undertext_set_tokenizer(undertext_conversation* conversation,
                                                         undertext_text name,
                                                         undertext_string* error);
UNDERTEXT_C_API undertext_status
undertext_wait_for_compression(undertext_conversation* conversation, undertext_string* error);
/* Cancels a background compression, and a COMPRESS by a slow strategy in undertext_answer() on
 * another thread (its error is unavailable). */
UNDERTEXT_C_API undertext_status undertext_cancel_compression(undertext_conversation* conversation,
                                                              undertext_string* error);

/* What a provider reported of a request:
 * {"requestId":…,"model":…,"prompt":…,"completion":…,"cached":…,"total":…,"cost":…,"timestamp":…,"estimatedPrompt":…,
 * "final":true}, all but requestId and prompt optional; and all that was reported:
 * {"totals":{…},"statistics":{…},"models":[…],"open":[…],"recent":[…]}. It is stored with a stored
 * conversation. undertext_set_usage() replaces it by a result of undertext_usage(); {} resets it.
 * */
UNDERTEXT_C_API undertext_status undertext_report_usage(undertext_conversation* conversation,
                                                        undertext_text usage,
                                                        undertext_string* error);
UNDERTEXT_C_API undertext_status undertext_set_usage(undertext_conversation* conversation,
                                                     undertext_text usage, undertext_string* error);
UNDERTEXT_C_API undertext_status undertext_usage(const undertext_conversation* conversation,
                                                 undertext_string* usage, undertext_string* error);

/* Records a request of a client: {"client":…,"request":"…","answer":"…","status":200,…}, the shape
 * GivenRequest of `undertext schema`, with the raw texts of both. `recorded` may be NULL:
 * {"number":1}. The queries `requests` and `request` read it. */
UNDERTEXT_C_API undertext_status undertext_record_request(undertext_conversation* conversation,
                                                          undertext_text request,
                                                          undertext_string* recorded,
                                                          undertext_string* error);

/* Loads remote commits. A conversation in memory has none. */
UNDERTEXT_C_API undertext_status undertext_catch_up(undertext_conversation* conversation,
                                                    undertext_string* error);

/* Of a stored conversation, else unsupported. */
UNDERTEXT_C_API undertext_status undertext_checkpoint(undertext_conversation* conversation,
                                                      undertext_string* error);
/* {"ordinals":[…],"who":…,"why":…,"derived":false}: their bytes are deleted permanently; stubs
 * stay. `redaction` may be NULL:
 * {"redacted":1,"derived":[{"conversation":…,"ordinal":7,"kind":"summary"}],"operations":[{"conversation":…,"version":9}]}.
 * It lists the messages made from them (kind "summary" or "copy") and the operations that quote
 * them, in forks too; "derived":true redacts these. */
UNDERTEXT_C_API undertext_status undertext_redact(undertext_conversation* conversation,
                                                  undertext_text removal,
                                                  undertext_string* redaction,
                                                  undertext_string* error);
/* Deletes old versions, except those that `retention` selects: {"versions":n,"batches":n,"days":n}. `reclaimed` is
 * {"firstVersion":…,"versions":…,"messages":…}. */
UNDERTEXT_C_API undertext_status undertext_prune_versions(undertext_conversation* conversation,
                                                          undertext_text retention,
                                                          undertext_string* reclaimed,
                                                          undertext_string* error);

/* `receive` gets each event as JSON ({"type":"MESSAGE_ADDED","version":8,"ordinal":12}; docs/c.md
 * lists them), in order, on the thread that publishes the change: a writer's, one that catches up,
 * or that of a background compression. It may read (views, counts, statistics), and must not change
 * the conversation. */
typedef void (*undertext_receive)(void* context, undertext_text event);
typedef void (*undertext_end)(void* context);
UNDERTEXT_C_API undertext_status undertext_subscribe(undertext_conversation* conversation,
                                                     undertext_receive receive, undertext_end end,
                                                     void* context,
                                                     undertext_subscription** subscription,
                                                     undertext_string* error);
UNDERTEXT_C_API void undertext_subscription_close(
    undertext_subscription* subscription); /* from within `receive` it does not wait */

/* ---- A view: the messages and queries of one version. Later changes of the conversation do not affect it. ---- */

UNDERTEXT_C_API undertext_status
undertext_conversation_view(const undertext_conversation* conversation, uint64_t version,
                            undertext_view** view, undertext_string* error);
UNDERTEXT_C_API void undertext_view_close(undertext_view* view);
UNDERTEXT_C_API uint64_t
undertext_view_size(const undertext_view* view); /* these three: 0 for NULL */
UNDERTEXT_C_API uint64_t undertext_view_tokens(const undertext_view* view);
UNDERTEXT_C_API uint64_t undertext_view_version(const undertext_view* view);

enum { UNDERTEXT_SYSTEM = 0, UNDERTEXT_USER = 1, UNDERTEXT_ASSISTANT = 2, UNDERTEXT_TOOL = 3 };
typedef struct undertext_entry {
  uint64_t ordinal;
  int64_t time_ms; /* its timestamp, else its arrival */
  uint32_t tokens;
  uint32_t role;
} undertext_entry;
/* not_found: `index` is beyond the view. `entry` and `message` may be NULL. */
UNDERTEXT_C_API undertext_status undertext_view_get(const undertext_view* view, uint64_t index,
                                                    undertext_entry* entry,
                                                    undertext_string* message,
                                                    undertext_string* error);

/* Any query of the protocol, with this version as the head. As undertext_answer(), without asking a
 * store for newer versions. */
UNDERTEXT_C_API undertext_status undertext_view_answer(const undertext_view* view,
                                                       undertext_text query,
                                                       undertext_string* answer);

/* ---- Settings, with callbacks ---- */

UNDERTEXT_C_API undertext_status undertext_settings_new(undertext_settings** settings,
                                                        undertext_string* error);
/* The JSON of --config: model, tokenizer, costs, profile, window, tokenLimit, compressionConfig,
 * pairs, limits, summarisers. Replaces what was read before. It may name callbacks that were added
 * before. Callbacks are not stored, and must be added again when the conversation is opened (else
 * invalid_argument). */
UNDERTEXT_C_API undertext_status undertext_settings_read(undertext_settings* settings,
                                                         undertext_text json,
                                                         undertext_string* error);
UNDERTEXT_C_API void undertext_settings_close(undertext_settings* settings);

/* A quick callback runs in the turn of the writer, on its thread, while other writers wait. A slow
 * callback runs outside of any turn: on a thread of the library, or on the caller's for a COMPRESS
 * that names it; it cannot be part of a list of operations, nor of the query fit. */
typedef uint32_t undertext_pace;
enum { UNDERTEXT_QUICK = 0, UNDERTEXT_SLOW = 1 };

/* For slow callbacks, to poll: whether the call was cancelled. */
typedef struct undertext_cancel undertext_cancel;
UNDERTEXT_C_API int undertext_is_cancelled(const undertext_cancel* cancel);

/* The result of a summariser: `text`, and if it asked a model, its name and tokens. */
typedef struct undertext_summary {
  undertext_string text;
  undertext_string model;
  uint64_t prompt_tokens;
  uint64_t completion_tokens;
} undertext_summary;
/* Writes a text of at most `tokens_max` tokens that can replace `messages`, a JSON array. To fail,
 * it returns any other status, with a message for people in text. */
typedef undertext_status (*undertext_summarise)(void* context, undertext_text messages,
                                                uint64_t tokens_max, const undertext_cancel* cancel,
                                                undertext_summary* summary);
UNDERTEXT_C_API undertext_status undertext_settings_add_summariser(
    undertext_settings* settings, undertext_text name, undertext_pace pace,
    undertext_summarise summarise, undertext_end end, void* context, undertext_string* error);

/* Proposes what to hide in `view`:
 * {"replacements":[{"hide":[ordinals…],"summary":{message}}],"reason":…}. summary and reason are
 * optional; an empty text means nothing to do. `tokens_max` is UINT64_MAX if there is no target. A
 * plan is refused that hides a system or pinned message, breaks a tool pair, empties the view, or
 * has a summary of messages that are not adjacent (see the queries markMap, messages with "marked",
 * and fit). To fail, it returns any other status, with a message for people in `plan`. */
typedef undertext_status (*undertext_plan)(void* context, const undertext_view* view,
                                           uint64_t tokens_max, const undertext_cancel* cancel,
                                           undertext_string* plan);
UNDERTEXT_C_API undertext_status undertext_settings_add_strategy(
    undertext_settings* settings, undertext_text name, undertext_pace pace, undertext_plan plan,
    undertext_end end, void* context, undertext_string* error);

/* ---- Stores ---- */

/* "sqlite:PATH", "postgres://…" or "memory:". `options` may be empty:
 * {"create":true,"readOnly":false,"durability":"full"|"normal","tenant":…,"patienceMs":…}. */
UNDERTEXT_C_API undertext_status undertext_store_open(undertext_text url, undertext_text options,
                                                      undertext_store** store,
                                                      undertext_string* error);
UNDERTEXT_C_API void undertext_store_close(undertext_store* store);
/* A JSON array of conversations by id, beyond `after`; `limit` 1 to 1000. */
UNDERTEXT_C_API undertext_status undertext_store_list(undertext_store* store, undertext_text after,
                                                      uint32_t limit,
                                                      undertext_string* conversations,
                                                      undertext_string* error);
/* Deletes a conversation permanently; who, when and why stays. conflict: it has forks. */
UNDERTEXT_C_API undertext_status undertext_store_purge(undertext_store* store, undertext_text id,
                                                       undertext_text who, undertext_text why,
                                                       undertext_string* error);
/* Reads all records of a conversation, or of all for an empty id:
 * {"conversations":n,"versions":n,"messages":n,"damage":[…]}. */
UNDERTEXT_C_API undertext_status undertext_store_check(undertext_store* store, undertext_text id,
                                                       undertext_string* report,
                                                       undertext_string* error);
UNDERTEXT_C_API undertext_status undertext_store_backup(undertext_store* store, undertext_text path,
                                                        undertext_string* error);
/* Replaces the store at `url` by a backup, atomically. The backup is checked first. unavailable: a
 * process has the store open. corrupt: the backup is damaged. An error leaves the store as it was.
 * */
UNDERTEXT_C_API undertext_status undertext_store_restore(undertext_text url, undertext_text backup,
                                                         undertext_string* error);
/* The settings kept with a conversation, as JSON; empty: there are none. */
UNDERTEXT_C_API undertext_status undertext_store_settings(undertext_store* store, undertext_text id,
                                                          undertext_string* settings,
                                                          undertext_string* error);
/* The removal records of a conversation, of redactions and of a purge:
 * [{"conversation":…,"ordinal":…,"who":…,"at":…,"why":…,"digest":…}]; a purge has no ordinal. */
UNDERTEXT_C_API undertext_status undertext_store_removals(undertext_store* store, undertext_text id,
                                                          undertext_string* removals,
                                                          undertext_string* error);
UNDERTEXT_C_API undertext_status undertext_store_compact(
    undertext_store* store, undertext_string* error); /* returns free space to the system */

/* Export of a conversation with its history, line by line (docs/export.md), and import under a free
 * id. A callback may return any error status, which the function then returns. `read` sets `line`,
 * without its line break and valid until the next call; at the end it leaves data NULL. `options`
 * may be empty: {"settings":{…}} instead of the exported ones, {"trustSettings":true} to accept
 * exported settings that name files and endpoints. `imported` is {"versions":…,"messages":…}. */
typedef undertext_status (*undertext_write_line)(void* context, undertext_text line);
typedef undertext_status (*undertext_read_line)(void* context, undertext_text* line);
UNDERTEXT_C_API undertext_status undertext_store_export(undertext_store* store, undertext_text id,
                                                        undertext_write_line write, void* context,
                                                        undertext_string* error);
UNDERTEXT_C_API undertext_status undertext_store_import(undertext_store* store, undertext_text id,
                                                        undertext_read_line read, void* context,
                                                        undertext_text options,
                                                        undertext_string* imported,
                                                        undertext_string* error);

/* ---- Messages ---- */

/* The content of a message in any format: a JSON array of blocks, as in the query blocks. The
 * message need not be in a conversation. invalid_argument: `message` is no message. */
UNDERTEXT_C_API undertext_status undertext_read_blocks(undertext_text message,
                                                       undertext_string* blocks,
                                                       undertext_string* error);

/* ---- Providers and tokens (render, validate and cost are queries) ---- */

/* A request or response of a provider ("openai_chat", "openai_responses", "anthropic", "gemini") as
 * {"messages":[…],"rest":{…},"known":0}. `dialect` may also be an object,
 * {"dialect":"anthropic","toolNames":{…}} with the toolNames that render answered: calls then have
 * the caller's names. */
UNDERTEXT_C_API undertext_status undertext_import_messages(undertext_text dialect,
                                                           undertext_text json,
                                                           undertext_string* imported,
                                                           undertext_string* error);

/* The same for a client that sends back what it received, and more: what equals the rendering of
 * `view` is skipped, and counted as "known". `profile` says how it was rendered, as in the query
 * render: {"dialect":"anthropic"} or {"profile":…}, with "toolNames" from its answer. */
UNDERTEXT_C_API undertext_status undertext_import_after(const undertext_view* view,
                                                        undertext_text profile, undertext_text json,
                                                        undertext_string* imported,
                                                        undertext_string* error);
/* Whether a provider would accept a request (a body, or an array of messages): {"valid":…,"findings":[…]}. */
UNDERTEXT_C_API undertext_status undertext_validate_request(undertext_text profile,
                                                            undertext_text json,
                                                            undertext_string* findings,
                                                            undertext_string* error);

/* Assembles the events of a streamed answer: feed it the data of each. The result so far is
 * {"message":…,"finishReason":…,"usage":…, "error":…,"complete":true}; only `complete` is always
 * present. `dialect` as in undertext_import_messages. */
UNDERTEXT_C_API undertext_status undertext_stream_new(undertext_text dialect,
                                                      undertext_stream** stream,
                                                      undertext_string* error);
UNDERTEXT_C_API undertext_status undertext_stream_feed(undertext_stream* stream,
                                                       undertext_text data,
                                                       undertext_string* error);
UNDERTEXT_C_API undertext_status undertext_stream_result(const undertext_stream* stream,
                                                         undertext_string* result,
                                                         undertext_string* error);
UNDERTEXT_C_API void undertext_stream_close(undertext_stream* stream);

/* Facts about a model by its name, in any spelling, as in the query model:
 * {"name":…,"known":true,"tokenizer":…,"limits":{"window":…},…}. "known" is false for an unknown
 * model. */
UNDERTEXT_C_API undertext_status undertext_find_model(undertext_text name, undertext_string* model,
                                                      undertext_string* error);
/* Overrides rows of the table of models, for the whole process: the JSON of docs/models.md.
 * invalid_argument names line, row and field, and nothing has changed. */
UNDERTEXT_C_API undertext_status undertext_add_models(undertext_text json, undertext_string* error);

/* The tokens of a request's `tools`, a JSON array in the form of any provider:
 * {"tokens":…,"tools":…,"exact":…}. `counting` is a model's name, or a value of the setting
 * tokenizer. */
UNDERTEXT_C_API undertext_status undertext_count_tools(undertext_text counting,
                                                       undertext_text tools,
                                                       undertext_string* count,
                                                       undertext_string* error);

/* `tokenizer` is a value of the setting tokenizer. */
UNDERTEXT_C_API undertext_status undertext_count_tokens(undertext_text tokenizer,
                                                        undertext_text text, uint64_t* tokens,
                                                        undertext_string* error);

#ifdef __cplusplus
}
#endif

#endif
