// Ranks search results by the embeddings of a model.
//
//     Settings settings{.rerank = embeddings_rerank({.base_url = "http://127.0.0.1:11434/v1", .model = "nomic-embed-text"}).value()};
#pragma once

#include <cstdint>
#include <string>

#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/recall.hpp>

namespace undertext {

// A model behind an OpenAI-compatible endpoint that turns texts into vectors: POST
// base_url/embeddings.
struct EmbeddingsSettings {
  std::string base_url;  // such as "https://api.openai.com/v1"
  std::string model;
  std::string key_variable = {};            // the environment variable that holds the key …
  std::string key_file = {};                // … or a file that does; neither: no key is sent
  std::uint32_t timeout_ms = 5'000;         // of one search
  std::uint64_t text_bytes_max = 8'000;     // of one text; more of it is not sent
  std::uint64_t vectors_kept_max = 10'000;  // in memory, of texts that were sent once
};

// Ranks by the cosine between the vectors. The texts of the best messages leave this process.
// invalid_argument: settings that cannot work. unsupported: this build has no HTTP client
// (libcurl).
UNDERTEXT_API Result<Rerank> embeddings_rerank(EmbeddingsSettings settings);

}  // namespace undertext
