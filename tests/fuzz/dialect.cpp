// Any bytes, as a request, a response or a stream of each dialect. What is imported must go back to
// its dialect as it came, and what is rendered for any profile must be accepted.
#include <undertext/dialect.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/history.hpp>

#include "require.hpp"

namespace {

using namespace undertext;

History with(const std::vector<Message>& messages) {
  if (messages.empty()) return History();
  return History().apply({op::Append{messages}}, {}).value().history;
}

void import_and_render(Dialect dialect, std::string_view input) {
  const Result<Imported> imported = import_messages(dialect, input);
  if (!imported) return require(!imported.error().message.empty(), "an error says what is wrong");
  const History history = with(imported->messages);
  const std::string as_it_stands =
      render(history.view(), default_profile(dialect), {.repair = false}).value().json;
  const Result<Imported> again = import_messages(dialect, as_it_stands);
  require(static_cast<bool>(again), "what was exported is imported", as_it_stands);
  require(again->messages == imported->messages, "what was exported is what was imported",
          as_it_stands);
  for (const std::string_view name : profile_names()) {
    const Profile profile = find_profile(name).value();
    for (const CacheMarkers markers : {CacheMarkers::given, CacheMarkers::automatic}) {
      const Rendering rendering =
          render(history.view(), profile, {.cache_markers = markers}).value();
      const Result<std::vector<Finding>> findings = validate_request(rendering.json, profile);
      require(static_cast<bool>(findings), "what is rendered is a request", rendering.json);
      require(findings->empty(), findings->empty() ? "" : findings->front().code.data(),
              rendering.json);
    }
  }
}

void stream(Dialect dialect, std::string_view input) {
  StreamAssembler assembler(dialect);
  for (std::size_t at = 0; at < input.size();) {
    const std::size_t end = std::min(input.find('\n', at), input.size());
    static_cast<void>(assembler.feed(input.substr(at, end - at)));
    at = end + 1;
  }
  const StreamAssembler::Streamed streamed = assembler.finish();
  if (streamed.message.empty()) return;
  const Result<Imported> imported = import_messages(dialect, streamed.message);
  // A member that the stream gave twice under two spellings, or a depth beyond the engine's, may
  // still be refused: with a reason.
  if (!imported) require(!imported.error().message.empty(), "an error says what is wrong");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  if (size_bytes == 0 || size_bytes > 1u << 16) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 1, size_bytes - 1);
  const auto dialect = static_cast<Dialect>(data[0] % dialect_count);
  if ((data[0] & 4) != 0) {
    stream(dialect, input);
  } else {
    import_and_render(dialect, input);
  }
  static_cast<void>(Profile::parse(input));
  return 0;
}
