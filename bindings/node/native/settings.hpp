// Settings of a conversation: JSON, and the code it may name.
#pragma once

#include <memory>

#include <node_api.h>
#include <undertext.h>

namespace undertext::node {

struct CloseSettings {
  void operator()(undertext_settings* settings) const { undertext_settings_close(settings); }
};
using SettingsHandle = std::unique_ptr<undertext_settings, CloseSettings>;
// Of the JSON of the settings, which may be undefined, and the code they may name. Empty where
// there is neither.
SettingsHandle read_settings(napi_env env, napi_value config, napi_value code);

}  // namespace undertext::node
