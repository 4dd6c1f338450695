// One row of the table of routes, and a call of it. Everything that is said about routes (what is
// served, who may, OpenAPI, the page of documents, the contract test) is made from these rows.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <undertext/error.hpp>
#include <undertext/work.hpp>

#include "http/http.hpp"

namespace undertext {

enum class Right : std::uint8_t { none, read, write, metrics, operate };

// Who calls. Without tokens: the tenant "" and the name "local".
struct Caller {
  std::string tenant;
  std::string name;  // of the token, for logs and for who took something out
  bool may_write = false;
};

struct Parameter {
  enum class In : std::uint8_t { path, query, header };
  enum class Type : std::uint8_t { text, id, integer, time, boolean, role, roles, integers };
  std::string name;
  In in = In::query;
  Type type = Type::text;
  bool required = false;
  std::string what = {};  // for people, a sentence
  // of an integer; of a text, its bytes; of a list, its length
  std::optional<std::uint64_t> least = {}, most = {};
  std::optional<std::uint64_t> otherwise = {};  // of an integer, when it is absent
  // of a text that is one of a few: their type, of shapes.hpp
  std::string words = {};
};

enum class Body : std::uint8_t { none, json, lines };

using Parameters = std::map<std::string, std::string, std::less<>>;  // by name, decoded

// A request whose parameters are there, of their types and within their bounds; the handler need
// not look again.
struct Call {
  const http::Request& request;
  const Caller& caller;
  Parameters parameters;  // absent ones are not there, unless they have `otherwise`
  std::unique_ptr<http::Exchange> exchange;
  std::shared_ptr<Work> work = {};  // what the request may use up

  const std::string* find(std::string_view name) const;  // null: absent
  bool has(std::string_view name) const { return find(name) != nullptr; }
  std::uint64_t number(std::string_view name) const;                // of an integer that is there
  std::vector<std::uint64_t> numbers(std::string_view name) const;  // of integers that are there
};

struct Route {
  std::string method;
  // such as "/v1/conversations/{id}/messages"; a last place of "{…*}" takes more than one segment
  std::string path;
  Right right = Right::read;
  std::string name = {};  // of the operation in OpenAPI, such as "getMessages"
  std::string what = {};  // for people, a sentence
  std::string tag = {};   // of its group
  std::vector<Parameter> parameters = {};
  Body body = Body::none;
  bool body_may_be_absent = false;
  std::string takes = {};    // the body, as a type of shapes.hpp
  std::string answers = {};  // a good answer, likewise; empty: it is no JSON
  std::string reply_type = "application/json";
  std::vector<std::string> reply_fields = {};  // that a good answer has besides: ETag, Location
  unsigned good_status = 200;
  std::uint64_t body_bytes_max = std::uint64_t{16} << 20;
  // Answers call.exchange, now or later. May throw: the exception is answered, if nothing was
  // before.
  std::function<void(const Call&)> handle = {};
};

struct RouteMatch {
  // null: there is none for this path (404) or method (405)
  const Route* route = nullptr;
  std::vector<std::string> methods_allowed = {};  // of the path, where only the method is wrong
  Parameters path = {};                           // what stands in the places of {…}, decoded
};
// HEAD finds what GET does: the wire leaves the body out.
RouteMatch find_route(const std::vector<Route>& routes, std::string_view method,
                      std::string_view target);

// What the route asks for, from path, query and fields. invalid_argument with the parameter as
// `field`: one that is missing, unknown, given twice, not of its type or out of its bounds.
Result<Parameters> read_parameters(const Route& route, const RouteMatch& match,
                                   const http::Head& head);

unsigned http_status(ErrorCode code);
// `internal` without its cause, which is for the log alone
Error told_to_client(const Error& error);
http::Reply error_reply(Error error, unsigned status = 0);  // 0: what follows from its code

}  // namespace undertext
