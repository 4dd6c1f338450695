#include <algorithm>
#include <chrono>

#include "handles.hpp"
#include "json/record_json.hpp"
#include "read_object.hpp"

using namespace undertext;
using c::Failed, c::give, c::guarded, c::now_ms, c::view_of;

namespace {

void read_options(Fields& fields, StoreOptions& options) {
  fields.take("create", options.create);
  fields.take("readOnly", options.read_only);
  fields.take("tenant", options.tenant);
  std::optional<std::uint64_t> patience_ms;
  fields.take("patienceMs", patience_ms);
  if (patience_ms)
    options.patience =
        std::chrono::milliseconds(std::min<std::uint64_t>(*patience_ms, std::uint64_t{1} << 40));
  std::optional<std::string> durability;
  fields.take("durability", durability);
  if (durability == "normal") {
    options.durability = Durability::normal;
  } else if (durability && durability != "full") {
    fields.fail("durability", "is \"full\" or \"normal\"");
  }
}

template <class Record>
std::string array_of(const std::vector<Record>& records) {
  std::string json = "[";
  for (const Record& record : records) {
    if (json.size() > 1) json += ',';
    append_json(json, record);
  }
  return json + ']';
}

}  // namespace

undertext_status undertext_store_open(undertext_text url, undertext_text options,
                                      undertext_store** store, undertext_string* error) {
  *store = nullptr;
  return guarded(error, [&]() -> Failed {
    StoreOptions how;
    if (Failed bad = c::read_object(options, "the options",
                                    [&](Fields& fields) { read_options(fields, how); }))
      return bad;
    Result<std::shared_ptr<Store>> opened = open_store(view_of(url), how);
    if (!opened) return std::move(opened.error());
    *store = new undertext_store{std::move(*opened)};
    return std::nullopt;
  });
}

void undertext_store_close(undertext_store* store) { delete store; }

undertext_status undertext_store_list(undertext_store* store, undertext_text after, uint32_t limit,
                                      undertext_string* conversations, undertext_string* error) {
  c::clear(conversations);
  return guarded(store, error, [&](undertext_store& in) -> Failed {
    const Result<std::vector<ConversationRecord>> found =
        in.store->list({.after = std::string(view_of(after)), .limit = limit});
    if (!found) return found.error();
    give(conversations, array_of(*found));
    return std::nullopt;
  });
}

undertext_status undertext_store_purge(undertext_store* store, undertext_text id,
                                       undertext_text who, undertext_text why,
                                       undertext_string* error) {
  return guarded(store, error, [&](undertext_store& in) {
    return in.store->purge(
        view_of(id),
        {.who = std::string(view_of(who)), .at_ms = now_ms(), .why = std::string(view_of(why))});
  });
}

undertext_status undertext_store_check(undertext_store* store, undertext_text id,
                                       undertext_string* report, undertext_string* error) {
  c::clear(report);
  return guarded(store, error, [&](undertext_store& in) -> Failed {
    const Result<CheckReport> checked = check_store(*in.store, view_of(id));
    if (!checked) return checked.error();
    std::string json;
    append_json(json, *checked);
    give(report, std::move(json));
    return std::nullopt;
  });
}

undertext_status undertext_store_backup(undertext_store* store, undertext_text path,
                                        undertext_string* error) {
  return guarded(store, error,
                 [&](undertext_store& in) { return in.store->backup(std::string(view_of(path))); });
}

undertext_status undertext_store_restore(undertext_text url, undertext_text backup,
                                         undertext_string* error) {
  return guarded(error, [&] { return restore_store(view_of(url), std::string(view_of(backup))); });
}

undertext_status undertext_store_settings(undertext_store* store, undertext_text id,
                                          undertext_string* settings, undertext_string* error) {
  c::clear(settings);
  return guarded(store, error, [&](undertext_store& in) -> Failed {
    Result<std::string> kept = Conversation::stored_note(*in.store, view_of(id));
    if (!kept) return std::move(kept.error());
    give(settings, std::move(*kept));
    return std::nullopt;
  });
}

undertext_status undertext_store_removals(undertext_store* store, undertext_text id,
                                          undertext_string* removals, undertext_string* error) {
  c::clear(removals);
  return guarded(store, error, [&](undertext_store& in) -> Failed {
    const Result<std::vector<RemovalRecord>> found = in.store->removals(view_of(id));
    if (!found) return found.error();
    give(removals, array_of(*found));
    return std::nullopt;
  });
}

undertext_status undertext_store_compact(undertext_store* store, undertext_string* error) {
  return guarded(store, error, [](undertext_store& in) { return in.store->compact(); });
}
