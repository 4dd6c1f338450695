/* What undertext.h promises, from a program in C11. */
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <undertext.h>
#include <unistd.h>

static int failures = 0;

#define CHECK(condition)                                                        \
  do {                                                                          \
    if (!(condition)) {                                                         \
      fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition); \
      ++failures;                                                               \
    }                                                                           \
  } while (0)

static const undertext_text none = {NULL, 0};

static undertext_text t(const char* text) { return undertext_text_of(text); }

/* Whether a string holds a piece of text; gives the string back. */
static int holds(undertext_string* string, const char* piece) {
  const int found = strstr(string->data, piece) != NULL;
  if (!found) fprintf(stderr, "no %s in %s\n", piece, string->data);
  undertext_string_close(string);
  return found;
}

static undertext_conversation* conversation_with(const undertext_settings* settings, int messages) {
  undertext_conversation* conversation;
  CHECK(undertext_conversation_new(settings, &conversation, NULL) == UNDERTEXT_OK);
  for (int i = 0; i < messages; ++i) {
    char message[128];
    snprintf(message, sizeof message,
             "{\"role\":\"%s\",\"content\":\"message %d of some length, so that it counts\"}",
             i % 2 == 0 ? "user" : "assistant", i);
    CHECK(undertext_append(conversation, t(message), NULL, NULL, NULL) == UNDERTEXT_OK);
  }
  return conversation;
}

static void an_answer_is_the_line_of_the_protocol(void) {
  undertext_conversation* conversation = conversation_with(NULL, 0);
  undertext_string answer;
  CHECK(
      undertext_answer(
          conversation,
          t("{\"operation\":\"APPEND\",\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}]}"),
          &answer) == UNDERTEXT_OK);
  CHECK(strlen(answer.data) == answer.size);
  CHECK(holds(&answer,
              "{\"ok\":true,\"operation\":\"APPEND\",\"version\":1,\"affectedBatchIndex\":0,"));
  CHECK(undertext_answer(conversation, t("{\"query\":\"messages\",\"role\":\"user\",\"last\":3}"),
                         &answer) == UNDERTEXT_OK);
  CHECK(holds(
      &answer,
      "{\"ok\":true,\"messages\":[{\"role\":\"user\",\"content\":\"Hello\"}],\"ordinals\":[0]}"));
  CHECK(undertext_answer(conversation,
                         t("{\"operation\":\"INSERT\",\"position\":9,\"messages\":[{\"role\":"
                           "\"user\",\"content\":\"x\"}]}"),
                         &answer) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(holds(&answer,
              "{\"ok\":false,\"error\":{\"code\":\"invalid_argument\",\"field\":\"position\""));
  CHECK(undertext_conversation_version(conversation) == 1);
  undertext_conversation_close(conversation);
}

static void every_status_has_the_name_of_its_code(void) {
  const char* names[] = {"ok",         "invalid_argument", "not_found",     "conflict",
                         "cannot_fit", "corrupt",          "unavailable",   "unsupported",
                         "too_large",  "internal",         "out_of_memory", "denied"};
  for (int32_t i = 0; i <= UNDERTEXT_DENIED; ++i)
    CHECK(strcmp(undertext_status_name(i), names[i]) == 0);
  CHECK(strcmp(undertext_status_name(77), "internal") == 0);
  CHECK(undertext_abi_version() == 1);
}

static void append_takes_one_message_or_several_and_tells_what_is_there_now(void) {
  undertext_conversation* conversation = conversation_with(NULL, 0);
  uint64_t version = 99;
  undertext_stats stats;
  undertext_string error;
  CHECK(
      undertext_append(
          conversation,
          t(" [{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"assistant\",\"content\":\"b\"}]"),
          &version, &stats, &error) == UNDERTEXT_OK);
  CHECK(error.size == 0 && version == 1 && stats.current_batch_messages == 2 &&
        stats.total_messages == 2 && stats.tokens > 0);
  CHECK(undertext_append(conversation,
                         t("[{\"role\":\"user\",\"content\":\"a\"},{\"role\":\"user\"}]"), &version,
                         &stats, &error) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(version == 0 && stats.total_messages == 0);
  CHECK(holds(&error, "\"path\":\"[1].content\""));
  CHECK(undertext_append(conversation, t("[]"), NULL, NULL, NULL) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_append(conversation, none, NULL, NULL, NULL) == UNDERTEXT_INVALID_ARGUMENT);
  const undertext_text bad_utf8 = {"{\"role\":\"user\",\"content\":\"\xff\"}", 27};
  CHECK(undertext_append(conversation, bad_utf8, NULL, NULL, NULL) == UNDERTEXT_INVALID_ARGUMENT);
  uint64_t count, tokens;
  CHECK(undertext_conversation_count(conversation, t("{\"role\":\"user\"}"), &count, &tokens,
                                     NULL) == UNDERTEXT_OK);
  CHECK(count == 1 && tokens > 0 && tokens < stats.tokens + 100);
  CHECK(undertext_conversation_count(conversation, none, &count, NULL, NULL) == UNDERTEXT_OK &&
        count == 2);
  CHECK(undertext_conversation_count(conversation, t("{\"colour\":1}"), &count, NULL, &error) ==
            UNDERTEXT_INVALID_ARGUMENT &&
        count == 0);
  CHECK(holds(&error, "\"field\":\"colour\""));
  undertext_conversation_close(conversation);
}

static void a_null_handle_is_an_error_and_not_the_end(void) {
  undertext_string text, error;
  undertext_conversation* made;
  undertext_view* view;
  undertext_subscription* subscription;
  CHECK(undertext_answer(NULL, t("{}"), &text) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(holds(&text, "{\"ok\":false,\"error\":{\"code\":\"invalid_argument\""));
  CHECK(undertext_append(NULL, t("{}"), NULL, NULL, NULL) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_conversation_open(NULL, t("x"), NULL, none, &made, &error) ==
            UNDERTEXT_INVALID_ARGUMENT &&
        made == NULL);
  undertext_string_close(&error);
  CHECK(undertext_conversation_fork(NULL, 0, none, &made, NULL) == UNDERTEXT_INVALID_ARGUMENT &&
        made == NULL);
  CHECK(undertext_conversation_view(NULL, UNDERTEXT_HEAD, &view, NULL) ==
            UNDERTEXT_INVALID_ARGUMENT &&
        view == NULL);
  CHECK(undertext_subscribe(NULL, NULL, NULL, NULL, &subscription, NULL) ==
        UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_conversation_version(NULL) == 0 && undertext_view_size(NULL) == 0);
  CHECK(undertext_store_list(NULL, none, 1, &text, NULL) == UNDERTEXT_INVALID_ARGUMENT &&
        text.size == 0);
  undertext_conversation_close(NULL);
  undertext_conversation_close_later(NULL);
  undertext_view_close(NULL);
  undertext_store_close(NULL);
  undertext_settings_close(NULL);
  undertext_stream_close(NULL);
  undertext_subscription_close(NULL);
  undertext_string_close(NULL);
}

static void a_null_function_is_an_error_and_not_the_end(void) {
  undertext_settings* settings;
  undertext_store* store;
  undertext_subscription* subscription;
  undertext_string text;
  CHECK(undertext_settings_new(&settings, NULL) == UNDERTEXT_OK);
  CHECK(undertext_settings_add_strategy(settings, t("mine"), UNDERTEXT_QUICK, NULL, NULL, NULL,
                                        NULL) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_settings_add_summariser(settings, t("mine"), UNDERTEXT_QUICK, NULL, NULL, NULL,
                                          NULL) == UNDERTEXT_INVALID_ARGUMENT);
  undertext_conversation* conversation = conversation_with(settings, 1);
  undertext_settings_close(settings);
  CHECK(undertext_subscribe(conversation, NULL, NULL, NULL, &subscription, &text) ==
            UNDERTEXT_INVALID_ARGUMENT &&
        subscription == NULL);
  CHECK(holds(&text, "\"field\":\"receive\""));
  CHECK(undertext_transform(conversation, t("{\"indices\":[0]}"), NULL, NULL, NULL) ==
        UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_conversation_version(conversation) == 1);
  undertext_conversation_close(conversation);
  CHECK(undertext_store_open(t("memory:"), none, &store, NULL) == UNDERTEXT_OK);
  CHECK(undertext_store_export(store, t("x"), NULL, NULL, NULL) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_store_import(store, t("x"), NULL, NULL, none, NULL, NULL) ==
        UNDERTEXT_INVALID_ARGUMENT);
  undertext_store_close(store);
}

static void a_view_stays_as_it_is_and_outlives_its_conversation(void) {
  undertext_conversation* conversation = conversation_with(NULL, 4);
  undertext_view *now, *then, *never;
  CHECK(undertext_conversation_view(conversation, UNDERTEXT_HEAD, &now, NULL) == UNDERTEXT_OK);
  CHECK(undertext_conversation_view(conversation, 2, &then, NULL) == UNDERTEXT_OK);
  CHECK(undertext_conversation_view(conversation, 77, &never, NULL) == UNDERTEXT_NOT_FOUND &&
        never == NULL);
  undertext_string answer;
  CHECK(undertext_answer(conversation, t("{\"operation\":\"CLEAR\",\"keepSystemMessage\":false}"),
                         &answer) == UNDERTEXT_OK);
  undertext_string_close(&answer);
  undertext_conversation_close(conversation);
  CHECK(undertext_view_size(now) == 4 && undertext_view_version(now) == 4 &&
        undertext_view_tokens(now) > 0);
  CHECK(undertext_view_size(then) == 2 && undertext_view_version(then) == 2);
  undertext_entry entry;
  undertext_string message;
  CHECK(undertext_view_get(now, 3, &entry, &message, NULL) == UNDERTEXT_OK);
  CHECK(entry.ordinal == 3 && entry.role == UNDERTEXT_ASSISTANT && entry.tokens > 0 &&
        entry.time_ms > 0);
  CHECK(holds(&message, "\"content\":\"message 3 "));
  CHECK(undertext_view_get(now, 4, &entry, &message, NULL) == UNDERTEXT_NOT_FOUND &&
        message.size == 0 && entry.ordinal == 0);
  CHECK(undertext_view_answer(then, t("{\"query\":\"version\"}"), &answer) == UNDERTEXT_OK);
  CHECK(holds(&answer, "{\"ok\":true,\"result\":2}"));
  CHECK(undertext_view_answer(now, t("{\"query\":\"tokens\"}"), &answer) == UNDERTEXT_OK);
  CHECK(holds(&answer, "\"tokenizer\""));
  CHECK(undertext_view_answer(now, t("{\"operation\":\"UNDO\"}"), &answer) ==
        UNDERTEXT_INVALID_ARGUMENT);
  undertext_string_close(&answer);
  undertext_view_close(now);
  undertext_view_close(then);
}

static void a_mark_map_goes_out_and_comes_back_in(void) {
  undertext_conversation* conversation = conversation_with(NULL, 3);
  undertext_string answer;
  const char* map =
      "{\"originalIndices\":[0,2],\"typeIndices\":{\"system\":[],\"user\":[0,2],\"assistant\":[],"
      "\"tool\":[]},\"batchBoundaries\":[0],"
      "\"boundaryToBatch\":[0],\"currentBatch\":0}";
  CHECK(undertext_import_mark_map(conversation, t(map), 1, &answer) == UNDERTEXT_CONFLICT);
  undertext_string_close(&answer);
  CHECK(undertext_import_mark_map(conversation, t(map), 3, &answer) == UNDERTEXT_OK);
  CHECK(holds(&answer, "\"currentBatchMessages\":2"));
  CHECK(undertext_import_mark_map(conversation, t("{\"originalIndices\":[9]}"), UNDERTEXT_HEAD,
                                  &answer) == UNDERTEXT_INVALID_ARGUMENT);
  undertext_string_close(&answer);
  undertext_conversation_close(conversation);
}

struct heard {
  int events, ended;
  char last[256];
};
static void hear(void* context, undertext_text event) {
  struct heard* heard = context;
  ++heard->events;
  snprintf(heard->last, sizeof heard->last, "%.*s", (int)event.size, event.data);
}
static void end(void* context) { ++((struct heard*)context)->ended; }

static void subscribers_hear_of_every_change_until_they_end(void) {
  undertext_conversation* conversation = conversation_with(NULL, 0);
  struct heard heard = {0};
  undertext_subscription* subscription;
  CHECK(undertext_subscribe(conversation, hear, end, &heard, &subscription, NULL) == UNDERTEXT_OK);
  CHECK(undertext_append(conversation, t("{\"role\":\"user\",\"content\":\"x\"}"), NULL, NULL,
                         NULL) == UNDERTEXT_OK);
  CHECK(heard.events == 2 &&
        strcmp(heard.last, "{\"type\":\"CONTEXT_CHANGED\",\"version\":1}") == 0);
  CHECK(heard.ended == 0);
  undertext_subscription_close(subscription);
  CHECK(heard.ended == 1);
  CHECK(undertext_append(conversation, t("{\"role\":\"user\",\"content\":\"y\"}"), NULL, NULL,
                         NULL) == UNDERTEXT_OK);
  CHECK(heard.events == 2);
  CHECK(undertext_subscribe(conversation, hear, end, &heard, &subscription, NULL) == UNDERTEXT_OK);
  undertext_conversation_close(conversation);
  undertext_subscription_close(subscription);
  CHECK(heard.ended == 2);
}

static undertext_status hide_first(void* context, const undertext_view* view, uint64_t tokens_max,
                                   const undertext_cancel* cancel, undertext_string* plan) {
  struct heard* heard = context;
  ++heard->events;
  CHECK(tokens_max == UINT64_MAX && !undertext_is_cancelled(cancel));
  undertext_string answer;
  CHECK(undertext_view_answer(view, t("{\"query\":\"markMap\"}"), &answer) == UNDERTEXT_OK);
  CHECK(holds(&answer, "\"originalIndices\":[0,1,2,3]"));
  CHECK(undertext_view_answer(view, t("{\"query\":\"tokens\"}"), &answer) == UNDERTEXT_UNSUPPORTED);
  undertext_string_close(&answer);
  undertext_entry entry;
  CHECK(undertext_view_get(view, 0, &entry, NULL, NULL) == UNDERTEXT_OK);
  char text[200];
  snprintf(text, sizeof text,
           "{\"replacements\":[{\"hide\":[%llu,1],\"summary\":{\"role\":\"user\",\"content\":\"so "
           "far: hello\"}}],\"reason\":\"why not\"}",
           (unsigned long long)entry.ordinal);
  return undertext_string_copy(t(text), plan);
}
static undertext_status refuse_to_plan(void* context, const undertext_view* view,
                                       uint64_t tokens_max, const undertext_cancel* cancel,
                                       undertext_string* plan) {
  (void)context, (void)view, (void)tokens_max, (void)cancel;
  undertext_string_copy(t("not today"), plan);
  return UNDERTEXT_UNAVAILABLE;
}
static undertext_status plan_nonsense(void* context, const undertext_view* view,
                                      uint64_t tokens_max, const undertext_cancel* cancel,
                                      undertext_string* plan) {
  (void)view, (void)tokens_max, (void)cancel;
  return undertext_string_copy(t(context), plan);
}

static void a_strategy_in_c_is_one_like_any_other(void) {
  struct heard heard = {0};
  undertext_settings* settings;
  undertext_string answer;
  CHECK(undertext_settings_new(&settings, NULL) == UNDERTEXT_OK);
  CHECK(undertext_settings_add_strategy(settings, t("mine"), UNDERTEXT_QUICK, hide_first, end,
                                        &heard, NULL) == UNDERTEXT_OK);
  CHECK(undertext_settings_add_strategy(settings, none, UNDERTEXT_QUICK, hide_first, end, &heard,
                                        NULL) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_settings_add_strategy(settings, t("sliding_window"), UNDERTEXT_QUICK, hide_first,
                                        end, &heard, &answer) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(holds(&answer, "choose another name"));
  CHECK(undertext_settings_add_strategy(settings, t("pace"), 9, hide_first, end, &heard, &answer) ==
        UNDERTEXT_INVALID_ARGUMENT);
  CHECK(holds(&answer, "\"field\":\"pace\""));
  CHECK(heard.ended == 0);
  CHECK(undertext_settings_add_strategy(settings, t("later"), UNDERTEXT_SLOW, refuse_to_plan, NULL,
                                        NULL, NULL) == UNDERTEXT_OK);
  const char* bad_plans[] = {"[]",
                             "{\"replacements\":[{\"hide\":[99]}]}",
                             "{\"replacements\":[{\"hide\":[0,0]}]}",
                             "{\"replacements\":[{}]}",
                             "{\"x\":1}",
                             "nonsense"};
  enum { bad_count = sizeof bad_plans / sizeof *bad_plans };
  for (int i = 0; i < bad_count; ++i) {
    char name[8];
    snprintf(name, sizeof name, "bad%d", i);
    CHECK(undertext_settings_add_strategy(settings, t(name), UNDERTEXT_QUICK, plan_nonsense, NULL,
                                          (void*)(uintptr_t)bad_plans[i], NULL) == UNDERTEXT_OK);
  }
  undertext_conversation* conversation = conversation_with(settings, 4);
  undertext_settings_close(settings);
  CHECK(heard.ended == 0);
  for (int i = 0; i < bad_count; ++i) {
    char line[64];
    snprintf(line, sizeof line, "{\"operation\":\"COMPRESS\",\"strategy\":\"bad%d\"}", i);
    CHECK(undertext_answer(conversation, t(line), &answer) == UNDERTEXT_INVALID_ARGUMENT);
    CHECK(holds(&answer, "proposed no plan"));
  }
  CHECK(undertext_answer(conversation, t("{\"operation\":\"COMPRESS\",\"strategy\":\"later\"}"),
                         &answer) == UNDERTEXT_UNAVAILABLE);
  CHECK(holds(&answer, "not today"));
  CHECK(undertext_conversation_version(conversation) == 4);
  CHECK(undertext_answer(conversation, t("{\"operation\":\"COMPRESS\",\"strategy\":\"mine\"}"),
                         &answer) == UNDERTEXT_OK);
  CHECK(holds(&answer, "\"strategy\":\"mine\""));
  CHECK(heard.events == 1);
  CHECK(undertext_answer(conversation, t("{\"query\":\"messages\"}"), &answer) == UNDERTEXT_OK);
  CHECK(holds(&answer, "\"ordinals\":[4,2,3]"));
  CHECK(undertext_answer(conversation, t("{\"operation\":\"EXPAND\",\"index\":0}"), &answer) ==
        UNDERTEXT_OK);
  undertext_string_close(&answer);
  undertext_conversation_close(conversation);
  CHECK(heard.ended == 1);
}

static undertext_status cancel_itself(void* context, const undertext_view* view,
                                      uint64_t tokens_max, const undertext_cancel* cancel,
                                      undertext_string* plan) {
  (void)view, (void)tokens_max;
  CHECK(!undertext_is_cancelled(cancel));
  CHECK(undertext_cancel_compression(*(undertext_conversation**)context, NULL) == UNDERTEXT_OK);
  CHECK(undertext_is_cancelled(cancel));
  return undertext_string_copy(t("{\"replacements\":[{\"hide\":[0]}]}"), plan);
}

static void a_compress_that_waits_can_be_cancelled(void) {
  undertext_settings* settings;
  undertext_conversation* conversation = NULL;
  undertext_string answer;
  CHECK(undertext_settings_new(&settings, NULL) == UNDERTEXT_OK);
  CHECK(undertext_settings_add_strategy(settings, t("mine"), UNDERTEXT_SLOW, cancel_itself, NULL,
                                        &conversation, NULL) == UNDERTEXT_OK);
  conversation = conversation_with(settings, 4);
  undertext_settings_close(settings);
  for (int i = 0; i < 2; ++i) { /* one cancelled does not cancel the next before it begins */
    CHECK(undertext_answer(conversation, t("{\"operation\":\"COMPRESS\",\"strategy\":\"mine\"}"),
                           &answer) == UNDERTEXT_UNAVAILABLE);
    CHECK(holds(&answer, "cancelled"));
  }
  CHECK(undertext_conversation_version(conversation) == 4);
  undertext_conversation_close(conversation);
}

static undertext_status shorten(void* context, undertext_text message, undertext_string* changed) {
  struct heard* heard = context;
  if (++heard->events == heard->ended) {
    undertext_string_copy(t("enough"), changed);
    return UNDERTEXT_UNAVAILABLE;
  }
  CHECK(message.size > 60);
  return undertext_string_copy(t(heard->last), changed);
}

static void messages_are_transformed_by_a_function(void) {
  undertext_conversation* conversation = conversation_with(NULL, 5);
  undertext_string answer;
  struct heard heard = {0, 0, "{\"role\":\"user\",\"content\":\"short\"}"};
  CHECK(undertext_transform(
            conversation, t("{\"roles\":[\"user\"],\"expectedVersion\":5,\"description\":\"why\"}"),
            shorten, &heard, &answer) == UNDERTEXT_OK);
  CHECK(holds(&answer, "{\"ok\":true,\"operation\":\"TRANSFORM\",\"version\":6"));
  CHECK(heard.events == 3);
  CHECK(undertext_answer(conversation, t("{\"query\":\"messages\"}"), &answer) == UNDERTEXT_OK);
  CHECK(holds(&answer, "\"ordinals\":[5,1,6,3,7]"));
  heard.events = 0;
  CHECK(undertext_transform(conversation, t("{\"roles\":[\"user\"],\"expectedVersion\":5}"),
                            shorten, &heard, &answer) == UNDERTEXT_CONFLICT);
  undertext_string_close(&answer);
  CHECK(undertext_transform(conversation, t("{\"roles\":[\"user\"],\"setMetadata\":{}}"), shorten,
                            &heard, &answer) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(holds(&answer, "setMetadata"));
  CHECK(undertext_transform(conversation, t("[]"), shorten, &heard, &answer) ==
        UNDERTEXT_INVALID_ARGUMENT);
  undertext_string_close(&answer);
  CHECK(heard.events == 0);
  heard.ended = 2; /* the second of them fails */
  CHECK(undertext_transform(conversation, t("{\"indices\":[1,3]}"), shorten, &heard, &answer) ==
        UNDERTEXT_UNAVAILABLE);
  CHECK(holds(&answer, "enough"));
  heard.ended = 0;
  snprintf(heard.last, sizeof heard.last, "{\"role\":\"nobody\"}");
  CHECK(undertext_transform(conversation, t("{\"ordinals\":[1]}"), shorten, &heard, &answer) ==
        UNDERTEXT_INVALID_ARGUMENT);
  undertext_string_close(&answer);
  CHECK(undertext_conversation_version(conversation) == 6);
  undertext_conversation_close(conversation);
}

static undertext_status summarise(void* context, undertext_text messages, uint64_t tokens_max,
                                  const undertext_cancel* cancel, undertext_summary* summary) {
  (void)cancel;
  CHECK(messages.size > 2 && messages.data[0] == '[' && tokens_max > 0);
  undertext_string_copy(t("a tiny model"), &summary->model);
  summary->prompt_tokens = 11;
  summary->completion_tokens = 3;
  return undertext_string_copy(t(context), &summary->text);
}

static void a_summariser_in_c_writes_summaries_in_the_background_too(void) {
  undertext_settings* settings;
  undertext_string answer;
  CHECK(undertext_settings_new(&settings, NULL) == UNDERTEXT_OK);
  CHECK(undertext_settings_add_summariser(settings, t("mine"), UNDERTEXT_SLOW, summarise, NULL,
                                          (void*)(uintptr_t)"in short", NULL) == UNDERTEXT_OK);
  CHECK(undertext_settings_read(settings,
                                t("{\"compressionConfig\":{\"strategy\":{\"name\":\"smart_"
                                  "summary\",\"summariser\":\"other\"}}}"),
                                NULL) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_settings_read(
            settings,
            t("{\"compressionConfig\":{\"enabled\":true,\"threshold\":300,\"strategy\":{\"name\":"
              "\"smart_summary\",\"summariser\":\"mine\"}}}"),
            NULL) == UNDERTEXT_OK);
  undertext_conversation* conversation = conversation_with(settings, 60);
  undertext_settings_close(settings);
  CHECK(undertext_wait_for_compression(conversation, NULL) == UNDERTEXT_OK);
  CHECK(undertext_answer(conversation, t("{\"query\":\"receipts\"}"), &answer) == UNDERTEXT_OK);
  CHECK(holds(&answer, "\"model\":\"a tiny model\""));
  undertext_conversation_close(conversation);
}

static sem_t closed;
static void tell_closed(void* context) {
  (void)context;
  sem_post(&closed);
}

/* What a finalizer would do; `end` tells when it is over. */
static void closing_later_ends_what_the_conversation_held(void) {
  undertext_settings* settings;
  CHECK(sem_init(&closed, 0, 0) == 0);
  CHECK(undertext_settings_new(&settings, NULL) == UNDERTEXT_OK);
  CHECK(undertext_settings_add_strategy(settings, t("mine"), UNDERTEXT_QUICK, hide_first,
                                        tell_closed, NULL, NULL) == UNDERTEXT_OK);
  undertext_conversation* conversation = conversation_with(settings, 1);
  undertext_settings_close(settings);
  undertext_conversation_close_later(conversation);
  CHECK(sem_wait(&closed) == 0);
}

struct lines {
  undertext_string kept[16];
  int count, next, fail_at;
};
static undertext_status keep_line(void* context, undertext_text line) {
  struct lines* lines = context;
  if (lines->count == lines->fail_at) return UNDERTEXT_UNAVAILABLE;
  return undertext_string_copy(line, &lines->kept[lines->count++]);
}
static undertext_status give_line(void* context, undertext_text* line) {
  struct lines* lines = context;
  if (lines->next == lines->fail_at) return UNDERTEXT_CORRUPT;
  if (lines->next < lines->count) {
    *line = (undertext_text){lines->kept[lines->next].data, lines->kept[lines->next].size};
    ++lines->next;
  }
  return UNDERTEXT_OK;
}

static void a_conversation_goes_out_as_lines_and_comes_back(void) {
  undertext_store* store;
  undertext_conversation* one;
  undertext_string text;
  struct lines lines = {.fail_at = 1};
  CHECK(undertext_store_open(t("memory:"), none, &store, NULL) == UNDERTEXT_OK);
  undertext_settings* settings;
  CHECK(undertext_settings_new(&settings, NULL) == UNDERTEXT_OK);
  CHECK(undertext_settings_read(settings, t("{\"tokenLimit\":77}"), NULL) == UNDERTEXT_OK);
  CHECK(undertext_conversation_open(store, t("one"), settings, none, &one, NULL) == UNDERTEXT_OK);
  undertext_settings_close(settings);
  CHECK(undertext_store_settings(store, t("one"), &text, NULL) == UNDERTEXT_OK);
  CHECK(holds(&text, "{\"tokenLimit\":77}"));
  CHECK(undertext_store_settings(store, t("none"), &text, NULL) == UNDERTEXT_NOT_FOUND);
  CHECK(undertext_append(one, t("{\"role\":\"user\",\"content\":\"kept\"}"), NULL, NULL, NULL) ==
        UNDERTEXT_OK);
  undertext_conversation_close(one);
  CHECK(undertext_store_export(store, t("none"), keep_line, &lines, NULL) == UNDERTEXT_NOT_FOUND);
  CHECK(undertext_store_export(store, t("one"), keep_line, &lines, NULL) == UNDERTEXT_UNAVAILABLE);
  undertext_string_close(&lines.kept[0]);
  lines = (struct lines){.fail_at = -1};
  CHECK(undertext_store_export(store, t("one"), keep_line, &lines, NULL) == UNDERTEXT_OK);
  CHECK(lines.count == 3);
  CHECK(undertext_store_import(store, t("one"), give_line, &lines, none, &text, NULL) ==
        UNDERTEXT_CONFLICT);
  lines.next = 0;
  CHECK(undertext_store_import(store, t("two"), give_line, &lines,
                               t("{\"settings\":{\"tokenLimit\":5}}"), &text,
                               NULL) == UNDERTEXT_OK);
  CHECK(holds(&text, "{\"versions\":1,\"messages\":1}"));
  CHECK(undertext_store_settings(store, t("two"), &text, NULL) == UNDERTEXT_OK);
  CHECK(holds(&text, "{\"tokenLimit\":5}"));
  lines.next = 0;
  lines.fail_at = 2;
  CHECK(undertext_store_import(store, t("three"), give_line, &lines, none, &text, NULL) ==
        UNDERTEXT_CORRUPT);
  CHECK(undertext_store_settings(store, t("three"), &text, NULL) == UNDERTEXT_NOT_FOUND);
  for (int i = 0; i < lines.count; ++i) undertext_string_close(&lines.kept[i]);
  CHECK(undertext_store_purge(store, t("two"), t("test"), t("done"), NULL) == UNDERTEXT_OK);
  CHECK(undertext_store_removals(store, t("two"), &text, NULL) == UNDERTEXT_OK);
  CHECK(strstr(text.data, "ordinal") == NULL);
  CHECK(holds(&text, "[{\"conversation\":\"two\",\"who\":\"test\",\"at\":"));
  CHECK(undertext_store_compact(store, NULL) == UNDERTEXT_OK);
  undertext_store_close(store);
}

static void a_fork_of_the_head_has_what_another_handle_wrote(void) {
  undertext_store* store;
  undertext_conversation *one, *other, *fork;
  CHECK(undertext_store_open(t("memory:"), none, &store, NULL) == UNDERTEXT_OK);
  CHECK(undertext_conversation_open(store, t("one"), NULL, none, &one, NULL) == UNDERTEXT_OK);
  CHECK(undertext_conversation_open(store, t("one"), NULL, none, &other, NULL) == UNDERTEXT_OK);
  const char* const ids[] = {"", "stored"};
  for (uint64_t i = 0; i < 2; ++i) {
    CHECK(undertext_append(other, t("{\"role\":\"user\",\"content\":\"late\"}"), NULL, NULL,
                           NULL) == UNDERTEXT_OK);
    CHECK(undertext_conversation_version(one) == i);
    CHECK(undertext_conversation_fork(one, UNDERTEXT_HEAD, t(ids[i]), &fork, NULL) == UNDERTEXT_OK);
    undertext_stats stats;
    CHECK(undertext_conversation_stats(fork, &stats, NULL) == UNDERTEXT_OK);
    CHECK(stats.current_batch_messages == i + 1);
    undertext_conversation_close(fork);
  }
  CHECK(undertext_append(other, t("{\"role\":\"user\",\"content\":\"last\"}"), NULL, NULL, NULL) ==
        UNDERTEXT_OK);
  CHECK(undertext_conversation_fork(one, 3, none, &fork, NULL) == UNDERTEXT_OK);
  undertext_conversation_close(fork);
  undertext_conversation_close(other);
  undertext_conversation_close(one);
  undertext_store_close(store);
}

static void stored_conversations_last_and_fork(const char* folder) {
  char url[512], copy[512];
  snprintf(url, sizeof url, "sqlite:%s/c.db", folder);
  snprintf(copy, sizeof copy, "%s/copy.db", folder);
  undertext_store* store;
  undertext_string error, text;
  const undertext_status opened = undertext_store_open(t(url), none, &store, &error);
  if (opened == UNDERTEXT_UNSUPPORTED) { /* built without SQLite */
    undertext_string_close(&error);
    return;
  }
  CHECK(opened == UNDERTEXT_OK);
  undertext_conversation *one, *again, *fork;
  CHECK(undertext_conversation_open(store, t("one"), NULL, t("{\"make\":\"never\"}"), &one, NULL) ==
        UNDERTEXT_NOT_FOUND);
  CHECK(undertext_conversation_open(store, t("one"), NULL, t("{\"make\":\"perhaps\"}"), &one,
                                    NULL) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_conversation_open(store, t("one"), NULL, none, &one, NULL) == UNDERTEXT_OK);
  CHECK(undertext_append(one, t("{\"role\":\"user\",\"content\":\"kept\"}"), NULL, NULL, NULL) ==
        UNDERTEXT_OK);
  CHECK(undertext_conversation_open(store, t("one"), NULL, none, &again, NULL) == UNDERTEXT_OK);
  CHECK(undertext_append(again, t("{\"role\":\"user\",\"content\":\"secret\"}"), NULL, NULL,
                         NULL) == UNDERTEXT_OK);
  CHECK(undertext_conversation_version(one) == 1);
  CHECK(undertext_catch_up(one, NULL) == UNDERTEXT_OK && undertext_conversation_version(one) == 2);
  CHECK(undertext_redact(one, t("{\"ordinals\":[1],\"who\":\"test\",\"why\":\"asked for\"}"), &text,
                         NULL) == UNDERTEXT_OK);
  CHECK(holds(&text, "{\"redacted\":1,\"derived\":[],\"operations\":[]}"));
  CHECK(undertext_redact(one, t("{\"ordinals\":[7],\"who\":\"test\"}"), NULL, NULL) ==
        UNDERTEXT_NOT_FOUND);
  CHECK(undertext_answer(again, t("{\"query\":\"messages\"}"), &text) == UNDERTEXT_OK);
  CHECK(strstr(text.data, "secret") == NULL);
  CHECK(holds(&text, "kept"));
  undertext_conversation_close(again);
  CHECK(undertext_checkpoint(one, NULL) == UNDERTEXT_OK);
  CHECK(undertext_conversation_fork(one, UNDERTEXT_HEAD, t("two"), &fork, NULL) == UNDERTEXT_OK);
  CHECK(undertext_conversation_id(fork).size == 3);
  CHECK(undertext_conversation_fork(one, 1, t("two"), &again, &error) == UNDERTEXT_CONFLICT &&
        again == NULL);
  undertext_string_close(&error);
  CHECK(undertext_store_list(store, none, 10, &text, NULL) == UNDERTEXT_OK);
  CHECK(holds(&text, "{\"conversation\":\"two\""));
  CHECK(undertext_store_list(store, none, 0, &text, NULL) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_store_check(store, none, &text, NULL) == UNDERTEXT_OK);
  CHECK(holds(&text, "\"conversations\":2"));
  CHECK(undertext_store_backup(store, t(copy), NULL) == UNDERTEXT_OK);
  undertext_conversation_close(fork);
  undertext_store_close(store); /* conversations go on without it */
  CHECK(undertext_append(one, t("{\"role\":\"user\",\"content\":\"more\"}"), NULL, NULL, NULL) ==
        UNDERTEXT_OK);
  CHECK(undertext_store_restore(t(url), t(copy), NULL) == UNDERTEXT_UNAVAILABLE); /* it is open */
  CHECK(undertext_conversation_version(one) == 3);
  undertext_conversation_close(one);
  CHECK(undertext_store_restore(t(url), t("/nowhere/at/all"), NULL) == UNDERTEXT_NOT_FOUND);
  CHECK(undertext_store_restore(t(url), t(copy), NULL) == UNDERTEXT_OK);
  CHECK(undertext_store_open(t(url), none, &store, NULL) == UNDERTEXT_OK);
  CHECK(undertext_conversation_open(store, t("one"), NULL, t("{\"make\":\"never\"}"), &one, NULL) ==
        UNDERTEXT_OK);
  CHECK(undertext_conversation_version(one) == 2);
  undertext_conversation_close(one);
  undertext_store_close(store);
}

static void usage_is_added_up(void) {
  undertext_conversation* conversation = conversation_with(NULL, 1);
  undertext_string text;
  CHECK(
      undertext_report_usage(
          conversation,
          t("{\"requestId\":\"r1\",\"model\":\"m\",\"prompt\":100,\"completion\":20,\"cost\":0.5}"),
          NULL) == UNDERTEXT_OK);
  CHECK(undertext_report_usage(conversation, t("{\"requestId\":\"r1\",\"prompt\":1}"), NULL) ==
        UNDERTEXT_CONFLICT);
  CHECK(undertext_report_usage(conversation,
                               t("{\"requestId\":\"r2\",\"prompt\":1,\"cost\":\"much\"}"),
                               NULL) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_usage(conversation, &text, NULL) == UNDERTEXT_OK);
  CHECK(holds(&text,
              "{\"totals\":{\"requests\":1,\"prompt\":100,\"completion\":20,\"cached\":0,\"total\":"
              "120,\"cost\":0.5}"));
  undertext_conversation_close(conversation);
}

static void a_message_is_read_into_its_blocks(void) {
  undertext_string text;
  CHECK(undertext_read_blocks(
            t("{\"role\":\"assistant\",\"content\":\"Let me "
              "look.\",\"toolCalls\":[{\"id\":\"a\",\"name\":\"read\",\"args\":{\"n\":1}}]}"),
            &text, NULL) == UNDERTEXT_OK);
  CHECK(holds(
      &text,
      "[{\"kind\":\"text\",\"text\":\"Let me "
      "look.\"},{\"kind\":\"call\",\"callId\":\"a\",\"name\":\"read\",\"arguments\":{\"n\":1}}]"));
  undertext_string error;
  CHECK(undertext_read_blocks(t("{\"content\":\"no role\"}"), &text, &error) ==
            UNDERTEXT_INVALID_ARGUMENT &&
        text.size == 0);
  CHECK(holds(&error, "\"field\":\"role\""));
  CHECK(undertext_read_blocks(none, &text, NULL) == UNDERTEXT_INVALID_ARGUMENT && text.size == 0);
}

static void providers_are_read(void) {
  undertext_string text;
  undertext_stream* stream;
  uint64_t tokens;
  CHECK(undertext_import_messages(
            t("anthropic"),
            t("{\"system\":\"Be "
              "kind.\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}],\"model\":\"x\"}"),
            &text, NULL) == UNDERTEXT_OK);
  CHECK(strstr(text.data, "\"rest\":{\"model\":\"x\"}") != NULL);
  CHECK(holds(&text, "Be kind."));
  CHECK(undertext_import_messages(
            t("{\"dialect\":\"anthropic\",\"toolNames\":{\"my_f_1\":\"my.f\"}}"),
            t("{\"role\":\"assistant\",\"content\":[{\"type\":\"tool_use\",\"id\":\"a\",\"name\":"
              "\"my_f_1\",\"input\":{}}]}"),
            &text, NULL) == UNDERTEXT_OK);
  CHECK(holds(&text, "\"name\":\"my.f\""));
  CHECK(undertext_import_messages(t("latin"), t("{}"), &text, NULL) == UNDERTEXT_INVALID_ARGUMENT &&
        text.size == 0);
  const char* turn =
      "{\"messages\":[{\"role\":\"user\",\"content\":\"message 0 of some length, so that it "
      "counts\"},{\"role\":\"assistant\",\"content\":\"new\"}]}";
  undertext_conversation* conversation = conversation_with(NULL, 1);
  undertext_view* view;
  CHECK(undertext_conversation_view(conversation, UNDERTEXT_HEAD, &view, NULL) == UNDERTEXT_OK);
  CHECK(undertext_import_after(view, t("{\"dialect\":\"openai_chat\"}"), t(turn), &text, NULL) ==
        UNDERTEXT_OK);
  CHECK(holds(
      &text,
      "{\"messages\":[{\"role\":\"assistant\",\"content\":\"new\"}],\"rest\":{},\"known\":1}"));
  CHECK(undertext_import_after(view, none, t(turn), &text, NULL) == UNDERTEXT_INVALID_ARGUMENT);
  undertext_view_close(view);
  undertext_conversation_close(conversation);
  CHECK(undertext_validate_request(t("{\"dialect\":\"openai_chat\"}"), t(turn), &text, NULL) ==
        UNDERTEXT_OK);
  CHECK(holds(&text, "{\"valid\":true,\"findings\":[]}"));
  CHECK(undertext_validate_request(
            t("{\"dialect\":\"openai_chat\"}"),
            t("{\"messages\":[{\"role\":\"tool\",\"tool_call_id\":\"x\",\"content\":\"y\"}]}"),
            &text, NULL) == UNDERTEXT_OK);
  CHECK(holds(&text, "\"valid\":false"));
  CHECK(undertext_validate_request(t("{\"dialect\":\"latin\"}"), t(turn), &text, NULL) ==
        UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_stream_new(t("openai_chat"), &stream, NULL) == UNDERTEXT_OK);
  CHECK(undertext_stream_feed(
            stream, t("{\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":\"Hel\"}}]}"),
            NULL) == UNDERTEXT_OK);
  CHECK(undertext_stream_feed(
            stream,
            t("{\"choices\":[{\"delta\":{\"content\":\"lo\"},\"finish_reason\":\"stop\"}]}"),
            NULL) == UNDERTEXT_OK);
  CHECK(undertext_stream_feed(stream, t("nonsense"), NULL) == UNDERTEXT_INVALID_ARGUMENT);
  CHECK(undertext_stream_feed(stream, t("[DONE]"), NULL) == UNDERTEXT_OK);
  CHECK(undertext_stream_result(stream, &text, NULL) == UNDERTEXT_OK);
  CHECK(strstr(text.data, "\"finishReason\":\"stop\",\"complete\":true") != NULL);
  CHECK(holds(&text, "Hello"));
  undertext_stream_close(stream);
  CHECK(undertext_count_tokens(t("estimate"), t("Hello, world"), &tokens, NULL) == UNDERTEXT_OK &&
        tokens > 0);
  CHECK(undertext_count_tokens(t("no such"), t("x"), &tokens, NULL) == UNDERTEXT_NOT_FOUND &&
        tokens == 0);
}

int main(void) {
  char folder[] = "/tmp/undertext-c-XXXXXX";
  if (mkdtemp(folder) == NULL) return 1;
  an_answer_is_the_line_of_the_protocol();
  every_status_has_the_name_of_its_code();
  append_takes_one_message_or_several_and_tells_what_is_there_now();
  a_null_handle_is_an_error_and_not_the_end();
  a_null_function_is_an_error_and_not_the_end();
  a_view_stays_as_it_is_and_outlives_its_conversation();
  a_mark_map_goes_out_and_comes_back_in();
  subscribers_hear_of_every_change_until_they_end();
  a_strategy_in_c_is_one_like_any_other();
  a_compress_that_waits_can_be_cancelled();
  messages_are_transformed_by_a_function();
  a_summariser_in_c_writes_summaries_in_the_background_too();
  closing_later_ends_what_the_conversation_held();
  a_conversation_goes_out_as_lines_and_comes_back();
  a_fork_of_the_head_has_what_another_handle_wrote();
  stored_conversations_last_and_fork(folder);
  usage_is_added_up();
  a_message_is_read_into_its_blocks();
  providers_are_read();
  char remove_it[64];
  snprintf(remove_it, sizeof remove_it, "rm -r %s", folder);
  if (system(remove_it) != 0) return 1;
  printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
