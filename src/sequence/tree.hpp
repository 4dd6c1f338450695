// A persistent measured sequence: an immutable ordered list whose inner nodes carry the sums of
// what lies below them.
//
//     Tree<Entry, EntrySums> a;   a.push_back(e0);   a.push_back(e1);
//     Tree<Entry, EntrySums> b = a;          // O(1): shares everything
//     b.splice(0, 1, {});                    // O(log n): `a` still holds both
//
//                  [ sums | sums | sums ]                inner nodes: children, their sums, and where each child ends
//                  /        |        \                             .
//            [items]     [items]    [items]      [items··]         leaves, all at one depth; the last stretch of the list is
//                                                   tail           the tail, which is not linked into the tree yet
//
// One edit does everything: splice() takes a stretch out and puts items in its place, copying only
// the path to it. Appending does not even copy the path: a Tree owns the first `tail_size_` slots
// of its tail leaf, and whoever first claims the next slot may write it; everybody else copies the
// leaf. A full tail is linked into the tree as it is, a partial one never: its free slots may be
// claimed by another Tree later.
//
// Sums is a monoid: Sums() is empty, `+=` joins neighbours, Sums::of(item) measures one item;
// add(item), if there is one, is += of(item) in less time. A measure `get` takes one number out of
// Sums, and may take it out of an item too, to save making Sums of it.
//
// Threads: a Tree object belongs to one thread at a time; distinct copies may be read and edited
// from distinct threads at once.
// Failure: only std::bad_alloc, after which a Tree being edited holds some list between the old and
// the new; edit a copy where that counts.
// Memory: nodes are counted by reference and are never changed once they are shared, except for
// free slots of a tail.
//
// check() verifies, after every edit in tests:
//   1. all leaves are at the same depth;
//   2. a node other than the root is at least half full;
//   3. an inner node's sums and ends are the totals of its children, so reading them never walks the children.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "sequence/node.hpp"

namespace undertext {

template <class Item, class Sums, unsigned LeafMax = 32, unsigned InnerMax = 16>
class Tree : private TreeNodes<Item, Sums> {
  // An inner node with one child must count as less than half full: it may hide a leaf that is.
  static_assert(LeafMax >= 2 && InnerMax >= 4);
  using Nodes = TreeNodes<Item, Sums>;
  using Nodes::add_child_slots, Nodes::add_items, Nodes::capacity_of, Nodes::child, Nodes::child_at,
      Nodes::here, Nodes::children, Nodes::copy_leaf, Nodes::count_of;
  using Nodes::ends_of, Nodes::items, Nodes::items_offset, Nodes::measure, Nodes::new_inner,
      Nodes::new_leaf, Nodes::node_sums, Nodes::retain, Nodes::size_of;
  using Nodes::slot_of, Nodes::start_of, Nodes::sums_of;
  using typename Nodes::Node;
  using typename Nodes::Ref;
  using typename Nodes::Slot;
  using typename Nodes::Slots;

 public:
  // A stretch of neighbours that lie side by side in memory.
  struct Chunk {
    const Item* items = nullptr;
    std::uint64_t begin = 0;  // the index of items[0]
    std::uint64_t end = 0;
  };

  Tree() = default;
  Tree(const Tree&) = default;
  Tree(Tree&& other) noexcept
      : root_(std::move(other.root_)),
        tail_(std::move(other.tail_)),
        tail_size_(std::exchange(other.tail_size_, 0)) {}
  Tree& operator=(Tree other) noexcept {
    std::swap(root_, other.root_);
    std::swap(tail_, other.tail_);
    std::swap(tail_size_, other.tail_size_);
    return *this;
  }

  std::uint64_t size() const { return root_count() + tail_size_; }
  bool empty() const { return size() == 0; }

  // The sums of all items: O(1) nodes read.
  Sums sums() const {
    Sums total;
    if (root_) total += node_sums(root());
    add_items(total, tail_items(), 0, tail_size_);
    return total;
  }

  // One of the sums of all items, when the others are not needed. get() is additive.
  template <class Get>
  std::uint64_t total(Get get) const {
    std::uint64_t sum = root_ ? total(root(), get) : 0;
    for (std::uint32_t i = 0; i < tail_size_; ++i) sum += measure(get, tail_items()[i]);
    return sum;
  }

  // The same of [begin, end), clamped. O(log n).
  template <class Get>
  std::uint64_t total(std::uint64_t begin, std::uint64_t end, Get get) const {
    const std::uint64_t linked = root_count();
    end = std::min(end, size());
    std::uint64_t sum =
        begin < std::min(end, linked) ? total(root(), begin, std::min(end, linked), get) : 0;
    for (std::uint64_t i = std::max(begin, linked); i < end; ++i)
      sum += measure(get, tail_items()[i - linked]);
    return sum;
  }

  // The sums of [begin, end), clamped. O(log n).
  Sums sums(std::uint64_t begin, std::uint64_t end) const {
    Sums total;
    end = std::min(end, size());
    if (begin >= end) return total;
    const std::uint64_t linked = root_count();
    if (begin < linked) add_range(total, root(), begin, std::min(end, linked));
    if (end > linked)
      add_items(total, tail_items(), std::max(begin, linked) - linked, end - linked);
    return total;
  }

  // index < size(). O(log n). The reference lives as long as this Tree is neither changed nor
  // destroyed.
  const Item& operator[](std::uint64_t index) const {
    const Chunk c = chunk(index);
    return c.items[index - c.begin];
  }

  // Where a walk through all chunks is. Valid as long as the Tree is not changed.
  struct Walk {
    const void* parent = nullptr;
    std::uint32_t child = 0;
  };

  // Begins to read the item, so that it is there soon. O(log n).
  void prefetch(std::uint64_t index) const {
    const Chunk c = chunk(index);
    prefetch_line(c.items + (index - c.begin));
  }

  // The stretch around `index` < size().
  Chunk chunk(std::uint64_t index) const {
    return chunk_below(index, [](const Node*, unsigned) {});
  }
  // The same for an index at which a chunk begins, in O(1) for most of the chunks of a walk from
  // the first to the last. Fetches the chunk after it.
  Chunk chunk(std::uint64_t index, Walk& walk) const {
    const Node* parent = static_cast<const Node*>(walk.parent);
    if (parent && ++walk.child < size_of(parent)) {
      const Node* leaf = child(parent, walk.child);
      prefetch_next(walk);
      return {items(leaf), index, index + size_of(leaf)};
    }
    walk = {};
    return chunk_below(index, [&walk](const Node* node, unsigned i) {
      walk = {node, i};
      prefetch_next(walk);
      // One line each of the others: that their pages are known is the larger part.
      for (unsigned k = i + 2; k < size_of(node); ++k) prefetch_line(children(node)[k]);
    });
  }

  // The first index at which the running total of get(Sums) exceeds `target`: with get = "how many
  // of role r", the target-th item of role r, from 0. size() when the whole total does not. O(log
  // n). get() is additive.
  template <class Get>
  std::uint64_t seek(Get get, std::uint64_t target) const {
    std::uint64_t before = 0;
    std::uint64_t index = 0;
    if (const Node* node = root()) {
      if (const std::uint64_t all = total(node, get); all > target) {
        while (node->height > 0) {
          unsigned i = 0;
          for (const unsigned last = size_of(node) - 1; i < last; ++i) {
            const std::uint64_t s = static_cast<std::uint64_t>(get(sums_of(node)[i]));
            if (before + s > target) break;
            before += s;
          }
          index += start_of(node, i);
          node = child(node, i);
        }
        return index + seek_items(items(node), count_of(node), get, target, before);
      } else {
        before = all;
        index = root_count();
      }
    }
    return index + seek_items(tail_items(), tail_size_, get, target, before);
  }

  // Calls visit(index, item) -> bool for the items of [begin, end) in order, until it answers
  // false; subtrees for which may(Sums) is false are passed over. Answers whether it got to the
  // end. O(log n + what is visited).
  template <class May, class Visit>
  bool visit(std::uint64_t begin, std::uint64_t end, May may, Visit visit) const {
    const std::uint64_t linked = root_count();
    end = std::min(end, size());
    if (begin < std::min(end, linked) &&
        !visit_node(root(), 0, begin, std::min(end, linked), may, visit))
      return false;
    for (std::uint64_t i = std::max(begin, linked); i < end; ++i) {
      if (!visit(i, tail_items()[i - linked])) return false;
    }
    return true;
  }

  // The same from the last to the first.
  template <class May, class Visit>
  bool visit_back(std::uint64_t begin, std::uint64_t end, May may, Visit visit) const {
    const std::uint64_t linked = root_count();
    end = std::min(end, size());
    for (std::uint64_t i = end; i > std::max(begin, linked);) {
      --i;
      if (!visit(i, tail_items()[i - linked])) return false;
    }
    return begin >= std::min(end, linked) ||
           visit_node_back(root(), 0, begin, std::min(end, linked), may, visit);
  }

  // The same, but a subtree for which whole(Sums) is true is not entered: take(Sums) gets its sums
  // at once.
  template <class May, class Whole, class Take, class Visit>
  void gather(std::uint64_t begin, std::uint64_t end, May may, Whole whole, Take take,
              Visit visit) const {
    const std::uint64_t linked = root_count();
    end = std::min(end, size());
    if (begin < std::min(end, linked))
      gather_node(root(), begin, std::min(end, linked), may, whole, take, visit);
    for (std::uint64_t i = std::max(begin, linked); i < end; ++i) visit(tail_items()[i - linked]);
  }

  // Amortised O(1); allocates one leaf in LeafMax calls, plus the path to it.
  void push_back(const Item& item) {
    if (tail_ && tail_size_ < capacity_of(tail()) && claim()) {
      new (items(tail()) + tail_size_) Item(item);
      ++tail_size_;
      return;
    }
    if (tail_size_ == LeafMax) {
      push_leaf(tail_);
      tail_ = {};
      tail_size_ = 0;
    }
    // Small lists are many and stay small, so the first tail grows with its need.
    const unsigned capacity = root_ ? LeafMax : std::min(LeafMax, std::max(4u, 2 * tail_size_));
    Ref fresh = copy_leaf(tail_items(), tail_size_, capacity);
    new (items(fresh.get()) + tail_size_) Item(item);
    fresh->used.store(tail_size_ + 1, std::memory_order_relaxed);
    tail_ = std::move(fresh);
    ++tail_size_;
  }

  // Takes `erase` items from `at` on out and puts `insert` in their place. at + erase <= size().
  // O(log n + insert).
  // `insert` must not point into this Tree.
  void splice(std::uint64_t at, std::uint64_t erase, std::span<const Item> insert) {
    const std::uint64_t linked = root_count();
    if (at + erase <= linked && at < linked) {  // the tail keeps its place
      splice_root(at, at + erase, insert);
      return;
    }
    if (at < linked) {  // from the tree into the tail
      const std::uint64_t from_tail = at + erase - linked;
      splice_tail(0, from_tail, {});
      splice_root(at, linked, insert);
      return;
    }
    if (erase == 0 && at == size() && insert.size() <= LeafMax) {
      for (const Item& item : insert) push_back(item);
      return;
    }
    splice_tail(at - linked, at - linked + erase, insert);
  }

  // What became of the nodes of trees that share some, so that their copies share them too.
  using ChangedNodes = std::unordered_map<const void*, Slot>;

  // A tree of the same shape whose items are change(item). O(nodes not changed yet).
  template <class Change>
  Tree changed(Change& change, ChangedNodes& known) const {
    Tree made;
    if (root_) made.root_ = changed_node(root(), change, known).node;
    if (tail_size_ > 0) {
      made.tail_ = changed_leaf(tail(), tail_size_, change, known).node;
      made.tail_size_ = tail_size_;
    }
    return made;
  }

  // Where the tree is, in pages; what is not on one yet is written.
  //     | page of the root, 0: none | its height | size of the tail | its page |
  void save(PageOut& out) const {
    out.number(
        root_ ? Nodes::save_node(root_.get(), root_->is_stub ? 0 : size_of(root_.get()), out.writer)
              : 0);
    if (root_) out.number(root_->height);
    out.number(tail_size_);
    if (tail_size_ > 0) out.number(Nodes::save_node(tail_.get(), tail_size_, out.writer));
  }
  // Reads no page: that happens when somebody looks.
  static Tree load(PageIn& in) {
    Tree tree;
    if (const std::uint64_t page = in.number()) {
      const std::uint64_t height = in.number();
      if (height > 40) in.fail("a tree is too high");
      tree.root_ = Ref(in.space->stub(page, static_cast<std::uint16_t>(height), Nodes::kind()));
    }
    tree.tail_size_ = in.number32();
    if (tree.tail_size_ > LeafMax) in.fail("a tail is too long");
    if (tree.tail_size_ > 0) {
      const std::uint64_t page = in.number();
      if (page == 0) in.fail("a tail has no page");
      tree.tail_ = Ref(in.space->stub(page, 0, Nodes::kind()));
    }
    return tree;
  }

  // How many items the two have in common from the start on. O(log n) for each stretch not shared.
  std::uint64_t common_prefix(const Tree& other) const { return common_run(0, other, 0); }

  // The same from `at` on, and from `other_at` on in the other.
  std::uint64_t common_run(std::uint64_t at, const Tree& other, std::uint64_t other_at) const {
    const std::uint64_t most = std::min(size() - at, other.size() - other_at);
    std::uint64_t same = 0;
    std::vector<Place> mine, theirs;
    while (same < most) {
      // A short run is compared item by item: shared nodes are looked for where its first leaf
      // ends.
      if (same > 0) {
        path(at + same, mine);
        other.path(other_at + same, theirs);
        if (const std::uint64_t shared = shared_from(mine, theirs, at + same, other_at + same)) {
          same = std::min(same + shared, most);
          continue;
        }
      }
      const Chunk a = chunk(at + same), b = other.chunk(other_at + same);
      const std::uint64_t stop = std::min({a.end - at, b.end - other_at, most});
      for (; same < stop; ++same) {
        if (!(a.items[at + same - a.begin] == b.items[other_at + same - b.begin])) return same;
      }
    }
    return same;
  }

  // The same from the end on, looking at no more than `most` items.
  std::uint64_t common_suffix(const Tree& other, std::uint64_t most) const {
    most = std::min({most, size(), other.size()});
    std::uint64_t same = 0;
    std::vector<Place> mine, theirs;
    while (same < most) {
      const std::uint64_t p = size() - same, q = other.size() - same;
      path(p - 1, mine);
      other.path(q - 1, theirs);
      if (const std::uint64_t shared = shared_count(mine, theirs, p, q, &Place::end)) {
        same = std::min(same + shared, most);
        continue;
      }
      const Chunk a = chunk(p - 1), b = other.chunk(q - 1);
      const std::uint64_t stop = std::min({same + (p - a.begin), same + (q - b.begin), most});
      for (; same < stop; ++same) {
        const Item& x = a.items[size() - same - 1 - a.begin];
        const Item& y = b.items[other.size() - same - 1 - b.begin];
        if (!(x == y)) return same;
      }
    }
    return same;
  }

  // For tests: the first law that does not hold, or nullptr.
  const char* check() const {
    if (tail_size_ > 0 && !tail_) return "a tail size without a tail";
    if (!root_) return nullptr;
    if (root()->height > 0 && size_of(root()) < 2)
      return "an inner root has fewer than two children";
    return check_node(root(), true);
  }
  unsigned height() const { return root_ ? root()->height + 1u : 0u; }

  using Nodes::nodes_made, Nodes::node_bytes_made;  // for tests and benchmarks

 private:
  // Calls at_parent(node, its child) for the parent of the leaf, if it has one.
  template <class AtParent>
  Chunk chunk_below(std::uint64_t index, AtParent at_parent) const {
    const std::uint64_t linked = root_count();
    if (index >= linked) {
      if (index >= size()) throw_corrupt_page(0, "it names a place beyond the end of a list");
      return {tail_items(), linked, size()};
    }
    const Node* node = root();
    std::uint64_t begin = 0;
    while (node->height > 0) {
      const unsigned i = child_at(node, index - begin);
      if (node->height == 1) at_parent(node, i);
      begin += start_of(node, i);
      node = child(node, i);
    }
    return {items(node), begin, begin + size_of(node)};
  }

  static void prefetch_line(const void* address) {
#if defined(__GNUC__)
    __builtin_prefetch(address);
#endif
  }
  static void prefetch_next(const Walk& walk) {
    const Node* parent = static_cast<const Node*>(walk.parent);
    if (walk.child + 1 >= size_of(parent)) return;
    const char* const leaf = reinterpret_cast<const char*>(children(parent)[walk.child + 1]);
    for (std::size_t byte = 0; byte < items_offset + LeafMax * sizeof(Item); byte += 64)
      prefetch_line(leaf + byte);
  }

  // A node on a page is: it was no root when it was saved, or it is one again.
  static bool half_full(const Node* node) {
    return node->is_stub || size_of(node) >= (node->height == 0 ? LeafMax : InnerMax) / 2;
  }

  // Making nodes
  // ---------------------------------------------------------------------------------------------------------

  // Leaves of about equal size, at least half full each unless there is but one, over up to three
  // runs of items.
  static void make_leaves(std::span<const Item> a, std::span<const Item> b, std::span<const Item> c,
                          Slots& out) {
    const std::size_t n = a.size() + b.size() + c.size();
    if (n == 0) return;
    const std::size_t leaves = (n + LeafMax - 1) / LeafMax;
    const std::span<const Item> runs[] = {a, b, c};
    std::size_t run = 0, offset = 0;
    for (std::size_t k = 0; k < leaves; ++k) {
      const unsigned want = static_cast<unsigned>(n / leaves + (k < n % leaves ? 1 : 0));
      Ref leaf = new_leaf(want);
      Item* to = items(leaf.get());
      for (unsigned have = 0; have < want;) {
        const std::size_t take = std::min<std::size_t>(want - have, runs[run].size() - offset);
        std::uninitialized_copy_n(runs[run].data() + offset, take, to + have);
        have += static_cast<unsigned>(take);
        offset += take;
        if (offset == runs[run].size()) ++run, offset = 0;
      }
      leaf->used.store(want, std::memory_order_relaxed);
      out.push_back(slot_of(std::move(leaf)));
    }
  }

  // Inner nodes of about equal size over `kids`, which are left empty.
  static void make_inners(Slots& kids, Slots& out) {
    const std::size_t n = kids.size();
    if (n == 0) return;
    const std::size_t inners = (n + InnerMax - 1) / InnerMax;
    std::size_t next = 0;
    for (std::size_t k = 0; k < inners; ++k) {
      const unsigned want = static_cast<unsigned>(n / inners + (k < n % inners ? 1 : 0));
      Ref inner = new_inner(want, kids[next].node->height + 1);
      Slot made{{}, {}, 0};
      for (unsigned i = 0; i < want; ++i, ++next) {
        made.count += kids[next].count;
        made.sums += kids[next].sums;
        new (sums_of(inner.get()) + i) Sums(kids[next].sums);
        ends_of(inner.get())[i] = static_cast<std::uint32_t>(made.count);
        children(inner.get())[i] = kids[next].node.give();
      }
      inner->used.store(want, std::memory_order_relaxed);
      made.node = std::move(inner);
      out.push_back(std::move(made));
    }
    kids.clear();
  }

  // A copy of an inner node with another i-th child.
  static Slot with_child(const Node* node, unsigned i, Slot child) {
    const unsigned n = size_of(node);
    Slot made{new_inner(n, node->height), {}, 0};
    Node* copy = made.node.get();
    std::memcpy(static_cast<void*>(sums_of(copy)), sums_of(node), n * sizeof(Sums));
    for (unsigned k = 0; k < n; ++k) {
      if (k == i) continue;
      children(copy)[k] = children(node)[k];
      retain(children(copy)[k]);
    }
    sums_of(copy)[i] = child.sums;
    children(copy)[i] = child.node.give();
    const std::uint32_t before = static_cast<std::uint32_t>(ends_of(node)[i] - start_of(node, i));
    // wraps around, and back in the sum
    const std::uint32_t change = static_cast<std::uint32_t>(child.count) - before;
    for (unsigned k = 0; k < n; ++k) {
      ends_of(copy)[k] = ends_of(node)[k] + (k >= i ? change : 0);
      made.sums += sums_of(copy)[k];
    }
    copy->used.store(n, std::memory_order_relaxed);
    made.count = ends_of(copy)[n - 1];
    return made;
  }

  // Joins every node that is less than half full with a neighbour, if it has one.
  static void repair(Slots& kids) {
    for (std::size_t k = 0; kids.size() > 1 && k < kids.size();) {
      if (half_full(kids[k].node.get())) {
        ++k;
        continue;
      }
      const std::size_t left = k + 1 < kids.size() ? k : k - 1;
      Slots joined;
      join(here(kids[left].node.get()), here(kids[left + 1].node.get()), joined);
      kids[left] = std::move(joined[0]);
      if (joined.size() == 2) {
        kids[left + 1] = std::move(joined[1]);
      } else {
        kids.erase(kids.begin() + static_cast<std::ptrdiff_t>(left) + 1);
      }
      k = left;
    }
  }

  // One or two nodes with what two neighbours of one height hold.
  static void join(const Node* a, const Node* b, Slots& out) {
    if (a->height == 0) {
      make_leaves({items(a), size_of(a)}, {items(b), size_of(b)}, {}, out);
      return;
    }
    Slots kids;
    kids.reserve(size_of(a) + size_of(b));
    add_child_slots(a, 0, size_of(a), kids);
    add_child_slots(b, 0, size_of(b), kids);
    repair(kids);  // a node with one child passed a problem at the seam up to here
    make_inners(kids, out);
  }

  template <class Change>
  static Slot changed_node(const Node* node, Change& change, ChangedNodes& known) {
    const unsigned n = size_of(node);
    if (node->height == 0) {
      Slot& leaf = changed_leaf(node, n, change, known);
      if (leaf.count != n) {
        leaf.sums = node_sums(leaf.node.get());
        leaf.count = n;
      }
      return leaf;
    }
    if (const auto found = known.find(node); found != known.end()) return found->second;
    Slots kids, out;
    for (unsigned i = 0; i < n; ++i) kids.push_back(changed_node(child(node, i), change, known));
    make_inners(kids, out);
    known.emplace(node, out.front());
    return std::move(out.front());
  }

  // With the first `n` items of the leaf at least. Trees may own more or less of one tail, which is
  // one leaf again afterwards: the slots that come to be owned later are written then. Its sums and
  // its count are made by changed_node(), for a tail has none.
  template <class Change>
  static Slot& changed_leaf(const Node* node, unsigned n, Change& change, ChangedNodes& known) {
    Slot& made = known.try_emplace(node, Slot{{}, {}, 0}).first->second;
    if (!made.node) made.node = new_leaf(capacity_of(node));
    Node* const leaf = made.node.get();
    for (unsigned i = size_of(leaf); i < n; ++i) {
      new (items(leaf) + i) Item(change(items(node)[i]));
      leaf->used.store(i + 1, std::memory_order_relaxed);
    }
    return made;
  }

  // Editing
  // --------------------------------------------------------------------------------------------------------------

  // Appends to `out` the nodes, of the height of `node`, that hold its items with [from, to)
  // replaced. If there is but one it may be less than half full; the caller joins it with a
  // neighbour.
  static void splice_node(const Node* node, std::uint64_t from, std::uint64_t to,
                          std::span<const Item> insert, Slots& out) {
    const unsigned n = size_of(node);
    if (node->height == 0) {
      const std::span<const Item> all{items(node), n};
      make_leaves(all.first(from), insert, all.subspan(to), out);
      return;
    }
    const unsigned first = first_touched(node, from, to);
    unsigned last = first;  // the last child that loses something
    while (from < to && ends_of(node)[last] < to) ++last;

    const std::uint64_t start = start_of(node, first);
    Slots changed;
    if (first == last) {
      splice_node(child(node, first), from - start, to - start, insert, changed);
      // what happened has ended below here
      if (changed.size() == 1 && half_full(changed[0].node.get())) {
        out.push_back(with_child(node, first, std::move(changed[0])));
        return;
      }
    } else {
      splice_node(child(node, first), from - start, ends_of(node)[first] - start, insert, changed);
      splice_node(child(node, last), 0, to - start_of(node, last), {}, changed);
    }
    Slots all;
    all.reserve(n + changed.size());
    add_child_slots(node, 0, first, all);
    std::move(changed.begin(), changed.end(), std::back_inserter(all));
    add_child_slots(node, last + 1, n, all);
    repair(all);
    make_inners(all, out);
  }

  // The same for an edit within one leaf that stays at least half full and not too large, which
  // most are: one path is copied, and nothing is joined or divided. False, and nothing made, where
  // it is not so.
  static bool splice_path(const Node* node, std::uint64_t from, std::uint64_t to,
                          std::span<const Item> insert, Slot& out) {
    const unsigned n = size_of(node);
    if (node->height == 0) {
      const std::size_t want = n - (to - from) + insert.size();
      if (want < LeafMax / 2 || want > LeafMax || want == 0) return false;
      out.node = new_leaf(static_cast<unsigned>(want));
      Item* at = std::uninitialized_copy_n(items(node), from, items(out.node.get()));
      at = std::uninitialized_copy(insert.begin(), insert.end(), at);
      std::uninitialized_copy(items(node) + to, items(node) + n, at);
      out.node->used.store(static_cast<std::uint32_t>(want), std::memory_order_relaxed);
      out.sums = node_sums(out.node.get());
      out.count = want;
      return true;
    }
    const unsigned i = first_touched(node, from, to);
    const std::uint64_t start = start_of(node, i);
    if (to > ends_of(node)[i]) return false;
    Slot made{{}, {}, 0};
    if (!splice_path(child(node, i), from - start, to - start, insert, made)) return false;
    out = with_child(node, i, std::move(made));
    return true;
  }

  // The child that gets what is put at `from`; at a seam, the left one, unless the right one loses
  // something.
  static unsigned first_touched(const Node* node, std::uint64_t from, std::uint64_t to) {
    const std::uint32_t* ends = ends_of(node);
    const unsigned last = size_of(node) - 1;
    unsigned i = 0;
    while (i < last && (from < to ? ends[i] <= from : ends[i] < from)) ++i;
    return i;
  }

  void splice_root(std::uint64_t from, std::uint64_t to, std::span<const Item> insert) {
    if (from == to && insert.empty()) return;
    if (Slot path{{}, {}, 0}; root_ && splice_path(root(), from, to, insert, path)) {
      root_ = std::move(path.node);
      return;
    }
    Slots out;
    if (root_) {
      splice_node(root(), from, to, insert, out);
    } else {
      make_leaves(insert, {}, {}, out);
    }
    grow(out);
  }

  // [from, to) are places in the tail.
  void splice_tail(std::uint64_t from, std::uint64_t to, std::span<const Item> insert) {
    if (from == to && insert.empty()) return;
    const std::span<const Item> all{tail_items(), tail_size_};
    const std::span<const Item> head = all.first(from), rest = all.subspan(to);
    const std::size_t n = head.size() + insert.size() + rest.size();
    if (n <= LeafMax) {
      Slots leaf;
      make_leaves(head, insert, rest, leaf);
      tail_ = leaf.empty() ? Ref() : std::move(leaf[0].node);
      tail_size_ = static_cast<std::uint32_t>(n);
      return;
    }
    std::vector<Item> joined;
    joined.reserve(n);
    for (const std::span<const Item>& run : {head, insert, rest})
      joined.insert(joined.end(), run.begin(), run.end());
    splice_root(root_count(), root_count(), joined);
    tail_ = {};
    tail_size_ = 0;
  }

  // Makes `nodes`, neighbours of one height, the tree.
  void grow(Slots& nodes) {
    while (nodes.size() > 1) {
      Slots up;
      make_inners(nodes, up);
      nodes = std::move(up);
    }
    root_ = nodes.empty() ? Ref() : std::move(nodes[0].node);
    while (root_ && root()->height > 0 && size_of(root()) == 1)
      root_ = Ref::share(children(root())[0]);
  }

  void push_leaf(const Ref& last) {
    const Ref leaf = Ref::share(here(last.get()));
    if (!root_) {
      root_ = leaf;
      return;
    }
    if (root()->height == 0 && !half_full(root())) {
      splice_root(root_count(), root_count(), {items(leaf.get()), size_of(leaf.get())});
      return;
    }
    Slots out;
    push_under(root(), slot_of(leaf), out);
    grow(out);
  }

  static void push_under(const Node* node, Slot leaf, Slots& out) {
    if (node->height == 0) {  // the root is a leaf
      out.push_back(slot_of(Ref::share(const_cast<Node*>(node))));
      out.push_back(std::move(leaf));
      return;
    }
    const unsigned n = size_of(node);
    Slots kids;
    if (node->height == 1) {
      kids.reserve(n + 1);
      add_child_slots(node, 0, n, kids);
      kids.push_back(std::move(leaf));
    } else {
      Slots last;
      push_under(child(node, n - 1), std::move(leaf), last);
      if (last.size() == 1) {
        out.push_back(with_child(node, n - 1, std::move(last[0])));
        return;
      }
      kids.reserve(n + 1);
      add_child_slots(node, 0, n - 1, kids);
      std::move(last.begin(), last.end(), std::back_inserter(kids));
    }
    make_inners(kids, out);
  }

  // Whether the slot after this Tree's part of the tail is now ours to write.
  bool claim() {
    std::uint32_t expected = tail_size_;
    return tail()->used.compare_exchange_strong(expected, tail_size_ + 1, std::memory_order_acq_rel,
                                                std::memory_order_relaxed);
  }

  // Reading
  // --------------------------------------------------------------------------------------------------------------

  Node* root() const { return here(root_.get()); }
  Node* tail() const {
    Node* const leaf = here(tail_.get());
    // A page of another's may be shorter than it should be.
    if (leaf && tail_->is_stub && size_of(leaf) < tail_size_)
      throw_corrupt_page(static_cast<StubNode*>(tail_.get())->page, "it is too short");
    return leaf;
  }
  std::uint64_t root_count() const { return root_ ? count_of(root()) : 0; }
  const Item* tail_items() const {
    return tail_ ? items(static_cast<const Node*>(tail())) : nullptr;
  }

  static void add_range(Sums& total, const Node* node, std::uint64_t begin, std::uint64_t end) {
    if (node->height == 0) {
      add_items(total, items(node), begin, end);
      return;
    }
    for (unsigned i = child_at(node, begin); i < size_of(node) && start_of(node, i) < end; ++i) {
      const std::uint64_t start = start_of(node, i), stop = ends_of(node)[i];
      if (begin <= start && stop <= end) {
        total += sums_of(node)[i];
      } else {
        add_range(total, child(node, i), std::max(begin, start) - start,
                  std::min(end, stop) - start);
      }
    }
  }

  template <class Get>
  static std::uint64_t total(const Node* node, Get& get) {
    std::uint64_t sum = 0;
    const unsigned n = size_of(node);
    if (node->height == 0) {
      for (unsigned i = 0; i < n; ++i) sum += measure(get, items(node)[i]);
    } else {
      for (unsigned i = 0; i < n; ++i) sum += static_cast<std::uint64_t>(get(sums_of(node)[i]));
    }
    return sum;
  }
  template <class Get>
  static std::uint64_t total(const Node* node, std::uint64_t begin, std::uint64_t end, Get& get) {
    std::uint64_t sum = 0;
    if (node->height == 0) {
      for (std::uint64_t i = begin; i < end; ++i) sum += measure(get, items(node)[i]);
      return sum;
    }
    std::uint64_t start = 0;
    for (unsigned i = 0; i < size_of(node) && start < end; ++i) {
      const std::uint64_t stop = ends_of(node)[i];
      if (begin <= start && stop <= end) {
        sum += static_cast<std::uint64_t>(get(sums_of(node)[i]));
      } else if (begin < stop) {
        sum +=
            total(child(node, i), std::max(begin, start) - start, std::min(end, stop) - start, get);
      }
      start = stop;
    }
    return sum;
  }
  template <class Get>
  static std::uint64_t seek_items(const Item* items, std::uint64_t n, Get& get,
                                  std::uint64_t target, std::uint64_t before) {
    std::uint64_t i = 0;
    for (; i < n; ++i) {
      before += measure(get, items[i]);
      if (before > target) break;
    }
    return i;
  }

  template <class May, class Visit>
  static bool visit_node(const Node* node, std::uint64_t base, std::uint64_t begin,
                         std::uint64_t end, May& may, Visit& visit) {
    if (node->height == 0) {
      for (std::uint64_t i = begin; i < end; ++i) {
        if (!visit(base + i, items(node)[i])) return false;
      }
      return true;
    }
    for (unsigned i = child_at(node, begin); i < size_of(node) && start_of(node, i) < end; ++i) {
      if (!may(sums_of(node)[i])) continue;
      const std::uint64_t start = start_of(node, i), stop = ends_of(node)[i];
      if (!visit_node(child(node, i), base + start, std::max(begin, start) - start,
                      std::min(end, stop) - start, may, visit)) {
        return false;
      }
    }
    return true;
  }
  template <class May, class Visit>
  static bool visit_node_back(const Node* node, std::uint64_t base, std::uint64_t begin,
                              std::uint64_t end, May& may, Visit& visit) {
    if (node->height == 0) {
      for (std::uint64_t i = end; i > begin;) {
        --i;
        if (!visit(base + i, items(node)[i])) return false;
      }
      return true;
    }
    for (unsigned i = child_at(node, end - 1) + 1; i-- > 0 && ends_of(node)[i] > begin;) {
      if (!may(sums_of(node)[i])) continue;
      const std::uint64_t start = start_of(node, i), stop = ends_of(node)[i];
      if (!visit_node_back(child(node, i), base + start, std::max(begin, start) - start,
                           std::min(end, stop) - start, may, visit)) {
        return false;
      }
    }
    return true;
  }

  template <class May, class Whole, class Take, class Visit>
  static void gather_node(const Node* node, std::uint64_t begin, std::uint64_t end, May& may,
                          Whole& whole, Take& take, Visit& visit) {
    if (node->height == 0) {
      for (std::uint64_t i = begin; i < end; ++i) visit(items(node)[i]);
      return;
    }
    for (unsigned i = child_at(node, begin); i < size_of(node) && start_of(node, i) < end; ++i) {
      const Sums& sums = sums_of(node)[i];
      const std::uint64_t start = start_of(node, i), stop = ends_of(node)[i];
      if (!may(sums)) continue;
      if (begin <= start && stop <= end && whole(sums)) {
        take(sums);
      } else {
        gather_node(child(node, i), std::max(begin, start) - start, std::min(end, stop) - start,
                    may, whole, take, visit);
      }
    }
  }

  struct Place {
    const Node* node;
    std::uint64_t begin, end;  // of the items of this Tree that it holds
  };

  // The nodes around `index` < size(), from the root down.
  void path(std::uint64_t index, std::vector<Place>& out) const {
    out.clear();
    out.reserve(8);  // as high as most trees are
    const std::uint64_t linked = root_count();
    if (index >= linked) {
      out.push_back({tail(), linked, size()});
      return;
    }
    const Node* node = root();
    std::uint64_t begin = 0;
    for (;;) {
      out.push_back({node, begin, begin + count_of(node)});
      if (node->height == 0) return;
      const unsigned i = child_at(node, index - begin);
      begin += start_of(node, i);
      node = child(node, i);
    }
  }

  // How many items follow, these included, in the largest node that both paths have with these
  // items at one place; 0 when there is none.
  static std::uint64_t shared_from(const std::vector<Place>& mine, const std::vector<Place>& theirs,
                                   std::uint64_t mine_at, std::uint64_t theirs_at) {
    for (const Place& a : mine) {
      for (const Place& b : theirs) {
        if (a.node == b.node && mine_at - a.begin == theirs_at - b.begin)
          return std::min(a.end - mine_at, b.end - theirs_at);
      }
    }
    return 0;
  }

  // The size of the largest node that both paths have with this edge at `mine_at` and `theirs_at`;
  // 0 when there is none.
  static std::uint64_t shared_count(const std::vector<Place>& mine,
                                    const std::vector<Place>& theirs, std::uint64_t mine_at,
                                    std::uint64_t theirs_at, std::uint64_t Place::* edge) {
    for (const Place& a : mine) {
      if (a.*edge != mine_at) continue;
      for (const Place& b : theirs) {
        if (a.node == b.node && b.*edge == theirs_at && a.end - a.begin == b.end - b.begin)
          return a.end - a.begin;
      }
    }
    return 0;
  }

  static const char* check_node(const Node* node, bool is_root) {
    if (!is_root && !half_full(node)) return "a node is less than half full";
    if (size_of(node) == 0) return "a node is empty";
    if (node->height == 0) return size_of(node) <= LeafMax ? nullptr : "a leaf is too large";
    if (size_of(node) > InnerMax) return "an inner node is too large";
    for (unsigned i = 0; i < size_of(node); ++i) {
      const Node* kid = child(node, i);
      if (kid->height + 1 != node->height) return "leaves are at different depths";
      if (count_of(kid) != ends_of(node)[i] - start_of(node, i))
        return "the ends are not the counts of the children";
      if (!(node_sums(kid) == sums_of(node)[i]))
        return "the sums are not the totals of the children";
      if (const char* problem = check_node(kid, false)) return problem;
    }
    return nullptr;
  }

  Ref root_;
  Ref tail_;
  std::uint32_t tail_size_ = 0;
};

}  // namespace undertext
