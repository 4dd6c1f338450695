// Calls and results.
#include <map>
#include <set>

#include "dialect/rules.hpp"
#include "message/item_types.hpp"

namespace undertext {

Exchange exchange_at(const std::vector<Turn>& turns, std::size_t turn, Dialect dialect) {
  Exchange exchange{turn, turn + 1, 0, 0};
  // Turns of one role in a row are one turn to Anthropic.
  if (dialect == Dialect::anthropic)
    while (exchange.calls_end < turns.size() && turns[exchange.calls_end].role == Role::assistant)
      ++exchange.calls_end;
  exchange.results_begin = exchange.results_end = exchange.calls_end;
  const Role answers = dialect == Dialect::openai_chat ? Role::tool : Role::user;
  while (exchange.results_end < turns.size() && turns[exchange.results_end].role == answers) {
    ++exchange.results_end;
    if (dialect == Dialect::gemini) break;
  }
  return exchange;
}

namespace {

class PairRules {
 public:
  PairRules(const RuleInput& asked, Faults& found)
      : turns_(asked.draft.turns), profile_(asked.profile), found_(found) {}

  void run() {
    if (profile_.dialect == Dialect::openai_responses) return run_responses();
    stray_calls();
    for (std::size_t i = 0; i < turns_.size();) {
      if (turns_[i].role != Role::assistant) {
        orphans(i, i + 1);
        ++i;
        continue;
      }
      const Exchange exchange = exchange_at(turns_, i, profile_.dialect);
      check_exchange(exchange);
      i = exchange.results_end;
    }
  }

 private:
  void add(FindingCode code, BlockAt at, std::string_view id) {
    found_.add(code, at.turn, at.block, id);
  }

  // Results where nobody asked.
  void orphans(std::size_t begin, std::size_t end) {
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t b = 0; b < turns_[i].blocks.size(); ++b)
        if (is_client(turns_[i].blocks[b], BlockKind::result))
          add(FindingCode::pair_orphan_result, {i, b}, turns_[i].blocks[b].id);
  }

  // Only an assistant's calls can be answered.
  void stray_calls() {
    for (std::size_t i = 0; i < turns_.size(); ++i)
      for (std::size_t b = 0; turns_[i].role != Role::assistant && b < turns_[i].blocks.size(); ++b)
        if (is_client(turns_[i].blocks[b], BlockKind::call))
          add(FindingCode::pair_missing_result, {i, b}, turns_[i].blocks[b].id);
  }

  void check_exchange(const Exchange& exchange) {
    std::map<std::string_view, bool> answered;
    std::map<std::string_view, BlockAt> places;
    std::vector<BlockAt> calls;
    for (std::size_t i = exchange.calls_begin; i < exchange.calls_end; ++i) {
      for (std::size_t b = 0; b < turns_[i].blocks.size(); ++b) {
        const Block& block = turns_[i].blocks[b];
        if (is_client(block, BlockKind::result))
          add(FindingCode::pair_orphan_result, {i, b}, block.id);
        if (!is_client(block, BlockKind::call)) continue;
        const bool is_new = answered.emplace(block.id, false).second;
        const bool is_new_ever = seen_.insert(block.id).second;
        if (!is_new || (profile_.unique_call_ids && !is_new_ever))
          add(FindingCode::pair_dup_call_id, {i, b}, block.id);
        calls.push_back({i, b});
        places.emplace(block.id, BlockAt{i, b});
      }
    }
    std::size_t results = 0;
    bool said_otherwise = false;
    for (std::size_t i = exchange.results_begin; i < exchange.results_end; ++i) {
      for (std::size_t b = 0; b < turns_[i].blocks.size(); ++b) {
        const Block& block = turns_[i].blocks[b];
        if (!is_client(block, BlockKind::result)) {
          said_otherwise = true;
          continue;
        }
        ++results;
        const auto found = answered.find(block.id);
        if (found == answered.end()) {
          add(FindingCode::pair_orphan_result, {i, b}, block.id);
        } else if (found->second) {
          add(FindingCode::pair_dup_result, {i, b}, block.id);
        } else {
          found->second = true;
          const BlockAt call = places.at(block.id);
          if (block.is_legacy != turns_[call.turn].blocks[call.block].is_legacy)
            add(FindingCode::pair_orphan_result, {i, b}, block.id);
          if (block.has_own_id && !turns_[call.turn].blocks[call.block].has_own_id)
            add(FindingCode::gem_id, call, block.id);
          if (said_otherwise) add(FindingCode::result_not_first, {i, b}, block.id);
        }
      }
    }
    report_missing(exchange, calls, answered, results);
  }

  void report_missing(const Exchange& exchange, const std::vector<BlockAt>& calls,
                      const std::map<std::string_view, bool>& answered, std::size_t results) {
    for (const BlockAt& at : calls) {
      const Block& call = turns_[at.turn].blocks[at.block];
      if (answered.at(call.id)) continue;
      if (profile_.dialect == Dialect::gemini && results > 0) {
        add(FindingCode::gem_count, {exchange.results_begin, no_block}, call.id);
        return;
      }
      add(FindingCode::pair_missing_result, at, call.id);
    }
  }

  void run_responses() {
    struct Call {
      BlockAt at;
      bool is_answered = false;
      const Block* block = nullptr;
    };
    std::map<std::string_view, Call> calls;
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      for (std::size_t b = 0; b < turns_[i].blocks.size(); ++b) {
        const Block& block = turns_[i].blocks[b];
        if (is_client(block, BlockKind::call)) {
          if (!calls.emplace(block.id, Call{{i, b}, block.is_async, &block}).second)
            add(FindingCode::pair_dup_call_id, {i, b}, block.id);
        } else if (is_client(block, BlockKind::result)) {
          const auto found = calls.find(block.id);
          if (found == calls.end() || !answers_in_kind(*found->second.block, block)) {
            add(FindingCode::pair_orphan_result, {i, b}, block.id);
          } else if (answered_.insert(block.id).second) {
            found->second.is_answered = true;
          } else {
            add(FindingCode::pair_dup_result, {i, b}, block.id);
          }
        }
      }
    }
    std::map<std::size_t, std::string_view> missing;  // in the order of the items
    for (const auto& [id, call] : calls)
      if (!call.is_answered) missing.emplace(call.at.turn, id);
    for (const auto& [turn, id] : missing) add(FindingCode::pair_missing_result, {turn, 0}, id);
  }

  const std::vector<Turn>& turns_;
  const Profile& profile_;
  Faults& found_;
  std::set<std::string_view> seen_, answered_;
};

}  // namespace

void find_pairs(const RuleInput& asked, Faults& found) { PairRules(asked, found).run(); }

}  // namespace undertext
