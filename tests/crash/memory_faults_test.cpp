// Memory that runs out, at every allocation in turn, of the stores' own code and of SQLite's. The
// call throws std::bad_alloc or does its work, nothing is done by halves, and the next call finds
// everything in order.
//
// UNDERTEXT_MEMORY_FAULTS=N   tries every N-th allocation (default: 7)
#include <cstdlib>
#include <new>

#include <sqlite3.h>

#include "../store/kinds.hpp"
#include "numbers.hpp"
#include "story.hpp"

namespace {

// Of one thread: these tests have no other.
struct Shortage {
  bool active = false;
  bool once = true;
  std::uint64_t fail_at = 0;
  std::uint64_t count = 0;
  std::uint64_t failed = 0;

  bool now() {
    if (!active) return false;
    ++count;
    if (count != fail_at && (once || count < fail_at)) return false;
    ++failed;
    return true;
  }
};
Shortage shortage;

sqlite3_mem_methods real_memory;
void* allocate(int size) { return shortage.now() ? nullptr : real_memory.xMalloc(size); }
void* reallocate(void* old, int size) {
  return shortage.now() ? nullptr : real_memory.xRealloc(old, size);
}

const bool installed = [] {
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
  sqlite3_mem_methods ours = real_memory;
  ours.xMalloc = allocate;
  ours.xRealloc = reallocate;
  return sqlite3_config(SQLITE_CONFIG_MALLOC, &ours) == SQLITE_OK;
}();

}  // namespace

void* operator new(std::size_t size) {
  void* memory = shortage.now() ? nullptr : std::malloc(size == 0 ? 1 : size);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace undertext::test {
namespace {

enum class Answer : std::uint8_t { done, failed, no_memory };

Answer run_short_of_memory(const Step& step, Store& store, std::uint64_t n, bool once,
                           std::string& message) {
  shortage = {.active = true, .once = once, .fail_at = n};
  Answer answer = Answer::done;
  try {
    const Result<void> done = step.run(store);
    shortage.active = false;
    if (!done) {
      answer = Answer::failed;
      message = done.error().message;
    }
  } catch (const std::bad_alloc&) {
    answer = Answer::no_memory;
  }
  shortage.active = false;
  return answer;
}

// The story on a fresh store, short of memory at the n-th allocation. True: there were as many.
bool run_story(const Story& story, Store& store, std::uint64_t n, bool once) {
  std::uint64_t before = 0;  // allocations of the steps that are done
  bool hit = false;
  for (std::size_t done = 0; done < story.steps().size(); ++done) {
    const Step& step = story.steps()[done];
    if (hit) {
      const Result<void> ran = step.run(store);
      if (!ran) ADD_FAILURE() << step.what << ": " << ran.error().message;
      continue;
    }
    std::string message;
    const Answer answer = run_short_of_memory(step, store, n - before, once, message);
    before += shortage.count;
    hit = shortage.failed > 0;
    if (!hit && answer == Answer::done) continue;
    if (answer == Answer::failed) ADD_FAILURE() << step.what << ": " << message;
    const Result<std::string> held = contents(store);
    if (!held) {
      ADD_FAILURE() << step.what << ": " << held.error().message;
      return true;
    }
    const bool is_done = *held == story.contents_after(done + 1);
    EXPECT_TRUE(is_done || (answer != Answer::done && *held == story.contents_after(done)))
        << step.what << ": done by halves";
    const Result<void> again = run_again(step, store);
    if (!again) ADD_FAILURE() << step.what << ", again: " << again.error().message;
  }
  return hit;
}

std::uint64_t run_all(const Story& story, std::uint64_t stride,
                      const std::function<std::shared_ptr<Store>()>& open) {
  std::uint64_t faults = 0;
  for (const bool once : {true, false}) {
    for (std::uint64_t n = 1;; n += stride, ++faults) {
      SCOPED_TRACE("allocation " + std::to_string(n) + (once ? ", once" : ", and all after it"));
      const std::shared_ptr<Store> store = open();
      if (!run_story(story, *store, n, once)) break;
      const Result<std::string> held = contents(*store);
      EXPECT_TRUE(held && *held == story.contents_after(story.steps().size()));
      if (::testing::Test::HasFailure()) return faults;
    }
  }
  return faults;
}

TEST(MemoryFaults, LeaveTheStoreInMemoryAsItWas) {
  const std::uint64_t faults = run_all(Story(1), 1, memory_store);
  std::printf("memory faults, store in memory: %ju allocations failed, %s\n",
              std::uintmax_t{faults}, HasFailure() ? "BAD" : "0 bad");
  EXPECT_GT(faults, 100u);
}

TEST(MemoryFaults, LeaveTheStoreInAFileAsItWas) {
  ASSERT_TRUE(installed);
  std::unique_ptr<MemoryFolder> folder;
  const std::uint64_t faults = run_all(Story(1), number_of("UNDERTEXT_MEMORY_FAULTS", 7), [&] {
    folder = std::make_unique<MemoryFolder>();
    return open_store("sqlite:" + folder->file("store.db")).value();
  });
  std::printf("memory faults, store in a file: %ju allocations failed, %s\n",
              std::uintmax_t{faults}, HasFailure() ? "BAD" : "0 bad");
  EXPECT_GT(faults, 100u);
}

TEST(MemoryFaults, WhileOpeningOrReadingChangeNothing) {
  const Story story(1);
  const MemoryFolder folder;
  const std::string url = "sqlite:" + folder.file("store.db");
  {
    const std::shared_ptr<Store> store = open_store(url).value();
    for (const Step& step : story.steps()) ASSERT_TRUE(step.run(*store));
  }
  const std::uint64_t stride = number_of("UNDERTEXT_MEMORY_FAULTS", 7);
  std::uint64_t faults = 0;
  for (const bool once : {true, false}) {
    for (std::uint64_t n = 1;; n += stride) {
      SCOPED_TRACE("allocation " + std::to_string(n));
      shortage = {.active = true, .once = once, .fail_at = n};
      bool whole = false;
      try {
        const Result<std::shared_ptr<Store>> store = open_store(url);
        if (store) {
          const Result<std::string> held = contents(**store);
          shortage.active = false;
          whole = held && *held == story.contents_after(story.steps().size());
          ASSERT_TRUE(whole || !held);
          ASSERT_TRUE(held || held.error().code != ErrorCode::corrupt) << held.error().message;
        }
      } catch (const std::bad_alloc&) {
      }
      shortage.active = false;
      faults += shortage.failed > 0 ? 1 : 0;
      if (whole && shortage.failed == 0) break;
    }
  }
  EXPECT_EQ(contents(*open_store(url).value()).value(), story.contents_after(story.steps().size()));
  std::printf("memory faults, opening and reading: %ju allocations failed, 0 bad\n",
              std::uintmax_t{faults});
}

}  // namespace
}  // namespace undertext::test
