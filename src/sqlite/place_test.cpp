#include "sqlite/place.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

TEST(SqlitePlace, NetworkFileSystemsAreKnownByWhatTheSystemSaysTheyAre) {
  EXPECT_EQ(network_of_magic(0x6969), "NFS");
  EXPECT_EQ(network_of_magic(0xff534d42), "CIFS");
  EXPECT_EQ(network_of_magic(0x01021997), "9P");
  for (const std::uint32_t local :
       // ext4 xfs btrfs tmpfs overlay zfs
       {0xef53u, 0x58465342u, 0x9123683eu, 0x01021994u, 0x794c7630u, 0x2fc12fc1u})
    EXPECT_EQ(network_of_magic(local), "");
  EXPECT_EQ(network_of_mount("fuse.sshfs"), "fuse.sshfs");
  EXPECT_EQ(network_of_mount("fuse.ntfs-3g"), "");
  EXPECT_FALSE(refuse_network_folder("/dev/shm/store.db"));
}

TEST(SqlitePlace, APathIsNeverTakenForAnythingElse) {
  EXPECT_EQ(plain_path(":memory:").value(), "./:memory:");
  EXPECT_EQ(plain_path("file:x?mode=memory").value(), "./file:x?mode=memory");
  EXPECT_EQ(plain_path("/a/b").value(), "/a/b");
  EXPECT_FALSE(plain_path(""));
  EXPECT_FALSE(plain_path(std::string_view("a\0b", 3)));
}

}  // namespace
}  // namespace undertext
