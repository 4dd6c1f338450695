// Power cuts, simulated: a story is written through a VFS that records, and for every moment of it
// disks are made up that a power cut could have left.
// Each must open, be whole, and hold every step that was answered.
//
// UNDERTEXT_POWER_CUTS=N   how many disks (default: 6,000)
// SEED=N                   where the random choice of sectors starts
#include <chrono>
#include <cstdlib>
#include <fstream>

#include "../store/kinds.hpp"
#include "numbers.hpp"
#include "recording_vfs.hpp"
#include "story.hpp"

namespace undertext::test {
namespace {

struct Outcome {
  std::uint64_t states = 0;
  std::uint64_t lost = 0;     // whole, but without a step that was answered
  std::uint64_t damaged = 0;  // none of the story's moments
  std::string first_fault;
};

class PowerLoss : public ::testing::Test {
 protected:
  std::vector<DiskEvent> record(const Story& story, Durability durability) {
    const MemoryFolder folder;
    RecordingVfs& vfs = RecordingVfs::get();
    vfs.record();
    std::shared_ptr<Store> store;
    std::uint64_t done = 0;
    for (const Step& step : story.steps()) {
      // Closing and opening write, too.
      if (done % 13 == 0) {
        store.reset();
        store = open_store("sqlite:" + folder.file("store.db"), {.durability = durability}).value();
      }
      const Result<void> ran = step.run(*store);
      EXPECT_TRUE(ran) << step.what << ": " << ran.error().message;
      vfs.answered(++done);
    }
    store.reset();
    return vfs.stop();
  }

  void look_at(const std::map<std::string, std::string>& files, const Story& story,
               std::uint64_t answered, Durability durability, const std::string& where,
               Outcome& outcome) {
    ++outcome.states;
    const MemoryFolder folder;
    for (const auto& [name, bytes] : files)
      std::ofstream(folder.file(name), std::ios::binary) << bytes;
    const auto fault = [&](std::uint64_t& count, const std::string& what) {
      ++count;
      if (outcome.first_fault.empty()) outcome.first_fault = where + ": " + what;
    };
    // As before the power went: a log of which each commit was synced is looked at more closely.
    const auto store = open_store("sqlite:" + folder.file("store.db"), {.durability = durability});
    if (!store) return fault(outcome.damaged, store.error().message);
    const Result<std::string> held = contents(**store);
    if (!held) return fault(outcome.damaged, held.error().message);
    if (*held == story.contents_after(answered)) return;
    if (answered < story.steps().size() && *held == story.contents_after(answered + 1)) return;
    if (const auto steps = story.steps_for(*held))
      return fault(outcome.lost,
                   std::to_string(*steps) + " steps instead of " + std::to_string(answered));
    fault(outcome.damaged, "what it holds is no moment of the story");
  }

  Outcome cut_power(const std::vector<DiskEvent>& events, const Story& story, std::uint64_t states,
                    std::uint64_t seed, Durability durability = Durability::full) {
    Outcome outcome;
    Disk disk;
    std::uint64_t answered = 0;
    for (std::size_t i = 0; i < events.size(); ++i) {
      disk.apply(events[i]);
      if (events[i].kind == DiskEvent::Kind::answered) answered = events[i].at;
      // As many a moment as it takes to come to `states` in the end.
      const std::uint64_t due = states * (i + 1) / events.size();
      for (std::uint64_t k = 0; outcome.states < due; ++k) {
        const auto luck = k == 0 ? Disk::Luck::none : k == 1 ? Disk::Luck::all : Disk::Luck::some;
        const std::uint64_t choice = seed + outcome.states;
        look_at(disk.after_power_cut(luck, choice), story, answered, durability,
                "event " + std::to_string(i) + " of " + std::to_string(events.size()) +
                    ", choice " + std::to_string(choice),
                outcome);
      }
    }
    return outcome;
  }
};

TEST_F(PowerLoss, TakesNothingThatWasAnsweredAndLeavesEveryStepWholeOrAbsent) {
  const std::uint64_t states = number_of("UNDERTEXT_POWER_CUTS", 6000), seed = number_of("SEED", 1);
  const Story story(2);
  const std::vector<DiskEvent> events = record(story, Durability::full);
  const auto begin = std::chrono::steady_clock::now();
  const Outcome outcome = cut_power(events, story, states, seed);
  const auto seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf(
      "power cuts: %zu events of %zu steps, %ju disks in %.0f s, %ju lost something, %ju damaged "
      "(SEED=%ju)\n",
      events.size(), story.steps().size(), std::uintmax_t{outcome.states}, seconds,
      std::uintmax_t{outcome.lost}, std::uintmax_t{outcome.damaged}, std::uintmax_t{seed});
  EXPECT_EQ(outcome.lost, 0u) << outcome.first_fault;
  EXPECT_EQ(outcome.damaged, 0u) << outcome.first_fault;
}

// That the test can fail; and what `normal` means.
TEST_F(PowerLoss, TakesTheLastStepsWhereDurabilityIsNormalButDamagesNothing) {
  const Story story(1);
  const Outcome outcome =
      cut_power(record(story, Durability::normal), story,
                number_of("UNDERTEXT_POWER_CUTS", 6000) / 6, 1, Durability::normal);
  std::printf("power cuts, durability normal: %ju disks, %ju lost something, %ju damaged\n",
              std::uintmax_t{outcome.states}, std::uintmax_t{outcome.lost},
              std::uintmax_t{outcome.damaged});
  EXPECT_GT(outcome.lost, outcome.states / 10);
  EXPECT_EQ(outcome.damaged, 0u) << outcome.first_fault;
}

TEST_F(PowerLoss, OnADiskThatIgnoresEverySyncIsFoundOut) {
  const Story story(1);
  std::vector<DiskEvent> events = record(story, Durability::full);
  std::erase_if(events, [](const DiskEvent& event) { return event.kind == DiskEvent::Kind::sync; });
  const Outcome outcome = cut_power(events, story, 400, 1);
  EXPECT_GT(outcome.lost + outcome.damaged, outcome.states / 2);
}

}  // namespace
}  // namespace undertext::test
