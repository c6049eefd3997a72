// Which Host and Origin headers a server answers: the guard against DNS rebinding and against web
// pages that talk to a server on the visitor's machine.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace kubewatch::http {

// "[::1]:80" -> "::1", "Example.:80" -> "example".
std::string host_name_of(std::string_view host_and_port);
// "http://example:80" -> "example"; "" for "null" and anything else that has no host.
std::string host_name_of_origin(std::string_view origin);

class HostCheck {
 public:
  HostCheck(std::string_view bound_address, const std::vector<std::string>& hosts);
  // `local_address` is the address that the client reached, so that a server on 0.0.0.0 answers to
  // it.
  bool allows(std::string_view host_header, std::string_view local_address) const;
  // A page of this server itself: its scheme, a name of ours, and the port by which this request
  // came (of its Host header, so that a forwarded port is fine). Another server on this machine is
  // another origin.
  bool allows_origin(std::string_view origin, std::string_view host_header, bool tls,
                     std::string_view local_address) const;

 private:
  bool allows_name(const std::string& name, std::string_view local_address) const;
  std::unordered_set<std::string> names_;
};

}  // namespace kubewatch::http
