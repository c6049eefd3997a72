// The part of a kind's schema that decides how lists and maps merge (structured-merge-diff):
// atomic, granular, list of keys. From the compact built-in table, from a CRD's openAPIV3Schema, or
// deduced. No I/O.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "core/resource.hpp"

namespace kubewatch::schema {

struct MergeNode;
using MergeNodePtr = std::shared_ptr<const MergeNode>;

// How a field takes part in strategic merge patches (patchMergeKey, patchStrategy of the Go types).
struct PatchRule {
  std::string merge_key;
  std::string strategy;  // "merge", "replace", "retainKeys", "merge,retainKeys"
  bool merges() const;
  bool replaces() const;
};

struct MergeNode {
  enum class Kind {
    deduced,  // nothing known: maps granular, lists atomic, scalars scalar
    scalar,
    map,  // granular: fields, others by `element`
    map_atomic,
    list_atomic,
    list_set,
    list_map,  // associative by `keys`
  };
  // The last six only of built-in kinds: what their Go types take beyond what SMD knows.
  enum class Scalar {
    any,
    string,
    numeric,
    boolean,
    int32,
    int64,
    quantity,
    int_or_string,
    time,
    micro_time
  };
  Kind kind = Kind::deduced;
  Scalar scalar = Scalar::any;  // scalar
  bool anything = false;        // scalar: maps and lists too, as one value (RawExtension)
  std::map<std::string, MergeNodePtr>
      fields;                     // map: known fields (struct members are not set members)
  MergeNodePtr element;           // map: other keys; lists: items
  bool is_struct = false;         // map: its fields are a fixed set
  bool typed = false;             // struct: of a built-in kind, see as_written
  std::vector<std::string> keys;  // list_map
  std::map<std::string, Json> key_defaults;  // list_map: default values of absent keys
  std::map<std::string, PatchRule> patch;    // struct: rules of its fields, where there are any
  // struct: fields that the server's own types always write, and what they hold when nobody wrote
  // them
  // ({}, "", 0, false, null). They count as present when owners are computed, never in the object
  // itself.
  std::map<std::string, Json> implied;
  std::string go_type;  // typed: "JobCondition"

  // The node of a map's key: known field or `element`; null when a struct has no such field.
  const MergeNode* child(const std::string& key) const;
  bool is_known_field(const std::string& key) const { return fields.count(key) != 0; }
};

// Nodes of built-in kinds live as long as the program; others are owned by their parents.
// Built-in kinds (core, apps, batch, rbac, coordination, ...): null when the table lacks it.
MergeNodePtr builtin_merge_schema(const core::Gvk& gvk);
// From one version's openAPIV3Schema; metadata gets ObjectMeta's rules.
MergeNodePtr crd_merge_schema(const Json& open_api_v3_schema);
// metadata as in ObjectMeta, the rest deduced.
MergeNodePtr deduced_merge_schema();

// The API server reads built-in kinds into types of its own and writes those: without nulls, empty
// maps and empty lists, apart from a few, and with quantities and times in their canonical form.
// Does nothing to custom resources but for their metadata.
void as_written(const MergeNode& node, Json& value);
// Of a built-in kind: as the server's converter of objects without a type (of strategic merge
// patches and applies) fills whole numbers. 3.0 is 3, and what is too large for 64 bits the
// smallest of them, as the processor makes it.
void convert_numbers(const MergeNode& node, Json& value);

}  // namespace kubewatch::schema
