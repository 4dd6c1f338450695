// Gives memory back to the system after a peak. glibc keeps what was freed below something that is
// still in use; the process would stay as large as its largest moment.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>

namespace undertext {

class HeapTrim {
 public:
  HeapTrim() : thread_([this] { run(); }) {}
  ~HeapTrim();
  HeapTrim(const HeapTrim&) = delete;
  HeapTrim& operator=(const HeapTrim&) = delete;

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopped_ = false;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace undertext
