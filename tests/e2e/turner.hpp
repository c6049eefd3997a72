// A kind in two versions, of which cases take one away, or its scope.
#pragma once

#include <string>

#include "e2e/world.hpp"

namespace kubewatch::e2e {

// Turner, with v1alpha1 and v1; `served` of each, as true or false.
inline std::string turner(const std::string& alpha, const std::string& v1,
                          const std::string& scope = "Namespaced") {
  const std::string schema =
      ", schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}\n";
  return "apiVersion: apiextensions.k8s.io/v1\n"
         "kind: CustomResourceDefinition\n"
         "metadata: {name: turners.turn.kubewatch.dev}\n"
         "spec:\n"
         "  group: turn.kubewatch.dev\n"
         "  scope: " +
         scope +
         "\n"
         "  names: {plural: turners, singular: turner, kind: Turner}\n"
         "  versions:\n"
         "    - {name: v1alpha1, served: " +
         alpha + ", storage: false" + schema + "    - {name: v1, served: " + v1 +
         ", storage: true" + schema;
}

inline const char* const kTurner = "turn.kubewatch.dev/Turner";

// Until the case itself uses the kind so.
inline bool turned(World& w, const std::string& version, bool namespaced) {
  return w.eventually(
      [&] {
        w.discover();
        const auto& type = w.type(kTurner);
        return type.gvk.version == version && type.namespaced == namespaced;
      },
      kDiscovery);
}

inline void remove_turner(World& w) {
  w.remove_definition("turners.turn.kubewatch.dev");
}

// As a first version that nobody has turned yet, whatever a case before it has left.
inline void make_turner(World& w, const std::string& alpha, const std::string& v1) {
  w.apply(turner(alpha, v1));
  remove_turner(w);
  w.apply(turner(alpha, v1));
  REQUIRE(turned(w, alpha == "true" && v1 != "true" ? "v1alpha1" : "v1", true));
}

}  // namespace kubewatch::e2e
