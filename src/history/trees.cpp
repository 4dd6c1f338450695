#include "history/state.hpp"

namespace undertext {

template class TreeNodes<LinkNote, LinkSums>;
template class Tree<LinkNote, LinkSums, house_leaf_max, house_inner_max>;
template class TreeNodes<SummaryNote, NoSums>;
template class Tree<SummaryNote, NoSums, house_leaf_max, house_inner_max>;
template class TreeNodes<PlaceNote, PlaceSums>;
template class Tree<PlaceNote, PlaceSums, house_leaf_max, house_inner_max>;
template class TreeNodes<LabelNote, NoSums>;
template class Tree<LabelNote, NoSums, house_leaf_max, house_inner_max>;
template class TreeNodes<MarkNote, MarkSums>;
template class Tree<MarkNote, MarkSums, house_leaf_max, house_inner_max>;
template class TreeNodes<Batch, NoSums>;
template class Tree<Batch, NoSums, house_leaf_max, house_inner_max>;
template class TreeNodes<State, NoSums>;
template class Tree<State, NoSums, house_leaf_max, house_inner_max>;
template class TreeNodes<VersionRow, NoSums>;
template class Tree<VersionRow, NoSums, house_leaf_max, house_inner_max>;

}  // namespace undertext
