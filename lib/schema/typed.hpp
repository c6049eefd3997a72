// Values seen through their merge schema: which fields they set, how two differ, how one is merged
// into another, what is left when fields are taken out. The steps that apply and update are made
// of.
#pragma once

#include <string>

#include "base/json.hpp"
#include "base/result.hpp"
#include "schema/field_set.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::schema {

// The node's kind; of a deduced node what the value makes it. A deduced null stays deduced: it
// takes any form.
MergeNode::Kind shape_of(const MergeNode& node, const Json* value);
// The deduced node itself; stands in where a schema says nothing.
const MergeNode& deduced_node();
// child() or the deduced node.
const MergeNode& child_or_deduced(const MergeNode& node, const std::string& key);
const MergeNode& element_or_deduced(const MergeNode& list);
inline bool is_associative(MergeNode::Kind kind) {
  return kind == MergeNode::Kind::list_set || kind == MergeNode::Kind::list_map;
}

// Nothing, or with nothing in it.
inline bool hollow(const Json* value) {
  return value == nullptr || value->empty();
}

// How an item of a set or keyed list is addressed. Errors: invalid (null, no map, no key).
Result<PathElement> item_element(const MergeNode& list, const Json& item);

// Whether the value fits: types, unknown fields of structs, keys, and duplicates unless allowed.
// Errors: invalid, in the API server's words, one line or "errors:" and a line each.
Result<void> check_value(const MergeNode& node, const Json& value, bool allow_duplicates);
// The same of what a write makes, duplicates allowed: items of keyed lists may lack their keys,
// which only their owners need, and fieldsV1 is any JSON.
Result<void> check_read(const MergeNode& node, const Json& value);
// The same before an apply, which takes any scalar for a time: it is read after the merge.
Result<void> check_for_merge(const MergeNode& node, const Json& value);

// The following take values that passed check_value.

// Leaves, atomic values, items of keyed lists, keys of maps, empty maps and nulls.
FieldSet to_field_set(const MergeNode& node, const Json& value);

struct Comparison {
  FieldSet removed;
  FieldSet modified;
  FieldSet added;
  bool empty() const { return removed.empty() && modified.empty() && added.empty(); }
  void exclude(const FieldSet& ignored);
};
Comparison compare(const MergeNode& node, const Json& before, const Json& after);

// `config` wins per leaf; keyed lists take its order and keep what only `live` has.
Json merge_value(const MergeNode& node, const Json& live, const Json& config);

// Without the members of `set` and all that is below them.
Json remove_items(const MergeNode& node, const Json& value, const FieldSet& set);

// With the known fields above members as members too.
FieldSet with_named_parents(const MergeNode& node, const FieldSet& set);

// What became atomic since the set was written is owned as a whole. Whether that changed anything.
bool reconcile_with_schema(const MergeNode& node, FieldSet& set);

}  // namespace kubewatch::schema
