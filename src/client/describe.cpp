// What a record says of a request.
#include <algorithm>
#include <array>

#include <undertext/request_record.hpp>

#include "base/text_digest.hpp"
#include "client/begins.hpp"
#include "client/markers.hpp"
#include "client/pointer.hpp"
#include "dialect/request_body.hpp"

namespace undertext {
namespace {

std::string hexadecimal(std::pair<std::uint64_t, std::uint64_t> digest) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const std::uint64_t half : {digest.first, digest.second})
    for (int shift = 60; shift >= 0; shift -= 4) text += digits[half >> shift & 15];
  return text;
}

std::string digest_of(std::string_view bytes) {
  TextDigest digest;
  digest.add(bytes);
  return hexadecimal(digest.finish());
}

// Of all members that are neither the list nor what stands before it, nor the tools.
std::string parameters_digest(std::string_view rest) {
  const Result<JsonText> text = JsonText::parse(rest, {.depth = 4096});
  if (!text || !text->root().is(JsonType::object)) return {};
  TextDigest digest;
  bool any = false;
  for (const JsonMember member : text->root().members()) {
    if (member.key.string_is("tools")) continue;
    any = true;
    for (const std::string_view piece :
         {member.key.raw(), std::string_view(":"), member.value.raw(), std::string_view(",")})
      digest.add(piece);
  }
  return any ? hexadecimal(digest.finish()) : std::string();
}

std::vector<VolatilePart> volatile_parts(const ClientProfile& client, Dialect dialect,
                                         const JsonValue& root) {
  std::vector<VolatilePart> parts;
  const Result<RequestBody> body = read_body(dialect, root);
  if (!body) return parts;
  if (body->top && body->top->is(JsonType::array)) {
    std::uint64_t block = 0;
    for (const JsonValue part : body->top->elements()) {
      const std::optional<JsonValue> text = part.find("text");
      if (text && text->is(JsonType::string) &&
          begins_with_one_of(text->string(), client.volatile_parts.system_texts))
        parts.push_back({VolatilePart::Kind::text, 0, {}, block, {}, std::string(part.raw())});
      ++block;
    }
  }
  const std::uint64_t first = body->top ? 1 : 0;
  for (const MarkerAt& marker : markers_of(root))
    parts.push_back({VolatilePart::Kind::marker,
                     marker.message ? first + *marker.message : 0,
                     {},
                     marker.block,
                     marker.inner,
                     std::string(marker.json)});
  return parts;
}

}  // namespace

std::string list_key(const op::Reconcile& request, std::size_t count) {
  TextDigest digest;
  for (std::size_t i = 0; i < std::min(count, request.list.size()); ++i)
    for (const std::uint64_t half : {request.list[i].identity.high, request.list[i].identity.low}) {
      std::array<char, 8> bytes;
      for (unsigned k = 0; k < bytes.size(); ++k)
        bytes[k] = static_cast<char>(half >> (8 * k) & 0xff);
      digest.add(std::string_view(bytes.data(), bytes.size()));
    }
  return "list:" + hexadecimal(digest.finish());
}

RequestRecord describe_request(const ClientProfile& client, const ClientRequest& request,
                               std::string_view json, const ClientRequestHead& head) {
  RequestRecord record;
  record.client = client.name;
  record.dialect = request.reconcile.dialect;
  record.kind = request.kind;
  record.path = head.path.substr(0, head.path.find('?'));
  record.messages = request.reconcile.list.size();
  record.keys.push_back(list_key(request.reconcile));
  const Result<JsonText> text = JsonText::parse(json, {.depth = 4096});
  if (!text || !text->root().is(JsonType::object)) return record;
  const JsonValue root = text->root();
  record.model = text_at(root, "/model");
  if (const std::optional<JsonValue> tools = root.find("tools"))
    record.tools_digest = digest_of(tools->raw());
  record.parameters_digest = parameters_digest(request.rest);
  if (const std::optional<Dialect> dialect = dialect_named(record.dialect))
    record.volatile_parts = volatile_parts(client, *dialect, root);
  return record;
}

}  // namespace undertext
