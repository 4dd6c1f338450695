#include "cli/count.hpp"

#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string_view>

#include <undertext/message.hpp>
#include <undertext/models.hpp>
#include <undertext/tokenizer.hpp>

#include "base/json_text.hpp"
#include "cli/desk.hpp"
#include "tokens/counting.hpp"
#include "tokens/valid_text.hpp"

namespace undertext {
namespace {

void complain(const Error& error) {
  std::fprintf(stderr, "undertext count: %s: %s\n", std::string(name(error.code)).c_str(),
               error.message.c_str());
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
  std::uint64_t parts = 0;  // messages, or tools
  std::uint64_t tokens = 0;
  bool exact = true;
};

class MessageCounter {
 public:
  explicit MessageCounter(const Counting& counting)
      : counting_(counting), count_message_(counting.counter()) {}

  // `place` says which message it is, for errors.
  std::optional<Error> add(std::string_view json, std::uint64_t place) {
    const Result<Message> message = Message::parse(json);
    if (!message) {
      Error error = message.error();
      error.message = "message " + std::to_string(place) + ": " + error.message;
      return error;
    }
    ++count_.parts;
    count_.tokens += count_message_(*message);
    count_.exact = count_.exact && counting_.is_exact(*message);
    return std::nullopt;
  }

  const Count& count() const { return count_; }

 private:
  const Counting& counting_;
  std::function<std::uint32_t(const Message&)> count_message_;
  Count count_;
};

Result<Count> count_messages(std::string_view text, const Counting& counting) {
  MessageCounter counter(counting);
  std::uint64_t place = 0;
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && text[first] == '[') {
    const Result<JsonText> json = JsonText::parse(text, {});
    if (!json) return json.error();
    for (const JsonValue message : json->root().elements())
      if (std::optional<Error> error = counter.add(message.raw(), ++place))
        return std::move(*error);
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

void print(const CountOptions& options, const std::string& file, std::uint64_t size_bytes,
           const Count& count) {
  if (!options.json) {
    std::printf("%10llu %s\n", static_cast<unsigned long long>(count.tokens), file.c_str());
    return;
  }
  std::string storage;
  std::string line = "{\"file\":";
  append_json_string(line, valid_text(file, storage));
  line += ",\"bytes\":" + std::to_string(size_bytes);
  if (options.messages) line += ",\"messages\":" + std::to_string(count.parts);
  if (options.tools) line += ",\"tools\":" + std::to_string(count.parts);
  line += ",\"tokens\":" + std::to_string(count.tokens) +
          (count.exact ? ",\"exact\":true}" : ",\"exact\":false}");
  std::puts(line.c_str());
}

Result<Counting> choose(const CountOptions& options) {
  if (options.tokenizer) return counting_by(*options.tokenizer);
  Result<Counting> exact = counting_by("o200k_base");
  if (exact || exact.error().code != ErrorCode::not_found) return exact;
  std::fputs(
      "undertext count: no vocabulary is installed (scripts/vocabularies gets them): the counts "
      "are estimates\n",
      stderr);
  return counting_by("estimate");
}

Result<Count> count_tools_of(std::string_view text, const Counting& counting) {
  const Result<ToolsCount> count = count_tools(text, counting.name);
  if (!count) return count.error();
  return Count{count->tools, count->tokens, count->exact};
}

Result<Count> count_one(const CountOptions& options, std::string_view text,
                        const Counting& counting) {
  if (options.messages) return count_messages(text, counting);
  if (options.tools) return count_tools_of(text, counting);
  return Count{0, counting.tokenizer->count(text), counting.tokenizer->is_exact()};
}

}  // namespace

int run_count(const CountOptions& options) {
  if (options.messages && options.tools) {
    complain({ErrorCode::invalid_argument, "--messages and --tools exclude each other", "tools"});
    return 2;
  }
  try {
    add_models_of(options.models);
  } catch (const Failure& failure) {
    complain(failure.error());
    return 2;
  }
  const Result<Counting> counting = choose(options);
  if (!counting) {
    complain(counting.error());
    return 2;
  }
  int status = 0;
  Count total;
  for (const std::string& file : options.files) {
    const Result<std::string> text = read_file(file);
    if (!text) {
      complain(text.error());
      status = 1;
      continue;
    }
    Result<Count> count = count_one(options, *text, *counting);
    if (!count) {
      complain(of_file(file, std::move(count.error())));
      status = 1;
      continue;
    }
    print(options, file, text->size(), *count);
    total.tokens += count->tokens;
  }
  if (!options.json && options.files.size() > 1)
    std::printf("%10llu total\n", static_cast<unsigned long long>(total.tokens));
  if (std::fflush(stdout) != 0) {
    std::perror("undertext count");
    return 1;
  }
  return status;
}

}  // namespace undertext
