#include "tokens/bpe_tokenizer.hpp"

#include <array>
#include <string>
#include <utility>

#include "tokens/bpe_encoder.hpp"
#include "tokens/normalize.hpp"
#include "tokens/piece_counter.hpp"
#include "tokens/valid_text.hpp"

namespace undertext {
namespace {

// What a thread remembers of the two vocabularies it used last. Every thread has its own, so
// nothing is locked.
PieceCounter& counter_of_this_thread(const std::shared_ptr<const BpeVocabulary>& vocabulary) {
  thread_local std::array<std::unique_ptr<PieceCounter>, 2> counters;
  if (counters[0] != nullptr && counters[0]->vocabulary() == vocabulary.get()) return *counters[0];
  std::swap(counters[0], counters[1]);
  if (counters[0] == nullptr || counters[0]->vocabulary() != vocabulary.get()) {
    counters[0] = std::make_unique<PieceCounter>(vocabulary);
  }
  return *counters[0];
}

}  // namespace

BpeTokenizer::BpeTokenizer(std::shared_ptr<const BpeVocabulary> vocabulary)
    : vocabulary_(std::move(vocabulary)) {}

std::uint64_t BpeTokenizer::count(std::string_view text) const {
  std::string valid, normal;
  text = valid_text(text, valid);
  if (vocabulary_->facts().normalizes) text = normalize_nfc(text, normal);
  return counter_of_this_thread(vocabulary_).count(text);
}

Result<std::vector<std::uint32_t>> BpeTokenizer::encode(std::string_view text) const {
  const VocabularyFacts& facts = vocabulary_->facts();
  std::string valid, normal;
  text = valid_text(text, valid);
  if (facts.normalizes) text = normalize_nfc(text, normal);
  std::vector<std::uint32_t> ids;
  BpeEncoder encoder;
  const char* const end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* const next = piece_end(facts.pattern, at, end);
    const auto whole = facts.only_whole.empty() ? facts.only_whole.end()
                                                : facts.only_whole.find(std::string(at, next));
    if (whole != facts.only_whole.end()) {
      ids.push_back(whole->second);
    } else {
      encoder.encode(*vocabulary_, {at, static_cast<std::size_t>(next - at)}, ids);
    }
    at = next;
  }
  return ids;
}

}  // namespace undertext
