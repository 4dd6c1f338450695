// Opening a vocabulary: everything that is later read without checks is checked here.
#include "tokens/bpe_vocabulary.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace undertext {
namespace {

Error corrupt(std::string what) {
  return {.code = ErrorCode::corrupt,
          .message = "the vocabulary file is damaged: " + std::move(what)};
}

template <class T>
bool take(std::string_view bytes, const VocabularyHeader::Place& place, std::span<const T>& span) {
  if (place.offset % 64 != 0 || place.offset > bytes.size() ||
      place.count > (bytes.size() - place.offset) / sizeof(T))
    return false;
  span = {reinterpret_cast<const T*>(bytes.data() + place.offset),
          static_cast<std::size_t>(place.count)};
  return true;
}

bool tokens_are_sound(std::span<const BpeToken> tokens, std::span<const TokenParts> parts) {
  for (std::uint32_t i = 0; i < tokens.size(); ++i) {
    const BpeToken& token = tokens[i];
    const auto [left, right] = token.parts;
    if (parts[i].left != left || parts[i].right != right) return false;
    if (i < 256) {
      if (left != i || right != i || token.length != 1) return false;
    } else if (left >= i || right >= i || token.length > token_length_max ||
               token.length != tokens[left].length + tokens[right].length) {
      return false;
    }
    // Prefixes get shorter and shorter, so a walk along them ends.
    if (token.next_prefix != no_token &&
        (token.next_prefix >= tokens.size() || tokens[token.next_prefix].length >= token.length)) {
      return false;
    }
  }
  return true;
}

bool pairs_are_sound(std::span<const std::uint64_t> pairs,
                     std::span<const std::uint32_t> byte_pairs, std::size_t token_count) {
  std::size_t empty = 0;
  bool sound = true;
  for (const std::uint64_t entry : pairs) {
    empty += entry == 0;
    sound &= entry / tokens_max / tokens_max < token_count;
    sound &= entry / tokens_max % tokens_max < token_count;
    sound &= entry % tokens_max < token_count;
  }
  for (const std::uint32_t token : byte_pairs) sound &= token < token_count;
  return sound && empty != 0;  // a search ends at an empty place
}

bool trie_is_sound(std::span<const TrieNode> trie, std::size_t token_count) {
  if (trie.size() < 512 || trie.size() > TrieNode::nodes_max) return false;
  bool sound = true;
  for (const TrieNode& node : trie) {
    sound &= (node.link >> TrieNode::base_shift) <= trie.size() - 256;
    sound &= node.token <= token_count;
  }
  return sound;
}

}  // namespace

std::uint64_t vocabulary_checksum(std::string_view bytes) {
  std::uint64_t lanes[4] = {1, 2, 3, 4};
  const auto mix = [](std::uint64_t& lane, std::uint64_t word) {
    lane = std::rotl((lane ^ word) * 0x9E3779B97F4A7C15u, 29);
  };
  std::size_t at = 0;
  for (; at + 32 <= bytes.size(); at += 32) {
    std::uint64_t words[4];
    std::memcpy(words, bytes.data() + at, 32);
    for (int lane = 0; lane < 4; ++lane) mix(lanes[lane], words[lane]);
  }
  for (; at < bytes.size(); ++at) mix(lanes[0], static_cast<std::uint8_t>(bytes[at]));
  std::uint64_t sum = bytes.size();
  for (const std::uint64_t lane : lanes) mix(sum, lane);
  return sum;
}

TokenNumber find_pair(std::span<const std::uint64_t> pairs, std::uint64_t key) {
  for (std::size_t slot = pair_bucket(key, pairs.size());; slot = (slot + 1) & (pairs.size() - 1)) {
    const std::uint64_t entry = pairs[slot];
    if (entry / tokens_max == key || entry == 0)
      return static_cast<TokenNumber>(entry % tokens_max);
  }
}

Result<std::shared_ptr<BpeVocabulary>> BpeVocabulary::open(std::string_view bytes,
                                                           std::shared_ptr<const void> owner) {
  VocabularyHeader header;
  if (bytes.size() < sizeof header) return corrupt("it is too short");
  std::memcpy(&header, bytes.data(), sizeof header);
  if (std::memcmp(header.magic, vocabulary_magic, sizeof header.magic) != 0) {
    return Error{.code = ErrorCode::corrupt,
                 .message = "this is no vocabulary file; scripts/vocabularies makes them"};
  }
  if (header.format != vocabulary_format || header.byte_order != vocabulary_byte_order) {
    return Error{.code = ErrorCode::corrupt,
                 .message =
                     "the vocabulary file was made for another version or machine; run "
                     "scripts/vocabularies again"};
  }
  if (header.size_bytes != bytes.size()) return corrupt("its size is not the one it was made with");
  const std::uint64_t checksum = header.checksum;
  header.checksum = 0;
  const std::uint64_t head_sum =
      vocabulary_checksum({reinterpret_cast<const char*>(&header), sizeof header});
  if ((head_sum ^ vocabulary_checksum(bytes.substr(sizeof header))) != checksum)
    return corrupt("its checksum does not fit");
  if (header.pattern >= split_pattern_count) return corrupt("it names no known pattern");

  std::shared_ptr<BpeVocabulary> vocabulary(new BpeVocabulary);
  const auto* const name_end = std::find(std::begin(header.name), std::end(header.name), '\0');
  vocabulary->facts_ = {
      .name = std::string(std::begin(header.name),
                          static_cast<std::size_t>(name_end - std::begin(header.name))),
      .pattern = static_cast<SplitPattern>(header.pattern)};
  vocabulary->owner_ = std::move(owner);
  const auto place = [&header](Section section) {
    return header.sections[static_cast<std::size_t>(section)];
  };
  if (!take(bytes, place(Section::tokens), vocabulary->tokens) ||
      !take(bytes, place(Section::parts), vocabulary->parts) ||
      !take(bytes, place(Section::ids), vocabulary->ids) ||
      !take(bytes, place(Section::trie), vocabulary->trie) ||
      !take(bytes, place(Section::pairs), vocabulary->pairs) ||
      !take(bytes, place(Section::pair_filter), vocabulary->pair_filter) ||
      !take(bytes, place(Section::whole), vocabulary->whole) ||
      !take(bytes, place(Section::characters), vocabulary->characters) ||
      !take(bytes, place(Section::cut_filter), vocabulary->cut_filter) ||
      !take(bytes, place(Section::byte_pairs), vocabulary->byte_pairs)) {
    return corrupt("a table lies outside of it");
  }
  const std::size_t count = vocabulary->tokens.size();
  if (count < 256 || count >= tokens_max || vocabulary->ids.size() != count ||
      vocabulary->parts.size() != count) {
    return corrupt("its number of tokens");
  }
  if (!std::has_single_bit(vocabulary->pairs.size()) ||
      vocabulary->pairs.size() < pair_bucket_size ||
      !std::has_single_bit(vocabulary->whole.size()) || vocabulary->whole.size() < bucket_size ||
      vocabulary->pair_filter.size() != pair_filter_bits / 64 ||
      vocabulary->characters.size() != 0x10000 || vocabulary->byte_pairs.size() != 0x10000 ||
      vocabulary->cut_filter.size() != cut_filter_bits / 64) {
    return corrupt("the size of a table");
  }
  if (!tokens_are_sound(vocabulary->tokens, vocabulary->parts)) return corrupt("its tokens");
  if (!trie_is_sound(vocabulary->trie, count)) return corrupt("its trie");
  if (!pairs_are_sound(vocabulary->pairs, vocabulary->byte_pairs, count))
    return corrupt("its pairs");
  return vocabulary;
}

}  // namespace undertext
