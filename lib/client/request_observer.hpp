// Told of each request that a Client has sent and got an answer to, or none. One observer sees all
// of them (counters); another one sees those of a piece of work (a trace): whoever starts the work
// opens a RequestScope, and every request that follows from it by callbacks belongs to it as well.
// Watches are not told.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace kubewatch::client {

// Valid during the call.
struct RequestFacts {
  std::string_view what;    // `apply deployments.apps "web" in namespace "shop"`
  std::string_view method;  // "PATCH"
  std::string_view url;
  int status = 0;                // 0: no answer
  const Error* error = nullptr;  // of no answer
  Duration took{0};
  // The first word of `what`: get, list, create, update, apply, patch, delete.
  std::string_view verb() const { return what.substr(0, what.find(' ')); }
};

class RequestObserver {
 public:
  virtual ~RequestObserver() = default;
  virtual void on_request(const RequestFacts& request) = 0;
  // Whose requests they are, for their lines in the log.
  virtual base::LogFields log_fields() const { return {}; }
};
using RequestObserverPtr = std::shared_ptr<RequestObserver>;

// Who is told of the requests that start now. Owned by a Client's sender.
struct RequestObservers {
  RequestObserver* all = nullptr;
  RequestObserverPtr current;
  void tell(const RequestObserverPtr& scope, const RequestFacts& request) const {
    if (all != nullptr) all->on_request(request);
    if (scope != nullptr) scope->on_request(request);
  }
};

// While it lives, requests that start belong to `observer` (null: to nobody). On the stack only.
class RequestScope {
 public:
  RequestScope(RequestObservers& observers, RequestObserverPtr observer)
      : observers_(observers), before_(std::move(observers.current)) {
    observers_.current = std::move(observer);
  }
  ~RequestScope() { observers_.current = std::move(before_); }
  RequestScope(const RequestScope&) = delete;
  RequestScope& operator=(const RequestScope&) = delete;

 private:
  RequestObservers& observers_;
  RequestObserverPtr before_;
};

}  // namespace kubewatch::client
