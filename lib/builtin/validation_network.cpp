// Who may talk to whom, what comes in from outside, and the addresses of Services: NetworkPolicies,
// Ingresses, ServiceCIDRs and IPAddresses.
#include <fmt/format.h>

#include "builtin/service_addresses.hpp"
#include "builtin/validation_kinds.hpp"
#include "core/resource.hpp"

namespace kubewatch::builtin {

namespace {

using Ranges = std::set<std::string>;

void check_policy_port(const Field& rule) {
  rule["protocol"].one_of({"TCP", "UDP", "SCTP"});
  const Field port = rule["port"];
  const Field end = rule["endPort"];
  if (!port.present()) {
    if (end.present()) end.invalid("may not be specified when `port` is not specified");
    return;
  }
  if (port.is_text()) {
    if (end.present()) end.invalid("may not be specified when `port` is non-numeric");
    return port.invalid_each(port_name_problems(port.text()));
  }
  check_port_number(port);
  if (!end.present()) return;
  if (end.number_or(0) < port.number_or(0)) {
    end.invalid_as(port.shown(), "must be greater than or equal to `port`");
  }
  check_port_number(end);
}

void check_ip_block(const Field& block, const Ranges& known) {
  const Field range = block["cidr"];
  if (range.empty()) return range.required();
  check_cidr(range, known);
  for (const auto& part : block["except"].items()) {
    check_cidr(part, known);
    if (!is_strict_subset(range.text(), part.text())) {
      part.invalid("must be a strict subset of `cidr`");
    }
  }
}

void check_peer(const Field& peer, const Ranges& known) {
  const Field pods = peer["podSelector"];
  const Field namespaces = peer["namespaceSelector"];
  const Field block = peer["ipBlock"];
  check_label_selector(pods);
  check_label_selector(namespaces);
  if (block.present()) check_ip_block(block, known);
  const bool selects = pods.present() || namespaces.present();
  if (!selects && !block.present()) return peer.required("must specify a peer");
  if (selects && block.present()) peer.forbidden("may not specify both ipBlock and another peer");
}

struct Way {
  const char* rules;
  const char* peers;
};
constexpr Way kWays[] = {{"ingress", "from"}, {"egress", "to"}};

// What the live object has may stay as it is.
Ranges ranges_of(const Field& spec) {
  Ranges out;
  for (const Way& way : kWays) {
    for (const auto& rule : spec[way.rules].items()) {
      for (const auto& peer : rule[way.peers].items()) {
        out.insert(peer["ipBlock"]["cidr"].text());
        for (const auto& part : peer["ipBlock"]["except"].items()) out.insert(part.text());
      }
    }
  }
  return out;
}

}  // namespace

void check_network_policy(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  const Ranges known =
      live != nullptr ? ranges_of(Field(*live, object.errors())["spec"]) : Ranges();
  check_label_selector(spec["podSelector"]);
  for (const Way& way : kWays) {
    for (const auto& rule : spec[way.rules].items()) {
      for (const auto& port : rule["ports"].items()) check_policy_port(port);
      for (const auto& peer : rule[way.peers].items()) check_peer(peer, known);
    }
  }
  const Field policies = spec["policyTypes"];
  if (policies.size() > 2) return policies.invalid("may not specify more than two policyTypes");
  for (const auto& type : policies.items()) type.one_of({"Ingress", "Egress"});
}

namespace {

void check_reference(const Field& ref) {
  if (!ref.present()) return;
  const Field group = ref["apiGroup"];
  if (group.present()) group.invalid_each(subdomain_problems(group.text()));
  for (const char* key : {"kind", "name"}) {
    const Field field = ref[key];
    if (field.empty()) {
      field.required();
    } else {
      field.invalid_each(path_segment_problems(field.text()));
    }
  }
}

void check_service_backend(const Field& backend) {
  const Field service = backend["service"];
  const Field name = service["name"];
  if (name.empty()) {
    name.required();
  } else {
    name.invalid_each(label_problems(name.text()));
  }
  const Field port = service["port"];
  const bool named = !port["name"].empty();
  const bool numbered = port["number"].number_or(0) != 0;
  if (named && numbered) {
    backend.invalid_as("\"\"", "cannot set both port name & port number");
  } else if (named) {
    port["name"].invalid_each(port_name_problems(port["name"].text()));
  } else if (numbered) {
    check_port_number(port["number"]);
  } else {
    backend.required("port name or number is required");
  }
}

void check_backend(const Field& backend) {
  const bool resource = backend["resource"].present();
  const bool service = backend["service"].present();
  if (resource && service) {
    backend.invalid_as("\"\"", "cannot set both resource and service backends");
  } else if (resource) {
    check_reference(backend["resource"]);
  } else if (service) {
    check_service_backend(backend);
  } else {
    backend.invalid_as("\"\"", "resource or service backend is required");
  }
}

void check_exact_path(const Field& path) {
  const std::string text = path.text();
  if (!text.starts_with("/")) path.invalid_text("must be an absolute path");
  for (const char* part : {"//", "/./", "/../", "%2f", "%2F"}) {
    if (text.find(part) == std::string::npos) continue;
    path.invalid(fmt::format("must not contain '{}'", part));
  }
  for (const char* end : {"/..", "/."}) {
    if (text.ends_with(end)) path.invalid(fmt::format("cannot end with '{}'", end));
  }
}

void check_http_path(const Field& rule) {
  const Field type = rule["pathType"];
  const Field path = rule["path"];
  if (!type.present()) return type.required("pathType must be specified");
  if (type.is("Exact") || type.is("Prefix")) {
    check_exact_path(path);
  } else if (type.is("ImplementationSpecific")) {
    if (!path.empty() && !path.text().starts_with("/")) path.invalid("must be an absolute path");
  } else {
    type.not_supported({"Exact", "ImplementationSpecific", "Prefix"});
  }
  check_backend(rule["backend"]);
}

void check_host(const Field& host) {
  const std::string text = host.text();
  const bool wildcard = text.find('*') != std::string::npos;
  host.invalid_each(wildcard ? wildcard_problems(text) : subdomain_problems(text));
}

void check_ingress_rule(const Field& rule) {
  const Field host = rule["host"];
  if (!host.empty()) {
    if (is_ip(host.text())) host.invalid("must be a DNS name, not an IP address");
    check_host(host);
  }
  const Field http = rule["http"];
  if (!http.present()) return;
  if (http["paths"].empty()) http["paths"].required();
  for (const auto& path : http["paths"].items()) check_http_path(path);
}

}  // namespace

void check_ingress(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  const Field rules = spec["rules"];
  const Field fallback = spec["defaultBackend"];
  if (rules.empty() && !fallback.present()) {
    spec.at("spec").invalid_as(rules.shown(),
                               "either `defaultBackend` or `rules` must be specified");
  }
  if (fallback.present()) check_backend(fallback);
  for (const auto& rule : rules.items()) check_ingress_rule(rule);
  for (const auto& tls : spec["tls"].items()) {
    for (const auto& host : tls["hosts"].items()) check_host(host);
    const Field secret = tls["secretName"];
    if (!secret.empty()) secret.invalid_each(subdomain_problems(secret.text()));
  }
  const Field name = spec["ingressClassName"];
  if (name.present()) name.invalid_each(subdomain_problems(name.text()));
  if (live != nullptr) return;
  constexpr const char* key = "kubernetes.io/ingress.class";
  const Field old = object["metadata"]["annotations"][key].at(std::string("annotations.") + key);
  if (old.present() && name.present() && !old.is(name.text())) {
    old.invalid("must match `ingressClassName` when both are specified");
  }
}

void check_ingress_status(const Field& object, const Json* live) {
  const Json nothing;
  const Field before(live != nullptr ? *live : nothing, object.errors());
  const auto known = balancer_ips(before["status"]["loadBalancer"]["ingress"]);
  for (const auto& point : object["status"]["loadBalancer"]["ingress"].items()) {
    check_balancer_point(point, known);
  }
}

void check_ingress_class(const Field& object, const Json* live) {
  const Field controller = object["spec"]["controller"];
  if (live != nullptr &&
      !same_field(controller, Field(*live, object.errors())["spec"]["controller"])) {
    controller.invalid_text("field is immutable");
  }
  constexpr std::size_t most = 250;
  if (controller.size() > most) controller.too_long(most);
  check_domain_path(controller);
  const Field parameters = object["spec"]["parameters"];
  if (!parameters.present()) return;
  check_reference(parameters);
  const Field scope = parameters["scope"];
  const Field name = parameters["namespace"];
  scope.one_of({"Cluster", "Namespace"});
  if (scope.is("Namespace") && !name.present()) {
    name.required("`parameters.scope` is set to 'Namespace'");
  } else if (scope.is("Namespace")) {
    name.invalid_each(label_problems(name.text()));
  } else if (scope.is("Cluster") && name.present()) {
    name.forbidden("`parameters.scope` is set to 'Cluster'");
  }
}

namespace {

// In the form of the server's own type.
std::string ranges_text(const Field& ranges) {
  return "{\"CIDRs\":" + ranges.shown() + "}";
}

void check_new_ranges(const Field& ranges) {
  if (ranges.empty()) return ranges.required("at least one CIDR required");
  if (ranges.size() > 2) {
    return ranges.invalid_as(ranges_text(ranges), "may only hold up to 2 values");
  }
  const std::size_t told = ranges.errors().size();
  const auto all = ranges.items();
  for (const auto& range : all) check_canonical_cidr(range);
  if (ranges.errors().size() != told || all.size() != 2) return;
  const auto is_six = [](const Field& range) {
    return range.text().find(':') != std::string::npos;
  };
  if (is_six(all[0]) != is_six(all[1])) return;
  ranges.invalid(
      "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64");
}

}  // namespace

void check_service_ranges(const Field& object, const Json* live) {
  const Field ranges = object["spec"]["cidrs"];
  if (live == nullptr) return check_new_ranges(ranges);
  const auto before = Field(*live, object.errors())["spec"]["cidrs"].items();
  const auto now = ranges.items();
  // A second one may join the first.
  const bool joined = before.size() == 1 && now.size() == 2;
  if (now.size() != before.size() && !joined) return ranges.invalid("field is immutable");
  for (std::size_t i = 0; i < before.size(); ++i) now[i].immutable(before[i]);
  if (joined) check_new_ranges(ranges);
}

namespace {

void check_parent(const Field& parent) {
  if (!parent.present()) return parent.required();
  const Field group = parent["group"];
  if (!group.empty()) group.invalid_each(subdomain_problems(group.text()));
  for (const char* key : {"resource", "name"}) {
    if (parent[key].empty()) parent[key].required();
    parent[key].invalid_each(path_segment_problems(parent[key].text()));
  }
  parent["namespace"].invalid_each(path_segment_problems(parent["namespace"].text()));
}

// In the form of the server's own type.
std::string parent_text(const Field& parent) {
  if (!parent.present()) return "null";
  return fmt::format("{{\"Group\":{},\"Resource\":{},\"Namespace\":{},\"Name\":{}}}",
                     json_text(parent["group"].text()), json_text(parent["resource"].text()),
                     json_text(parent["namespace"].text()), json_text(parent["name"].text()));
}

}  // namespace

void check_ip_address(const Field& object, const Json* live) {
  for (const char* key : {"generateName", "name"}) {
    const Field name = object["metadata"][key];
    if (live == nullptr && !name.empty()) check_canonical_ip(name);
  }
  const Field parent = object["spec"]["parentRef"];
  check_parent(parent);
  if (live == nullptr) return;
  const Field before = Field(*live, object.errors())["spec"]["parentRef"];
  if (!same_field(parent, before)) parent.invalid_as(parent_text(parent), "field is immutable");
}

}  // namespace kubewatch::builtin
