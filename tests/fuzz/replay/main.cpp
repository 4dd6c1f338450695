// Plays stored inputs through a fuzz target without libFuzzer, so that every compiler and sanitizer
// sees the corpus.
//   undertext_replay_<name> FILE_OR_FOLDER…
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size_bytes);

namespace {

void play(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    std::fprintf(stderr, "cannot read %s\n", file.c_str());
    std::exit(1);
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in),
                                std::istreambuf_iterator<char>()};
  LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
  std::size_t played = 0;
  for (int i = 1; i < argc; ++i) {
    const std::filesystem::path given = argv[i];
    if (!std::filesystem::is_directory(given)) {
      play(given);
      ++played;
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(given)) {
      if (!entry.is_regular_file()) continue;
      play(entry.path());
      ++played;
    }
  }
  std::printf("%zu inputs played\n", played);
  return played == 0 ? 1 : 0;
}
