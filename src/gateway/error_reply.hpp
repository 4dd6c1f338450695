// What the gateway answers itself, in the form in which the client's provider reports errors, so
// that its SDK takes it for one and retries what can be retried.
#pragma once

#include <string_view>

#include "gateway/upstreams.hpp"
#include "http/http.hpp"

namespace undertext {

// `code` is the value of x-undertext-error, such as "upstream_timeout".
http::Reply gateway_error(Provider form, unsigned status, std::string_view code,
                          std::string_view message);

Provider error_form(const GatewayRoute& route);  // of the call's dialect, else of the upstream

}  // namespace undertext
