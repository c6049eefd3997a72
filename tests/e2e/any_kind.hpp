// Kinds whose objects may hold anything: the texts of their definitions, and of an object.
#pragma once

#include <string>

namespace kubewatch::e2e {

// In version v1; the singular is the plural without its last letter.
inline std::string any_kind(const std::string& group, const std::string& kind,
                            const std::string& plural) {
  return "apiVersion: apiextensions.k8s.io/v1\n"
         "kind: CustomResourceDefinition\n"
         "metadata: {name: " +
         plural + "." + group +
         "}\n"
         "spec:\n"
         "  group: " +
         group +
         "\n"
         "  scope: Namespaced\n"
         "  names: {plural: " +
         plural + ", singular: " + plural.substr(0, plural.size() - 1) + ", kind: " + kind +
         "}\n"
         "  versions:\n"
         "    - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, "
         "x-kubernetes-preserve-unknown-fields: true}}}\n";
}

// In the namespace of the case.
inline std::string any_object(const std::string& group, const std::string& kind,
                              const std::string& name) {
  return "{apiVersion: " + group + "/v1, kind: " + kind + ", metadata: {name: " + name +
         ", namespace: '@NS@'}}";
}

}  // namespace kubewatch::e2e
