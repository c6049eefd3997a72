// A transport that lets everything through and counts the bytes of answers by kind: for statistics.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "http/transport.hpp"

namespace kubewatch::hooks {

class CountingTransport : public http::Transport {
 public:
  // By "deployments.apps"; what is of no kind (discovery) by "".
  using Counts = std::map<std::string, std::uint64_t>;

  // `inner` must outlive it.
  CountingTransport(http::Transport& inner, std::shared_ptr<Counts> counts)
      : inner_(inner), counts_(std::move(counts)) {}

  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override;
  Result<void> set_tls(http::TlsOptions tls) override { return inner_.set_tls(std::move(tls)); }
  std::vector<std::string> secrets() const override { return inner_.secrets(); }
  bool awaits_login() const override { return inner_.awaits_login(); }

 private:
  http::Transport& inner_;
  std::shared_ptr<Counts> counts_;
};

}  // namespace kubewatch::hooks
