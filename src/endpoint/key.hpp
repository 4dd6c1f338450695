// The key an endpoint asks for. It leaves here in one way only: as the value of a header.
#pragma once

#include <string>
#include <string_view>

#include <undertext/error.hpp>
#include <undertext/summariser.hpp>

namespace undertext {

class EndpointKey {
 public:
  // From the environment variable or, when that is not set, from the file; surrounding white space
  // is not part of it. Empty when neither is named. invalid_argument: named but not there, or
  // nothing that can stand in a header; the message never shows it.
  static Result<EndpointKey> read(const EndpointSettings& settings);

  bool empty() const { return value_.empty(); }
  const std::string& value() const { return value_; }

  // What somebody else wrote, for a message to a person: without the key should it be in there,
  // without control characters, short.
  std::string clean(std::string_view text) const;

 private:
  std::string value_;
};

}  // namespace undertext
