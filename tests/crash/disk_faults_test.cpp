// Disks that fail, once or for good, at every call in turn: errors, a full disk, a failed fsync.
// Whatever is answered then must be so, and when the disk is well again everything must go on, each
// step done once.
//
// UNDERTEXT_DISK_FAULTS=N   about how many faults, spread evenly over all there are (default: 1,500; 0: every single one)
#include <fstream>

#include "../store/kinds.hpp"
#include "numbers.hpp"
#include "recording_vfs.hpp"
#include "story.hpp"

namespace undertext::test {
namespace {

// Faults that a test tries: the numbers of calls, evenly.
std::uint64_t stride_for(std::uint64_t calls, std::uint64_t runs) {
  const std::uint64_t wanted = number_of("UNDERTEXT_DISK_FAULTS", 1500);
  return wanted == 0 ? 1 : std::max<std::uint64_t>(1, calls * runs / wanted);
}

class DiskFaults : public ::testing::Test {
 protected:
  static Result<std::shared_ptr<Store>> open(const MemoryFolder& folder) {
    return open_store("sqlite:" + folder.file("store.db"));
  }

  // Runs the story with a disk that fails. Each step is tried until it is done; what is stored is
  // compared after every error.
  void run(const Story& story, std::uint64_t n, Fault fault, bool once, std::uint64_t& faults) {
    SCOPED_TRACE("call " + std::to_string(n) + (once ? ", once" : ", and all after it"));
    const MemoryFolder folder;
    RecordingVfs& vfs = RecordingVfs::get();
    vfs.heal();
    std::shared_ptr<Store> store = open(folder).value();
    vfs.fail_at(n, fault, once);
    bool failed = false;
    for (std::size_t done = 0; done < story.steps().size(); ++done) {
      const Step& step = story.steps()[done];
      Result<void> ran = step.run(*store);
      if (ran) continue;
      ASSERT_EQ(name(ran.error().code), name(ErrorCode::unavailable))
          << step.what << ": " << ran.error().message;
      failed = true;
      if (!once) {
        // Nothing can be stored now, but what is can be read.
        const Result<ConversationRecord> read = store->find("first0");
        ASSERT_TRUE(read || read.error().code != ErrorCode::corrupt) << read.error().message;
        const Result<void> again = run_again(step, *store);
        ASSERT_TRUE(again || again.error().code == ErrorCode::unavailable) << again.error().message;
        vfs.heal();
      }
      if (n % 2 == 0) {
        store.reset();
        store = open(folder).value();
      }
      const Result<std::string> held = contents(*store);
      ASSERT_TRUE(held) << step.what << ": " << held.error().message;
      ASSERT_TRUE(*held == story.contents_after(done) || *held == story.contents_after(done + 1))
          << step.what;
      ran = run_again(step, *store);
      ASSERT_TRUE(ran) << step.what << ", again: " << ran.error().message;
    }
    vfs.heal();
    faults += failed ? 1 : 0;
    ASSERT_EQ(contents(*store).value(), story.contents_after(story.steps().size()));
    store.reset();
    ASSERT_EQ(contents(*open(folder).value()).value(), story.contents_after(story.steps().size()));
  }

  // How many calls the story makes when nothing fails.
  std::uint64_t count_calls(const Story& story, Fault fault) {
    const MemoryFolder folder;
    RecordingVfs& vfs = RecordingVfs::get();
    const std::shared_ptr<Store> store = open(folder).value();
    vfs.fail_at(~std::uint64_t{0}, fault, true);
    for (const Step& step : story.steps()) EXPECT_TRUE(step.run(*store));
    const std::uint64_t calls = vfs.calls();
    vfs.heal();
    return calls;
  }
};

TEST_F(DiskFaults, AreReportedAndLeaveEveryStepWholeOrAbsent) {
  const Story story(1);
  const std::uint64_t calls = count_calls(story, Fault::io_error);
  const std::uint64_t stride = stride_for(calls, 4);
  std::uint64_t runs = 0, faults = 0;
  for (const Fault fault : {Fault::io_error, Fault::disk_full}) {
    for (const bool once : {true, false}) {
      for (std::uint64_t n = 1; n <= calls; n += stride, ++runs) {
        run(story, n, fault, once, faults);
        if (HasFatalFailure()) return;
      }
    }
  }
  std::printf(
      "disk faults: %ju calls, %ju runs with errors or a full disk, %ju of them answered with an "
      "error, 0 bad\n",
      std::uintmax_t{calls}, std::uintmax_t{runs}, std::uintmax_t{faults});
  EXPECT_GT(faults, runs / 2);
}

// A disk that cannot read for a moment has lost nothing: `unavailable`, and never `corrupt`.
TEST_F(DiskFaults, OfReadingAreUnavailableAndNothingIsTakenForDamaged) {
  const Story story(1);
  const std::uint64_t calls = count_calls(story, Fault::read_error);
  const std::uint64_t stride = stride_for(calls, 4);
  std::uint64_t runs = 0, faults = 0;
  for (const bool once : {true, false}) {
    for (std::uint64_t n = 1; n <= calls; n += stride, ++runs) {
      run(story, n, Fault::read_error, once, faults);
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(faults, 0u);

  const MemoryFolder folder;
  RecordingVfs& vfs = RecordingVfs::get();
  {
    const std::shared_ptr<Store> store = open(folder).value();
    for (const Step& step : story.steps()) ASSERT_TRUE(step.run(*store));
  }
  const std::string held = story.contents_after(story.steps().size());
  std::uint64_t reads = 0, refused = 0;
  for (const bool once : {true, false}) {
    for (std::uint64_t n = 1;; ++n, ++reads) {
      SCOPED_TRACE("read " + std::to_string(n) + (once ? ", once" : ", and all after it"));
      vfs.fail_at(n, Fault::read_error, once);
      const Result<std::shared_ptr<Store>> store = open(folder);
      const Result<std::string> read = store ? contents(**store) : store.error();
      const bool has_failed = vfs.calls() >= n;
      vfs.heal();
      if (!read) {
        ASSERT_EQ(name(read.error().code), name(ErrorCode::unavailable)) << read.error().message;
        ++refused;
      } else {
        ASSERT_EQ(*read, held);
      }
      ASSERT_EQ(contents(store ? **store : *open(folder).value()).value(), held);
      if (!has_failed) break;
    }
  }
  std::printf(
      "read errors: %ju runs of a story, %ju of reading, %ju of these answered with an error, 0 "
      "bad\n",
      std::uintmax_t{runs}, std::uintmax_t{reads}, std::uintmax_t{refused});
  EXPECT_GT(refused, reads / 2);
}

// Linux takes pages for clean after a failed fsync: they are read as written, and never reach the
// disk. Then the power goes.
TEST_F(DiskFaults, AFailedSyncLosesNothingThatIsAnsweredLaterNotEvenInAPowerCut) {
  const Story story(2);
  const std::uint64_t syncs = count_calls(story, Fault::failed_sync);
  std::uint64_t runs = 0, faults = 0;
  RecordingVfs& vfs = RecordingVfs::get();
  for (std::uint64_t n = 1; n <= syncs; ++n) {
    SCOPED_TRACE("sync " + std::to_string(n));
    const MemoryFolder folder;
    vfs.record();
    std::shared_ptr<Store> store = open(folder).value();
    // A connection that reads keeps SQLite's idea of the log alive; without one it is made anew
    // from the file.
    if (n % 2 == 0) {
      ASSERT_TRUE(store->list());
    }
    vfs.fail_at(n, Fault::failed_sync, true);
    std::uint64_t done = 0;
    for (const Step& step : story.steps()) {
      Result<void> ran = step.run(*store);
      if (!ran) {
        ++faults;
        ASSERT_EQ(name(ran.error().code), name(ErrorCode::unavailable));
        ran = run_again(step, *store);
        ASSERT_TRUE(ran) << step.what << ": " << ran.error().message;
      }
      vfs.answered(++done);
    }
    vfs.heal();
    const std::vector<DiskEvent> events = vfs.stop();
    store.reset();
    // The power goes at the end, and at each of the answers after the fault.
    Disk disk;
    bool failed = false;
    std::uint64_t cuts = 0;
    for (const DiskEvent& event : events) {
      disk.apply(event);
      failed = failed || event.kind == DiskEvent::Kind::failed_sync;
      if (!failed || event.kind != DiskEvent::Kind::answered) continue;
      if (event.at != story.steps().size() && ++cuts > 6) continue;
      const MemoryFolder after;
      for (const auto& [name, bytes] : disk.after_power_cut(Disk::Luck::none, 1))
        std::ofstream(after.file(name), std::ios::binary) << bytes;
      const Result<std::string> held = contents(*open(after).value());
      ASSERT_TRUE(held) << held.error().message;
      ASSERT_EQ(*held, story.contents_after(event.at)) << "after " << event.at << " answers";
      ++runs;
    }
  }
  std::printf("failed syncs: %ju, %ju answered with an error, %ju power cuts after them, 0 lost\n",
              std::uintmax_t{syncs}, std::uintmax_t{faults}, std::uintmax_t{runs});
}

}  // namespace
}  // namespace undertext::test
