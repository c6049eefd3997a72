// Whether what an APIService names is available, as the aggregator tells it. Nothing is passed on
// to the servers behind them. Pure; null is absent.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::builtin {

inline constexpr const char* kApiServices = "apiservices.apiregistration.k8s.io";

// Its condition Available but for the time. `service`: the one that it names, null where there is
// none; `slices`: the EndpointSlices of that one.
Json availability(const Json& api_service, const Json* service,
                  const std::vector<const Json*>& slices);
// Puts it into the status. False: that says the same already; its time counts from the last change
// of the condition's status.
bool set_availability(Json& api_service, const Json& condition, const std::string& now);

}  // namespace kubewatch::builtin
