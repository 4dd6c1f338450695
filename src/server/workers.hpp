// Threads that may wait, before a queue that is bounded. Tenants take turns: one that asks for much
// waits for itself, not others for it.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace undertext {

class Workers {
 public:
  using Job = std::function<void()>;  // must not throw

  struct Limits {
    std::size_t threads = 64;
    std::size_t waiting = 4096;  // of all tenants
    // What one tenant may have of them. Where there is one tenant only, these are the same.
    std::size_t threads_per_tenant = 48;
    std::size_t waiting_per_tenant = 2048;
  };

  explicit Workers(Limits limits);
  ~Workers();  // as stop()
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  // false: the queue, or the tenant's share of it, is full, or it is stopped; the job is dropped.
  // Never waits.
  bool submit(std::string_view tenant, Job job);
  void stop();  // what is queued is still done

  struct Counts {
    std::size_t waiting = 0, running = 0;
    std::uint64_t refused = 0;
  };
  Counts counts() const;

 private:
  struct Tenant {
    std::deque<Job> waiting;
    std::size_t running = 0;
    bool in_turn = false;  // in turns_
  };
  using Tenants = std::map<std::string, Tenant, std::less<>>;

  void work();
  void line_up(Tenants::iterator tenant);  // if it has something that may be run
  bool should_wake();

  const Limits limits_;
  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable some_;
  Tenants tenants_;  // those with something waiting or running
  std::deque<Tenants::iterator> turns_;
  Counts counts_;
  std::size_t idle_ = 0;    // threads that wait
  bool is_waking_ = false;  // one of them was called, and has not come yet
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace undertext
