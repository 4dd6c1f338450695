#include <undertext/index_store.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/answering_failure.hpp"
#include "engine/index_conversation.hpp"
#include "engine/stored_reading.hpp"
#include "engine/stored_words.hpp"
#include "engine/tries.hpp"
#include "recall/index.hpp"

namespace undertext {
namespace {

constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();

struct Gap {
  std::uint64_t first = 0, end = 0;
};

// The first stretch of its own messages without a row. What is at the end and short is left to the
// next commit.
Result<std::optional<Gap>> find_gap(Store& store, const ConversationRecord& record) {
  std::uint64_t covered = record.origin ? record.origin->log_length : 0;
  for (std::uint64_t at = 0;;) {
    const Result<std::vector<WordsRow>> rows =
        store.words(record.id, at, std::numeric_limits<std::uint32_t>::max(), WordsBytes::without);
    if (!rows) return rows.error();
    for (const WordsRow& row : *rows) {
      if (row.first > covered) return std::optional(Gap{covered, row.first});
      covered = std::max(covered, row.end);
    }
    if (rows->empty()) break;
    at = rows->back().first + 1;
  }
  if (covered + RecallIndex::messages_per_segment > record.log_length) return std::optional<Gap>();
  return std::optional(Gap{covered, record.log_length});
}

class Indexing {
 public:
  Indexing(Store& store, const IndexOptions& options) : store_(store), options_(options) {}

  Result<IndexProgress> run() {
    ListOptions list{.limit = 1000};
    for (;;) {
      const Result<std::vector<ConversationRecord>> some = store_.list(list);
      if (!some) return some.error();
      for (const ConversationRecord& record : *some) {
        if (std::optional<Error> error = index(record.id, no_limit)) return *error;
        if (options_.stop.stop_requested()) return progress_;
        ++progress_.conversations;
        report();
      }
      if (some->size() < list.limit) return progress_;
      list.after = some->back().id;
    }
  }

  // Of its bodies, a little more than `bytes_max` at most.
  std::optional<Error> index(const std::string& id, std::uint64_t bytes_max) {
    Tries tries;
    const std::uint64_t before = progress_.bytes;
    while (!options_.stop.stop_requested() && progress_.bytes - before < bytes_max) {
      const Result<ConversationRecord> record = store_.find(id);
      if (!record && record.error().code == ErrorCode::not_found) return {};
      if (!record) return record.error();
      const Result<std::optional<Gap>> gap = find_gap(store_, *record);
      if (!gap) return gap.error();
      if (!*gap) return {};
      if (const Result<void> done = fill(*record, **gap); !done && !tries.may_retry(done.error()))
        return done.error();
    }
    return {};
  }

 private:
  // As much of it as one read returns.
  Result<void> fill(const ConversationRecord& record, const Gap& gap) {
    const Result<std::vector<MessageRecord>> messages =
        store_.messages(record.id, gap.first, gap.end);
    if (!messages) return messages.error();
    StoredWords stored_words(store_, record);
    std::vector<MessageWords> words;
    std::uint64_t bytes = 0;
    for (const MessageRecord& each : *messages) {
      const Result<Message> message = read_message(each);
      if (!message || each.ordinal != gap.first + words.size())
        return Error{ErrorCode::corrupt, "message " + std::to_string(each.ordinal) + " of " +
                                             record.id + " is damaged"};
      words.push_back(stored_words.of(each, *message));
      bytes += each.body.size();
    }
    if (words.empty())
      return Error{ErrorCode::corrupt,
                   "message " + std::to_string(gap.first) + " of " + record.id + " is missing"};
    const Segment segment = Segment::of(static_cast<std::uint32_t>(gap.first), words);
    Commit commit{record.id, record.version, record.next_page};
    commit.words.push_back(
        {segment.first(), segment.end(), segment.bytes().size(), segment.bytes()});
    Result<void> done = store_.commit(commit);
    if (!done) return done;
    progress_.messages += words.size();
    progress_.bytes += bytes;
    report();
    return {};
  }

  void report() const {
    if (options_.on_progress) options_.on_progress(progress_);
  }

  Store& store_;
  const IndexOptions& options_;
  IndexProgress progress_;
};

}  // namespace

Result<IndexProgress> index_store(Store& store, const IndexOptions& options) {
  return answering_failure([&] { return Indexing(store, options).run(); });
}

void index_again(Store& store, const std::string& id) noexcept {
  constexpr std::uint64_t bytes_max = 16u << 20;
  try {
    Indexing(store, {}).index(id, bytes_max);
  } catch (const std::exception&) {
  }
}

}  // namespace undertext
