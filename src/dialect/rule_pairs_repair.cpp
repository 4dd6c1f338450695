// Every call gets its result, every result its call.
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "dialect/rules.hpp"
#include "message/item_types.hpp"

namespace undertext {

std::string made_id(std::string_view from, std::uint64_t number) {
  std::uint64_t hash = 0xCBF29CE484222325u;  // FNV-1a
  const auto mix = [&hash](std::uint8_t byte) { hash = (hash ^ byte) * 0x100000001B3u; };
  for (const char c : from) mix(static_cast<std::uint8_t>(c));
  for (int shift = 0; shift < 64; shift += 8) mix(static_cast<std::uint8_t>(number >> shift));
  std::string id = "call_";
  for (int shift = 60; shift >= 0; shift -= 4) id += "0123456789abcdef"[hash >> shift & 15];
  return id;
}

Block made_result(const Block& call, const Profile& profile) {
  Block result;
  result.kind = BlockKind::result;
  result.id = call.id;
  result.name = call.name;
  result.has_own_id = call.has_own_id;
  result.is_legacy = call.is_legacy;
  result.is_custom = call.is_custom;
  result.text = "[The result of this call was removed from the conversation.]";
  result.is_error = profile.dialect == Dialect::anthropic || profile.dialect == Dialect::gemini;
  return result;
}

void rename_call(Turn& turn, Block& block, std::string_view id, Arena& arena) {
  if (block.has_own_form && !block.raw.empty()) {
    std::string quoted;
    append_json_string(quoted, id);
    std::string raw = without_member(without_member(block.raw, "call_id"), "callId");
    if (block.type == "local_shell_call_output") raw = without_member(raw, "id");
    block.raw = arena.keep(
        with_member(raw, block.type == "local_shell_call_output" ? "id" : "call_id", quoted));
  } else {
    block.raw = {};
  }
  block.id = id;
  block.has_own_id = true;
  block.is_legacy = false;
  turn.touch();
}

namespace {

class PairRepair {
 public:
  explicit PairRepair(Repair& repair)
      : repair_(repair),
        turns_(repair.draft.turns),
        profile_(repair.profile),
        arena_(repair.arena) {}

  void run() {
    for (std::size_t i = 0; i < turns_.size();) {
      if (turns_[i].role != Role::assistant) {
        ++i;
        continue;
      }
      exchanges_.push_back({exchange_at(turns_, i, profile_.dialect), {}, {}});
      i = exchanges_.back().where.results_end;
    }
    give_ids();
    for (Planned& planned : exchanges_) make_alike(planned.where);
    for (Planned& planned : exchanges_) claim(planned);
    pool_the_rest();
    bool changes = !pool_.empty() || !dropped_.empty();
    for (const Turn& turn : turns_)
      changes = changes || (turn.role != Role::assistant && has_calls(turn));
    for (Planned& planned : exchanges_) {
      find_missing(planned);
      changes = changes || !planned.extra.empty();
    }
    if (changes) rebuild();
  }

 private:
  struct Planned {
    Exchange where;
    std::vector<BlockAt> missing;  // calls
    std::vector<Turn> extra;       // results that come behind those that are there
  };

  Block& block(BlockAt at) { return turns_[at.turn].blocks[at.block]; }

  template <class Visit>
  void visit(std::size_t begin, std::size_t end, BlockKind kind, Visit see) {
    for (std::size_t i = begin; i < end; ++i)
      for (std::size_t b = 0; b < turns_[i].blocks.size(); ++b)
        if (is_client(turns_[i].blocks[b], kind)) see(BlockAt{i, b});
  }

  void rename(BlockAt at, std::string_view id) {
    rename_call(turns_[at.turn], block(at), id, arena_);
  }

  // Exchanges in a row of which only the last has results: one set of calls, a message each.
  void give_ids() {
    for (std::size_t i = 0; i < exchanges_.size();) {
      Exchange set = exchanges_[i++].where;
      for (; i < exchanges_.size() && exchanges_[i].where.calls_begin == set.results_end &&
             set.results_end == set.calls_end;
           ++i) {
        const Exchange& next = exchanges_[i].where;
        set = {set.calls_begin, next.calls_end, next.results_begin, next.results_end};
      }
      give_ids(set);
    }
  }
  // Calls without an id, and with one that has been used, get one of their own, and so do their
  // results: those of one id stand in the order of its calls.
  void give_ids(const Exchange& where) {
    std::map<std::string_view, std::vector<BlockAt>> results;
    visit(where.results_begin, where.results_end, BlockKind::result,
          [&](BlockAt at) { results[block(at).id].push_back(at); });
    std::map<std::string_view, std::size_t> here;  // how many calls so far
    visit(where.calls_begin, where.calls_end, BlockKind::call, [&](BlockAt at) {
      const std::string_view old = block(at).id;
      const std::size_t which = here[old]++;
      if (!old.empty() && which == 0 && !(profile_.unique_call_ids && seen_.count(old) > 0)) {
        seen_.insert(old);
        return;
      }
      const std::string_view kept = fresh_id(old, here);
      here[kept] = 1;
      seen_.insert(kept);
      rename(at, kept);
      const auto answers = results.find(old);
      if (old.empty()) return;
      if (answers != results.end() && which < answers->second.size()) {
        rename(answers->second[which], kept);
      } else {
        shared_[kept] = old;
      }
    });
  }
  // Chat: `function_call` is answered by the role function, and a call with an id by the role tool.
  // Where an edit has made only one of them a tool's, both are.
  void make_alike(const Exchange& where) {
    std::map<std::string_view, BlockAt> calls;
    visit(where.calls_begin, where.calls_end, BlockKind::call,
          [&](BlockAt at) { calls.emplace(block(at).id, at); });
    visit(where.results_begin, where.results_end, BlockKind::result, [&](BlockAt at) {
      if (const auto call = calls.find(block(at).id); call != calls.end())
        make_alike(call->second, at);
    });
  }
  // Gemini's results name the tool: where calls share an id, or before the call was read, it may
  // have been another's.
  void make_alike(BlockAt call, BlockAt result) {
    if (profile_.dialect == Dialect::gemini && block(result).name != block(call).name) {
      block(result).name = block(call).name;
      block(result).raw = {};
      turns_[result.turn].touch();
    }
    if (block(call).is_legacy == block(result).is_legacy) return;
    for (const BlockAt at : {call, result}) rename(at, block(at).id);
  }

  std::string_view fresh_id(std::string_view old,
                            const std::map<std::string_view, std::size_t>& here) {
    std::uint64_t& number = numbers_[old];
    std::string id;
    do id = made_id(old, ++number);
    while (seen_.count(id) > 0 || here.count(id) > 0);
    return arena_.keep(std::move(id));
  }

  void claim(Planned& planned) {
    std::map<std::string_view, BlockAt> last;
    visit(planned.where.results_begin, planned.where.results_end, BlockKind::result,
          [&](BlockAt at) { last[block(at).id] = at; });
    visit(planned.where.results_begin, planned.where.results_end, BlockKind::result,
          [&](BlockAt at) {
            if (!has_call_cached(planned.where, block(at).id)) return;
            if (last.at(block(at).id) == at) {
              claimed_.insert(at);
            } else {
              dropped_.insert(at);
            }
          });
    visit(planned.where.calls_begin, planned.where.calls_end, BlockKind::call, [&](BlockAt at) {
      if (last.count(block(at).id) == 0) planned.missing.push_back(at);
    });
  }
  bool has_call_cached(const Exchange& where, std::string_view id) {
    if (cached_for_ != where.calls_begin) {
      cached_for_ = where.calls_begin;
      cached_.clear();
      visit(where.calls_begin, where.calls_end, BlockKind::call,
            [&](BlockAt at) { cached_.insert(block(at).id); });
    }
    return cached_.count(id) > 0;
  }

  void pool_the_rest() {
    visit(0, turns_.size(), BlockKind::result, [&](BlockAt at) {
      if (claimed_.count(at) == 0 && dropped_.count(at) == 0) pool_[block(at).id].push_back(at);
    });
  }

  std::optional<BlockAt> take_from_pool(BlockAt call) {
    const auto shared = shared_.find(block(call).id);
    const auto found = pool_.find(shared == shared_.end() ? block(call).id : shared->second);
    if (found == pool_.end() || block(call).id.empty()) return std::nullopt;
    std::vector<BlockAt>& candidates = found->second;
    std::size_t which = 0;
    while (which < candidates.size() && candidates[which].turn < call.turn) ++which;
    // One before its call will do, but where it may be that of another call.
    if (which == candidates.size()) which = 0;
    if (candidates.empty() || (shared != shared_.end() && candidates[which].turn < call.turn))
      return std::nullopt;
    const BlockAt at = candidates[which];
    candidates.erase(candidates.begin() + static_cast<std::ptrdiff_t>(which));
    return at;
  }

  void find_missing(Planned& planned) {
    for (const BlockAt& call : planned.missing) {
      Turn extra;
      extra.role = Role::tool;
      if (const std::optional<BlockAt> taken = take_from_pool(call)) {
        const BlockAt at = *taken;
        moved_.insert(at);
        if (block(at).id != block(call).id) rename(at, block(call).id);
        make_alike(call, at);
        const Turn& from = turns_[at.turn];
        if (profile_.dialect == Dialect::openai_chat && from.role == Role::tool &&
            from.blocks.size() == 1) {
          extra = from;  // with its bytes
        } else {
          extra.source = source_of(from, block(at));
          extra.blocks.push_back(block(at));
          extra.blocks[0].source = extra.source;
        }
      } else {
        extra.is_made = true;
        extra.blocks.push_back(made_result(block(call), profile_));
      }
      planned.extra.push_back(std::move(extra));
    }
  }

  // Without what is claimed by nobody, has been moved, or is there twice.
  void take(std::size_t i, std::vector<Turn>& out) {
    Turn& turn = turns_[i];
    std::vector<Block> kept;
    const std::size_t before = turn.blocks.size();
    for (std::size_t b = 0; b < before; ++b) {
      const bool is_result = is_client(turn.blocks[b], BlockKind::result);
      // nobody could answer it
      if (turn.role != Role::assistant && is_client(turn.blocks[b], BlockKind::call)) {
        repair_.lose(LossCode::call_dropped, turn, turn.blocks[b]);
      } else if (!is_result || claimed_.count({i, b}) > 0) {
        kept.push_back(std::move(turn.blocks[b]));
      } else if (moved_.count({i, b}) == 0) {
        repair_.lose(LossCode::result_dropped, turn, turn.blocks[b]);
      }
    }
    if (kept.size() == before) {
      turn.blocks = std::move(kept);
      out.push_back(std::move(turn));
    } else if (!kept.empty()) {
      turn.blocks = std::move(kept);
      turn.touch();
      out.push_back(std::move(turn));
    }
  }

  void rebuild() {
    std::vector<Turn> out;
    std::size_t i = 0;
    for (Planned& planned : exchanges_) {
      while (i < planned.where.calls_end) take(i++, out);
      const std::size_t window = out.size();
      while (i < planned.where.results_end) take(i++, out);
      add_extra(planned, out, window);
    }
    while (i < turns_.size()) take(i++, out);
    turns_ = std::move(out);
  }

  void add_extra(Planned& planned, std::vector<Turn>& out, std::size_t window) {
    if (planned.extra.empty()) return;
    if (profile_.dialect == Dialect::openai_chat) {
      for (Turn& turn : planned.extra) out.push_back(std::move(turn));
      return;
    }
    // Behind the last result of the first turn that has one, or in a turn of their own before what
    // the user says.
    for (std::size_t t = window; t < out.size(); ++t) {
      if (!has_results(out[t])) continue;
      std::size_t place = out[t].blocks.size();
      while (place > 0 && !is_client(out[t].blocks[place - 1], BlockKind::result)) --place;
      for (Turn& turn : planned.extra)
        out[t].blocks.insert(out[t].blocks.begin() + static_cast<std::ptrdiff_t>(place++),
                             std::move(turn.blocks[0]));
      out[t].touch();
      return;
    }
    Turn answers;
    answers.is_made = true;
    for (Turn& turn : planned.extra) {
      if (answers.source == no_source) answers.source = turn.source;
      answers.blocks.push_back(std::move(turn.blocks[0]));
    }
    out.insert(out.begin() + static_cast<std::ptrdiff_t>(window), std::move(answers));
  }

  Repair& repair_;
  std::vector<Turn>& turns_;
  const Profile& profile_;
  Arena& arena_;
  std::vector<Planned> exchanges_;
  std::set<std::string_view> seen_, cached_;
  std::map<std::string_view, std::uint64_t> numbers_;    // of the ids made from each
  std::map<std::string_view, std::string_view> shared_;  // those made, and from which
  std::size_t cached_for_ = no_block;
  std::set<BlockAt> claimed_, dropped_, moved_;
  std::map<std::string_view, std::vector<BlockAt>> pool_;
};

}  // namespace

void mend_pairs(Repair& repair, const std::vector<Fault>&) {
  if (repair.profile.dialect == Dialect::openai_responses) {
    mend_responses_pairs(repair);
  } else {
    PairRepair(repair).run();
  }
}

void mend_results_first(Repair& repair, const std::vector<Fault>&) {
  std::vector<Turn>& list = repair.draft.turns;
  std::set<std::size_t> emptied;
  for (std::size_t i = 0; i < list.size();) {
    if (list[i].role != Role::assistant) {
      ++i;
      continue;
    }
    const Exchange where = exchange_at(list, i, repair.profile.dialect);
    i = where.results_end;
    bool said_otherwise = false, misplaced = false;
    for (std::size_t t = where.results_begin; t < where.results_end; ++t) {
      for (const Block& block : list[t].blocks) {
        const bool is_result = is_client(block, BlockKind::result);
        misplaced = misplaced || (is_result && said_otherwise);
        said_otherwise = said_otherwise || !is_result;
      }
    }
    if (!misplaced) continue;
    std::vector<Block> results;
    for (std::size_t t = where.results_begin; t < where.results_end; ++t) {
      std::vector<Block> others;
      for (Block& block : list[t].blocks) {
        block.source = source_of(list[t], block);
        (is_client(block, BlockKind::result) ? results : others).push_back(std::move(block));
      }
      if (others.size() != list[t].blocks.size()) list[t].touch();
      list[t].blocks = std::move(others);
    }
    Turn& first = list[where.results_begin];
    first.touch();
    first.shape = Turn::Shape::list;
    first.blocks.insert(first.blocks.begin(), std::make_move_iterator(results.begin()),
                        std::make_move_iterator(results.end()));
    for (std::size_t t = where.results_begin; t < where.results_end; ++t)
      if (list[t].blocks.empty()) emptied.insert(t);
  }
  if (emptied.empty()) return;
  std::vector<Turn> kept;
  for (std::size_t t = 0; t < list.size(); ++t)
    if (emptied.count(t) == 0) kept.push_back(std::move(list[t]));
  list = std::move(kept);
}

}  // namespace undertext
