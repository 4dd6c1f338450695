// What serve, gateway and wrap have in common: where to listen, and which upstreams there are.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"

namespace undertext {

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

struct QuotaGiven {
  std::optional<std::uint64_t> tenant_mib, tenant_conversations;
};
void declare_quota(Arguments& arguments, QuotaGiven& given);
struct Quota;
Quota read_quota(const QuotaGiven& given);  // throws Failure

// The tokens that are meant: the named file, else the user's own where there is one.
std::optional<std::string> tokens_meant(const std::optional<std::string>& given);

// The secret of this installation, by which a gateway tells users apart: gateway.key beside the
// user's store, made where there is none. Empty where it has no place. unavailable: it cannot be
// read or written.
std::string installation_secret();

}  // namespace undertext
