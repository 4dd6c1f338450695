#include "cli/count.hpp"

#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <string_view>

#include <undertext/message.hpp>
#include <undertext/tokenizer.hpp>

#include "base/json_text.hpp"
#include "cli/desk.hpp"
#include "tokens/message_tokens.hpp"
#include "tokens/valid_text.hpp"

namespace undertext {
namespace {

void complain(const Error& error) {
  std::fprintf(stderr, "undertext count: %s: %s\n", std::string(name(error.code)).c_str(), error.message.c_str());
}

Error of_file(const std::string& file, Error error) {
  error.message = file + ": " + error.message;
  return error;
}

Result<std::string> read_file(const std::string& file) {
  try {
    return read_whole(file, std::numeric_limits<std::uint64_t>::max());
  } catch (const Failure& failure) {
    return failure.error();
  }
}

struct Count {
  std::uint64_t messages = 0;
  std::uint64_t tokens = 0;
};

class MessageCounter {
 public:
  MessageCounter(const Tokenizer& tokenizer, const CostProfile& profile) : tokenizer_(tokenizer), profile_(profile) {}

  // `place` says which message it is, for errors.
  std::optional<Error> add(std::string_view json, std::uint64_t place) {
    const Result<Message> message = Message::parse(json);
    if (!message) {
      Error error = message.error();
      error.message = "message " + std::to_string(place) + ": " + error.message;
      return error;
    }
    ++count_.messages;
    count_.tokens += count_message_tokens(*message, tokenizer_, profile_);
    return std::nullopt;
  }

  const Count& count() const { return count_; }

 private:
  const Tokenizer& tokenizer_;
  const CostProfile& profile_;
  Count count_;
};

Result<Count> count_messages(std::string_view text, const Tokenizer& tokenizer, const CostProfile& profile) {
  MessageCounter counter(tokenizer, profile);
  std::uint64_t place = 0;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '[') {
    const Result<JsonText> json = JsonText::parse(text, {});
    if (!json) return json.error();
    for (const JsonValue message : json->root().elements())
      if (std::optional<Error> error = counter.add(message.raw(), ++place)) return std::move(*error);
    return counter.count();
  }
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    ++place;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    if (std::optional<Error> error = counter.add(line, place)) return std::move(*error);
  }
  return counter.count();
}

void print(const CountOptions& options, const std::string& file, std::uint64_t size_bytes, const Count& count) {
  if (!options.json) {
    std::printf("%10llu %s\n", static_cast<unsigned long long>(count.tokens), file.c_str());
    return;
  }
  std::string storage;
  std::string line = "{\"file\":";
  append_json_string(line, valid_text(file, storage));
  line += ",\"bytes\":" + std::to_string(size_bytes);
  if (options.messages) line += ",\"messages\":" + std::to_string(count.messages);
  line += ",\"tokens\":" + std::to_string(count.tokens) + "}";
  std::puts(line.c_str());
}

Result<std::shared_ptr<const Tokenizer>> choose(const CountOptions& options) {
  if (options.tokenizer) return find_tokenizer(*options.tokenizer);
  Result<std::shared_ptr<const Tokenizer>> exact = find_tokenizer("o200k_base");
  if (exact || exact.error().code != ErrorCode::not_found) return exact;
  std::fputs("undertext count: no vocabulary is installed (scripts/vocabularies gets them): the counts are estimates\n", stderr);
  return find_tokenizer("estimate");
}

}  // namespace

int run_count(const CountOptions& options) {
  const Result<std::shared_ptr<const Tokenizer>> tokenizer = choose(options);
  if (!tokenizer) {
    complain(tokenizer.error());
    return 2;
  }
  const CostProfile& profile = options.tokenizer ? cost_profile_for_model(*options.tokenizer) : default_cost_profile();
  int status = 0;
  Count total;
  for (const std::string& file : options.files) {
    const Result<std::string> text = read_file(file);
    if (!text) {
      complain(text.error());
      status = 1;
      continue;
    }
    Result<Count> count = options.messages ? count_messages(*text, **tokenizer, profile) : Count{0, (*tokenizer)->count(*text)};
    if (!count) {
      complain(of_file(file, std::move(count.error())));
      status = 1;
      continue;
    }
    print(options, file, text->size(), *count);
    total.tokens += count->tokens;
  }
  if (!options.json && options.files.size() > 1) std::printf("%10llu total\n", static_cast<unsigned long long>(total.tokens));
  if (std::fflush(stdout) != 0) {
    std::perror("undertext count");
    return 1;
  }
  return status;
}

}  // namespace undertext
