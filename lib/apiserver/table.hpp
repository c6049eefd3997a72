// Server-side printing: column definitions and rows of a meta.k8s.io Table. Pure.
#pragma once

#include <string>
#include <string_view>

#include "apiserver/negotiate.hpp"
#include "apiserver/object.hpp"
#include "apiserver/resource.hpp"
#include "base/time.hpp"

namespace kubewatch::apiserver {

// columnDefinitions, in order.
Json table_columns(const Resource& resource);
// The cells of one object as it is served; one for each column, or more.
Json table_cells(const Resource& resource, const Json& served, WallTime now);
// `"conditions":[...],` for between the cells and the object of a Pod's row; "" of one that goes
// on.
std::string pod_row_conditions(std::string_view phase);

}  // namespace kubewatch::apiserver
