// What belongs to no conversation: the dialects there are, how the server is, what it serves, and
// the page that shows it.
#include <algorithm>
#include <utility>

#include <undertext/dialect.hpp>

#include "base/json_text.hpp"
#include "server/app_rep.hpp"
#include "server/inspector_files.hpp"
#include "server/metrics.hpp"
#include "server/openapi.hpp"

namespace undertext {
namespace {

http::Reply dialects() {
  std::string out = R"({"ok":true,"result":{"dialects":[)";
  for (std::size_t i = 0; i < dialect_count; ++i)
    append_json_string(out += i == 0 ? "" : ",", name(static_cast<Dialect>(i)));
  out += R"(],"profiles":[)";
  const char* separator = "";
  for (const std::string_view profile : profile_names()) {
    append_json_string((out += std::exchange(separator, ",")) += R"({"name":)", profile);
    append_json_string(out += R"(,"dialect":)", name(find_profile(profile).value().dialect));
    out += '}';
  }
  return json_reply(out + "]}}");
}

http::Reply ready(App::Rep& app) {
  if (app.options.why_not_ready)
    if (std::string why = app.options.why_not_ready(); !why.empty())
      refuse(ErrorCode::unavailable, std::move(why));
  if (std::optional<Error> error = app.readiness.look()) throw Failure(*std::move(error));
  return json_reply(R"({"ok":true,"result":"ready"})");
}

http::Reply drain(App::Rep& app, bool begins) {
  if (!app.options.drain) refuse(ErrorCode::unsupported, "this server cannot be drained");
  const Draining now = app.options.drain(begins);
  return json_reply(std::string(R"({"ok":true,"result":{"draining":)") +
                    (now.is_draining ? "true" : "false") + R"(,"requests":)" +
                    std::to_string(now.requests) + R"(,"streams":)" + std::to_string(now.streams) +
                    "}}");
}

constexpr std::string_view page_policy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src "
    "'self'; frame-ancestors 'none'; "
    "base-uri 'none'; form-action 'none'";
constexpr std::string_view docs_policy =
    "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action "
    "'none'";

http::Reply page(std::string_view content_type, std::string_view bytes, std::string_view policy,
                 std::string cache) {
  return {.content_type = std::string(content_type),
          .body = std::string(bytes),
          .fields = {{"Content-Security-Policy", std::string(policy)},
                     {"X-Content-Type-Options", "nosniff"},
                     {"Referrer-Policy", "no-referrer"},
                     {"Cache-Control", std::move(cache)}}};
}

std::string_view content_type_of(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> types[] = {
      {".html", "text/html; charset=utf-8"},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".ico", "image/x-icon"},
      {".json", "application/json"},
      {".woff2", "font/woff2"},
      {".txt", "text/plain; charset=utf-8"},
      {".md", "text/markdown; charset=utf-8"},
      {".map", "application/json"}};
  for (const auto& [ending, type] : types) {
    if (path.ends_with(ending)) return type;
  }
  return "application/octet-stream";
}

// Whether the client named the coding, and not to refuse it with q=0.
bool takes_gzip(const http::Request& request) {
  const std::string* const field = request.find("Accept-Encoding");
  if (field == nullptr) return false;
  const std::string_view codings = *field;
  const std::size_t at = codings.find("gzip");
  if (at == std::string_view::npos || (at > 0 && codings[at - 1] != ' ' && codings[at - 1] != ','))
    return false;
  std::string_view rest = codings.substr(at + 4);
  rest = rest.substr(0, rest.find(','));
  return rest.find_first_not_of(" \t") == std::string_view::npos ||
         rest.find_first_of("123456789") != std::string_view::npos;
}

http::Reply inspector_file(const http::Request& request, std::string_view path, std::string cache) {
  const std::vector<InspectorFile> files = inspector_files();
  const auto file = std::find_if(files.begin(), files.end(),
                                 [&](const InspectorFile& f) { return f.path == path; });
  if (file == files.end()) refuse(ErrorCode::not_found, "there is no such file");
  const bool packed = !file->gzip.empty() && takes_gzip(request);
  http::Reply reply =
      page(content_type_of(path), packed ? file->gzip : file->bytes, page_policy, std::move(cache));
  reply.fields.push_back({"Vary", "Accept-Encoding"});
  if (packed) reply.fields.push_back({"Content-Encoding", "gzip"});
  return reply;
}

http::Reply site_file(const SiteFiles& site, const Call& call, std::string_view path) {
  const SiteFile* const file = site.find(path);
  if (file == nullptr)
    refuse(ErrorCode::not_found,
           "there is no such page; serve --docs FOLDER serves what scripts/site made");
  // Anybody may ask for it, and read it slowly.
  if (!call.exchange->reserve(file->bytes.size()))
    refuse(ErrorCode::unavailable, "there is too much in memory already: retry later");
  return page(content_type_of(path), file->bytes, file->policy, "no-cache");
}

constexpr std::string_view without_inspector =
    "<!doctype html>\n<html lang=\"en\"><head><meta "
    "charset=\"utf-8\"><title>Undertext</title></head><body><main><h1>Undertext</h1>\n"
    "<p>This server was built without its inspector, which needs npm and its registry. To add it, "
    "run "
    "<code>scripts/run</code> where they can be reached, or <code>scripts/inspector</code> and "
    "build the server again. "
    "What it serves stands in <a href=\"/docs\">the documents</a>.</p></main></body></html>\n";

http::Reply front_page(const http::Request& request) {
  if (inspector_files().empty())
    return page("text/html; charset=utf-8", without_inspector, docs_policy, "no-cache");
  return inspector_file(request, "/index.html", "no-cache");
}

}  // namespace

std::vector<Route> page_routes(App::Rep& app) {
  constexpr std::string_view html = "text/html";
  const auto fixed = [](std::string_view path, std::string_view name, std::string_view what,
                        std::string_view type, Replies make, std::string_view answers = {}) {
    return Route{.method = "GET",
                 .path = std::string(path),
                 .right = Right::none,
                 .name = std::string(name),
                 .what = std::string(what),
                 .answers = std::string(answers),
                 .reply_type = std::string(type),
                 .handle = replying(std::move(make))};
  };
  std::vector<Route> routes{
      {.method = "GET",
       .path = "/v1/dialects",
       .name = "getDialects",
       .what = "The dialects and profiles there are.",
       .answers = "DialectsAnswer",
       .handle = replying([](const Call&) { return dialects(); })},
      fixed(
          "/healthz", "getHealth", "That the process answers.", "application/json",
          [](const Call&) { return json_reply(R"({"ok":true,"result":"healthy"})"); },
          "HealthAnswer"),
      fixed(
          "/readyz", "getReady", "That the store answers too; else 503.", "application/json",
          [&app](const Call&) { return ready(app); }, "ReadyAnswer"),
      {.method = "POST",
       .path = "/v1/drain",
       .right = Right::operate,
       .name = "beginDrain",
       .what = "Begins to drain: /readyz is 503, and everything is still answered. Again: how far "
               "it is.",
       .answers = "DrainingAnswer",
       .handle = replying([&app](const Call&) { return drain(app, true); })},
      {.method = "DELETE",
       .path = "/v1/drain",
       .right = Right::operate,
       .name = "endDrain",
       .what = "Ends it: the server is ready again.",
       .answers = "DrainingAnswer",
       .handle = replying([&app](const Call&) { return drain(app, false); })},
      {.method = "GET",
       .path = "/metrics",
       .right = Right::metrics,
       .name = "getMetrics",
       .what = "For Prometheus.",
       .reply_type = "text/plain",
       .handle = replying([&app](const Call&) {
         return http::Reply{.content_type = std::string(Metrics::content_type),
                            .body = app.options.metrics ? app.options.metrics() : std::string()};
       })},
      fixed(
          "/openapi.json", "getOpenApi", "This table as OpenAPI 3.1.", "application/json",
          [&app](const Call&) {
            return http::Reply{.body = app.openapi, .fields = {{"Cache-Control", "no-cache"}}};
          },
          "JsonObject"),
      fixed("/docs", "getDocs", "This table to read.", html,
            [&app](const Call&) {
              return page("text/html; charset=utf-8", app.docs, docs_policy, "no-cache");
            }),
      fixed("/docs.css", "getDocsStyle", "How that looks.", "text/css",
            [](const Call&) {
              return page("text/css; charset=utf-8", docs_style(), docs_policy, "no-cache");
            }),
      fixed("/docs/", "getManual", "The manual, where the server was given its site.", html,
            [&app](const Call& call) { return site_file(app.options.site, call, "index.html"); }),
      fixed("/docs/{file*}", "getManualFile", "A page of it, or what a page consists of.",
            "application/octet-stream",
            [&app](const Call& call) {
              return site_file(app.options.site, call, *call.find("file"));
            }),
      fixed("/", "getInspector", "The inspector.", html,
            [](const Call& call) { return front_page(call.request); }),
      fixed("/assets/{file*}", "getInspectorFile", "What the inspector consists of.",
            "application/octet-stream",
            [](const Call& call) {
              return inspector_file(call.request, "/assets/" + *call.find("file"),
                                    "public, max-age=31536000, immutable");
            }),
  };
  for (Route& route : routes) {
    if (route.path.ends_with("{file*}"))
      route.parameters = {
          {.name = "file", .in = Parameter::In::path, .required = true, .what = "Its name."}};
  }
  return routes;
}

}  // namespace undertext
