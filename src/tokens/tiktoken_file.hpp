// The files of ranks that tiktoken reads: one token a line, its bytes in base64, a space, its rank,
// which is also its id.
#pragma once

#include <string_view>

#include <undertext/error.hpp>

#include "tokens/make_vocabulary.hpp"

namespace undertext {

// The file does not say how text is split before it is encoded; whose file it is can be told by its
// name only, which begins with o200k, cl100k, p50k or r50k. Up to its dot it is the name of the
// vocabulary.
// corrupt: not such a file. unsupported: another name, not all 256 bytes are tokens, or a token is
// not what merging makes of its bytes.
Result<VocabularySource> read_tiktoken_file(std::string_view text, std::string_view file_name);

}  // namespace undertext
