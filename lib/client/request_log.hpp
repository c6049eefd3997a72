// What -v 6 and -v 8 show of a request, and warnings that the server sends along. Headers are never
// shown; bodies only of kinds that hold no secrets.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/time.hpp"
#include "client/request_observer.hpp"
#include "http/message.hpp"

namespace kubewatch::client {

// False for Secrets and tokens. Whatever is not a typed verb is not asked about: it may be one.
bool may_log_body(std::string_view plural, std::string_view subresource);

// `scope`: whose request it is, which its line tells as well; null: nobody's.
void log_request_body(const http::Request& request, const RequestObserverPtr& scope);
void log_answer(const std::string& method, const std::string& url, int status, Duration took,
                const RequestObserverPtr& scope);
void log_no_answer(const std::string& method, const std::string& url, const Error& error,
                   Duration took, const RequestObserverPtr& scope);
void log_answer_body(std::string_view body, const RequestObserverPtr& scope);

// `Warning: 299 - "text", ...` headers, each text once per client. A webhook and a policy may quote
// what was sent: what they say to a write of Secrets and tokens is left out, unless who has sent it
// sits at the terminal that shows it.
class ServerWarnings {
 public:
  // `may_quote`: as may_log_body().
  void report(const http::Request& request, const http::Headers& headers, bool may_quote,
              const RequestObserverPtr& scope);
  void show_all() { shows_all_ = true; }

 private:
  std::set<std::string> seen_;
  bool shows_all_ = false;
};

}  // namespace kubewatch::client
