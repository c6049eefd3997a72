#include "apiserver/service_ips.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "apiserver/status.hpp"
#include "base/strings.hpp"
#include "builtin/default_rules.hpp"
#include "builtin/service_addresses.hpp"

namespace kubewatch::apiserver {

using builtin::for_each_at;
using builtin::has_text;
using builtin::is_absent;
using builtin::is_unset;

namespace {

constexpr const char* kNone = "None";
constexpr const char* kRangePrefix = "10.96.";
constexpr std::uint64_t kIps = 65534;  // neither the first nor the last of the range
constexpr std::uint64_t kChosenIps = 256;
constexpr const char* kKubernetesIp = "10.96.0.1";
constexpr std::int64_t kFirstPort = 30000;
constexpr std::int64_t kLastPort = 32767;
constexpr std::uint64_t kChosenPorts = 86;
constexpr const char* kTaken = "already allocated";

using base::string_at;

const Json& spec_of(const Json& service) {
  static const Json none = Json::object();
  const Json* spec = base::find(service, {"spec"});
  return spec != nullptr && spec->is_object() ? *spec : none;
}

std::string type_of(const Json& spec) {
  return string_at(spec, {"type"});
}

bool wants_ip(const Json& spec) {
  return type_of(spec) != "ExternalName";
}

bool has_node_ports(const Json& spec) {
  return type_of(spec) == "NodePort" || type_of(spec) == "LoadBalancer";
}

bool wants_node_ports(const Json& spec) {
  return type_of(spec) == "NodePort" ||
         (type_of(spec) == "LoadBalancer" &&
          spec.value("allocateLoadBalancerNodePorts", Json()) != false);
}

bool wants_health_port(const Json& spec) {
  return type_of(spec) == "LoadBalancer" && has_text(spec, "externalTrafficPolicy", "Local");
}

std::vector<std::string> texts(const Json& spec, const char* list) {
  std::vector<std::string> out;
  const Json* found = base::find(spec, {list});
  if (found == nullptr || !found->is_array()) return out;
  for (const Json& one : *found) out.push_back(one.is_string() ? one.get<std::string>() : "");
  return out;
}

bool is_headless(const Json& spec) {
  return has_text(spec, "clusterIP", kNone);
}

bool selects(const Json& spec) {
  const Json* selector = base::find(spec, {"selector"});
  return selector != nullptr && selector->is_object() && !selector->empty();
}

// The number of an address of the range, from 0; absent for what is none.
std::optional<std::uint64_t> place_of(const std::string& ip) {
  if (!ip.starts_with(kRangePrefix)) return std::nullopt;
  const auto parts = base::split(ip, '.');
  if (parts.size() != 4) return std::nullopt;
  std::uint64_t place = 0;
  for (const std::string& part : {std::string(parts[2]), std::string(parts[3])}) {
    const bool number = !part.empty() && part.size() <= 3 &&
                        part.find_first_not_of("0123456789") == std::string::npos;
    if (!number || std::stoul(part) > 255) return std::nullopt;
    place = place * 256 + std::stoul(part);
  }
  return place;
}

// From 1 to `count`, those above `chosen` first.
template <typename Free>
std::optional<std::uint64_t> pick(std::uint64_t count, std::uint64_t chosen, std::uint64_t seed,
                                  const Free& is_free) {
  const std::uint64_t upper = count - chosen;
  for (std::uint64_t i = 0; i < upper; ++i) {
    const std::uint64_t place = chosen + 1 + (seed % upper + i) % upper;
    if (is_free(place)) return place;
  }
  for (std::uint64_t place = 1; place <= chosen; ++place) {
    if (is_free(place)) return place;
  }
  return std::nullopt;
}

std::string ip_at(std::uint64_t place) {
  return fmt::format("{}{}.{}", kRangePrefix, place / 256, place % 256);
}

Error refused(const Json& service, const std::string& field, const std::string& shown,
              const std::string& why) {
  return invalid({"", "Service", string_at(service, {"metadata", "name"})},
                 {field_invalid(field, shown, why)});
}

std::string shown(const Json& spec, const char* key) {
  return base::dump_json(spec.value(key, Json()));
}

bool is_v6(const std::string& ip) {
  return ip.find(':') != std::string::npos;
}

// What clients that know only one of the two fields leave out.
void keep_ips(const Json& live, Json& spec) {
  if (!wants_ip(live) || !wants_ip(spec)) return;
  if (is_unset(spec, "clusterIP") && !is_unset(live, "clusterIP")) {
    spec["clusterIP"] = live.at("clusterIP");
  }
  if (is_unset(spec, "clusterIPs") && !is_unset(live, "clusterIPs")) {
    spec["clusterIPs"] = live.at("clusterIPs");
  }
}

void mirror_ips(const Json* live, Json& spec) {
  if (is_unset(spec, "clusterIP")) return;
  const bool followed = live != nullptr &&
                        texts(*live, "clusterIPs") == texts(spec, "clusterIPs") &&
                        string_at(*live, {"clusterIP"}) != string_at(spec, {"clusterIP"});
  if (is_unset(spec, "clusterIPs") || followed) {
    spec["clusterIPs"] = Json::array({spec.at("clusterIP")});
  }
}

Result<void> invalid_unless_empty(const Json& service, const FieldErrors& errors) {
  if (errors.empty()) return {};
  return invalid({"", "Service", string_at(service, {"metadata", "name"})}, errors);
}

// What no address can be given to.
Result<void> check_addresses(const Json* live, const Json& service, const Json& spec) {
  FieldErrors errors;
  builtin::check_service_addresses({&spec, "spec", errors}, {live, "spec", errors});
  return invalid_unless_empty(service, errors);
}

// Who wants one family now and says no more than that wants the first of the two.
void release_family(const Json& live, Json& spec) {
  auto families = texts(spec, "ipFamilies");
  if (!has_text(spec, "ipFamilyPolicy", "SingleStack")) return;
  if (families.size() < 2 || families != texts(live, "ipFamilies")) return;
  families.resize(1);
  spec["ipFamilies"] = families;
}

void check_released(const Json& live, const Json& spec, FieldErrors& errors) {
  if (has_text(spec, "ipFamilyPolicy", "SingleStack")) return;
  for (const auto& [list, what] :
       {std::pair{"clusterIPs", "cluster IP"}, std::pair{"ipFamilies", "IP family"}}) {
    const std::size_t now = texts(spec, list).size();
    if (now == 0 || now >= texts(live, list).size()) continue;
    errors.push_back(
        field_invalid("spec.ipFamilyPolicy", shown(spec, "ipFamilyPolicy"),
                      fmt::format("must be 'SingleStack' to release the secondary {}", what)));
  }
}

Result<void> check_single_stack(const Json* live, const Json& service, const Json& spec) {
  FieldErrors errors;
  if (live != nullptr) check_released(*live, spec, errors);
  const bool single = has_text(spec, "ipFamilyPolicy", "SingleStack");
  for (const auto& [list, what] :
       {std::pair{"clusterIPs", "cluster IPs"}, std::pair{"ipFamilies", "IP families"}}) {
    if (!single || texts(spec, list).size() != 2) continue;
    errors.push_back(field_invalid(
        "spec.ipFamilyPolicy", shown(spec, "ipFamilyPolicy"),
        fmt::format("must be 'RequireDualStack' or 'PreferDualStack' when multiple {} are "
                    "specified",
                    what)));
  }
  const auto ips = texts(spec, "clusterIPs");
  for (std::size_t i = texts(spec, "ipFamilies").size(); i < ips.size(); ++i) {
    if (!is_v6(ips[i])) continue;
    errors.push_back(field_invalid(fmt::format("spec.clusterIPs[{}]", i), shown(spec, "clusterIPs"),
                                   "IPv6 is not configured on this cluster"));
  }
  return invalid_unless_empty(service, errors);
}

Result<void> check_families(const Json& service, const Json& spec) {
  FieldErrors errors;
  if (has_text(spec, "ipFamilyPolicy", "RequireDualStack")) {
    errors.push_back(field_invalid("spec.ipFamilyPolicy", shown(spec, "ipFamilyPolicy"),
                                   "this cluster is not configured for dual-stack services"));
  }
  std::size_t index = 0;
  for (const std::string& family : texts(spec, "ipFamilies")) {
    const std::string field = fmt::format("spec.ipFamilies[{}]", index++);
    if (family != "IPv6") continue;
    errors.push_back(field_invalid(field, "\"IPv6\"", "not configured on this cluster"));
  }
  return invalid_unless_empty(service, errors);
}

// This cluster knows IPv4 only. A Service without addresses and without Pods of its own may still
// say what it likes.
Result<void> fill_families(const Json* live, const Json& service, Json& spec) {
  const bool free = is_headless(spec) && !selects(spec);
  if (is_absent(spec, "ipFamilyPolicy")) {
    const std::string before = live == nullptr ? "" : string_at(*live, {"ipFamilyPolicy"});
    const std::string standard = free ? "RequireDualStack" : "SingleStack";
    spec["ipFamilyPolicy"] = before.empty() ? standard : before;
  }
  KW_TRY(check_addresses(live, service, spec));
  if (live != nullptr) release_family(*live, spec);
  KW_TRY(check_single_stack(live, service, spec));
  if (!free) KW_TRY(check_families(service, spec));
  auto families = texts(spec, "ipFamilies");
  if (families.empty()) families.emplace_back("IPv4");
  if (free && families.size() == 1 && !has_text(spec, "ipFamilyPolicy", "SingleStack")) {
    families.emplace_back(families.front() == "IPv4" ? "IPv6" : "IPv4");
  }
  spec["ipFamilies"] = families;
  return {};
}

// What all Services hold, but for one. A dry run takes nothing from them: it may have what they
// have of addresses, and ports from beyond the range.
class Others {
 public:
  Others(const ServiceHoldings& all, const Json* but, bool dry_run) : all_(all), dry_(dry_run) {
    if (but != nullptr) add_holdings(*but, own_);
  }
  bool dry_run() const { return dry_; }
  bool have(const std::string& ip) const { return all_.ips.count(ip) > own_.ips.count(ip); }
  bool have(std::int64_t port) const { return all_.ports.count(port) > own_.ports.count(port); }

 private:
  const ServiceHoldings& all_;
  ServiceHoldings own_;
  bool dry_;
};

// One address, as asked for or any.
Result<void> fill_ip(const Json& service, Json& spec, const Others& others, std::uint64_t seed) {
  const auto given = texts(spec, "clusterIPs");
  const std::string wanted = given.empty() ? "" : given.front();
  if (wanted == kNone) return {};
  if (wanted.empty()) {
    const auto ip = next_cluster_ip([&](const std::string& one) { return others.have(one); }, seed);
    if (!ip) {
      return internal_error(
          fmt::format("Internal error occurred: failed to allocate a serviceIP for Service \"{}\": "
                      "range is full",
                      string_at(service, {"metadata", "name"})));
    }
    spec["clusterIP"] = *ip;
    spec["clusterIPs"] = Json::array({*ip});
    return {};
  }
  const auto place = place_of(wanted);
  std::string why;
  if (!place || *place == 0 || *place > kIps) {
    // Of several ranges none is asked; a dry run asks any.
    why = others.dry_run()
              ? fmt::format(
                    "the provided IP ({}) is not in the valid range. The range of valid "
                    "IPs is {}0.0/16",
                    wanted, kRangePrefix)
              : "the provided network does not match the current range";
  } else if (!others.dry_run() && others.have(wanted)) {
    why = fmt::format("provided IP is {}", kTaken);
  }
  if (why.empty()) return {};
  return refused(service, "spec.clusterIPs", shown(spec, "clusterIPs"),
                 fmt::format("failed to allocate IP {}: {}", wanted, why));
}

std::set<std::int64_t> node_ports(const Json& spec) {
  std::set<std::int64_t> out;
  const Json* ports = base::find(spec, {"ports"});
  if (ports == nullptr || !ports->is_array()) return out;
  for (const Json& port : *ports) {
    if (const auto number = base::int_at(port, {"nodePort"}).value_or(0)) out.insert(number);
  }
  return out;
}

// Hands out node ports to one Service.
class Ports {
 public:
  Ports(const Others& others, std::uint64_t seed) : others_(others), seed_(seed) {}

  void hold(const std::set<std::int64_t>& ports) { taken_.insert(ports.begin(), ports.end()); }
  // "" or why not.
  std::string take(std::int64_t port) {
    if (!others_.dry_run() && (port < kFirstPort || port > kLastPort)) {
      return fmt::format(
          "provided port is not in the valid range. The range of valid ports is {}-{}", kFirstPort,
          kLastPort);
    }
    if (is_taken(port)) return fmt::format("provided port is {}", kTaken);
    taken_.insert(port);
    return "";
  }
  Result<std::int64_t> take_any() {
    const auto port = next_node_port([this](std::int64_t one) { return is_taken(one); }, seed_);
    if (!port) {
      return internal_error(
          "Internal error occurred: failed to allocate a nodePort: range is full");
    }
    taken_.insert(*port);
    return *port;
  }

 private:
  bool is_taken(std::int64_t port) const { return taken_.count(port) != 0 || others_.have(port); }

  const Others& others_;
  std::set<std::int64_t> taken_;  // by this one
  std::uint64_t seed_;
};

std::vector<Json*> ports_of(Json& spec) {
  std::vector<Json*> out;
  for_each_at(spec, "ports[]", [&out](Json& port) {
    if (port.is_object()) out.push_back(&port);
  });
  return out;
}

std::int64_t node_port(const Json& port) {
  return base::int_at(port, {"nodePort"}).value_or(0);
}

Error port_refused(const Json& service, std::size_t index, std::int64_t port,
                   const std::string& why) {
  return refused(service, fmt::format("spec.ports[{}].nodePort", index), std::to_string(port), why);
}

// Ports of one number, of which protocols differ, share a node port.
Result<void> new_node_ports(const Json& service, Json& spec, Ports& ports) {
  std::map<std::int64_t, std::int64_t> shared;
  for (const Json* port : ports_of(spec)) {
    const auto number = base::int_at(*port, {"port"}).value_or(0);
    if (node_port(*port) != 0) shared.emplace(number, node_port(*port));
  }
  std::set<std::int64_t> taken_here;
  std::size_t index = 0;
  for (Json* port : ports_of(spec)) {
    const std::size_t at = index++;
    if (node_port(*port) == 0 && !wants_node_ports(spec)) continue;
    const auto number = base::int_at(*port, {"port"}).value_or(0);
    if (shared.count(number) == 0) {
      KW_ASSIGN(shared[number], ports.take_any());
      taken_here.insert(number);
    }
    if (node_port(*port) == 0) (*port)["nodePort"] = shared[number];
    if (node_port(*port) == shared[number] && !taken_here.insert(number).second) continue;
    const std::string why = ports.take(node_port(*port));
    if (!why.empty()) return port_refused(service, at, node_port(*port), why);
  }
  return {};
}

// By name: a port that says no node port keeps the one it had, unless another says that now.
void keep_node_ports(const Json& live, Json& spec) {
  if (!wants_node_ports(live) || !wants_node_ports(spec)) return;
  std::map<std::string, std::int64_t> before;
  const Json* ports = base::find(live, {"ports"});
  if (ports == nullptr || !ports->is_array()) return;
  for (const Json& port : *ports) before[string_at(port, {"name"})] = node_port(port);
  const auto used = node_ports(spec);
  for (Json* port : ports_of(spec)) {
    if (node_port(*port) != 0) continue;
    const auto found = before.find(string_at(*port, {"name"}));
    if (found == before.end() || found->second == 0 || used.count(found->second) != 0) continue;
    (*port)["nodePort"] = found->second;
  }
}

Result<void> updated_node_ports(const Json& service, Json& spec,
                                const std::set<std::int64_t>& before, Ports& ports) {
  std::set<std::pair<std::string, std::int64_t>> seen;
  std::set<std::int64_t> taken_here;
  std::size_t index = 0;
  for (Json* port : ports_of(spec)) {
    const std::size_t at = index++;
    if (node_port(*port) == 0 && !wants_node_ports(spec)) continue;
    if (node_port(*port) == 0) {
      KW_ASSIGN((*port)["nodePort"], ports.take_any());
    } else if (before.count(node_port(*port)) == 0 && taken_here.count(node_port(*port)) == 0) {
      const std::string why = ports.take(node_port(*port));
      if (!why.empty()) return port_refused(service, at, node_port(*port), why);
      taken_here.insert(node_port(*port));
    }
    const std::string protocol = string_at(*port, {"protocol"});
    if (seen.emplace(protocol, node_port(*port)).second) continue;
    return internal_error(fmt::format("duplicate nodePort: {{{} {}}}", protocol, node_port(*port)));
  }
  return {};
}

Result<void> fill_health_port(Json& spec, Ports& ports) {
  const auto wanted = base::int_at(spec, {"healthCheckNodePort"}).value_or(0);
  if (wanted == 0) {
    KW_ASSIGN(spec["healthCheckNodePort"], ports.take_any());
    return {};
  }
  const std::string why = ports.take(wanted);
  if (why.empty()) return {};
  return internal_error(fmt::format(
      "Internal error occurred: failed to allocate requested HealthCheck NodePort {}: {}", wanted,
      why));
}

void drop_same(const Json& live, Json& spec, const char* key) {
  if (live.value(key, Json()) == spec.value(key, Json())) spec.erase(key);
}

// What the new type does not have is dropped where the request only left it as it was.
void drop_unneeded(const Json& live, Json& spec) {
  if (wants_ip(live) && !wants_ip(spec)) {
    if (texts(live, "clusterIPs") == texts(spec, "clusterIPs")) {
      spec.erase("clusterIP");
      spec.erase("clusterIPs");
    }
    drop_same(live, spec, "ipFamilies");
    drop_same(live, spec, "ipFamilyPolicy");
  }
  const auto then = node_ports(live);
  const auto now = node_ports(spec);
  const bool none_new = std::includes(then.begin(), then.end(), now.begin(), now.end());
  if (has_node_ports(live) && !has_node_ports(spec) && none_new) {
    for (Json* port : ports_of(spec)) port->erase("nodePort");
  }
  if (wants_health_port(live) && !wants_health_port(spec)) {
    drop_same(live, spec, "healthCheckNodePort");
  }
  if (type_of(live) == "LoadBalancer" && type_of(spec) != "LoadBalancer") {
    drop_same(live, spec, "allocateLoadBalancerNodePorts");
    drop_same(live, spec, "loadBalancerClass");
  }
  const bool outside =
      has_node_ports(spec) || (type_of(spec) == "ClusterIP" && !is_unset(spec, "externalIPs"));
  if (!outside) drop_same(live, spec, "externalTrafficPolicy");
}

Result<void> new_service(const Json& service, Json& spec, const Others& others,
                         std::uint64_t seed) {
  Ports ports(others, seed);
  mirror_ips(nullptr, spec);
  if (wants_ip(spec)) {
    KW_TRY(fill_families(nullptr, service, spec));
    KW_TRY(fill_ip(service, spec, others, seed));
  }
  if (has_node_ports(spec)) KW_TRY(new_node_ports(service, spec, ports));
  if (wants_health_port(spec)) KW_TRY(fill_health_port(spec, ports));
  return {};
}

Result<void> updated_service(const Json& live, const Json& service, Json& spec,
                             const Others& others, std::uint64_t seed) {
  keep_ips(live, spec);
  keep_node_ports(live, spec);
  if (wants_health_port(live) && wants_health_port(spec) && is_unset(spec, "healthCheckNodePort")) {
    spec["healthCheckNodePort"] = live.value("healthCheckNodePort", Json());
  }
  mirror_ips(&live, spec);
  Ports ports(others, seed);
  const auto before = node_ports(live);
  ports.hold(before);
  if (wants_ip(spec)) KW_TRY(fill_families(&live, service, spec));
  if (wants_ip(spec) && !wants_ip(live)) KW_TRY(fill_ip(service, spec, others, seed));
  if (has_node_ports(spec)) KW_TRY(updated_node_ports(service, spec, before, ports));
  if (wants_health_port(spec) && !wants_health_port(live)) KW_TRY(fill_health_port(spec, ports));
  drop_unneeded(live, spec);
  return {};
}

// Who is no load balancer any more is not reached at its points.
void drop_balancer_points(Json& service) {
  if (type_of(spec_of(service)) == "LoadBalancer") return;
  Json* status = base::find(service, {"status", "loadBalancer"});
  if (status != nullptr) *status = Json::object();
}

template <class OnIp, class OnPort>
void each_holding(const Json& service, const OnIp& on_ip, const OnPort& on_port) {
  const Json& spec = spec_of(service);
  for (const std::string& ip : texts(spec, "clusterIPs")) {
    if (!ip.empty() && ip != kNone) on_ip(ip);
  }
  auto ports = node_ports(spec);
  if (const auto health = base::int_at(spec, {"healthCheckNodePort"}).value_or(0)) {
    ports.insert(health);
  }
  for (const std::int64_t port : ports) on_port(port);
}

// What is left of two addresses is the first, where it is one of ours. Families of another cluster
// are those of its addresses.
void drop_foreign_ips(Json& spec, std::vector<std::string>& told) {
  const auto is_ours = [](const std::string& ip) {
    return ip.empty() || ip == kNone || place_of(ip).has_value();
  };
  const std::string first = string_at(spec, {"clusterIP"});
  std::set<std::string> foreign;
  for (const std::string& ip : texts(spec, "clusterIPs")) {
    if (!is_ours(ip)) foreign.insert(ip);
  }
  if (!is_ours(first)) foreign.insert(first);
  for (const std::string& ip : foreign) {
    told.push_back(fmt::format("the address {} is not of {}", ip, kServiceCidr));
  }
  if (!foreign.empty()) spec.erase("clusterIPs");
  if (!is_ours(first)) spec.erase("clusterIP");
  const auto families = texts(spec, "ipFamilies");
  if (std::find(families.begin(), families.end(), "IPv6") == families.end()) return;
  told.emplace_back("the family IPv6 is not served");
  spec.erase("ipFamilies");
  spec.erase("ipFamilyPolicy");
}

void drop_foreign_port(Json& holder, const char* key, std::vector<std::string>& told) {
  const auto port = base::int_at(holder, {key}).value_or(0);
  if (port == 0 || (port >= kFirstPort && port <= kLastPort)) return;
  told.push_back(fmt::format("the {} {} is not of {}-{}", key, port, kFirstPort, kLastPort));
  holder.erase(key);
}

template <class Value>
void drop_one(std::multiset<Value>& from, const Value& value) {
  if (const auto at = from.find(value); at != from.end()) from.erase(at);
}

}  // namespace

std::vector<std::string> ips_of_service(const Json& service) {
  std::vector<std::string> out;
  each_holding(
      service, [&](const std::string& ip) { out.push_back(ip); }, [](std::int64_t) {});
  return out;
}

void add_holdings(const Json& service, ServiceHoldings& holdings) {
  each_holding(
      service, [&](const std::string& ip) { holdings.ips.insert(ip); },
      [&](std::int64_t port) { holdings.ports.insert(port); });
}

void drop_holdings(const Json& service, ServiceHoldings& holdings) {
  each_holding(
      service, [&](const std::string& ip) { drop_one(holdings.ips, ip); },
      [&](std::int64_t port) { drop_one(holdings.ports, port); });
}

std::vector<std::string> drop_foreign(Json& service) {
  std::vector<std::string> told;
  Json* spec = base::find(service, {"spec"});
  if (spec == nullptr || !spec->is_object()) return told;
  drop_foreign_ips(*spec, told);
  drop_foreign_port(*spec, "healthCheckNodePort", told);
  Json* ports = base::find(*spec, {"ports"});
  if (ports == nullptr || !ports->is_array()) return told;
  for (Json& port : *ports) drop_foreign_port(port, "nodePort", told);
  return told;
}

std::optional<std::string> next_cluster_ip(
    const std::function<bool(const std::string& ip)>& is_taken, std::uint64_t seed) {
  const auto place = pick(kIps, kChosenIps, seed, [&is_taken](std::uint64_t at) {
    const std::string ip = ip_at(at);
    return ip != kKubernetesIp && !is_taken(ip);
  });
  return place ? std::optional(ip_at(*place)) : std::nullopt;
}

std::optional<std::int64_t> next_node_port(const std::function<bool(std::int64_t port)>& is_taken,
                                           std::uint64_t seed) {
  const auto port_at = [](std::uint64_t at) {
    return kFirstPort + static_cast<std::int64_t>(at) - 1;
  };
  const auto place = pick(static_cast<std::uint64_t>(kLastPort - kFirstPort + 1), kChosenPorts,
                          seed, [&](std::uint64_t at) { return !is_taken(port_at(at)); });
  return place ? std::optional(port_at(*place)) : std::nullopt;
}

Result<void> allocate_service(const Json* live, Json& service, const ServiceHoldings& held,
                              std::uint64_t seed, bool dry_run) {
  Json* spec = base::find(service, {"spec"});
  if (spec == nullptr || !spec->is_object()) return {};
  const Others others(held, live, dry_run);
  if (live == nullptr) return new_service(service, *spec, others, seed);
  KW_TRY(updated_service(spec_of(*live), service, *spec, others, seed));
  drop_balancer_points(service);
  return {};
}

}  // namespace kubewatch::apiserver
