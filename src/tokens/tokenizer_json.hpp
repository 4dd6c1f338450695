// Hugging Face's tokenizer.json, where it describes a byte-level BPE.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <undertext/tokenizer.hpp>

namespace undertext {

// Read are: model BPE with all 256 bytes as tokens; a pre-tokenizer ByteLevel, by itself or behind
// a Split by a pattern of split.hpp; the normalizer NFC, or none. Added tokens, special or not, are
// ordinary text, as everywhere in Undertext. What would be put around the text by the
// post-processor is not counted.
// corrupt: not JSON, or fields that a tokenizer.json must have are not there. unsupported: anything
// else; the message says what.
Result<std::shared_ptr<const Tokenizer>> read_tokenizer_json(std::string_view text,
                                                             std::string name);

}  // namespace undertext
