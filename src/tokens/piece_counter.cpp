#include "tokens/piece_counter.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "tokens/piece_cuts.hpp"
#include "tokens/split.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t count_mask = std::uint64_t{0xFF} << count_shift;

// A piece beside one in the memory, which has its count.
bool is_same(const ShortPiece& piece, const ShortPiece& remembered) {
  return piece.low == remembered.low && ((piece.high ^ remembered.high) & ~count_mask) == 0;
}

std::uint32_t byte_of(const char* at) { return static_cast<std::uint8_t>(*at); }

}  // namespace

// The pieces of one text on their way to the memory.
class PieceCounter::Batch {
 public:
  Batch(PieceCounter& counter, std::string_view text)
      : counter_(counter),
        vocabulary_(*counter.vocabulary_),
        only_whole_(vocabulary_.facts().only_whole),
        buckets_(vocabulary_.whole.size() / bucket_size),
        end_(text.data() + text.size()) {}

  void add(const char* at, const char* end) {
    const auto size = static_cast<std::size_t>(end - at);
    if (!only_whole_.empty() && only_whole_.contains(std::string(at, size))) {
      ++total_;
      return;
    }
    if (size > 3 && (byte_of(at) >= 0xE0 || byte_of(at + 1) >= 0xE0)) {
      add_with_cuts(at, end);
    } else {
      add_uncut(at, size);
    }
  }

  std::uint64_t finish() {
    recall_short();
    recall_long();
    count_beyond();
    return total_;
  }

 private:
  static constexpr std::size_t short_max = 128, long_max = 32, beyond_max = 32;

  ShortPiece load(const char* at, std::size_t size) const {
    return end_ - at >= 16 ? load_short_piece(at, size) : copy_short_piece(at, size);
  }

  // See piece_cuts.hpp.
  void add_with_cuts(const char* at, const char* end) {
    const std::uint8_t* const characters = vocabulary_.characters.data();
    const char* begin = at;
    std::uint32_t before = 0;  // the character before `at`, if it is one of three bytes
    while (at != end) {
      const std::uint32_t lead = byte_of(at);
      if (lead < 0xE0 || lead >= 0xF0) {
        before = 0;
        at += lead < 0x80 ? 1 : lead < 0xE0 ? 2 : 4;
        continue;
      }
      const std::uint32_t character =
          (lead & 0x0F) << 12 | (byte_of(at + 1) & 0x3F) << 6 | (byte_of(at + 2) & 0x3F);
      if (before != 0 && (characters[before] & no_cut_after) == 0 &&
          (characters[character] & no_cut_before) == 0) {
        const std::uint32_t bit = cut_hash(before, character);
        if ((vocabulary_.cut_filter[bit / 64] >> bit % 64 & 1) == 0) {
          add_segment(begin, at, before);
          begin = at;
        }
      }
      before = character;
      at += 3;
    }
    add_segment(begin, end, before);
  }

  void add_segment(const char* begin, const char* end, std::uint32_t last) {
    const auto size = static_cast<std::size_t>(end - begin);
    if (size == 3 && last != 0) {
      total_ += static_cast<std::uint64_t>(vocabulary_.characters[last] & alone_mask);
    } else {
      add_uncut(begin, size);
    }
  }

  void add_uncut(const char* at, std::size_t size) {
    if (size > short_piece_max) return add_long(at, size);
    const ShortPiece piece = load(at, size);
    const std::uint32_t hash = hash_short_piece(piece);
    __builtin_prefetch(&counter_.short_memory_[hash % short_places]);
    // Field by field: written as one, it would be put together elsewhere and read back before it
    // has arrived there.
    Short& one = shorts_[short_count_++];
    one.piece.low = piece.low;
    one.piece.high = piece.high;
    one.at = at;
    one.hash = hash;
    if (short_count_ == short_max) recall_short();
  }

  void add_long(const char* at, std::size_t size) {
    if (size > long_piece_max) {
      add_beyond({at, size});
    } else {
      const LongPiece piece = {copy_long_front(at), load(at + long_front, size - long_front)};
      const std::uint32_t hash =
          hash_short_piece({piece.front.low ^ piece.back.high, piece.front.high + piece.back.low});
      LongPiece* const place = &counter_.long_memory_[hash % long_places];
      __builtin_prefetch(place);
      longs_[long_count_++] = {piece, at, size, place};
      if (long_count_ == long_max) recall_long();
    }
  }

  // Pieces that are not remembered.
  void add_beyond(std::string_view piece) {
    if (piece.size() > lane_piece_max) {
      total_ += counter_.encoder_.count(vocabulary_, piece);
      return;
    }
    beyond_[beyond_count_++] = piece;
    if (beyond_count_ == beyond_max) count_beyond();
  }

  void count_beyond() {
    counter_.lanes_.count(vocabulary_, {beyond_, beyond_count_}, counts_);
    for (std::size_t i = 0; i < beyond_count_; ++i) total_ += counts_[i];
    beyond_count_ = 0;
  }

  static ShortPiece copy_long_front(const char* at) {
    std::uint64_t words[2] = {};
    std::memcpy(words, at, long_front);
    return {words[0], words[1]};
  }

  void recall_short() {
    std::size_t missed = 0;
    std::uint8_t misses[short_max];
    for (std::size_t i = 0; i < short_count_; ++i) {
      const ShortPiece& place = counter_.short_memory_[shorts_[i].hash % short_places];
      if (is_same(shorts_[i].piece, place)) {
        total_ += place.high >> count_shift;
        continue;
      }
      __builtin_prefetch(&vocabulary_.whole[(shorts_[i].hash & (buckets_ - 1)) * bucket_size]);
      misses[missed++] = static_cast<std::uint8_t>(i);
    }
    std::size_t asked = 0;
    for (std::size_t i = 0; i < missed; ++i) {
      const Short& one = shorts_[misses[i]];
      if (is_whole_token(one)) {
        counter_.short_memory_[one.hash % short_places] = {
            one.piece.low, one.piece.high | std::uint64_t{1} << count_shift};
        ++total_;
        continue;
      }
      pieces_[asked] = {one.at, static_cast<std::size_t>(one.piece.high >> 48)};
      misses[asked++] = misses[i];
    }
    counter_.lanes_.count(vocabulary_, {pieces_, asked}, counts_);
    for (std::size_t i = 0; i < asked; ++i) {
      const Short& one = shorts_[misses[i]];
      const std::uint64_t count = counts_[i];
      counter_.short_memory_[one.hash % short_places] = {one.piece.low,
                                                         one.piece.high | count << count_shift};
      total_ += count;
    }
    short_count_ = 0;
  }

  struct Short {
    ShortPiece piece;
    const char* at;
    std::uint32_t hash;
  };

  bool is_whole_token(const Short& one) const {
    const ShortPiece* const bucket = &vocabulary_.whole[(one.hash & (buckets_ - 1)) * bucket_size];
    bool found = false;
    for (std::size_t i = 0; i < bucket_size; ++i) found |= bucket[i] == one.piece;
    return found;
  }

  void recall_long() {
    std::size_t asked = 0;
    std::uint8_t misses[long_max];
    for (std::size_t i = 0; i < long_count_; ++i) {
      const auto& [piece, at, size, place] = longs_[i];
      if (place->front == piece.front && is_same(piece.back, place->back)) {
        total_ += place->back.high >> count_shift;
        continue;
      }
      pieces_[asked] = {at, size};
      misses[asked++] = static_cast<std::uint8_t>(i);
    }
    counter_.lanes_.count(vocabulary_, {pieces_, asked}, counts_);
    for (std::size_t i = 0; i < asked; ++i) {
      const auto& [piece, at, size, place] = longs_[misses[i]];
      const std::uint64_t count = counts_[i];
      *place = {piece.front, {piece.back.low, piece.back.high | count << count_shift}};
      total_ += count;
    }
    long_count_ = 0;
  }

  struct Long {
    LongPiece piece;
    const char* at;
    std::size_t size;
    LongPiece* place;
  };

  PieceCounter& counter_;
  const BpeVocabulary& vocabulary_;
  const std::unordered_map<std::string, std::uint32_t>& only_whole_;
  const std::size_t buckets_;
  const char* const end_;  // of the text
  std::uint64_t total_ = 0;
  std::size_t short_count_ = 0, long_count_ = 0, beyond_count_ = 0;
  Short shorts_[short_max];
  Long longs_[long_max];
  std::string_view beyond_[beyond_max];
  std::string_view pieces_[short_max];  // to be counted now
  std::uint8_t counts_[short_max];
};

void PieceCounter::Free::operator()(void* places) const { std::free(places); }

// Memory straight from the system is zero, and costs nothing before it is used. No piece has the
// size 0.
PieceCounter::PieceCounter(std::shared_ptr<const BpeVocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)),
      short_memory_(static_cast<ShortPiece*>(std::calloc(short_places, sizeof(ShortPiece)))),
      long_memory_(static_cast<LongPiece*>(std::calloc(long_places, sizeof(LongPiece)))) {
  if (short_memory_ == nullptr || long_memory_ == nullptr) throw std::bad_alloc();
}

std::uint64_t PieceCounter::count(std::string_view text) {
  Batch batch(*this, text);
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* const next = piece_end(vocabulary_->facts().pattern, at, end);
    batch.add(at, next);
    at = next;
  }
  return batch.finish();
}

}  // namespace undertext
