// Encodes texts for compare_with_tiktoken.py.   encode_texts TOKENIZER < texts > tokens
//
// A text is its size (four bytes, little endian) and its bytes. For each come back what count()
// says (eight bytes), how many tokens encode() gives (four), and their ids (four each).
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <undertext/tokenizer.hpp>

int main(int argc, char** argv) {
  using namespace undertext;
  if (argc != 2) {
    std::fputs("usage: encode_texts TOKENIZER\n", stderr);
    return 2;
  }
  const Result<std::shared_ptr<const Tokenizer>> tokenizer = find_tokenizer(argv[1]);
  if (!tokenizer) {
    std::fprintf(stderr, "%s: %s\n", std::string(name(tokenizer.error().code)).c_str(),
                 tokenizer.error().message.c_str());
    return 1;
  }
  std::string text;
  std::uint32_t size = 0;
  while (std::fread(&size, sizeof size, 1, stdin) == 1) {
    text.resize(size);
    if (size != 0 && std::fread(text.data(), size, 1, stdin) != 1) return 1;
    const std::uint64_t count = (*tokenizer)->count(text);
    const std::vector<std::uint32_t> ids = (*tokenizer)->encode(text).value();
    const auto id_count = static_cast<std::uint32_t>(ids.size());
    std::fwrite(&count, sizeof count, 1, stdout);
    std::fwrite(&id_count, sizeof id_count, 1, stdout);
    if (!ids.empty()) std::fwrite(ids.data(), sizeof ids[0], ids.size(), stdout);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
