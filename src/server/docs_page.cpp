#include <algorithm>

#include "server/openapi.hpp"
#include "server/shapes.hpp"

namespace undertext {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string type_in_words(const Parameter& parameter) {
  switch (parameter.type) {
    case Parameter::Type::text: return "text";
    case Parameter::Type::id: return "id";
    case Parameter::Type::time: return "time in ms";
    case Parameter::Type::boolean: return "true or false";
    case Parameter::Type::role: return "role";
    case Parameter::Type::roles: return "roles";
    case Parameter::Type::integers: return "integers";
    case Parameter::Type::integer: break;
  }
  std::string out = "integer";
  if (parameter.least && parameter.most)
    out += ", " + std::to_string(*parameter.least) + " to " + std::to_string(*parameter.most);
  if (parameter.otherwise) out += ", else " + std::to_string(*parameter.otherwise);
  return out;
}

std::string_view right_in_words(Right right) {
  switch (right) {
    case Right::none: return "no token";
    case Right::read: return "right read";
    case Right::write: return "right write";
    case Right::metrics: return "right metrics";
    case Right::operate: return "right operate";
  }
  return "";
}

// A type, with the shapes that it names as links.
std::string linked(std::string_view type) {
  std::string out = "<code>";
  for (std::size_t i = 0; i < type.size();) {
    std::size_t end = i;
    while (end < type.size() &&
           ((type[end] >= 'a' && type[end] <= 'z') || (type[end] >= 'A' && type[end] <= 'Z')))
      ++end;
    const std::string word(type.substr(i, std::max<std::size_t>(end - i, 1)));
    const bool is_shape = end > i && server_shapes().find(word) != nullptr;
    out += is_shape ? "<a href=\"#" + word + "\">" + word + "</a>" : escaped(word);
    i += word.size();
  }
  return out + "</code>";
}

void append_shape(std::string& out, const Shape& shape) {
  out += "<section id=\"" + shape.name + "\"><h2>" + shape.name + "</h2>\n<p>" +
         escaped(shape.text) + "</p>\n";
  if (!shape.type.empty()) out += "<p>" + linked(shape.type) + "</p>";
  if (!shape.members.empty()) {
    out += "<table><thead><tr><th>member</th><th>is</th><th>what</th></tr></thead><tbody>\n";
    for (const Member& member : shape.members) {
      out += "<tr><td><code>" + escaped(member.name) + "</code>" +
             (member.required ? "" : " (optional)") + "</td><td>";
      out += linked(member.type) + "</td><td>" + escaped(member.text);
      if (!member.preset.empty()) out += " <code>" + escaped(member.preset) + "</code> by default.";
      out += "</td></tr>\n";
    }
    out += "</tbody></table>\n";
  }
  if (!shape.example.empty()) out += "<pre tabindex=\"0\">" + escaped(shape.example) + "</pre>";
  out += "</section>\n";
}

void append_route(std::string& out, const Route& route) {
  out += "<section id=\"" + escaped(route.name) + "\"><h2><b class=\"" + route.method + "\">" +
         route.method + "</b> <code>" + escaped(route.path) + "</code></h2>\n<p>" +
         escaped(route.what) + " <span>" + std::string(right_in_words(route.right)) +
         "</span></p>\n";
  if (!route.parameters.empty()) {
    out +=
        "<table><thead><tr><th>parameter</th><th>in</th><th>is</th><th>what</th></tr></"
        "thead><tbody>\n";
    for (const Parameter& parameter : route.parameters) {
      constexpr std::string_view places[] = {"path", "query", "header"};
      out += "<tr><td><code>" + escaped(parameter.name) + "</code>" +
             (parameter.required ? " (needed)" : "") + "</td><td>";
      out += places[static_cast<std::size_t>(parameter.in)];
      out += "</td><td>" + type_in_words(parameter) + "</td><td>" + escaped(parameter.what) +
             "</td></tr>\n";
    }
    out += "</tbody></table>\n";
  }
  if (!route.takes.empty()) out += "<h3>Body</h3><p>" + linked(route.takes) + "</p>\n";
  if (route.body == Body::lines) out += "<h3>Body</h3><p>application/x-ndjson</p>\n";
  out += "<h3>Answer " + std::to_string(route.good_status) + "</h3>";
  out +=
      "<p>" + (route.answers.empty() ? escaped(route.reply_type) : linked(route.answers)) + "</p>";
  out += "</section>\n";
}

}  // namespace

std::string docs_page(const std::vector<Route>& routes) {
  std::string out =
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Undertext: "
      "routes</title>\n"
      "<meta name=\"viewport\" content=\"width=device-width\"><link rel=\"stylesheet\" "
      "href=\"/docs.css\"></head><body><main>\n"
      "<h1>Undertext: routes</h1>\n<p>The same for programs: <a "
      "href=\"/openapi.json\">openapi.json</a>. Every failure is "
      "<code>{&quot;ok&quot;:false,&quot;error&quot;:{&quot;code&quot;:…,&quot;field&quot;:…,&quot;"
      "message&quot;:…}}</code>, and "
      "its status "
      "follows from the code.</p>\n<nav><ul>\n";
  for (const Route& route : routes) {
    out += "<li><a href=\"#" + escaped(route.name) + "\"><b class=\"" + route.method + "\">" +
           route.method + "</b> <code>" + escaped(route.path) + "</code></a></li>\n";
  }
  out += "</ul></nav>\n";
  for (const Route& route : routes) append_route(out, route);
  out += "<h1>Shapes</h1>\n";
  for (const Shape& shape : server_shapes().all()) append_shape(out, shape);
  return out + "</main></body></html>\n";
}

std::string_view docs_style() {
  return R"(:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
main { max-width: 60rem; margin: 0 auto; padding: 1rem 1.5rem 4rem; }
h1 { font-size: 1.6rem; }
h2 { font-size: 1.05rem; margin: 2.5rem 0 .25rem; border-top: 1px solid #8886; padding-top: 1rem; overflow-wrap: anywhere; }
h3 { font-size: .85rem; margin: .75rem 0 .25rem; }
code, pre, h2 b, li b { font-family: ui-monospace, monospace; font-size: .9em; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; background: #8881; padding: .5rem .75rem; border-radius: .25rem; margin: 0; }
span { border: 1px solid #8888; border-radius: .25rem; padding: 0 .4rem; font-size: .85em; }
nav ul { list-style: none; padding: 0; columns: 2 24rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .2rem .75rem .2rem 0; border-bottom: 1px solid #8883; }
)";
}

}  // namespace undertext
