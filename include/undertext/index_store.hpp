// Builds the full-text index of messages that have none: those that older releases stored, and what
// a redaction could not index again.
//
//     index_store(*store, {.on_progress = [](const IndexProgress& at) { print(at.messages); }}).value();
//
// Searches are complete without it: they read messages without a row of the index from their
// bodies. With it they are fast. Runs concurrently with readers and writers, in separate commits.
// Idempotent.
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>

#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/store.hpp>

namespace undertext {

struct IndexProgress {
  std::uint64_t conversations = 0;  // looked at
  std::uint64_t messages = 0;       // indexed
  std::uint64_t bytes = 0;          // of their bodies
};

struct IndexOptions {
  // after each commit, and each conversation
  std::function<void(const IndexProgress&)> on_progress = {};
  std::stop_token stop = {};  // what is committed by then stays
};

// unavailable, corrupt: as Store. A conversation that is purged meanwhile is skipped.
UNDERTEXT_API Result<IndexProgress> index_store(Store& store, const IndexOptions& options = {});

}  // namespace undertext
