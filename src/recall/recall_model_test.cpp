// The index against a plain model: postings in a map, BM25 by its formula over every message.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "recall/rank.hpp"

namespace undertext {
namespace {

std::uint64_t seed() {
  const char* const given = std::getenv("SEED");
  const std::uint64_t made = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << "SEED=" << made << "\n";
  return made;
}

// A step makes and searches a whole index: one for some hundreds of the steps of other models.
std::uint64_t steps() {
  const char* const given = std::getenv("UNDERTEXT_MODEL_STEPS");
  return given ? std::max<std::uint64_t>(20, std::strtoull(given, nullptr, 10) / 400) : 60;
}

using Plain = std::vector<std::map<Word, std::uint32_t>>;

MessageWords some_words(std::mt19937_64& random, std::map<Word, std::uint32_t>& plain) {
  MessageWords made;
  const std::uint64_t length = random() % 30;
  for (std::uint64_t i = 0; i < length; ++i) {
    // Few common words, many rare ones.
    const std::uint64_t rank = random() % (1 + random() % 2000);
    ++plain[static_cast<Word>(rank * 2654435761u)];
  }
  for (const auto& [word, count] : plain) {
    made.counts.push_back({word, count});
    made.length += count;
  }
  return made;
}

double length_of(const std::map<Word, std::uint32_t>& message) {
  double length = 0;
  for (const auto& [word, count] : message) length += count;
  return length;
}

std::vector<double> plain_scores(const Plain& all, const std::vector<Word>& words,
                                 const RankWeights& w) {
  std::vector<double> scores(all.size(), 0);
  double total = 0;
  for (const auto& message : all) total += length_of(message);
  const double n = static_cast<double>(all.size()),
               average = std::max(1.0, total / std::max(1.0, n));
  std::size_t rarest = all.size() + 1;
  std::map<Word, std::size_t> with;
  std::vector<Word> rising = words;
  for (const Word word : words) {
    for (const auto& message : all) with[word] += message.contains(word) ? 1u : 0u;
    if (with[word] > 0) rarest = std::min(rarest, with[word]);
  }
  std::stable_sort(rising.begin(), rising.end(), [&](Word a, Word b) { return with[a] < with[b]; });
  bool has_rarest = false;
  std::size_t postings = 0;
  for (const Word word : rising) {
    const double largest =
        std::max(w.common_share * n,
                 std::min(w.common_share_max * n, static_cast<double>(w.common_postings)));
    const std::size_t common = std::max<std::size_t>(static_cast<std::size_t>(largest), 16);
    if (with[word] == 0) continue;
    // All may be common: then one of the rarest is kept.
    if (with[word] > common && (with[word] != rarest || rarest <= common || has_rarest)) continue;
    has_rarest = has_rarest || with[word] == rarest;
    const bool is_only_where_scored = postings >= w.common_postings;
    postings += with[word];
    const double df = static_cast<double>(with[word]),
                 rarity = std::log(1 + (n - df + 0.5) / (df + 0.5));
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (is_only_where_scored && scores[i] == 0) continue;
      double best = 0;
      for (std::size_t j = 0; j < all.size(); ++j) {
        const auto found = all[j].find(word);
        const std::size_t distance = i > j ? i - j : j - i;
        if (found == all[j].end() || distance > w.near_messages) continue;
        const double count = found->second;
        const double own = rarity * count * (w.k1 + 1) /
                           (count + w.k1 * (1 - w.b + w.b * length_of(all[j]) / average));
        const double near = w.near * std::pow(w.near_step, static_cast<double>(distance) - 1) *
                            (i < j ? w.near_before : 1);
        best = std::max(best, distance == 0 ? own : own * near);
      }
      scores[i] += best;
    }
  }
  return scores;
}

// All that a ranking returns, a few at a time.
std::vector<std::uint32_t> in_portions(Ranking& ranking, std::mt19937_64& random) {
  std::vector<std::uint32_t> all;
  for (;;) {
    const std::vector<std::uint32_t> some = ranking.next(1 + random() % 200);
    if (some.empty()) return all;
    all.insert(all.end(), some.begin(), some.end());
  }
}

// Every message with a score: the best first, of equal scores the later one.
std::vector<std::uint32_t> plain_order(const Ranking& ranking, std::size_t count) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < count; ++i)
    if (ranking.score(i) > 0) all.push_back(i);
  std::sort(all.begin(), all.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(ranking.score(a), a) > std::pair(ranking.score(b), b);
  });
  return all;
}

TEST(RecallModel, AnIndexRanksAsThePlainFormulaDoes) {
  std::mt19937_64 random(seed());
  for (std::uint64_t step = 0; step < steps(); ++step) {
    const std::size_t count = random() % 700;
    Plain plain(count);
    RecallIndex index;
    std::vector<MessageWords> held;
    for (std::size_t i = 0; i < count; ++i) {
      MessageWords words = some_words(random, plain[i]);
      // Some come as a segment that was stored.
      if (random() % 50 == 0 || !held.empty()) {
        held.push_back(std::move(words));
        if (random() % 20 == 0 || i + 1 == count) {
          const Segment made = Segment::of(static_cast<std::uint32_t>(i + 1 - held.size()), held);
          index.add(std::make_shared<const Segment>(Segment::read(made.bytes())));
          held.clear();
        }
      } else {
        index.add(std::move(words));
      }
    }
    ASSERT_EQ(index.size(), count);
    for (int query = 0; query < 5; ++query) {
      std::vector<Word> words;
      for (std::uint64_t i = random() % 6; i-- > 0;)
        words.push_back(static_cast<Word>((random() % (1 + random() % 2000)) * 2654435761u));
      std::sort(words.begin(), words.end());
      words.erase(std::unique(words.begin(), words.end()), words.end());
      RankWeights weights;
      if (random() % 2 == 0) weights.common_postings = static_cast<std::uint32_t>(random() % 60);
      const std::vector<double> expected = plain_scores(plain, words, weights);
      Ranking ranking(index, {.words = words}, weights);
      for (std::size_t i = 0; i < count; ++i)
        ASSERT_NEAR(ranking.score(static_cast<std::uint32_t>(i)), expected[i], 1e-3)
            << i << " of " << count;
      const std::vector<std::uint32_t> order = in_portions(ranking, random);
      ASSERT_EQ(order, plain_order(ranking, count));
      ASSERT_EQ(order.size(),
                static_cast<std::size_t>(std::count_if(expected.begin(), expected.end(),
                                                       [](double s) { return s > 0; })));
      for (std::size_t i = 1; i < order.size(); ++i)
        ASSERT_GE(expected[order[i - 1]] + 1e-3, expected[order[i]]);
    }
  }
}

TEST(RecallModel, SeveralWordsAreFoundAsOne) {
  std::mt19937_64 random(seed());
  for (std::uint64_t step = 0; step < steps(); ++step) {
    Plain plain(random() % 300);
    RecallIndex index;
    for (auto& message : plain) index.add(some_words(random, message));
    std::vector<Word> words;
    for (std::uint64_t i = random() % 40; i-- > 0;)
      words.push_back(static_cast<Word>((random() % 300) * 2654435761u));
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    std::vector<std::pair<std::uint32_t, std::uint32_t>> expected, found;
    for (std::uint32_t ordinal = 0; ordinal < plain.size(); ++ordinal) {
      std::uint32_t count = 0;
      for (const Word word : words)
        if (const auto at = plain[ordinal].find(word); at != plain[ordinal].end())
          count += at->second;
      if (count > 0) expected.emplace_back(ordinal, count);
    }
    for (const Posting& posting : index.find_any(words))
      found.emplace_back(posting.ordinal, posting.count);
    ASSERT_EQ(found, expected);
  }
}

TEST(RecallModel, MergedSegmentsHaveWhatTheirPartsHave) {
  std::mt19937_64 random(seed());
  for (std::uint64_t step = 0; step < steps(); ++step) {
    Plain plain;
    std::vector<Segment> parts;
    std::uint32_t first = static_cast<std::uint32_t>(random() % 100);
    const std::uint32_t begin = first;
    for (std::uint64_t part = 1 + random() % 5; part-- > 0;) {
      std::vector<MessageWords> messages;
      for (std::uint64_t i = 1 + random() % 40; i-- > 0;)
        messages.push_back(some_words(random, plain.emplace_back()));
      parts.push_back(Segment::of(first, messages));
      first += static_cast<std::uint32_t>(messages.size());
    }
    std::vector<const Segment*> all;
    for (const Segment& part : parts) all.push_back(&part);
    const std::uint32_t from = begin + static_cast<std::uint32_t>(random() % (first - begin));
    const std::uint32_t end = from + 1 + static_cast<std::uint32_t>(random() % (first - from));
    const Segment merged = Segment::read(Segment::merged(all, from, end).bytes());
    ASSERT_EQ(merged.first(), from);
    ASSERT_EQ(merged.end(), end);
    for (std::uint64_t rank = 0; rank < 2000; ++rank) {
      const Word word = static_cast<Word>(rank * 2654435761u);
      std::vector<std::pair<std::uint32_t, std::uint32_t>> expected, found;
      for (std::uint32_t ordinal = from; ordinal < end; ++ordinal)
        if (const auto at = plain[ordinal - begin].find(word); at != plain[ordinal - begin].end())
          expected.emplace_back(ordinal, at->second);
      for (const Posting& posting : merged.find(word))
        found.emplace_back(posting.ordinal, posting.count);
      ASSERT_EQ(found, expected);
    }
  }
}

TEST(RecallModel, BytesThatAreNoSegmentAreRefused) {
  std::mt19937_64 random(seed());
  std::map<Word, std::uint32_t> plain;
  std::vector<MessageWords> messages(20);
  for (MessageWords& message : messages) message = some_words(random, plain);
  const std::string good = Segment::of(3, messages).bytes();
  for (std::uint64_t step = 0; step < 50 * steps(); ++step) {
    std::string bad = good;
    if (random() % 2 == 0) bad.resize(random() % bad.size());
    for (std::uint64_t i = random() % 4; i-- > 0 && !bad.empty();)
      bad[random() % bad.size()] = static_cast<char>(random());
    try {
      const Segment segment = Segment::read(bad);
      for (const auto& [word, count] : plain) segment.find(word);
      segment.find_any(WordsWith(U'\u732B'));
    } catch (const Failure& failure) {
      EXPECT_TRUE(failure.error().code == ErrorCode::corrupt ||
                  failure.error().code == ErrorCode::unsupported);
    }
  }
}

}  // namespace
}  // namespace undertext
