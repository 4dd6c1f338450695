// What a gateway observes, kept as conversations of a store: each tenant's in its own part of it,
// within its quota.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <undertext/store.hpp>

#include "gateway/editing.hpp"
#include "gateway/observed.hpp"
#include "policy/policy.hpp"
#include "server/log.hpp"
#include "server/money_counts.hpp"
#include "server/quota_store.hpp"

namespace undertext {

// Which tenants have stored what they may, as far as their last recording showed. Once in a while a
// request is let through to see whether that is still so. Any thread.
//   watch.reached("acme");        watch.is_reached("acme") -> true
//   watch.recorded("acme");       still true: that turn was under way before
//   10 seconds later              false once, for a request that tries
//   watch.recorded("acme");       false for all
class QuotaWatch {
 public:
  using Clock = std::chrono::steady_clock;
  void reached(const std::string& tenant, Clock::time_point now = Clock::now());
  void recorded(const std::string& tenant);
  bool is_reached(const std::string& tenant, Clock::time_point now = Clock::now());

 private:
  struct Reached {
    Clock::time_point until;
    bool is_tried = false;  // a request was let through since
  };

  std::mutex mutex_;
  std::map<std::string, Reached> reached_;
};

struct GatewayRecording {
  std::shared_ptr<Store> store;
  Quota quota = {};                 // of each tenant
  std::string secret = {};          // of this installation: gateway/record_keys.hpp
  bool one_user = false;            // all credentials are one user's
  std::string project = {};         // of conversations that are made: Settings::project
  GatewayPolicies policies = {};    // the gateway's own tools are likewise: Settings::context_tools
  std::string compaction_key = {};  // of opaque compaction items; empty: there are none
  std::shared_ptr<QuotaWatch> quota_watch = {};
  std::shared_ptr<MoneyCounts> money = {};  // null: nobody counts
};

struct GatewayRecorder {
  std::shared_ptr<ExchangeRecorder> recorder;
  std::shared_ptr<ExchangeEditor> editor;  // the same object
};

// What cannot be recorded, and what was repaired, are events of the log, which it borrows.
GatewayRecorder gateway_recorder(GatewayRecording recording, const ServerLog& log);

}  // namespace undertext
