// Immutable fields while types are expanded: a property is marked, and whatever may be removed
// around it gets a rule that it stays where it holds one, or else a removal and a new value would
// be a change. Items of lists and values of maps may go with what is in them. Pure.
#pragma once

#include <string>

#include "base/json.hpp"

namespace kubewatch::crdgen {

// The mark is no part of OpenAPI: drop_marks takes it out of what is done, and that of the rules
// that keep what is immutable.
void mark_immutable(Json& property);
void drop_marks(Json& root);
// Whether it is immutable or holds such a field.
bool holds_immutable(const Json& property);
// Whether every object that is valid has this property, as rules see it: null is a value for
// `required`, and none for has().
bool always_there(const Json& object, const std::string& name);
// Adds to the object's rules what keeps the property from being removed; nothing where nothing has
// to, or rules cannot name it.
void add_keep_rule(Json& object, const std::string& name);
bool is_keep_rule(const Json& rule);

}  // namespace kubewatch::crdgen
