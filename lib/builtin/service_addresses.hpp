// What is to be said of the addresses of a Service alone, before it gets any: apiserver/service_ips
// asks it first, the rules of Services (validation_services.cpp) ask it among the others. And of
// the points that a load balancer is reached at. No ports, no policies of traffic. Pure.
#pragma once

#include <set>
#include <string>

#include "builtin/checks.hpp"

namespace kubewatch::builtin {

bool is_headless(const Field& spec);
bool is_external_name(const Field& spec);

// `spec` has its clusterIPs, if it has a clusterIP; `before` is absent for a create.
void check_service_addresses(const Field& spec, const Field& before);

// status.loadBalancer.ingress[]: `known` are addresses that the live object has.
void check_balancer_point(const Field& point, const std::set<std::string>& known);
// The addresses of all of them.
std::set<std::string> balancer_ips(const Field& points);

}  // namespace kubewatch::builtin
