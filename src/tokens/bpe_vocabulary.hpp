// The tables of a vocabulary, as they lie in a vocabulary file: made once by make_vocabulary.hpp,
// mapped into memory by everybody else.
//
// A token is known here by its number: the 256 bytes are 0 to 255, the others follow in the order
// in which they are merged. The numbers that users see are `ids`.
//
// The tables are read without checks, so open() refuses whatever could lead out of them. What a
// damaged table can still do, once its checksum has been made to fit, is to give wrong counts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <undertext/error.hpp>

#include "tokens/pair_merges.hpp"
#include "tokens/short_piece.hpp"
#include "tokens/split.hpp"

namespace undertext {

inline constexpr TokenNumber no_token = ~TokenNumber{0};
inline constexpr std::uint32_t tokens_max = 1u << 20;
inline constexpr std::uint32_t token_length_max = 0xFFFF;

struct TokenParts {  // the pair a token is merged from; a byte is its own left and right
  TokenNumber left;
  TokenNumber right;
};

struct BpeToken {
  TokenParts parts;
  TokenNumber next_prefix;  // the longest other token that this one begins with, or no_token
  std::uint32_t length;

  // Sets of tokens, as bits of a hash: what this one begins with (itself, its left part, the left
  // part of that, …), and with what its end (itself, its right part, …) would be merged if that
  // stood behind it; then the same to the other side.
  std::uint32_t beginnings;
  std::uint32_t merged_behind;
  std::uint32_t ends;
  std::uint32_t merged_before;
};
static_assert(sizeof(BpeToken) == 32);
constexpr std::uint32_t token_bit(TokenNumber token) {
  return std::uint32_t{1} << (token * 0x9E3779B1u >> 27);
}

// A double array: the child of a node for a byte is at its base + byte, if the node there says that
// it is for that byte.
struct TrieNode {
  static constexpr std::uint32_t taken = 0x100;
  static constexpr std::uint32_t base_shift = 9;
  static constexpr std::uint32_t nodes_max = 1u << (32 - base_shift);

  std::uint32_t link;   // base, `taken`, the byte; 0 for an empty place
  std::uint32_t token;  // the token that ends here, and 1; 0 for none
};

// Which cuts inside a piece change nothing: see piece_cuts.hpp.
inline constexpr std::uint32_t cut_filter_bits = 1u << 19;
inline constexpr std::uint32_t pair_filter_bits = 1u << 21;
inline constexpr std::size_t bucket_size = 4;

struct VocabularyFacts {
  std::string name;
  SplitPattern pattern;

  // These two are for tokenizer.json files; no vocabulary file has them.
  // text to Normalization Form C, before it is split
  bool normalizes = false;
  // ids of tokens that no merging makes: a whole piece may be one
  std::unordered_map<std::string, std::uint32_t> only_whole = {};
};

class BpeVocabulary {
 public:
  // corrupt: cut short, damaged, of another version or machine, or no vocabulary at all. `owner`
  // keeps the bytes alive; they begin at an address that is a multiple of 64.
  static Result<std::shared_ptr<BpeVocabulary>> open(std::string_view bytes,
                                                     std::shared_ptr<const void> owner);

  const VocabularyFacts& facts() const { return facts_; }
  void set_facts(VocabularyFacts facts) { facts_ = std::move(facts); }
  std::uint32_t token_count() const { return static_cast<std::uint32_t>(tokens.size()); }

  std::span<const BpeToken> tokens;
  // of the tokens once more: parts of parts are mostly among the first, and lie close here
  std::span<const TokenParts> parts;
  std::span<const std::uint32_t> ids;
  std::span<const TrieNode> trie;              // the root is the first
  std::span<const std::uint64_t> pairs;        // buckets: see find_pair()
  std::span<const std::uint32_t> byte_pairs;   // for each two bytes the token that they make, or 0
  std::span<const std::uint64_t> pair_filter;  // a bit for every pair's hash
  // buckets of tokens that are short pieces; some tokens are in none
  std::span<const ShortPiece> whole;
  std::span<const std::uint8_t> characters;  // for each of U+0000 to U+FFFF: see piece_cuts.hpp
  std::span<const std::uint64_t> cut_filter;

 private:
  BpeVocabulary() = default;
  VocabularyFacts facts_;
  std::shared_ptr<const void> owner_;
};

// 32 bits, of which the upper ones are the good ones.
constexpr std::uint32_t pair_hash(TokenNumber left, TokenNumber right) {
  return static_cast<std::uint32_t>((left * 0x9E3779B97F4A7C15u + right * 0xD6E8FEB86659FD93u) >>
                                    32);
}
constexpr std::uint32_t pair_filter_bit(std::uint32_t hash) {
  return hash / (~std::uint32_t{0} / pair_filter_bits + 1);
}

// An entry is a pair, and below it the token that it makes; 0 is none. Where a bucket is full, the
// next one may have the pair.
inline constexpr std::size_t pair_bucket_size = 4;
constexpr std::uint64_t pair_key(TokenNumber left, TokenNumber right) {
  return std::uint64_t{left} * tokens_max + right;
}
constexpr std::uint64_t pair_entry(std::uint64_t key, TokenNumber result) {
  return key * tokens_max + result;
}
// Where the bucket of a pair begins, in a table of this size, which is a power of two.
constexpr std::size_t pair_bucket(std::uint64_t key, std::size_t size) {
  return static_cast<std::size_t>(key * 0x9E3779B97F4A7C15u >> 32) & (size - pair_bucket_size);
}
// The token that the pair makes, or 0.
TokenNumber find_pair(std::span<const std::uint64_t> pairs, std::uint64_t key);

// The file: this, then the tables, each at a multiple of 64.
enum class Section : std::uint32_t {
  tokens,
  parts,
  ids,
  trie,
  pairs,
  pair_filter,
  whole,
  characters,
  cut_filter,
  byte_pairs
};
inline constexpr std::size_t section_count = 10;

struct VocabularyHeader {
  char magic[8];
  std::uint32_t format;
  std::uint32_t byte_order;
  std::uint64_t size_bytes;  // of the whole file
  std::uint64_t checksum;    // of all the rest of the file, the header included with 0 here
  char name[48];             // ends with 0
  std::uint32_t pattern;
  std::uint32_t reserved;
  struct Place {
    std::uint64_t offset;
    std::uint64_t count;  // of elements
  } sections[section_count];
};
inline constexpr char vocabulary_magic[8] = {'u', 'n', 'd', 'e', 'r', 'v', 'o', 'c'};
inline constexpr std::uint32_t vocabulary_format = 2;
inline constexpr std::uint32_t vocabulary_byte_order = 0x01020304;

std::uint64_t vocabulary_checksum(std::string_view bytes);

}  // namespace undertext
