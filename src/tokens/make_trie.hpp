// A double-array trie of byte strings.
#pragma once

#include <string_view>
#include <vector>

#include "tokens/bpe_vocabulary.hpp"

namespace undertext {

// strings[i] becomes token i; they are all different, and none is empty. Nothing when there are
// more nodes than a link can name.
std::vector<TrieNode> make_trie(const std::vector<std::string_view>& strings);

}  // namespace undertext
