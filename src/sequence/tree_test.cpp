#include "sequence/tree.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sequence/entry.hpp"

namespace undertext {
namespace {

std::uint64_t seed_from_environment() {
  const char* given = std::getenv("SEED");
  const std::uint64_t seed = given ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("SEED=%llu\n", static_cast<unsigned long long>(seed));
  return seed;
}

Entry make_entry(std::uint32_t number, std::mt19937_64& random) {
  Entry e{};
  e.ordinal = number;
  e.place = number;
  e.reach = random() % 5 == 0 ? static_cast<std::uint32_t>(random() % 100) : no_place;
  e.bytes = static_cast<std::uint32_t>(random() % 1000);
  e.tokens = static_cast<std::uint32_t>(random() % 100) & tokens_per_message_max;
  e.role_bits = static_cast<std::uint32_t>(random()) & 3u;
  e.set_time_ms(static_cast<std::int64_t>(random() % 10000) - 5000);
  return e;
}

EntrySums recount(const std::vector<Entry>& all, std::uint64_t begin, std::uint64_t end) {
  EntrySums total;
  for (std::uint64_t i = begin; i < end; ++i) total += EntrySums::of(all[i]);
  return total;
}

template <class AnyTree>
struct Pair {
  AnyTree tree;
  std::vector<Entry> plain;
};

// Everything that can be read of a tree is what a plain vector says.
template <class AnyTree>
void expect_equal(const AnyTree& tree, const std::vector<Entry>& plain, std::mt19937_64& random) {
  ASSERT_EQ(tree.check(), nullptr);
  ASSERT_EQ(tree.size(), plain.size());
  for (std::uint64_t i = 0; i < plain.size();) {
    const auto chunk = tree.chunk(i);
    ASSERT_EQ(chunk.begin, i);
    ASSERT_GT(chunk.end, i);
    for (; i < chunk.end; ++i) ASSERT_EQ(chunk.items[i - chunk.begin], plain[i]) << "at " << i;
  }
  ASSERT_EQ(tree.sums(), recount(plain, 0, plain.size()));
  const std::uint64_t a = random() % (plain.size() + 1), b = a + random() % (plain.size() - a + 1);
  ASSERT_EQ(tree.sums(a, b), recount(plain, a, b));

  const auto role = static_cast<Role>(random() % 4);
  const std::uint64_t k = random() % 8;
  std::uint64_t kth = 0, seen = 0;
  for (; kth < plain.size(); ++kth) {
    if (plain[kth].role() == role && seen++ == k) break;
  }
  ASSERT_EQ(
      tree.seek([&](const EntrySums& s) { return s.role_counts[static_cast<std::size_t>(role)]; },
                k),
      kth);

  const std::int64_t from = static_cast<std::int64_t>(random() % 10000) - 5000, to = from + 500;
  const auto may = [&](const EntrySums& s) { return s.time_max >= from && s.time_min < to; };
  const auto in_time = [&](const Entry& e) { return e.time_ms() >= from && e.time_ms() < to; };
  std::vector<std::uint64_t> expected, forward, back;
  for (std::uint64_t i = a; i < b; ++i) {
    if (in_time(plain[i])) expected.push_back(i);
  }
  tree.visit(a, b, may, [&](std::uint64_t i, const Entry& e) {
    if (in_time(e)) forward.push_back(i);
    return true;
  });
  tree.visit_back(a, b, may, [&](std::uint64_t i, const Entry& e) {
    if (in_time(e)) back.push_back(i);
    return true;
  });
  ASSERT_EQ(forward, expected);
  std::reverse(back.begin(), back.end());
  ASSERT_EQ(back, expected);
}

template <class AnyTree>
void expect_common_parts(const Pair<AnyTree>& a, const Pair<AnyTree>& b) {
  const std::uint64_t most = std::min(a.plain.size(), b.plain.size());
  std::uint64_t prefix = 0, suffix = 0;
  while (prefix < most && a.plain[prefix] == b.plain[prefix]) ++prefix;
  while (suffix < most - prefix &&
         a.plain[a.plain.size() - 1 - suffix] == b.plain[b.plain.size() - 1 - suffix])
    ++suffix;
  ASSERT_EQ(a.tree.common_prefix(b.tree), prefix);
  ASSERT_EQ(a.tree.common_suffix(b.tree, most - prefix), suffix);
  // From any place on, in particular from where the same item stands in both.
  for (std::uint64_t i = 0; i <= a.plain.size(); i += 1 + a.plain.size() / 5) {
    const auto same =
        i < a.plain.size() ? std::find(b.plain.begin(), b.plain.end(), a.plain[i]) : b.plain.end();
    const auto j = static_cast<std::uint64_t>(same - b.plain.begin());
    std::uint64_t run = 0;
    while (i + run < a.plain.size() && j + run < b.plain.size() &&
           a.plain[i + run] == b.plain[j + run])
      ++run;
    ASSERT_EQ(a.tree.common_run(i, b.tree, j), run) << "from " << i << " and " << j;
  }
}

template <class T>
void play_random_edits(std::uint64_t seed, int rounds, int steps) {
  std::mt19937_64 random(seed);
  for (int round = 0; round < rounds; ++round) {
    std::uint32_t number = 0;
    Pair<T> now;
    std::vector<Pair<T>> kept;
    for (int step = 0; step < steps; ++step) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " round " + std::to_string(round) + " step " +
                   std::to_string(step));
      const std::uint64_t n = now.plain.size();
      switch (random() % 10) {
        case 0:
        case 1:
        case 2:
        case 3: {
          const Entry e = make_entry(number++, random);
          now.tree.push_back(e);
          now.plain.push_back(e);
          break;
        }
        case 4:
        case 5:
        case 6: {
          const std::uint64_t at = random() % (n + 1);
          const std::uint64_t erase = random() % 3 == 0
                                          ? random() % (n - at + 1)
                                          : std::min<std::uint64_t>(n - at, random() % 4);
          std::vector<Entry> insert(random() % 8 == 0 ? random() % 90 : random() % 4);
          for (Entry& e : insert) e = make_entry(number++, random);
          now.tree.splice(at, erase, insert);
          now.plain.erase(now.plain.begin() + static_cast<std::ptrdiff_t>(at),
                          now.plain.begin() + static_cast<std::ptrdiff_t>(at + erase));
          now.plain.insert(now.plain.begin() + static_cast<std::ptrdiff_t>(at), insert.begin(),
                           insert.end());
          break;
        }
        case 7: kept.push_back(now); break;
        case 8:  // go on from an earlier copy: its free slots may have been taken by the later ones
          if (!kept.empty()) now = kept[random() % kept.size()];
          break;
        default:
          if (!kept.empty() && random() % 4 == 0)
            kept.erase(kept.begin() + static_cast<std::ptrdiff_t>(random() % kept.size()));
          break;
      }
      ASSERT_NO_FATAL_FAILURE(expect_equal(now.tree, now.plain, random));
      if (!kept.empty()) {
        const Pair<T>& other = kept[random() % kept.size()];
        ASSERT_NO_FATAL_FAILURE(expect_equal(other.tree, other.plain, random));
        ASSERT_NO_FATAL_FAILURE(expect_common_parts(now, other));
      }
    }
  }
}

template <unsigned LeafMax, unsigned InnerMax>
using EntriesOf = Tree<Entry, EntrySums, LeafMax, InnerMax>;

// A tree of entries, as wide as another one.
template <class Other>
struct AsWideAs;
template <class Item, class Sums, unsigned LeafMax, unsigned InnerMax>
struct AsWideAs<Tree<Item, Sums, LeafMax, InnerMax>> {
  using Entries = EntriesOf<LeafMax, InnerMax>;
};

TEST(TreeModel, ATreeOfTheNarrowestNodesReadsLikeAVectorAfterAnyEdit) {
  play_random_edits<EntriesOf<2, 4>>(seed_from_environment(), 40, 250);
}
TEST(TreeModel, ATreeOfOddNodesReadsLikeAVectorAfterAnyEdit) {
  play_random_edits<EntriesOf<3, 5>>(seed_from_environment(), 40, 250);
}
TEST(TreeModel, ATreeOfSmallNodesReadsLikeAVectorAfterAnyEdit) {
  play_random_edits<EntriesOf<4, 4>>(seed_from_environment(), 40, 250);
}
// Both widths that the engine has: of views and of the log.
TEST(TreeModel, ATreeOfShippedNodesReadsLikeAVectorAfterAnyEdit) {
  play_random_edits<EntryTree>(seed_from_environment(), 20, 400);
}
TEST(TreeModel, ATreeAsWideAsTheLogReadsLikeAVectorAfterAnyEdit) {
  play_random_edits<AsWideAs<StoredTree>::Entries>(seed_from_environment(), 10, 600);
}

TEST(Tree, AnEmptyTreeHasNothing) {
  const EntryTree tree;
  EXPECT_TRUE(tree.empty());
  EXPECT_EQ(tree.sums(), EntrySums());
  EXPECT_EQ(tree.seek([](const EntrySums& s) { return s.role_counts[0]; }, 0), 0u);
  EXPECT_EQ(tree.check(), nullptr);
}

TEST(Tree, TwoCopiesThatBothAppendDoNotSeeEachOther) {
  std::mt19937_64 random(1);
  EntryTree a;
  a.push_back(make_entry(0, random));
  EntryTree b = a;
  a.push_back(make_entry(1, random));
  b.push_back(make_entry(2, random));
  EXPECT_EQ(a[1].ordinal, 1u);
  EXPECT_EQ(b[1].ordinal, 2u);
}

TEST(Tree, JoiningSumsIsAssociativeWithTheEmptySumAsItsNeutral) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 200; ++i) {
    const EntrySums a = EntrySums::of(make_entry(1, random)),
                    b = EntrySums::of(make_entry(2, random)),
                    c = EntrySums::of(make_entry(3, random));
    EntrySums ab = a, bc = b, left, right = a;
    (ab += b) += c;
    bc += c;
    right += bc;
    EXPECT_EQ(ab, right);
    left += a;
    EXPECT_EQ(left, a);
  }
}

EntryTree tree_of(std::uint32_t n) {
  std::mt19937_64 random(n);
  EntryTree tree;
  for (std::uint32_t i = 0; i < n; ++i) tree.push_back(make_entry(i, random));
  return tree;
}

// The laws of cost are counted, not timed: nodes made by one edit of a list of n.
class TreeCost : public ::testing::TestWithParam<std::uint32_t> {};

std::uint64_t nodes_made_by(const std::function<void()>& edit) {
  const std::uint64_t before = EntryTree::nodes_made();
  edit();
  return EntryTree::nodes_made() - before;
}

TEST_P(TreeCost, AnEditMakesAsManyNodesAsTheTreeIsHigh) {
  const std::uint32_t n = GetParam();
  const EntryTree base = tree_of(n);
  // Every node but the root is at least half full: 16 items a leaf, 4 children a node.
  const double most = 2 + std::log(static_cast<double>(n) / 16) / std::log(4.0);
  ASSERT_LE(base.height(), most);
  std::mt19937_64 random(n);
  for (int i = 0; i < 200; ++i) {
    const Entry e = make_entry(n, random);
    const std::uint64_t at = random() % n, other = random() % n;
    EXPECT_LE(nodes_made_by([&] {
                EntryTree t = base;
                t.splice(at, 0, {&e, 1});
              }),
              2 * base.height() + 1)
        << "insert";
    EXPECT_LE(nodes_made_by([&] {
                EntryTree t = base;
                t.splice(at, 1, {&e, 1});
              }),
              base.height())
        << "replace";
    EXPECT_LE(nodes_made_by([&] {
                EntryTree t = base;
                t.splice(at, 1, {});
              }),
              2 * base.height())
        << "delete one";
    const std::uint64_t from = std::min(at, other), to = std::max(at, other);
    EXPECT_LE(nodes_made_by([&] {
                EntryTree t = base;
                t.splice(from, to - from, {});
              }),
              5 * base.height())
        << "delete a stretch";
    EXPECT_LE(nodes_made_by([&] {
                EntryTree t = base;
                t.push_back(e);
              }),
              base.height() + 2)
        << "append";
    EXPECT_EQ(nodes_made_by([&] {
                const EntryTree t = base;
                (void)t;
              }),
              0u)
        << "copy";
  }
}

TEST_P(TreeCost, AppendingMakesOnePathForEveryLeafThatFills) {
  const std::uint32_t n = GetParam();
  EntryTree tree;
  const std::uint64_t made = nodes_made_by([&] { tree = tree_of(n); });
  EXPECT_LE(made, (n / 32 + 1) * (tree.height() + 1) + 4);
}

INSTANTIATE_TEST_SUITE_P(Sizes, TreeCost,
                         ::testing::Values(100u, 1000u, 10000u, 100000u, 1000000u));

}  // namespace
}  // namespace undertext
