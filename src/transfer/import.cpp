#include "transfer/import.hpp"

#include <chrono>
#include <limits>
#include <utility>
#include <vector>

#include "json/kept_settings.hpp"
#include "json/settings_json.hpp"
#include "store/rules.hpp"
#include "store/staged.hpp"
#include "transfer/export_lines.hpp"
#include "transfer/transcript.hpp"

namespace undertext {
namespace {

// Committed together.
constexpr std::size_t versions_at_once = 256;
constexpr std::uint64_t bytes_at_once = 8u << 20;

// Messages that were kept once are taken whatever the limits are now.
constexpr MessageLimits unlimited{std::numeric_limits<std::uint64_t>::max(), 1000};

// Reads lines, and holds them to what they say of each other.
class ExportReader {
 public:
  explicit ExportReader(const LineSource& next_line) : next_line_(next_line) {}

  ExportHeader header() {
    ExportLine line = next();
    if (!std::holds_alternative<ExportHeader>(line))
      fail(ErrorCode::invalid_argument, "an export begins with its header");
    return std::get<ExportHeader>(std::move(line));
  }

  // Nothing after the last.
  std::optional<ExportedVersion> version() {
    const std::string digest = digest_.hex();
    ExportLine line = next();
    if (std::holds_alternative<ExportHeader>(line))
      fail(ErrorCode::invalid_argument, "a second header");
    if (const ExportEnd* end = std::get_if<ExportEnd>(&line)) {
      if (end->versions != imported_.versions || end->messages != imported_.messages ||
          end->digest != digest) {
        fail(ErrorCode::corrupt,
             "lines were changed, lost or added: the digest and counts at the end are of others");
      }
      end_ = std::move(*end);
      if (next_line_()) fail(ErrorCode::invalid_argument, "something follows the end");
      return {};
    }
    ExportedVersion version = std::get<ExportedVersion>(std::move(line));
    if (version.version != imported_.versions + 1)
      fail(ErrorCode::corrupt, "version " + std::to_string(imported_.versions + 1) + " is missing");
    ++imported_.versions;
    imported_.messages += version.past.messages.size();
    return version;
  }

  const ImportedConversation& imported() const { return imported_; }
  const ExportEnd& end() const { return end_; }
  [[noreturn]] void fail(ErrorCode code, const std::string& message) const {
    throw Failure(Error{code, "line " + std::to_string(line_number_) + ": " + message, "lines"});
  }

 private:
  ExportLine next() {
    ++line_number_;
    const std::optional<std::string_view> text = next_line_();
    if (!text) fail(ErrorCode::corrupt, "the end is missing: the export was cut off");
    Result<ExportLine> line = read_export_line(*text, unlimited);
    if (!line) {
      line.error().message = "line " + std::to_string(line_number_) + ": " + line.error().message;
      throw Failure(std::move(line.error()));
    }
    digest_.add(*text);
    return std::move(*line);
  }

  const LineSource& next_line_;
  std::uint64_t line_number_ = 0;
  LinesDigest digest_;
  ImportedConversation imported_;
  ExportEnd end_;
};

class Importer {
 public:
  explicit Importer(Conversation& conversation) : conversation_(conversation) {}

  void add(ExportedVersion version) {
    for (const Message& message : version.past.messages) bytes_ += message.json().size();
    waiting_.push_back(std::move(version.past));
    expected_.push_back({version.message_count, version.batch_index});
    if (waiting_.size() >= versions_at_once || bytes_ >= bytes_at_once) flush();
  }

  void flush() {
    if (waiting_.empty()) return;
    const std::vector<Outcome> outcomes = conversation_.replay(waiting_).value();
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      const Stats& stats = outcomes[i].stats;
      if (stats.current_batch_messages == expected_[i].messages &&
          stats.current_batch_index == expected_[i].batch)
        continue;
      throw Failure(Error{ErrorCode::corrupt,
                          "version " + std::to_string(outcomes[i].version.value) +
                              " does not come out as the export says it was",
                          "lines"});
    }
    waiting_.clear();
    expected_.clear();
    bytes_ = 0;
  }

 private:
  struct Expected {
    std::uint64_t messages, batch;
  };
  Conversation& conversation_;
  std::vector<PastVersion> waiting_;
  std::vector<Expected> expected_;
  std::uint64_t bytes_ = 0;
};

void replay_all(Conversation& conversation, ExportReader& reader, const ImportOptions& options) {
  Importer importer(conversation);
  while (std::optional<ExportedVersion> version = reader.version()) {
    const std::uint64_t number = version->version;
    importer.add(std::move(*version));
    if (options.progress) options.progress(number);
  }
  importer.flush();
  if (digest_of_view(conversation.view()) != reader.end().view) {
    throw Failure(
        Error{ErrorCode::corrupt, "the view does not come out as the export says it was", "lines"});
  }
  conversation.checkpoint().value();
}

constexpr std::int64_t abandoned_after_ms = 24 * 60 * 60 * 1000;

std::int64_t wall_clock_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Settings import_settings(const ExportHeader& header, const std::string& note,
                         const ImportOptions& options) {
  Settings settings;
  if (!note.empty()) settings = read_settings(note).value().settings;
  const bool names_endpoints = !settings.summarisers.empty() || settings.rerank;
  if (names_endpoints && !options.config && !options.trust_settings) {
    throw Failure(Error{ErrorCode::invalid_argument,
                        "the exported settings name summarisers or embeddings, to which keys and "
                        "messages would be sent: trust "
                        "them, or give others",
                        "settings"});
  }
  if (!options.config) settings.tokenizer = header.tokenizer;
  settings.clock_ms = [created = header.created_at_ms] { return created; };
  return settings;
}

// Calls visit(message) for each.
template <class Visit>
void visit_message_lines(const LineSource& next_line, Visit visit) {
  std::uint64_t number = 0;
  while (const std::optional<std::string_view> line = next_line()) {
    if (std::optional<Message> message = read_message_line(*line, ++number).value())
      visit(std::move(*message));
  }
}

// Appends messages that come one by one, some megabytes at a time.
class Appending {
 public:
  explicit Appending(Conversation& conversation) : conversation_(conversation) {}

  void add(Message message) {
    bytes_ += message.json().size();
    messages_.push_back(std::move(message));
    if (bytes_ >= bytes_at_once) flush();
  }
  void flush() {
    if (messages_.empty()) return;
    imported_.messages += messages_.size();
    ++imported_.versions;
    conversation_
        .apply(
            {op::Append{std::exchange(messages_, {})}, {.description = "imported from messages"}})
        .value();
    bytes_ = 0;
  }
  const ImportedConversation& imported() const { return imported_; }

 private:
  Conversation& conversation_;
  std::vector<Message> messages_;
  std::uint64_t bytes_ = 0;
  ImportedConversation imported_;
};

// There, or purged. Asked before the work is done; publish() has the last word.
void refuse_taken(Store& store, std::string_view id) {
  const Result<std::vector<RemovalRecord>> known = store.removals(id);
  if (known) throw Failure(id_taken(id));
  if (known.error().code != ErrorCode::not_found) throw Failure(known.error());
}

}  // namespace

Result<ImportedConversation> check_export(const LineSource& next_line) {
  try {
    ExportReader reader(next_line);
    reader.header();
    while (reader.version()) {
    }
    return reader.imported();
  } catch (const Failure& failure) {
    return failure.error();
  }
}

Result<std::uint64_t> discard_abandoned(Store& store, std::int64_t now_ms) {
  std::uint64_t count = 0;
  ListOptions options{.staged = true};
  for (;;) {
    const Result<std::vector<ConversationRecord>> some = store.list(options);
    if (!some) return some.error();
    for (const ConversationRecord& record : *some) {
      options.after = record.id;
      const std::int64_t staged_at = staged_at_ms(record.id);
      if (now_ms - (staged_at != 0 ? staged_at : record.created_at_ms) < abandoned_after_ms)
        continue;
      const Result<void> purged = store.purge(record.id, {"import", now_ms, "abandoned"});
      // not_found: another process was first
      if (!purged && purged.error().code != ErrorCode::not_found) return purged.error();
      if (purged) ++count;
    }
    if (some->size() < options.limit) return count;
  }
}

namespace {

// Opens a conversation that nobody sees, and gives it the id `id` when fill(conversation) is
// through.
template <class Fill>
void publish_filled(Store& store, std::string_view id,
                    const std::function<Conversation(const std::string& staged)>& open, Fill fill) {
  const std::int64_t now = wall_clock_ms();
  discard_abandoned(store, now).value();
  const std::string staged = staged_id(now);
  try {
    {
      Conversation conversation = open(staged);
      fill(conversation);
    }
    store.publish(staged, id).value();
  } catch (...) {
    // What that fails with tells less than what the import did, and what is left is removed another
    // day.
    static_cast<void>(store.purge(staged, {"import", now, "failed"}));
    throw;
  }
}

}  // namespace

Result<ImportedConversation> import_conversation(std::shared_ptr<Store> store, std::string_view id,
                                                 const LineSource& next_line,
                                                 const ImportOptions& options) {
  if (auto error = bad_id(id)) return *error;
  try {
    ExportReader reader(next_line);
    const ExportHeader header = reader.header();
    const std::string note = options.config.value_or(header.note);
    Settings settings = import_settings(header, note, options);
    refuse_taken(*store, id);
    const auto open = [&](const std::string& staged) {
      return Conversation::open(store, staged, std::move(settings),
                                {.make = OpenOptions::Make::always,
                                 .note = note,
                                 .publish_as = std::string(id),
                                 .made_by = options.made_by})
          .value();
    };
    publish_filled(*store, id, open,
                   [&](Conversation& conversation) { replay_all(conversation, reader, options); });
    return reader.imported();
  } catch (const Failure& failure) {
    return failure.error();
  }
}

Result<ImportedConversation> check_message_lines(const LineSource& next_line) {
  try {
    ImportedConversation found;
    visit_message_lines(next_line, [&](const Message&) { ++found.messages; });
    return found;
  } catch (const Failure& failure) {
    return failure.error();
  }
}

Result<ImportedConversation> import_message_lines(std::shared_ptr<Store> store, std::string_view id,
                                                  const LineSource& next_line,
                                                  const ImportOptions& options) {
  if (auto error = bad_id(id)) return *error;
  try {
    refuse_taken(*store, id);
    const auto open = [&](const std::string& staged) {
      return open_kept(store, staged,
                       {.config = options.config,
                        .options = {.make = OpenOptions::Make::always,
                                    .publish_as = std::string(id),
                                    .made_by = options.made_by}})
          .value();
    };
    ImportedConversation imported;
    publish_filled(*store, id, open, [&](Conversation& conversation) {
      Appending appending(conversation);
      visit_message_lines(next_line, [&](Message message) {
        appending.add(std::move(message));
        if (options.progress) options.progress(appending.imported().messages);
      });
      appending.flush();
      imported = appending.imported();
      conversation.checkpoint().value();
    });
    return imported;
  } catch (const Failure& failure) {
    return failure.error();
  }
}

}  // namespace undertext
