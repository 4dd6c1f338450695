// `undertext mcp`: the Model Context Protocol over standard input and output, one message a line.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include <undertext/conversation.hpp>
#include <undertext/store.hpp>

#include "mcp/mcp.hpp"

namespace undertext {

// The loop, over file descriptors. The exit status: 0 at the end of input, 1 when input or output
// fails.
int serve_mcp(const McpOptions& options, int in, int out);

// Conversations of a store, opened once and kept open: the last few that were asked for.
class KeptOpenConversations {
 public:
  explicit KeptOpenConversations(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  std::shared_ptr<Conversation> get(const std::string& id);  // throws Failure

 private:
  struct Kept {
    std::shared_ptr<Conversation> conversation;
    std::uint64_t used = 0;
  };
  std::shared_ptr<Store> store_;
  std::map<std::string, Kept> kept_;
  std::uint64_t uses_ = 0;
};

}  // namespace undertext
