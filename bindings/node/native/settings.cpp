#include "settings.hpp"

#include "code.hpp"
#include "values.hpp"

namespace undertext::node {

SettingsHandle read_settings(napi_env env, napi_value config, napi_value code) {
  const bool no_config = is(env, config, napi_undefined), no_code = is(env, code, napi_undefined);
  if (no_config && no_code) return nullptr;
  undertext_settings* made = nullptr;
  Owned error;
  undertext_status status = undertext_settings_new(&made, error.out());
  SettingsHandle settings(made);
  if (status == UNDERTEXT_OK && !no_code) add_code(env, code, made);
  if (status == UNDERTEXT_OK && !no_config)
    status = undertext_settings_read(made, TextIn(env, config, "settings").text(), error.out());
  if (status != UNDERTEXT_OK) throw Refused{status, std::string(error.view())};
  return settings;
}

}  // namespace undertext::node
