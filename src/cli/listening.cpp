#include "cli/listening.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <utility>

#include "base/json_text.hpp"
#include "cli/desk.hpp"
#include "json/fields.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#if UNDERTEXT_HAVE_SERVER
#  include "server/gateway_serving.hpp"
#  include "server/late_store.hpp"
#endif

namespace undertext {

#if UNDERTEXT_HAVE_SERVER

namespace {

// {"openai": {"url": "https://…", "key_env": "OPENAI_API_KEY"}, …}
void read_upstreams_file(const std::string& path, UpstreamSettings& settings) {
  const std::string text = read_whole(path);
  const JsonText json = JsonText::parse(text, {}).value();
  if (!json.root().is(JsonType::object))
    fail(ErrorCode::invalid_argument, "upstreams are an object by name", "upstreams");
  for (const JsonMember member : json.root().members()) {
    const std::string name = member.key.string();
    if (!member.value.is(JsonType::object))
      fail(ErrorCode::invalid_argument, "an upstream is an object", name);
    std::optional<std::string> url, key_env;
    Reading reading;
    Fields fields(member.value, "an upstream", reading);
    fields.take("url", url);
    fields.take("key_env", key_env);
    fields.done();
    if (reading.failed()) throw Failure(reading.take_error());
    if (url) settings.urls[name] = *url;
    if (key_env) settings.key_variables[name] = *key_env;
  }
}

// A mode, JSON, or the name of a file with JSON.
GatewayPolicies read_policies(const std::string& given) {
  if (given.starts_with('{')) return GatewayPolicies::read(given).value();
  if (Result<GatewayPolicies> mode = GatewayPolicies::read(given)) return *std::move(mode);
  return GatewayPolicies::read(read_whole(given)).value();
}

std::pair<std::string, std::string> read_pair(const std::string& text, const char* form,
                                              const char* option) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    fail(ErrorCode::invalid_argument, std::string("it has the form ") + form, option);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

}  // namespace

void read_upstreams(const UpstreamsGiven& given, GatewayServing& serving) {
  if (given.file)
    of_option("--upstreams", [&] { read_upstreams_file(*given.file, serving.upstreams); });
  for (const auto& [name, url] :
       {std::pair("anthropic", &given.anthropic), std::pair("openai", &given.openai),
        std::pair("gemini", &given.gemini)})
    if (*url) serving.upstreams.urls[name] = **url;
  for (const std::string& key : given.keys) {
    auto [name, variable] = read_pair(key, "UPSTREAM=VARIABLE", "keyEnv");
    serving.upstreams.key_variables[name] = std::move(variable);
  }
  for (const std::string& level : given.record) {
    if (level.find('=') == std::string::npos) {
      serving.record = read_record_level(level).value();
    } else {
      auto [tenant, text] = read_pair(level, "[TENANT=]LEVEL", "record");
      serving.record_by_tenant[tenant] = read_record_level(text).value();
    }
  }
  if (given.policy) of_option("--policy", [&] { serving.policies = read_policies(*given.policy); });
  if (given.compaction_key_env)
    serving.compaction_key = read_key_variable(*given.compaction_key_env);
  if (given.ca_file) serving.upstream_limits.ca_file = *given.ca_file;
  if (given.idle_seconds < 1 || given.idle_seconds > 86'400)
    fail(ErrorCode::invalid_argument, "an upstream may be silent for 1 to 86400 s", "idleSeconds");
  serving.upstream_limits.idle_patience = std::chrono::seconds(given.idle_seconds);
  for (const auto& [mib, name] :
       {std::pair(given.body, "body"), std::pair(given.recording, "recording")})
    if (mib < 1 || mib > 1 << 20)
      fail(ErrorCode::invalid_argument, "sizes are 1 to 1048576 MiB", name);
  serving.body_bytes_max = given.body << 20;
  serving.recording_bytes = given.recording << 20;
  serving.relays_upgrades = given.relay_upgrades;
  serving.one_user = given.one_user;
  if (given.tools != "none" && given.tools != "recall")
    fail(ErrorCode::invalid_argument, "tools are none or recall", "tools");
  if (given.tools == "recall") serving.policies.set_tools(GatewayPolicy::Tools::recall);
  if (given.enforce != "recording" && given.enforce != "traffic")
    fail(ErrorCode::invalid_argument, "limits are enforced on recording or on traffic", "enforce");
  serving.enforces_on_traffic = given.enforce == "traffic";
}

std::string read_key_variable(const std::string& name) {
  const char* const key = std::getenv(name.c_str());
  if (key == nullptr || *key == '\0')
    fail(ErrorCode::invalid_argument, name + " is not set", "compactionKeyEnv");
  return key;
}

namespace {

// Of a URL that may hold a password, for people.
std::string without_secrets(std::string url) {
  const std::size_t slashes = url.find("://");
  if (slashes == url.npos) return url;
  url = url.substr(0, url.find('?'));
  const std::size_t host = slashes + 3, at = url.rfind('@');
  return at == url.npos ? url : url.erase(host, at + 1 - host);
}

bool may_come_back(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::corrupt ||
         code == ErrorCode::internal;
}

}  // namespace

std::shared_ptr<Store> store_of_gateway(Desk& desk, const Common& common,
                                        std::uint32_t connections_max) {
  const StoreOptions options{.connections_max = connections_max};
  try {
    return desk.store(common, Desk::Need::make, options);
  } catch (const Failure& failure) {
    if (!may_come_back(failure.error().code)) throw;
    desk.note("nothing is recorded until the store can be opened: " + failure.error().message);
    return late_store({.name = without_secrets(desk.url(common)),
                       .failure = failure.error(),
                       .open = desk.opener(common, Desk::Need::make, options)});
  }
}

std::string secret_of_gateway(const Desk& desk) {
  try {
    return installation_secret();
  } catch (const Failure& failure) {
    desk.note("conversations of this run are found by this run only: " + failure.error().message);
    return {};
  }
}

ConnectionLimits read_connections(const ConnectionsGiven& given) {
  if (given.most < 1 || given.most > 1 << 20)
    fail(ErrorCode::invalid_argument, "connections are 1 to 1048576", "connections");
  if (given.per_address && (*given.per_address < 1 || *given.per_address > given.most))
    fail(ErrorCode::invalid_argument, "connections of one address are 1 up to --connections",
         "connectionsPerAddress");
  ConnectionLimits limits{static_cast<std::uint32_t>(given.most), {}};
  if (given.per_address) limits.per_address = static_cast<std::uint32_t>(*given.per_address);
  return limits;
}

Quota read_quota(const QuotaGiven& given) {
  Quota quota;
  if (given.tenant_mib && (*given.tenant_mib < 1 || *given.tenant_mib > 1ull << 40))
    fail(ErrorCode::invalid_argument, "a tenant may store 1 MiB or more", "tenantMib");
  if (given.tenant_mib) quota.bytes_max = *given.tenant_mib << 20;
  if (given.tenant_conversations) quota.conversations_max = *given.tenant_conversations;
  return quota;
}

#endif

ListenAddress read_listen(const std::string& text, ListenAddress unsaid) {
  std::string address = text;
  const std::size_t colon = text.rfind(':');
  if (colon != std::string::npos && (text.find(':') == colon || text[colon - 1] == ']')) {
    const std::string port = text.substr(colon + 1);
    if (port.empty() || port.size() > 5 ||
        port.find_first_not_of("0123456789") != std::string::npos || std::stoul(port) > 65535)
      fail(ErrorCode::invalid_argument, "a port is 0 to 65535", "listen");
    unsaid.port = static_cast<std::uint16_t>(std::stoul(port));
    address.resize(colon);
  }
  if (address.starts_with('[') && address.ends_with(']'))
    address = address.substr(1, address.size() - 2);
  if (!address.empty()) unsaid.address = std::move(address);
  return unsaid;
}

void declare_upstreams(Arguments& arguments, UpstreamsGiven& given) {
  arguments.add({"--anthropic", &given.anthropic,
                 "Base URL of this upstream; default https://api.anthropic.com", "URL"});
  arguments.add({"--openai", &given.openai, "The same; default https://api.openai.com", "URL"});
  arguments.add({"--gemini", &given.gemini,
                 "The same; default https://generativelanguage.googleapis.com", "URL"});
  arguments.add({"--upstreams", &given.file,
                 "All of this as JSON: {\"openai\":{\"url\":…,\"key_env\":…}}", "FILE"});
  arguments.add({"--key-env", &given.keys,
                 "The gateway's own key for an upstream, from this environment variable; default: "
                 "the client's credentials are passed on",
                 "UPSTREAM=VARIABLE"});
  arguments.add({"--record", &given.record,
                 "What is recorded: full, metadata or none, of all tenants or of one; default full",
                 "[TENANT=]LEVEL"});
  arguments.add({"--policy", &given.policy,
                 "What may be changed in requests: observe, fit, tidy, compact, or more as JSON or "
                 "in a file; default observe",
                 "MODE|JSON|FILE"});
  arguments.add({"--compaction-key-env", &given.compaction_key_env,
                 "The key that compaction items are sealed with, from this environment variable; "
                 "default: made from gateway.key, "
                 "beside the user's store",
                 "VARIABLE"});
  arguments.add({"--upstream-ca", &given.ca_file,
                 "Certificates that upstreams are checked against (PEM); default: the system's",
                 "FILE"});
  arguments.add({"--idle-seconds", &given.idle_seconds,
                 "How long an upstream may be silent; default 900", "N"});
  arguments.add(
      {"--body", &given.body, "What one request of a client may have; default 64 MiB", "MIB"});
  arguments.add(
      {"--recording", &given.recording,
       "What may wait in memory to be recorded; what does not fit is not recorded. Default 256 MiB",
       "MIB"});
  arguments.add({"--enforce", &given.enforce,
                 "What the limits of recording stop: recording, or traffic too, so that nothing "
                 "passes unrecorded. "
                 "Default recording",
                 "recording|traffic"});
  arguments.add({"--tools", &given.tools,
                 "Tools that the gateway offers to models and answers itself: recall, by which "
                 "they search what is no longer in "
                 "context. Default none",
                 "none|recall"});
  arguments.add({"--one-user", &given.one_user,
                 "All credentials are one user's, so that a renewed login or another key finds its "
                 "conversations; default: each is a user, and with wrap all are one"});
  arguments.add({"--relay-upgrades", &given.relay_upgrades,
                 "Relay WebSockets, which are not recorded; default: they are answered 426, and "
                 "clients use HTTP"});
}

void declare_connections(Arguments& arguments, ConnectionsGiven& given,
                         const std::string& per_address_default) {
  arguments.add({"--connections", &given.most, "Connections open at once; default 4096", "N"});
  arguments.add({"--connections-per-address", &given.per_address,
                 "The same for one address; default " + per_address_default +
                     ". Behind a proxy, use the value of --connections",
                 "N"});
}

void declare_quota(Arguments& arguments, QuotaGiven& given) {
  arguments.add(
      {"--tenant-mib", &given.tenant_mib, "What one tenant may store; default: no limit", "MIB"});
  arguments.add({"--tenant-conversations", &given.tenant_conversations,
                 "How many conversations; default: no limit", "N"});
}

std::optional<std::string> tokens_meant(const std::optional<std::string>& given) {
  if (given) return given;
  // Whoever has made tokens means them.
  std::optional<std::string> usual = default_tokens_file();
  if (usual && is_there(*usual)) return usual;
  return std::nullopt;
}

namespace {

constexpr std::size_t secret_bytes = 64;

// Under another name first, so that nobody reads a part of it. Whoever comes second takes what the
// first one made.
void make_secret(const std::string& path) {
  std::random_device chance;
  std::string secret;
  while (secret.size() < secret_bytes) secret += "0123456789abcdef"[chance() % 16];
  const std::string unfinished = path + ".unfinished-" + std::to_string(process_id());
  OpenFile file = open_file(unfinished, OpenFor::replacing);
  const bool is_written = file && write_all(file.descriptor(), secret) && file.close();
  const bool is_made = is_written && (give_second_name(unfinished, path) || errno == EEXIST);
  remove_name(unfinished);
  if (!is_made) fail(ErrorCode::unavailable, path + ": " + std::strerror(errno));
}

}  // namespace

std::string installation_secret() {
  const std::optional<std::string> tokens = default_tokens_file();
  if (!tokens) return {};
  const std::string path = (std::filesystem::path(*tokens).parent_path() / "gateway.key").string();
  make_folders_above(path);
  if (!is_there(path)) make_secret(path);
  std::string secret = read_whole(path);
  if (secret.size() < secret_bytes) fail(ErrorCode::unavailable, path + " is no key: remove it");
  return secret;
}

}  // namespace undertext
