// The addresses and node ports of Services: who gets which, keeps it and gives it back, and what is
// refused. Not a network: nothing listens there. Pure; what others hold and chance are arguments.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

inline constexpr const char* kServiceCidr = "10.96.0.0/16";

// The addresses that a Service has.
std::vector<std::string> ips_of_service(const Json& service);

// What Services hold of the two ranges, kServiceCidr and 30000 to 32767: each as many times as
// there are holders.
struct ServiceHoldings {
  std::multiset<std::string> ips;
  std::multiset<std::int64_t> ports;
};
void add_holdings(const Json& service, ServiceHoldings& holdings);
// Precondition: they were added.
void drop_holdings(const Json& service, ServiceHoldings& holdings);

// Of a Service that another cluster saved: takes away the addresses, families and node ports from
// beyond the ranges, so that it gets others, and tells each of them.
std::vector<std::string> drop_foreign(Json& service);

// Absent when all are taken. The lower part of a range, where people choose their own, comes last.
std::optional<std::string> next_cluster_ip(
    const std::function<bool(const std::string& ip)>& is_taken, std::uint64_t seed);
std::optional<std::int64_t> next_node_port(const std::function<bool(std::int64_t port)>& is_taken,
                                           std::uint64_t seed);

// Completes a Service that has its defaults, before it is validated: cluster IPs and their
// families, node ports, and on an update what the type no longer needs. `live` is null for a
// create; `held` is what all hold, `live` among them. A dry run may ask for an address that is
// taken, and for a port from beyond the range.
// Errors: as the server words them; what only a validation finds is left to it.
Result<void> allocate_service(const Json* live, Json& service, const ServiceHoldings& held,
                              std::uint64_t seed, bool dry_run = false);

}  // namespace kubewatch::apiserver
