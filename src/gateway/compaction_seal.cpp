#include "gateway/compaction_seal.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include <openssl/evp.h>
#include <openssl/rand.h>

#include "base/bytes.hpp"
#include "base/json_text.hpp"

namespace undertext {
namespace {

constexpr JsonLimits request_limits{.depth = 4096};
constexpr std::string_view prefix = "ut1.";
constexpr std::size_t nonce_bytes = 12, tag_bytes = 16;
constexpr std::string_view digits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* context) const { EVP_CIPHER_CTX_free(context); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

unsigned char* bytes(std::string& text) { return reinterpret_cast<unsigned char*>(text.data()); }
const unsigned char* bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string base64url(std::string_view raw) {
  std::string out;
  out.reserve((raw.size() * 4 + 2) / 3);
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : raw) {
    held = held << 8 | static_cast<unsigned char>(c);
    for (bits += 8; bits >= 6;) out += digits[held >> (bits -= 6) & 63];
  }
  if (bits > 0) out += digits[held << (6 - bits) & 63];
  return out;
}

std::optional<std::string> from_base64url(std::string_view text) {
  std::string raw;
  raw.reserve(text.size() * 3 / 4);
  std::uint32_t held = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == digits.npos) return std::nullopt;
    held = held << 6 | static_cast<std::uint32_t>(digit);
    if ((bits += 6) >= 8) raw += static_cast<char>(held >> (bits -= 8) & 255);
  }
  if (base64url(raw) != text) return std::nullopt;  // one spelling only
  return raw;
}

bool run(EVP_CIPHER_CTX* context, std::string_view from, std::string& to) {
  int size = 0;
  return EVP_CipherUpdate(context, bytes(to), &size, bytes(from), static_cast<int>(from.size())) ==
         1;
}

bool is_compaction(const JsonValue& value) {
  if (!value.is(JsonType::object)) return false;
  const std::optional<JsonValue> type = value.find("type");
  return type && type->is(JsonType::string) && type->string_is("compaction");
}

void add_item(const JsonValue& value, bool is_block, std::vector<SealedItem>& items) {
  const std::optional<JsonValue> sealed = value.find("encrypted_content");
  if (!sealed || !sealed->is(JsonType::string)) return;
  const std::vector<SealedText> found = sealed_texts(sealed->string_raw());
  if (found.size() != 1 || found[0].begin != 0 || found[0].end != sealed->string_raw().size())
    return;
  const std::size_t begin = sealed->offset() + 1;  // behind the quote
  items.push_back({.text = {begin, begin + found[0].end},
                   .whole = {value.offset(), value.offset() + value.raw().size()},
                   .is_block = is_block});
}

std::optional<JsonValue> list_of(Dialect dialect, const JsonValue& body) {
  if (!body.is(JsonType::object)) return std::nullopt;
  const std::optional<JsonValue> list =
      body.find(dialect == Dialect::openai_responses ? "input" : "messages");
  return list && list->is(JsonType::array) ? list : std::nullopt;
}

// A message without its blocks up to and with the one that ends at `end`. Empty: none is left.
std::string without_blocks(const JsonValue& message, std::size_t end) {
  std::string blocks, out = "{";
  for (const JsonMember member : message.members()) {
    if (out.size() > 1) out += ',';
    out += std::string(member.key.raw()) + ':';
    if (!member.key.string_is("content")) {
      out += member.value.raw();
      continue;
    }
    for (const JsonValue block : member.value.elements())
      if (block.offset() >= end) blocks += (blocks.empty() ? "" : ",") + std::string(block.raw());
    out += '[' + blocks + ']';
  }
  return blocks.empty() ? std::string() : out + '}';
}

}  // namespace

CompactionSeal::CompactionSeal(std::string_view key) {
  unsigned size = 0;
  if (EVP_Digest(key.data(), key.size(), key_.data(), &size, EVP_sha256(), nullptr) != 1)
    throw std::bad_alloc();
}

std::string CompactionSeal::seal(const CompactionPointer& pointer, std::string_view whose) const {
  ByteOut plain;
  plain.text(pointer.conversation);
  plain.number(pointer.version);
  plain.text(pointer.summary);
  plain.text(whose);
  std::string nonce(nonce_bytes, '\0'), sealed(plain.bytes.size(), '\0'), tag(tag_bytes, '\0');
  const Cipher context(EVP_CIPHER_CTX_new());
  int size = 0;
  if (!context || RAND_bytes(bytes(nonce), static_cast<int>(nonce.size())) != 1 ||
      EVP_EncryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key_.data(), bytes(nonce)) !=
          1 ||
      !run(context.get(), plain.bytes, sealed) ||
      EVP_EncryptFinal_ex(context.get(), bytes(sealed) + sealed.size(), &size) != 1 ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_GET_TAG, static_cast<int>(tag.size()),
                          tag.data()) != 1)
    throw std::bad_alloc();
  return std::string(prefix) + base64url(nonce + sealed + tag);
}

std::optional<CompactionPointer> CompactionSeal::open(std::string_view item,
                                                      std::string_view whose) const {
  std::optional<Opened> opened = open(item);
  if (!opened || opened->whose != whose) return std::nullopt;
  return std::move(opened->pointer);
}

std::optional<CompactionSeal::Opened> CompactionSeal::open(std::string_view item) const {
  if (!item.starts_with(prefix)) return std::nullopt;
  const std::optional<std::string> raw = from_base64url(item.substr(prefix.size()));
  if (!raw || raw->size() < nonce_bytes + tag_bytes) return std::nullopt;
  const std::string_view nonce = std::string_view(*raw).substr(0, nonce_bytes);
  const std::string_view sealed =
      std::string_view(*raw).substr(nonce_bytes, raw->size() - nonce_bytes - tag_bytes);
  std::string tag = raw->substr(raw->size() - tag_bytes), plain(sealed.size(), '\0');
  const Cipher context(EVP_CIPHER_CTX_new());
  int size = 0;
  if (!context ||
      EVP_DecryptInit_ex(context.get(), EVP_aes_256_gcm(), nullptr, key_.data(), bytes(nonce)) !=
          1 ||
      !run(context.get(), sealed, plain) ||
      EVP_CIPHER_CTX_ctrl(context.get(), EVP_CTRL_GCM_SET_TAG, static_cast<int>(tag.size()),
                          tag.data()) != 1 ||
      EVP_DecryptFinal_ex(context.get(), bytes(plain) + plain.size(), &size) != 1)
    return std::nullopt;
  try {
    ByteIn in(plain, "a compaction item");
    Opened opened;
    opened.pointer.conversation = std::string(in.text());
    opened.pointer.version = in.number();
    opened.pointer.summary = std::string(in.text());
    opened.whose = std::string(in.text());
    in.end();
    return opened;
  } catch (const Failure&) {
    return std::nullopt;  // made by a release that writes others
  }
}

std::vector<SealedText> sealed_texts(std::string_view text) {
  constexpr std::size_t bytes_min = (nonce_bytes + tag_bytes) * 4 / 3;
  std::vector<SealedText> found;
  for (std::size_t at = text.find(prefix); at != text.npos; at = text.find(prefix, at + 1)) {
    const std::size_t end =
        std::min(text.find_first_not_of(digits, at + prefix.size()), text.size());
    // Whole words only: what a text quotes of one, or a longer word, is none.
    const bool is_word =
        (at == 0 || text[at - 1] == '"') && (end == text.size() || text[end] == '"');
    if (is_word && end - at - prefix.size() >= bytes_min) found.push_back({at, end});
  }
  return found;
}

std::vector<SealedItem> sealed_items(const JsonValue& message) {
  std::vector<SealedItem> items;
  if (!message.is(JsonType::object)) return items;
  if (is_compaction(message)) {
    add_item(message, false, items);
    return items;
  }
  const std::optional<JsonValue> content = message.find("content");
  if (!content || !content->is(JsonType::array) || message.find("type")) return items;
  for (const JsonValue block : content->elements()) {
    // As a conversation keeps an item of a Responses list.
    const std::optional<JsonValue> kept =
        block.is(JsonType::object) ? block.find("item") : std::nullopt;
    if (is_compaction(block))
      add_item(block, true, items);
    else if (kept && is_compaction(*kept))
      add_item(*kept, false, items);
  }
  return items;
}

std::vector<SealedItem> sealed_items(std::string_view message) {
  if (sealed_texts(message).empty()) return {};
  const Result<JsonText> json = JsonText::parse(message, request_limits);
  return json ? sealed_items(json->root()) : std::vector<SealedItem>();
}

std::vector<SealedItem> sealed_items(Dialect dialect, std::string_view body) {
  std::vector<SealedItem> items;
  if (sealed_texts(body).empty()) return items;
  const Result<JsonText> json = JsonText::parse(body, request_limits);
  const std::optional<JsonValue> list = json ? list_of(dialect, json->root()) : std::nullopt;
  if (!list) return items;
  for (const JsonValue message : list->elements())
    for (const SealedItem& item : sealed_items(message)) items.push_back(item);
  return items;
}

std::string summary_text(std::string_view summary) {
  return "The earlier part of this conversation was compacted. What matters of it:\n\n" +
         std::string(summary);
}

std::string summary_message(std::string_view summary) {
  std::string message = R"({"role":"user","content":)";
  append_json_string(message, summary_text(summary));
  return message + '}';
}

std::string without_items(std::string_view message) {
  const std::vector<SealedItem> items = sealed_items(message);
  if (items.empty() || !items.back().is_block) return std::string(message);
  const JsonText json = JsonText::parse(message, request_limits).value();
  return without_blocks(json.root(), items.back().whole.end);
}

std::string with_summaries(Dialect dialect, std::string_view body,
                           const std::vector<std::string>& summaries) {
  const JsonText json = JsonText::parse(body, request_limits).value();
  const std::optional<JsonValue> list = list_of(dialect, json.root());
  if (!list) return std::string(body);
  std::string out;
  std::size_t kept = 0, next = 0;
  for (const JsonValue message : list->elements()) {
    const std::vector<SealedItem> items = sealed_items(message);
    const std::size_t first = next;
    next = std::min(next + items.size(), summaries.size());
    if (first == next) continue;
    const std::string summary = summary_message(summaries[next - 1]);
    if (items.back().is_block) {
      const std::string rest = without_blocks(message, items.back().whole.end);
      out = std::string(body.substr(0, list->offset() + 1)) + summary +
            (rest.empty() ? "" : "," + rest);
    } else {
      out += std::string(body.substr(kept, message.offset() - kept)) + summary;
    }
    kept = message.offset() + message.raw().size();
  }
  return out += body.substr(kept);
}

}  // namespace undertext
