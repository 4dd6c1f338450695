// init, new, list, check, backup, restore, gc, index: a store and the conversations in it.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include <undertext/index_store.hpp>

#include "base/json_text.hpp"
#include "cli/command.hpp"
#include "cli/desk.hpp"
#include "json/record_json.hpp"
#include "store/fresh_id.hpp"
#include "transfer/import.hpp"

namespace undertext {
namespace {

struct InitOptions : Common {
  bool distributed = false;
};

Run declare_init(Arguments& arguments) {
  auto given = std::make_shared<InitOptions>();
  declare_store(arguments, *given);
  arguments.add(
      {"--distributed", &given->distributed, "Distribute its tables over the nodes of Citus"});
  return [given](Desk& desk) {
    const std::shared_ptr<Store> store = desk.store(*given, Desk::Need::make);
    if (given->distributed) store->distribute().value();
    if (given->json) {
      desk.put_json(R"({"ok":true,"result":{"store":)" + json_string(store->name()) + "}}");
    } else {
      desk.say(store->name());
    }
    return 0;
  };
}

struct NewOptions : Common {
  std::optional<std::string> config, model;
};

Run declare_new(Arguments& arguments) {
  auto given = std::make_shared<NewOptions>();
  declare_store(arguments, *given);
  arguments.add({"-c,--conversation", &given->conversation, "Its id", "ID"});
  arguments.add({"CONVERSATION", &given->conversation,
                 "Its id: 1 to 128 of A-Z a-z 0-9 . _ -; made up when not given"});
  arguments.add({"--config", &given->config,
                 "Its settings: model, tokenizer, costs, profile, window, tokenLimit, "
                 "compressionConfig, pairs, limits, "
                 "summarisers, embeddings",
                 "JSON|FILE"});
  arguments.add({"--model", &given->model, "Its model: the setting of this name", "NAME"});
  return [given](Desk& desk) {
    if (!given->conversation) given->conversation = fresh_id(now_ms());
    const Conversation conversation = desk.conversation(
        *given, Desk::Need::another, with_model(config_of(given->config), given->model));
    if (given->json) {
      desk.put_json(R"({"ok":true,"result":{"conversation":)" + json_string(conversation.id()) +
                    "}}");
    } else {
      desk.say(conversation.id());
    }
    return 0;
  };
}

Line as_line(const ConversationRecord& record, std::size_t widest) {
  Line line;
  line.add(clip(printable(record.id), widest), {.bold = true}).pad_to(widest + 2);
  line.add_right("v" + std::to_string(record.version), widest + 10);
  line.add_right(
      std::to_string(record.log_length) + (record.log_length == 1 ? " message" : " messages"),
      widest + 28);
  line.pad_to(widest + 30).add(spelled_time(record.updated_at_ms), quiet);
  if (record.origin) {
    line.add("  fork of " + printable(record.origin->conversation) + " at v" +
                 std::to_string(record.origin->version),
             quiet);
  }
  return line;
}

Run declare_list(Arguments& arguments) {
  auto given = std::make_shared<Common>();
  declare_store(arguments, *given);
  return [given](Desk& desk) {
    const std::shared_ptr<Store> store = desk.store(*given);
    ListOptions options{.limit = 1000};
    bool any = false;
    for (;;) {
      const std::vector<ConversationRecord> records = store->list(options).value();
      std::size_t widest = 12;
      for (const ConversationRecord& record : records)
        widest = std::max(widest, std::min<std::size_t>(record.id.size(), 40));
      for (const ConversationRecord& record : records) {
        if (given->json) {
          std::string line;
          append_json(line, record);
          desk.put_json(std::move(line));
        } else {
          desk.screen().print(as_line(record, widest));
        }
        any = true;
      }
      if (records.size() < options.limit) break;
      options.after = records.back().id;
    }
    if (!any && !given->json) desk.note("there is no conversation yet; undertext new makes one");
    return 0;
  };
}

// Pages, which follow from the records and are not looked at by check_store().
void check_pages(const std::shared_ptr<Store>& store, const std::string& id, CheckReport& report) {
  Result<Conversation> opened =
      Conversation::open(store, id, {}, {.make = OpenOptions::Make::never});
  const Result<void> checked = opened ? opened->check() : opened.error();
  if (checked) return;
  const Error& error = checked.error();
  if (error.code != ErrorCode::corrupt) throw Failure(error);
  const bool told = std::any_of(report.damage.begin(), report.damage.end(),
                                [&](const Damage& d) { return d.what == error.message; });
  if (!told) report.damage.push_back({id, error.message});
}

void check_pages(const std::shared_ptr<Store>& store, CheckReport& report) {
  ListOptions list;
  for (;;) {
    const std::vector<ConversationRecord> some = store->list(list).value();
    for (const ConversationRecord& record : some) check_pages(store, record.id, report);
    if (some.size() < list.limit) return;
    list.after = some.back().id;
  }
}

Run declare_check(Arguments& arguments) {
  auto given = std::make_shared<Common>();
  declare_placed_conversation(arguments, *given);
  return [given](Desk& desk) {
    const std::shared_ptr<Store> store = desk.store(*given);
    CheckReport report = check_store(*store, given->conversation.value_or("")).value();
    if (given->conversation) {
      check_pages(store, *given->conversation, report);
    } else {
      check_pages(store, report);
    }
    if (given->json) {
      std::string out =
          report.damage.empty() ? R"({"ok":true,"result":)" : R"({"ok":false,"result":)";
      append_json(out, report);
      desk.put_json(out + "}");
    } else {
      desk.say(
          std::to_string(report.conversations) + " conversations, " +
          std::to_string(report.versions) + " versions, " + std::to_string(report.messages) +
          " messages: " +
          (report.damage.empty() ? "sound" : std::to_string(report.damage.size()) + " damaged"));
      for (const Damage& damage : report.damage) {
        desk.say("  " + (damage.conversation.empty() ? "the store" : damage.conversation) + ": " +
                 damage.what);
      }
    }
    return report.damage.empty() ? 0 : exit_status(ErrorCode::corrupt);
  };
}

struct BackupOptions : Common {
  std::string file;
};

Run declare_backup(Arguments& arguments) {
  auto given = std::make_shared<BackupOptions>();
  declare_store(arguments, *given);
  arguments.add({.names = "FILE",
                 .to = &given->file,
                 .help = "The file of the copy; it must not exist yet",
                 .required = true});
  return [given](Desk& desk) {
    const std::shared_ptr<Store> store = desk.store(*given);
    store->backup(given->file).value();
    if (given->json) {
      desk.put_json(R"({"ok":true,"result":{"file":)" + json_string(given->file) + "}}");
    } else {
      desk.say(given->file);
    }
    return 0;
  };
}

Run declare_restore(Arguments& arguments) {
  auto given = std::make_shared<BackupOptions>();
  declare_store(arguments, *given);
  arguments.add({.names = "FILE",
                 .to = &given->file,
                 .help = "A copy that undertext backup made",
                 .required = true});
  return [given](Desk& desk) {
    const std::string url = desk.url(*given);
    restore_store(url, given->file).value();
    if (given->json) {
      desk.put_json(R"({"ok":true,"result":{"store":)" + json_string(url) + "}}");
    } else {
      desk.say(url);
    }
    return 0;
  };
}

struct GcOptions : Common {
  std::optional<std::uint64_t> versions, batches, days;
  bool yes = false;
};

Run declare_gc(Arguments& arguments) {
  auto given = std::make_shared<GcOptions>();
  declare_placed_conversation(arguments, *given);
  arguments.add({"--keep-versions", &given->versions, "Keep the last N versions", "N"});
  arguments.add(
      {"--keep-batches", &given->batches, "Keep those since the last N batches were opened", "N"});
  arguments.add({"--keep-days", &given->days, "Keep those of the last N days", "N"});
  arguments.add({"-y,--yes", &given->yes, "Do not ask"});
  return [given](Desk& desk) {
    const std::shared_ptr<Store> store = desk.store(*given);
    const Retention retention{given->versions, given->batches, given->days};
    Reclaimed reclaimed;
    if (retention.versions || retention.batches || retention.days) {
      const std::string id = desk.conversation_id(*given);
      if (!desk.confirm("Old versions of " + id +
                            " and what only they need will be deleted permanently. Go on?",
                        given->yes))
        return 1;
      reclaimed = desk.conversation(*given).prune_versions(retention).value();
    }
    discard_abandoned(*store, now_ms()).value();
    store->compact().value();
    if (given->json) {
      desk.put_json(R"({"ok":true,"result":{"firstVersion":)" +
                    std::to_string(reclaimed.first_version.value) + R"(,"versions":)" +
                    std::to_string(reclaimed.versions) + R"(,"messages":)" +
                    std::to_string(reclaimed.messages) + "}}");
    } else {
      desk.say(std::to_string(reclaimed.versions) + " versions pruned, " +
               std::to_string(reclaimed.messages) + " messages deleted");
    }
    return 0;
  };
}

Run declare_index(Arguments& arguments) {
  auto given = std::make_shared<Common>();
  declare_store(arguments, *given);
  return [given](Desk& desk) {
    const std::shared_ptr<Store> store = desk.store(*given);
    Progress progress("indexing");
    const IndexProgress done = index_store(*store, {.on_progress = [&](const IndexProgress& at) {
                                 progress.at(at.messages, 0);
                               }}).value();
    if (given->json) {
      desk.put_json(R"({"ok":true,"result":{"conversations":)" +
                    std::to_string(done.conversations) + R"(,"messages":)" +
                    std::to_string(done.messages) + R"(,"bytes":)" + std::to_string(done.bytes) +
                    "}}");
    } else {
      desk.say(std::to_string(done.messages) + " messages indexed");
    }
    return 0;
  };
}

}  // namespace

std::vector<Command> store_commands() {
  return {
      {"init", "Make a store",
       "--distributed distributes the tables of a PostgreSQL database with Citus by conversation. "
       "Repeat it after adding nodes: "
       "it\n"
       "does not change tables that are distributed already.",
       declare_init},
      {"new", "Make a conversation", "", declare_new},
      {"list", "List the conversations", "", declare_list},
      {"check", "Check the integrity of the store",
       "The exit status is 6 when something is damaged.", declare_check},
      {"backup", "Copy the store to a file, while it is in use", "", declare_backup},
      {"restore", "Replace the store by a backup; no process may have it open",
       "The backup is checked first and is not changed. It replaces the whole store, with its log.",
       declare_restore},
      {"gc", "Prune old versions, and give free space back",
       "Without --keep-…, no version is pruned: only free space is given back to the system. With "
       "more than one, what any of them\n"
       "asks for is kept; the head, and what it can roll back to, always are.",
       declare_gc},
      {"index", "Build the search index of messages that an older release stored",
       "Searches find everything without it, more slowly. Other processes may use the store "
       "meanwhile.",
       declare_index},
  };
}

}  // namespace undertext
