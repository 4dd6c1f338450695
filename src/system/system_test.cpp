// Calls of the operating system, as everything else sees them.
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "system/files.hpp"
#include "system/process.hpp"
#include "system/signals.hpp"
#include "system/sockets.hpp"
#include "system/terminal.hpp"
#include "system/thread_time.hpp"

namespace undertext {
namespace {

struct SystemTest : testing::Test {
  std::string folder = make_temporary_folder(
      (std::filesystem::temp_directory_path() / "undertext-system-").string());
  ~SystemTest() override { std::filesystem::remove_all(folder); }
  std::string at(const std::string& name) const { return folder + "/" + name; }
};

std::string contents(const std::string& path) {
  const OpenFile file = open_file(path, OpenFor::reading);
  char bytes[256];
  const std::int64_t got = read_some(file.descriptor(), bytes, sizeof bytes);
  return got < 0 ? "failed" : std::string(bytes, static_cast<std::size_t>(got));
}

bool write_to(const std::string& path, OpenFor purpose, std::string_view bytes) {
  OpenFile file = open_file(path, purpose);
  return file && write_all(file.descriptor(), bytes) && file.close();
}

TEST_F(SystemTest, WhatIsMadeIsForItsOwnerAlone) {
  ASSERT_TRUE(write_to(at("a"), OpenFor::making, "one"));
  const std::optional<FileStatus> status = status_of(at("a"));
  ASSERT_TRUE(status);
  EXPECT_EQ(status->permissions, 0600u);
  EXPECT_TRUE(status->is_regular && status->is_own);
  EXPECT_FALSE(status->others_may_write || status->is_folder);
  EXPECT_EQ(status->size_bytes, 3u);
  ASSERT_TRUE(set_permissions(at("a"), 0622));
  EXPECT_TRUE(status_of(at("a"))->others_may_write);
  EXPECT_TRUE(status_of(folder)->is_folder);
  EXPECT_FALSE(status_of(at("missing")));
}

TEST_F(SystemTest, EveryPurposeTreatsWhatIsThereInItsOwnWay) {
  EXPECT_FALSE(open_file(at("a"), OpenFor::reading));
  EXPECT_EQ(errno, ENOENT);
  ASSERT_TRUE(write_to(at("a"), OpenFor::making, "one"));
  EXPECT_FALSE(open_file(at("a"), OpenFor::making));
  EXPECT_EQ(errno, EEXIST);
  ASSERT_TRUE(write_to(at("a"), OpenFor::appending, " two"));
  EXPECT_EQ(contents(at("a")), "one two");
  ASSERT_TRUE(write_to(at("a"), OpenFor::replacing, "three"));
  EXPECT_EQ(contents(at("a")), "three");
  ASSERT_TRUE(write_to(at("a"), OpenFor::keeping, "T"));
  EXPECT_EQ(contents(at("a")), "Three");
  EXPECT_FALSE(open_file(at("a"), OpenFor::folder));
  const OpenFile opened = open_file(folder, OpenFor::folder);
  EXPECT_TRUE(opened && sync_to_disk(opened.descriptor()) && lock_whole(opened.descriptor()));
}

TEST_F(SystemTest, AFileIsReadFromAnOffsetAndNotThroughALinkWhereItselfIsMeant) {
  ASSERT_TRUE(write_to(at("a"), OpenFor::making, "0123456789"));
  std::filesystem::create_symlink(at("a"), at("link"));
  EXPECT_TRUE(open_file(at("link"), OpenFor::reading));
  EXPECT_FALSE(open_file(at("link"), OpenFor::reading_itself));
  EXPECT_EQ(errno, ELOOP);
  const OpenFile file = open_file(at("a"), OpenFor::reading_itself);
  ASSERT_TRUE(file);
  EXPECT_EQ(read_from(file.descriptor(), 2, 3), "234");
  EXPECT_EQ(read_from(file.descriptor(), 8, 100), "89");
  EXPECT_EQ(read_from(file.descriptor(), 100, 100), "");
}

TEST_F(SystemTest, OtherPermissionsChangeAFileAndWriteNothing) {
  ASSERT_TRUE(write_to(at("a"), OpenFor::making, "one"));
  using Time = std::filesystem::file_time_type;
  const Time written = std::filesystem::last_write_time(at("a")) - std::chrono::hours(1);
  std::filesystem::last_write_time(at("a"), written);
  const FileStatus before = *status_of(at("a"));
  ASSERT_TRUE(set_permissions(at("a"), 0400));
  const FileStatus after = *status_of(at("a"));
  EXPECT_EQ(after.written_ns, before.written_ns);
  EXPECT_GE(after.changed_ns - after.written_ns, std::int64_t{3'500'000'000'000});
}

TEST_F(SystemTest, ThePageIsGivenToTheDesktopsProgramAsOneWord) {
  const std::string script = "#!/bin/sh\nprintf %s \"$#$1\" > '" + at("got") + "'\n";
  for (const char* const program : {"open", "xdg-open"}) {
    ASSERT_TRUE(write_to(at(program), OpenFor::making, script));
    ASSERT_TRUE(set_permissions(at(program), 0700));
  }
  const std::string path = std::getenv("PATH");
  set_variable("PATH", folder);
  EXPECT_TRUE(open_in_browser("http://127.0.0.1/#a b"));
  set_variable("PATH", at("missing"));
  EXPECT_FALSE(open_in_browser("http://127.0.0.1/"));
  set_variable("PATH", path);
  EXPECT_EQ(contents(at("got")), "1http://127.0.0.1/#a b");
}

TEST_F(SystemTest, ASecondNameIsRefusedWhereThereIsOneAndARenameIsNot) {
  ASSERT_TRUE(write_to(at("a"), OpenFor::making, "one"));
  ASSERT_TRUE(write_to(at("b"), OpenFor::making, "two"));
  EXPECT_FALSE(give_second_name(at("a"), at("b")));
  EXPECT_EQ(errno, EEXIST);
  ASSERT_TRUE(give_second_name(at("a"), at("c")));
  EXPECT_EQ(status_of(at("a"))->inode, status_of(at("c"))->inode);
  EXPECT_EQ(status_of(at("a"))->links, 2u);
  ASSERT_TRUE(rename_over(at("c"), at("b")));
  EXPECT_EQ(contents(at("b")), "one");
  EXPECT_TRUE(remove_name(at("b")));
  EXPECT_FALSE(is_there(at("b")));
}

TEST_F(SystemTest, ALockOfARangeKeepsOtherProcessesOut) {
  ASSERT_TRUE(write_to(at("a"), OpenFor::making, "one"));
  const OpenFile first = open_file(at("a"), OpenFor::changing);
  ASSERT_TRUE(lock_range(first.descriptor(), 10, 5));
  Child child([&](const std::string&) {
    const OpenFile second = open_file(at("a"), OpenFor::changing);
    end_at_once(lock_range(second.descriptor(), 14, 1)   ? 1
                : lock_range(second.descriptor(), 15, 1) ? 0
                                                         : 2);
  });
  ASSERT_TRUE(child.is_made());
  child.start("go");
  std::optional<int> status;
  while (!(status = child.ended())) {
  }
  EXPECT_EQ(status, 0);
}

TEST_F(SystemTest, AChildIsToldWhatToDoAndEndsAsAShellWouldSay) {
  const auto end_of = [](const Child::Run& run) {
    Child child(run);
    child.start("told");
    std::optional<int> status;
    while (!(status = child.ended())) {
    }
    return *status;
  };
  EXPECT_EQ(end_of([](const std::string& told) { end_at_once(told == "told" ? 7 : 1); }), 7);
  EXPECT_EQ(end_of([](const std::string&) {
              become({"undertext-no-such-program"}), end_at_once(errno == ENOENT ? 127 : 1);
            }),
            127);
  EXPECT_EQ(end_of([](const std::string&) { become({"sh", "-c", "kill -9 $$"}); }), 128 + 9);
  // One that is never told ends by itself, so this does not wait for ever.
  const Child forgotten([](const std::string&) { end_at_once(0); });
}

TEST_F(SystemTest, AShellGetsItsArgumentAsOneWord) {
  EXPECT_EQ(run_shell("test \"$1\" = 'a b; exit 3'", "a b; exit 3"), 0);
  EXPECT_EQ(run_shell("printf two > \"$1\"", at("a b")), 0);
  EXPECT_EQ(contents(at("a b")), "two");
  EXPECT_EQ(run_shell("exit 3", ""), 3);
}

TEST_F(SystemTest, ATemporaryFileIsNewAndHasItsSuffix) {
  std::string first = at("text-"), second = at("text-");
  ASSERT_TRUE(make_temporary_file(first, ".md") && make_temporary_file(second, ".md"));
  EXPECT_NE(first, second);
  EXPECT_TRUE(first.ends_with(".md") && is_there(first));
  EXPECT_EQ(status_of(first)->permissions, 0600u);
}

TEST_F(SystemTest, APathIsWholeOnceLinksAreFollowed) {
  ASSERT_TRUE(write_to(at("a"), OpenFor::making, "one"));
  std::filesystem::create_symlink(at("a"), at("b"));
  EXPECT_EQ(whole_path(at("b")), whole_path(at("a")));
  EXPECT_EQ(whole_path(at("missing")), "");
}

TEST_F(SystemTest, AFileIsReadyAndTwoDescriptorsShareItsPlace) {
  ASSERT_TRUE(write_to(at("a"), OpenFor::making, "one"));
  OpenFile file = open_file(at("a"), OpenFor::keeping);
  EXPECT_TRUE(wait_until_ready(file.descriptor(), WaitFor::both, 0).to_write);
  EXPECT_EQ(write_some(file.descriptor(), "two", 2), 2);
  EXPECT_EQ(contents(at("a")), "twe");
  EXPECT_TRUE(begin_again(file.descriptor()));
  const OpenFile second = second_descriptor(file.descriptor());
  char byte = 0;
  EXPECT_EQ(read_some(second.descriptor(), &byte, 1), 1);
  EXPECT_EQ(byte, 't');
  EXPECT_EQ(read_some(file.descriptor(), &byte, 1), 1);
  EXPECT_EQ(byte, 'w');
  EXPECT_FALSE(leads_to_terminal(file.descriptor()));
}

TEST(Process, NumbersByChanceDiffer) {
  unsigned char first[16] = {}, second[16] = {};
  ASSERT_TRUE(fill_with_chance(first, sizeof first) && fill_with_chance(second, sizeof second));
  EXPECT_NE(std::string(first, first + 16), std::string(second, second + 16));
}

TEST(Process, AVariableThatIsSetStaysWhereOnlyAMissingOneIsWanted) {
  set_variable("UNDERTEXT_SYSTEM_TEST", "one");
  set_missing_variable("UNDERTEXT_SYSTEM_TEST", "two");
  EXPECT_STREQ(std::getenv("UNDERTEXT_SYSTEM_TEST"), "one");
}

TEST(Process, AThreadThatWorksUsesTime) {
  const auto before = thread_time();
  while (thread_time() == before) {
  }
  EXPECT_GT(thread_time(), before);
}

}  // namespace
}  // namespace undertext
