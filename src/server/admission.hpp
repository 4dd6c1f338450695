// Whether a request may go on, decided on its head alone, before a byte of its body is read. In
// this order: Host, Origin, route and method, token, right, rate, kind of body.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/http.hpp"
#include "server/rates.hpp"
#include "server/route.hpp"
#include "server/tokens.hpp"

namespace undertext {

http::Reply token_needed();  // 401

// every address of the machine, and so the name of none
bool is_wildcard(std::string_view address);

// The names by which the server may be called. A page of another site whose name is made to lead
// here (DNS rebinding) comes with that name.
class Hosts {
 public:
  // `address` is what it listens on. `more` are NAME, with the server's port or none, or NAME:PORT.
  Hosts(std::string_view address, std::uint16_t port, bool secure,
        const std::vector<std::string>& more);
  bool allow(std::string_view authority) const;

 private:
  std::vector<std::string> allowed_;  // as in a Host field, in small letters
};

struct AdmissionLimits {
  double requests_per_second = 2000;  // of one token; twice as many at once
  double failures_per_second = 1;     // of one peer: requests with a wrong token, or none
  double failures_at_once = 20;
  double all_failures_per_second = 100;  // of all peers together
  double open_per_second = 200;          // of one peer: what takes no token; twice as many at once
};

// Any thread may call it; it never waits.
class Admission {
 public:
  struct Now {
    std::chrono::steady_clock::time_point steady;  // for rates
    std::int64_t ms = 0;                           // for what a token says of its end
  };
  struct Verdict {
    RouteMatch match = {};
    Caller caller = {};
    std::optional<http::Reply> refusal = {};
  };

  // `tokens` null: whoever reaches the server may do everything. Borrows both.
  Admission(const std::vector<Route>& routes, Tokens* tokens, Hosts hosts,
            AdmissionLimits limits = {});

  // Once for each request, whose rates it counts.
  Verdict decide(const http::Head& head, Now now);

 private:
  Verdict identify(const http::Head& head, Now now, bool& failed) const;

  const std::vector<Route>& routes_;
  Tokens* const tokens_;
  const Hosts hosts_;
  Rates requests_, failures_, all_failures_, open_;
};

}  // namespace undertext
