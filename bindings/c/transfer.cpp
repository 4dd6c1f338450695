#include "handles.hpp"
#include "json/kept_settings.hpp"
#include "read_object.hpp"
#include "transfer/export.hpp"
#include "transfer/import.hpp"

using namespace undertext;
using c::Failed, c::give, c::guarded, c::view_of;

namespace {

// Lines pass through functions of C++ that have no other way to end early.
void must_not_fail(undertext_status status, const char* who) {
  if (status != UNDERTEXT_OK) throw Failure(c::failure(status, who, {}));
}

}  // namespace

undertext_status undertext_store_export(undertext_store* store, undertext_text id,
                                        undertext_write_line write, void* context,
                                        undertext_string* error) {
  return guarded(store, error, [&](undertext_store& in) -> Failed {
    c::must_be_function(write, "write");
    KeptOpen how;
    how.options.make = OpenOptions::Make::never;
    const Result<Conversation> conversation = open_kept(in.store, view_of(id), std::move(how));
    if (!conversation) return conversation.error();
    return export_conversation(*in.store, *conversation, {.write = [&](std::string_view line) {
      must_not_fail(write(context, c::text_of(line)), "the writer of lines");
    }});
  });
}

undertext_status undertext_store_import(undertext_store* store, undertext_text id,
                                        undertext_read_line read, void* context,
                                        undertext_text options, undertext_string* imported,
                                        undertext_string* error) {
  c::clear(imported);
  return guarded(store, error, [&](undertext_store& in) -> Failed {
    c::must_be_function(read, "read");
    ImportOptions how;
    RawObject settings;
    const Failed bad = c::read_object(options, "the options", [&](Fields& fields) {
      fields.take("settings", settings);
      fields.take("trustSettings", how.trust_settings);
    });
    if (bad) return bad;
    if (!settings.json.empty()) how.config = std::move(settings.json);
    const LineSource next_line = [&]() -> std::optional<std::string_view> {
      undertext_text line = {nullptr, 0};
      must_not_fail(read(context, &line), "the reader of lines");
      if (line.data == nullptr) return std::nullopt;
      return view_of(line);
    };
    const Result<ImportedConversation> done =
        import_conversation(in.store, view_of(id), next_line, how);
    if (!done) return done.error();
    give(imported, R"({"versions":)" + std::to_string(done->versions) + R"(,"messages":)" +
                       std::to_string(done->messages) + "}");
    return std::nullopt;
  });
}
