// What a gateway observes, kept as conversations of a store: each tenant's in its own part of it, within its quota.
#pragma once

#include <memory>
#include <string>

#include <undertext/store.hpp>

#include "gateway/observed.hpp"
#include "server/log.hpp"
#include "server/quota_store.hpp"

namespace undertext {

struct GatewayRecording {
  std::shared_ptr<Store> store;
  Quota quota = {};         // of each tenant
  std::string secret = {};  // of this installation: gateway/record_keys.hpp
  bool one_user = false;    // all credentials are one user's
};

// What cannot be recorded is an event of the log, which it borrows.
std::shared_ptr<ExchangeRecorder> gateway_recorder(GatewayRecording recording, const ServerLog& log);

}  // namespace undertext
