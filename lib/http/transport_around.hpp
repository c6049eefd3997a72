// What all transports around another one pass on, so that none forgets a part of it. What is done
// with a call is their own.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "http/transport.hpp"

namespace kubewatch::http {

class TransportAround : public Transport {
 public:
  // `inner` must outlive it.
  explicit TransportAround(Transport& inner) : inner_(inner) {}
  Result<void> set_tls(TlsOptions tls) override { return inner_.set_tls(std::move(tls)); }
  std::vector<std::string> secrets() const override { return inner_.secrets(); }
  bool awaits_login() const override { return inner_.awaits_login(); }

 protected:
  Transport& inner_;
};

}  // namespace kubewatch::http
