// Services and what leads to them.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apiserver/printer_parts.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver::parts {

namespace {

using base::find;

constexpr std::size_t kShown = 3;  // endpoints, ports, hosts

Json cluster_ip(const Json& o, WallTime) {
  const std::string one = text(o, {"spec", "clusterIP"});
  if (!one.empty()) return one;
  const auto all = texts(o, {"spec", "clusterIPs"}, {});
  return all.empty() ? "<none>" : all.front();
}

Json external_ip(const Json& o, WallTime) {
  const std::string type = text(o, {"spec", "type"}, "ClusterIP");
  if (type == "ExternalName") return text(o, {"spec", "externalName"});
  std::vector<std::string> out;
  if (type == "LoadBalancer") {
    if (std::string points = load_balancer(o); !points.empty()) out.push_back(std::move(points));
  } else if (type != "ClusterIP" && type != "NodePort") {
    return "<unknown>";
  }
  for (auto& ip : texts(o, {"spec", "externalIPs"}, {})) out.push_back(std::move(ip));
  if (out.empty()) return type == "LoadBalancer" ? "<pending>" : "<none>";
  return base::join(out, ",");
}

Json service_ports(const Json& o, WallTime) {
  std::vector<std::string> out;
  each(o, {"spec", "ports"}, [&](const Json& port) {
    const auto node = number(port, {"nodePort"});
    out.push_back(fmt::format("{}{}/{}", number(port, {"port"}),
                              node > 0 ? fmt::format(":{}", node) : "",
                              text(port, {"protocol"}, "TCP")));
  });
  return out.empty() ? "<none>" : base::join(out, ",");
}

// A rule without a host counts among those that are not shown, as in kube-apiserver.
Json hosts(const Json& o, WallTime) {
  std::vector<std::string> out;
  bool more = false;
  each(o, {"spec", "rules"}, [&](const Json& rule) {
    more = more || out.size() == kShown;
    const std::string host = text(rule, {"host"});
    if (!more && !host.empty()) out.push_back(host);
  });
  if (out.empty()) return "*";
  return more ? few_of(out, count(o, {"spec", "rules"})) : base::join(out, ",");
}

Json parameters(const Json& o, WallTime) {
  const Json* given = find(o, {"spec", "parameters"});
  if (given == nullptr || given->is_null()) return "<none>";
  const std::string group =
      exists(*given, {"apiGroup"}) ? "." + text(*given, {"apiGroup"}) : std::string();
  return text(*given, {"kind"}) + group + "/" + text(*given, {"name"});
}

std::string endpoint(const std::string& ip, const Json& port) {
  const bool six = ip.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", six ? "[" : "", ip, six ? "]" : "", number(port, {"port"}));
}

// Each address with each port, of which an object may have thousands: only what is shown is made.
Json endpoints(const Json& o, WallTime) {
  if (count(o, {"subsets"}) == 0) return "<none>";
  std::vector<std::string> shown;
  std::size_t all = 0;
  each(o, {"subsets"}, [&](const Json& subset) {
    auto addresses = texts(subset, {"addresses"}, {"ip"});
    const std::size_t ports = count(subset, {"ports"});
    all += addresses.size() * std::max<std::size_t>(ports, 1);
    if (addresses.size() > kShown) addresses.resize(kShown);
    if (ports == 0) shown.insert(shown.end(), addresses.begin(), addresses.end());
    each(subset, {"ports"}, [&](const Json& port) {
      if (shown.size() >= kShown) return;
      for (const auto& ip : addresses) shown.push_back(endpoint(ip, port));
    });
  });
  if (shown.size() > kShown) shown.resize(kShown);
  return few_of(shown, all);
}

Json slice_ports(const Json& o, WallTime) {
  std::vector<std::string> out;
  each(o, {"ports"}, [&](const Json& port) {
    const std::string name = exists(port, {"name"}) ? text(port, {"name"}) : "*";
    out.push_back(shown(port, {"port"}, name.c_str()));
  });
  const std::string text = first_few(std::move(out), kShown);
  return text.empty() ? "<unset>" : text;
}

Json slice_endpoints(const Json& o, WallTime) {
  std::vector<std::string> out;
  each(o, {"endpoints"}, [&](const Json& endpoint) {
    for (auto& address : texts(endpoint, {"addresses"}, {})) out.push_back(std::move(address));
  });
  const std::string text = first_few(std::move(out), kShown);
  return text.empty() ? "<unset>" : text;
}

Json parent(const Json& o, WallTime) {
  const Json* ref = find(o, {"spec", "parentRef"});
  if (ref == nullptr || ref->is_null()) return "<none>";
  const std::string group = text(*ref, {"group"});
  std::string out = base::to_lower(text(*ref, {"resource"}) + (group.empty() ? "" : "." + group));
  if (exists(*ref, {"namespace"})) out += "/" + text(*ref, {"namespace"});
  return out + "/" + text(*ref, {"name"});
}

}  // namespace

void add_network(ColumnTable& t) {
  t["services"] = {kName,
                   {"Type", "string", 0, KW_CELL(text(o, {"spec", "type"}, "ClusterIP"))},
                   {"Cluster-IP", "string", 0, cluster_ip},
                   {"External-IP", "string", 0, external_ip},
                   {"Port(s)", "string", 0, service_ports},
                   kAge,
                   {"Selector", "string", 1, KW_CELL(pairs(find(o, {"spec", "selector"})))}};
  t["ingresses.networking.k8s.io"] = {
      kName,
      {"Class", "string", 0, KW_CELL(text(o, {"spec", "ingressClassName"}, "<none>"))},
      {"Hosts", "string", 0, hosts},
      {"Address", "string", 0, KW_CELL(load_balancer(o))},
      {"Ports", "string", 0, KW_CELL(count(o, {"spec", "tls"}) > 0 ? "80, 443" : "80")},
      kAge};
  t["ingressclasses.networking.k8s.io"] = {
      {"Name", "string", 0,
       KW_CELL(default_name(o, "ingressclass.kubernetes.io/is-default-class"))},
      {"Controller", "string", 0, KW_CELL(text(o, {"spec", "controller"}))},
      {"Parameters", "string", 0, parameters},
      kAge};
  t["networkpolicies.networking.k8s.io"] = {
      kName,
      {"Pod-Selector", "string", 0, KW_CELL(selector(find(o, {"spec", "podSelector"}), "<none>"))},
      kAge};
  t["endpoints"] = {kName, {"Endpoints", "string", 0, endpoints}, kAge};
  t["endpointslices.discovery.k8s.io"] = {
      kName,
      {"AddressType", "string", 0, KW_CELL(text(o, {"addressType"}))},
      {"Ports", "string", 0, slice_ports},
      {"Endpoints", "string", 0, slice_endpoints},
      kAge};
  t["servicecidrs.networking.k8s.io"] = {
      kName,
      {"CIDRs", "string", 0, KW_CELL(base::join(texts(o, {"spec", "cidrs"}, {}), ","))},
      kAge};
  t["ipaddresses.networking.k8s.io"] = {kName, {"ParentRef", "string", 0, parent}};
}

}  // namespace kubewatch::apiserver::parts
