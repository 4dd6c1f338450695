// One assembly for each dialect: fed with events, asked for the message.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <undertext/dialect.hpp>

#include "base/json_text.hpp"

namespace undertext {

class Assembly {
 public:
  virtual ~Assembly() = default;
  virtual void feed(const JsonValue& event) = 0;  // an object
  virtual void build(std::string& message) const = 0;

  StreamAssembler::Streamed state = {};  // all but the message

 protected:
  // The id and the model of the response, where `holder` has them.
  void take_names(const JsonValue& holder, std::string_view id_key = "id",
                  std::string_view model_key = "model");
  // A provider's error in the place of an event.
  bool take_error(const JsonValue& event);
};

std::unique_ptr<Assembly> chat_assembly();
std::unique_ptr<Assembly> responses_assembly();
std::unique_ptr<Assembly> anthropic_assembly();
std::unique_ptr<Assembly> gemini_assembly();

}  // namespace undertext
