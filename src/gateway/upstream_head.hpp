// The head of an upstream's answer, line by line as libcurl reports it. A value: what could be read
// in two ways is refused, so that no two hops read it differently.
#pragma once

#include <cstdint>
#include <string_view>

#include "gateway/upstream_client.hpp"

namespace undertext {

class UpstreamHeadReader {
 public:
  enum class Upgrade : std::uint8_t { refused, allowed };  // 101, which ends HTTP on the connection
  explicit UpstreamHeadReader(Upgrade upgrade = Upgrade::refused) : upgrade_(upgrade) {}

  enum class Progress : std::uint8_t { more, done, refused };
  // done: the head of the answer itself; interim ones (1xx) are dropped. After that, lines are
  // trailers, and dropped too.
  Progress read(std::string_view line);
  UpstreamHead take();  // after `done`, once

 private:
  bool read_status(std::string_view line);
  bool read_field(std::string_view line);
  bool check_framing() const;
  bool check_upgrade() const;

  static constexpr std::size_t bytes_max = 256 << 10;
  Upgrade upgrade_;
  std::size_t bytes_ = 0;
  bool has_status_ = false;
  bool is_done_ = false;
  UpstreamHead head_;
};

}  // namespace undertext
