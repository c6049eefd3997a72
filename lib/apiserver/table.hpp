// Server-side printing: column definitions and rows of a meta.k8s.io Table. Pure.
#pragma once

#include "apiserver/negotiate.hpp"
#include "apiserver/object.hpp"
#include "apiserver/resource.hpp"
#include "base/time.hpp"

namespace kubewatch::apiserver {

// columnDefinitions, in order.
Json table_columns(const Resource& resource);
// The cells of one object as it is served; as many as there are columns.
Json table_cells(const Resource& resource, const Json& served, WallTime now);

}  // namespace kubewatch::apiserver
