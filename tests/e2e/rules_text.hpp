// The rule texts that cases share: a controller named after the case's namespace, so that field
// managers and finalizers of cases never meet on the one real server.
#pragma once

#include <string>

#include "base/json.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

// `spec` is more of the spec block, indented by two; it must contain the reconcile block.
inline std::string website_rule(const std::string& spec, const std::string& for_extra = "") {
  return R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for:
    apiVersion: e2e.kubewatch.dev/v1
    kind: Website
    namespaces: ['@NS@']
)" + for_extra +
         spec;
}

inline const char* const kOwnsConfigMaps = R"(
  owns:
    - {apiVersion: v1, kind: ConfigMap}
)";

inline const char* const kReconcile = R"(
  reconcile:
    exec: [./reconcile.sh]
    timeout: 10s
    env: {TITLE: {jq: '.spec.title // "none"'}}
)";

inline const char* const kFastRetry = R"(
  retry: {initial: 200ms, max: 2s, factor: 2, jitter: 0}
)";

// Prints one ConfigMap named after the object, with the title.
inline const char* const kPrintConfigMap = R"(
cat <<MANIFEST
apiVersion: v1
kind: ConfigMap
metadata: {name: $KW_NAME-page, namespace: $KW_NAMESPACE}
data: {title: "$TITLE"}
MANIFEST
)";

// The title of one, "" where there is none.
inline std::string title_of(World& w, const std::string& name,
                            const std::string& namespace_ = "@NS@") {
  const auto map = w.get("ConfigMap", name, namespace_);
  return map ? base::string_at(*map, {"data", "title"}) : "";
}

inline std::string website(const std::string& name, const std::string& title,
                           const std::string& extra_metadata = "") {
  return "{apiVersion: e2e.kubewatch.dev/v1, kind: Website, metadata: {name: " + name +
         ", namespace: '@NS@'" + extra_metadata + "}, spec: {title: " + title + "}}";
}

}  // namespace kubewatch::e2e
