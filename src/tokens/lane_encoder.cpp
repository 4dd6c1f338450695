#include "tokens/lane_encoder.hpp"

#include <algorithm>
#include <utility>

namespace undertext {

// All steps for one vocabulary. What can only be when it has been tampered with ends a piece early, with a wrong answer.
class LaneEncoder::Run {
 public:
  explicit Run(const BpeVocabulary& vocabulary) : vocabulary_(vocabulary), trie_(vocabulary.trie.data()) {}

  void begin(Lane& lane, Task& task) const {
    lane.task = &task;
    lane.begin = lane.at = task.begin;
    lane.end = task.end;
    lane.guesses = 0;
    lane.dead_ends = lane.longest = 0;
    lane.filled = 0;
    walk_on(lane);
  }

  // Takes one step.
  void step(Lane& lane) const {
    switch (lane.step) {
      case Step::walk: return walk(lane);
      case Step::judge: return judge(lane);
      case Step::look: return look(lane);
      case Step::probe: return probe(lane);
      case Step::done: return;
    }
  }

 private:
  static constexpr std::uint32_t guesses_max = 6;

  static std::uint64_t place_bit(const Lane& lane, const char* place) { return std::uint64_t{1} << (place - lane.begin); }

  void walk_on(Lane& lane) const {
    lane.step = Step::walk;
    lane.here = lane.at;
    lane.link = trie_[0].link;
    lane.token = no_token;
    lane.merge = {};
    lane.longest |= std::uint64_t{1} << lane.filled;
  }

  void walk(Lane& lane) const {
    const auto byte = static_cast<std::uint8_t>(*lane.here);
    const TrieNode node = trie_[(lane.link >> TrieNode::base_shift) + byte];
    if ((node.link & (TrieNode::taken | 0xFF)) == (TrieNode::taken | byte)) {
      ++lane.here;
      lane.link = node.link;
      if (node.token != 0) {
        lane.token = node.token - 1;
        lane.token_end = lane.here;
      }
      if (lane.here != lane.end) {
        __builtin_prefetch(&trie_[(node.link >> TrieNode::base_shift) + static_cast<std::uint8_t>(*lane.here)]);
        return;
      }
    }
    if (lane.token == no_token) return end(lane);
    // The first token, and a whole piece, need no judgement.
    if (lane.filled == 0) return take(lane);
    judge_next(lane);
  }

  void judge_next(Lane& lane) const {
    __builtin_prefetch(&vocabulary_.tokens[lane.token]);
    lane.step = Step::judge;
  }

  void judge(Lane& lane) const {
    const BpeToken& token = vocabulary_.tokens[lane.token];
    if (token.length > static_cast<std::size_t>(lane.end - lane.at)) return end(lane);
    lane.token_end = lane.at + token.length;
    if ((lane.dead_ends & place_bit(lane, lane.token_end)) != 0) return shorten(lane, token);
    if (lane.filled == 0) return take(lane);
    // What was in the way of a longer token is mostly in the way of this one.
    if (lane.merge.result != no_token && has_border_merge(vocabulary_, lane.token, lane.merge)) return shorten(lane, token);
    lane.left = lane.tokens[lane.filled - 1];
    lane.right = lane.token;
    const BpeToken& before = vocabulary_.tokens[lane.left];
    if ((before.merged_behind & token.beginnings) == 0 || (before.ends & token.merged_before) == 0) return take(lane);
    lane.until = no_token;
    // Behind the longest token, nothing that follows makes a longer one with it.
    if ((lane.longest >> (lane.filled - 1) & 1) != 0 && !undo(lane)) return take(lane);
    look_next(lane);
  }

  void look_next(Lane& lane) const {
    const std::uint32_t bit = pair_filter_bit(pair_hash(lane.left, lane.right));
    __builtin_prefetch(&vocabulary_.pair_filter[bit / 64]);
    __builtin_prefetch(&vocabulary_.parts[lane.left > lane.right ? lane.left : lane.right]);
    lane.step = Step::look;
  }

  void look(Lane& lane) const {
    const std::uint32_t hash = pair_hash(lane.left, lane.right);
    const std::uint32_t bit = pair_filter_bit(hash);
    if ((vocabulary_.pair_filter[bit / 64] >> bit % 64 & 1) != 0) {
      __builtin_prefetch(&vocabulary_.pairs[pair_slot(hash, vocabulary_.pairs.size())]);
      lane.step = Step::probe;
      return;
    }
    if (!undo(lane)) return take(lane);
    look_next(lane);
  }

  void probe(Lane& lane) const {
    const TokenNumber result = find_pair(vocabulary_, lane.left, lane.right, lane.until);
    if (result != no_token) {
      if (lane.guesses <= guesses_max) return guess(lane);
      lane.merge = {lane.right, result};
      return shorten(lane, vocabulary_.tokens[lane.token]);
    }
    if (!undo(lane)) return take(lane);
    look_next(lane);
  }

  bool undo(Lane& lane) const { return undo_merge(vocabulary_, lane.left, lane.right, lane.until); }

  void take(Lane& lane) const {
    __builtin_prefetch(&vocabulary_.tokens[lane.token]);
    lane.tokens[lane.filled++] = lane.token;
    lane.at = lane.token_end;
    if (lane.at == lane.end || lane.filled == piece_max) return end(lane);
    walk_on(lane);
  }

  // A merge across the border took the end of the token before, so that token never came about; most likely its left part did. That need
  // not be so, but tokens that can all stand together are the right ones, however they were found. After some guesses, the piece is
  // begun anew without.
  void guess(Lane& lane) const {
    const TokenNumber before = lane.tokens[lane.filled - 1];
    if (++lane.guesses > guesses_max || before < 256) {
      lane.guesses = guesses_max + 1;
      lane.at = lane.begin;
      lane.longest = 0;
      lane.filled = 0;
      return walk_on(lane);
    }
    --lane.filled;
    lane.longest &= ~(std::uint64_t{1} << lane.filled);
    lane.at -= std::min<std::size_t>(vocabulary_.tokens[before].length, static_cast<std::size_t>(lane.at - lane.begin));
    lane.token = vocabulary_.tokens[before].parts.left;
    judge_next(lane);
  }

  void shorten(Lane& lane, const BpeToken& token) const {
    lane.longest &= ~(std::uint64_t{1} << lane.filled);
    if (token.next_prefix != no_token) {
      lane.token = token.next_prefix;
    } else {
      // Nothing can stand here. The token before gets shorter: the place behind it is a dead end now.
      if (lane.filled == 0) return end(lane);
      lane.dead_ends |= place_bit(lane, lane.at);
      lane.token = lane.tokens[--lane.filled];
      const std::size_t length = vocabulary_.tokens[lane.token].length;
      if (length > static_cast<std::size_t>(lane.at - lane.begin)) return end(lane);
      lane.at -= length;
      lane.merge = {};
    }
    judge_next(lane);
  }

  void end(Lane& lane) const {
    lane.task->count = lane.filled;
    lane.step = Step::done;
  }

  const BpeVocabulary& vocabulary_;
  const TrieNode* const trie_;
};

void LaneEncoder::count(const BpeVocabulary& vocabulary, Task* tasks, std::size_t task_count) {
  const Run run(vocabulary);
  Task* const tasks_end = tasks + task_count;
  std::uint8_t order[lane_count];  // the first `busy` are at work
  std::size_t busy = 0;
  for (; busy < lane_count && tasks != tasks_end; ++busy) {
    order[busy] = static_cast<std::uint8_t>(busy);
    run.begin(lanes_[busy], *tasks++);
  }
  while (busy != 0) {
    for (std::size_t i = 0; i < busy; ++i) {
      Lane& lane = lanes_[order[i]];
      run.step(lane);
      if (lane.step != Step::done) continue;
      if (tasks != tasks_end) {
        run.begin(lane, *tasks++);
      } else {
        std::swap(order[i], order[--busy]);
      }
    }
  }
}

}  // namespace undertext
