#include "tokens/message_tokens.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "message/reading.hpp"
#include "tokens/image_size.hpp"
#include "tokens/message_tokens_json.hpp"

namespace undertext {
namespace {

constexpr std::size_t buffer_bytes_kept = 1u << 20;

bool starts_like_url(std::string_view body) {
  return body.starts_with("http:") || body.starts_with("https:") || body.starts_with("file:") ||
         body.starts_with("gs:");
}

bool is_base64(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
         c == '/' || c == '-' || c == '_' || c == '=' || c == '\\';  // some write / as \/
}

// Whether a string in a part of an unknown type is bytes rather than something to read. Short
// strings do not matter.
bool is_encoded(std::string_view body) {
  constexpr std::size_t sample_bytes = 256;
  if (body.size() < 2 * sample_bytes) return false;
  return body.starts_with("data:") ||
         std::all_of(body.begin(), body.begin() + sample_bytes, is_base64);
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

// A message that is a text and little else, as most are. Bodies.
struct PlainMessage {
  std::string_view content, name;

  static std::optional<PlainMessage> of(std::string_view json) {
    PlainMessage plain;
    bool is_plain = true;
    for_each_member(json, [&](std::string_view key, std::string_view value) {
      if (key == "content" && is_json_string(value)) {
        plain.content = body_of(value);
      } else if (key == "name" && is_json_string(value)) {
        plain.name = body_of(value);
      } else {
        is_plain =
            is_plain && (key == "role" || key == "id" || key == "timestamp" || key == "metadata");
      }
    });
    return is_plain ? std::optional(plain) : std::nullopt;
  }
};

class MessageCost {
 public:
  MessageCost(const Tokenizer& tokenizer, const CostProfile& profile)
      : tokenizer_(tokenizer), profile_(profile) {}

  std::uint64_t message(const Message& message) {
    if (const std::optional<PlainMessage> plain = PlainMessage::of(message.json()))
      return use(profile_.message) + text(plain->content) + name_field(plain->name);
    const MessageReading reading(message);
    const Turn& turn = reading.turn();
    std::uint64_t tokens = use(profile_.message) + name_field(turn.name);
    // the same thought under two names, as some servers give it, is sent once
    std::uint64_t beside = 0;
    for (const Block& one : turn.blocks) {
      if (one.kind == BlockKind::reasoning && one.raw.empty()) {
        beside = std::max(beside, text(one.text));
      } else {
        tokens += block(one);
      }
    }
    return tokens + beside;
  }

  // Whether everything that was counted is what the provider publishes, as far as it is no text.
  bool is_exact() const { return is_exact_; }

 private:
  std::uint64_t use(const Figure& figure) {
    is_exact_ = is_exact_ && figure.certainty == Certainty::exact;
    return figure.value;
  }
  std::uint64_t image(std::optional<PixelSize> size, ImageDetail detail) {
    is_exact_ = is_exact_ && size && profile_.image.certainty == Certainty::exact;
    return profile_.image.tokens(size.value_or(profile_.image_unseen), detail);
  }

  std::uint64_t name_field(std::string_view body) {
    return body.empty() ? 0 : use(profile_.name_field) + text(body);
  }

  // The body of a JSON string.
  std::uint64_t text(std::string_view body) {
    if (body.empty()) return 0;
    if (std::memchr(body.data(), '\\', body.size()) == nullptr) return tokenizer_.count(body);
    std::string& decoded = buffer();
    append_json_decoded(decoded, body);
    const std::uint64_t tokens = tokenizer_.count(decoded);
    release(decoded);
    return tokens;
  }

  std::uint64_t block(const Block& block) {
    // What only its provider understands may hold its result too, wherever that stands.
    if (block.has_own_form && !block.raw.empty()) return strings(block.raw);
    switch (block.kind) {
      case BlockKind::text:
      case BlockKind::refusal: return text(block.text);
      case BlockKind::media: return media(block);
      case BlockKind::call:
        return use(profile_.call_frame) + tokenizer_.count(block.name) + value(block.json);
      case BlockKind::result: return result(block);
      case BlockKind::reasoning: return reasoning(block);
      case BlockKind::compaction:
      case BlockKind::control:
      case BlockKind::opaque: break;
    }
    return strings(block.raw);
  }

  // Arguments: text, or JSON that is sent as text.
  std::uint64_t value(std::string_view json) {
    if (json.empty()) return 0;
    return is_json_string(json) ? text(body_of(json)) : tokenizer_.count(json);
  }

  std::uint64_t result(const Block& result) {
    // A message that is a result is counted as a message.
    std::uint64_t tokens = result.raw.empty() ? 0 : use(profile_.result_frame);
    if (result.is_list) {
      for (const Block& inner : result.inner) tokens += block(inner);
      return tokens;
    }
    return tokens + (result.json.empty() ? text(result.text) : strings(result.json));
  }

  // Of thoughts that only the provider can read, the bytes tell. A signature is no thought.
  std::uint64_t reasoning(const Block& block) {
    const bool is_encrypted = block.type == "reasoning" || block.type == "redacted_thinking";
    return text(block.text) + (is_encrypted ? encrypted(block.signature) : 0);
  }

  std::uint64_t encrypted(std::string_view base64) {
    return base64.empty() ? 0 : base64.size() / 4 * 3 / use(profile_.encrypted_bytes_per_token);
  }

  std::uint64_t media(const Block& block) {
    const Media& media = block.media;
    const std::string_view bytes =
        media.source == MediaSource::base64 ? media.data : std::string_view();
    switch (media.kind) {
      case MediaKind::image:
        return image(image_size(bytes),
                     media.detail == "low" ? ImageDetail::low : ImageDetail::high);
      case MediaKind::audio:
        return played(bytes, profile_.audio_per_second, profile_.audio_bytes_per_second);
      case MediaKind::video:
        return played(bytes, profile_.video_per_second, profile_.video_bytes_per_second);
      case MediaKind::file: break;
    }
    // Beside its bytes a document may have a title and a context to read.
    std::uint64_t tokens = 0;
    if (!block.raw.empty()) {
      for_each_member(block.raw, [&](std::string_view key, std::string_view said) {
        if ((key == "title" || key == "context") && is_json_string(said))
          tokens += text(body_of(said));
      });
    }
    return tokens +
           (media.source == MediaSource::text ? text(media.data) : file({media.mime, bytes}));
  }

  std::uint64_t played(std::string_view base64, const Figure& per_second,
                       const Figure& bytes_per_second) {
    constexpr std::size_t shortest_file = 64;  // an id is shorter
    if (base64.size() < shortest_file) return use(profile_.file_unseen);
    std::string head;
    append_base64_decoded(head, base64, 32);
    std::uint64_t rate = 0;
    // says how many bytes a second has
    if (head.size() == 32 && head.starts_with("RIFF") && head.compare(8, 8, "WAVEfmt ") == 0) {
      const auto byte = [&head](std::size_t i) {
        return static_cast<std::uint64_t>(static_cast<std::uint8_t>(head[i]));
      };
      constexpr std::uint64_t slowest = 1'000;
      rate = std::max(slowest, byte(28) | byte(29) << 8 | byte(30) << 16 | byte(31) << 24);
    }
    if (rate == 0) rate = use(bytes_per_second);
    return (Payload{{}, base64}.bytes() * use(per_second) + rate - 1) / rate;
  }

  std::uint64_t file(const Payload& payload) {
    constexpr std::size_t shortest_file = 64;
    if (payload.base64.size() < shortest_file) return use(profile_.file_unseen);
    if (const std::optional<PixelSize> size = image_size(payload.base64))
      return image(size, ImageDetail::high);
    if (payload.media_type.starts_with("text")) {  // text/plain, as it is or with its slash escaped
      std::string& decoded = buffer();
      append_base64_decoded(decoded, payload.base64, payload.base64.size());
      const std::uint64_t tokens = tokenizer_.count(decoded);
      release(decoded);
      return tokens;
    }
    const std::uint64_t page = use(profile_.document_bytes_per_page);
    return std::max<std::uint64_t>(1, (payload.bytes() + page - 1) / page) *
           use(profile_.document_page);
  }

  // Something nobody here knows: what it says.
  std::uint64_t strings(std::string_view json) {
    is_exact_ = false;
    std::uint64_t tokens = 0;
    for_each_string(json, [&](std::string_view key, std::string_view body) {
      if (key == "type" || key == "id" || key == "signature") return;
      if (key == "encrypted_content") {
        tokens += encrypted(body);
      } else {
        tokens += is_encoded(body) ? file(Payload::of(body)) : text(body);
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
  bool is_exact_ = true;
};

// Of a text nothing but its tokens counts, which are another's matter here.
class NoText final : public Tokenizer {
 public:
  std::string_view name() const noexcept override { return "none"; }
  bool is_exact() const noexcept override { return true; }
  std::uint64_t count(std::string_view) const override { return 0; }
  Result<std::vector<std::uint32_t>> encode(std::string_view) const override {
    return std::vector<std::uint32_t>();
  }
};

}  // namespace

bool are_message_tokens_exact(const Message& message, const CostProfile& profile) {
  const NoText no_text;
  MessageCost cost(no_text, profile);
  cost.message(message);
  return cost.is_exact();
}

std::uint32_t count_message_tokens(const Message& message, const Tokenizer& tokenizer,
                                   const CostProfile& profile) {
  const std::uint64_t tokens = MessageCost(tokenizer, profile).message(message);
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(tokens, message_tokens_max));
}

}  // namespace undertext
