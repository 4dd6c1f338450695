#include "sessions/search.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <utility>

#include "base/json_text.hpp"
#include "sessions/opencode.hpp"
#include "system/files.hpp"

namespace undertext {
namespace {

constexpr std::size_t piece_bytes = 4u << 20;
constexpr std::size_t line_bytes_max = 64u << 20;
constexpr std::size_t excerpt_bytes = 160;

char lowered(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; }

void lower(std::string_view from, std::string& to) {
  to.resize(from.size());
  std::transform(from.begin(), from.end(), to.begin(), lowered);
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) > 0x20) {
      word += lowered(c);
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

// Whether the word is spelled in JSON as it is said: no escape can stand for a part of it.
bool is_plain(std::string_view word) {
  return std::all_of(word.begin(), word.end(), [](char c) {
    return c > 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '/';
  });
}

// All strings that are values, one after the other. No word has the character between them.
constexpr char between_strings = '\0';
void add_strings(JsonValue value, std::string& out) {
  if (value.is(JsonType::string)) {
    out += value.string();
    out += between_strings;
  } else if (value.is(JsonType::array)) {
    for (const JsonValue each : value.elements()) add_strings(each, out);
  } else if (value.is(JsonType::object)) {
    for (const JsonMember member : value.members()) add_strings(member.value, out);
  }
}

class Scan {
 public:
  explicit Scan(const std::vector<std::string>& words) : words_(words) {
    for (const std::string& word : words)
      if (is_plain(word)) plain_.push_back(word);
  }

  void read(SessionHit& hit) {
    if (hit.session->file.format == TranscriptFormat::opencode) {
      if (const std::optional<std::string> lines =
              opencode_lines(hit.session->file, OpencodeParts::all))
        look(*lines, hit);
      return;
    }
    const OpenFile file = open_file(hit.session->file.path, OpenFor::reading_itself);
    if (!file) return;
    std::string bytes;
    for (std::size_t held = 0;;) {
      bytes.resize(held + piece_bytes);
      const std::int64_t got = read_some(file.descriptor(), bytes.data() + held, piece_bytes);
      if (got <= 0) return;
      const std::string_view now(bytes.data(), held + static_cast<std::size_t>(got));
      const std::size_t end = now.rfind('\n');
      if (end == std::string_view::npos) {
        held = now.size() > line_bytes_max ? 0 : now.size();
        continue;
      }
      look(now.substr(0, end), hit);
      held = now.size() - end - 1;
      std::copy(bytes.begin() + static_cast<std::ptrdiff_t>(end) + 1,
                bytes.begin() + static_cast<std::ptrdiff_t>(now.size()), bytes.begin());
    }
  }

 private:
  // Whole lines.
  void look(std::string_view lines, SessionHit& hit) {
    lower(lines, lowered_);
    if (std::any_of(plain_.begin(), plain_.end(), [&](const std::string& word) {
          return lowered_.find(word) == std::string::npos;
        }))
      return;
    // From one occurrence of the first word to the next; without a plain word, line by line.
    const std::string_view low = lowered_;
    for (std::size_t at = 0; at < low.size();) {
      if (!plain_.empty()) at = low.find(plain_.front(), at);
      if (at == std::string_view::npos) return;
      const std::size_t line_break = low.rfind('\n', at);
      const std::size_t first = line_break == std::string_view::npos ? 0
                                : at == line_break                   ? at + 1
                                                                     : line_break + 1;
      const std::size_t end = std::min(low.find('\n', std::max(at, first)), low.size());
      const std::string_view low_line = low.substr(first, end - first);
      if (std::all_of(plain_.begin(), plain_.end(), [&](const std::string& word) {
            return low_line.find(word) != std::string_view::npos;
          }))
        look_into(lines.substr(first, end - first), hit);
      at = end + 1;
    }
  }

  void look_into(std::string_view line, SessionHit& hit) {
    if (json_.read(line, {.depth = 512})) {
      json_ = JsonText();
      return;
    }
    text_.clear();
    add_strings(json_.root(), text_);
    std::string low;
    lower(text_, low);
    for (const std::string& word : words_)
      if (low.find(word) == std::string::npos) return;
    ++hit.lines;
    hit.excerpt = around(low.find(words_.front()));
  }

  std::string around(std::size_t at) const {
    const std::size_t before = text_.rfind(between_strings, at);
    const std::size_t string_begin = before == std::string::npos ? 0 : before + 1;
    std::size_t first = std::max(at - std::min(at, excerpt_bytes / 2), string_begin);
    std::size_t end = std::min(text_.find(between_strings, at), first + excerpt_bytes);
    const auto is_inside = [&](std::size_t i) {
      return i < text_.size() && (static_cast<unsigned char>(text_[i]) & 0xC0) == 0x80;
    };
    while (is_inside(first)) ++first;
    while (is_inside(end)) --end;
    std::string excerpt = text_.substr(first, end - first);
    std::replace_if(
        excerpt.begin(), excerpt.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; }, ' ');
    return excerpt;
  }

  const std::vector<std::string>& words_;
  std::vector<std::string> plain_;
  std::string lowered_, text_;
  JsonText json_;
};

}  // namespace

std::vector<SessionHit> search_sessions(const std::vector<IndexedSession>& sessions,
                                        std::string_view text, std::size_t limit) {
  const std::vector<std::string> words = words_of(text);
  if (words.empty()) return {};
  std::vector<SessionHit> hits;
  hits.reserve(sessions.size());
  for (const IndexedSession& session : sessions) hits.push_back({&session});
  std::sort(hits.begin(), hits.end(), [](const SessionHit& a, const SessionHit& b) {
    return a.session->info.last_at_ms > b.session->info.last_at_ms;
  });
  // They are taken in their order, so once there are enough of them no older one is needed.
  std::atomic<std::size_t> next{0}, found{0};
  const auto work = [&] {
    Scan scan(words);
    for (std::size_t i; found < limit && (i = next.fetch_add(1)) < hits.size();) {
      scan.read(hits[i]);
      if (hits[i].lines > 0) ++found;
    }
  };
  {
    const unsigned threads = std::clamp(std::thread::hardware_concurrency(), 1u, 8u);
    std::vector<std::jthread> helpers;
    for (unsigned i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
  }
  std::erase_if(hits, [](const SessionHit& hit) { return hit.lines == 0; });
  if (hits.size() > limit) hits.resize(limit);
  return hits;
}

}  // namespace undertext
