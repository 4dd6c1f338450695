// What providers reported of requests, in and out of JSON.
#pragma once

#include <string>

#include <undertext/usage.hpp>

#include "json/fields.hpp"

namespace undertext {

struct UsageReport {
  RequestUsage usage;
  bool final = true;  // false: more will be reported of the same request
};

// {"requestId":…,"model":…,"prompt":…,"completion":…,"cached":…,"total":…,"cost":…,"timestamp":…,"estimatedPrompt":…,"final":…}
void read_usage(Fields& fields, UsageReport& report);
void read_request_usage(Fields& fields, RequestUsage& usage);  // the same without `final`
void append_json(std::string& out, const RequestUsage& usage);
void describe_usage(Shapes& shapes);  // the shape UsageReport

// {"totals":{…},"models":[{"model":…,"totals":{…},"factor":…,"learnedFrom":…}],"open":[…],"recent":[…]}:
// the last hundred requests, the newest last
void append_json(std::string& out, const UsageTracker& usage);
// What append_json() wrote, or nothing at all: {}.
void read_usage_state(Fields& fields, UsageState& state);

}  // namespace undertext
