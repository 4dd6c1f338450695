#include "sequence/page.hpp"

namespace undertext {
namespace {

// FNV-1a, begun with the number of the page, so that a page in the place of another is noticed too.
std::uint32_t checksum(std::uint64_t page, std::string_view bytes) {
  std::uint64_t h = 14695981039346656037ull ^ page;
  for (const char c : bytes) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return static_cast<std::uint32_t>(h ^ (h >> 32));
}

constexpr std::size_t checksum_bytes = 4;

void append_checksum(std::uint64_t page, std::string& bytes) {
  const std::uint32_t sum = checksum(page, bytes);
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>((sum >> shift) & 0xff);
}

std::string page_name(std::uint64_t page) {
  return page == 0 ? std::string("the checkpoint") : "page " + std::to_string(page);
}

}  // namespace

void throw_corrupt_page(std::uint64_t page, std::string_view problem) {
  ByteIn({}, page_name(page)).fail(problem);
}

std::string PageSpace::read(std::uint64_t page) {
  std::string bytes = read_page(page);
  if (bytes.size() < checksum_bytes) throw_corrupt_page(page, "it is too short");
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i < checksum_bytes; ++i) {
    sum |= static_cast<std::uint32_t>(
               static_cast<unsigned char>(bytes[bytes.size() - checksum_bytes + i]))
           << (8 * i);
  }
  bytes.resize(bytes.size() - checksum_bytes);
  if (sum != checksum(page, bytes)) throw_corrupt_page(page, "its checksum is wrong");
  return bytes;
}

StubNode* PageSpace::stub(std::uint64_t page, std::uint16_t height, const void* kind) {
  const std::lock_guard lock(lock_);
  StubNode*& known = stubs_[page];
  if (known && known->height == height && known->kind == kind) {
    // One whose last reference has just gone is on its way to forget(), and is not for use.
    std::uint32_t refs = known->refs.load(std::memory_order_relaxed);
    while (refs != 0) {
      if (known->refs.compare_exchange_weak(refs, refs + 1, std::memory_order_acq_rel))
        return known;
    }
  }
  known = new StubNode(shared_from_this(), page, height, kind);
  return known;
}

void PageSpace::forget(StubNode* stub) {
  const std::lock_guard lock(lock_);
  const auto found = stubs_.find(stub->page);
  if (found != stubs_.end() && found->second == stub) stubs_.erase(found);
}

std::uint64_t PageWriter::page_of(const TreeNode* node, std::uint32_t size) const {
  if (const auto found = fresh_.find(node); found != fresh_.end() && found->second.second >= size)
    return found->second.first;
  if (!trust_nodes_) return 0;
  const SavedAs saved = SavedAs::of(node->saved.load(std::memory_order_acquire));
  return saved.page != 0 && saved.space == space_ && saved.size >= size ? saved.page : 0;
}

std::uint64_t PageWriter::add(const TreeNode* node, std::uint32_t size, std::string bytes) {
  const std::uint64_t page = next_page_;
  append_checksum(page, bytes);
  pages_.push_back({page, std::move(bytes)});
  ++next_page_;
  fresh_[node] = {page, size};
  return page;
}

void PageWriter::committed() {
  for (const auto& [node, as] : fresh_) {
    const SavedAs saved{space_, static_cast<std::uint8_t>(as.second), as.first};
    const_cast<TreeNode*>(node)->saved.store(saved.word(), std::memory_order_release);
  }
  fresh_.clear();
}

PageIn::PageIn(std::string_view bytes, std::shared_ptr<PageSpace> from, std::uint64_t number)
    : ByteIn(bytes, page_name(number)), space(std::move(from)), page(number) {}

}  // namespace undertext
