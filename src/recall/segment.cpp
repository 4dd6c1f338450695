#include "recall/segment.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/bytes.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t segment_format = 1;
constexpr std::uint32_t words_per_place = 32;

const std::string what_segment = "the index of a conversation";

// Takes words that rise, each with its postings, and makes the bytes.
class SegmentWriter {
 public:
  void add(Word word, const std::vector<Posting>& postings, std::uint32_t first) {
    ByteOut list;
    std::uint32_t before = first;
    for (const Posting& posting : postings) {
      list.number((std::uint64_t{posting.ordinal - before} << 1) | (posting.count > 1 ? 1 : 0));
      if (posting.count > 1) list.number(posting.count);
      before = posting.ordinal;
    }
    const bool begins_place = count_ % words_per_place == 0;
    if (begins_place) {
      directory_.number(word - place_);
      directory_.number(postings_.bytes.size() - place_at_);
      place_ = word;
      place_at_ = postings_.bytes.size();
    } else {
      postings_.number(word - last_);
    }
    postings_.text(list.bytes);
    last_ = word;
    ++count_;
  }
  std::string finish(std::uint32_t first, const std::vector<std::uint32_t>& lengths) {
    ByteOut out;
    out.number(segment_format);
    out.number(first);
    out.number(lengths.size());
    for (const std::uint32_t length : lengths) out.number(length);
    out.number(count_);
    out.bytes += directory_.bytes;
    out.text(postings_.bytes);
    return std::move(out.bytes);
  }

 private:
  ByteOut directory_, postings_;
  std::uint64_t count_ = 0;
  Word last_ = 0, place_ = 0;
  std::size_t place_at_ = 0;
};

std::uint64_t next_long_number(const char*& at, const char* end) {
  std::uint64_t number = 0;
  for (unsigned shift = 0; at < end && shift < 64; shift += 7) {
    const auto byte = static_cast<unsigned char>(*at++);
    number |= std::uint64_t{byte & 0x7Fu} << shift;
    if (byte < 0x80) return number;
  }
  ByteIn({}, what_segment).fail("a number has no end");
}
// Most numbers have one byte.
inline std::uint64_t next_number(const char*& at, const char* end) {
  if (at < end && static_cast<unsigned char>(*at) < 0x80) return static_cast<unsigned char>(*at++);
  return next_long_number(at, end);
}

// The postings of a word, behind their size.
std::string_view next_list(const char*& at, const char* end) {
  const std::uint64_t size = next_number(at, end);
  if (size > static_cast<std::uint64_t>(end - at))
    ByteIn({}, what_segment).fail("a list of postings has no end");
  const std::string_view list(at, static_cast<std::size_t>(size));
  at += size;
  return list;
}

void read_postings(std::string_view list, std::uint32_t first,
                   const std::vector<std::uint32_t>& lengths, std::vector<Posting>& out) {
  const char* at = list.data();
  const char* const end = at + list.size();
  std::uint64_t place = 0;
  while (at < end) {
    const std::uint64_t step = next_number(at, end);
    const std::uint64_t count = (step & 1) != 0 ? next_number(at, end) : 1;
    place += step >> 1;
    if (place >= lengths.size()) ByteIn({}, what_segment).fail("a posting is of no message");
    out.push_back({first + static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(count),
                   lengths[place]});
  }
}

}  // namespace

// All words of a segment, one after another.
class Segment::Words {
 public:
  explicit Words(const Segment& segment, std::size_t place = 0)
      : segment_(segment),
        place_(place),
        at_(segment.bytes_.data() + segment.postings_),
        end_(segment.bytes_.data() + segment.bytes_.size()) {
    if (place < segment.directory_.size()) at_ += segment.directory_[place].at;
    next();
  }
  bool is_over() const { return is_over_; }
  Word word() const { return word_; }
  std::string_view list() const { return list_; }
  void next() {
    if (at_ == end_) {
      is_over_ = true;
      return;
    }
    if (in_place_ % words_per_place == 0) {
      if (place_ >= segment_.directory_.size())
        ByteIn({}, what_segment).fail("its directory is too short");
      word_ = segment_.directory_[place_++].word;
    } else {
      word_ += static_cast<Word>(next_number(at_, end_));
    }
    ++in_place_;
    list_ = next_list(at_, end_);
  }

 private:
  const Segment& segment_;
  std::size_t place_;
  const char* at_;
  const char* const end_;
  std::uint32_t in_place_ = 0;
  Word word_ = 0;
  std::string_view list_;
  bool is_over_ = false;
};

Segment Segment::of(std::uint32_t first, const std::vector<MessageWords>& messages) {
  std::vector<std::tuple<Word, std::uint32_t, std::uint32_t>> all;
  std::vector<std::uint32_t> lengths;
  lengths.reserve(messages.size());
  std::size_t count = 0;
  for (const MessageWords& message : messages) count += message.counts.size();
  all.reserve(count);
  std::uint32_t ordinal = first;
  for (const MessageWords& message : messages) {
    lengths.push_back(message.length);
    for (const WordCount& each : message.counts) all.emplace_back(each.word, ordinal, each.count);
    ++ordinal;
  }
  std::sort(all.begin(), all.end());
  SegmentWriter writer;
  std::vector<Posting> postings;
  for (std::size_t i = 0; i < all.size();) {
    const Word word = std::get<0>(all[i]);
    postings.clear();
    for (; i < all.size() && std::get<0>(all[i]) == word; ++i)
      postings.push_back({std::get<1>(all[i]), std::get<2>(all[i]), 0});
    writer.add(word, postings, first);
  }
  return read(writer.finish(first, lengths));
}

Segment Segment::read(std::string bytes) {
  Segment segment;
  segment.bytes_ = std::move(bytes);
  ByteIn in(segment.bytes_, what_segment);
  if (in.number() != segment_format) in.fail_newer();
  segment.first_ = in.number32();
  const std::uint64_t messages = in.count();
  if (messages > ~segment.first_) in.fail("it has too many messages");
  segment.lengths_.reserve(messages);
  for (std::uint64_t i = 0; i < messages; ++i) {
    segment.lengths_.push_back(in.number32());
    segment.total_ += segment.lengths_.back();
  }
  const std::uint64_t words = in.number();
  if (words / words_per_place > in.left()) in.fail("it has too many words");
  const std::uint64_t places = (words + words_per_place - 1) / words_per_place;
  segment.directory_.reserve(places);
  Place place;
  for (std::uint64_t i = 0; i < places; ++i) {
    place.word += in.number32();
    place.at += in.number32();
    segment.directory_.push_back(place);
  }
  const std::string_view postings = in.text();
  in.end();
  for (const Place& each : segment.directory_)
    if (each.at > postings.size()) in.fail("its directory leads nowhere");
  segment.postings_ = segment.bytes_.size() - postings.size();
  return segment;
}

// Postings are relative to the first message, so that nothing but its number changes.
Segment Segment::moved_to(std::uint32_t first) const {
  ByteOut head;
  head.number(segment_format);
  head.number(first_);
  ByteOut moved;
  moved.number(segment_format);
  moved.number(first);
  return read(std::move(moved.bytes) + bytes_.substr(head.bytes.size()));
}

Segment Segment::merged(const std::vector<const Segment*>& segments, std::uint32_t first,
                        std::uint32_t end) {
  std::vector<std::uint32_t> lengths;
  std::vector<Words> all;
  std::vector<const Segment*> of;
  for (const Segment* const segment : segments) {
    for (std::uint32_t o = std::max(first, segment->first()); o < std::min(end, segment->end());
         ++o)
      lengths.push_back(segment->length(o));
    all.emplace_back(*segment);
    of.push_back(segment);
  }
  SegmentWriter writer;
  std::vector<Posting> postings;
  for (;;) {
    const Words* least = nullptr;
    for (const Words& words : all)
      if (!words.is_over() && (!least || words.word() < least->word())) least = &words;
    if (!least) break;
    const Word word = least->word();
    postings.clear();
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].is_over() || all[i].word() != word) continue;
      read_postings(all[i].list(), of[i]->first(), of[i]->lengths_, postings);
      all[i].next();
    }
    std::erase_if(postings, [&](const Posting& posting) {
      return posting.ordinal < first || posting.ordinal >= end;
    });
    if (!postings.empty()) writer.add(word, postings, first);
  }
  return read(writer.finish(first, lengths));
}

std::vector<Posting> Segment::find(Word word) const {
  std::vector<Posting> found;
  add_found(word, found);
  return found;
}

// Words in between are passed over without a look at their postings.
void Segment::add_found(Word word, std::vector<Posting>& found) const {
  const auto after =
      std::upper_bound(directory_.begin(), directory_.end(), word,
                       [](Word wanted, const Place& place) { return wanted < place.word; });
  if (after == directory_.begin()) return;
  const Place& place = *std::prev(after);
  const char* const end = bytes_.data() + bytes_.size();
  const char* at = bytes_.data() + postings_ + place.at;
  std::uint64_t here = place.word;
  for (std::uint32_t i = 0; i < words_per_place && at < end; ++i) {
    if (i > 0) here += next_number(at, end);
    if (here > word) return;
    const std::string_view list = next_list(at, end);
    if (here != word) continue;
    // A posting has a byte at least.
    if (const std::size_t most = found.size() + list.size(); most > found.capacity())
      found.reserve(std::max(most, 2 * found.capacity()));
    read_postings(list, first_, lengths_, found);
    return;
  }
}

namespace {

// One posting for each message, rising. Few are sorted, many are counted by message.
std::vector<Posting> as_one_word(std::vector<Posting> found, std::uint32_t first,
                                 const std::vector<std::uint32_t>& lengths) {
  constexpr std::size_t sorted_share = 16;
  if (found.size() > lengths.size() / sorted_share) {
    std::vector<std::uint32_t> counts(lengths.size());
    for (const Posting& each : found) counts[each.ordinal - first] += each.count;
    found.clear();
    for (std::uint32_t i = 0; i < counts.size(); ++i)
      if (counts[i] > 0) found.push_back({first + i, counts[i], lengths[i]});
    return found;
  }
  std::sort(found.begin(), found.end(),
            [](const Posting& a, const Posting& b) { return a.ordinal < b.ordinal; });
  std::size_t count = 0;
  for (const Posting& each : found) {
    if (count > 0 && found[count - 1].ordinal == each.ordinal)
      found[count - 1].count += each.count;
    else
      found[count++] = each;
  }
  found.resize(count);
  return found;
}

}  // namespace

std::vector<Posting> Segment::find_any(const std::vector<Word>& wanted) const {
  std::vector<Posting> found;
  if (wanted.size() < directory_.size()) {
    for (const Word word : wanted) add_found(word, found);
  } else {
    auto next = wanted.begin();
    for (Words words(*this); !words.is_over() && next != wanted.end(); words.next()) {
      while (next != wanted.end() && *next < words.word()) ++next;
      if (next != wanted.end() && *next == words.word())
        read_postings(words.list(), first_, lengths_, found);
    }
  }
  return as_one_word(std::move(found), first_, lengths_);
}

std::vector<Posting> Segment::find_any(const WordsWith& wanted) const {
  std::vector<Posting> found;
  for (Words words(*this); !words.is_over(); words.next())
    if (wanted.has(words.word())) read_postings(words.list(), first_, lengths_, found);
  return as_one_word(std::move(found), first_, lengths_);
}

}  // namespace undertext
