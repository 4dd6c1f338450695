// Nodes on pages: how a tree lies in a store, piece by piece, and comes back only where it is
// looked at.
//
//     node in memory  --save-->  page 17: | kind | items, or the pages of its children with their sums | checksum |
//     node in memory  <--load--  a stub, which knows its page and reads it when somebody looks
//
// A node that was saved once is not saved again: it remembers its page. So saving costs what is
// new, and trees that share nodes share pages.
// Pages are never changed; a page means what it means wherever its number is named.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <undertext/error.hpp>

#include "base/bytes.hpp"

namespace undertext {

class PageSpace;

// What every node of every tree begins with.
struct TreeNode {
  std::atomic<std::uint32_t> refs{1};
  std::atomic<std::uint32_t> used{0};  // children, or items; of a tail, the slots claimed so far
  std::uint32_t capacity = 0;
  std::uint16_t height = 0;  // 0: a leaf
  bool is_stub = false;
  std::atomic<std::uint64_t> saved{0};  // a SavedAs; 0: not saved
};

// Stands for a node that is on a page.
struct StubNode : TreeNode {
  StubNode(std::shared_ptr<PageSpace> from, std::uint64_t number, std::uint16_t at_height,
           const void* of_kind)
      : space(std::move(from)), page(number), kind(of_kind) {
    height = at_height;
    is_stub = true;
  }
  const std::shared_ptr<PageSpace> space;
  const std::uint64_t page;
  const void* const kind;  // of tree: a page that two kinds name is not one node
  std::atomic<TreeNode*> loaded{nullptr};
};

// Which page a node is on, in one word: whose pages they are, how many of the node's items the page
// has (a tail grows after it was saved), the number.
struct SavedAs {
  std::uint16_t space = 0;
  std::uint8_t size = 0;
  std::uint64_t page = 0;

  static constexpr std::uint64_t page_max = (std::uint64_t{1} << 40) - 1;
  static SavedAs of(std::uint64_t word) {
    return {static_cast<std::uint16_t>(word >> 48), static_cast<std::uint8_t>(word >> 40),
            word & page_max};
  }
  std::uint64_t word() const {
    return (static_cast<std::uint64_t>(space) << 48) | (static_cast<std::uint64_t>(size) << 40) |
           page;
  }
};

[[noreturn]] void throw_corrupt_page(std::uint64_t page, std::string_view problem);

// Where pages are read from. Histories that were loaded from it hold on to it, and read from it on
// any thread at any time.
// What goes wrong is thrown as Failure: unavailable, or corrupt.
class PageSpace : public std::enable_shared_from_this<PageSpace> {
 public:
  explicit PageSpace(std::uint16_t id) : id_(id) {}
  virtual ~PageSpace() = default;
  PageSpace(const PageSpace&) = delete;
  PageSpace& operator=(const PageSpace&) = delete;

  // The bytes of a page, with the checksum taken off.
  std::string read(std::uint64_t page);

  std::uint16_t id() const { return id_; }  // of the conversation, the same for all its spaces
  std::uint64_t bytes_loaded() const { return bytes_loaded_.load(std::memory_order_relaxed); }
  void count_loaded(std::uint64_t bytes) {
    bytes_loaded_.fetch_add(bytes, std::memory_order_relaxed);
  }

  // The one stub for a page, so that trees that share pages share nodes. The caller owns one
  // reference.
  StubNode* stub(std::uint64_t page, std::uint16_t height, const void* kind);
  void forget(StubNode* stub);  // when its last reference has gone

 protected:
  virtual std::string read_page(std::uint64_t page) = 0;

 private:
  const std::uint16_t id_;
  std::atomic<std::uint64_t> bytes_loaded_{0};
  std::mutex lock_;
  std::unordered_map<std::uint64_t, StubNode*> stubs_;  // guarded by lock_
};

struct NewPage {
  std::uint64_t number = 0;
  std::string bytes;
};

// Collects the pages of one save. Nodes learn where they are by committed(), once the pages are
// stored; until then nothing has happened.
class PageWriter {
 public:
  PageWriter(std::uint16_t space, std::uint64_t next_page) : space_(space), next_page_(next_page) {}

  // The page that has at least `size` items of the node; 0: none.
  std::uint64_t page_of(const TreeNode* node, std::uint32_t size) const;
  std::uint64_t add(const TreeNode* node, std::uint32_t size, std::string bytes);

  std::uint64_t next_page() const { return next_page_; }
  std::vector<NewPage> take_pages() { return std::move(pages_); }
  void committed();  // the nodes must still be there

  // As if nothing had ever been saved: everything that is reached is written anew.
  void forget_saved() { trust_nodes_ = false; }
  bool trusts_nodes() const { return trust_nodes_; }

 private:
  const std::uint16_t space_;
  std::uint64_t next_page_;
  bool trust_nodes_ = true;
  std::vector<NewPage> pages_;
  // page and size
  std::unordered_map<const TreeNode*, std::pair<std::uint64_t, std::uint32_t>> fresh_;
};

class PageOut : public ByteOut {
 public:
  explicit PageOut(PageWriter& to) : writer(to) {}
  PageWriter& writer;
};

class PageIn : public ByteIn {
 public:
  PageIn(std::string_view bytes, std::shared_ptr<PageSpace> from, std::uint64_t number);
  const std::shared_ptr<PageSpace> space;
  const std::uint64_t page;  // 0: the root of a checkpoint
};

// How items and sums of one kind are written: specialised by whoever wants its trees saved.
//     static void write(PageOut&, const Item*, unsigned n);
//     static std::vector<Item> read(PageIn&, unsigned n);
template <class Item>
struct ItemCodec;
//     static void write(PageOut&, const Sums&);
//     static Sums read(PageIn&);
template <class Sums>
struct SumsCodec;

}  // namespace undertext
