#include "cli/vocabulary.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "system/mapped_file.hpp"
#include "tokens/tiktoken_file.hpp"

namespace undertext {
namespace {

std::optional<Error> replace_file(const std::string& path, std::string_view bytes) {
  const std::string fresh = path + ".new";
  const auto failed = [&] {
    Error error{.code = ErrorCode::unavailable, .message = fresh + ": " + std::strerror(errno)};
    std::remove(fresh.c_str());
    return error;
  };
  std::FILE* const file = std::fopen(fresh.c_str(), "wbe");
  if (file == nullptr) return failed();
  const bool written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  if (std::fclose(file) != 0 || !written) return failed();
  if (std::rename(fresh.c_str(), path.c_str()) != 0) return failed();
  return std::nullopt;
}

std::optional<Error> convert(const VocabularyOptions& options) {
  const Result<MappedFile> ranks = map_file(options.ranks);
  if (!ranks) return ranks.error();
  const Result<VocabularySource> source =
      read_tiktoken_file(ranks->bytes, options.ranks.substr(options.ranks.rfind('/') + 1));
  if (!source) return source.error();
  const Result<std::string> file = make_vocabulary(*source);
  if (!file) return file.error();
  return replace_file(options.out, *file);
}

}  // namespace

int run_vocabulary(const VocabularyOptions& options) {
  const std::optional<Error> error = convert(options);
  if (!error) return 0;
  std::fprintf(stderr, "undertext vocabulary: %s: %s\n", std::string(name(error->code)).c_str(),
               error->message.c_str());
  return 1;
}

}  // namespace undertext
