#include "builtin/service_addresses.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kubewatch::builtin {

bool is_headless(const Field& spec) {
  const auto ips = spec["clusterIPs"].items();
  return ips.empty() ? spec["clusterIP"].is("None") : ips.size() == 1 && ips[0].is("None");
}

bool is_external_name(const Field& spec) {
  return spec["type"].is("ExternalName");
}

namespace {

void check_families(const Field& spec) {
  std::set<std::string> seen;
  for (const auto& family : spec["ipFamilies"].items()) {
    family.one_of({"IPv4", "IPv6"});
    if (!seen.insert(family.text()).second) family.duplicate();
  }
  spec["ipFamilyPolicy"].one_of({"PreferDualStack", "RequireDualStack", "SingleStack"});
}

// False: no more can be said of them.
bool check_cluster_ips(const Field& spec, const Field& before) {
  const Field list = spec["clusterIPs"];
  const auto ips = list.items();
  const auto known = before["clusterIPs"].texts();
  bool good = true;
  for (std::size_t i = 0; i < ips.size(); ++i) {
    const std::size_t told = list.errors().size();
    if (i > 0 || !ips[i].is("None")) {
      check_ip(ips[i], known);
    } else if (ips.size() > 1) {
      list.invalid("'None' must be the first and only value");
    }
    good = good && list.errors().size() == told;
  }
  if (ips.size() > 2) list.invalid("may only hold up to 2 values");
  return good;
}

}  // namespace

void check_service_addresses(const Field& spec, const Field& before) {
  if (is_external_name(spec)) return;
  const Field list = spec["clusterIPs"];
  const auto ips = list.items();
  const Field first = spec["clusterIP"];
  if (!first.empty() && !ips.empty() && !first.is(ips[0].text())) {
    list.invalid("first value must match `clusterIP`");
  }
  if (first.empty() && !ips.empty()) {
    list.invalid("must be empty when `clusterIP` is not specified");
  }
  check_families(spec);
  if (ips.empty() && !first.empty() && !first.is("None")) {
    check_ip(first.at(list.path() + "[0]"), before["clusterIPs"].texts());
  }
  if (!check_cluster_ips(spec, before)) return;
  if (ips.size() > 1) {
    const auto sixes =
        std::count_if(ips.begin(), ips.end(), [](const Field& ip) { return is_ipv6(ip.text()); });
    const bool dual = sixes > 0 && sixes < static_cast<std::ptrdiff_t>(ips.size());
    if (!dual) list.invalid("may specify no more than one IP for each IP family");
  }
  if (is_headless(spec)) return;
  const auto families = spec["ipFamilies"].items();
  for (std::size_t i = 0; i < std::min(ips.size(), families.size()); ++i) {
    const bool six = is_ipv6(ips[i].text());
    if (!families[i].is(six ? "IPv4" : "IPv6")) continue;
    ips[i].invalid(fmt::format("expected an {} value as indicated by `ipFamilies[{}]`",
                               families[i].text(), i));
  }
}

void check_balancer_point(const Field& point, const std::set<std::string>& known) {
  const Field ip = point["ip"];
  const Field mode = point["ipMode"];  // only a Service has it, by default
  if (!ip.empty()) check_ip(ip, known);
  if (ip.empty() && mode.present()) {
    mode.forbidden("may not be specified when `ip` is not set");
  } else {
    mode.one_of({"Proxy", "VIP"});
  }
  const Field host = point["hostname"];
  if (host.empty()) return;
  host.invalid_each(subdomain_problems(host.text()));
  if (is_ip(host.text())) host.invalid("must be a DNS name, not an IP address");
}

std::set<std::string> balancer_ips(const Field& points) {
  std::set<std::string> out;
  for (const auto& point : points.items()) out.insert(point["ip"].text());
  return out;
}

}  // namespace kubewatch::builtin
