// From the JSON to merges by number, and from these to the tables that are fast, where they fit.
#include "tokens/tokenizer_json.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "tokens/bpe_tokenizer.hpp"
#include "tokens/make_vocabulary.hpp"
#include "tokens/merge_tokenizer.hpp"
#include "tokens/pair_merges.hpp"
#include "tokens/split.hpp"

namespace undertext {
namespace {

Error unsupported(std::string what) {
  return {.code = ErrorCode::unsupported, .message = "this tokenizer.json has " + std::move(what)};
}
Error corrupt(std::string what) {
  return {.code = ErrorCode::corrupt, .message = "this is no tokenizer.json: " + std::move(what)};
}

std::string type_of(const JsonValue& value) {
  const std::optional<JsonValue> type = value.find("type");
  return type && type->is(JsonType::string) ? type->string() : std::string();
}

// A member that is there and not null.
std::optional<JsonValue> find_set(const JsonValue& object, std::string_view key) {
  std::optional<JsonValue> value = object.find(key);
  if (value && value->is(JsonType::null)) return std::nullopt;
  return value;
}

bool is_true(const JsonValue& object, std::string_view key, bool otherwise) {
  const std::optional<JsonValue> value = object.find(key);
  return value && value->is(JsonType::boolean) ? value->boolean() : otherwise;
}

// Byte-level vocabularies write a byte as a character: itself where that can be seen, else one from
// U+0100 on.
class ByteLetters {
 public:
  ByteLetters() {
    letters_.fill(-1);
    char32_t next = 0x100;
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const bool visible =
          (byte >= '!' && byte <= '~') || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
      letters_[visible ? byte : next++] = static_cast<std::int16_t>(byte);
    }
  }

  std::optional<std::string> decode(std::string_view text) const {
    std::string bytes;
    for (std::size_t at = 0; at < text.size();) {
      const auto lead = static_cast<std::uint8_t>(text[at]);
      std::uint32_t letter = lead;
      if (lead >= 0x80) {
        if (lead >= 0xE0 || at + 1 == text.size()) return std::nullopt;
        letter = (lead & 0x1Fu) << 6 | (static_cast<std::uint8_t>(text[at + 1]) & 0x3Fu);
      }
      if (letter >= letters_.size() || letters_[letter] < 0) return std::nullopt;
      bytes += static_cast<char>(letters_[letter]);
      at += lead < 0x80 ? 1 : 2;
    }
    return bytes;
  }

 private:
  std::array<std::int16_t, 0x180> letters_;
};

// How text becomes pieces.
std::optional<Error> read_split(const JsonValue& root, VocabularyFacts& facts) {
  if (const std::optional<JsonValue> normalizer = find_set(root, "normalizer")) {
    std::vector<JsonValue> steps = {*normalizer};
    if (type_of(*normalizer) == "Sequence") {
      steps.clear();
      if (const std::optional<JsonValue> list = normalizer->find("normalizers");
          list && list->is(JsonType::array))
        for (const JsonValue step : list->elements()) steps.push_back(step);
    }
    for (const JsonValue& step : steps) {
      if (type_of(step) != "NFC")
        return unsupported("the normalizer " + type_of(step) + ", and only NFC is read");
      facts.normalizes = true;
    }
  }
  const std::optional<JsonValue> pre = find_set(root, "pre_tokenizer");
  if (!pre) return unsupported("no pre-tokenizer, so it is not byte-level");
  std::vector<JsonValue> steps = {*pre};
  if (type_of(*pre) == "Sequence") {
    steps.clear();
    if (const std::optional<JsonValue> list = pre->find("pretokenizers");
        list && list->is(JsonType::array))
      for (const JsonValue step : list->elements()) steps.push_back(step);
  }
  if (steps.empty() || steps.size() > 2 || type_of(steps.back()) != "ByteLevel") {
    return unsupported("a pre-tokenizer that is neither ByteLevel nor a Split and ByteLevel");
  }
  if (is_true(steps.back(), "add_prefix_space", true))
    return unsupported("a pre-tokenizer that puts a space before the text");
  const bool byte_level_splits = is_true(steps.back(), "use_regex", true);
  if (steps.size() == 1) {
    if (!byte_level_splits) return unsupported("a pre-tokenizer that does not split");
    facts.pattern = SplitPattern::gpt2;
    return std::nullopt;
  }
  if (type_of(steps.front()) != "Split" || byte_level_splits)
    return unsupported("more than one pre-tokenizer that splits");
  const std::optional<JsonValue> pattern = steps.front().find("pattern");
  const std::optional<JsonValue> regex = pattern ? pattern->find("Regex") : std::nullopt;
  const std::optional<JsonValue> behavior = steps.front().find("behavior");
  if (!regex || !regex->is(JsonType::string) || !behavior)
    return unsupported("a Split without a regular expression");
  // The patterns match everything, so nothing lies between the matches: to keep them apart, or to
  // remove what is no match, is the same.
  const bool keeps_matches = is_true(steps.front(), "invert", false)
                                 ? behavior->string_is("Removed")
                                 : behavior->string_is("Isolated");
  const std::optional<SplitPattern> known = find_pattern(regex->string());
  if (!known || !keeps_matches)
    return unsupported("a Split by a pattern that is not known here: " + regex->string());
  facts.pattern = *known;
  return std::nullopt;
}

std::optional<Error> check_model(const JsonValue& model) {
  if (const std::string type = type_of(model); !type.empty() && type != "BPE")
    return unsupported("a model " + type + ", not BPE");
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const std::optional<JsonValue> value = find_set(model, key);
    if (value && !(value->is(JsonType::string) && value->string_raw().empty()))
      return unsupported(std::string("a ") + key);
  }
  if (is_true(model, "byte_fallback", false))
    return unsupported("a byte fallback, so it is not byte-level");
  if (const std::optional<JsonValue> dropout = find_set(model, "dropout");
      dropout && dropout->raw() != "0" && dropout->raw() != "0.0") {
    return unsupported("a dropout, which counts by chance");
  }
  return std::nullopt;
}

// Tokens by number: the 256 bytes, then what merging makes, in the order of the merges.
struct Merged {
  std::vector<VocabularySource::Token> tokens;
  PairMerges merges;
  // no merge makes a token that has been made before by another than the one just before it
  bool in_order = true;
};

class Reader {
 public:
  Reader(const JsonValue& model, VocabularyFacts facts) : model_(model), facts_(std::move(facts)) {}

  Result<std::shared_ptr<const Tokenizer>> read() {
    if (std::optional<Error> error = read_vocabulary()) return std::move(*error);
    if (std::optional<Error> error = read_merges()) return std::move(*error);
    return make();
  }

 private:
  std::optional<Error> read_vocabulary() {
    const std::optional<JsonValue> vocabulary = model_.find("vocab");
    if (!vocabulary || !vocabulary->is(JsonType::object)) return corrupt("its model has no vocab");
    for (const JsonMember member : vocabulary->members()) {
      const std::optional<std::uint64_t> id = member.value.uint64_saturated();
      if (!id || *id > std::numeric_limits<std::uint32_t>::max())
        return corrupt("a token has no id");
      // What is not written in these letters is an added token; no text becomes one here.
      if (std::optional<std::string> bytes = letters_.decode(member.key.string());
          bytes && !bytes->empty())
        ids_.emplace(std::move(*bytes), static_cast<std::uint32_t>(*id));
    }
    for (std::uint32_t byte = 0; byte < 256; ++byte) {
      const std::string bytes(1, static_cast<char>(byte));
      const auto place = ids_.find(bytes);
      if (place == ids_.end()) return unsupported("no token for the byte " + std::to_string(byte));
      numbers_.emplace(bytes, byte);
      merged_.tokens.push_back({bytes, place->second});
    }
    return std::nullopt;
  }

  std::optional<Error> read_merges() {
    const std::optional<JsonValue> merges = model_.find("merges");
    if (!merges || !merges->is(JsonType::array)) return corrupt("its model has no merges");
    std::uint32_t rank = 0;
    for (const JsonValue merge : merges->elements()) {
      std::optional<std::string> left, right;
      if (merge.is(JsonType::string)) {
        const std::string both = merge.string();
        const std::size_t space = both.find(' ');
        left = letters_.decode(std::string_view(both).substr(0, space));
        if (space != std::string::npos)
          right = letters_.decode(std::string_view(both).substr(space + 1));
      } else if (merge.is(JsonType::array) && merge.count() == 2) {
        for (const JsonValue part : merge.elements())
          if (part.is(JsonType::string)) (left ? right : left) = letters_.decode(part.string());
      }
      if (!left || !right)
        return corrupt("its merge " + std::to_string(rank) + " is not two tokens");
      if (!add_merge(*left, *right, rank))
        return corrupt("its merge " + std::to_string(rank) +
                       " has or makes a token that is not there");
      ++rank;
    }
    return std::nullopt;
  }

  bool add_merge(const std::string& left, const std::string& right, std::uint32_t rank) {
    const std::string bytes = left + right;
    const auto id = ids_.find(bytes);
    if (!ids_.contains(left) || !ids_.contains(right) || id == ids_.end()) return false;
    const auto number_of = [this](const std::string& part) {
      // A part that no merge has made so far; a later one may.
      const auto [place, fresh] =
          numbers_.emplace(part, static_cast<TokenNumber>(merged_.tokens.size()));
      if (fresh) merged_.tokens.push_back({part, ids_.at(part)});
      return place->second;
    };
    const TokenNumber left_number = number_of(left), right_number = number_of(right);
    const bool is_new = !numbers_.contains(bytes);
    const TokenNumber result = number_of(bytes);
    if (!is_new && result + 1 != merged_.tokens.size()) merged_.in_order = false;
    merged_.merges.add(left_number, right_number, {.rank = rank, .result = result});
    return true;
  }

  // The parts of the tokens that merging makes of their own bytes; nothing for those that it does
  // not.
  std::vector<std::optional<TokenParts>> find_parts() const {
    std::vector<std::optional<TokenParts>> found(merged_.tokens.size());
    std::vector<TokenNumber> parts;
    for (TokenNumber number = 256; number < merged_.tokens.size(); ++number) {
      parts.clear();
      for (const char c : merged_.tokens[number].bytes)
        parts.push_back(static_cast<std::uint8_t>(c));
      merged_.merges.apply(parts, 2);
      if (parts.size() != 2) continue;
      const std::optional<PairMerges::Merge> last = merged_.merges.find(parts[0], parts[1]);
      if (last && last->result == number) found[number] = TokenParts{parts[0], parts[1]};
    }
    return found;
  }

  Result<std::shared_ptr<const Tokenizer>> make() {
    const std::vector<std::optional<TokenParts>> parts = find_parts();
    if (is_true(model_, "ignore_merges", false)) {
      for (const auto& [bytes, id] : ids_) {
        const auto number = numbers_.find(bytes);
        const bool is_made =
            number != numbers_.end() && (number->second < 256 || parts[number->second]);
        if (!is_made) facts_.only_whole.emplace(bytes, id);
      }
    }
    if (!merged_.in_order) return make_plain();
    // Tokens that merging never makes are left out, and the others numbered anew.
    VocabularySource source;
    source.facts = facts_;
    std::vector<TokenNumber> renumbered(merged_.tokens.size(), no_token);
    for (TokenNumber number = 0; number < merged_.tokens.size(); ++number) {
      if (number >= 256 && !parts[number]) continue;
      std::pair<TokenNumber, TokenNumber> pair{number, number};
      if (number >= 256) pair = {renumbered[parts[number]->left], renumbered[parts[number]->right]};
      // made of what comes later
      if (pair.first == no_token || pair.second == no_token) return make_plain();
      renumbered[number] = static_cast<TokenNumber>(source.tokens.size());
      source.tokens.push_back(merged_.tokens[number]);
      source.parts.push_back(pair);
    }
    Result<std::shared_ptr<const BpeVocabulary>> vocabulary = make_open_vocabulary(source);
    if (!vocabulary) return std::move(vocabulary.error());
    return std::shared_ptr<const Tokenizer>(std::make_shared<BpeTokenizer>(*std::move(vocabulary)));
  }

  Result<std::shared_ptr<const Tokenizer>> make_plain() {
    std::vector<std::uint32_t> ids;
    for (const VocabularySource::Token& token : merged_.tokens) ids.push_back(token.id);
    return std::shared_ptr<const Tokenizer>(std::make_shared<MergeTokenizer>(
        std::move(facts_), std::move(merged_.merges), std::move(ids)));
  }

  const JsonValue model_;
  VocabularyFacts facts_;
  const ByteLetters letters_;
  std::unordered_map<std::string, std::uint32_t> ids_;
  std::unordered_map<std::string, TokenNumber> numbers_;
  Merged merged_;
};

}  // namespace

Result<std::shared_ptr<const Tokenizer>> read_tokenizer_json(std::string_view text,
                                                             std::string name) {
  const Result<JsonText> json = JsonText::parse(text, {});
  if (!json) return corrupt(json.error().message);
  const std::optional<JsonValue> model = json->root().find("model");
  if (!model || !model->is(JsonType::object)) return corrupt("it has no model");
  if (std::optional<Error> error = check_model(*model)) return std::move(*error);
  VocabularyFacts facts{.name = std::move(name), .pattern = SplitPattern::gpt2};
  if (std::optional<Error> error = read_split(json->root(), facts)) return std::move(*error);
  return Reader(*model, std::move(facts)).read();
}

}  // namespace undertext
