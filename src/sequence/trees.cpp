#include "sequence/entry.hpp"

namespace undertext {

template class TreeNodes<StoredMessage, MessageSums>;
template class Tree<StoredMessage, MessageSums, stored_leaf_max, stored_inner_max>;
template class TreeNodes<Entry, EntrySums>;
template class Tree<Entry, EntrySums, house_leaf_max, house_inner_max>;

}  // namespace undertext
