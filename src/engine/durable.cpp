#include "engine/durable.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "base/bytes.hpp"
#include "engine/outcome_bytes.hpp"
#include "engine/recall_cache.hpp"
#include "history/merged.hpp"
#include "history/operation_bytes.hpp"
#include "history/pruned.hpp"
#include "history/repeated.hpp"
#include "history/replay.hpp"
#include "history/saved.hpp"
#include "message/redacted.hpp"
#include "store/chain.hpp"
#include "store/staged.hpp"
#include "tokens/usage_bytes.hpp"

namespace undertext {
namespace {

// A checkpoint costs a few dozen pages; what follows the last one is carried out again by whoever
// opens the conversation.
// of operations that bring many, a checkpoint comes sooner
constexpr std::uint64_t messages_per_version = 4;

constexpr std::uint64_t settings_format = 1;
// who made it follows; where nobody is named, the first one is written
constexpr std::uint64_t settings_format_made_by = 2;
constexpr std::uint64_t settings_format_usage = 3;  // then usage; likewise

struct StoredSettings {
  std::string tokenizer, note, made_by;
  std::string usage = {};  // usage_bytes()
};

std::string settings_bytes(const StoredSettings& settings) {
  ByteOut out;
  const std::uint64_t format = !settings.usage.empty()    ? settings_format_usage
                               : settings.made_by.empty() ? settings_format
                                                          : settings_format_made_by;
  out.number(format);
  out.text(settings.tokenizer);
  out.text(settings.note);
  if (format >= settings_format_made_by) out.text(settings.made_by);
  if (format >= settings_format_usage) out.text(settings.usage);
  return std::move(out.bytes);
}

StoredSettings read_settings_bytes(std::string_view bytes) {
  ByteIn in(bytes, "the record of the conversation");
  const std::uint64_t format = in.number();
  if (format < settings_format || format > settings_format_usage) in.fail_newer();
  StoredSettings settings;
  settings.tokenizer = std::string(in.text());
  settings.note = std::string(in.text());
  if (format >= settings_format_made_by) settings.made_by = std::string(in.text());
  if (format >= settings_format_usage) settings.usage = std::string(in.text());
  in.end();
  return settings;
}

// Usage is reported all the time, and changes nothing that a history depends on.
bool same_but_for_usage(std::string_view one, std::string_view other) {
  if (one == other) return true;
  StoredSettings a = read_settings_bytes(one), b = read_settings_bytes(other);
  return a.tokenizer == b.tokenizer && a.note == b.note && a.made_by == b.made_by;
}

std::uint16_t next_space_id() {
  static std::atomic<std::uint16_t> last{0};
  for (;;) {
    if (const std::uint16_t id = ++last) return id;
  }
}

std::vector<Page> as_pages(std::vector<NewPage> fresh) {
  std::vector<Page> pages;
  pages.reserve(fresh.size());
  for (NewPage& page : fresh) pages.push_back({page.number, std::move(page.bytes)});
  return pages;
}

}  // namespace

std::string Durable::note_of(const ConversationRecord& record) {
  return read_settings_bytes(record.settings).note;
}
std::string Durable::tokenizer_of(const ConversationRecord& record) {
  return read_settings_bytes(record.settings).tokenizer;
}
std::string Durable::maker_of(const ConversationRecord& record) {
  return read_settings_bytes(record.settings).made_by;
}

UsageTracker Durable::usage() const {
  return read_usage_bytes(read_settings_bytes(record_.settings).usage);
}

std::optional<UsageTracker> Durable::news_of_usage() {
  if (usage_told_ == record_.settings) return {};
  usage_told_ = record_.settings;
  return usage();
}

Result<UsageTracker> Durable::change_usage(
    const std::function<Result<void>(UsageTracker&)>& change) const {
  return answering_failure([&]() -> Result<UsageTracker> {
    for (Tries tries;;) {
      const ConversationRecord now = store_->find(id_).value();
      StoredSettings settings = read_settings_bytes(now.settings);
      UsageTracker usage = read_usage_bytes(settings.usage);
      if (Result<void> changed = change(usage); !changed) return std::move(changed.error());
      settings.usage = usage_bytes(usage);
      Commit commit{.conversation = id_, .expected_version = now.version};
      commit.expected_settings = now.settings;
      commit.settings = settings_bytes(settings);
      const Result<void> done = store_->commit(commit);
      if (done) return usage;
      if (!tries.may_retry(done.error())) return done.error();
    }
  });
}

Durable::Durable(std::shared_ptr<Store> store, ConversationRecord record, Lineage lineage,
                 const OpenOptions& options)
    : store_(std::move(store)),
      id_(record.id),
      record_(std::move(record)),
      lineage_(std::move(lineage)),
      cache_bytes_(options.cache_bytes),
      rebase_appends_(options.rebase_appends),
      checkpoint_versions_(std::max<std::uint64_t>(options.checkpoint_versions, 1)),
      tokenizer_(read_settings_bytes(record_.settings).tokenizer),
      space_id_(next_space_id()) {}

Result<std::unique_ptr<Durable>> Durable::open(std::shared_ptr<Store> store, std::string_view id,
                                               std::string_view tokenizer,
                                               const OpenOptions& options, std::int64_t now_ms) {
  if (!store) return Error{ErrorCode::invalid_argument, "give a store", "store"};
  const bool is_staged = is_staged_id(id) && is_conversation_id(options.publish_as);
  if (!is_conversation_id(id) && !is_staged) {
    return Error{
        ErrorCode::invalid_argument,
        "a conversation's id is 1 to 128 of A-Z a-z 0-9 . _ -, and does not begin with a dot",
        "conversation"};
  }
  Result<ConversationRecord> record = Error{ErrorCode::not_found, ""};
  if (options.make != OpenOptions::Make::always) record = store->find(id);
  if (!record && record.error().code == ErrorCode::not_found &&
      options.make != OpenOptions::Make::never) {
    record = store->create(
        {std::string(id),
         settings_bytes({std::string(tokenizer), options.note.value_or(""), options.made_by}),
         now_ms, first_chain(is_staged ? options.publish_as : id)});
    // Somebody else may have made it in between.
    if (!record && record.error().code == ErrorCode::conflict &&
        options.make == OpenOptions::Make::if_missing)
      record = store->find(id);
  }
  if (!record) return record.error();
  Result<Lineage> lineage = Lineage::of(*store, *record);
  if (!lineage) return lineage.error();
  return answering_failure([&]() -> Result<std::unique_ptr<Durable>> {
    std::unique_ptr<Durable> durable(
        new Durable(store, std::move(*record), std::move(*lineage), options));
    if (options.note && *options.note != note_of(durable->record_)) {
      // Whoever comes first in between may have counted anew: the name of the tokenizer is theirs.
      for (Tries tries;;) {
        ConversationRecord now = store->find(id).value();
        Commit commit{now.id, now.version, now.next_page};
        StoredSettings settings = read_settings_bytes(now.settings);
        settings.note = *options.note;
        commit.expected_settings = now.settings;
        commit.settings = settings_bytes(settings);
        const Result<void> done = store->commit(commit);
        if (done) break;
        if (!tries.may_retry(done.error())) return done.error();
      }
    }
    return durable;
  });
}

History Durable::history_on(const Checkpoint& checkpoint) {
  auto pages = std::make_shared<StoredPages>(space_id_, store_, lineage_);
  if (!bodies_) bodies_ = std::make_shared<StoredBodies>(store_, lineage_, cache_bytes_ / 2);
  History history = SavedHistory::load(checkpoint.root, pages, bodies_);
  if (history.version().value != checkpoint.version) {
    throw Failure(Error{ErrorCode::corrupt,
                        "the checkpoint of " + record_.id + " is of another version than it says"});
  }
  checkpoint_log_ = history.stats().total_messages;
  pages_ = std::move(pages);
  next_page_ = checkpoint.next_page;
  record_.checkpoint_version = checkpoint.version;
  bytes_added_ = 0;
  return history;
}

History Durable::load() {
  for (Tries tries;;) {
    ConversationRecord record = store_->find(record_.id).value();
    const std::optional<Checkpoint> checkpoint = store_->checkpoint(record_.id).value();
    // Two reads are two moments: somebody may have written a checkpoint in between.
    if (checkpoint && checkpoint->next_page != record.next_page) {
      if (tries.again()) continue;
      throw Failure(Error{
          ErrorCode::unavailable,
          "the conversation " + record_.id + " is being rewritten all the time; retry later"});
    }
    std::string tokenizer = read_settings_bytes(record.settings).tokenizer;
    History history(record.created_at_ms);
    if (checkpoint) {
      history = history_on(*checkpoint);
    } else {
      pages_.reset();
      next_page_ = record.next_page;
      checkpoint_log_ = 0;
      bytes_added_ = 0;
    }
    replay_to(history, record.version);
    // Last: what fails before is done again by the next one who looks.
    tokenizer_ = std::move(tokenizer);
    record_ = std::move(record);
    return history;
  }
}

bool Durable::has_read_too_much() const {
  return (pages_ ? pages_->bytes_loaded() : 0) + bytes_added_ > cache_bytes_ &&
         record_.checkpoint_version > 0;
}

Durable::News Durable::catch_up(History& history) {
  ConversationRecord now = store_->find(record_.id).value();
  const bool too_much_read = has_read_too_much();
  const bool other_settings = !same_but_for_usage(now.settings, record_.settings);
  if (!other_settings) record_.settings = now.settings;
  const bool is_new = now.version != history.version().value ||
                      now.first_version != record_.first_version || other_settings ||
                      now.next_page != record_.next_page;
  if (!is_new && !too_much_read) return News::none;
  if (now.version < history.version().value) {
    throw Failure(Error{ErrorCode::corrupt, "the conversation " + record_.id + " is at version " +
                                                std::to_string(now.version) +
                                                " in the store, and was at " +
                                                std::to_string(history.version().value)});
  }
  // What a checkpoint contains need not be replayed; what was pruned or recounted cannot be.
  const bool rewritten = now.next_page != record_.next_page ||
                         now.first_version != record_.first_version || other_settings;
  if (too_much_read || rewritten) {
    if (rewritten) {
      bodies_.reset();  // some may have been redacted or pruned
      has_read_words_ = false;
    }
    history = load();
    return rewritten ? News::rewritten : News::versions;
  }
  record_ = std::move(now);
  replay_to(history, record_.version);
  return News::versions;
}

std::vector<VersionRecord> Durable::versions(std::uint64_t first, std::uint64_t end) {
  std::vector<VersionRecord> all;
  while (first < end) {
    const Lineage::Owner owner = lineage_.of_version(first);
    std::vector<VersionRecord> some =
        store_->versions(owner.id, first, std::min(end, owner.end)).value();
    if (some.empty() || some.front().version != first) {
      throw Failure(Error{ErrorCode::corrupt, "version " + std::to_string(first) + " of " +
                                                  record_.id + " is missing in the store"});
    }
    for (VersionRecord& record : some) {
      if (record.version != first) break;
      all.push_back(std::move(record));
      ++first;
    }
  }
  return all;
}

std::vector<MessageRecord> Durable::messages(std::uint64_t first, std::uint64_t end) {
  std::vector<MessageRecord> all;
  while (first < end) {
    const Lineage::Owner owner = lineage_.of_message(first);
    std::vector<MessageRecord> some =
        store_->messages(owner.id, first, std::min(end, owner.end)).value();
    if (some.empty() || some.front().ordinal != first) {
      throw Failure(Error{ErrorCode::corrupt, "the message with ordinal " + std::to_string(first) +
                                                  " of " + record_.id +
                                                  " is missing in the store"});
    }
    for (MessageRecord& record : some) {
      if (record.ordinal != first) break;
      all.push_back(std::move(record));
      ++first;
    }
  }
  return all;
}

void Durable::replay_to(History& history, std::uint64_t version) {
  const std::uint64_t from = history.version().value;
  if (from >= version) {
    if (from > version)
      throw Failure(Error{ErrorCode::corrupt,
                          "the checkpoint of " + record_.id + " is of a version after the last"});
    return;
  }
  const std::vector<VersionRecord> operations = versions(from + 1, version + 1);
  std::uint64_t log_length = history.stats().total_messages;
  const std::uint64_t log_end = operations.back().log_length;
  if (log_end < log_length)
    throw Failure(
        Error{ErrorCode::corrupt, "the log of " + record_.id + " is shorter than it was"});
  const std::vector<MessageRecord> stored = messages(log_length, log_end);
  const std::uint64_t first = log_length;
  for (const VersionRecord& record : operations) {
    if (record.log_length < log_length || record.log_length > log_end) {
      throw Failure(Error{ErrorCode::corrupt, "version " + std::to_string(record.version) + " of " +
                                                  record_.id + " has a wrong log length"});
    }
    std::vector<StoredMessage> given;
    for (; log_length < record.log_length; ++log_length) {
      const MessageRecord& message = stored[log_length - first];
      given.emplace_back(message_of(message), message.time_ms, message.tokens);
      bytes_added_ += message.body.size();
    }
    history = replay(history, operation_of(record), record.at_ms, given).value().history;
  }
}

std::optional<Outcome> Durable::answered(std::string_view operation_id) {
  const std::optional<VersionRecord> found =
      store_->find_operation(record_.id, operation_id).value();
  if (!found) return {};
  return read_outcome(found->answer);
}

// The message of this conversation's own that this one repeats.
std::optional<std::uint64_t> Durable::same_body(const Log& log, std::uint32_t ordinal,
                                                const Message& body) const {
  const std::uint64_t first_own = record_.origin ? record_.origin->log_length : 0;
  const std::optional<std::uint32_t> original = repeated_original(log, ordinal, body);
  return original && *original >= first_own ? std::optional<std::uint64_t>(*original)
                                            : std::nullopt;
}

std::map<std::uint64_t, StoredElsewhere> Durable::taken_from_forks(const History& history) const {
  std::map<std::uint64_t, StoredElsewhere> found;
  for (const TakenFromFork& taken : undertext::taken_from_forks(history.rep(), record_.version + 1))
    for (std::size_t i = 0; i < taken.ordinals.size(); ++i)
      found[taken.first + i] = {taken.from, taken.ordinals[i]};
  return found;
}

Commit Durable::new_records(const History& history, const Outcomes& answers) const {
  const History::Rep& rep = history.rep();
  Commit commit{record_.id, record_.version, record_.next_page};
  const std::uint64_t head = rep.head_number();
  commit.messages.reserve(rep.log.size() - record_.log_length);
  std::vector<Digest> digests;
  digests.reserve(rep.log.size() - record_.log_length);
  StoredReader stored(rep.log);
  const std::map<std::uint64_t, StoredElsewhere> elsewhere = taken_from_forks(history);
  for (std::uint64_t ordinal = record_.log_length; ordinal < rep.log.size(); ++ordinal) {
    const auto at = static_cast<std::uint32_t>(ordinal);
    const StoredMessage message = stored[at];
    const Message body = stored.message(at);
    MessageRecord record{ordinal, {}, message.role(), message.time_ms, message.tokens};
    record.same_as = same_body(rep.log, at, body);
    if (!record.same_as) record.body = body.json();
    if (const auto found = elsewhere.find(ordinal); found != elsewhere.end())
      record.stored_in = found->second;
    // Of an imported conversation, or taken over from a fork: it stays what it is.
    if (body.is_redacted()) record.redacted = digest_of_hex(redacted_sha256(body));
    const bool is_known = record.same_as && *record.same_as >= record_.log_length &&
                          !commit.messages[*record.same_as - record_.log_length].redacted;
    digests.push_back(record.redacted ? *record.redacted
                      : is_known      ? digests[*record.same_as - record_.log_length]
                                      : sha256(body.json()));
    commit.messages.push_back(std::move(record));
  }
  commit.versions.reserve(head - record_.version);
  std::unordered_map<std::uint64_t, std::pair<const std::string*, const Outcome*>> by_version;
  for (const auto& [operation_id, outcome] : answers)
    by_version[outcome.version.value] = {&operation_id, &outcome};
  Digest chain = record_.chain;
  std::uint64_t log_length = record_.log_length;
  for (std::uint64_t v = record_.version + 1; v <= head; ++v) {
    const VersionRow& row = rep.versions[v];
    VersionRecord record;
    record.version = v;
    record.at_ms = row.at_ms;
    record.log_length = row.log_length;
    record.operation = row.operation ? name(row.operation->operation) : "APPEND";
    if (row.operation) {
      ByteOut out;
      write_record(out, *row.operation, KeptPart::present);
      record.arguments = std::move(out.bytes);
    }
    if (const auto found = by_version.find(v); found != by_version.end()) {
      record.operation_id = *found->second.first;
      record.answer = outcome_bytes(*found->second.second);
    }
    const std::uint64_t first = log_length - record_.log_length,
                        count = row.log_length - log_length;
    record.chain = chain =
        next_chain(chain, record, std::span(commit.messages).subspan(first, count),
                   std::span(digests).subspan(first, count));
    log_length = row.log_length;
    commit.versions.push_back(std::move(record));
  }
  return commit;
}

std::vector<WordsRow> Durable::words() const {
  std::vector<WordsRow> all;
  const std::uint64_t end = std::numeric_limits<std::uint32_t>::max();
  for (std::uint64_t at = 0; at < end;) {
    const Lineage::Owner owner = lineage_.of_message(at);
    const std::uint64_t owner_end = std::min(end, owner.end);
    while (at < owner_end) {
      std::vector<WordsRow> some = store_->words(owner.id, at, owner_end, WordsBytes::with).value();
      if (some.empty()) break;
      at = some.back().first + 1;
      for (WordsRow& row : some) {
        // what the owner stored after the fork is not the fork's
        row.end = std::min(row.end, owner_end);
        all.push_back(std::move(row));
      }
    }
    at = owner_end;
  }
  return all;
}

namespace {

// A row is due for so much. Until then messages are searched without it, which costs a few
// microseconds each.
// Small rows, so that no single commit stores much more than what is new; merging makes them fewer.
constexpr std::uint64_t words_due_messages = 16;
constexpr std::uint64_t words_due_bytes = 4u << 10;
// Messages without a row, of before this commit, that a commit still indexes. More are left to
// index_store().
constexpr std::uint64_t words_behind_bytes = 4u << 20;

}  // namespace

void Durable::add_words(Commit& commit, const History& history) {
  const Log& log = history.rep().log;
  if (!has_read_words_) {
    words_rows_.clear();
    std::uint64_t at = 0;
    for (;;) {
      std::vector<WordsRow> some =
          store_->words(id_, at, std::numeric_limits<std::uint32_t>::max(), WordsBytes::without)
              .value();
      if (some.empty()) break;
      at = some.back().first + 1;
      words_rows_.insert(words_rows_.end(), std::make_move_iterator(some.begin()),
                         std::make_move_iterator(some.end()));
    }
    has_read_words_ = true;
  }
  const std::uint64_t first_own = record_.origin ? record_.origin->log_length : 0;
  const std::uint64_t first =
      words_rows_.empty() ? first_own : std::max(first_own, words_rows_.back().end);
  if (first >= log.size()) return;
  const View all = history.log();
  const bool is_due = log.size() - first >= words_due_messages ||
                      all.sums(first, log.size()).bytes >= words_due_bytes;
  if (!is_due || (first < record_.log_length &&
                  all.sums(first, record_.log_length).bytes > words_behind_bytes))
    return;
  std::vector<MessageWords> messages;
  StoredReader stored(log);
  for (std::uint64_t ordinal = first; ordinal < log.size(); ++ordinal) {
    const auto at = static_cast<std::uint32_t>(ordinal);
    messages.push_back(own_words(log, at, stored.message(at)));
  }
  Segment segment = Segment::of(static_cast<std::uint32_t>(first), messages);
  std::vector<std::uint64_t> sizes;
  for (const WordsRow& row : words_rows_) sizes.push_back(row.size_bytes);
  sizes.push_back(segment.bytes().size());
  if (const std::size_t count = count_to_merge(sizes); count > 1) {
    const WordsRow& from = words_rows_[words_rows_.size() + 1 - count];
    if (std::optional<Segment> merged = merged_with_stored(from.first, segment))
      segment = *std::move(merged);
  }
  commit.words.push_back({segment.first(), segment.end(), segment.bytes().size(), segment.bytes()});
}

// The stored rows from `first` on and this one; nothing, where they do not follow one another:
// somebody else wrote others.
std::optional<Segment> Durable::merged_with_stored(std::uint64_t first, const Segment& last) const {
  std::vector<Segment> segments;
  std::uint64_t at = first;
  while (at < last.first()) {
    const std::vector<WordsRow> some =
        store_->words(id_, at, last.first(), WordsBytes::with).value();
    for (const WordsRow& row : some) {
      if (row.first != at) return {};
      segments.push_back(Segment::read(row.bytes));
      at = row.end;
    }
    if (some.empty()) return {};
  }
  if (at != last.first()) return {};
  std::vector<const Segment*> all;
  for (const Segment& each : segments) all.push_back(&each);
  all.push_back(&last);
  return Segment::merged(all, static_cast<std::uint32_t>(first), last.end());
}

bool Durable::is_checkpoint_due(const Commit& commit, const History& history) const {
  if (commit.versions.empty()) return false;
  // Whoever opens the conversation reads the bodies since the last checkpoint again, each copy of a
  // shared one too.
  const std::uint64_t bytes =
      history.log().sums(checkpoint_log_, commit.versions.back().log_length).bytes;
  if (bytes > cache_bytes_ / 2) return true;
  const VersionRecord& last = commit.versions.back();
  return last.version - record_.checkpoint_version >= checkpoint_versions_ ||
         last.log_length - checkpoint_log_ >= checkpoint_versions_ * messages_per_version;
}

void Durable::stored(const Commit& commit) {
  if (commit.settings) record_.settings = *commit.settings;
  for (const WordsRow& row : commit.words) {
    std::erase_if(words_rows_, [&](const WordsRow& old) {
      return old.first >= row.first && old.end <= row.end;
    });
    words_rows_.push_back({row.first, row.end, row.size_bytes, {}});
  }
  if (commit.versions.empty()) return;
  const VersionRecord& last = commit.versions.back();
  record_.version = last.version;
  record_.log_length = last.log_length;
  record_.updated_at_ms = last.at_ms;
  record_.chain = last.chain;
  for (const MessageRecord& message : commit.messages)
    bytes_added_ += message.body.size() + sizeof(StoredMessage) + sizeof(Entry);
}

std::optional<Error> Durable::commit(History& history, const Outcomes& answers) {
  Commit commit = new_records(history, answers);
  if (commit.versions.empty()) return {};
  add_words(commit, history);
  if (is_checkpoint_due(commit, history)) return store_with_checkpoint(std::move(commit), history);
  if (Result<void> done = store_->commit(commit); !done) return std::move(done.error());
  stored(commit);
  return {};
}

std::optional<Error> Durable::store_with_checkpoint(Commit commit, History& history) {
  PageWriter writer(space_id_, next_page_);
  std::string root = SavedHistory::save(history.rep(), writer);
  commit.checkpoint = Checkpoint{history.version().value, writer.next_page(), std::move(root)};
  commit.pages = as_pages(writer.take_pages());
  if (Result<void> done = store_->commit(commit); !done) return std::move(done.error());
  writer.committed();
  stored(commit);
  next_page_ = record_.next_page = commit.checkpoint->next_page;
  record_.checkpoint_version = commit.checkpoint->version;
  checkpoint_log_ = record_.log_length;
  // All of it is stored now, so it need not stay in memory.
  if (bytes_added_ + (pages_ ? pages_->bytes_loaded() : 0) > cache_bytes_ / 2) {
    const std::shared_ptr<StoredPages> pages_before = pages_;
    try {
      history = history_on(*commit.checkpoint);
    } catch (const Failure&) {  // it is stored, and that is what was asked for
      pages_ = pages_before;
    }
  }
  return {};
}

std::optional<Error> Durable::checkpoint(History& history) {
  if (record_.checkpoint_version == record_.version) return {};
  return store_with_checkpoint({record_.id, record_.version, record_.next_page}, history);
}

std::optional<Error> Durable::recounted(History& history, std::string_view tokenizer) {
  for (Tries tries;;) {
    Commit commit{record_.id, record_.version, record_.next_page};
    commit.expected_settings = record_.settings;
    StoredSettings settings = read_settings_bytes(record_.settings);
    settings.tokenizer = tokenizer;
    commit.settings = settings_bytes(settings);
    const std::optional<Error> error = store_with_checkpoint(std::move(commit), history);
    if (!error) break;
    if (!tries.may_retry(*error)) return error;
    // Somebody may have reported usage meanwhile. Anything else is for the caller to read.
    const ConversationRecord now = store_->find(record_.id).value();
    if (now.settings == record_.settings || !same_but_for_usage(now.settings, record_.settings))
      return error;
    record_.settings = now.settings;
  }
  tokenizer_ = tokenizer;
  return {};
}

std::optional<Error> Durable::fork(const History& start, std::string_view id,
                                   std::string_view made_by) {
  if (!is_conversation_id(id)) {
    return Error{
        ErrorCode::invalid_argument,
        "a conversation's id is 1 to 128 of A-Z a-z 0-9 . _ -, and does not begin with a dot",
        "id"};
  }
  PageWriter writer(space_id_, next_page_);
  NewConversation made;
  made.id = id;
  made.settings = settings_bytes({tokenizer_of(record_), note_of(record_), std::string(made_by)});
  made.created_at_ms = record_.created_at_ms;
  made.chain = record_.chain;
  if (start.version().value == 0) {
    made.chain = first_chain(lineage_.oldest());
  } else if (start.version().value != record_.version) {
    made.chain = versions(start.version().value, start.version().value + 1).at(0).chain;
  }
  made.origin = Origin{record_.id, start.version().value, start.stats().total_messages, next_page_};
  std::string root = SavedHistory::save(start.rep(), writer);
  made.checkpoint = Checkpoint{start.version().value, writer.next_page(), std::move(root)};
  made.pages = as_pages(writer.take_pages());
  const Result<ConversationRecord> record = store_->create(made);
  if (!record) return record.error();
  return {};
}

Result<Durable::OpenedFork> Durable::open_fork(const std::string& id,
                                               const Settings& settings) const {
  const auto not_there = [&](const char* why) {
    return Error{ErrorCode::not_found, "the conversation " + id + why, "from"};
  };
  if (!is_conversation_id(id))
    return Error{ErrorCode::invalid_argument, "must be the id of a conversation", "from"};
  const Result<ConversationRecord> record = store_->find(id);
  if (!record)
    return record.error().code == ErrorCode::not_found ? not_there(" does not exist")
                                                       : record.error();
  if (!record->origin || !lineage_.has(record->origin->conversation))
    return not_there(" is no fork of this one");
  Result<Conversation> opened = open_counted(id, settings);
  if (!opened) return opened.error();
  return OpenedFork{std::move(*opened), *record->origin};
}

Result<Conversation> Durable::open_counted(const std::string& id, Settings settings) const {
  settings.tokenizer.clear();
  return open_another(id, settings);
}

Result<Conversation> Durable::open_another(std::string_view id, const Settings& settings) const {
  return Conversation::open(store_, id, settings,
                            {.make = OpenOptions::Make::never,
                             .cache_bytes = cache_bytes_,
                             .rebase_appends = rebase_appends_,
                             .checkpoint_versions = checkpoint_versions_});
}

std::optional<Error> Durable::check(const History& history) const {
  PageWriter writer(space_id_, next_page_);
  writer.forget_saved();  // so that every page is read, to be written again; which it is not
  SavedHistory::save(history.rep(), writer);
  return {};
}

void Durable::rewrite_pages(const History& history, Prune& prune) const {
  PageWriter writer(space_id_, next_page_);
  writer.forget_saved();
  std::string root = SavedHistory::save(history.rep(), writer);
  prune.checkpoint = Checkpoint{history.version().value, writer.next_page(), std::move(root)};
  prune.pages = as_pages(writer.take_pages());
}

Result<Reclaimed> Durable::prune(History& history, std::uint32_t first, std::int64_t now_ms) {
  Reclaimed reclaimed;
  reclaimed.first_version = Version(first);
  reclaimed.versions = first - history.first_version().value;
  if (!record_.forks.empty() || record_.origin) {
    return Error{ErrorCode::unsupported,
                 "versions of a conversation that shares messages with a fork cannot be pruned"};
  }
  const History kept = without_versions_below(history, first);
  const std::vector<bool> needed = needed_messages(kept);
  Prune prune;
  prune.conversation = record_.id;
  prune.expected_version = record_.version;
  prune.first_version = first;
  for (std::uint64_t ordinal = 0; ordinal < needed.size(); ++ordinal) {
    if (needed[ordinal]) continue;
    MessageRecord record = messages(ordinal, ordinal + 1).at(0);
    if (record.redacted) continue;
    record.redacted = sha256(record.body);
    record.body = redacted(message_of(record), {std::string(retention), now_ms,
                                                "no kept version needs it", hex(*record.redacted)})
                      .json();
    prune.stubs.push_back(std::move(record));
  }
  reclaimed.messages = prune.stubs.size();
  std::vector<bool> goes(needed.size(), false);
  for (const MessageRecord& stub : prune.stubs) goes[stub.ordinal] = true;
  prune.requests = requests_without(history, first, goes);
  rewrite_pages(kept, prune);
  if (Result<void> done = store_->prune(prune); !done) return std::move(done.error());
  bodies_.reset();
  has_read_words_ = false;
  record_.first_version = first;
  record_.next_page = prune.checkpoint.next_page;
  history = history_on(prune.checkpoint);
  return reclaimed;
}

}  // namespace undertext
