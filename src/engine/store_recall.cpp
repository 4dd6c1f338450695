#include <undertext/store_recall.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <unordered_set>
#include <utility>

#include "base/answering_failure.hpp"
#include "engine/lock_within.hpp"
#include "engine/stored_reading.hpp"
#include "engine/stored_words.hpp"
#include "recall/index.hpp"
#include "recall/rank.hpp"
#include "recall/search.hpp"

namespace undertext {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t records_a_page = 1000;
constexpr std::uint64_t no_end = std::numeric_limits<std::uint32_t>::max();
// Between two conversations, so that no word counts for the messages of another one.
constexpr std::size_t gap_messages = RankWeights{}.near_messages;
// What is read for each message that is asked for, at most: some are of another role, repeated or
// gone.
constexpr std::size_t reads_each = 8;

// A stretch of a conversation's log, and where it is in the index.
struct Stretch {
  std::uint32_t at = 0;  // in the index
  std::uint32_t count = 0;
  std::uint64_t first = 0;  // its first ordinal
};

struct Known {
  ConversationRecord record;
  std::vector<Stretch> stretches;
  std::uint64_t end = 0;  // behind the last ordinal that is indexed
  bool is_there = false;  // seen by the look that is under way
  bool is_out = false;    // there was no room for it
};

bool is_rewritten(const ConversationRecord& before, const ConversationRecord& now) {
  return before.next_page != now.next_page || before.first_version != now.first_version ||
         now.log_length < before.log_length || before.created_at_ms != now.created_at_ms;
}

}  // namespace

struct StoreRecall::Rep {
  Rep(std::shared_ptr<Store> given, StoreRecallOptions wanted)
      : store(std::move(given)), options(wanted) {}

  Result<StoreRecalled> search(const StoreRecallQuery& query, const Work* work);
  void look(const Work* work);
  void list_known(const Work* work);
  void add(Known& of, const Work* work);
  void add_parts(Known& of, std::vector<Segment> parts);
  void add_stretch(Known& of, std::uint64_t first, const Segment& segment);
  void forget(const Known& of);
  void start_over() noexcept;
  void go_on_rebuilding(const Work* work);
  const std::string* owner(std::uint32_t at, Ordinal& ordinal) const;
  std::optional<Message> read(const ConversationRecord& of, Ordinal ordinal) const;

  const std::shared_ptr<Store> store;
  const StoreRecallOptions options;
  std::timed_mutex lock;  // guards what follows
  RecallIndex index;
  std::map<std::string, Known, std::less<>> known;
  // at -> (conversation, first ordinal)
  std::map<std::uint32_t, std::pair<std::string, std::uint64_t>> places;
  // of the index: what was rewritten or purged
  std::uint64_t messages_gone = 0;
  // False: the index is being rebuilt, the newest conversations first. A look that fails leaves it
  // for the next one to go on with.
  bool is_whole = false;
  std::optional<Clock::time_point> looked;
  std::uint64_t conversations = 0, conversations_out = 0;  // in the index and out of it, by then
};

void go_on(const Work* work) {
  if (work) work->go_on();
}

// One segment of what a conversation has from the last look on: stored rows, and behind them the
// words of its messages.
// Where it fails or is interrupted, what was read by then stays.
void StoreRecall::Rep::add(Known& of, const Work* work) {
  const ConversationRecord& record = of.record;
  const std::uint64_t first_own = record.origin ? record.origin->log_length : 0;
  const std::uint64_t first = std::max(of.end, first_own),
                      end = std::min(record.log_length, no_end);
  if (first >= end) return;
  std::vector<Segment> parts;
  std::uint64_t at = first;
  StoredWords stored_words(*store, record);
  const auto add_messages = [&](std::uint64_t until) {
    while (at < until) {
      go_on(work);
      const std::vector<MessageRecord> some = store->messages(record.id, at, until).value();
      if (some.empty()) return;
      std::vector<MessageWords> words;
      for (const MessageRecord& each : some) {
        go_on(work);
        const Result<Message> message = read_message(each);
        words.push_back(message ? stored_words.of(each, *message) : MessageWords{});
      }
      parts.push_back(Segment::of(static_cast<std::uint32_t>(at), words));
      at += words.size();
    }
  };
  const auto read_all = [&] {
    for (std::uint64_t row_at = first; row_at < end;) {
      go_on(work);
      const std::vector<WordsRow> rows =
          store->words(record.id, row_at, end, WordsBytes::with).value();
      if (rows.empty()) break;
      for (const WordsRow& row : rows) {
        row_at = row.first + 1;
        if (row.end <= at || row.end > end) continue;
        if (row.first > at) add_messages(row.first);
        const Segment segment = Segment::read(row.bytes);
        if (row.first != at) {
          parts.push_back(Segment::merged({&segment}, static_cast<std::uint32_t>(at),
                                          static_cast<std::uint32_t>(row.end)));
        } else {
          parts.push_back(segment);
        }
        at = row.end;
      }
    }
    add_messages(end);
  };
  try {
    read_all();
  } catch (const Failure& failure) {
    add_parts(of, std::move(parts));
    // Purged since it was listed: the next look finds it gone.
    if (failure.error().code == ErrorCode::not_found) return;
    throw;
  }
  add_parts(of, std::move(parts));
}

void StoreRecall::Rep::add_parts(Known& of, std::vector<Segment> parts) {
  if (parts.empty()) return;
  const std::uint64_t first = parts.front().first(), end = parts.back().end();
  parts.push_back(
      Segment::of(static_cast<std::uint32_t>(end), std::vector<MessageWords>(gap_messages)));
  std::vector<const Segment*> all;
  for (const Segment& part : parts) all.push_back(&part);
  add_stretch(of, first,
              Segment::merged(all, static_cast<std::uint32_t>(first), parts.back().end()));
  of.end = end;
}

void StoreRecall::Rep::add_stretch(Known& of, std::uint64_t first, const Segment& segment) {
  const std::uint32_t at = index.size();
  const auto count = segment.end() - segment.first();
  if (no_end - at < count)
    throw Failure(Error{ErrorCode::too_large, "there are too many messages for one index"});
  index.add_merging(std::make_shared<const Segment>(segment.moved_to(at)));
  of.stretches.push_back({at, count, first});
  places[at] = {of.record.id, first};
}

void StoreRecall::Rep::forget(const Known& of) {
  for (const Stretch& stretch : of.stretches) {
    places.erase(stretch.at);
    messages_gone += stretch.count;
  }
}

// Of an empty index every conversation is without a stretch, whatever fails from here on.
void StoreRecall::Rep::start_over() noexcept {
  index = RecallIndex();
  places.clear();
  messages_gone = 0;
  is_whole = false;
  for (auto& [id, each] : known) {
    each.stretches.clear();
    each.end = 0;
    each.is_out = false;
  }
}

void StoreRecall::Rep::go_on_rebuilding(const Work* work) {
  std::vector<Known*> newest_first;
  for (auto& [id, each] : known) newest_first.push_back(&each);
  std::sort(newest_first.begin(), newest_first.end(), [](const Known* a, const Known* b) {
    return a->record.updated_at_ms > b->record.updated_at_ms;
  });
  for (Known* const each : newest_first) {
    each->is_out = each->stretches.empty() && index.size_bytes() > options.bytes_max;
    if (!each->is_out) add(*each, work);
  }
  is_whole = true;
}

// The conversations as they are now. What was rewritten is to be indexed again, and what is gone is
// forgotten.
void StoreRecall::Rep::list_known(const Work* work) {
  for (auto& [id, each] : known) each.is_there = false;
  for (ListOptions list{.limit = records_a_page};;) {
    go_on(work);
    std::vector<ConversationRecord> some = store->list(list).value();
    const bool is_last = some.size() < records_a_page;
    if (!is_last) list.after = some.back().id;
    for (ConversationRecord& record : some) {
      auto [at, is_new] = known.try_emplace(record.id);
      Known& each = at->second;
      each.is_there = true;
      if (!is_new && is_rewritten(each.record, record)) {
        forget(each);
        each.stretches.clear();
        each.end = 0;
      }
      if (each.record.version != record.version) each.is_out = false;  // it is among the newest now
      each.record = std::move(record);
    }
    if (is_last) break;
  }
  std::erase_if(known, [this](const auto& each) {
    if (!each.second.is_there) forget(each.second);
    return !each.second.is_there;
  });
}

// What was committed since the last look.
void StoreRecall::Rep::look(const Work* work) {
  list_known(work);
  if (messages_gone > index.size() / 2) start_over();
  if (is_whole) {
    for (auto& [id, each] : known)
      if (!each.is_out) add(each, work);
    if (index.size_bytes() > options.bytes_max + options.bytes_max / 4) start_over();
  }
  if (!is_whole) go_on_rebuilding(work);
}

const std::string* StoreRecall::Rep::owner(std::uint32_t at, Ordinal& ordinal) const {
  const auto behind = places.upper_bound(at);
  if (behind == places.begin()) return nullptr;
  const auto& [begin, what] = *std::prev(behind);
  ordinal = Ordinal(what.second + (at - begin));
  return &what.first;
}

std::optional<Message> StoreRecall::Rep::read(const ConversationRecord& of, Ordinal ordinal) const {
  const Result<std::vector<MessageRecord>> some =
      store->messages(of.id, ordinal.value, ordinal.value + 1);
  if (!some && some.error().code == ErrorCode::not_found) return {};
  const std::vector<MessageRecord>& records = some.value();
  if (records.empty() || records.front().ordinal != ordinal.value) return {};
  Result<Message> message = read_message(records.front());
  if (!message || message->is_redacted()) return {};
  try {
    if (StoredWords(*store, of).is_recalled(ordinal.value, *message)) return {};
  } catch (const Failure& failure) {
    if (failure.error().code == ErrorCode::not_found) return {};  // purged meanwhile
    throw;
  }
  return *std::move(message);
}

Result<StoreRecalled> StoreRecall::Rep::search(const StoreRecallQuery& query, const Work* work) {
  if (query.text.empty())
    return Error{ErrorCode::invalid_argument, "give a text to look for", "text"};
  const std::unique_lock guard = lock_within(lock, work);
  const Clock::time_point now = Clock::now();
  if (!looked || now - *looked >= std::chrono::milliseconds(options.fresh_ms)) {
    look(work);
    looked = now;
    conversations = conversations_out = 0;
    for (const auto& [id, each] : known) ++(each.is_out ? conversations_out : conversations);
  }
  StoreRecalled answer;
  answer.conversations = conversations;
  answer.conversations_out = conversations_out;
  Ranking ranking(index, asked_words(query.text));
  std::unordered_set<std::string> texts;
  std::size_t reads_left = query.messages_max * reads_each;
  while (answer.found.size() < query.messages_max) {
    const std::vector<std::uint32_t> some = ranking.next(query.messages_max);
    if (some.empty()) break;
    for (const std::uint32_t at : some) {
      go_on(work);
      if (answer.found.size() >= query.messages_max) break;
      if (!ranking.has_word(at)) continue;
      Ordinal ordinal(0);
      const std::string* const id = owner(at, ordinal);
      const auto of = id ? known.find(*id) : known.end();
      if (of == known.end() || (query.in_scope && !query.in_scope(of->second.record))) continue;
      if (reads_left-- == 0) return answer;
      std::optional<Message> message = read(of->second.record, ordinal);
      if (!message) continue;
      if (!query.roles.empty() &&
          std::find(query.roles.begin(), query.roles.end(), message->role()) == query.roles.end())
        continue;
      if (!texts.insert(message->text()).second) continue;
      answer.found.push_back({*id, ordinal, *std::move(message), ranking.score(at)});
    }
  }
  return answer;
}

StoreRecall::StoreRecall(std::shared_ptr<Store> store, StoreRecallOptions options)
    : rep_(std::make_unique<Rep>(std::move(store), options)) {}
StoreRecall::~StoreRecall() = default;
StoreRecall::StoreRecall(StoreRecall&&) noexcept = default;
StoreRecall& StoreRecall::operator=(StoreRecall&&) noexcept = default;

Result<StoreRecalled> StoreRecall::search(const StoreRecallQuery& query,
                                          const std::shared_ptr<Work>& work) {
  return answering_failure(
      [&]() -> Result<StoreRecalled> { return rep_->search(query, work.get()); });
}

}  // namespace undertext
