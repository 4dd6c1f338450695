// All of Undertext.
#pragma once

#include <string_view>

#include <undertext/blocks.hpp>
#include <undertext/cache_break.hpp>
#include <undertext/change.hpp>
#include <undertext/client.hpp>
#include <undertext/compression.hpp>
#include <undertext/context_tools.hpp>
#include <undertext/conversation.hpp>
#include <undertext/dialect.hpp>
#include <undertext/dialect_name.hpp>
#include <undertext/edit_cost.hpp>
#include <undertext/embeddings.hpp>
#include <undertext/error.hpp>
#include <undertext/export.hpp>
#include <undertext/history.hpp>
#include <undertext/identity.hpp>
#include <undertext/ids.hpp>
#include <undertext/index_store.hpp>
#include <undertext/ledger.hpp>
#include <undertext/message.hpp>
#include <undertext/models.hpp>
#include <undertext/operation.hpp>
#include <undertext/outcome.hpp>
#include <undertext/query.hpp>
#include <undertext/recall.hpp>
#include <undertext/request_record.hpp>
#include <undertext/response.hpp>
#include <undertext/settings.hpp>
#include <undertext/store.hpp>
#include <undertext/store_ledger.hpp>
#include <undertext/store_recall.hpp>
#include <undertext/summariser.hpp>
#include <undertext/tokenizer.hpp>
#include <undertext/usage.hpp>
#include <undertext/view.hpp>
#include <undertext/view_iterator.hpp>
#include <undertext/work.hpp>

namespace undertext {

// Such as "0.1.0".
UNDERTEXT_API std::string_view library_version();

}  // namespace undertext
