// What a gateway observes, kept as conversations of a store: each tenant's in its own part of it, within its quota.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <undertext/store.hpp>

#include "gateway/observed.hpp"
#include "server/log.hpp"
#include "server/quota_store.hpp"

namespace undertext {

// Which tenants have stored what they may, as far as their last recording showed. Once in a while a request is let through to
// see whether that is still so. Any thread.
class QuotaWatch {
 public:
  using Clock = std::chrono::steady_clock;
  void reached(const std::string& tenant, Clock::time_point now = Clock::now());
  void freed(const std::string& tenant);
  bool is_reached(const std::string& tenant, Clock::time_point now = Clock::now());

 private:
  std::mutex mutex_;
  std::map<std::string, Clock::time_point> until_;
};

struct GatewayRecording {
  std::shared_ptr<Store> store;
  Quota quota = {};          // of each tenant
  std::string secret = {};   // of this installation: gateway/record_keys.hpp
  bool one_user = false;     // all credentials are one user's
  std::string project = {};  // of conversations that are made: Settings::project
  std::shared_ptr<QuotaWatch> quota_watch = {};
};

// What cannot be recorded is an event of the log, which it borrows.
std::shared_ptr<ExchangeRecorder> gateway_recorder(GatewayRecording recording, const ServerLog& log);

}  // namespace undertext
