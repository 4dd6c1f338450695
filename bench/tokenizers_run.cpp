// One run of Undertext for scripts/bench-tokenizers: counts the texts of a file in a fresh process,
// and again.
//   tokenizers_run TOKENIZER TEXTS ROUNDS
//
// A text is its size (four bytes, little endian) and its bytes. Prints one line of JSON: seconds on
// the processor, of the first pass and of the others.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <time.h>

#include <undertext/tokenizer.hpp>

namespace {

double processor_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace undertext;
  if (argc != 4) return 2;
  std::ifstream file(argv[2], std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  std::vector<std::string_view> texts;
  std::uint64_t size_bytes = 0;
  for (std::size_t at = 0; at < bytes.size();) {
    std::uint32_t size;
    std::memcpy(&size, bytes.data() + at, sizeof size);
    texts.emplace_back(bytes.data() + at + sizeof size, size);
    at += sizeof size + size;
    size_bytes += size;
  }
  const double before = processor_seconds();
  const Result<std::shared_ptr<const Tokenizer>> tokenizer = find_tokenizer(argv[1]);
  if (!tokenizer) {
    std::fprintf(stderr, "%s\n", tokenizer.error().message.c_str());
    return 1;
  }
  const double load_s = processor_seconds() - before;
  std::vector<double> seconds;
  std::uint64_t tokens = 0;
  for (int round = std::atoi(argv[3]); round > 0; --round) {
    tokens = 0;
    const double start = processor_seconds();
    for (const std::string_view text : texts) tokens += (*tokenizer)->count(text);
    seconds.push_back(processor_seconds() - start);
  }
  std::printf(R"({"bytes":%llu,"tokens":%llu,"load_s":%.6f,"seconds":[)",
              static_cast<unsigned long long>(size_bytes), static_cast<unsigned long long>(tokens),
              load_s);
  for (std::size_t i = 0; i < seconds.size(); ++i)
    std::printf("%s%.9f", i == 0 ? "" : ",", seconds[i]);
  std::puts("]}");
}
