#include "server/compressions.hpp"

#include <algorithm>
#include <random>
#include <thread>
#include <utility>

#include "base/json_text.hpp"
#include "json/request.hpp"
#include "server/wall_clock.hpp"

namespace undertext {
namespace {

// Not to be guessed, though it opens nothing: the conversation's own rights are asked first.
std::string fresh_job() {
  std::random_device chance;
  std::string name;
  for (int i = 0; i < 16; ++i) name += "0123456789abcdef"[chance() % 16];
  return name;
}

}  // namespace

Result<Compressions::Started> Compressions::start(Order order) {
  const History history = order.conversation->history();
  auto job = std::make_shared<Job>(Job{.name = fresh_job(),
                                       .tenant = order.tenant,
                                       .id = order.conversation->id(),
                                       .strategy = order.strategy,
                                       .started_at_ms = wall_clock_ms(),
                                       .version = history.version().value,
                                       .messages = history.view().size(),
                                       .tokens = history.view().sums().tokens()});
  Started started{job->name, json_of(*job)};
  std::string last_resort = answer(Error{ErrorCode::unavailable, "there is no thread or memory for it now"});
  {
    const std::lock_guard lock(lock_);
    if (stopping_) return Error{ErrorCode::unavailable, "the server is stopping"};
    job->slot = running_by_tenant_.take(order.tenant);
    if (!job->slot) return Error{ErrorCode::unavailable, "there are too many compressions under way already"};
    jobs_.push_front(job);
    ++running_;
  }
  try {
    // Nobody waits for it but stop(), which counts.
    std::thread([this, job, order = std::move(order), last_resort]() mutable {
      run(job, std::move(order), std::move(last_resort));
    }).detach();
  } catch (const std::exception&) {  // no thread, or no memory for one
    end(*job, std::move(last_resort), true);
  }
  return started;
}

void Compressions::run(const std::shared_ptr<Job>& job, Order order, std::string last_resort) {
  std::string line;
  bool failed = true;
  tell(*job);
  try {
    LineAnswer done =
        answer_request(*order.conversation, order.line,
                       {.takes = RequestOptions::Takes::operations, .plans_aside = true, .cancel = job->cancel.get_token()});
    failed = done.error.has_value();
    line = std::move(done.line);
  } catch (const std::exception&) {
    line = std::move(last_resort);
  }
  order.conversation.reset();  // before stop() may return: nothing of this thread uses a store then
  end(*job, std::move(line), failed);
}

void Compressions::tell(const Job& job) const noexcept {
  if (!options_.tell) return;
  try {
    std::string json;
    {
      const std::lock_guard lock(lock_);
      json = json_of(job);
    }
    options_.tell(job.tenant, job.id, json);
  } catch (const std::exception&) {
    // There is no memory to tell it. Who asks for the job hears it later.
  }
}

void Compressions::end(Job& job, std::string answer, bool failed) {
  {
    const std::lock_guard lock(lock_);
    job.ended_at_ms = wall_clock_ms();
    job.state = !failed ? "done" : job.cancel.stop_requested() ? "cancelled" : "failed";
    job.answer = std::move(answer);
    std::size_t ended = 0;
    jobs_.remove_if([&](const std::shared_ptr<Job>& other) {
      return other->tenant == job.tenant && other->ended_at_ms > 0 && ++ended > options_.kept;
    });
  }
  tell(job);
  const std::lock_guard lock(lock_);
  job.slot.reset();
  --running_;
  one_ended_.notify_all();  // with the lock held: stop() may return, and this be gone, as soon as it is free
}

std::string Compressions::json_of(const Job& job) {
  std::string out = R"({"job":")" + job.name + R"(","state":")" + job.state + R"(","strategy":)" + job.strategy;
  out += R"(,"startedAt":)" + std::to_string(job.started_at_ms);
  if (job.ended_at_ms > 0) out += R"(,"endedAt":)" + std::to_string(job.ended_at_ms);
  out += R"(,"version":)" + std::to_string(job.version) + R"(,"messages":)" + std::to_string(job.messages);
  out += R"(,"tokens":)" + std::to_string(job.tokens);
  if (job.answer.empty()) return out + "}";
  if (job.state == "done") return out + R"(,"answer":)" + job.answer + "}";
  constexpr std::string_view lead = R"({"ok":false,"error":)";
  return out + R"(,"error":)" + job.answer.substr(lead.size(), job.answer.size() - lead.size() - 1) + "}";
}

std::shared_ptr<Compressions::Job> Compressions::job_of(const std::string& tenant, const std::string& id,
                                                        const std::string& name) const {
  const auto found = std::find_if(jobs_.begin(), jobs_.end(), [&](const std::shared_ptr<Job>& job) {
    return job->name == name && job->tenant == tenant && job->id == id;
  });
  return found == jobs_.end() ? nullptr : *found;
}

std::optional<std::string> Compressions::find(const std::string& tenant, const std::string& id, const std::string& job) const {
  const std::lock_guard lock(lock_);
  const std::shared_ptr<Job> found = job_of(tenant, id, job);
  return found ? std::optional(json_of(*found)) : std::nullopt;
}

std::optional<std::string> Compressions::cancel(const std::string& tenant, const std::string& id, const std::string& job) {
  std::shared_ptr<Job> found;
  {
    const std::lock_guard lock(lock_);
    found = job_of(tenant, id, job);
  }
  if (!found) return {};
  found->cancel.request_stop();  // may call what waits for it, so without the lock
  return find(tenant, id, job);
}

void Compressions::stop() {
  std::list<std::shared_ptr<Job>> jobs;
  {
    const std::lock_guard lock(lock_);
    stopping_ = true;
    jobs = jobs_;
  }
  for (const std::shared_ptr<Job>& job : jobs) job->cancel.request_stop();
  std::unique_lock lock(lock_);
  one_ended_.wait(lock, [&] { return running_ == 0; });
}

}  // namespace undertext
