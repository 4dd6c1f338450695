// A store as an object of JavaScript.
#pragma once

#include <memory>

#include <node_api.h>
#include <undertext.h>

namespace undertext::node {

struct Call;

void define_store(napi_env env);
napi_value make_store(napi_env env, std::shared_ptr<undertext_store> store);
napi_value open_store(const Call& call);     // (url, options): a promise of the store
napi_value restore_store(const Call& call);  // (url, backup)

}  // namespace undertext::node
