// Makes a draft acceptable. The same draft gives the same result, and one that is acceptable stays as it is.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dialect/check.hpp"

namespace undertext {

struct Repair {
  RequestDraft& draft;
  const Profile& profile;
  RequestFacts& facts;  // thinking may have to be disabled
  Arena& arena;

  void run();  // until check() finds nothing that can be mended
  void remove_blocks(const std::vector<Fault>& found);

 private:
  void pairs();
  void responses_pairs();
  void results_first();
  void media();
  void empties();
  void systems();
  void turns();
  void merge_neighbours();
  void reasoning();
  void ids_and_names();
  void parts();
  void cache();
  void lose(LossCode code, const Turn& turn) { draft.lost.push_back({code, turn.source}); }
};

// An id made from another, or from nothing: the same every time.
std::string made_id(std::string_view from, std::uint64_t number);
Turn made_turn(Role role, std::string_view text);
Block made_result(const Block& call, const Profile& profile);

// Gives a call or result another id. What it was written as stands no more, but for an item with a form of its own, which is kept with the new id.
void rename_call(Turn& turn, Block& block, std::string_view id, Arena& arena);

// The object without that member; itself when it has none.
std::string without_member(std::string_view object, std::string_view key);
// The object with one more member, whose value is JSON.
std::string with_member(std::string_view object, std::string_view key, std::string_view value);

}  // namespace undertext
