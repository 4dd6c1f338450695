// This process, and those that it starts. What fails leaves its reason in errno.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace undertext {

std::int64_t process_id();
std::uint64_t user_id();
[[noreturn]] void end_at_once(int status);  // nothing is written, nobody is told

void make_files_private();  // those that it makes from now on
void forbid_core_dumps();
void allow_files(std::uint64_t wanted);  // or as many as it may have, where it has fewer
// of this thread, where the system counts so; else of the process
void lower_priority(int steps);

bool fill_with_chance(unsigned char* bytes, std::size_t count);

void set_variable(const char* name, const std::string& value);  // of the environment
void set_missing_variable(const char* name, const std::string& value);
// another program; returns where that cannot be
void become(const std::vector<std::string>& command);

// A command of the shell, with `argument` as its $1. Its exit status as a shell reports it; below
// 0:
// it could not be started.
int run_shell(const std::string& command, const std::string& argument);

// A page in the browser that the desktop opens pages with; waits for the program that starts it.
// false: there is no such program, or it failed.
bool open_in_browser(const std::string& url);

// A process that is made before it is known what it is to do, and so has the signals and limits of
// this one as they are now.
class Child {
 public:
  using Run = std::function<void(const std::string& told)>;  // in the child; does not return
  explicit Child(const Run& run);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool is_made() const { return process_ > 0; }
  void start(const std::string& told);  // one that is never told ends by itself
  void send(int signal) const;
  std::optional<int> ended();  // the exit status as a shell reports it, once it has ended

 private:
  std::int64_t process_ = -1;
  int start_ = -1;
};

}  // namespace undertext
