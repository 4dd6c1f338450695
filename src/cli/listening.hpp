// What serve, gateway and wrap have in common: where to listen, and which upstreams there are.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace undertext {

class Desk;
class Store;
struct GatewayServing;

struct ListenAddress {
  std::string address;
  std::uint16_t port = 0;
};
// ADDRESS, ADDRESS:PORT or [V6]:PORT; what is not said is the default's. Throws Failure:
// invalid_argument.
ListenAddress read_listen(const std::string& text, ListenAddress unsaid);

struct UpstreamsGiven {
  std::optional<std::string> file, anthropic, openai, gemini, ca_file, compaction_key_env;
  std::vector<std::string> keys;      // UPSTREAM=VARIABLE
  std::vector<std::string> record;    // LEVEL or TENANT=LEVEL
  std::optional<std::string> policy;  // a mode, JSON, or a file with JSON
  std::uint64_t idle_seconds = 900, body = 64, recording = 256;
  bool relay_upgrades = false, one_user = false;
  std::string enforce = "recording";
  std::string tools = "none";
};
void declare_upstreams(Arguments& arguments, UpstreamsGiven& given);
void read_upstreams(const UpstreamsGiven& given, GatewayServing& serving);  // throws Failure
// throws Failure: it is not set
std::string read_key_variable(const std::string& name);

struct ConnectionsGiven {
  std::uint64_t most = 4096;
  std::optional<std::uint64_t> per_address;
};
void declare_connections(Arguments& arguments, ConnectionsGiven& given,
                         const std::string& per_address_default);
struct ConnectionLimits {
  std::uint32_t most = 0;
  std::optional<std::uint32_t> per_address;  // unset: the default
};
ConnectionLimits read_connections(const ConnectionsGiven& given);  // throws Failure

struct QuotaGiven {
  std::optional<std::uint64_t> tenant_mib, tenant_conversations;
};
void declare_quota(Arguments& arguments, QuotaGiven& given);
struct Quota;
Quota read_quota(const QuotaGiven& given);  // throws Failure

// The tokens that are meant: the named file, else the user's own where there is one.
std::optional<std::string> tokens_meant(const std::optional<std::string>& given);

// The store of a gateway, whose traffic does not wait for it: one that cannot be opened now, because
// it is unavailable or damaged, is opened later (server/late_store.hpp), which is told on standard
// error. Throws Failure: what is a mistake, such as a URL of no kind.
std::shared_ptr<Store> store_of_gateway(Desk& desk, const Common& common,
                                        std::uint32_t connections_max);

// The secret of this installation, by which a gateway tells users apart: gateway.key beside the
// user's store, made where there is none. Empty where it has no place. unavailable: it cannot be
// read or written.
std::string installation_secret();
// The same; empty where it cannot be read or written, which is told on standard error: traffic does
// not wait for it either, and a random one tells users apart for as long as the process runs.
std::string secret_of_gateway(const Desk& desk);

}  // namespace undertext
