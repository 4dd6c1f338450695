#include "server/route.hpp"

#include <gtest/gtest.h>

namespace undertext {
namespace {

using In = Parameter::In;
using Type = Parameter::Type;

Route route(std::string method, std::string path) {
  Route route;
  route.method = std::move(method);
  route.path = std::move(path);
  return route;
}

std::vector<Route> some_routes() {
  return {route("GET", "/v1/things"), route("GET", "/v1/things/{id}"),
          route("DELETE", "/v1/things/{id}"), route("GET", "/files/{file*}")};
}

TEST(Routes, a_path_finds_its_route_and_what_stands_in_its_places) {
  const std::vector<Route> routes = some_routes();
  EXPECT_EQ(find_route(routes, "GET", "/v1/things?limit=3").route, &routes[0]);
  const RouteMatch match = find_route(routes, "GET", "/v1/things/a%2fb");
  ASSERT_EQ(match.route, &routes[1]);
  EXPECT_EQ(match.path.find("id")->second, "a/b");
  EXPECT_EQ(find_route(routes, "GET", "/files/a/b.js").path.find("file")->second, "a/b.js");
}

TEST(Routes, a_path_that_none_has_finds_nothing) {
  const std::vector<Route> routes = some_routes();
  for (const char* target : {"", "v1/things", "/", "/v1", "/v1/things/", "/v1/things/a/b",
                             "/v1/thing", "/v1/things/%", "/v1/things/%4", "//v1/things", "*"}) {
    const RouteMatch match = find_route(routes, "GET", target);
    EXPECT_EQ(match.route, nullptr) << target;
    EXPECT_TRUE(match.methods_allowed.empty()) << target;
  }
}

TEST(Routes, head_finds_what_get_does) {
  const std::vector<Route> routes = some_routes();
  const RouteMatch get = find_route(routes, "GET", "/v1/things/a");
  ASSERT_NE(get.route, nullptr);
  EXPECT_EQ(find_route(routes, "HEAD", "/v1/things/a").route, get.route);
}

TEST(Routes, a_method_that_the_path_does_not_have_tells_those_it_has) {
  const std::vector<Route> routes = some_routes();
  const RouteMatch match = find_route(routes, "POST", "/v1/things/a");
  EXPECT_EQ(match.route, nullptr);
  EXPECT_EQ(match.methods_allowed, (std::vector<std::string>{"GET", "HEAD", "DELETE"}));
}

Route with_parameters() {
  Route made = route("GET", "/{id}");
  const auto add = [&](const char* name, Type type, std::optional<std::uint64_t> least = {},
                       std::optional<std::uint64_t> most = {}) {
    Parameter parameter;
    parameter.name = name;
    parameter.type = type;
    parameter.least = least;
    parameter.most = most;
    made.parameters.push_back(parameter);
  };
  add("id", Type::id);
  made.parameters.back().in = In::path;
  made.parameters.back().required = true;
  add("limit", Type::integer, 1, 10);
  made.parameters.back().otherwise = 5;
  add("any", Type::integer);
  add("when", Type::time);
  add("on", Type::boolean);
  add("role", Type::role);
  add("roles", Type::roles);
  add("list", Type::integers, {}, 3);
  add("text", Type::text, 1, 4);
  add("If-Match", Type::text);
  made.parameters.back().in = In::header;
  return made;
}

Result<Parameters> read(const std::string& target, std::vector<http::Field> fields = {}) {
  const std::vector<Route> routes{with_parameters()};
  http::Head head;
  head.target = target;
  head.fields = std::move(fields);
  return read_parameters(routes[0], find_route(routes, "GET", target), head);
}

TEST(Routes, parameters_come_decoded_and_absent_ones_with_what_they_are_otherwise) {
  const Parameters parameters =
      read("/a?text=%c3%a9+x&roles=user,tool&list=1,22&when=-5&on=true", {{"if-match", "\"7\""}})
          .value();
  EXPECT_EQ(parameters.find("text")->second, "é x");
  EXPECT_EQ(parameters.find("roles")->second, "user,tool");
  EXPECT_EQ(parameters.find("limit")->second, "5");
  EXPECT_EQ(parameters.find("If-Match")->second, "\"7\"");
  EXPECT_EQ(parameters.find("any"), parameters.end());
}

TEST(Routes, what_is_unknown_repeated_of_another_type_or_out_of_bounds_is_refused_by_its_name) {
  const std::pair<const char*, const char*> cases[] = {{"/a?limit=0", "limit"},
                                                       {"/a?limit=11", "limit"},
                                                       {"/a?limit=", "limit"},
                                                       {"/a?limit=1x", "limit"},
                                                       {"/a?limit=+1", "limit"},
                                                       {"/a?limit=-1", "limit"},
                                                       {"/a?limit=1.0", "limit"},
                                                       {"/a?limit=01", "limit"},
                                                       {"/a?limit=1&limit=1", "limit"},
                                                       {"/a?nope=1", "nope"},
                                                       {"/a?id=b", "id"},
                                                       {"/a?any=18446744073709551616", "any"},
                                                       {"/a?when=x", "when"},
                                                       {"/a?on=1", "on"},
                                                       {"/a?role=developer", "role"},
                                                       {"/a?roles=user,,tool", "roles"},
                                                       {"/a?roles=", "roles"},
                                                       {"/a?list=1,a", "list"},
                                                       {"/a?list=1,2,3,4", "list"},
                                                       {"/a?text=", "text"},
                                                       {"/a?text=abcde", "text"},
                                                       {"/a?text=%ff", "text"},
                                                       {"/a?text=%", "text"},
                                                       {"/.a", "id"},
                                                       {"/a%20b", "id"},
                                                       {"/a?%=1", ""}};
  for (const auto& [target, field] : cases) {
    const Result<Parameters> result = read(target);
    ASSERT_FALSE(result) << target;
    EXPECT_EQ(result.error().code, ErrorCode::invalid_argument) << target;
    EXPECT_EQ(result.error().field, field) << target;
  }
  EXPECT_EQ(read("/a", {{"If-Match", "\"1\""}, {"If-Match", "\"2\""}}).error().field, "If-Match");
  EXPECT_TRUE(read("/a?any=18446744073709551615"));
}

TEST(Routes, every_code_has_its_status) {
  EXPECT_EQ(http_status(ErrorCode::invalid_argument), 400u);
  EXPECT_EQ(http_status(ErrorCode::not_found), 404u);
  EXPECT_EQ(http_status(ErrorCode::conflict), 409u);
  EXPECT_EQ(http_status(ErrorCode::too_large), 413u);
  EXPECT_EQ(http_status(ErrorCode::cannot_fit), 422u);
  EXPECT_EQ(http_status(ErrorCode::unsupported), 501u);
  EXPECT_EQ(http_status(ErrorCode::unavailable), 503u);
  EXPECT_EQ(http_status(ErrorCode::corrupt), 500u);
  EXPECT_EQ(http_status(ErrorCode::internal), 500u);
  EXPECT_EQ(http_status(ErrorCode::denied), 403u);
  const http::Reply reply = error_reply({ErrorCode::unavailable, "later"});
  EXPECT_EQ(reply.body, R"({"ok":false,"error":{"code":"unavailable","message":"later"}})");
  EXPECT_EQ(reply.fields.at(0).name, "Retry-After");
  EXPECT_EQ(reply.error->code, ErrorCode::unavailable);
}

TEST(Routes, the_cause_of_an_internal_error_is_for_the_log_and_not_for_the_client) {
  const http::Reply reply =
      error_reply({ErrorCode::internal, "/srv/s.db: SQL logic error", "secret", "path"});
  EXPECT_EQ(
      reply.body,
      R"({"ok":false,"error":{"code":"internal","message":"the server failed; its log has the cause"}})");
  EXPECT_EQ(reply.error->message, "/srv/s.db: SQL logic error");
}

}  // namespace
}  // namespace undertext
