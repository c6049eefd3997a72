// In what kube-apiserver treats kinds differently, one row for each of its own. What needs more
// than a flag is in strategy.hpp and metadata.hpp, and the rules of the kinds are in builtin/.
#pragma once

#include <map>
#include <string>

namespace kubewatch::apiserver {

// What the rules of a kind look at once more when it is updated, after those of all kinds.
struct OwnLooks {
  int whole = 0;        // at the metadata as that of a new object
  bool changes = true;  // at what may not change
};

struct KindTraits {
  bool generation = false;         // metadata.generation is kept
  bool needs_version = false;      // an update must name the resourceVersion
  bool creates_on_update = false;  // a PUT to a name that is free makes the object
  // A deletion is answered with the object, where others get a Status
  // (genericregistry.Store.ReturnDeletedObject).
  bool answers_with_object = false;
  bool status_keeps_metadata = false;  // of metadata the status endpoint writes nothing
  // Checked as objects of any kind are, the others as those of the core are.
  bool own_checks = false;
  OwnLooks looks{0, true};
  OwnLooks part_looks{0, true};  // at an update of a subresource
};

// Of custom kinds.
inline constexpr KindTraits kCustomTraits{
    .generation = true, .needs_version = true, .status_keeps_metadata = true, .own_checks = true};

// Of built-in ones, by storage id; kinds that are like most have no row.
const std::map<std::string, KindTraits>& kind_traits();
// What most kinds have, where there is no row.
KindTraits traits_of(const std::string& storage_id);

}  // namespace kubewatch::apiserver
