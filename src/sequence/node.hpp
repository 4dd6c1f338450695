// The nodes of a Tree: how they lie in memory, who owns them, and their sums. What a Tree does with
// them stands in tree.hpp.
//
//     leaf    | Node | item 0 … item n-1 |                                   a tail has room for more than it holds
//     inner   | Node | child 0 … n-1 | sums 0 … n-1 | end 0 … n-1 |          end i: the number of items in the children 0 … i
//
// A child, a root or a tail may be a stub, which stands for a node on a page (page.hpp): here()
// gives the node itself. A node is as large as what it holds. It is counted by reference, and never
// changed once a second owner can see it, except for free slots of a tail, each of which is written
// once, by whoever claimed it.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "sequence/page.hpp"

namespace undertext {

template <class Item, class Sums>
class TreeNodes {
  static_assert(std::is_nothrow_copy_constructible_v<Item>);
  static_assert(std::is_trivially_copyable_v<Sums>);

 public:
  // For tests and benchmarks: how many nodes this thread has made so far, and their bytes.
  static std::uint64_t nodes_made() { return nodes_made_; }
  static std::uint64_t node_bytes_made() { return node_bytes_made_; }

 protected:
  using Node = TreeNode;

  class Ref {
   public:
    Ref() = default;
    explicit Ref(Node* owned) noexcept : node_(owned) {}
    Ref(const Ref& other) noexcept : node_(other.node_) { retain(node_); }
    Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
    Ref& operator=(Ref other) noexcept {
      std::swap(node_, other.node_);
      return *this;
    }
    ~Ref() { release(node_); }
    static Ref share(Node* node) noexcept {
      retain(node);
      return Ref(node);
    }
    Node* get() const { return node_; }
    Node* operator->() const { return node_; }
    explicit operator bool() const { return node_ != nullptr; }
    Node* give() noexcept { return std::exchange(node_, nullptr); }

   private:
    Node* node_ = nullptr;
  };

  // A child on its way into a node.
  struct Slot {
    Ref node;
    Sums sums;
    std::uint64_t count;
  };
  using Slots = std::vector<Slot>;

  static constexpr std::size_t align_up(std::size_t n, std::size_t to) {
    return (n + to - 1) / to * to;
  }
  static constexpr std::size_t items_offset = align_up(sizeof(Node), alignof(Item));
  static constexpr std::size_t children_offset = align_up(sizeof(Node), alignof(Node*));
  static constexpr std::size_t sums_offset(std::size_t n) {
    return align_up(children_offset + n * sizeof(Node*), alignof(Sums));
  }
  static constexpr std::size_t ends_offset(std::size_t n) {
    return align_up(sums_offset(n) + n * sizeof(Sums), alignof(std::uint32_t));
  }

  template <class T, class N>
  static auto at_offset(N* node, std::size_t offset) {
    using Byte = std::conditional_t<std::is_const_v<N>, const std::byte, std::byte>;
    using To = std::conditional_t<std::is_const_v<N>, const T, T>;
    return reinterpret_cast<To*>(reinterpret_cast<Byte*>(node) + offset);
  }
  template <class N>
  static auto items(N* node) {
    return at_offset<Item>(node, items_offset);
  }
  template <class N>
  static auto children(N* node) {
    return at_offset<Node*>(node, children_offset);
  }
  template <class N>
  static auto sums_of(N* node) {
    return at_offset<Sums>(node, sums_offset(node->capacity));
  }
  template <class N>
  static auto ends_of(N* node) {  // ends_of(n)[i]: the number of items in the children 0 … i
    return at_offset<std::uint32_t>(node, ends_offset(node->capacity));
  }

  static unsigned size_of(const Node* node) { return node->used.load(std::memory_order_relaxed); }
  static unsigned capacity_of(const Node* node) { return node->capacity; }
  static std::uint64_t count_of(const Node* node) {
    return node->height == 0 ? size_of(node) : ends_of(node)[size_of(node) - 1];
  }
  static std::uint64_t start_of(const Node* node, unsigned i) {
    return i == 0 ? 0 : ends_of(node)[i - 1];
  }
  static unsigned child_at(const Node* node, std::uint64_t index) {
    const std::uint32_t* ends = ends_of(node);
    const unsigned last = size_of(node) - 1;
    unsigned i = 0;
    while (i < last && ends[i] <= index) ++i;
    return i;
  }

  // The node, read from its page if it must be. Throws Failure.
  static Node* here(Node* node) {
    return node && node->is_stub ? loaded(static_cast<StubNode*>(node)) : node;
  }
  static Node* child(const Node* node, unsigned i) {
    Node* const kid = children(node)[i];
    if (!kid->is_stub) return kid;
    Node* const there = here(kid);
    if (count_of(there) != ends_of(node)[i] - start_of(node, i)) {
      throw_corrupt_page(static_cast<StubNode*>(kid)->page,
                         "it holds another number of items than it should");
    }
    return there;
  }
  static const void* kind() {
    static const char address = 0;
    return &address;
  }

  static void retain(Node* node) noexcept {
    if (node) node->refs.fetch_add(1, std::memory_order_relaxed);
  }
  static void release(Node* node) noexcept {
    if (!node || node->refs.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    if (node->is_stub) {
      StubNode* const stub = static_cast<StubNode*>(node);
      stub->space->forget(stub);
      release(stub->loaded.load(std::memory_order_acquire));
      delete stub;
      return;
    }
    const unsigned n = size_of(node);
    if (node->height == 0) {
      std::destroy_n(items(node), n);
    } else {
      for (unsigned i = 0; i < n; ++i) release(children(node)[i]);
    }
    node->~Node();
    ::operator delete(node);
  }

  static Ref new_node(std::size_t bytes, unsigned capacity, unsigned height) {
    Node* node = new (::operator new(bytes)) Node;
    node->capacity = capacity;
    node->height = static_cast<std::uint16_t>(height);
    ++nodes_made_;
    node_bytes_made_ += bytes;
    return Ref(node);
  }
  static Ref new_leaf(unsigned capacity) {
    return new_node(items_offset + capacity * sizeof(Item), capacity, 0);
  }
  static Ref new_inner(unsigned n, unsigned height) {
    return new_node(ends_offset(n) + n * sizeof(std::uint32_t), n, height);
  }
  static Ref copy_leaf(const Item* from, unsigned n, unsigned capacity) {
    Ref leaf = new_leaf(capacity);
    std::uninitialized_copy_n(from, n, items(leaf.get()));
    leaf->used.store(n, std::memory_order_relaxed);
    return leaf;
  }

  static Sums node_sums(const Node* node) {
    Sums total;
    const unsigned n = size_of(node);
    if (node->height == 0) {
      add_items(total, items(node), 0, n);
    } else {
      for (unsigned i = 0; i < n; ++i) total += sums_of(node)[i];
    }
    return total;
  }
  static void add_items(Sums& total, const Item* items, std::uint64_t begin, std::uint64_t end) {
    for (std::uint64_t i = begin; i < end; ++i) {
      if constexpr (requires { total.add(items[i]); }) {
        total.add(items[i]);
      } else {
        total += Sums::of(items[i]);
      }
    }
  }
  template <class Get>
  static std::uint64_t measure(Get& get, const Item& item) {
    if constexpr (std::is_invocable_v<Get&, const Item&>) {
      return static_cast<std::uint64_t>(get(item));
    } else {
      return static_cast<std::uint64_t>(get(Sums::of(item)));
    }
  }
  static Slot slot_of(Ref node) {
    Slot slot{std::move(node), {}, 0};
    slot.sums = node_sums(slot.node.get());
    slot.count = count_of(slot.node.get());
    return slot;
  }
  static Slot child_slot(const Node* node, unsigned i) {
    return {Ref::share(children(node)[i]), sums_of(node)[i], ends_of(node)[i] - start_of(node, i)};
  }
  static void add_child_slots(const Node* node, unsigned begin, unsigned end, Slots& out) {
    for (unsigned i = begin; i < end; ++i) out.push_back(child_slot(node, i));
  }

  // Saving and loading
  // ---------------------------------------------------------------------------------------------------
  //     page   | height | n | items                                    a leaf
  //            | height | n | (page of child, its count, its sums) … |  an inner node

  static constexpr bool can_be_saved =
      requires { sizeof(ItemCodec<Item>) + sizeof(SumsCodec<Sums>); };

  // The page of a node, or of the first `n` items of a tail: known, or written now.
  static std::uint64_t save_node(Node* node, unsigned n, PageWriter& writer) {
    if (node->is_stub) {
      if (writer.trusts_nodes()) return static_cast<StubNode*>(node)->page;
      node = here(node);
      if (n == 0) n = size_of(node);
    }
    if (const std::uint64_t known = writer.page_of(node, n)) return known;
    PageOut out(writer);
    out.number(node->height);
    out.number(n);
    if (node->height == 0) {
      ItemCodec<Item>::write(out, items(node), n);
    } else {
      std::uint64_t pages[256];
      // From the last: later nodes hold longer tails, and what holds more serves for what holds
      // less.
      for (unsigned i = n; i-- > 0;) {
        Node* const kid = children(node)[i];
        pages[i] = save_node(kid, kid->is_stub ? 0 : size_of(kid), writer);
      }
      for (unsigned i = 0; i < n; ++i) {
        out.number(pages[i]);
        out.number(ends_of(node)[i] - start_of(node, i));
        SumsCodec<Sums>::write(out, sums_of(node)[i]);
      }
    }
    return writer.add(node, n, std::move(out.bytes));
  }

 private:
  static Node* loaded(StubNode* stub) {
    if (Node* known = stub->loaded.load(std::memory_order_acquire)) return known;
    Ref fresh = load_node(*stub);
    Node* expected = nullptr;
    if (stub->loaded.compare_exchange_strong(expected, fresh.get(), std::memory_order_acq_rel))
      return fresh.give();
    return expected;  // somebody else was first
  }

  static Ref load_node(const StubNode& stub) {
    if constexpr (can_be_saved) {
      const std::string bytes = stub.space->read(stub.page);
      PageIn in(bytes, stub.space, stub.page);
      if (in.number() != stub.height) in.fail("it is of another height");
      const std::uint64_t n = in.number();
      if (n == 0 || n > 255) in.fail("it holds nothing, or too much");
      Ref node = stub.height == 0 ? load_leaf(in, static_cast<unsigned>(n))
                                  : load_inner(in, static_cast<unsigned>(n), stub.height);
      in.end();
      node->saved.store(SavedAs{stub.space->id(), static_cast<std::uint8_t>(n), stub.page}.word(),
                        std::memory_order_relaxed);
      return node;
    } else {
      throw_corrupt_page(stub.page, "it belongs to a kind of tree that is never saved");
    }
  }
  static Ref load_leaf(PageIn& in, unsigned n) {
    const std::vector<Item> read = ItemCodec<Item>::read(in, n);
    in.space->count_loaded(items_offset + n * sizeof(Item));
    return copy_leaf(read.data(), n, n);
  }
  static Ref load_inner(PageIn& in, unsigned n, unsigned height) {
    Ref inner = new_inner(n, height);
    in.space->count_loaded(ends_offset(n) + n * (sizeof(std::uint32_t) + 2 * sizeof(StubNode)));
    std::uint64_t end = 0;
    for (unsigned i = 0; i < n; ++i) {
      const std::uint64_t page = in.number();
      const std::uint64_t count = in.number();
      end += count;
      if (page == 0 || page == in.page || count == 0 ||
          end > std::numeric_limits<std::uint32_t>::max())
        in.fail("a child cannot be so");
      new (sums_of(inner.get()) + i) Sums(SumsCodec<Sums>::read(in));
      ends_of(inner.get())[i] = static_cast<std::uint32_t>(end);
      children(inner.get())[i] =
          in.space->stub(page, static_cast<std::uint16_t>(height - 1), kind());
      // so that what is there is released when the next cannot be read
      inner->used.store(i + 1, std::memory_order_relaxed);
    }
    return inner;
  }

  inline static thread_local std::uint64_t nodes_made_ = 0;
  inline static thread_local std::uint64_t node_bytes_made_ = 0;
};

}  // namespace undertext
