#include "store/chain.hpp"

#include <cstddef>
#include <new>
#include <string>
#include <vector>

#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace undertext {
namespace {

void add_number(std::string& out, std::uint64_t number) {
  for (int shift = 0; shift < 64; shift += 8) out += static_cast<char>((number >> shift) & 0xff);
}

// With its length, so that two texts in a row cannot be taken for two others.
void add_text(std::string& out, std::string_view text) {
  add_number(out, text.size());
  out += text;
}

void add_digest(std::string& out, const Digest& digest) {
  out.append(reinterpret_cast<const char*>(digest.data()), digest.size());
}

}  // namespace

Digest sha256(std::string_view bytes) {
  // A process may exit while threads of this library work, as Node's process.exit() does: what they
  // use must not be cleaned up under them.
  static const int is_kept = OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, nullptr);
  static_cast<void>(is_kept);
  Digest digest;
  unsigned size = 0;
  // Fails only where memory or the library's own set-up does.
  if (EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr) != 1 ||
      size != digest.size())
    throw std::bad_alloc();
  return digest;
}

std::string hex(const Digest& digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * digest.size());
  for (const std::uint8_t byte : digest) {
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

std::optional<Digest> digest_of_hex(std::string_view digits) {
  Digest digest = {};
  if (digits.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const char digit = digits[i];
    const bool is_decimal = digit >= '0' && digit <= '9';
    if (!is_decimal && !(digit >= 'a' && digit <= 'f')) return std::nullopt;
    const int value = is_decimal ? digit - '0' : digit - 'a' + 10;
    digest[i / 2] = static_cast<std::uint8_t>(digest[i / 2] << 4 | value);
  }
  return digest;
}

Digest first_chain(std::string_view conversation) {
  std::string bytes = "undertext chain 1";
  add_text(bytes, conversation);
  return sha256(bytes);
}

Digest body_digest(const MessageRecord& message) {
  return message.redacted ? *message.redacted : sha256(message.body);
}

Digest next_chain(const Digest& before, const VersionRecord& version,
                  std::span<const MessageRecord> messages) {
  std::vector<Digest> digests;
  digests.reserve(messages.size());
  for (const MessageRecord& message : messages) digests.push_back(body_digest(message));
  return next_chain(before, version, messages, digests);
}

Digest next_chain(const Digest& before, const VersionRecord& version,
                  std::span<const MessageRecord> messages, std::span<const Digest> digests) {
  std::string bytes;
  bytes.reserve(160 + version.arguments.size() + messages.size() * 56);
  add_digest(bytes, before);
  add_number(bytes, version.version);
  add_number(bytes, static_cast<std::uint64_t>(version.at_ms));
  add_number(bytes, version.log_length);
  add_text(bytes, version.operation);
  add_text(bytes, version.arguments);
  add_text(bytes, version.operation_id);
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const MessageRecord& message = messages[i];
    add_number(bytes, message.ordinal);
    add_number(bytes, static_cast<std::uint64_t>(message.role));
    add_number(bytes, static_cast<std::uint64_t>(message.time_ms));
    add_digest(bytes, digests[i]);
  }
  return sha256(bytes);
}

}  // namespace undertext
