// First a guess, which is mostly right; then a search, which always is.
#include "tokens/bpe_encoder.hpp"

#include <cstring>

namespace undertext {
namespace {

struct Match {
  TokenNumber token = no_token;
  std::size_t size = 0;
  std::size_t seen = 0;  // how many bytes it depends on
};

Match longest_match(const BpeVocabulary& vocabulary, const char* at, const char* end) {
  const TrieNode* const trie = vocabulary.trie.data();
  std::uint32_t token = 0;
  const char* token_end = at;
  std::uint32_t link = trie[0].link;
  const char* here = at;
  while (here != end) {
    const auto byte = static_cast<std::uint8_t>(*here++);
    const TrieNode node = trie[(link >> TrieNode::base_shift) + byte];
    if ((node.link & (TrieNode::taken | 0xFF)) != (TrieNode::taken | byte)) break;
    link = node.link;
    // Whether a token ends here cannot be foreseen, so there is no branch for it.
    token = node.token != 0 ? node.token : token;
    token_end = node.token != 0 ? here : token_end;
  }
  return {token - 1, static_cast<std::size_t>(token_end - at), static_cast<std::size_t>(here - at)};
}

// The token that the pair makes, if it is merged before `until`; else no_token.
TokenNumber find_merge(const BpeVocabulary& vocabulary, TokenNumber left, TokenNumber right,
                       TokenNumber until) {
  const std::uint32_t hash = pair_hash(left, right);
  const std::uint32_t bit = pair_filter_bit(hash);
  if ((vocabulary.pair_filter[bit / 64] >> bit % 64 & 1) == 0) return no_token;
  const TokenNumber result = find_pair(vocabulary.pairs, pair_key(left, right));
  return result != 0 && result < until ? result : no_token;
}

// From two parts at a border to the two that were there before the later of them was merged, and
// which merge ended that. False when both are bytes.
bool undo_merge(const BpeVocabulary& vocabulary, TokenNumber& left, TokenNumber& right,
                TokenNumber& until) {
  // Of equal merges the left one comes first, so that the right one still finds its neighbour as it
  // was.
  if (left > right) {
    if (left < 256) return false;
    until = left;
    left = vocabulary.parts[left].right;
  } else {
    if (right < 256) return false;
    until = right + 1;
    right = vocabulary.parts[right].left;
  }
  return true;
}

}  // namespace

// Undoes the merges of both, the latest first, and asks of each two parts that are neighbours for a
// while whether they would have been merged in that while.
BpeEncoder::BorderMerge BpeEncoder::find_border_merge(const BpeVocabulary& vocabulary,
                                                      TokenNumber left, TokenNumber right,
                                                      Whole whole) {
  const BpeToken& before = vocabulary.tokens[left];
  const BpeToken& behind = vocabulary.tokens[right];
  if ((before.merged_behind & behind.beginnings) == 0 || (before.ends & behind.merged_before) == 0)
    return {};
  TokenNumber until = no_token;
  if (whole == Whole::cannot_merge && !undo_merge(vocabulary, left, right, until)) return {};
  do {
    const TokenNumber result = find_merge(vocabulary, left, right, until);
    if (result != no_token) return {right, result};
  } while (undo_merge(vocabulary, left, right, until));
  return {};
}

// Whether another right token has the same merge across its border: if it begins with the same
// part, and that is not merged earlier in it.
bool BpeEncoder::has_border_merge(const BpeVocabulary& vocabulary, TokenNumber right,
                                  BorderMerge merge) {
  TokenNumber until = no_token;
  while (right > merge.right_part && right >= 256) {
    until = right;
    right = vocabulary.parts[right].left;
  }
  return right == merge.right_part && merge.result <= until;
}

BpeEncoder::BorderMerge BpeEncoder::recall_border_merge(const BpeVocabulary& vocabulary,
                                                        TokenNumber left, TokenNumber right) {
  Border& place = borders_[pair_hash(left, right) % borders_.size()];
  if (place.left != left || place.right != right)
    place = {left, right, find_border_merge(vocabulary, left, right)};
  return place.merge;
}

TokenNumber BpeEncoder::recall_longest(const BpeVocabulary& vocabulary, std::string_view piece,
                                       std::size_t at) {
  const char* const here = piece.data() + at;
  const std::size_t left = piece.size() - at;
  if (longest_.empty() || left < 8) return longest_match(vocabulary, here, here + left).token;
  std::uint64_t word;
  std::memcpy(&word, here, sizeof word);
  Longest& place = longest_[word * 0x9E3779B97F4A7C15u >> 32 & (longest_.size() - 1)];
  if (place.seen == 0 || place.seen > left ||
      std::memcmp(piece.data() + place.at, here, place.seen) != 0) {
    const Match match = longest_match(vocabulary, here, here + left);
    if (match.seen == left) return match.token;  // more text might have made it longer
    place = {at, match.seen, match.token};
  }
  return place.token;
}

// Where two tokens cannot stand together, the end of the left one was taken by a merge across the
// border before it was complete. Most likely its left part came about instead. False when that led
// nowhere after a few times.
bool BpeEncoder::guess(const BpeVocabulary& vocabulary, std::string_view piece) {
  constexpr int guesses_max = 6;
  int guesses = 0;
  // behind the longest token at a place, nothing that follows makes a longer one with it
  Whole whole = Whole::cannot_merge;
  const char* const end = piece.data() + piece.size();
  std::size_t at = 0;
  Match next = longest_match(vocabulary, piece.data(), end);
  for (;;) {
    if (next.token == no_token || next.size > piece.size() - at) return false;  // tampered with
    if (!tokens_.empty() &&
        find_border_merge(vocabulary, tokens_.back(), next.token, whole).result != no_token) {
      const TokenNumber before = tokens_.back();
      const BpeToken& token = vocabulary.tokens[before];
      if (before < 256 || ++guesses > guesses_max || token.length > at) return false;
      tokens_.pop_back();
      at -= token.length;
      next = {token.parts.left, vocabulary.tokens[token.parts.left].length, 0};
      whole = Whole::may_merge;
      continue;
    }
    whole = next.seen != 0 ? Whole::cannot_merge : Whole::may_merge;
    tokens_.push_back(next.token);
    at += next.size;
    if (at == piece.size()) return true;
    next = longest_match(vocabulary, piece.data() + at, end);
  }
}

// What can only be when the vocabulary has been tampered with ends the search early, with a wrong
// answer.
void BpeEncoder::search(const BpeVocabulary& vocabulary, std::string_view piece) {
  dead_ends_.assign(piece.size() / 64 + 1, 0);
  longest_.clear();
  borders_.clear();
  if (piece.size() >= remember_from) {
    longest_.resize(256);
    borders_.resize(4096);
  }
  std::size_t at = 0;
  TokenNumber next = recall_longest(vocabulary, piece, 0);
  BorderMerge merge;  // in the way of a longer token at this place
  while (at != piece.size() && next != no_token) {
    const BpeToken& token = vocabulary.tokens[next];
    const std::size_t after = at + token.length;
    if (after > piece.size()) return;
    bool stands = (dead_ends_[after / 64] >> after % 64 & 1) == 0;
    if (stands && !tokens_.empty()) {
      // What was in the way of a longer token is mostly in the way of this one.
      if (!borders_.empty()) {
        merge = recall_border_merge(vocabulary, tokens_.back(), next);
      } else if (merge.result == no_token || !has_border_merge(vocabulary, next, merge)) {
        merge = find_border_merge(vocabulary, tokens_.back(), next);
      }
      stands = merge.result == no_token;
    }
    if (stands) {
      tokens_.push_back(next);
      at = after;
      next = recall_longest(vocabulary, piece, at);
    } else if (token.next_prefix != no_token) {
      next = token.next_prefix;
    } else {
      // Nothing can stand here. The token before gets shorter: the place behind it is a dead end
      // now.
      if (tokens_.empty()) return;
      dead_ends_[at / 64] |= std::uint64_t{1} << at % 64;
      next = tokens_.back();
      at -= vocabulary.tokens[next].length;
      tokens_.pop_back();
      merge = {};
    }
  }
}

void BpeEncoder::run(const BpeVocabulary& vocabulary, std::string_view piece) {
  tokens_.clear();
  if (piece.empty() || (piece.size() < remember_from && guess(vocabulary, piece))) return;
  tokens_.clear();
  search(vocabulary, piece);
}

std::size_t BpeEncoder::count(const BpeVocabulary& vocabulary, std::string_view piece) {
  run(vocabulary, piece);
  return tokens_.size();
}

void BpeEncoder::encode(const BpeVocabulary& vocabulary, std::string_view piece,
                        std::vector<std::uint32_t>& ids) {
  run(vocabulary, piece);
  for (const TokenNumber token : tokens_) ids.push_back(vocabulary.ids[token]);
}

}  // namespace undertext
