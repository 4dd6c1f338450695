// A conversation as an object of JavaScript.
#pragma once

#include <memory>

#include <node_api.h>
#include <undertext.h>

namespace undertext::node {

void define_conversation(napi_env env);
napi_value make_conversation(napi_env env, std::shared_ptr<undertext_conversation> conversation);

// A conversation in memory: (config, code).
napi_value new_conversation(napi_env env, napi_value config, napi_value code);

}  // namespace undertext::node
