// Places the children of every node into the first gap of the array that takes them. Nodes of
// tokens that are merged early, which are the common ones, come first, so that what is looked at
// most lies together.
#include "tokens/make_trie.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace undertext {
namespace {

class TrieMaker {
 public:
  explicit TrieMaker(const std::vector<std::string_view>& strings)
      : strings_(strings), order_(strings.size()) {
    std::iota(order_.begin(), order_.end(), std::uint32_t{0});
    std::sort(order_.begin(), order_.end(),
              [&](std::uint32_t a, std::uint32_t b) { return strings_[a] < strings_[b]; });
  }

  std::vector<TrieNode> make() {
    // The first place is the root; up to 256 nothing else is taken, so that a node without children
    // can have the base 1.
    reserve(1024);
    nodes_[0].link = TrieNode::taken;
    next_ = 512;
    open_.push_back({0, 0, static_cast<std::uint32_t>(order_.size()), 0, 0});
    while (!open_.empty()) {
      std::pop_heap(open_.begin(), open_.end(), later);
      const Node node = open_.back();
      open_.pop_back();
      if (!place_children(node)) return {};
    }
    std::size_t last = nodes_.size();
    while (nodes_[last - 1].link == 0) --last;
    nodes_.resize(last + 256);  // a base and any byte lead to a place that is there
    return std::move(nodes_);
  }

 private:
  struct Node {
    std::uint32_t place;
    std::uint32_t begin, end;  // of order_: the strings that begin with this node's bytes
    std::uint32_t depth;
    std::uint32_t first;  // the first of these tokens
  };
  static bool later(const Node& a, const Node& b) {
    return a.first != b.first ? a.first > b.first : a.depth > b.depth;
  }

  void reserve(std::size_t size) {
    if (size <= nodes_.size()) return;
    nodes_.resize(std::max(size, nodes_.size() * 2));
    bases_.resize(nodes_.size());
  }

  void set_base(std::uint32_t place, std::uint32_t base) {
    nodes_[place].link =
        (nodes_[place].link & (TrieNode::taken | 0xFF)) | base << TrieNode::base_shift;
  }

  bool place_children(const Node& node) {
    std::uint32_t begin = node.begin;
    if (begin != node.end && strings_[order_[begin]].size() == node.depth) {
      nodes_[node.place].token = order_[begin] + 1;
      ++begin;
    }
    children_.clear();
    for (std::uint32_t i = begin; i != node.end;) {
      const auto byte = static_cast<std::uint8_t>(strings_[order_[i]][node.depth]);
      std::uint32_t last = i + 1;
      while (last != node.end &&
             static_cast<std::uint8_t>(strings_[order_[last]][node.depth]) == byte)
        ++last;
      children_.push_back({byte, i, last});
      i = last;
    }
    if (children_.empty()) {
      set_base(node.place, 1);
      return true;
    }
    const std::uint32_t base = find_base();
    if (base + 512 > TrieNode::nodes_max) return false;
    bases_[base] = true;
    set_base(node.place, base);
    for (const Child& child : children_) {
      nodes_[base + child.byte].link = TrieNode::taken | child.byte;
      const auto first = std::min_element(order_.begin() + child.begin, order_.begin() + child.end);
      open_.push_back({base + child.byte, child.begin, child.end, node.depth + 1, *first});
      std::push_heap(open_.begin(), open_.end(), later);
    }
    return true;
  }

  // No two nodes have the same base: the byte alone tells whose child a node is.
  std::uint32_t find_base() {
    const std::uint32_t first = children_.front().byte;
    std::uint32_t seen = 0, full = 0;
    for (std::uint32_t place = std::max(next_, 512u + first);; ++place) {
      reserve(place + 512);
      ++seen;
      if (nodes_[place].link != 0) {
        ++full;
        continue;
      }
      const std::uint32_t base = place - first;
      if (bases_[base]) continue;
      const bool fits =
          std::all_of(children_.begin() + 1, children_.end(),
                      [&](const Child& child) { return nodes_[base + child.byte].link == 0; });
      if (!fits) continue;
      // A stretch that is nearly full is not searched again.
      if (seen > 64 && full * 20 >= seen * 19) next_ = place;
      return base;
    }
  }

  struct Child {
    std::uint8_t byte;
    std::uint32_t begin, end;
  };

  const std::vector<std::string_view>& strings_;
  std::vector<std::uint32_t> order_;
  std::vector<TrieNode> nodes_;
  std::vector<bool> bases_;
  std::vector<Node> open_;  // a heap: the node of the earliest token first
  std::vector<Child> children_;
  std::uint32_t next_ = 0;
};

}  // namespace

std::vector<TrieNode> make_trie(const std::vector<std::string_view>& strings) {
  return TrieMaker(strings).make();
}

}  // namespace undertext
