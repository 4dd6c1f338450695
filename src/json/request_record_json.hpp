// Records of requests, in and out of JSON.
#pragma once

#include <string>

#include <undertext/conversation.hpp>

#include "json/fields.hpp"

namespace undertext {

// A request to be recorded, with its raw texts.
struct GivenRequest {
  RequestRecord record;
  std::optional<Version> version = {};  // unset: the head
  std::string request = {};
  std::string answer = {};
};
// {"client":…,"dialect":…,"request":"…","answer":"…","version":…,"status":…,…}
void read_given_request(Fields& fields, const MessageLimits& limits, GivenRequest& given);
void describe_given_request(Shapes& shapes);  // the shape GivenRequest
// Records it. Throws Failure.
std::uint64_t record_given(Conversation& conversation, GivenRequest given);

void append_json(std::string& out, const RequestRecord& record);
// The record with its raw texts, where it has any: "request", or "requestBase64" where that is no
// UTF-8.
struct WholeRequest {
  RequestRecord record;
  std::string request = {};
  std::string answer = {};
};
void append_json(std::string& out, const WholeRequest& whole);
Result<WholeRequest> whole_request(const Conversation& conversation, std::uint64_t number,
                                   const std::shared_ptr<Work>& work = {});

}  // namespace undertext
