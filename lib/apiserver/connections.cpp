#include "apiserver/connections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <vector>

#include "base/json.hpp"
#include "base/number_text.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver {

namespace {

using base::string_at;

constexpr const char* kNobody = "the sandbox has no kubelet and no network of Pods";

Error unavailable(const std::string& message) {
  return api_error(503, "ServiceUnavailable", message, std::nullopt);
}

bool is_allowed(const std::string& subresource, const std::string& method) {
  static const std::set<std::string> all = {"GET",    "POST", "PUT",    "PATCH",
                                            "DELETE", "HEAD", "OPTIONS"};
  if (subresource == "proxy") return all.count(method) != 0;
  return method == "GET" || (method == "POST" && subresource != "log");
}

// "NAME", "NAME:PORT" or "SCHEME:NAME:PORT", as it stands in the path of a proxy.
struct Proxied {
  std::string name;
  std::string port;
};

std::optional<Proxied> proxied(const std::string& id) {
  const auto parts = base::split(id, ':');
  Proxied out;
  if (parts.size() == 1) out.name = parts[0];
  if (parts.size() == 2) out = {parts[0], parts[1]};
  if (parts.size() == 3) {
    if (!parts[0].empty() && parts[0] != "http" && parts[0] != "https") return std::nullopt;
    out = {parts[1], parts[2]};
  }
  return out.name.empty() ? std::nullopt : std::optional(out);
}

// The numbers among the options of logs.
Result<void> check_log_options(const std::string& pod, const Query& query) {
  struct Number {
    const char* name;
    std::int64_t least;
    const char* why;
  };
  static constexpr std::array<Number, 3> numbers = {{
      {"tailLines", 0, "must be greater than or equal to 0"},
      {"limitBytes", 1, "must be greater than 0"},
      {"sinceSeconds", 1, "must be greater than 0"},
  }};
  FieldErrors errors;
  for (const Number& one : numbers) {
    const std::string text = query.get(one.name);
    if (text.empty()) continue;
    KW_ASSIGN(const std::int64_t value, parse_whole(text));
    if (value >= one.least) continue;
    errors.push_back(field_invalid(one.name, std::to_string(value), one.why));
  }
  if (errors.empty()) return {};
  return invalid({"", "PodLogOptions", pod}, errors);
}

std::vector<std::string> names_of(const Json& pod, std::initializer_list<const char*> lists) {
  std::vector<std::string> out;
  for (const char* list : lists) {
    for (const Json& one : base::items_at(pod, {"spec", list})) {
      out.push_back(string_at(one, {"name"}));
    }
  }
  return out;
}

Result<void> check_container(const Object& pod, const std::string& container) {
  const auto all = names_of(pod.json(), {"initContainers", "containers", "ephemeralContainers"});
  if (!container.empty()) {
    if (std::find(all.begin(), all.end(), container) != all.end()) return {};
    return bad_request(fmt::format("container {} is not valid for pod {}", container, pod.name()));
  }
  if (names_of(pod.json(), {"containers"}).size() == 1) return {};
  return bad_request(
      fmt::format("a container name must be specified for pod {}, choose one of: [{}]", pod.name(),
                  base::join(all, " ")));
}

// Of what goes through the kubelet of the Pod's node.
Result<ApiResponse> ask_kubelet(const Storage& storage, const Resource& resource,
                                const ResourcePath& path, const Query& query) {
  const bool log = path.subresource == "log";
  if (log) KW_TRY(check_log_options(path.name, query));
  const ObjectPtr pod = storage.get("pods", object_key(path.namespace_, path.name));
  if (!pod) return not_found(resource.subject(path.name));
  if (path.subresource != "portforward") KW_TRY(check_container(*pod, query.get("container")));
  const std::string node = string_at(pod->json(), {"spec", "nodeName"});
  if (node.empty() && log) {
    ApiResponse nothing;
    nothing.status = 204;
    nothing.content_type.clear();
    return nothing;
  }
  if (node.empty()) {
    return bad_request(fmt::format("pod {} does not have a host assigned", path.name));
  }
  // As there: it is the Pod's endpoint that says so.
  if (!storage.get("nodes", object_key("", node))) return not_found(resource.subject(node));
  return unavailable(
      fmt::format("no {} of pod {} on node {}: {}", path.subresource, path.name, node, kNobody));
}

// What is no address to the world, such as that of a host itself, is asked of nobody.
bool has_address(const Json& pod) {
  const Json& ips = base::items_at(pod, {"status", "podIPs"});
  if (ips.empty()) return false;
  const std::string ip = string_at(ips[0], {"ip"});
  return !ip.empty() && !ip.starts_with("127.") && !ip.starts_with("169.254.") && ip != "0.0.0.0" &&
         ip != "::" && ip != "::1" && !ip.starts_with("fe80:");
}

Error why_no_pod(const Storage& storage, const Resource& resource, const ResourcePath& path,
                 const Proxied& to) {
  const ObjectPtr pod = storage.get("pods", object_key(path.namespace_, to.name));
  if (!pod) return not_found(resource.subject(to.name));
  if (!has_address(pod->json())) return bad_request("address not allowed");
  return unavailable(fmt::format("pod {} is not reached: {}", to.name, kNobody));
}

Error why_no_service(const Storage& storage, const Resource& resource, const ResourcePath& path,
                     const Proxied& to) {
  const std::string key = object_key(path.namespace_, to.name);
  const ObjectPtr service = storage.get("services", key);
  const auto number = base::read_number<std::int64_t>(to.port);
  if (number && service) {
    const Json& ports = base::items_at(service->json(), {"spec", "ports"});
    if (std::none_of(ports.begin(), ports.end(),
                     [&](const Json& one) { return base::int_at(one, {"port"}) == number; })) {
      return unavailable(
          fmt::format("no service port {} found for service \"{}\"", *number, to.name));
    }
  }
  // As there: without Endpoints it is the Service that is not found.
  const ObjectPtr endpoints = storage.get("endpoints", key);
  if (!endpoints) return not_found(resource.subject(to.name));
  const Json& subsets = base::items_at(endpoints->json(), {"subsets"});
  if (subsets.empty()) {
    return unavailable(fmt::format("no endpoints available for service \"{}\"", to.name));
  }
  // Only addresses that are those of Pods are asked there.
  const auto of_pods = [](const Json& subset) {
    const Json& all = base::items_at(subset, {"addresses"});
    return std::any_of(all.begin(), all.end(), [](const Json& one) {
      return string_at(one, {"targetRef", "kind"}) == "Pod";
    });
  };
  if (std::none_of(subsets.begin(), subsets.end(), of_pods)) {
    return unavailable(fmt::format("no endpoints available for service \"{}\"", path.name));
  }
  return unavailable(fmt::format("service {} is not reached: {}", to.name, kNobody));
}

Error why_no_node(const Storage& storage, const Resource& resource, const Proxied& to) {
  if (!storage.get("nodes", object_key("", to.name))) return not_found(resource.subject(to.name));
  return unavailable(fmt::format("node {} is not reached: {}", to.name, kNobody));
}

}  // namespace

bool is_connection(const std::string& subresource) {
  static const std::set<std::string> all = {"attach", "exec", "log", "portforward", "proxy"};
  return all.count(subresource) != 0;
}

Result<ApiResponse> answer_connection(const Storage& storage, const Resource& resource,
                                      const ResourcePath& path, const Query& query,
                                      const std::string& method) {
  if (!is_allowed(path.subresource, method)) return method_not_allowed();
  if (path.subresource != "proxy") return ask_kubelet(storage, resource, path, query);
  const auto to = proxied(path.name);
  if (!to) {
    return bad_request(fmt::format("invalid {} request \"{}\"", resource.type.singular, path.name));
  }
  if (resource.type.plural == "nodes") return why_no_node(storage, resource, *to);
  if (resource.type.plural == "services") return why_no_service(storage, resource, path, *to);
  return why_no_pod(storage, resource, path, *to);
}

}  // namespace kubewatch::apiserver
