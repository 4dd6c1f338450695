// A token for the inspector that lives as long as this process.
#pragma once

#include <filesystem>
#include <string>

namespace undertext {

class OneToken {
 public:
  explicit OneToken(const std::string& name);  // in the log
  ~OneToken();
  OneToken(const OneToken&) = delete;
  OneToken& operator=(const OneToken&) = delete;

  std::string file() const { return (folder_ / "tokens").string(); }
  const std::string& secret() const { return secret_; }

 private:
  std::filesystem::path folder_;
  std::string secret_;
};

}  // namespace undertext
