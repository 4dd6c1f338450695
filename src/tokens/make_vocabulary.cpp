// Each table of a vocabulary, and all of them as one file.
#include "tokens/make_vocabulary.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>

#include "base/utf8.hpp"
#include "tokens/bpe_encoder.hpp"
#include "tokens/make_trie.hpp"
#include "tokens/piece_cuts.hpp"

namespace undertext {
namespace {

Error unsupported(std::string what) {
  return {.code = ErrorCode::unsupported, .message = std::move(what)};
}

struct Tables {
  std::vector<BpeToken> tokens;
  std::vector<TokenParts> parts;
  std::vector<std::uint32_t> ids;
  std::vector<TrieNode> trie;
  std::vector<std::uint64_t> pairs;
  std::vector<std::uint32_t> byte_pairs;
  std::vector<std::uint64_t> pair_filter;
  std::vector<ShortPiece> whole;
  std::vector<std::uint8_t> characters;
  std::vector<std::uint64_t> cut_filter;
};

void set_bit(std::vector<std::uint64_t>& bits, std::uint32_t bit) {
  bits[bit / 64] |= std::uint64_t{1} << bit % 64;
}

void make_tokens(const VocabularySource& source, Tables& tables) {
  for (TokenNumber number = 0; number < source.tokens.size(); ++number) {
    const VocabularySource::Token& token = source.tokens[number];
    const auto [left, right] = number < 256 ? std::pair(number, number) : source.parts[number];
    TokenNumber prefix = no_token;
    std::uint32_t node = 0;
    for (std::size_t i = 0; i + 1 < token.bytes.size(); ++i) {
      node = (tables.trie[node].link >> TrieNode::base_shift) +
             static_cast<std::uint8_t>(token.bytes[i]);
      if (tables.trie[node].token != 0) prefix = tables.trie[node].token - 1;
    }
    tables.parts.push_back({left, right});
    tables.tokens.push_back(
        {{left, right}, prefix, static_cast<std::uint32_t>(token.bytes.size()), 0, 0, 0, 0});
    tables.ids.push_back(token.id);
  }
}

// A part of a token is there until it is merged, so only merges that come earlier count.
void make_neighbours(Tables& tables) {
  struct Partner {
    TokenNumber token;
    TokenNumber result;
  };
  const std::vector<TokenParts>& parts = tables.parts;
  std::vector<std::vector<Partner>> behind(parts.size()), before(parts.size());
  for (TokenNumber number = 256; number < parts.size(); ++number) {
    behind[parts[number].left].push_back({parts[number].right, number});
    before[parts[number].right].push_back({parts[number].left, number});
  }
  for (TokenNumber number = 0; number < parts.size(); ++number) {
    BpeToken& token = tables.tokens[number];
    TokenNumber until = no_token;
    for (TokenNumber part = number;; part = parts[part].right) {
      for (const Partner& partner : behind[part])
        if (partner.result < until) token.merged_behind |= token_bit(partner.token);
      token.ends |= token_bit(part);
      until = part;
      if (part < 256) break;
    }
    until = no_token;
    for (TokenNumber part = number;; part = parts[part].left) {
      for (const Partner& partner : before[part])
        if (partner.result <= until) token.merged_before |= token_bit(partner.token);
      token.beginnings |= token_bit(part);
      until = part;
      if (part < 256) break;
    }
  }
}

void make_pairs(Tables& tables) {
  // Mostly empty, so that hardly any bucket is full.
  tables.pairs.assign(std::max(std::bit_ceil(tables.parts.size() * 2), pair_bucket_size), 0);
  tables.byte_pairs.assign(0x10000, 0);
  tables.pair_filter.assign(pair_filter_bits / 64, 0);
  const std::size_t mask = tables.pairs.size() - 1;
  for (TokenNumber number = 256; number < tables.parts.size(); ++number) {
    const auto [left, right] = tables.parts[number];
    set_bit(tables.pair_filter, pair_filter_bit(pair_hash(left, right)));
    if (left < 256 && right < 256) tables.byte_pairs[left << 8 | right] = number;
    const std::uint64_t key = pair_key(left, right);
    std::size_t slot = pair_bucket(key, tables.pairs.size());
    while (tables.pairs[slot] != 0) slot = (slot + 1) & mask;
    tables.pairs[slot] = pair_entry(key, number);
  }
}

// Tokens that are merged early are common, so they have the first choice. One whose bucket is full
// is left out: it is found all the same, by the encoder.
void make_whole(const VocabularySource& source, Tables& tables) {
  const std::size_t buckets =
      std::max<std::size_t>(std::bit_ceil(source.tokens.size()) / bucket_size, 1);
  tables.whole.assign(buckets * bucket_size, {});
  for (const VocabularySource::Token& token : source.tokens) {
    if (token.bytes.size() > short_piece_max) continue;
    const ShortPiece piece = copy_short_piece(token.bytes.data(), token.bytes.size());
    ShortPiece* const bucket =
        &tables.whole[(hash_short_piece(piece) & (buckets - 1)) * bucket_size];
    ShortPiece* const slot = std::find(bucket, bucket + bucket_size, ShortPiece{});
    if (slot != bucket + bucket_size) *slot = piece;
  }
}

// The bytes of a token, character by character; the first and the last may be incomplete.
struct Part {
  std::string_view bytes;
  bool whole;
};

std::vector<Part> characters_of(std::string_view token) {
  std::vector<Part> parts;
  const auto continues = [&token](std::size_t i) {
    return (static_cast<std::uint8_t>(token[i]) & 0xC0) == 0x80;
  };
  for (std::size_t at = 0; at < token.size();) {
    std::size_t size = 1;
    while (at + size < token.size() && continues(at + size)) ++size;
    const std::size_t valid = utf8_sequence_size(token.data() + at, token.data() + at + size);
    parts.push_back({token.substr(at, size), valid == size});
    at += size;
  }
  return parts;
}

std::uint32_t three_bytes(std::string_view bytes) {
  const auto byte = [&bytes](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[i]));
  };
  return (byte(0) & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
}

void forbid(Tables& tables, std::uint8_t what, auto matches) {
  std::string bytes;
  for (std::uint32_t code_point = 0x800; code_point < 0x10000; ++code_point) {
    bytes.clear();
    append_utf8(bytes, code_point);
    if (matches(std::string_view(bytes))) tables.characters[code_point] |= what;
  }
}

void make_cuts(const VocabularySource& source, Tables& tables) {
  tables.characters.assign(0x10000, 0);
  tables.cut_filter.assign(cut_filter_bits / 64, 0);
  for (const VocabularySource::Token& token : source.tokens) {
    const std::vector<Part> parts = characters_of(token.bytes);
    for (std::size_t i = 1; i < parts.size(); ++i) {
      const Part before = parts[i - 1], after = parts[i];
      if (before.whole && after.whole) {
        if (before.bytes.size() == 3 && after.bytes.size() == 3)
          set_bit(tables.cut_filter, cut_hash(three_bytes(before.bytes), three_bytes(after.bytes)));
      } else if (before.whole) {
        if (before.bytes.size() == 3) tables.characters[three_bytes(before.bytes)] |= no_cut_after;
      } else if (after.whole) {
        if (after.bytes.size() == 3) tables.characters[three_bytes(after.bytes)] |= no_cut_before;
      } else {
        forbid(tables, no_cut_before,
               [&](std::string_view bytes) { return bytes.starts_with(after.bytes); });
      }
    }
  }
}

// Needs the tables of the encoder.
void count_characters(const VocabularySource& source, const BpeVocabulary& vocabulary,
                      std::vector<std::uint8_t>& characters) {
  const auto two_bytes = [](std::string_view bytes) {
    return static_cast<std::size_t>(static_cast<std::uint8_t>(bytes[0])) << 8 |
           static_cast<std::uint8_t>(bytes[1]);
  };
  std::vector<bool> merged(0x10000);
  for (const VocabularySource::Token& token : source.tokens)
    if (token.bytes.size() == 2) merged[two_bytes(token.bytes)] = true;
  BpeEncoder encoder;
  std::string bytes;
  for (std::uint32_t code_point = 0x800; code_point < 0x10000; ++code_point) {
    if (code_point >= 0xD800 && code_point < 0xE000) continue;
    bytes.clear();
    append_utf8(bytes, code_point);
    const bool stays_apart =
        !merged[two_bytes(bytes)] && !merged[two_bytes(std::string_view(bytes).substr(1))];
    characters[code_point] |=
        stays_apart ? std::uint8_t{3} : static_cast<std::uint8_t>(encoder.count(vocabulary, bytes));
  }
}

template <class T>
void append_section(std::string& file, VocabularyHeader& header, Section section,
                    const std::vector<T>& table) {
  file.resize((file.size() + 63) / 64 * 64);
  header.sections[static_cast<std::size_t>(section)] = {file.size(), table.size()};
  file.append(reinterpret_cast<const char*>(table.data()), table.size() * sizeof(T));
}

std::string write_file(const VocabularyFacts& facts, const Tables& tables) {
  VocabularyHeader header{};
  std::memcpy(header.magic, vocabulary_magic, sizeof header.magic);
  header.format = vocabulary_format;
  header.byte_order = vocabulary_byte_order;
  facts.name.copy(header.name, sizeof header.name - 1);
  header.pattern = static_cast<std::uint32_t>(facts.pattern);
  std::string file(sizeof header, '\0');
  append_section(file, header, Section::tokens, tables.tokens);
  append_section(file, header, Section::parts, tables.parts);
  append_section(file, header, Section::ids, tables.ids);
  append_section(file, header, Section::trie, tables.trie);
  append_section(file, header, Section::pairs, tables.pairs);
  append_section(file, header, Section::pair_filter, tables.pair_filter);
  append_section(file, header, Section::whole, tables.whole);
  append_section(file, header, Section::characters, tables.characters);
  append_section(file, header, Section::cut_filter, tables.cut_filter);
  append_section(file, header, Section::byte_pairs, tables.byte_pairs);
  header.size_bytes = file.size();
  header.checksum = vocabulary_checksum({reinterpret_cast<const char*>(&header), sizeof header}) ^
                    vocabulary_checksum(std::string_view(file).substr(sizeof header));
  std::memcpy(file.data(), &header, sizeof header);
  return file;
}

Result<std::shared_ptr<BpeVocabulary>> open_copy(std::string_view file) {
  struct Delete {
    void operator()(char* bytes) const { ::operator delete(bytes, std::align_val_t{64}); }
  };
  std::shared_ptr<char> bytes(static_cast<char*>(::operator new(file.size(), std::align_val_t{64})),
                              Delete());
  std::memcpy(bytes.get(), file.data(), file.size());
  return BpeVocabulary::open({bytes.get(), file.size()}, bytes);
}

}  // namespace

Result<std::string> make_vocabulary(const VocabularySource& source) {
  if (source.tokens.size() >= tokens_max) return unsupported("a vocabulary of so many tokens");
  std::vector<std::string_view> strings;
  for (const VocabularySource::Token& token : source.tokens) {
    if (token.bytes.size() > token_length_max)
      return unsupported("a vocabulary with such long tokens");
    strings.push_back(token.bytes);
  }
  Tables tables;
  tables.trie = make_trie(strings);
  if (tables.trie.empty()) return unsupported("a vocabulary with so many and such long tokens");
  make_tokens(source, tables);
  make_neighbours(tables);
  make_pairs(tables);
  make_whole(source, tables);
  make_cuts(source, tables);
  const Result<std::shared_ptr<BpeVocabulary>> encoding =
      open_copy(write_file(source.facts, tables));
  if (!encoding) return encoding.error();
  count_characters(source, **encoding, tables.characters);
  return write_file(source.facts, tables);
}

Result<std::shared_ptr<const BpeVocabulary>> make_open_vocabulary(const VocabularySource& source) {
  const Result<std::string> file = make_vocabulary(source);
  if (!file) return file.error();
  Result<std::shared_ptr<BpeVocabulary>> vocabulary = open_copy(*file);
  if (!vocabulary) return std::move(vocabulary.error());
  (*vocabulary)->set_facts(source.facts);
  return std::shared_ptr<const BpeVocabulary>(*std::move(vocabulary));
}

}  // namespace undertext
