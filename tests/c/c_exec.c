/* `undertext exec` through the door for C: the same options, the same lines, the same answers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <undertext.h>

static int refuse(undertext_string* error) {
  fprintf(stderr, "{\"ok\":false,\"error\":%s}\n", error->data);
  undertext_string_close(error);
  return 2;
}

/* The next line without its newline; NULL at the end. */
static char* read_line(size_t* size) {
  size_t room = 1 << 16;
  char* line = malloc(room);
  int c;
  *size = 0;
  while (line != NULL && (c = getchar()) != EOF && c != '\n') {
    if (*size == room) line = realloc(line, room *= 2);
    if (line != NULL) line[(*size)++] = (char)c;
  }
  if (line == NULL || (c == EOF && *size == 0)) {
    free(line);
    return NULL;
  }
  return line;
}

int main(int argc, char** argv) {
  const char *url = NULL, *id = "default", *config = NULL;
  for (int i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], "--store") == 0)
      url = argv[++i];
    else if (strcmp(argv[i], "--conversation") == 0)
      id = argv[++i];
    else if (strcmp(argv[i], "--config") == 0)
      config = argv[++i];
  }

  undertext_string error;
  undertext_settings* settings = NULL;
  undertext_store* store = NULL;
  undertext_conversation* conversation = NULL;
  if (config != NULL && (undertext_settings_new(&settings, &error) ||
                         undertext_settings_read(settings, undertext_text_of(config), &error))) {
    undertext_settings_close(settings);
    return refuse(&error);
  }
  const undertext_text none = {NULL, 0};
  undertext_status status =
      url == NULL ? UNDERTEXT_OK
                  : undertext_store_open(undertext_text_of(url), none, &store, &error);
  if (status == UNDERTEXT_OK) {
    status = store == NULL ? undertext_conversation_new(settings, &conversation, &error)
                           : undertext_conversation_open(store, undertext_text_of(id), settings,
                                                         none, &conversation, &error);
  }
  undertext_settings_close(settings);
  undertext_store_close(store);
  if (status != UNDERTEXT_OK) return refuse(&error);

  size_t size;
  for (char* line; (line = read_line(&size)) != NULL; free(line)) {
    const undertext_text text = {line, size};
    undertext_string answer;
    undertext_answer(conversation, text, &answer);
    fwrite(answer.data, 1, answer.size, stdout);
    putchar('\n');
    fflush(stdout);
    undertext_string_close(&answer);
  }
  undertext_conversation_close(conversation);
  return 0;
}
