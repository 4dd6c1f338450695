#include "server/site_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace undertext {
namespace {

class SiteFilesTest : public testing::Test {
 protected:
  SiteFilesTest() {
    if (::mkdtemp(folder_.data()) == nullptr) std::abort();
    std::filesystem::create_directories(folder_ + "/assets");
  }
  ~SiteFilesTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& path, std::string_view text) {
    std::ofstream(folder_ + "/" + path) << text;
  }

  std::string folder_ = testing::TempDir() + "undertext-site-XXXXXX";
};

TEST_F(SiteFilesTest, holds_every_file_below_the_folder_and_nothing_else) {
  write("index.html", "<p>start</p>");
  write("assets/app.js", "let a");
  const SiteFiles site = SiteFiles::read(folder_).value();
  EXPECT_EQ(site.find("index.html")->bytes, "<p>start</p>");
  EXPECT_EQ(site.find("assets/app.js")->bytes, "let a");
  for (const char* path :
       {"", "assets", "../index.html", "assets/../index.html", "/index.html", "other.html"})
    EXPECT_EQ(site.find(path), nullptr) << path;
}

TEST_F(SiteFilesTest, neither_follows_links_nor_shows_what_is_hidden) {
  namespace fs = std::filesystem;
  write("index.html", "start");
  write(".env", "KEY=secret");
  fs::create_directories(folder_ + "/.git");
  write(".git/config", "secret");
  const std::string outside = folder_ + "-outside";
  std::ofstream(outside) << "secret";
  fs::create_symlink(outside, folder_ + "/link.html");
  fs::create_symlink(folder_ + "/nowhere", folder_ + "/broken.html");
  fs::create_directory_symlink(testing::TempDir(), folder_ + "/all");
  const SiteFiles site = SiteFiles::read(folder_).value();
  fs::remove(outside);
  for (const char* path : {".env", ".git/config", "link.html", "broken.html"})
    EXPECT_EQ(site.find(path), nullptr) << path;
  EXPECT_NE(site.find("index.html"), nullptr);
}

TEST_F(SiteFilesTest, a_page_may_run_the_scripts_that_stand_in_it_and_no_others) {
  write("index.html", R"(<script src="/docs/app.js"></script><script id="x">alert(1)</script>)");
  const std::string policy = SiteFiles::read(folder_).value().find("index.html")->policy;
  // printf 'alert(1)' | openssl dgst -sha256 -binary | base64
  EXPECT_NE(policy.find("script-src 'self' 'sha256-bhHHL3z2vDgxUt0W3dWQOrprscmda2Y5pLsLg4GF+pI=';"),
            std::string::npos)
      << policy;
  EXPECT_NE(policy.find("default-src 'none'"), std::string::npos);
}

TEST_F(SiteFilesTest, a_folder_without_a_site_is_not_found) {
  EXPECT_EQ(SiteFiles::read(folder_).error().code, ErrorCode::not_found);
  EXPECT_EQ(SiteFiles::read(folder_ + "/nowhere").error().code, ErrorCode::not_found);
}

}  // namespace
}  // namespace undertext
