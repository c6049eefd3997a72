// The table of what check_crd calls its rules. Whoever adds a rule adds its id here: the tests hold
// findings and table against each other.
#include "schema/crd_check.hpp"

namespace kubewatch::schema {

const std::vector<CrdRule>& crd_rules() {
  static const std::vector<CrdRule> rules = {
      {"schema", "a schema that cannot be read"},
      {"schema-required", "a version without a schema"},
      {"structural-type", "a value without a type, or a root that is no object"},
      {"structural-items", "an array without a schema of its items"},
      {"structural-additional-properties", "properties beside additionalProperties"},
      {"structural-junctor", "allOf, anyOf, oneOf or not that declares something"},
      {"structural-complete", "a condition about a field that is not declared"},
      {"structural-metadata", "a restriction of metadata, kind or apiVersion"},
      {"int-or-string", "int-or-string beside what it does not go with"},
      {"embedded-resource", "an embedded resource that is no object with fields"},
      {"forbidden-keyword", "a keyword that the server does not take in CRDs"},
      {"type", "a type that the server does not know"},
      {"nullable-root", "a root that may be null"},
      {"preserve-unknown-fields", "unknown fields kept where that cannot be"},
      {"default", "a default that its own schema refuses"},
      {"default-unknown-fields", "a default with fields that would be dropped"},
      {"default-place", "a default where none may stand"},
      {"list-type", "a list type that does not go with the items"},
      {"list-map-keys", "keys of a list that its items do not have"},
      {"map-type", "a map type that is none"},
      {"pattern", "a pattern that is no regular expression"},
      {"rule", "a CEL rule whose message, reason or fieldPath is wrong"},
      {"cel", "a CEL rule that does not compile, or costs too much"},
      {"printer-column", "a column that the server refuses"},
      {"selectable-field", "a selectable field that the server refuses"},
      {"scale", "a path of the scale subresource that is none"},
      {"status-root", "a keyword at the root that does not go with a status subresource"},
      {"crd-name", "a name that is not plural.group"},
      {"group", "a group that is no domain"},
      {"scope", "a scope that is neither Namespaced nor Cluster"},
      {"names", "a plural, singular, kind or short name that is none"},
      {"version-name", "a version's name that is none, or there twice"},
      {"storage-version", "not exactly one stored version"},
      {"stored-versions", "a stored version that is gone"},
      {"deprecation", "a deprecation warning that the server refuses"},
      {"conversion", "a conversion that the server refuses"},
      {"api-approved", "a group of Kubernetes without its approval"},
      {"immutable", "a change of what cannot change"},
  };
  return rules;
}

}  // namespace kubewatch::schema
