#include "client/server_identity.hpp"

#include <fmt/format.h>

#include "base/fnv.hpp"

namespace kubewatch::client {

ServerIdentity identity_of(const ClientConfig& config) {
  return {config.server,
          fmt::format("{:016x}", base::fnv1a64(config.server + "\n" + config.ca_pem))};
}

std::string why_other(const ServerIdentity& saved, const ServerIdentity& here) {
  if (saved.url.empty()) return "";
  if (saved.url != here.url) return fmt::format("{}, and this is {}", saved.url, here.url);
  if (saved.mark.empty() || saved.mark == here.mark) return "";
  return saved.url + " with another certificate authority";
}

}  // namespace kubewatch::client
