// The addresses and node ports of Services: who gets which, keeps it and gives it back, and what is
// refused. Not a network: nothing listens there. Pure; what others hold and chance are arguments.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// What Services hold of the two ranges, 10.96.0.0/16 and 30000 to 32767.
struct ServiceHoldings {
  std::set<std::string> ips;
  std::set<std::int64_t> ports;
};
void add_holdings(const Json& service, ServiceHoldings& holdings);

// Absent when all are taken. The lower part of a range, where people choose their own, comes last.
std::optional<std::string> next_cluster_ip(const std::set<std::string>& taken, std::uint64_t seed);
std::optional<std::int64_t> next_node_port(const std::set<std::int64_t>& taken, std::uint64_t seed);

// Completes a Service that has its defaults, before it is validated: cluster IPs and their
// families, node ports, and on an update what the type no longer needs. `live` is null for a
// create; `others` hold what is taken, this Service aside.
// Errors: as the server words them; what only a validation finds is left to it.
Result<void> allocate_service(const Json* live, Json& service, const ServiceHoldings& others,
                              std::uint64_t seed);

}  // namespace kubewatch::apiserver
