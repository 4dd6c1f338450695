// An App to call in tests, as a server would, without one.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "server/app.hpp"

namespace undertext {

// What came back, as it comes.
struct Answered {
  std::mutex lock;
  std::condition_variable changed;
  http::Reply reply{.status = 0};
  std::string streamed;
  bool ended = false;  // answered as a whole, or the stream's end() was called
  bool cut = false;    // the stream was destroyed without end()
  bool open = true;    // what the client makes of it
  bool full = false;   // the client reads nothing
  std::size_t largest_piece = 0;

  // Waits until `is` holds; false after a while.
  template <class Is>
  bool wait(Is is) {
    std::unique_lock locked(lock);
    return changed.wait_for(locked, std::chrono::seconds(20), [&] { return is(*this); });
  }
  bool wait_for_text(std::string_view text) {
    return wait([&](const Answered& a) { return a.streamed.find(text) != std::string::npos; });
  }
  template <class Change>
  void set(Change change) {
    const std::lock_guard locked(lock);
    change(*this);
    changed.notify_all();
  }
  std::string text() {
    const std::lock_guard locked(lock);
    return streamed;
  }
  std::string field(std::string_view name) {
    const std::lock_guard locked(lock);
    for (const http::Field& field : reply.fields) {
      if (field.name == name) return field.value;
    }
    return {};
  }
};

class CollectedStream : public http::Stream {
 public:
  explicit CollectedStream(std::shared_ptr<Answered> answered) : answered_(std::move(answered)) {}
  ~CollectedStream() override {
    answered_->set([](Answered& a) { a.cut = !a.ended; });
  }
  bool write(std::string bytes, const std::function<bool()>& goes_on) override {
    return (!goes_on || goes_on()) && offer(std::move(bytes));
  }
  bool offer(std::string bytes) override {
    bool taken = false;
    answered_->set([&](Answered& a) {
      taken = a.open && !a.full;
      if (taken) a.streamed += bytes;
      a.largest_piece = std::max(a.largest_piece, bytes.size());
    });
    return taken;
  }
  void end() override {
    answered_->set([](Answered& a) { a.ended = true; });
  }
  bool is_open() const override {
    const std::lock_guard locked(answered_->lock);
    return answered_->open;
  }

 private:
  std::shared_ptr<Answered> answered_;
};

class CollectedExchange : public http::Exchange {
 public:
  explicit CollectedExchange(std::shared_ptr<Answered> answered) : answered_(std::move(answered)) {}
  void answer(http::Reply reply) override {
    answered_->set([&](Answered& a) {
      a.reply = std::move(reply);
      a.ended = true;
    });
  }
  std::shared_ptr<http::Stream> stream(unsigned status, std::string content_type,
                                       std::vector<http::Field> fields) override {
    answered_->set([&](Answered& a) {
      a.reply = {
          .status = status, .content_type = std::move(content_type), .fields = std::move(fields)};
    });
    return std::make_shared<CollectedStream>(answered_);
  }
  bool is_open() const override { return true; }

 private:
  std::shared_ptr<Answered> answered_;
};

struct Sent {
  std::string body = {};
  std::vector<http::Field> fields = {};
  std::string tenant = {};
};

// The answer is there when this returns, unless the route streams or works in the background.
inline std::shared_ptr<Answered> call(App& app, const std::string& method,
                                      const std::string& target, Sent sent = {}) {
  auto answered = std::make_shared<Answered>();
  RouteMatch match = find_route(app.routes(), method, target);
  if (match.route == nullptr) {
    answered->reply =
        error_reply({ErrorCode::not_found, "no route"}, match.methods_allowed.empty() ? 404 : 405);
    answered->ended = true;
    return answered;
  }
  http::Request request;
  request.method = method;
  request.target = target;
  request.fields = std::move(sent.fields);
  request.body = std::move(sent.body);
  const Route& route = *match.route;
  app.handle(route, std::move(match), std::move(request), {.tenant = sent.tenant, .name = "tester"},
             std::make_unique<CollectedExchange>(answered));
  return answered;
}

}  // namespace undertext
