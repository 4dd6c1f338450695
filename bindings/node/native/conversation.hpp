// A conversation as an object of JavaScript.
#pragma once

#include <memory>

#include <node_api.h>
#include <undertext.h>

namespace undertext::node {

void define_conversation(napi_env env);
napi_value make_conversation(napi_env env, std::shared_ptr<undertext_conversation> conversation);

struct CloseSettings {
  void operator()(undertext_settings* settings) const { undertext_settings_close(settings); }
};
using SettingsHandle = std::unique_ptr<undertext_settings, CloseSettings>;
// Of the JSON of the settings, which may be undefined, and the code they may name. Empty where there is neither.
SettingsHandle read_settings(napi_env env, napi_value config, napi_value code);

// A conversation in memory: (config, code).
napi_value new_conversation(napi_env env, napi_value config, napi_value code);

}  // namespace undertext::node
