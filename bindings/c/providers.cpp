#include "base/json_text.hpp"
#include "handles.hpp"
#include "json/dialect_json.hpp"
#include "json/models_json.hpp"
#include "read_object.hpp"

using namespace undertext;
using c::Failed, c::give, c::guarded, c::view_of;

namespace {

// How an answer was asked for: a dialect's name, or an object with that and the names of tools.
struct Sent {
  Profile profile = {};
  ToolNames names = {};
};

Failed read_sent(undertext_text json, const Settings& settings, Sent& sent) {
  return c::read_object(json, "a profile", [&](Fields& fields) {
    read_profile(fields, settings, sent.profile);
    read_tool_names(fields, sent.names);
  });
}
Failed read_dialect(undertext_text text, Sent& sent) {
  if (view_of(text).starts_with('{')) return read_sent(text, {}, sent);
  const std::optional<Dialect> dialect = dialect_named(view_of(text));
  if (!dialect)
    return Error{ErrorCode::invalid_argument,
                 "is openai_chat, openai_responses, anthropic or gemini", "dialect"};
  sent.profile.dialect = *dialect;
  return std::nullopt;
}

Failed read_profile_of(undertext_text json, const Settings& settings, Profile& profile) {
  return c::read_object(json, "a profile",
                        [&](Fields& fields) { read_profile(fields, settings, profile); });
}

Failed hand_out(const Result<Imported>& read, undertext_string* imported) {
  if (!read) return read.error();
  std::string out;
  append_json(out, *read);
  give(imported, std::move(out));
  return std::nullopt;
}

}  // namespace

undertext_status undertext_import_messages(undertext_text dialect, undertext_text json,
                                           undertext_string* imported, undertext_string* error) {
  c::clear(imported);
  return guarded(error, [&]() -> Failed {
    Sent sent;
    if (Failed bad = read_dialect(dialect, sent)) return bad;
    return hand_out(import_messages(sent.profile.dialect, view_of(json), {}, sent.names), imported);
  });
}

undertext_status undertext_import_after(const undertext_view* view, undertext_text profile,
                                        undertext_text json, undertext_string* imported,
                                        undertext_string* error) {
  c::clear(imported);
  return guarded(view, error, [&](const undertext_view& of) -> Failed {
    Sent sent;
    if (Failed bad = read_sent(profile, of.settings, sent)) return bad;
    return hand_out(
        import_after(of.view, sent.profile, view_of(json), of.settings.limits.message, sent.names),
        imported);
  });
}

undertext_status undertext_validate_request(undertext_text profile, undertext_text json,
                                            undertext_string* findings, undertext_string* error) {
  c::clear(findings);
  return guarded(error, [&]() -> Failed {
    Profile taken_by;
    if (Failed bad = read_profile_of(profile, {}, taken_by)) return bad;
    const Result<std::vector<Finding>> found = validate_request(view_of(json), taken_by);
    if (!found) return found.error();
    std::string out;
    append_findings(out, *found);
    give(findings, std::move(out));
    return std::nullopt;
  });
}

undertext_status undertext_stream_new(undertext_text dialect, undertext_stream** stream,
                                      undertext_string* error) {
  *stream = nullptr;
  return guarded(error, [&]() -> Failed {
    Sent sent;
    if (Failed bad = read_dialect(dialect, sent)) return bad;
    *stream = new undertext_stream{StreamAssembler(sent.profile.dialect, std::move(sent.names))};
    return std::nullopt;
  });
}

undertext_status undertext_stream_feed(undertext_stream* stream, undertext_text data,
                                       undertext_string* error) {
  return guarded(stream, error,
                 [&](undertext_stream& to) { return to.assembler.feed(view_of(data)); });
}

undertext_status undertext_stream_result(const undertext_stream* stream, undertext_string* result,
                                         undertext_string* error) {
  c::clear(result);
  return guarded(stream, error, [&](const undertext_stream& of) -> Failed {
    const StreamAssembler::Streamed streamed = of.assembler.finish();
    std::string out = "{";
    for (const auto& [name, json] :
         {std::pair("message", &streamed.message), std::pair("usage", &streamed.usage_json),
          std::pair("error", &streamed.error_json)}) {
      if (!json->empty()) out.append("\"").append(name).append("\":").append(*json) += ',';
    }
    if (!streamed.finish_reason.empty()) {
      out += R"("finishReason":)";
      append_json_string(out, streamed.finish_reason);
      out += ',';
    }
    give(result, out + (streamed.complete ? R"("complete":true})" : R"("complete":false})"));
    return std::nullopt;
  });
}

void undertext_stream_close(undertext_stream* stream) { delete stream; }

undertext_status undertext_find_model(undertext_text name, undertext_string* model,
                                      undertext_string* error) {
  c::clear(model);
  return guarded(error, [&]() -> Failed {
    std::string out;
    append_json(out, find_model(view_of(name)));
    give(model, std::move(out));
    return std::nullopt;
  });
}

undertext_status undertext_add_models(undertext_text json, undertext_string* error) {
  return guarded(error, [&] { return add_models(view_of(json)); });
}

undertext_status undertext_count_tools(undertext_text counting, undertext_text tools,
                                       undertext_string* count, undertext_string* error) {
  c::clear(count);
  return guarded(error, [&]() -> Failed {
    const Result<ToolsCount> counted = count_tools(view_of(tools), view_of(counting));
    if (!counted) return counted.error();
    std::string out;
    append_json(out, *counted);
    give(count, std::move(out));
    return std::nullopt;
  });
}

undertext_status undertext_count_tokens(undertext_text tokenizer, undertext_text text,
                                        uint64_t* tokens, undertext_string* error) {
  *tokens = 0;
  return guarded(error, [&]() -> Failed {
    const Result<std::shared_ptr<const Tokenizer>> found = find_tokenizer(view_of(tokenizer));
    if (!found) return found.error();
    *tokens = (*found)->count(view_of(text));
    return std::nullopt;
  });
}
