// Indexes what older releases stored without a full-text index, or what a redaction left without one.
//
//     index_store(*store, {.on_progress = [](const IndexProgress& at) { print(at.messages); }}).value();
//
// Searches are complete without it: they read the words of messages that have no row of the index from
// their bodies. With it they are quick. Runs beside readers and writers, in commits of its own; done
// twice, it does nothing the second time.
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
  std::function<void(const IndexProgress&)> on_progress = {};  // after each commit, and each conversation
  std::stop_token stop = {};                                   // what is committed by then stays
};

// unavailable, corrupt: as Store. A conversation that is purged meanwhile is left out.
UNDERTEXT_API Result<IndexProgress> index_store(Store& store, const IndexOptions& options = {});

}  // namespace undertext
