#include "builtin/aggregation.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kubewatch::builtin {

namespace {

using base::string_at;

Json unavailable(const char* reason, const std::string& message) {
  return {{"type", "Available"}, {"status", "False"}, {"reason", reason}, {"message", message}};
}

bool is_ready(const Json& endpoint) {
  const Json* ready = base::find(endpoint, {"conditions", "ready"});
  return ready == nullptr || *ready != false;
}

bool serves(const Json& slice, const std::string& port) {
  const Json& endpoints = base::items_at(slice, {"endpoints"});
  if (std::none_of(endpoints.begin(), endpoints.end(), is_ready)) return false;
  const Json& ports = base::items_at(slice, {"ports"});
  return std::any_of(ports.begin(), ports.end(), [&](const Json& one) {
    return base::find(one, {"name"}) != nullptr && string_at(one, {"name"}) == port &&
           base::int_at(one, {"port"}).has_value();
  });
}

// Of what stands between the server and the Service's endpoints; null: nothing does.
Json obstacle(const Json& service, const std::string& named, std::int64_t number,
              const std::vector<const Json*>& slices) {
  if (string_at(service, {"spec", "type"}) != "ClusterIP") return nullptr;
  const Json& ports = base::items_at(service, {"spec", "ports"});
  const auto port = std::find_if(ports.begin(), ports.end(), [&](const Json& one) {
    return base::int_at(one, {"port"}) == number;
  });
  if (port == ports.end()) {
    return unavailable("ServicePortError",
                       fmt::format("{} is not listening on port {}", named, number));
  }
  if (slices.empty()) {
    return unavailable("EndpointsNotFound", "cannot find endpointslices for " + named);
  }
  const std::string name = string_at(*port, {"name"});
  if (std::any_of(slices.begin(), slices.end(),
                  [&](const Json* slice) { return serves(*slice, name); })) {
    return nullptr;
  }
  return unavailable(
      "MissingEndpoints",
      fmt::format("endpointslices for {} have no addresses with port name \"{}\"", named, name));
}

}  // namespace

Json availability(const Json& api_service, const Json* service,
                  const std::vector<const Json*>& slices) {
  const Json* behind = base::find(api_service, {"spec", "service"});
  if (behind == nullptr || behind->is_null()) {
    return {{"type", "Available"},
            {"status", "True"},
            {"reason", "Local"},
            {"message", "Local APIServices are always available"}};
  }
  const std::string name = string_at(*behind, {"name"});
  const std::string ns = string_at(*behind, {"namespace"});
  const std::int64_t port = base::int_at(*behind, {"port"}).value_or(0);
  const std::string named = fmt::format("service/{} in \"{}\"", name, ns);
  if (service == nullptr) return unavailable("ServiceNotFound", named + " is not present");
  if (const Json found = obstacle(*service, named, port, slices); !found.is_null()) return found;
  return unavailable(
      "FailedDiscoveryCheck",
      fmt::format("failing or missing response from https://{}.{}.svc:{}/apis/{}/{}: "
                  "requests are not passed on",
                  name, ns, port, string_at(api_service, {"spec", "group"}),
                  string_at(api_service, {"spec", "version"})));
}

bool set_availability(Json& api_service, const Json& condition, const std::string& now) {
  Json& status = api_service["status"];
  if (!status.is_object()) status = Json::object();
  Json& conditions = status["conditions"];
  if (!conditions.is_array()) conditions = Json::array();
  const auto live = std::find_if(conditions.begin(), conditions.end(), [](const Json& one) {
    return string_at(one, {"type"}) == "Available";
  });
  Json wanted = condition;
  if (live == conditions.end()) {
    wanted["lastTransitionTime"] = now;
    conditions.push_back(std::move(wanted));
    return true;
  }
  const bool same_status = string_at(*live, {"status"}) == string_at(condition, {"status"});
  wanted["lastTransitionTime"] =
      same_status ? live->value("lastTransitionTime", Json()) : Json(now);
  if (*live == wanted) return false;
  *live = std::move(wanted);
  return true;
}

}  // namespace kubewatch::builtin
