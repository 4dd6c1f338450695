#include "tokens/merge_tokenizer.hpp"

#include "tokens/normalize.hpp"
#include "tokens/valid_text.hpp"

namespace undertext {

std::uint64_t MergeTokenizer::count(std::string_view text) const {
  return encode(text).value().size();
}

Result<std::vector<std::uint32_t>> MergeTokenizer::encode(std::string_view text) const {
  std::string valid, normal;
  text = valid_text(text, valid);
  if (facts_.normalizes) text = normalize_nfc(text, normal);
  std::vector<std::uint32_t> ids;
  std::vector<TokenNumber> parts;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* const next = piece_end(facts_.pattern, at, end);
    if (const auto whole = facts_.only_whole.find(std::string(at, next));
        whole != facts_.only_whole.end()) {
      ids.push_back(whole->second);
    } else {
      parts.clear();
      for (const char* byte = at; byte != next; ++byte)
        parts.push_back(static_cast<std::uint8_t>(*byte));
      merges_.apply(parts);
      for (const TokenNumber part : parts) ids.push_back(ids_[part]);
    }
    at = next;
  }
  return ids;
}

}  // namespace undertext
