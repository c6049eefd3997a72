// What -v 6 and -v 8 show of a request, and warnings that the server sends along. Headers are never
// shown; bodies only of kinds that hold no secrets.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "core/resource.hpp"
#include "http/message.hpp"

namespace kubewatch::client {

// False for Secrets, tokens and whatever is not a typed verb.
bool may_log_body(const core::ResourceType* type, std::string_view subresource);

void log_request_body(const http::Request& request);
void log_answer(const std::string& method, const std::string& url, int status, Duration took);
void log_no_answer(const std::string& method, const std::string& url, const Error& error,
                   Duration took);
void log_answer_body(std::string_view body);

// `Warning: 299 - "text"` headers, each text once per client.
class ServerWarnings {
 public:
  void report(const http::Headers& headers);

 private:
  std::set<std::string> seen_;
};

}  // namespace kubewatch::client
