// Any bytes, as a lesson from which a small vocabulary is learned and a text that is counted with
// it: the fast way gives what merging by definition gives, the second time too. The first byte
// picks the pattern, the second the number of merges; a 0xFF ends the lesson.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "require.hpp"
#include "tokens/small_vocabulary.hpp"
#include "tokens/tokenizer_json.hpp"
#include "tokens/valid_text.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes) {
  using namespace undertext;
  std::string_view input(reinterpret_cast<const char*>(data), size_bytes);
  // What is not JSON is refused, and what is has a reason to be refused.
  const Result<std::shared_ptr<const Tokenizer>> read = read_tokenizer_json(input, "fuzz");
  require(read || !read.error().message.empty(), "an error says what is wrong");
  if (input.size() < 2) return 0;

  const auto pattern = static_cast<SplitPattern>(data[0] % split_pattern_count);
  const std::size_t merges = data[1] % 64;
  input.remove_prefix(2);
  std::string storage;
  const std::string lesson(
      valid_text(input.substr(0, std::min<std::size_t>(input.find('\xFF'), 1000)), storage));
  std::uint32_t state = data[1];
  const SmallVocabulary vocabulary = learn_vocabulary(
      lesson, pattern, merges, [&state] { return state = state * 1664525 + 1013904223; });
  const std::vector<std::uint32_t> expected = vocabulary.plain->encode(input).value();
  require(vocabulary.fast->encode(input).value() == expected, "the fast way gives the same tokens");
  for (int time = 0; time < 2; ++time)
    require(vocabulary.fast->count(input) == expected.size(), "and the same count");
  return 0;
}
