// What a change of a CRD does to stored objects, to writers and to readers, each judged by itself.
// Versions are compared with their namesakes, and with the other served versions where the change
// sets them apart. Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::crdgen {

enum class Verdict { safe, risky, breaking };

struct Change {
  std::string id;       // "property-removed"
  std::string version;  // "" for the CRD as a whole
  std::string path;     // ".spec.port"; "" for the version as a whole
  std::string message;
  // Objects that are stored already. Where ratcheting applies, a value that has become invalid is
  // tolerated as long as nobody changes it.
  Verdict stored = Verdict::safe;
  Verdict writers = Verdict::safe;
  Verdict readers = Verdict::safe;
  Json before;  // null: was not there
  Json after;
  Verdict verdict() const;  // the worst of the three
};

// Both must pass check_is_crd. Sorted: the CRD itself, then by version and path.
std::vector<Change> diff_crds(const Json& before, const Json& after);

Verdict worst_of(const std::vector<Change>& changes);
std::string_view to_string(Verdict verdict);

// A heading, a table of all changes, a sentence on what is worst.
std::string diff_markdown(const std::vector<Change>& changes);
Json diff_json(const std::vector<Change>& changes);

}  // namespace kubewatch::crdgen
