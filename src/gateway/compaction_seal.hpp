// The opaque items that the gateway answers a client's compaction with. An item names a
// conversation and a version, and carries a summary for the time when the store cannot be read.
//
//     CompactionSeal seal(key);
//     std::string item = seal.seal({"codex-1", 17, "Goal: …"}, whose);        // "ut1.…"
//     std::optional<CompactionPointer> pointer = seal.open(item, whose);      // unset: forged, or somebody else's
//
// AES-256-GCM with a random nonce. An item opens only for whom it was made (`whose`: tenant and
// user); nobody else learns more of it than its length.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/dialect_name.hpp>

#include "base/json_text.hpp"

namespace undertext {

struct CompactionPointer {
  std::string conversation;
  std::uint64_t version = 0;
  std::string summary;
  friend bool operator==(const CompactionPointer&, const CompactionPointer&) = default;
};

class CompactionSeal {
 public:
  explicit CompactionSeal(std::string_view key);  // a secret of any length; its SHA-256 is the key

  std::string seal(const CompactionPointer& pointer, std::string_view whose) const;
  std::optional<CompactionPointer> open(std::string_view item, std::string_view whose) const;

  // For who has the key: whoever's it is.
  struct Opened {
    CompactionPointer pointer;
    std::string whose;
  };
  std::optional<Opened> open(std::string_view item) const;

 private:
  std::array<unsigned char, 32> key_;
};

// Where something stands in a text.
struct SealedText {
  std::size_t begin = 0, end = 0;
};
// All that looks like a sealed text, in order: a glance, which also finds what a message quotes.
std::vector<SealedText> sealed_texts(std::string_view text);

// A compaction item with a sealed text: of a Responses list one of its items, else a block of a
// message's content. What a tool returned, or a text quotes, is no item, whatever it holds.
struct SealedItem {
  SealedText text, whole;
  bool is_block = false;
};
// The items of one message, or item of a list. Whether one is genuine only open() knows;
// providers' own are left out.
std::vector<SealedItem> sealed_items(const JsonValue& message);
std::vector<SealedItem> sealed_items(std::string_view message);
// Of a request's list.
std::vector<SealedItem> sealed_items(Dialect dialect, std::string_view body);

// A message without its blocks up to and with the last that is an item: what was said behind the
// compaction. Empty: nothing was. As it is: it has no such block.
std::string without_items(std::string_view message);

// A request body in whose list messages of the user say `summaries`, one for each of its items in
// their order. A block stands for all that is before it, as it does for its provider: of several
// only the last counts, and the list begins there.
std::string with_summaries(Dialect dialect, std::string_view body,
                           const std::vector<std::string>& summaries);

// What the model is told before a summary.
std::string summary_text(std::string_view summary);
// As a message of the user.
std::string summary_message(std::string_view summary);

}  // namespace undertext
