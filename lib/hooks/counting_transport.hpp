// A transport that lets everything through and counts the bytes of answers by kind: for statistics.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "http/transport_around.hpp"

namespace kubewatch::hooks {

class CountingTransport : public http::TransportAround {
 public:
  // By "deployments.apps"; what is of no kind (discovery) by "".
  using Counts = std::map<std::string, std::uint64_t>;

  // `inner` must outlive it.
  CountingTransport(http::Transport& inner, std::shared_ptr<Counts> counts)
      : TransportAround(inner), counts_(std::move(counts)) {}

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override;

 private:
  std::shared_ptr<Counts> counts_;
};

}  // namespace kubewatch::hooks
