// Requests that may be changed before they are sent. They wait for an editor on a few threads of
// their own; all others pass at once and never come here.
//
//     class MyEditor : public ExchangeEditor {
//       bool may_edit(const ObservedRequest& request) const override;
//       RequestEdit edit(const std::shared_ptr<const ObservedRequest>& request,
//                        const Offer& offer) override;
//       RequestEdit unedited(const ObservedRequest& request) const override;
//     };
//
// Fail open: an editor that throws, or takes longer than the queue's patience, costs a request that
// time and nothing else. It is then sent as the editor offered on its way, else as unedited() says,
// which is mostly as it came. While the editor says that it is held up, no request waits for it.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "gateway/observed.hpp"
#include "http/http.hpp"

namespace undertext {

// What becomes of a request.
struct RequestEdit {
  std::optional<std::string> body = {};         // sent in its place; unset: it is sent as it came
  std::vector<http::Field> answer_fields = {};  // added to the answer's head
  // set: no upstream is asked, and this is the answer,
  std::optional<http::RelayedHead> answer = {};
  std::string answer_body = {};  // with this body
  // of the upstream's answer (answer_block.hpp); empty: none
  std::string first_block = {};
  // Called once, before the request is sent so. Any thread; must not throw or wait. Unset: nobody
  // wants to know.
  std::function<void()> on_sent = {};
};

class ExchangeEditor {
 public:
  virtual ~ExchangeEditor() = default;
  // Whether the request is worth a call of edit(). Any thread; must not wait.
  virtual bool may_edit(const ObservedRequest& request) const = 0;
  // What the request is sent as if edit() does not come to its end in time. The last one counts.
  using Offer = std::function<void(RequestEdit edit)>;
  // On one of the editing threads, which edit other requests meanwhile; may wait for a store.
  virtual RequestEdit edit(const std::shared_ptr<const ObservedRequest>& request,
                           const Offer& offer) = 0;
  // What becomes of a request where edit() failed or was too slow, and had offered nothing. Any
  // thread; must not wait.
  virtual RequestEdit unedited(const ObservedRequest& request) const = 0;
  // Whether edit() would only wait now, such as for a store that hangs: requests are then sent as
  // unedited() says, at once. Any thread; must not wait.
  virtual bool is_held_up() const { return false; }
};

// Any thread may call it.
class EditingQueue {
 public:
  using OnEvent = std::function<void(std::string_view event, const std::string& detail)>;
  using Done = std::function<void(RequestEdit edit)>;  // must not throw or wait

  // Called before each edit, until the given moment at most: what the request goes on with is to be
  // known by then.
  using Prepare = std::function<void(std::chrono::steady_clock::time_point deadline)>;

  EditingQueue(std::shared_ptr<ExchangeEditor> editor, std::chrono::milliseconds patience,
               Prepare prepare, OnEvent on_event);
  ~EditingQueue();  // as stop()
  EditingQueue(const EditingQueue&) = delete;
  EditingQueue& operator=(const EditingQueue&) = delete;

  // Calls `done` once, on a thread of the queue, within the patience. false: it does not, because
  // too many wait, or the queue stops.
  bool submit(std::shared_ptr<const ObservedRequest> request, Done done);
  void stop();  // what waits is sent as it came

  struct Counts {
    std::uint64_t edited = 0;     // sent in another form, or answered here
    std::uint64_t unchanged = 0;  // looked at, and sent as they came
    std::uint64_t failed = 0;     // sent as offered, or as they came: the editor failed
    std::uint64_t late = 0;       // likewise: it was too slow, or held up
  };
  Counts counts() const;

 private:
  struct Job {
    std::shared_ptr<const ObservedRequest> request;
    Done done;
    std::chrono::steady_clock::time_point deadline;
    bool is_held_up = false;  // no worker has it
    std::atomic<bool> is_answered = false;
    std::mutex mutex = {};
    std::optional<RequestEdit> offered = {};  // guarded by it
  };
  void work();
  void watch();
  void edit(const std::shared_ptr<Job>& job);
  RequestEdit instead(Job& job) const noexcept;
  static void send(const Job& job, RequestEdit edit);
  void report(std::string_view event, const std::string& detail) noexcept;

  const std::shared_ptr<ExchangeEditor> editor_;
  const std::chrono::milliseconds patience_;
  const Prepare prepare_;
  const OnEvent on_event_;
  std::atomic<std::uint64_t> edited_ = 0, unchanged_ = 0, failed_ = 0, late_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Job>> waiting_;  // for the editor
  std::deque<std::shared_ptr<Job>> watched_;  // until they are answered; deadlines rise
  bool is_stopping_ = false;
  std::vector<std::thread> workers_;
  std::thread watchdog_;
};

}  // namespace undertext
