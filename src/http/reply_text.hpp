// The head of an answer, as text.
#pragma once

#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/http.hpp"

namespace undertext::http {

struct ReplyHead {
  unsigned status = 200;
  std::string_view content_type;
  const std::vector<Field>& fields;
  // none: in chunks, or up to the end of the connection
  std::optional<std::uint64_t> content_length = {};
  bool is_chunked = false;
  bool closes = false;
};

// Made anew when the second has passed.
class DateText {
 public:
  const std::string& now();

 private:
  std::time_t second_ = 0;
  std::string text_;
};

// Fields that could not be sent without breaking the answer's lines are left out.
std::string head_text(const ReplyHead& head, std::string_view date);
std::string relayed_head_text(const RelayedHead& head, bool is_chunked, bool closes);
std::string_view reason_of(unsigned status);
bool may_have_body(unsigned status);
std::string chunk_prefix(std::uint64_t size);

}  // namespace undertext::http
