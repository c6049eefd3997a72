// The requests of one run, or of what is done for an object besides: their lines in the log say
// whose they are, and where there is a trace they are in it. No decisions.
#pragma once

#include <utility>

#include "client/request_observer.hpp"

namespace kubewatch::hooks {

class RunRequests : public client::RequestObserver {
 public:
  explicit RunRequests(base::LogFields fields, client::RequestObserverPtr trace = nullptr)
      : fields_(std::move(fields)), trace_(std::move(trace)) {}

  void on_request(const client::RequestFacts& request) override {
    if (trace_ != nullptr) trace_->on_request(request);
  }
  base::LogFields log_fields() const override { return fields_; }

 private:
  const base::LogFields fields_;
  const client::RequestObserverPtr trace_;  // null: no tracing
};

}  // namespace kubewatch::hooks
