#include "tokens/message_tokens.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "tokens/image_size.hpp"
#include "tokens/message_tokens_json.hpp"

namespace undertext {
namespace {

// Parts inside results inside parts: deeper ones are taken as the strings they contain, so that no message is read over and over.
constexpr unsigned part_depth_max = 6;

constexpr std::size_t buffer_bytes_kept = 1u << 20;

enum class PartKind : std::uint8_t { text, refusal, image, audio, video, document, call, result, thinking, redacted, unknown };

PartKind part_kind(std::string_view type) {
  struct Named {
    std::string_view type;
    PartKind kind;
  };
  static constexpr Named named[] = {
      {"text", PartKind::text},
      {"input_text", PartKind::text},
      {"output_text", PartKind::text},
      {"summary_text", PartKind::text},
      {"reasoning_text", PartKind::text},
      {"refusal", PartKind::refusal},
      {"image", PartKind::image},
      {"image_url", PartKind::image},
      {"input_image", PartKind::image},
      {"audio", PartKind::audio},
      {"input_audio", PartKind::audio},
      {"video", PartKind::video},
      {"video_url", PartKind::video},
      {"input_video", PartKind::video},
      {"document", PartKind::document},
      {"file", PartKind::document},
      {"input_file", PartKind::document},
      {"tool_use", PartKind::call},
      {"server_tool_use", PartKind::call},
      {"mcp_tool_use", PartKind::call},
      {"tool-call", PartKind::call},
      {"function_call", PartKind::call},
      {"custom_tool_call", PartKind::call},
      {"tool-result", PartKind::result},
      {"function_call_output", PartKind::result},
      {"custom_tool_call_output", PartKind::result},
      {"thinking", PartKind::thinking},
      {"reasoning", PartKind::thinking},
      {"redacted_thinking", PartKind::redacted},
  };
  for (const Named& each : named)
    if (each.type == type) return each.kind;
  return type.ends_with("tool_result") ? PartKind::result : PartKind::unknown;  // tool_result, web_search_tool_result, …
}

bool starts_like_url(std::string_view body) {
  return body.starts_with("http:") || body.starts_with("https:") || body.starts_with("file:") || body.starts_with("gs:");
}

bool is_base64(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' || c == '/' || c == '-' ||
         c == '_' || c == '=' || c == '\\';  // some write / as \/
}

// Whether a string in a part of an unknown type is bytes rather than something to read. Short strings do not matter.
bool is_encoded(std::string_view body) {
  constexpr std::size_t sample_bytes = 256;
  if (body.size() < 2 * sample_bytes) return false;
  return body.starts_with("data:") || std::all_of(body.begin(), body.begin() + sample_bytes, is_base64);
}

// What a string holds that stands for bytes.
struct Payload {
  std::string_view media_type;  // as far as a data URL says
  std::string_view base64;      // empty when the bytes are elsewhere

  static Payload of(std::string_view body) {
    if (!body.starts_with("data:")) return {{}, starts_like_url(body) ? std::string_view() : body};
    constexpr std::size_t head_bytes = 256;
    const std::size_t comma = body.substr(0, head_bytes).find(',');
    if (comma == std::string_view::npos) return {};
    const std::string_view head = body.substr(5, comma - 5);
    return {head.substr(0, head.find(';')), body.substr(comma + 1)};
  }
  std::uint64_t bytes() const { return static_cast<std::uint64_t>(base64.size()) / 4 * 3; }
};

class MessageCost {
 public:
  MessageCost(const Tokenizer& tokenizer, const CostProfile& profile) : tokenizer_(tokenizer), profile_(profile) {}

  std::uint64_t message(std::string_view json) {
    std::uint64_t tokens = profile_.message.value;
    std::uint64_t reasoning = 0;  // the same thought under two names, as some servers give it, is sent once
    for_each_member(json, [&](std::string_view key, std::string_view value) {
      if (key == "content") {
        tokens += content(value, 0);
      } else if (key == "toolCalls" || key == "tool_calls") {
        if (is_json_array(value)) for_each_element(value, [&](std::string_view one) { tokens += call(one); });
      } else if (key == "function_call") {
        if (is_json_object(value)) tokens += call(value);
      } else if (!is_json_string(value)) {
        return;
      } else if (key == "name") {
        tokens += profile_.name_field.value + text(body_of(value));
      } else if (key == "refusal") {
        tokens += text(body_of(value));
      } else if (key == "reasoning_content" || key == "reasoning") {
        reasoning = std::max(reasoning, text(body_of(value)));
      }
    });
    return tokens + reasoning;
  }

 private:
  // The body of a JSON string.
  std::uint64_t text(std::string_view body) {
    if (std::memchr(body.data(), '\\', body.size()) == nullptr) return tokenizer_.count(body);
    std::string& decoded = buffer();
    append_json_decoded(decoded, body);
    const std::uint64_t tokens = tokenizer_.count(decoded);
    release(decoded);
    return tokens;
  }

  std::uint64_t content(std::string_view value, unsigned depth) {
    if (is_json_string(value)) return text(body_of(value));
    std::uint64_t tokens = 0;
    if (is_json_array(value)) for_each_element(value, [&](std::string_view one) { tokens += part(one, depth); });
    if (is_json_object(value)) tokens += part(value, depth);
    return tokens;
  }

  std::uint64_t part(std::string_view json, unsigned depth) {
    if (!is_json_object(json) || depth >= part_depth_max) return strings(json);
    PartKind kind = PartKind::unknown;
    for_each_member(json, [&](std::string_view key, std::string_view value) {
      if (key == "type" && is_json_string(value)) kind = part_kind(JsonName(body_of(value)));
    });
    switch (kind) {
      case PartKind::text: return member_text(json, "text");
      case PartKind::refusal: return member_text(json, "refusal");
      case PartKind::image: return image(json);
      case PartKind::audio: return played(json, profile_.audio_per_second, profile_.audio_bytes_per_second);
      case PartKind::video: return played(json, profile_.video_per_second, profile_.video_bytes_per_second);
      case PartKind::document: return document(json, depth);
      case PartKind::call: return call(json);
      case PartKind::result: return result(json, depth);
      case PartKind::thinking: return thinking(json, depth);
      case PartKind::redacted: return redacted(json);
      case PartKind::unknown: break;
    }
    return strings(json);
  }

  std::uint64_t member_text(std::string_view json, std::string_view name) {
    std::uint64_t tokens = 0;
    for_each_member(json, [&](std::string_view key, std::string_view value) {
      if (key == name) tokens += is_json_string(value) ? text(body_of(value)) : strings(value);
    });
    return tokens;
  }

  // A call of any provider: its name and arguments stand in it, or in an object inside it.
  std::uint64_t call(std::string_view json) {
    if (!is_json_object(json)) return strings(json);
    std::uint64_t tokens = profile_.tool_call.value;
    for_each_member(json, [&](std::string_view key, std::string_view value) {
      const bool is_inner = key == "function" || key == "custom" || key == "tool_use";
      if (!is_inner) {
        tokens += call_field(key, value);
      } else if (is_json_object(value)) {
        for_each_member(value, [&](std::string_view inner, std::string_view field) { tokens += call_field(inner, field); });
      }
    });
    return tokens;
  }

  std::uint64_t call_field(std::string_view key, std::string_view value) {
    if (key == "name" || key == "toolName") return is_json_string(value) ? text(body_of(value)) : 0;
    if (key != "arguments" && key != "input" && key != "args") return 0;
    return is_json_string(value) ? text(body_of(value)) : tokenizer_.count(value);
  }

  std::uint64_t result(std::string_view json, unsigned depth) {
    std::uint64_t tokens = profile_.tool_result.value;
    const auto field = [&](std::string_view key, std::string_view value) {
      if (key == "content" || key == "output" || key == "result") tokens += content(value, depth + 1);
    };
    for_each_member(json, [&](std::string_view key, std::string_view value) {
      if (key == "tool_result" && is_json_object(value)) {
        for_each_member(value, field);
      } else {
        field(key, value);
      }
    });
    return tokens;
  }

  std::uint64_t thinking(std::string_view json, unsigned depth) {
    std::uint64_t tokens = 0;
    for_each_member(json, [&](std::string_view key, std::string_view value) {
      if (key == "thinking" || key == "text" || key == "reasoning" || key == "summary" || key == "content")
        tokens += content(value, depth + 1);
      if (key == "encrypted_content" && is_json_string(value)) tokens += encrypted(body_of(value));
    });
    return tokens;
  }

  std::uint64_t redacted(std::string_view json) {
    std::uint64_t tokens = 0;
    for_each_member(json, [&](std::string_view key, std::string_view value) {
      if (key == "data" && is_json_string(value)) tokens += encrypted(body_of(value));
    });
    return tokens;
  }

  std::uint64_t encrypted(std::string_view base64) const {
    return base64.size() / 4 * 3 / profile_.encrypted_bytes_per_token.value;
  }

  // The payload of a part is the longest of its strings: a URL, an id or the bytes.
  static std::string_view longest_string(std::string_view json) {
    std::string_view longest;
    for_each_string(json, [&longest](std::string_view, std::string_view body) {
      if (body.size() > longest.size()) longest = body;
    });
    return longest;
  }

  std::uint64_t image(std::string_view json) const {
    ImageDetail detail = ImageDetail::high;
    std::string_view longest;
    for_each_string(json, [&](std::string_view key, std::string_view body) {
      if (key == "detail" && body == "low") detail = ImageDetail::low;
      if (body.size() > longest.size()) longest = body;
    });
    return profile_.image.tokens(image_size(Payload::of(longest).base64).value_or(profile_.image_unseen), detail);
  }

  std::uint64_t played(std::string_view json, const Figure& per_second, const Figure& bytes_per_second) const {
    const Payload payload = Payload::of(longest_string(json));
    constexpr std::size_t shortest_file = 64;  // an id is shorter
    if (payload.base64.size() < shortest_file) return profile_.file_unseen.value;
    std::string head;
    append_base64_decoded(head, payload.base64, 32);
    std::uint64_t rate = bytes_per_second.value;
    if (head.size() == 32 && head.starts_with("RIFF") && head.compare(8, 8, "WAVEfmt ") == 0) {  // says how many bytes a second has
      const auto byte = [&head](std::size_t i) { return static_cast<std::uint64_t>(static_cast<std::uint8_t>(head[i])); };
      constexpr std::uint64_t slowest = 1'000;
      rate = std::max(slowest, byte(28) | byte(29) << 8 | byte(30) << 16 | byte(31) << 24);
    }
    return (payload.bytes() * per_second.value + rate - 1) / rate;
  }

  // A document is text, parts, or a file; beside that it may have a title and a context to read.
  std::uint64_t document(std::string_view json, unsigned depth) {
    std::uint64_t tokens = 0;
    bool is_file = true;
    for_each_member(json, [&](std::string_view key, std::string_view value) {
      if ((key == "title" || key == "context") && is_json_string(value)) tokens += text(body_of(value));
      if (key != "source" || !is_json_object(value)) return;
      bool is_text = false;
      std::string_view data, parts;
      for_each_member(value, [&](std::string_view inner, std::string_view field) {
        if (inner == "type") is_text = field == R"("text")";
        if (inner == "data" && is_json_string(field)) data = body_of(field);
        if (inner == "content") parts = field;
      });
      if (is_text) tokens += text(data);
      if (!parts.empty()) tokens += content(parts, depth + 1);
      is_file = !is_text && parts.empty();
    });
    return is_file ? tokens + file(longest_string(json)) : tokens;
  }

  std::uint64_t file(std::string_view body) {
    const Payload payload = Payload::of(body);
    constexpr std::size_t shortest_file = 64;
    if (payload.base64.size() < shortest_file) return profile_.file_unseen.value;
    if (const std::optional<PixelSize> size = image_size(payload.base64)) return profile_.image.tokens(*size, ImageDetail::high);
    if (payload.media_type.starts_with("text")) {  // text/plain, as it is or with its slash escaped
      std::string& decoded = buffer();
      append_base64_decoded(decoded, payload.base64, payload.base64.size());
      const std::uint64_t tokens = tokenizer_.count(decoded);
      release(decoded);
      return tokens;
    }
    const std::uint64_t page = profile_.document_bytes_per_page.value;
    return std::max<std::uint64_t>(1, (payload.bytes() + page - 1) / page) * profile_.document_page.value;
  }

  // Something nobody here knows: what it says.
  std::uint64_t strings(std::string_view json) {
    std::uint64_t tokens = 0;
    for_each_string(json, [&](std::string_view key, std::string_view body) {
      if (key == "type" || key == "id" || key == "signature") return;
      if (key == "encrypted_content") {
        tokens += encrypted(body);
      } else {
        tokens += is_encoded(body) ? file(body) : text(body);
      }
    });
    return tokens;
  }

  // One buffer a thread, so that counting allocates nothing; one text at a time is in it.
  static std::string& buffer() {
    static thread_local std::string bytes;
    bytes.clear();
    return bytes;
  }
  static void release(std::string& bytes) {
    if (bytes.capacity() > buffer_bytes_kept) std::string().swap(bytes);
  }

  const Tokenizer& tokenizer_;
  const CostProfile& profile_;
};

}  // namespace

std::uint32_t count_message_tokens(const Message& message, const Tokenizer& tokenizer, const CostProfile& profile) {
  const std::uint64_t tokens = MessageCost(tokenizer, profile).message(message.json());
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(tokens, message_tokens_max));
}

}  // namespace undertext
