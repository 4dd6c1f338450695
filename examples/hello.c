#include <stdio.h>
#include <undertext.h>

int main(void) {
  undertext_conversation *conversation;
  undertext_string answer;
  if (undertext_conversation_new(NULL, &conversation, NULL) != UNDERTEXT_OK) return 1;
  undertext_append(conversation, undertext_text_of("{\"role\":\"user\",\"content\":\"Hello\"}"),
                   NULL, NULL, NULL);
  undertext_answer(conversation,
                   undertext_text_of("{\"query\":\"messages\",\"role\":\"user\",\"last\":3}"),
                   &answer);
  puts(answer.data);
  undertext_string_close(&answer);
  undertext_conversation_close(conversation);
}
