#include "compression/fact_search.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "compression/digest_text.hpp"

namespace undertext {
namespace {

constexpr std::string_view cut_mark = "…";
constexpr std::string_view asked_mark = "\" (asked: ";

// Which ends of a fact have to be ends in the text.
enum class Ends : std::uint8_t {
  both,        // of a name
  begin_only,  // the fact was cut
  of_line,     // both, of a line
};

struct Needle {
  std::string text;
  std::size_t fact;  // its index
  Ends ends;
};

// What of other scripts belongs to words: not punctuation, symbols and emoji, nor what is written
// without spaces.
bool is_word_character(char32_t c) {
  if (c < 0x80) return digest::is_word(static_cast<char>(c));
  constexpr char32_t letters_from = 0xC0, marks_from = 0x2000, marks_to = 0x2C00,
                     emoji_from = 0x1F000, emoji_to = 0x20000;
  const bool is_mark = c < letters_from || c == U'×' || c == U'÷' ||
                       (c >= marks_from && c < marks_to) || (c >= emoji_from && c < emoji_to);
  return !is_mark && !digest::is_cjk(c) && !digest::is_cjk_punctuation(c);
}

// At `at`; none is no part of a word.
bool is_word_at(std::string_view text, std::size_t at) {
  return at < text.size() && is_word_character(digest::character_at(text, at).code_point);
}

bool is_word_before(std::string_view text, std::size_t at) {
  constexpr char tail = static_cast<char>(0x80), tail_bits = static_cast<char>(0xC0);
  if (at == 0) return false;
  do --at;
  while (at > 0 && (text[at] & tail_bits) == tail);
  return is_word_at(text, at);
}

// Whether no name of which `text[begin, …)` is the rest begins before it.
bool begins_name(std::string_view text, std::size_t begin) {
  constexpr std::string_view begins_of_names = "./-~@";
  const bool is_name =
      is_word_at(text, begin) || begins_of_names.find(text[begin]) != begins_of_names.npos;
  if (!is_name || begin == 0) return true;
  const char before = text[begin - 1];
  if (before == '.') return false;  // ".env" is not "env"
  if (before == '-') return !is_word_before(text, begin - 1);
  return !is_word_before(text, begin);
}

// Whether no name of which `text[…, end)` is the beginning goes on behind it.
bool ends_name(std::string_view text, std::size_t end) {
  if (!is_word_before(text, end) || end == text.size()) return true;
  const char next = text[end];
  if (next == '~') return false;  // "HEAD~1" is not "HEAD"
  if (next == '.' || next == '-') return !is_word_at(text, end + 1);
  return !is_word_at(text, end);
}

// Aho and Corasick's automaton of some needles, which are sorted by text. The children of a node
// are neighbours, so a node has no table: paths are long, and share little but their beginnings.
class FactAutomaton {
 public:
  explicit FactAutomaton(std::span<const Needle> needles, const Work* work)
      : needles_(needles), work_(work) {
    build();
  }

  void find(std::string_view text, std::vector<bool>& said) {
    constexpr std::size_t bytes_between_questions = 1u << 16;
    Index at = root;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (i % bytes_between_questions == 0) go_on();
      at = next(at, text[i]);
      for (Index end = first_open(at); end != root; end = first_open(nodes_[end].shorter))
        match(nodes_[end], text, i + 1, said);
    }
  }

 private:
  using Index = std::uint32_t;
  static constexpr Index root = 0;

  struct Node {
    Index longest_suffix = root;
    Index shorter = root;  // the longest proper suffix that is a needle, or a shorter one of these
    Index children = 0;    // the first of them
    Index needles = 0;     // the first of them
    std::uint16_t child_count = 0;
    char byte = 0;
    bool is_open = false;  // needles end here that have not been found
    std::uint32_t depth = 0;
  };

  // Breadth first: the suffixes of a node are complete before it.
  void build() {
    constexpr std::size_t nodes_between_questions = 1u << 10;
    nodes_.resize(1);
    std::vector<std::pair<Index, Index>> of_node = {{0, static_cast<Index>(needles_.size())}};
    for (Index at = 0; at < nodes_.size(); ++at) {
      if (at % nodes_between_questions == 0) go_on();
      auto [from, to] = of_node[at];
      Node& node = nodes_[at];
      const std::size_t depth = node.depth;
      node.needles = from;
      while (from < to && needles_[from].text.size() == depth) ++from;
      node.is_open = from > node.needles;
      const Node& suffix = nodes_[node.longest_suffix];
      node.shorter = suffix.is_open ? node.longest_suffix : suffix.shorter;
      node.children = static_cast<Index>(nodes_.size());
      for (; from < to; from = of_node.back().second) {
        const char byte = needles_[from].text[depth];
        const auto same = [&](const Needle& needle) { return needle.text[depth] == byte; };
        const auto end = std::partition_point(needles_.begin() + from, needles_.begin() + to, same);
        of_node.emplace_back(from, static_cast<Index>(end - needles_.begin()));
        add_child(at, byte);
      }
      if (at == root) link_root();
    }
  }

  void add_child(Index at, char byte) {
    Node child;
    child.byte = byte;
    child.depth = nodes_[at].depth + 1;
    if (at != root) child.longest_suffix = next(nodes_[at].longest_suffix, byte);
    nodes_.push_back(child);
    ++nodes_[at].child_count;
  }

  void link_root() {
    for (Index i = 0; i < nodes_[root].child_count; ++i)
      from_root_[static_cast<std::uint8_t>(nodes_[nodes_[root].children + i].byte)] =
          nodes_[root].children + i;
  }

  Index next(Index at, char byte) const {
    for (; at != root; at = nodes_[at].longest_suffix)
      if (const Index child = child_of(nodes_[at], byte); child != root) return child;
    return from_root_[static_cast<std::uint8_t>(byte)];
  }

  Index child_of(const Node& node, char byte) const {
    const auto begin = nodes_.begin() + node.children, end = begin + node.child_count;
    const auto found = std::lower_bound(begin, end, byte, [](const Node& child, char wanted) {
      return static_cast<std::uint8_t>(child.byte) < static_cast<std::uint8_t>(wanted);
    });
    return found != end && found->byte == byte ? static_cast<Index>(found - nodes_.begin()) : root;
  }

  // What was found is not met again, however often the text says it.
  Index first_open(Index at) {
    Index open = at;
    while (open != root && !nodes_[open].is_open) open = nodes_[open].shorter;
    while (at != open) {
      const Index shorter = nodes_[at].shorter;
      if (!nodes_[at].is_open) nodes_[at].shorter = open;
      at = shorter;
    }
    return open;
  }

  void match(Node& node, std::string_view text, std::size_t end, std::vector<bool>& said) {
    const std::size_t begin = end - node.depth;
    bool is_open = false;
    for (Index i = node.needles; i < needles_.size() && needles_[i].text.size() == node.depth &&
                                 (i == node.needles || needles_[i].text == needles_[i - 1].text);
         ++i) {
      if (!said[needles_[i].fact]) said[needles_[i].fact] = fits(needles_[i], text, begin, end);
      is_open = is_open || !said[needles_[i].fact];
    }
    node.is_open = is_open;
  }

  static bool fits(const Needle& needle, std::string_view text, std::size_t begin,
                   std::size_t end) {
    if (needle.ends == Ends::of_line)
      return (begin == 0 || text[begin - 1] == '\n') && (end == text.size() || text[end] == '\n');
    return begins_name(text, begin) && (needle.ends == Ends::begin_only || ends_name(text, end));
  }

  void go_on() const {
    if (work_ != nullptr) work_->go_on();
  }

  const std::span<const Needle> needles_;
  const Work* const work_;
  std::vector<Node> nodes_;
  std::array<Index, 256> from_root_ = {};
};

}  // namespace

std::vector<bool> are_said(std::span<const std::string> facts, std::string_view flat_text,
                           const Work* work) {
  std::vector<bool> said(facts.size());
  std::vector<Needle> needles;
  for (std::size_t i = 0; i < facts.size(); ++i) {
    std::string flat = digest::one_line(facts[i]);
    const bool is_cut = flat.ends_with(cut_mark);
    if (is_cut) flat.resize(flat.size() - cut_mark.size());
    said[i] = flat.empty();
    // An answer with its question: each may stand in a message of its own.
    const std::size_t asked = flat.find(asked_mark);
    if (flat.starts_with('"') && asked != flat.npos && asked > 1)
      needles.push_back({flat.substr(1, asked - 1), i, Ends::of_line});
    if (!flat.empty())
      needles.push_back({std::move(flat), i, is_cut ? Ends::begin_only : Ends::both});
  }
  std::sort(needles.begin(), needles.end(),
            [](const Needle& a, const Needle& b) { return a.text < b.text; });

  constexpr std::size_t bytes_at_once = 2u << 20;  // whose automaton has some 50 MB at most
  for (std::size_t from = 0; from < needles.size();) {
    std::size_t to = from, bytes = 0;
    while (to < needles.size() && (to == from || bytes < bytes_at_once))
      bytes += needles[to++].text.size();
    FactAutomaton(std::span(needles).subspan(from, to - from), work).find(flat_text, said);
    from = to;
  }
  return said;
}

}  // namespace undertext
