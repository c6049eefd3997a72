// Immutable fields while types are expanded: a property is marked, and whatever may be removed
// around it gets a rule that it stays where it holds one, or else a removal and a new value would
// be a change. Items of lists and values of maps may go with what is in them. Pure.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::crdgen {

// The mark is no part of OpenAPI: drop_marks takes it out of what is done.
void mark_immutable(Json& property);
void drop_marks(Json& root);
// Whether it is immutable or holds such a field.
bool holds_immutable(const Json& property);
// What keeps a property of this name from being removed. Null: nothing has to, or rules cannot name
// it.
Json keep_rule(const Json& property, const std::string& name);

}  // namespace kubewatch::crdgen
