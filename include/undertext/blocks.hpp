// The content of a message as a list of blocks, whatever its format.
//
//     for (const ContentBlock& block : read_blocks(message))
//       if (block.kind == ContentBlock::Kind::call) run(block.name, block.arguments_json);
//
// This is the only reader of messages: tool pairs, token counts, digests, provider requests, the
// query `blocks`, the adapters and the inspector use it. It reads the engine's own format, the
// nested parts of document 000, OpenAI Chat and Responses, Anthropic, Gemini and the parts of the
// Vercel AI and OpenAI Agents SDKs. Unknown content becomes an opaque block; reading never fails.
//
// A call that occurs several times in a message (as a part, in `toolCalls`, in `tool_calls`) is one
// block. Arguments are the first of `arguments`, `input` and `args` that is not null. No arguments,
// and an empty string, are read as `{}`.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <undertext/export.hpp>
#include <undertext/message.hpp>

namespace undertext {

struct MediaBlock {
  enum class Kind : std::uint8_t { image, audio, video, file };
  enum class Source : std::uint8_t { base64, url, file_id, text };
  Kind kind = Kind::image;
  Source source = Source::base64;
  std::string data = {};  // the base64 text, the URL, the id or the text
  std::string mime = {};  // empty when the message does not say
  std::string detail = {};
  std::string filename = {};
};

struct ContentBlock {
  enum class Kind : std::uint8_t {
    text,       // also a refusal, whose `type` says so
    call,       // of a tool, by the model
    result,     // of a call
    reasoning,  // of the model; `text` is empty when only the provider can read it
    media,
    opaque,  // anything else, in `json`
  };
  Kind kind = Kind::text;
  // the format's own type where it is more specific than `kind`, such as "shell_call"
  std::string type = {};
  std::string text = {};  // of text and reasoning
  // of a call, and of the call that a result answers; empty when there is none
  std::string call_id = {};
  std::string name = {};  // of the tool; empty when the message does not say
  // of a call: a JSON value, mostly an object or a string that holds one
  std::string arguments_json = {};
  bool is_error = false;     // of a result, also of the one that a call holds
  bool by_provider = false;  // the provider runs the tool itself
  MediaBlock media = {};
  // content of a result; of a call that the provider runs, its result
  std::vector<ContentBlock> blocks = {};
  std::string json = {};  // of an opaque block: the bytes as given
};

// Time and memory linear in the message.
UNDERTEXT_API std::vector<ContentBlock> read_blocks(const Message& message);

UNDERTEXT_API std::string_view name(ContentBlock::Kind kind);  // "text", "call", …
// "image", "audio", "video", "file"
UNDERTEXT_API std::string_view name(MediaBlock::Kind kind);
// "base64", "url", "file_id", "text"
UNDERTEXT_API std::string_view name(MediaBlock::Source source);

}  // namespace undertext
