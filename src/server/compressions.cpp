#include "server/compressions.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include "base/json_text.hpp"
#include "json/answer_json.hpp"
#include "json/request.hpp"
#include "server/fresh_name.hpp"
#include "server/route.hpp"
#include "server/wall_clock.hpp"
#include "store/chain.hpp"

namespace undertext {

Result<Compressions::Started> Compressions::start(Order order) {
  const History history = order.conversation->history();
  auto job = std::make_shared<Job>(Job{.name = fresh_name(),
                                       .tenant = order.tenant,
                                       .id = order.conversation->id(),
                                       .strategy = order.strategy,
                                       .key = order.key,
                                       .line = sha256(order.line),
                                       .started_at_ms = wall_clock_ms(),
                                       .version = history.version().value,
                                       .messages = history.view().size(),
                                       .tokens = history.view().sums().tokens()});
  Started started{job->name, json_of(*job)};
  LineAnswer last_resort{
      .line = {},
      .error = Error{ErrorCode::unavailable, "there is no thread or memory for it now"}};
  {
    const std::lock_guard lock(lock_);
    Result<std::optional<Started>> before = started_before(order);
    if (!before) return before.error();
    if (*before) return **std::move(before);
    if (stopping_) return Error{ErrorCode::unavailable, "the server is stopping"};
    job->slot = running_by_tenant_.take(order.tenant);
    if (!job->slot)
      return Error{ErrorCode::unavailable, "there are too many compressions under way already"};
    jobs_.push_front(job);
    ++running_;
  }
  try {
    // Nobody waits for it but stop(), which counts.
    std::thread([this, job, order = std::move(order), last_resort]() mutable {
      run(job, std::move(order), std::move(last_resort));
    }).detach();
  } catch (const std::exception&) {  // no thread, or no memory for one
    end(*job, std::move(last_resort));
  }
  return started;
}

Result<std::optional<Compressions::Started>> Compressions::started_before(
    const Order& order) const {
  if (order.key.empty()) return std::optional<Started>();
  for (const std::shared_ptr<Job>& job : jobs_) {
    if (job->key != order.key || job->tenant != order.tenant || job->id != order.conversation->id())
      continue;
    if (job->ended_at_ms > 0 && job->state != "done") continue;  // errors are not remembered
    if (job->line != sha256(order.line))
      return Error{ErrorCode::conflict, "this key was given for another compression"};
    return std::optional(Started{job->name, json_of(*job)});
  }
  return std::optional<Started>();
}

// A summary grows by a few letters at a time, which is not worth an event each.
void Compressions::advance(Job& job, const CompressionProgress& progress) {
  constexpr std::chrono::seconds pause{1};
  const auto now = std::chrono::steady_clock::now();
  {
    const std::lock_guard lock(lock_);
    const bool is_next = progress.stage != job.progress.stage;
    job.progress = progress;
    if (!is_next && now - job.told_at < pause) return;
    job.told_at = now;
  }
  tell(job);
}

std::shared_ptr<Work> Compressions::work_of(std::stop_token cancelled) const {
  const auto interrupted = [cancelled = std::move(cancelled)]() -> Result<void> {
    if (cancelled.stop_requested()) return Error{ErrorCode::unavailable, "it was cancelled"};
    return {};
  };
  return std::make_shared<Work>(
      WorkLimits{.interrupted = interrupted, .bytes_made_max = options_.bytes_made_max});
}

void Compressions::run(const std::shared_ptr<Job>& job, Order order, LineAnswer last_resort) {
  LineAnswer done;
  tell(*job);
  try {
    done = answer_request(
        *order.conversation, order.line,
        {.takes = RequestOptions::Takes::operations,
         .cancel = job->cancel.get_token(),
         .on_progress = [&](const CompressionProgress& progress) { advance(*job, progress); },
         .work = work_of(job->cancel.get_token())});
    if (done.error && options_.failed) options_.failed(job->name, *done.error);
    if (done.error) done.error = told_to_client(*done.error);
  } catch (const std::exception&) {
    done = std::move(last_resort);
  }
  order.conversation.reset();  // before stop() may return: nothing of this thread uses a store then
  end(*job, std::move(done));
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

void Compressions::end(Job& job, LineAnswer answer) {
  {
    const std::lock_guard lock(lock_);
    job.ended_at_ms = wall_clock_ms();
    job.state = !answer.error ? "done" : job.cancel.stop_requested() ? "cancelled" : "failed";
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
  // with the lock held: stop() may return, and this be gone, as soon as it is free
  one_ended_.notify_all();
}

std::string Compressions::json_of(const Job& job) {
  // That it is this process's alone is part of the answer: whoever asks another one is told that
  // there is none.
  std::string out = R"({"job":")" + job.name + R"(","scope":"process","state":")" + job.state +
                    R"(","strategy":)" + job.strategy;
  out += R"(,"startedAt":)" + std::to_string(job.started_at_ms);
  if (job.ended_at_ms > 0) out += R"(,"endedAt":)" + std::to_string(job.ended_at_ms);
  out += R"(,"version":)" + std::to_string(job.version) + R"(,"messages":)" +
         std::to_string(job.messages);
  out += R"(,"tokens":)" + std::to_string(job.tokens);
  if (job.ended_at_ms == 0) {
    (out += R"(,"progress":{"stage":")") += name(job.progress.stage);
    out += '"';
    if (job.progress.stage == CompressionProgress::Stage::summarising)
      out += R"(,"messages":)" + std::to_string(job.progress.messages) + R"(,"summaryBytes":)" +
             std::to_string(job.progress.summary_bytes);
    return out + "}}";
  }
  if (!job.answer.error) return out + R"(,"answer":)" + job.answer.line + "}";
  append_json(out += R"(,"error":)", *job.answer.error);
  return out + "}";
}

std::shared_ptr<Compressions::Job> Compressions::job_of(const std::string& tenant,
                                                        const std::string& id,
                                                        const std::string& name) const {
  const auto found = std::find_if(jobs_.begin(), jobs_.end(), [&](const std::shared_ptr<Job>& job) {
    return job->name == name && job->tenant == tenant && job->id == id;
  });
  return found == jobs_.end() ? nullptr : *found;
}

std::optional<std::string> Compressions::find(const std::string& tenant, const std::string& id,
                                              const std::string& job) const {
  const std::lock_guard lock(lock_);
  const std::shared_ptr<Job> found = job_of(tenant, id, job);
  return found ? std::optional(json_of(*found)) : std::nullopt;
}

std::optional<std::string> Compressions::cancel(const std::string& tenant, const std::string& id,
                                                const std::string& job) {
  std::shared_ptr<Job> found;
  {
    const std::lock_guard lock(lock_);
    found = job_of(tenant, id, job);
  }
  if (!found) return {};
  found->cancel.request_stop();  // may call what waits for it, so without the lock
  return find(tenant, id, job);
}

void Compressions::forget(const std::string& tenant, const std::string& id) {
  std::list<std::shared_ptr<Job>> forgotten;
  {
    const std::lock_guard lock(lock_);
    for (auto at = jobs_.begin(); at != jobs_.end();) {
      const auto next = std::next(at);
      if ((*at)->tenant == tenant && (*at)->id == id) forgotten.splice(forgotten.end(), jobs_, at);
      at = next;
    }
  }
  for (const std::shared_ptr<Job>& job : forgotten) job->cancel.request_stop();
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
