// Models through the protocol: {"query":"model","name":"gpt-4o"},
// {"query":"countTools","tools":[…]}.
#pragma once

#include <string>
#include <string_view>

#include <undertext/conversation.hpp>
#include <undertext/models.hpp>
#include <undertext/view.hpp>

#include "tokens/counting.hpp"

namespace undertext {

// The model of a conversation, with what its settings say in place of what the table does.
Model settled_model(const Settings& settings, std::string_view counting);

// Whether every part of the view's count is exact. Reads messages until one is not; none, where no
// count can be.
bool counts_exactly(const Counting& counting, const View& view);

// {"name":…,"known":true,"row":…,"tokenizer":…,"costs":…,"profiles":[…],"limits":{"window":…,"answer":…,"source":…,"date":…},"prices":{…}}
void append_json(std::string& out, const Model& model);
void append_json(std::string& out, const ToolsCount& count);  // {"tokens":…,"tools":…,"exact":…}

}  // namespace undertext
