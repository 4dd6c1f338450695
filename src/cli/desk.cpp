#include "cli/desk.hpp"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <limits>
#include <utility>

#include <undertext/models.hpp>

#include "base/json_text.hpp"
#include "base/utf8.hpp"
#include "json/kept_settings.hpp"
#include "json/request.hpp"
#include "json/settings_json.hpp"
#include "system/files.hpp"
#include "system/process.hpp"
#include "system/terminal.hpp"

namespace undertext {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

Screen::Options screen_options(bool terminal) {
  if (terminal) return {.color = color_is_welcome(), .columns = terminal_columns()};
  return {.columns = std::numeric_limits<std::size_t>::max()};
}

constexpr std::string_view sqlite_prefix = "sqlite:";
constexpr std::uint64_t config_bytes_max = std::uint64_t{64} << 20;

std::optional<std::string> data_folder() {
  std::string folder = variable("XDG_DATA_HOME");
  if (!folder.starts_with('/')) {  // the specification has relative ones ignored
    folder = variable("HOME");
    if (folder.empty()) return std::nullopt;
    folder += "/.local/share";
  }
  return folder + "/undertext";
}

}  // namespace

void make_folders_above(const std::string& path) {
  for (std::size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    const std::string folder = path.substr(0, slash);
    if (!make_private_folder(folder) && errno != EEXIST)
      fail(ErrorCode::unavailable, folder + ": " + std::strerror(errno));
  }
}

void fail(ErrorCode code, std::string message, std::string field) {
  throw Failure(Error{.code = code, .message = std::move(message), .field = std::move(field)});
}

int exit_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid_argument: return 2;
    case ErrorCode::not_found: return 3;
    case ErrorCode::conflict: return 4;
    case ErrorCode::unavailable: return 5;
    case ErrorCode::corrupt: return 6;
    case ErrorCode::cannot_fit: return 7;
    case ErrorCode::unsupported: return 8;
    case ErrorCode::too_large: return 9;
    case ErrorCode::denied: return 10;
    case ErrorCode::internal: break;
  }
  return 1;
}

std::string default_store_url() {
  if (std::string url = variable("UNDERTEXT_STORE"); !url.empty()) return url;
  const std::optional<std::string> folder = data_folder();
  if (!folder)
    fail(ErrorCode::invalid_argument, "HOME is not set: say where with --store", "store");
  return std::string(sqlite_prefix) + *folder + "/undertext.db";
}

std::optional<std::string> default_tokens_file() {
  std::optional<std::string> folder = data_folder();
  if (folder) *folder += "/tokens";
  return folder;
}

Desk::Desk() : terminal_(leads_to_terminal(standard_output)), screen_(screen_options(terminal_)) {
  chosen_conversation = variable("UNDERTEXT_CONVERSATION");
  if (chosen_conversation.empty()) chosen_conversation = "default";
}

std::string Desk::url(const Common& common) const {
  return common.store ? *common.store : chosen_store ? *chosen_store : default_store_url();
}

std::function<Result<std::shared_ptr<Store>>()> Desk::opener(const Common& common, Need need,
                                                             StoreOptions options) const {
  const bool is_default = !common.store && !chosen_store && variable("UNDERTEXT_STORE").empty();
  options.create = need != Need::there;
  options.tenant = common.tenant ? *common.tenant : chosen_tenant;
  return [url = url(common), options, makes_folders = is_default && options.create] {
    if (makes_folders) make_folders_above(url.substr(sqlite_prefix.size()));
    return open_store(url, options);
  };
}

std::shared_ptr<Store> Desk::store(const Common& common, Need need, StoreOptions options) {
  add_models_of(common.models);
  const auto key = std::pair(url(common), common.tenant ? *common.tenant : chosen_tenant);
  if (const auto open = stores_.find(key); open != stores_.end()) return open->second;
  Result<std::shared_ptr<Store>> opened = opener(common, need, std::move(options))();
  if (!opened && opened.error().code == ErrorCode::not_found) {
    Error error = opened.error();
    if (need == Need::there) error.message += " (undertext init makes one)";
    throw Failure(common.store ? about_option("--store", std::move(error)) : std::move(error));
  }
  if (!opened && common.store) throw Failure(about_option("--store", opened.error()));
  return stores_.emplace(key, std::move(opened).value()).first->second;
}

std::string Desk::conversation_id(const Common& common) const {
  return common.conversation.value_or(chosen_conversation);
}

Conversation Desk::conversation(const Common& common, Need need,
                                const std::optional<std::string>& config) {
  const std::string id = conversation_id(common);
  const std::shared_ptr<Store> where = store(common, need);
  const OpenOptions::Make make = need == Need::there     ? OpenOptions::Make::never
                                 : need == Need::another ? OpenOptions::Make::always
                                                         : OpenOptions::Make::if_missing;
  Result<Conversation> opened = open_kept(where, id, {.config = config, .options = {.make = make}});
  if (!opened && opened.error().code == ErrorCode::not_found && need == Need::there &&
      !where->find(id)) {
    Error& error = opened.error();
    if (error.message.empty()) error.message = "there is no conversation " + id;
    error.message += " (undertext list shows those there are)";
  }
  return std::move(opened).value();
}

void Desk::say(std::string_view text) {
  std::string line = printable(text);
  line += '\n';
  std::fwrite(line.data(), 1, line.size(), stdout);
}

void Desk::put_json(std::string line) {
  for (char& c : line) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  put_line(line);
  std::fflush(stdout);
}

void Desk::put_line(std::string_view line) {
  const std::string safe = terminal_ ? json_for_terminal(line) : std::string();
  if (terminal_) line = safe;
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
}

void Desk::tell(const Error& error, bool json) const {
  std::string line;
  if (json) {
    line = answer(error);
    if (leads_to_terminal(standard_error)) line = json_for_terminal(line);
  } else {
    line = "undertext: " + std::string(name(error.code)) + ": " + printable(error.message);
    const std::string& where = error.path.empty() ? error.field : error.path;
    if (!where.empty()) line += " (" + printable(where) + ")";
  }
  std::fprintf(stderr, "%s\n", line.c_str());
}

void Desk::note(std::string_view text) const {
  std::fprintf(stderr, "undertext: %s\n", printable(text).c_str());
}

bool Desk::confirm(std::string_view question, bool yes) {
  if (yes) return true;
  if (!leads_to_terminal(standard_input) || !leads_to_terminal(standard_error)) {
    fail(ErrorCode::invalid_argument,
         "standard input is no terminal, so there is no one to ask: confirm with --yes", "yes");
  }
  std::fprintf(stderr, "%s [y/N] ", printable(question).c_str());
  char answer[64] = {};
  if (std::fgets(answer, sizeof answer, stdin) == nullptr) return false;
  return answer[0] == 'y' || answer[0] == 'Y';
}

bool Desk::finish() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && screen_.flush();
}

Progress::Progress(std::string_view what)
    : what_(printable(what)), shown_(leads_to_terminal(standard_error)) {}

Progress::~Progress() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

void Progress::at(std::uint64_t done, std::uint64_t whole) {
  if (!shown_) return;
  const std::int64_t now = std::chrono::duration_cast<std::chrono::milliseconds>(
                               std::chrono::steady_clock::now().time_since_epoch())
                               .count();
  if (last_ms_ == 0) last_ms_ = now;  // nothing is shown of what is done at once
  if (now - last_ms_ < (drawn_ ? 100 : 500)) return;
  last_ms_ = now;
  drawn_ = true;
  constexpr std::size_t cells = 30;
  const std::string filled = bar(done, whole, cells);
  const std::string number =
      std::to_string(done) + (whole > 0 ? " of " + std::to_string(whole) : std::string());
  std::fprintf(stderr, "\r\x1b[K%s %s%*s %s", what_.c_str(), filled.c_str(),
               static_cast<int>(cells - count_cells(filled)), "", number.c_str());
  std::fflush(stderr);
}

std::string spelled_time(std::int64_t ms) {
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts = {};
  char text[64];
  if (localtime_r(&seconds, &parts) == nullptr ||
      std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts) == 0) {
    return std::to_string(ms) + " ms";
  }
  return text;
}

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string user_name() {
  for (const char* name : {"USER", "LOGNAME"}) {
    if (std::string user = variable(name); !user.empty()) return user;
  }
  return "uid " + std::to_string(user_id());
}

std::string current_folder() {
  std::string folder = whole_path(".");
  return find_invalid_utf8(folder) ? std::string() : folder;
}

std::string read_whole(const std::string& path, std::uint64_t bytes_max) {
  const bool is_input = path == "-";
  const OpenFile file = is_input ? OpenFile() : open_file(path, OpenFor::reading);
  const int descriptor = is_input ? standard_input : file.descriptor();
  if (descriptor < 0) {
    fail(errno == ENOENT ? ErrorCode::not_found : ErrorCode::unavailable,
         path + ": " + std::strerror(errno));
  }
  std::string text;
  int failure = 0;
  for (std::size_t size = 0;;) {
    constexpr std::size_t step = 1 << 18;
    text.resize(size + step);
    const std::int64_t got = read_some(descriptor, text.data() + size, step);
    if (got < 0) failure = errno;
    if (got > 0) size += static_cast<std::size_t>(got);
    text.resize(size);
    if (got <= 0 || size > bytes_max) break;
  }
  if (failure != 0) fail(ErrorCode::unavailable, path + ": " + std::strerror(failure));
  if (text.size() > bytes_max)
    fail(ErrorCode::too_large, path + " has more than " + std::to_string(bytes_max) + " bytes");
  return text;
}

Error about_option(std::string_view option, Error error) {
  error.message = std::string(option) + ": " + error.message;
  return error;
}

std::optional<std::string> config_of(const std::optional<std::string>& given) {
  if (!given) return {};
  const std::size_t first = given->find_first_not_of(" \t\r\n");
  return of_option("--config", [&] {
    std::string config = first == std::string::npos || (*given)[first] == '{'
                             ? *given
                             : read_whole(*given, config_bytes_max);
    if (!JsonText::parse(config, {}).value().root().is(JsonType::object))
      fail(ErrorCode::invalid_argument, "it is no JSON object", "config");
    read_settings(config).value();
    return config;
  });
}

void add_models_of(const std::optional<std::string>& path) {
  if (!path) return;
  of_option("--models", [&] {
    Result<void> added = add_models(read_whole(*path, config_bytes_max));
    if (added) return;
    added.error().message = *path + ": " + added.error().message;
    throw Failure(std::move(added.error()));
  });
}

std::optional<std::string> with_model(std::optional<std::string> config,
                                      const std::optional<std::string>& model) {
  if (!model) return config;
  const std::string given = config.value_or("{}");
  const Result<JsonText> text = JsonText::parse(given, {});
  if (!text) throw Failure(about_option("--config", text.error()));
  if (text->root().find("model"))
    fail(ErrorCode::invalid_argument, "the settings name a model already", "model");
  std::string out = R"({"model":)";
  append_json_string(out, *model);
  for (const JsonMember member : text->root().members())
    ((out += ',').append(member.key.raw()) += ':') += member.value.raw();
  return out + "}";
}

}  // namespace undertext
