// Sets of field paths, the currency of managedFields: FieldsV1 in and out, union, intersection,
// difference. No I/O.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"

namespace kubewatch::schema {

// One step of a path. Order: FieldName < Key < Value < Index, then lexical, as FieldsV1 is written.
struct PathElement {
  enum class Kind { field, key, value, index };
  Kind kind = Kind::field;
  std::string field;       // field
  Json json;               // key: object of key fields; value: any scalar
  std::int64_t index = 0;  // index

  static PathElement of_field(std::string name);
  static PathElement of_key(Json keys);
  static PathElement of_value(Json value);
  static PathElement of_index(std::int64_t index);

  std::string encode() const;  // "f:name", "k:{...}", "v:...", "i:0"
  std::string str() const;     // ".name", "[k=\"v\"]", "[=v]", "[0]" as in conflict messages
  std::strong_ordering compare(const PathElement& other) const;
  bool operator<(const PathElement& other) const { return compare(other) < 0; }
  bool operator==(const PathElement& other) const { return compare(other) == 0; }

  // nullopt for a key of a kind that this version does not know ("z:..."): to be ignored.
  // Errors: invalid.
  static Result<std::optional<PathElement>> decode(const std::string& text);
};
using Path = std::vector<PathElement>;
std::string path_str(const Path& path);

class FieldSet {
 public:
  bool empty() const { return members_.empty() && children_.empty(); }
  void insert(const Path& path);
  bool has(const Path& path) const;
  std::size_t size() const;
  std::vector<Path> paths() const;

  FieldSet intersect(const FieldSet& other) const;
  FieldSet difference(const FieldSet& other) const;
  // Removes also everything below members of `other`.
  FieldSet recursive_difference(const FieldSet& other) const;
  FieldSet leaves() const;
  bool is_subset_of(const FieldSet& other) const;
  bool operator==(const FieldSet& other) const;

  static Result<FieldSet> from_fields_v1(const Json& fields_v1);
  Json to_fields_v1() const;

  const std::set<PathElement>& members() const { return members_; }
  const std::map<PathElement, FieldSet>& children() const { return children_; }
  FieldSet* child(const PathElement& element);  // made when absent
  const FieldSet* find_child(const PathElement& element) const;
  bool has_member(const PathElement& element) const { return members_.count(element) != 0; }

  // Building from below, without walking paths. An empty child is not kept.
  void add_member(PathElement element);
  void add_child(PathElement element, FieldSet child);
  // Takes the whole subtree at `element` out and keeps it as one member.
  void collapse(const PathElement& element);
  void merge_in(const FieldSet& other);
  bool subtract(const FieldSet& other);  // whether anything went
  std::map<PathElement, FieldSet>& mutable_children() { return children_; }

 private:
  std::set<PathElement> members_;
  std::map<PathElement, FieldSet> children_;
};

}  // namespace kubewatch::schema
