// Views, and whether an answer is still wanted, as objects of JavaScript.
#pragma once

#include <memory>

#include <node_api.h>

#include "code.hpp"

namespace undertext::node {

void define_view(napi_env env);
napi_value make_view(napi_env env, std::shared_ptr<Lent> lent);
napi_value make_cancel(napi_env env, std::shared_ptr<Lent> lent);
napi_value keep_view(napi_env env, undertext_view* view);  // it is closed with the object

}  // namespace undertext::node
