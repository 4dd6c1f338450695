// Mutations that keep JSON JSON, for fuzz targets that read it. libFuzzer's own flip bytes, and
// nearly all they make of a request is refused by the parser; these move, repeat, remove and
// exchange whole members and elements, and get further in.
// It knows no format: all it puts in are pieces of the inputs themselves. A form that the corpus
// does not have is taught by one more input that has it. The text may hold several values, such as
// lines, and other bytes around them, which stay as they are most of the time.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size_bytes,
                                        std::size_t size_max);

namespace {

// A member is "key":value, and that value a piece too; a document stands in nothing else.
enum class Kind : std::uint8_t { member, value, element, document };

struct Piece {
  Kind kind;
  std::size_t begin, end;

  std::string_view in(std::string_view text) const { return text.substr(begin, end - begin); }
  char separator() const { return kind == Kind::document ? '\n' : ','; }
};

// Finds the pieces of a text. Where it is no JSON, those that came to their end before are pieces
// all the same.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  std::vector<Piece> pieces() {
    while (at_ < text_.size())
      if (!is_at("{[") || !read_value(Kind::document, depth_max)) ++at_;
    return std::move(pieces_);
  }

 private:
  static constexpr int depth_max = 64;

  bool is_at(std::string_view some) const {
    return at_ < text_.size() && some.find(text_[at_]) != std::string_view::npos;
  }
  void skip_space() {
    while (is_at(" \t\r\n")) ++at_;
  }
  bool take(std::string_view one) {
    if (!is_at(one)) return false;
    ++at_;
    skip_space();
    return true;
  }

  bool read_value(Kind kind, int depth) {
    const std::size_t begin = at_;
    const bool is_whole = is_at("{[")   ? depth > 0 && read_list(depth)
                          : is_at("\"") ? read_string()
                                        : read_word();
    if (is_whole) pieces_.push_back({kind, begin, at_});
    skip_space();
    return is_whole;
  }

  bool read_list(int depth) {
    const bool is_object = is_at("{");
    const std::string_view close = is_object ? "}" : "]";
    take("{[");
    while (!is_at(close)) {
      if (!(is_object ? read_member(depth - 1) : read_value(Kind::element, depth - 1)))
        return false;
      if (!take(",") && !is_at(close)) return false;
    }
    ++at_;
    return true;
  }

  bool read_member(int depth) {
    const std::size_t begin = at_;
    if (!is_at("\"") || !read_string()) return false;
    skip_space();
    if (!take(":") || !read_value(Kind::value, depth)) return false;
    pieces_.push_back({Kind::member, begin, pieces_.back().end});
    return true;
  }

  bool read_string() {
    for (++at_; at_ < text_.size() && !is_at("\""); ++at_)
      if (is_at("\\")) ++at_;
    return at_++ < text_.size();
  }

  bool read_word() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_at(",:]}[{\" \t\r\n")) ++at_;
    return at_ > begin;
  }

  const std::string_view text_;
  std::size_t at_ = 0;
  std::vector<Piece> pieces_;
};

// Changes texts, with pieces of `donor`.
class Splicer {
 public:
  Splicer(std::string_view donor, unsigned seed)
      : donor_(donor), donors_(Scanner(donor).pieces()), random_(seed) {}

  // False: there is nothing to take hold of.
  bool splice(std::string& text) {
    do {
      const std::vector<Piece> pieces = Scanner(text).pieces();
      if (pieces.empty()) return false;
      change(text, pieces[below(pieces.size())]);
    } while (below(2) == 0);
    return true;
  }

 private:
  std::size_t below(std::size_t limit) { return random_() % limit; }

  void change(std::string& text, const Piece& piece) {
    const char first = text[piece.begin];
    switch (piece.kind == Kind::member ? 1 + below(4) : below(piece.kind == Kind::value ? 2 : 5)) {
      case 0: return first == '{' || first == '[' ? fill(text, piece) : mutate(text, piece);
      case 1: return replace(text, piece);
      case 2: return insert(text, piece, any_like(piece.kind), 1);
      case 3: return insert(text, piece, std::string(piece.in(text)), below(12) == 0 ? 11 : 1);
      case 4: return remove(text, piece);
    }
  }

  // A member for a member, a value for a value; empty: the donor has none.
  std::string any_like(Kind kind) {
    std::vector<Piece> fitting;
    for (const Piece& piece : donors_)
      if ((piece.kind == Kind::member) == (kind == Kind::member)) fitting.push_back(piece);
    return fitting.empty() ? std::string() : std::string(fitting[below(fitting.size())].in(donor_));
  }

  void replace(std::string& text, const Piece& piece) {
    const std::string other = any_like(piece.kind);
    if (!other.empty()) text.replace(piece.begin, piece.end - piece.begin, other);
  }

  static void insert(std::string& text, const Piece& piece, const std::string& other, int times) {
    for (int i = 0; i < times && !other.empty(); ++i)
      text.insert(piece.end, piece.separator() + other);
  }

  // With the separator that it needs no more.
  static void remove(std::string& text, const Piece& piece) {
    const bool one_follows = piece.end < text.size() && text[piece.end] == piece.separator();
    const bool one_precedes =
        !one_follows && piece.begin > 0 && text[piece.begin - 1] == piece.separator();
    text.erase(piece.begin - (one_precedes ? 1 : 0),
               piece.end - piece.begin + (one_follows || one_precedes ? 1 : 0));
  }

  // One more at the beginning of an array or object.
  void fill(std::string& text, const Piece& piece) {
    std::string other = any_like(text[piece.begin] == '{' ? Kind::member : Kind::element);
    const char next = text[text.find_first_not_of(" \t\r\n", piece.begin + 1)];
    if (!other.empty() && next != ']' && next != '}') other += ',';
    text.insert(piece.begin + 1, other);
  }

  // Bytes, as libFuzzer does, but only inside of a string, a number or a word.
  static void mutate(std::string& text, const Piece& piece) {
    const std::size_t quote = text[piece.begin] == '"' ? 1 : 0,
                      size = piece.end - piece.begin - 2 * quote;
    std::string inside = text.substr(piece.begin + quote, size);
    inside.resize(size + 16);
    inside.resize(
        LLVMFuzzerMutate(reinterpret_cast<std::uint8_t*>(inside.data()), size, inside.size()));
    text.replace(piece.begin + quote, size, inside);
  }

  const std::string_view donor_;
  const std::vector<Piece> donors_;
  std::minstd_rand random_;
};

// `data` spliced with pieces of `donor`; 0: that cannot be done, or is too long.
std::size_t write_spliced(std::string_view data, std::string_view donor, std::uint8_t* out,
                          std::size_t size_max, unsigned seed) {
  std::string text(data);
  if (!Splicer(donor, seed).splice(text) || text.size() > size_max) return 0;
  std::memcpy(out, text.data(), text.size());
  return text.size();
}

std::string_view view_of(const std::uint8_t* data, std::size_t size_bytes) {
  return {reinterpret_cast<const char*>(data), size_bytes};
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size_bytes,
                                               std::size_t size_max, unsigned seed) {
  const std::string_view text = view_of(data, size_bytes);
  const std::size_t size = seed % 8 == 0 ? 0 : write_spliced(text, text, data, size_max, seed);
  return size != 0 ? size : LLVMFuzzerMutate(data, size_bytes, size_max);
}

// Where it has nothing to give, libFuzzer tries something else.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data, std::size_t size_bytes,
                                                 const std::uint8_t* donor,
                                                 std::size_t donor_size_bytes, std::uint8_t* out,
                                                 std::size_t size_max, unsigned seed) {
  return write_spliced(view_of(data, size_bytes), view_of(donor, donor_size_bytes), out, size_max,
                       seed);
}
