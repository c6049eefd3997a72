// Services, and the addresses behind them.
#include <fmt/format.h>

#include <algorithm>

#include "base/strings.hpp"
#include "builtin/go_values.hpp"
#include "builtin/service_addresses.hpp"
#include "builtin/validation_kinds.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kNoneMore = "may not change once set";

// Without a type it is one of the cluster.
bool is_cluster(const Field& spec) {
  return !spec["type"].present() || spec["type"].is("ClusterIP");
}

void check_service_port(const Field& port, bool needs_name, std::set<std::string>& names) {
  const Field name = port["name"];
  if (needs_name && name.empty()) {
    name.required();
  } else if (!name.empty()) {
    name.invalid_each(label_problems(name.text()));
    if (!names.insert(name.text()).second) name.duplicate();
  }
  check_port_number(port["port"]);
  port["protocol"].one_of_required(kProtocols);
  // By default it is the port itself.
  const Field target = port["targetPort"];
  if (target.present()) {
    check_port_or_name(target);
  } else {
    check_port_number(port["port"].at(target.path()));
  }
  const Field protocol = port["appProtocol"];
  if (protocol.present()) protocol.invalid_each(qualified_problems(protocol.text()));
}

void check_external_name(const Field& spec) {
  for (const char* key : {"clusterIPs", "ipFamilies"}) {
    if (!spec[key].empty()) spec[key].forbidden("may not be set for ExternalName services");
  }
  if (spec["ipFamilyPolicy"].present()) {
    spec["ipFamilyPolicy"].forbidden("may not be set for ExternalName services");
  }
  const Field name = spec["externalName"];
  std::string text = name.text();
  if (text.ends_with(".")) text.pop_back();
  if (text.empty()) return name.required();
  for (const auto& problem : subdomain_problems(text)) name.invalid_as(go_quoted(text), problem);
}

void check_type_of_address(const Field& spec) {
  const Field type = spec["type"];
  if (is_external_name(spec)) return check_external_name(spec);
  if (!is_headless(spec) || is_cluster(spec)) return;
  if (!type.is("LoadBalancer") && !type.is("NodePort")) return;
  spec["clusterIPs"]
      .at(spec["clusterIPs"].path() + "[0]")
      .invalid_as("\"None\"", fmt::format("may not be set to 'None' for {} services", type.text()));
}

constexpr std::int64_t kMostAffinitySeconds = 86400;

void check_affinity_config(const Field& spec) {
  const Field affinity = spec["sessionAffinity"];
  affinity.one_of_required({"ClientIP", "None"});
  const Field config = spec["sessionAffinityConfig"];
  if (affinity.is("None") && config.present()) {
    config.forbidden("must not be set when session affinity is None");
  }
  if (!affinity.is("ClientIP")) return;
  const Field seconds = config["clientIP"]["timeoutSeconds"];
  const std::int64_t value = seconds.number_or(1);
  if (value > 0 && value <= kMostAffinitySeconds) return;
  seconds.invalid(fmt::format("must be greater than 0 and less than {}", kMostAffinitySeconds));
}

// Told once each: ports of the node, and of the Service.
void check_port_pairs(const Field& spec) {
  const auto ports = spec["ports"].items();
  const auto protocol = [](const Field& port) {
    return port["protocol"].present() ? port["protocol"].text() : "TCP";
  };
  if (is_cluster(spec)) {
    for (const auto& port : ports) {
      if (port["nodePort"].number_or(0) == 0) continue;
      port["nodePort"].forbidden("may not be used when `type` is 'ClusterIP'");
    }
  }
  std::set<std::string> seen;
  for (const auto& port : ports) {
    const std::int64_t number = port["nodePort"].number_or(0);
    if (number == 0) continue;
    if (!seen.insert(fmt::format("{}/{}", protocol(port), number)).second) {
      port["nodePort"].duplicate();
    }
  }
  seen.clear();
  for (const auto& port : ports) {
    const std::int64_t number = port["port"].number_or(0);
    if (seen.insert(fmt::format("{}/{}", protocol(port), number)).second) continue;
    const Json shown = {{"protocol", protocol(port)}, {"port", number}};
    port.errors().push_back(field_duplicate(port.path(), go_value("ServicePort", shown)));
  }
}

void check_source_ranges(const Field& spec, const Field& before) {
  const Field ranges = spec["loadBalancerSourceRanges"];
  if (ranges.empty()) return;
  const Field told = spec["LoadBalancerSourceRanges"];  // the path as the server spells it
  if (!spec["type"].is("LoadBalancer")) {
    told.forbidden("may only be used when `type` is 'LoadBalancer'");
  }
  const auto known = before["loadBalancerSourceRanges"].texts();
  std::size_t index = 0;
  for (const auto& range : ranges.items()) {
    const Json trimmed = std::string(base::trim(range.text()));
    check_cidr({&trimmed, fmt::format("{}[{}]", told.path(), index++), range.errors()}, known);
  }
}

void check_balancer_class(const Field& spec) {
  const Field name = spec["loadBalancerClass"];
  if (!name.present()) return;
  if (spec["type"].is("LoadBalancer")) return name.invalid_each(qualified_problems(name.text()));
  name.forbidden("may only be used when `type` is 'LoadBalancer'");
}

bool is_reached_from_outside(const Field& spec) {
  const Field type = spec["type"];
  return type.is("LoadBalancer") || type.is("NodePort") ||
         (type.is("ClusterIP") && !spec["externalIPs"].empty());
}

void check_traffic(const Field& spec) {
  const Field outside = spec["externalTrafficPolicy"];
  if (is_reached_from_outside(spec)) {
    outside.one_of_required({"Cluster", "Local"});
  } else if (!outside.empty()) {
    outside.invalid("may only be set for externally-accessible services");
  }
  const Field health = spec["healthCheckNodePort"];
  const bool checked = spec["type"].is("LoadBalancer") && outside.is("Local");
  if (!checked && health.number_or(0) != 0) {
    health.invalid(
        "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'");
  }
  if (checked && health.number_or(0) != 0) check_port_number(health);
  spec["internalTrafficPolicy"].one_of({"Cluster", "Local"});
  spec["trafficDistribution"].one_of({"PreferClose", "PreferSameZone", "PreferSameNode"});
}

void check_service_spec(const Field& spec, const Field& before) {
  const Field ports = spec["ports"];
  if (ports.empty() && !is_headless(spec) && !is_external_name(spec)) ports.required();
  check_type_of_address(spec);
  std::set<std::string> names;
  for (const auto& port : ports.items()) check_service_port(port, ports.size() > 1, names);
  check_labels(spec["selector"]);
  check_affinity_config(spec);
  check_service_addresses(spec, before);
  const auto known = before["externalIPs"].texts();
  for (const auto& ip : spec["externalIPs"].items()) {
    const std::size_t told = ip.errors().size();
    check_ip(ip, known);
    if (ip.errors().size() == told) check_endpoint_ip(ip);
  }
  spec["type"].one_of_required({"ClusterIP", "ExternalName", "LoadBalancer", "NodePort"});
  check_port_pairs(spec);
  check_source_ranges(spec, before);
  const Field allocate = spec["allocateLoadBalancerNodePorts"];
  if (allocate.present() && !spec["type"].is("LoadBalancer")) {
    allocate.forbidden("may only be used when `type` is 'LoadBalancer'");
  }
  check_balancer_class(spec);
  check_traffic(spec);
}

// What an update does not say of addresses stays, and what says otherwise is one address: so it is
// read before it is judged.
Json as_read(const Field& spec, const Field& before) {
  Json out = spec.is_map() ? *spec.json() : Json::object();
  if (!before.present()) return out;
  const bool unchanged = same_field(spec["clusterIPs"], before["clusterIPs"]);
  const Field first = spec["clusterIP"];
  if (unchanged && !same_field(first, before["clusterIP"])) {
    out.erase("clusterIPs");
    if (!first.empty()) out["clusterIPs"] = Json::array({first.text()});
  }
  if (is_external_name(spec) && !is_external_name(before)) {
    for (const char* key : {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"}) {
      if (same_field(spec[key], before[key])) out.erase(key);
    }
  } else if (!is_external_name(spec) && first.empty() && !out.contains("clusterIPs")) {
    for (const char* key : {"clusterIP", "clusterIPs"}) {
      if (before[key].present()) out[key] = *before[key].json();
    }
  }
  return out;
}

// An address that was given once stays.
void check_kept_addresses(const Field& spec, const Field& before) {
  if (is_external_name(spec) || is_external_name(before)) return;
  if (is_headless(spec) && is_headless(before)) return;
  const Field list = spec["clusterIPs"];
  const auto now = list.items();
  const auto then = before["clusterIPs"].items();
  const std::size_t compared = now.size() == then.size() ? now.size() : 1;
  for (std::size_t i = 0; i < std::min(compared, then.size()); ++i) {
    if (now[i].is(then[i].text())) continue;
    list.at(fmt::format("{}[{}]", list.path(), i)).invalid(kNoneMore);
  }
}

void check_service_update(const Field& spec, const Field& before) {
  check_kept_addresses(spec, before);
  const Field name = spec["loadBalancerClass"];
  const bool balancers = spec["type"].is("LoadBalancer") && before["type"].is("LoadBalancer");
  if (balancers && !same_optional(name, before["loadBalancerClass"])) name.invalid(kNoneMore);
  check_balancer_class(spec);
  const auto checked = [](const Field& one) {
    return one["type"].is("LoadBalancer") && one["externalTrafficPolicy"].is("Local");
  };
  const Field health = spec["healthCheckNodePort"];
  if (checked(spec) && checked(before) && !same_field(health, before["healthCheckNodePort"])) {
    health.forbidden("field is immutable");
  }
}

}  // namespace

void check_service(const Field& object, const Json* live) {
  const Json nothing;
  const Field before = Field(live != nullptr ? *live : nothing, object.errors())["spec"];
  const Json read = as_read(object["spec"], before);
  const Field spec(&read, "spec", object.errors());
  if (live != nullptr) check_service_update(spec, before);
  check_service_spec(spec, before);
}

void check_service_status(const Field& object, const Json* live) {
  const Field points = object["status"]["loadBalancer"]["ingress"];
  if (!object["spec"]["type"].is("LoadBalancer")) {
    if (!points.empty()) {
      points.forbidden("may only be used when `spec.type` is 'LoadBalancer'");
    }
    return;
  }
  const Json nothing;
  const Field before(live != nullptr ? *live : nothing, object.errors());
  const auto known = balancer_ips(before["status"]["loadBalancer"]["ingress"]);
  for (const auto& point : points.items()) check_balancer_point(point, known);
}

namespace {

void check_node_name(const Field& name) {
  if (name.present()) name.invalid_each(subdomain_problems(name.text()));
}

void check_endpoint_address(const Field& address) {
  check_ip(address["ip"]);
  const Field host = address["hostname"];
  if (!host.empty()) host.invalid_each(label_problems(host.text()));
  check_node_name(address["nodeName"]);
  check_endpoint_ip(address["ip"]);
}

void check_endpoint_port(const Field& port, bool needs_name) {
  const Field name = port["name"];
  if (needs_name && name.empty()) {
    name.required();
  } else if (!name.empty()) {
    name.invalid_each(label_problems(name.text()));
  }
  check_port_number(port["port"]);
  port["protocol"].one_of_required(kProtocols);
  const Field protocol = port["appProtocol"];
  if (protocol.present()) protocol.invalid_each(qualified_problems(protocol.text()));
}

}  // namespace

void check_endpoints(const Field& object, const Json* live) {
  const Field subsets = object["subsets"];
  if (live != nullptr && same_field(subsets, Field(*live, object.errors())["subsets"])) return;
  for (const auto& subset : subsets.items()) {
    if (subset["addresses"].empty() && subset["notReadyAddresses"].empty()) {
      subset.required("must specify `addresses` or `notReadyAddresses`");
    }
    for (const char* key : {"addresses", "notReadyAddresses"}) {
      for (const auto& address : subset[key].items()) check_endpoint_address(address);
    }
    const Field ports = subset["ports"];
    for (const auto& port : ports.items()) check_endpoint_port(port, ports.size() > 1);
  }
}

namespace {

constexpr std::size_t kMostEndpoints = 1000;
constexpr std::size_t kMostAddresses = 100;
constexpr std::size_t kMostPorts = 20000;
constexpr std::size_t kMostHints = 8;

void check_domain_name(const Field& name) {
  std::string text = name.text();
  if (text.empty()) return name.required();
  if (text.ends_with(".")) text.pop_back();
  const auto problems = subdomain_problems(text);
  if (!problems.empty()) return name.invalid_as(go_quoted(text), problems.front());
  if (text.find('.') != std::string::npos) return;
  name.invalid_as(go_quoted(text),
                  "should be a domain with at least two segments separated by dots");
}

void check_slice_address(const Field& address, const Field& list, const std::string& type) {
  if (type == "FQDN") return check_domain_name(address);
  const std::size_t told = address.errors().size();
  if (type == "IPv6") {
    check_canonical_ip(address);
  } else {
    check_ip(address);
  }
  if (address.errors().size() != told) return;
  if (is_ipv6(address.text()) != (type == "IPv6")) {
    address.at(list.path()).invalid(fmt::format("must be an {} address", type));
  }
  check_endpoint_ip(address);
}

void check_hints(const Field& hints) {
  for (const auto& [key, problems] :
       {std::pair{"forZones", &label_value_problems}, std::pair{"forNodes", &subdomain_problems}}) {
    if (hints[key].size() > kMostHints) return hints[key].too_many(kMostHints);
    std::set<std::string> seen;
    for (const auto& hint : hints[key].items()) {
      const Field name = hint["name"];
      if (!seen.insert(name.text()).second) name.duplicate();
      name.invalid_each(problems(name.text()));
    }
  }
}

void check_slice_endpoint(const Field& endpoint, const std::string& type) {
  const Field addresses = endpoint["addresses"];
  if (addresses.empty()) addresses.required("must contain at least 1 address");
  if (addresses.size() > kMostAddresses) addresses.too_many(kMostAddresses);
  const bool known = type == "IPv4" || type == "IPv6" || type == "FQDN";
  for (const auto& address : addresses.items()) {
    if (known) check_slice_address(address, addresses, type);
  }
  check_node_name(endpoint["nodeName"]);
  const Field host = endpoint["hostname"];
  if (host.present()) host.invalid_each(label_problems(host.text()));
  check_hints(endpoint["hints"]);
}

void check_slice_ports(const Field& ports) {
  if (ports.size() > kMostPorts) return ports.too_many(kMostPorts);
  std::set<std::string> names;
  for (const auto& port : ports.items()) {
    const Field name = port["name"];
    if (!name.empty()) name.invalid_each(label_problems(name.text()));
    if (!names.insert(name.text()).second) name.duplicate();
    port["protocol"].one_of(kProtocols);
    const Field protocol = port["appProtocol"];
    if (protocol.present()) protocol.invalid_each(qualified_problems(protocol.text()));
  }
}

}  // namespace

void check_endpoint_slice(const Field& object, const Json* live) {
  const Field type = object["addressType"];
  if (type.empty()) {
    type.required();
  } else {
    type.one_of({"FQDN", "IPv4", "IPv6"});
  }
  check_slice_ports(object["ports"]);
  const Field endpoints = object["endpoints"];
  const Json nothing;
  const Field before(live != nullptr ? *live : nothing, object.errors());
  if (live == nullptr || !same_field(endpoints, before["endpoints"])) {
    if (endpoints.size() > kMostEndpoints) return endpoints.too_many(kMostEndpoints);
    for (const auto& endpoint : endpoints.items()) check_slice_endpoint(endpoint, type.text());
  }
  if (live != nullptr) type.immutable(before["addressType"]);
}

}  // namespace kubewatch::builtin
