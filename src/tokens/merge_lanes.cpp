#include "tokens/merge_lanes.hpp"

#include <algorithm>
#include <cstring>

namespace undertext {
namespace {

constexpr TokenNumber border = tokens_max - 1;  // no token has this number
constexpr std::uint64_t empty_bucket[pair_bucket_size] = {};

constexpr auto counted_from = [](std::uint8_t first) {
  std::array<std::uint8_t, 65> places{};
  for (std::size_t i = 0; i < places.size(); ++i) places[i] = static_cast<std::uint8_t>(i + first);
  return places;
};
constexpr std::array<std::uint8_t, 65> places_after = counted_from(1);
constexpr std::array<std::uint8_t, 65> places_before = counted_from(static_cast<std::uint8_t>(-1));

constexpr std::uint32_t place_bits = 6;
static_assert(lane_piece_max < 1u << place_bits);

// A token's merge without its place. 0 stands for no token, and comes out above all others.
constexpr std::uint32_t merge_of(std::uint64_t token) {
  return (static_cast<std::uint32_t>(token) - 1) << place_bits;
}
constexpr std::uint32_t no_merge = merge_of(0);

}  // namespace

MergeLanes::Question MergeLanes::ask(const BpeVocabulary& vocabulary, TokenNumber left,
                                     TokenNumber right) {
  const std::uint64_t pair = pair_key(left, right);
  const std::uint64_t* const bucket = &vocabulary.pairs[pair_bucket(pair, vocabulary.pairs.size())];
  const Question question = {left == border || right == border ? empty_bucket : bucket, pair};
  __builtin_prefetch(question.bucket);
  return question;
}

std::uint32_t MergeLanes::answer(const BpeVocabulary& vocabulary, Question question) {
  // All places are looked at: where the pair is cannot be foreseen, so there is no branch for it.
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < pair_bucket_size; ++i) {
    const std::uint64_t entry = question.bucket[i];
    found |= entry / tokens_max == question.pair ? entry : 0;
  }
  const bool is_full = question.bucket[pair_bucket_size - 1] != 0;
  if (is_full & (found == 0)) found = find_pair(vocabulary.pairs, question.pair);
  return merge_of(found % tokens_max);
}

void MergeLanes::begin(const BpeVocabulary& vocabulary, std::string_view piece, Lane& lane) {
  const std::size_t size = piece.size();
  const auto byte = [&piece](std::size_t i) { return static_cast<std::uint8_t>(piece[i]); };
  lane.next = places_after;
  lane.before = places_before;
  lane.merges_end = (size + 8) / 8 * 8;
  lane.merges[0] = no_merge;
  lane.parts[0] = border;
  for (std::size_t i = 1; i < size; ++i) {
    lane.parts[i] = byte(i - 1);
    lane.merges[i] = merge_of(vocabulary.byte_pairs[std::size_t{byte(i - 1)} << 8 | byte(i)]) |
                     static_cast<std::uint32_t>(i);
  }
  lane.parts[size] = byte(size - 1);
  lane.parts[size + 1] = border;
  for (std::size_t i = size; i < lane.merges_end; ++i) lane.merges[i] = no_merge;
  lane.count = static_cast<std::uint32_t>(size);
  lane.at = lane.at_before = 0;
  lane.with_next = lane.with_before = {empty_bucket, 0};
}

// Makes one merge. False when there is none.
bool MergeLanes::step(const BpeVocabulary& vocabulary, Lane& lane) {
  lane.merges[lane.at] = answer(vocabulary, lane.with_next) | lane.at;
  lane.merges[lane.at_before] = answer(vocabulary, lane.with_before) | lane.at_before;
  const std::uint32_t* merges = lane.merges.data();
  // four, as each waits for itself only
  std::uint32_t lowest[4] = {no_merge, no_merge, no_merge, no_merge};
  for (const std::uint32_t* const end = merges + lane.merges_end; merges != end; merges += 8) {
    for (std::size_t i = 0; i < 8; ++i) lowest[i % 4] = std::min(lowest[i % 4], merges[i]);
  }
  const std::uint32_t merge =
      std::min(std::min(lowest[0], lowest[1]), std::min(lowest[2], lowest[3]));
  if (merge >= no_merge) return false;
  const std::uint32_t at = merge % (1u << place_bits);
  const TokenNumber token = (merge >> place_bits) + 1;
  const std::uint8_t gone = lane.next[at];
  const std::uint8_t next = lane.next[gone];
  const std::uint8_t before = lane.before[at];
  lane.merges[gone] = no_merge;
  lane.parts[at] = token;
  lane.next[at] = next;
  lane.before[next] = static_cast<std::uint8_t>(at);
  --lane.count;
  lane.at = at;
  lane.at_before = before;
  lane.with_next = ask(vocabulary, token, lane.parts[next]);
  lane.with_before = ask(vocabulary, lane.parts[before], token);
  return true;
}

void MergeLanes::count(const BpeVocabulary& vocabulary, std::span<const std::string_view> pieces,
                       std::uint8_t* counts) {
  std::size_t begun = 0;
  Lane* busy[lanes_max];
  std::size_t busy_count = 0;
  for (Lane& lane : lanes_) {
    if (begun == pieces.size()) break;
    lane.piece = begun;
    begin(vocabulary, pieces[begun++], lane);
    busy[busy_count++] = &lane;
  }
  while (busy_count != 0) {
    for (std::size_t i = 0; i < busy_count; ++i) {
      Lane& lane = *busy[i];
      if (step(vocabulary, lane)) continue;
      counts[lane.piece] = static_cast<std::uint8_t>(lane.count);
      if (begun != pieces.size()) {
        lane.piece = begun;
        begin(vocabulary, pieces[begun++], lane);
      } else {
        busy[i--] = busy[--busy_count];
      }
    }
  }
}

}  // namespace undertext
