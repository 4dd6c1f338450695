#include "engine/stored_words.hpp"

#include <algorithm>
#include <utility>

#include "engine/durable.hpp"
#include "engine/recall_cache.hpp"
#include "history/repeated.hpp"
#include "history/state.hpp"
#include "recall/search.hpp"

namespace undertext {
namespace {

std::optional<VersionRecord> version_of(Store& store, const std::string& id,
                                        std::uint64_t version) {
  std::vector<VersionRecord> some = store.versions(id, version, version + 1).value();
  if (some.empty() || some.front().version != version) return {};
  return std::move(some.front());
}

}  // namespace

MessageWords StoredWords::of(const MessageRecord& record, const Message& message) {
  // An operation that appends makes no copies, and most messages are appended.
  if (!is_worth_sharing(message) || made(record.ordinal).by == name(Operation{op::Append{}}))
    return text_words(message);
  const History* const whole = history();
  if (whole == nullptr || record.ordinal >= whole->rep().log.size()) return text_words(message);
  return own_words(whole->rep().log, static_cast<std::uint32_t>(record.ordinal), message);
}

bool StoredWords::is_recalled(std::uint64_t ordinal, const Message& message) {
  if (!may_be_quote(message)) return false;
  const std::string& by = made(ordinal).by;
  if (!by.empty()) return by == name(Operation{op::Recall{}});
  const History* const whole = history();
  if (whole == nullptr) return true;
  const std::vector<std::uint64_t> marked = whole->marked(recalled_mark);
  return std::binary_search(marked.begin(), marked.end(), ordinal);
}

const StoredWords::Made& StoredWords::made(std::uint64_t ordinal) {
  if (made_ && made_->first <= ordinal && ordinal < made_->end) return *made_;
  const std::uint64_t origin = record_.origin ? record_.origin->version : 0;
  const std::uint64_t pruned = record_.first_version > origin ? record_.first_version : 0;
  Made found{record_.origin ? record_.origin->log_length : 0, record_.log_length};
  if (pruned > 0) {
    const std::optional<VersionRecord> last = version_of(store_, record_.id, pruned);
    const std::uint64_t length = last ? last->log_length : record_.log_length;
    if (ordinal < length) {
      found.end = length;
      return made_.emplace(std::move(found));
    }
    found.first = length;
  }
  // The first version whose log is longer.
  std::uint64_t low = std::max(origin, pruned) + 1, high = record_.version + 1;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::optional<VersionRecord> version = version_of(store_, record_.id, middle);
    if (!version) break;
    if (version->log_length > ordinal) {
      high = middle;
      found.end = version->log_length;
      found.by = std::move(version->operation);
    } else {
      low = middle + 1;
      found.first = version->log_length;
    }
  }
  return made_.emplace(std::move(found));
}

// Null: it cannot be read. What is damaged is for check() to report.
const History* StoredWords::history() {
  if (std::exchange(has_tried_history_, true)) return history_ ? &*history_ : nullptr;
  const std::shared_ptr<Store> shared(std::shared_ptr<Store>(), &store_);
  try {
    history_ = Durable::open(shared, record_.id, "", {.make = OpenOptions::Make::never}, 0)
                   .value()
                   ->load();
  } catch (const Failure& failure) {
    const ErrorCode code = failure.error().code;
    if (code != ErrorCode::corrupt && code != ErrorCode::unsupported) throw;
  }
  return history_ ? &*history_ : nullptr;
}

}  // namespace undertext
