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
 * Failure. Every function that can fail returns a status; UNDERTEXT_OK is 0. Its last argument, which may be NULL, then holds the error object of the
 *   protocol ({"code":…,"field":…,"message":…}), and is empty when all is well. A function that fails has changed nothing. Outputs are set on every
 *   path: handles to NULL, strings to empty, numbers to 0. A NULL handle, or a NULL function where one is called, is UNDERTEXT_INVALID_ARGUMENT. No C++
 *   exception ever leaves this library.
 *   Take a status that you do not know for UNDERTEXT_INTERNAL.
 * Strings. undertext_text is borrowed: it is read until the function returns, and need not end in a zero. undertext_string is owned by the caller that got it,
 *   ends in a zero that size does not count, and is given back by undertext_string_close(). Both are UTF-8; other bytes are refused where they matter.
 * Handles. Each is ended by its function …_close(), which takes NULL too. What came from a handle lives on without it.
 * Threads. Any thread may call any function on any handle at any time, but for undertext_settings and undertext_stream: one thread at a time. No handle
 *   may be ended while another thread still uses it.
 * Waiting. What changes a conversation waits for its turn, and, in a store, for the disk. undertext_answer() of a stored conversation waits for the store, which it
 *   asks for newer versions first. Reading what is in memory waits for nobody, unless undertext_set_tokenizer() has everything recounted; of a stored
 *   conversation it may fetch what is not. undertext_conversation_close() and undertext_subscription_close() wait for callbacks under way.
 *   So: never call these while you hold a lock that one of your callbacks wants (an event loop, an interpreter's lock).
 * Callbacks. What is said of each tells on which thread it comes. Its context is ended by `end` (which may be NULL): exactly once if the function that took it
 *   succeeded, after the last call has returned, on any thread; never if it failed. A string that a callback answers with is empty when it is called and belongs
 *   to the library afterwards, whatever the status; make it by undertext_string_copy(). A callback must not throw, and must not end a handle of the conversation.
 * Change. What is declared here keeps its meaning for as long as undertext_abi_version() is 1; symbols are versioned (UNDERTEXT_C_1). Structures do not grow.
 */
#ifndef UNDERTEXT_H
#define UNDERTEXT_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define UNDERTEXT_C_API __attribute__((visibility("default")))
#else
#define UNDERTEXT_C_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The codes of every door; undertext_status_name() gives their names on the wire. */
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
  const char *data; /* may be NULL where size is 0 */
  size_t size;
} undertext_text;

/* Owned. */
typedef struct undertext_string {
  const char *data; /* "" when it is empty */
  size_t size;
  void *owner; /* the library's */
} undertext_string;

UNDERTEXT_C_API undertext_text undertext_text_of(const char *zero_terminated); /* NULL is the empty text */
UNDERTEXT_C_API void undertext_string_close(undertext_string *string);         /* leaves it empty */
UNDERTEXT_C_API undertext_status undertext_string_copy(undertext_text text, undertext_string *string); /* for callbacks */

UNDERTEXT_C_API uint32_t undertext_abi_version(void);
UNDERTEXT_C_API const char *undertext_library_version(void);                /* such as "0.1.0" */
UNDERTEXT_C_API const char *undertext_status_name(undertext_status status); /* such as "invalid_argument"; "ok"; "out_of_memory" */

typedef struct undertext_store undertext_store;
typedef struct undertext_settings undertext_settings;
typedef struct undertext_conversation undertext_conversation;
typedef struct undertext_view undertext_view;
typedef struct undertext_subscription undertext_subscription;
typedef struct undertext_stream undertext_stream;

#define UNDERTEXT_HEAD UINT64_MAX /* where a version is asked for: the newest, or whichever it is */

/* ---- Conversations ---- */

/* In memory. `settings` may be NULL; else they are copied. */
UNDERTEXT_C_API undertext_status undertext_conversation_new(const undertext_settings *settings, undertext_conversation **conversation,
                                                            undertext_string *error);

/* In a store: an operation is durable when it has been answered. `options` may be empty:
 * {"make":"if_missing"|"never"|"always","cacheBytes":…,"rebaseAppends":true,"checkpointVersions":…}. The JSON of `settings` is kept with the conversation; where
 * there is none (settings NULL, or with code only), what was kept is taken. */
UNDERTEXT_C_API undertext_status undertext_conversation_open(undertext_store *store, undertext_text id, const undertext_settings *settings,
                                                             undertext_text options, undertext_conversation **conversation,
                                                             undertext_string *error);

/* Asks what is under way in the background to stop, and waits for it; …_close_later() leaves the waiting to a thread of its own, for finalizers. */
UNDERTEXT_C_API void undertext_conversation_close(undertext_conversation *conversation);
UNDERTEXT_C_API void undertext_conversation_close_later(undertext_conversation *conversation);

/* One line of the protocol: an operation, an atomic list of operations, or a query. `answer` is the line that `undertext exec` would give, errors
 * included; the status is that error's code, or UNDERTEXT_OK. */
UNDERTEXT_C_API undertext_status undertext_answer(undertext_conversation *conversation, undertext_text line, undertext_string *answer);

typedef struct undertext_stats {
  uint64_t total_messages;         /* in the log */
  uint64_t current_batch_messages; /* in the view */
  uint64_t total_batches;
  uint64_t current_batch_index;
  uint64_t tokens; /* of the view */
} undertext_stats;

/* APPEND of a message, or of a JSON array of messages, without an answer to read: the quickest way in. `version` and `stats` may be NULL. Events and
 * warnings reach subscribers only. */
UNDERTEXT_C_API undertext_status undertext_append(undertext_conversation *conversation, undertext_text messages, uint64_t *version,
                                                  undertext_stats *stats, undertext_string *error);

/* TRANSFORM by a function. `which` names the messages ({"roles":["tool"]}, {"indices":[…]} or {"ordinals":[…]}), and may hold expectedVersion, description and
 * operationId. `transform` gets one message after the other, on this thread and in the turn of this change (all of them once more, should another process have
 * come first), and answers with the message that takes its place. It fails by any status, with words for people in `changed`; then nothing has changed. `answer`
 * is the line that an operation is answered with, or the error. */
typedef undertext_status (*undertext_transform_message)(void *context, undertext_text message, undertext_string *changed);
UNDERTEXT_C_API undertext_status undertext_transform(undertext_conversation *conversation, undertext_text which,
                                                     undertext_transform_message transform, void *context, undertext_string *answer);

/* Of the newest version known here: see undertext_catch_up(). */
UNDERTEXT_C_API uint64_t undertext_conversation_version(const undertext_conversation *conversation); /* 0 for NULL */
UNDERTEXT_C_API undertext_text undertext_conversation_id(const undertext_conversation *conversation); /* empty: in memory; until closed */
UNDERTEXT_C_API undertext_status undertext_conversation_stats(const undertext_conversation *conversation, undertext_stats *stats,
                                                              undertext_string *error);
/* Of the messages that the filters of a query let through ({"role":"user"}; empty: all of the view). `count` and `tokens` may be NULL. */
UNDERTEXT_C_API undertext_status undertext_conversation_count(const undertext_conversation *conversation, undertext_text filters,
                                                              uint64_t *count, uint64_t *tokens, undertext_string *error);

/* Another conversation that goes on from `version`. With an empty `id` in memory; else stored under that name (conflict: it is taken). Usage does not go along. */
UNDERTEXT_C_API undertext_status undertext_conversation_fork(undertext_conversation *conversation, uint64_t version, undertext_text id,
                                                             undertext_conversation **fork, undertext_string *error);

/* The view and the stack of batches become those of a mark map (the answer of the query markMap), once it has passed its checks. conflict: the head is not
 * `expected_version`; UNDERTEXT_HEAD: whichever it is. */
UNDERTEXT_C_API undertext_status undertext_import_mark_map(undertext_conversation *conversation, undertext_text mark_map,
                                                           uint64_t expected_version, undertext_string *answer);

UNDERTEXT_C_API undertext_status undertext_set_tokenizer(undertext_conversation *conversation, undertext_text name, undertext_string *error);
UNDERTEXT_C_API undertext_status undertext_wait_for_compression(undertext_conversation *conversation, undertext_string *error);
/* Of what works in the background, and of a COMPRESS by a slow strategy that waits in undertext_answer() on another thread (its error is unavailable). */
UNDERTEXT_C_API undertext_status undertext_cancel_compression(undertext_conversation *conversation, undertext_string *error);

/* What a provider reported of a request: {"requestId":…,"model":…,"prompt":…,"completion":…,"cached":…,"total":…,"cost":…,"timestamp":…,"estimatedPrompt":…,
 * "final":true}, all but requestId and prompt optional; and all that was reported: {"totals":{…},"statistics":{…},"models":[…],"open":[…],"recent":[…]}.
 * It is stored with a stored conversation. undertext_set_usage() takes over what undertext_usage() gave; {} forgets all. */
UNDERTEXT_C_API undertext_status undertext_report_usage(undertext_conversation *conversation, undertext_text usage, undertext_string *error);
UNDERTEXT_C_API undertext_status undertext_set_usage(undertext_conversation *conversation, undertext_text usage, undertext_string *error);
UNDERTEXT_C_API undertext_status undertext_usage(const undertext_conversation *conversation, undertext_string *usage,
                                                 undertext_string *error);

/* Records a request of a client: {"client":…,"request":"…","answer":"…","status":200,…}, the shape GivenRequest of `undertext schema`, with the raw texts of both.
 * `recorded` may be NULL: {"number":1}. The queries `requests` and `request` read it. */
UNDERTEXT_C_API undertext_status undertext_record_request(undertext_conversation *conversation, undertext_text request,
                                                          undertext_string *recorded, undertext_string *error);

/* With what others committed. Of a conversation in memory: nothing to do. */
UNDERTEXT_C_API undertext_status undertext_catch_up(undertext_conversation *conversation, undertext_string *error);

/* Of a stored conversation, else unsupported. */
UNDERTEXT_C_API undertext_status undertext_checkpoint(undertext_conversation *conversation, undertext_string *error);
/* {"ordinals":[…],"who":…,"why":…,"derived":false}: their bytes are deleted permanently; stubs stay. `redaction` may be NULL:
 * {"redacted":1,"derived":[{"conversation":…,"ordinal":7,"kind":"summary"}],"operations":[{"conversation":…,"version":9}]}, the second kind being "copy": what was
 * made from the messages and what quotes them, in forks too. With "derived":true that is redacted as well. */
UNDERTEXT_C_API undertext_status undertext_redact(undertext_conversation *conversation, undertext_text removal,
                                                  undertext_string *redaction, undertext_string *error);
/* {"versions":n,"batches":n,"days":n}; answers {"firstVersion":…,"versions":…,"messages":…}. */
UNDERTEXT_C_API undertext_status undertext_prune_versions(undertext_conversation *conversation, undertext_text retention,
                                                          undertext_string *reclaimed, undertext_string *error);

/* `receive` gets each event as JSON ({"type":"MESSAGE_ADDED","version":8,"ordinal":12}; docs/c.md lists them), in order, on the thread that makes the
 * change known: a writer's, one that catches up, or the one of a background compression. It may read (views, counts, statistics), and must not change. */
typedef void (*undertext_receive)(void *context, undertext_text event);
typedef void (*undertext_end)(void *context);
UNDERTEXT_C_API undertext_status undertext_subscribe(undertext_conversation *conversation, undertext_receive receive, undertext_end end,
                                                     void *context, undertext_subscription **subscription, undertext_string *error);
UNDERTEXT_C_API void undertext_subscription_close(undertext_subscription *subscription); /* from within `receive` it does not wait */

/* ---- A view: the messages of one version, and all that can be asked of it. It stays as it is whatever is done to the conversation. ---- */

UNDERTEXT_C_API undertext_status undertext_conversation_view(const undertext_conversation *conversation, uint64_t version,
                                                             undertext_view **view, undertext_string *error);
UNDERTEXT_C_API void undertext_view_close(undertext_view *view);
UNDERTEXT_C_API uint64_t undertext_view_size(const undertext_view *view); /* these three: 0 for NULL */
UNDERTEXT_C_API uint64_t undertext_view_tokens(const undertext_view *view);
UNDERTEXT_C_API uint64_t undertext_view_version(const undertext_view *view);

enum { UNDERTEXT_SYSTEM = 0, UNDERTEXT_USER = 1, UNDERTEXT_ASSISTANT = 2, UNDERTEXT_TOOL = 3 };
typedef struct undertext_entry {
  uint64_t ordinal;
  int64_t time_ms; /* its timestamp, else its arrival */
  uint32_t tokens;
  uint32_t role;
} undertext_entry;
/* not_found: there are not so many. `entry` and `message` may be NULL. */
UNDERTEXT_C_API undertext_status undertext_view_get(const undertext_view *view, uint64_t index, undertext_entry *entry,
                                                    undertext_string *message, undertext_string *error);

/* Any query of the protocol, answered for that version, which is the head to it. As undertext_answer(), without asking a store for newer versions. */
UNDERTEXT_C_API undertext_status undertext_view_answer(const undertext_view *view, undertext_text query, undertext_string *answer);

/* ---- Settings, with code in them ---- */

UNDERTEXT_C_API undertext_status undertext_settings_new(undertext_settings **settings, undertext_string *error);
/* The JSON of --config: model, tokenizer, costs, profile, window, tokenLimit, compressionConfig, pairs, limits, summarisers. Takes the place of what was read before. It may name code that was
 * added before; the code itself is not kept in a store, and must be there again when the conversation is opened (else invalid_argument). */
UNDERTEXT_C_API undertext_status undertext_settings_read(undertext_settings *settings, undertext_text json, undertext_string *error);
UNDERTEXT_C_API void undertext_settings_close(undertext_settings *settings);

/* Quick code runs in the turn of the one who changes the conversation, on that thread, while other writers wait. Slow code runs without a turn: on a thread of the
 * library, or on that of the caller for a COMPRESS that names it; it cannot be part of a list of operations, nor of the query fit. */
typedef uint32_t undertext_pace;
enum { UNDERTEXT_QUICK = 0, UNDERTEXT_SLOW = 1 };

/* Asked by slow code now and then: whether nobody wants its result any more. */
typedef struct undertext_cancel undertext_cancel;
UNDERTEXT_C_API int undertext_is_cancelled(const undertext_cancel *cancel);

/* What a summariser writes: `text`, and if it asked a model, which one and what that cost. */
typedef struct undertext_summary {
  undertext_string text;
  undertext_string model;
  uint64_t prompt_tokens;
  uint64_t completion_tokens;
} undertext_summary;
/* Writes a text of at most `tokens_max` tokens that can stand for `messages`, a JSON array. It fails by any status, with words for people in text. */
typedef undertext_status (*undertext_summarise)(void *context, undertext_text messages, uint64_t tokens_max,
                                                const undertext_cancel *cancel, undertext_summary *summary);
UNDERTEXT_C_API undertext_status undertext_settings_add_summariser(undertext_settings *settings, undertext_text name, undertext_pace pace,
                                                                   undertext_summarise summarise, undertext_end end, void *context,
                                                                   undertext_string *error);

/* Proposes what to hide in `view`: {"replacements":[{"hide":[ordinals…],"summary":{message}}],"reason":…}, where summary and reason may be left out and an
 * empty text means nothing to do. `tokens_max` is UINT64_MAX where there is no such aim. A plan that hides a system or pinned message, breaks a tool pair,
 * empties the view, or has a summary of messages that do not stand together, is refused as a whole (the queries markMap, messages with "marked", and
 * fit tell what is what). It fails by any status, with words for people in `plan`. */
typedef undertext_status (*undertext_plan)(void *context, const undertext_view *view, uint64_t tokens_max, const undertext_cancel *cancel,
                                           undertext_string *plan);
UNDERTEXT_C_API undertext_status undertext_settings_add_strategy(undertext_settings *settings, undertext_text name, undertext_pace pace,
                                                                 undertext_plan plan, undertext_end end, void *context,
                                                                 undertext_string *error);

/* ---- Stores ---- */

/* "sqlite:PATH", "postgres://…" or "memory:". `options` may be empty:
 * {"create":true,"readOnly":false,"durability":"full"|"normal","tenant":…,"patienceMs":…}. */
UNDERTEXT_C_API undertext_status undertext_store_open(undertext_text url, undertext_text options, undertext_store **store,
                                                      undertext_string *error);
UNDERTEXT_C_API void undertext_store_close(undertext_store *store);
/* A JSON array of conversations by id, beyond `after`; `limit` 1 to 1000. */
UNDERTEXT_C_API undertext_status undertext_store_list(undertext_store *store, undertext_text after, uint32_t limit,
                                                      undertext_string *conversations, undertext_string *error);
/* Deletes a conversation permanently; who, when and why stays. conflict: it has forks. */
UNDERTEXT_C_API undertext_status undertext_store_purge(undertext_store *store, undertext_text id, undertext_text who, undertext_text why,
                                                       undertext_string *error);
/* Reads all records of a conversation, or of all for an empty id: {"conversations":n,"versions":n,"messages":n,"damage":[…]}. */
UNDERTEXT_C_API undertext_status undertext_store_check(undertext_store *store, undertext_text id, undertext_string *report,
                                                       undertext_string *error);
UNDERTEXT_C_API undertext_status undertext_store_backup(undertext_store *store, undertext_text path, undertext_string *error);
/* Replaces the store at `url` by a backup, in one step. The backup is checked first. unavailable: something has the store open. corrupt: the
 * backup is damaged. What fails has left the store as it was. */
UNDERTEXT_C_API undertext_status undertext_store_restore(undertext_text url, undertext_text backup, undertext_string *error);
/* The settings kept with a conversation, as JSON; empty: there are none. */
UNDERTEXT_C_API undertext_status undertext_store_settings(undertext_store *store, undertext_text id, undertext_string *settings,
                                                          undertext_string *error);
/* What was redacted in a conversation, or that it was purged: [{"conversation":…,"ordinal":…,"who":…,"at":…,"why":…,"digest":…}], without ordinal for the whole. */
UNDERTEXT_C_API undertext_status undertext_store_removals(undertext_store *store, undertext_text id, undertext_string *removals,
                                                          undertext_string *error);
UNDERTEXT_C_API undertext_status undertext_store_compact(undertext_store *store, undertext_string *error); /* gives free space back */

/* A conversation with its history, one line after the other (docs/export.md), and back under a name that is not taken. A callback may fail by any status, which
 * is then that of the function. `read` sets `line`, without its line break and valid until the next call; at the end it leaves it as it is, with data NULL.
 * `options` may be empty: {"settings":{…}} instead of the exported ones, {"trustSettings":true} where those may name files and endpoints. Answers
 * {"versions":…,"messages":…}. */
typedef undertext_status (*undertext_write_line)(void *context, undertext_text line);
typedef undertext_status (*undertext_read_line)(void *context, undertext_text *line);
UNDERTEXT_C_API undertext_status undertext_store_export(undertext_store *store, undertext_text id, undertext_write_line write,
                                                        void *context, undertext_string *error);
UNDERTEXT_C_API undertext_status undertext_store_import(undertext_store *store, undertext_text id, undertext_read_line read, void *context,
                                                        undertext_text options, undertext_string *imported, undertext_string *error);

/* ---- Messages ---- */

/* What a message says, whichever format it is written in: a JSON array of blocks, as the query blocks has them. It need not be in a conversation. invalid_argument:
 * `message` is no message. */
UNDERTEXT_C_API undertext_status undertext_read_blocks(undertext_text message, undertext_string *blocks, undertext_string *error);

/* ---- Providers and tokens (render, validate and cost are queries) ---- */

/* A request or response of a provider ("openai_chat", "openai_responses", "anthropic", "gemini") as {"messages":[…],"rest":{…},"known":0}.
 * `dialect` may also be an object, {"dialect":"anthropic","toolNames":{…}} with the toolNames that render answered: calls then have the caller's names. */
UNDERTEXT_C_API undertext_status undertext_import_messages(undertext_text dialect, undertext_text json, undertext_string *imported,
                                                           undertext_string *error);

/* The same of a client that sends back what it was given, and more: what equals the rendering of `view` is left out, and counted as "known". `profile` says how it
 * was rendered, as in the query render: {"dialect":"anthropic"} or {"profile":…}, with "toolNames" where render answered them. */
UNDERTEXT_C_API undertext_status undertext_import_after(const undertext_view *view, undertext_text profile, undertext_text json,
                                                        undertext_string *imported, undertext_string *error);
/* Whether a provider would take a request (a body, or an array of messages) as it stands: {"valid":…,"findings":[…]}. */
UNDERTEXT_C_API undertext_status undertext_validate_request(undertext_text profile, undertext_text json, undertext_string *findings,
                                                            undertext_string *error);

/* Puts the events of a streamed answer together: feed it the data of each. What is there so far: {"message":…,"finishReason":…,"usage":…,"error":…,
 * "complete":true}, of which only the last is always there. `dialect` as in undertext_import_messages. */
UNDERTEXT_C_API undertext_status undertext_stream_new(undertext_text dialect, undertext_stream **stream, undertext_string *error);
UNDERTEXT_C_API undertext_status undertext_stream_feed(undertext_stream *stream, undertext_text data, undertext_string *error);
UNDERTEXT_C_API undertext_status undertext_stream_result(const undertext_stream *stream, undertext_string *result,
                                                         undertext_string *error);
UNDERTEXT_C_API void undertext_stream_close(undertext_stream *stream);

/* What is known of a model by its name, in any spelling, as the query model has it: {"name":…,"known":true,"tokenizer":…,"limits":{"window":…},…}. Of one that is unknown,
 * "known" is false. */
UNDERTEXT_C_API undertext_status undertext_find_model(undertext_text name, undertext_string *model, undertext_string *error);
/* Lays rows over the table of models, for the whole process: the JSON of docs/models.md. invalid_argument: names line, row and field, and nothing has changed. */
UNDERTEXT_C_API undertext_status undertext_add_models(undertext_text json, undertext_string *error);

/* What the `tools` of a request cost, a JSON array in the form of any provider: {"tokens":…,"tools":…,"exact":…}. By a model's name, or any that a conversation's
 * tokenizer may have. */
UNDERTEXT_C_API undertext_status undertext_count_tools(undertext_text counting, undertext_text tools, undertext_string *count,
                                                       undertext_string *error);

/* By any name that a conversation's tokenizer may have. */
UNDERTEXT_C_API undertext_status undertext_count_tokens(undertext_text tokenizer, undertext_text text, uint64_t *tokens,
                                                        undertext_string *error);

#ifdef __cplusplus
}
#endif

#endif
