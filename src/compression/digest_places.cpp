#include "compression/digest_places.hpp"

#include <algorithm>
#include <cstddef>

#include "base/utf8.hpp"
#include "compression/digest_text.hpp"
#include "compression/digest_words.hpp"

namespace undertext::digest {
namespace {

constexpr std::size_t path_bytes_max = 512;
constexpr std::size_t url_bytes_max = 2048;
// how far a quoted path may reach; also what one quote may cost
constexpr std::size_t quoted_bytes_max = 260;

bool is_separator(char c) { return c == '/' || c == '\\'; }

bool has_drive(std::string_view text) {
  return text.size() > 3 && is_letter(text[0]) && text[1] == ':' && is_separator(text[2]);
}

// Whether only a path begins like this.
bool has_root(std::string_view text) {
  return text.starts_with('/') || text.starts_with("~/") || text.starts_with("./") ||
         text.starts_with("../") || text.starts_with(".\\") || text.starts_with("..\\") ||
         text.starts_with("\\\\") || has_drive(text);
}

std::string_view last_name(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return slash == path.npos ? path : path.substr(slash + 1);
}

std::string_view extension(std::string_view name) {
  const std::size_t dot = name.rfind('.');
  return dot == name.npos || dot == 0 ? std::string_view() : name.substr(dot + 1);
}

// A name that can stand at the end of a path and makes it one.
bool is_file_name(std::string_view name) {
  if (is_in(name, not_files)) return false;
  return is_in(name, file_names) || is_in(extension(name), extensions) || name.starts_with(".env.");
}

// An ending nobody listed, such as .proto3: believable when the rest already looks like a path.
bool has_some_extension(std::string_view name) {
  const std::string_view end = extension(name);
  return !end.empty() && end.size() <= 6 &&
         std::all_of(end.begin(), end.end(), [](char c) { return is_lower(c) || is_digit(c); }) &&
         is_lower(end[0]);
}

// A name without a folder.
bool is_lone_file_name(std::string_view name) {
  if (is_in(name, file_names) || name.starts_with(".env.")) return true;
  if (name.starts_with('.') && name.ends_with("rc") && name.size() > 4) return true;
  const std::string_view end = extension(name);
  if (name.find('*') != name.npos) return false;
  if (end.empty() || !is_in(end, extensions) || is_in(name, not_files)) return false;
  const std::string_view stem = name.substr(0, name.size() - end.size() - 1);
  if (stem.size() < 2 && end.size() < 2) return false;  // i.e, p.m
  if (is_in(stem, objects) || stem == "import.meta") return false;
  const bool has_letter =
      std::any_of(stem.begin(), stem.end(), [](char c) { return is_letter(c) || !is_ascii(c); });
  if (!has_letter && end.size() < 3) return false;  // 1.5.h
  if (!is_in(end, extensions_of_members)) return true;
  return (end == "so" && stem.starts_with("lib")) || (end == "class" && is_upper(stem[0])) ||
         (end == "map" && stem.find('.') != stem.npos) || end == "lock";
}

bool is_absolute_path(std::string_view path) {
  if (path.starts_with("//")) return false;
  const std::size_t end = std::min(path.find('/', 1), path.size());
  if (is_in(path.substr(1, end - 1), roots)) return true;
  return is_file_name(last_name(path)) ||
         (end < path.size() && has_some_extension(last_name(path)));
}

bool is_relative_path(std::string_view path) {
  const auto separators = std::count_if(path.begin(), path.end(), is_separator);
  const std::size_t first_end = path.find_first_of("/\\");
  const std::string_view first = path.substr(0, first_end), name = last_name(path);
  const bool backslashes = path.find('\\') != path.npos;
  if (first.empty() && !backslashes) return false;
  if (is_file_name(name)) return name.front() != '.' || separators > 0;
  if (is_in(name, not_files)) return false;
  if (backslashes) return is_in(first, folders) && separators > 1;
  if (first.starts_with('.') && first.size() > 2 && is_letter(first[1])) return true;  // .venv/bin
  // a folder, such as src/ or ui/forms/
  if (name.empty()) {
    // not s/old/new/
    if (separators > 1) return first.size() > 1;
    return first.size() >= 3 &&
           (is_in(first, folders) || std::all_of(first.begin(), first.end(),
                                                 [](char c) { return is_word(c) || c == '-'; })) &&
           first != "and" && std::any_of(first.begin(), first.end(), is_lower);
  }
  const std::size_t second_end = std::min(path.find_first_of("/\\", first_end + 1), path.size());
  const std::string_view second = path.substr(first_end + 1, second_end - first_end - 1);
  if (separators == 1) return is_in(first, certain_folders) && !is_in(second, folders);
  return is_in(first, folders) || has_some_extension(name);
}

// Bytes that paths are made of, apart from the colon of a drive, brackets behind a slash, and
// characters beyond ASCII.
bool is_path_byte(char c) {
  return is_alnum(c) || c == '_' || c == '-' || c == '.' || is_separator(c) || c == '~' ||
         c == '@' || c == '+' || c == '$' || c == '*' || c == '%';
}

// A letter of a path beyond ASCII. Chinese is written without spaces, so there a name must begin
// behind a separator.
// What is printed has no sentences, so there it may begin anywhere behind a space.
bool is_path_character(Character character, std::string_view before) {
  const char32_t c = character.code_point;
  if (c == replacement_character || is_cjk_punctuation(c) || (c >= 0x2000 && c <= 0x2BFF))
    return false;
  if (!is_cjk(c)) return c >= 0xC0;
  if (before.empty()) return false;
  const char last = before.back();
  return is_separator(last) || last == '_' || last == '-' || !is_ascii(last);
}

class PlaceReader {
 public:
  PlaceReader(std::string_view line, Voice voice, Findings& findings)
      : line_(line),
        voice_(voice),
        findings_(findings),
        is_diff_(line.starts_with("diff --git ") || line.starts_with("--- ") ||
                 line.starts_with("+++ ")) {}

  void read() {
    while (at_ < line_.size()) {
      const char c = line_[at_];
      if ((c == '"' || c == '`' || c == '\'') && read_quoted(c)) continue;
      const bool behind_space = at_ == 0 || line_[at_ - 1] == ' ';
      if (is_path_byte(c) ||
          (!is_ascii(c) &&
           is_path_character(character_at(line_, at_),
                             voice_ == Voice::printed && behind_space ? "/" : ""))) {
        read_word();
      } else {
        at_ += is_ascii(c) ? 1 : character_at(line_, at_).size;
      }
    }
  }

 private:
  // At a quote. Quotes are what lets a path hold spaces, or begin in Chinese.
  bool read_quoted(char quote) {
    if (quote == '\'' && at_ > 0 && is_word(line_[at_ - 1])) return false;  // don't
    const std::size_t close = line_.substr(at_ + 1, quoted_bytes_max).find(quote);
    if (close == line_.npos) return false;
    const std::string_view inside = line_.substr(at_ + 1, close);
    if (inside != trim(inside)) return false;
    if (inside.find(' ') != inside.npos) {
      if (!has_root(inside) || inside.find_first_of("<>|*?;&=\"'`(){}") != inside.npos)
        return false;
      for (const std::string_view another : {" /", " -", " ~", " ./", " ../", "\\ ", ": "})
        if (inside.find(another) != inside.npos) return false;
      if (!is_file_name(last_name(inside)) && !has_drive(inside)) return false;
    } else {
      const bool cjk =
          std::any_of(inside.begin(), inside.end(), [](char c) { return !is_ascii(c); });
      if (!cjk || !is_file_name(last_name(inside)) || inside.find("：") != inside.npos ||
          inside.find("://") != inside.npos)
        return false;
    }
    findings_.add(Kind::file, inside, voice_);
    at_ += close + 2;
    previous_ = {};
    return true;
  }

  void read_word() {
    const std::size_t begin = at_;
    at_ += character_at(line_, at_).size;  // read() saw that a path may begin with it
    take_path_bytes(begin);
    std::string_view word = line_.substr(begin, at_ - begin);
    if (line_.substr(at_).starts_with("://") && read_url(begin, word)) return;
    if (word.starts_with("git@") && line_.substr(at_).starts_with(':')) return add_url(begin, at_);
    if (word.size() == 1 && is_letter(word[0]) && at_ + 1 < line_.size() && line_[at_] == ':' &&
        is_separator(line_[at_ + 1])) {
      ++at_;
      take_windows_path(begin);
      word = line_.substr(begin, at_ - begin);
    } else if (word.starts_with("\\\\")) {
      take_windows_path(begin);
      word = line_.substr(begin, at_ - begin);
    }
    read_path(word);
    previous_ = word;
  }

  // Goes on with the path that began at `begin`.
  void take_path_bytes(std::size_t begin) {
    char open = 0;  // app/(auth)/[id]/page.tsx
    while (at_ < line_.size()) {
      const char c = line_[at_];
      if (is_path_byte(c)) {
        ++at_;
      } else if ((c == '[' || c == '(') && at_ > begin && line_[at_ - 1] == '/' && open == 0) {
        open = c;
        ++at_;
      } else if (open != 0 && c == (open == '[' ? ']' : ')')) {
        open = 0;
        ++at_;
      } else if (!is_ascii(c) &&
                 is_path_character(character_at(line_, at_), line_.substr(begin, at_ - begin))) {
        at_ += character_at(line_, at_).size;
      } else {
        break;
      }
    }
  }

  // Folders such as "Program Files" have spaces: one is taken when the next word goes on to another
  // folder.
  void take_windows_path(std::size_t begin) {
    take_path_bytes(begin);
    while (at_ < line_.size() && (line_[at_] == ' ' || line_[at_] == '(' || line_[at_] == ')') &&
           at_ - begin < path_bytes_max) {
      std::size_t end = at_ + 1;
      while (end < line_.size() && end - at_ < 64 &&
             (is_word(line_[end]) || line_[end] == '-' || line_[end] == '.' || line_[end] == '(' ||
              line_[end] == ')'))
        ++end;
      if (line_.substr(end).starts_with(" (x86)")) end += std::string_view(" (x86)").size();
      if (end == at_ + 1 || end == line_.size() || line_[end] != '\\') break;
      at_ = end;
      take_path_bytes(begin);
    }
  }

  bool read_url(std::size_t begin, std::string_view word) {
    std::size_t scheme = word.size();
    while (scheme > 0 && (is_alnum(word[scheme - 1]) || word[scheme - 1] == '+')) --scheme;
    while (scheme < word.size() && !is_letter(word[scheme])) ++scheme;
    if (word.size() - scheme < 2) return false;
    add_url(begin + scheme, at_ + 3);
    return true;
  }

  std::size_t url_end(std::size_t at) const {
    const std::size_t begin = at;
    int round = 0, square = 0;
    while (at < line_.size()) {
      const char c = line_[at];
      if (!is_ascii(c)) {
        const Character character = character_at(line_, at);
        const std::string_view before = line_.substr(begin, at - begin);
        const bool follows = before.ends_with('=') || is_path_character(character, before);
        if (!follows || is_cjk_punctuation(character.code_point)) break;
        at += character.size;
        continue;
      }
      if (c <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' || c == '>' || c == '|' ||
          c == '\\' || c == '^')
        break;
      if (c == '(') ++round;
      if (c == ')' && --round < 0) break;
      if (c == '[') ++square;
      if (c == ']' && --square < 0) break;
      ++at;
    }
    while (at > begin && std::string_view(".,;:!?*_").find(line_[at - 1]) != std::string_view::npos)
      --at;
    return at;
  }

  // `rest_at` is where a URL may hold anything that URLs do.
  void add_url(std::size_t begin, std::size_t rest_at) {
    const std::size_t end = url_end(rest_at);
    at_ = std::max(at_, end);
    const std::string_view url = line_.substr(begin, end - begin);
    const std::size_t rest = url.find("://");
    if (rest != url.npos &&
        std::none_of(url.begin() + static_cast<std::ptrdiff_t>(rest), url.end(), is_alnum))
      return;
    if (url.size() <= url_bytes_max) findings_.add(Kind::url, url, voice_);
    previous_ = {};
  }

  // "github.com/org/repo": an address without a scheme.
  bool is_address(std::string_view word) const {
    const std::size_t slash = word.find('/');
    if (slash == word.npos || slash == 0 || word.size() == slash + 1) return false;
    const std::string_view host = word.substr(0, slash);
    return host.find('.') != host.npos && is_alnum(host.front()) && host.find('@') == host.npos &&
           is_in(extension(host), top_domains) && !is_in(host, not_files);
  }

  void read_path(std::string_view word) {
    // Most words are just words, and this is asked of each.
    const bool plain =
        std::none_of(word.begin(), word.end(), [](char c) { return is_separator(c) || c == '.'; });
    constexpr std::size_t file_name_bytes_min = 6;  // of those without a dot
    if (plain && (word.size() < file_name_bytes_min || !is_in(word, file_names))) return;
    // **bold**
    while (word.size() > 1 && word.starts_with('*') && word[1] != '/' && word[1] != '.')
      word.remove_prefix(1);
    if (is_address(word)) {
      const auto host_at = static_cast<std::size_t>(word.data() - line_.data());
      return add_url(host_at, host_at);
    }
    const bool drive = has_drive(word);
    if (!drive && !word.starts_with("\\\\")) {
      // The escape of a line's end, in text that was quoted twice.
      for (const std::string_view escape : {"\\n", "\\t", "\\r"})
        if (const std::size_t found = word.rfind(escape);
            found != word.npos && word.find('/') != word.npos)
          word.remove_prefix(found + 2);
    }
    if (word.starts_with('@') && !word.starts_with("@/")) word.remove_prefix(1);
    // -I/usr/include
    if (word.size() > 3 && word[0] == '-' && is_upper(word[1]) && word[2] == '/')
      word.remove_prefix(2);
    if (is_diff_ && (word.starts_with("a/") || word.starts_with("b/"))) word.remove_prefix(2);
    while (!word.empty() && (word.back() == '.' || word.back() == '-' || word.back() == '+' ||
                             word.back() == '@' || word.back() == '%' || word.back() == '~' ||
                             (word.back() == '*' && !word.ends_with("/*"))))
      word.remove_suffix(1);
    if (word.empty() || word.size() > path_bytes_max) return;
    if (word.starts_with('-')) return;  // an option
    const auto begin = static_cast<std::size_t>(word.data() - line_.data());
    if (word.size() > 1 && word[0] == '/' && !is_ascii(word[1]) && begin > 0 &&
        !is_ascii(line_[begin - 1]))
      return;  // the end of 甲/乙
    if (word.starts_with('/') && is_in(previous_, http_verbs) &&
        std::all_of(previous_.begin(), previous_.end(), is_upper))
      return;
    const std::size_t end = begin + word.size();
    if (end + 1 < line_.size() && line_[end] == '(' && !is_digit(line_[end + 1])) return;  // a call
    if (word.find_first_of("/\\") == word.npos && word.find('@') != word.npos)
      return;  // a mail address, a package and its version
    if (is_path(word)) findings_.add(Kind::file, word, voice_);
  }

  std::string_view line_;
  Voice voice_;
  Findings& findings_;
  bool is_diff_;
  std::size_t at_ = 0;
  std::string_view previous_;  // word
};

}  // namespace

void find_places(std::string_view line, Voice voice, Findings& findings) {
  PlaceReader(line, voice, findings).read();
}

bool is_named_path(std::string_view text) {
  return !text.empty() && text.size() <= path_bytes_max && text.find('\n') == text.npos &&
         text.find("://") == text.npos &&
         std::any_of(text.begin(), text.end(), [](char c) { return is_alnum(c) || !is_ascii(c); });
}

bool is_path(std::string_view word) {
  if (!is_named_path(word)) return false;
  if (has_drive(word)) return true;
  if (word.starts_with("\\\\"))
    return word.size() > 4 && is_word(word[2]) && word.find('\\', 2) != word.npos;
  if (word.starts_with('/')) return is_absolute_path(word);
  if (has_root(word)) return true;
  if ((word.starts_with('$') || word.starts_with('%')) && word.find_first_of("/\\") != word.npos)
    return is_word(word[1]);
  if (word.find_first_of("/\\") != word.npos) return is_relative_path(word);
  return is_lone_file_name(word);
}

}  // namespace undertext::digest
