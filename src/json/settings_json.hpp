// The settings of a conversation and its door, as JSON: what `--config` takes.
//
//     {"tokenLimit":8000,"pairs":"shrink","limits":{"messageBytes":1000000}}
#pragma once

#include <cstdint>
#include <string_view>

#include <undertext/conversation.hpp>
#include <undertext/error.hpp>

#include "json/shape.hpp"

namespace undertext {

struct DoorSettings {
  Settings settings = {};
  // a longer line is too_large; a matter of the door alone
  std::uint64_t line_bytes = std::uint64_t{256} << 20;
};

// invalid_argument: no JSON object, an unknown field, or one of the wrong type. unsupported:
// something that is part of the contract but not of this build. Fields that are absent have their
// defaults, or are as in `own`: summarisers and strategies of the program's.
Result<DoorSettings> read_settings(std::string_view json, Settings own = {});

void describe_settings(Shapes& shapes);  // the shape Settings, and those within

}  // namespace undertext
