// The paths of a resource and the operations on them as OpenAPI documents tell them, as far as
// kubectl reads them: before it validates, applies and explains. Not told are streams (watches,
// exec, proxies), what a parameter means and which answers other than 200 there are. Pure.
#pragma once

#include <string>

#include "apiserver/openapi_builtin.hpp"
#include "apiserver/resource.hpp"
#include "base/json.hpp"

namespace kubewatch::apiserver {

// What documents call a kind: "io.k8s.api.apps.v1.Deployment", "dev.kubewatch.demo.v1.Website".
std::string schema_name(const core::Gvk& gvk, const BuiltinTypes& types);
core::Gvk list_gvk(const Resource& resource);

// `root` is "/apis/apps/v1/".
void add_paths(const Resource& resource, const std::string& root, const BuiltinTypes& types,
               Json& paths);
// What lists the resources of a group version.
void add_discovery_path(const std::string& root, Json& paths);

}  // namespace kubewatch::apiserver
