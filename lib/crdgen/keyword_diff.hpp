// What the keywords of one place say in two schemas, but for what leads on from there: required,
// properties, additionalProperties and items, which the walk of schema_diff.hpp has. Pure.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "crdgen/diff.hpp"
#include "crdgen/kept_fields.hpp"

namespace kubewatch::crdgen {

// One place in both schemas.
struct Place {
  const Json& before;
  const Json& after;
  std::string path;
  // Whether the server can find a value's older self, so that ratcheting tolerates it by itself:
  // below lists whose items have no key only the whole list has one.
  bool correlatable = true;
  int depth = 0;
  Meta meta_before = Meta::none;
  Meta meta_after = Meta::none;
  bool required = false;  // from now on, as a field of what it is in

  bool is_whole_before() const { return is_whole_object(before, path); }
  bool is_whole_after() const { return is_whole_object(after, path); }
};

struct Bound;  // minimum and the like

// Adds the changes of one version to `out`, which must outlive it.
class KeywordDiff {
 public:
  KeywordDiff(std::string version, std::vector<Change>& out)
      : version_(std::move(version)), out_(out) {}

  // False: nothing below can be compared.
  bool compare(const Place& place);

  void add(const Place& place, const char* id, std::string message, Verdict stored, Verdict writers,
           Verdict readers, const Json& before = nullptr, const Json& after = nullptr);
  // A value that was fine may be refused now.
  void tightened(const Place& place, const char* id, const std::string& message, const Json& before,
                 const Json& after);
  void loosened(const Place& place, const char* id, const std::string& message, const Json& before,
                const Json& after);

 private:
  static std::string kind_of(const Json& schema);
  static Verdict metadata_kept(const Json& schema);
  static const char* when(const Json& rule);

  bool type(const Place& place);
  void nullable(const Place& place);
  void default_value(const Place& place);
  void enumeration(const Place& place);
  void compare_bound(const Place& place, const Bound& bound);
  void format(const Place& place);
  void tightening_text(const Place& place, const char* key);
  void list_kind(const Place& place);
  void map_kind(const Place& place);
  void unknown_fields(const Place& place);
  void embedded(const Place& place);
  void embedded_removed(const Place& place);
  void rules(const Place& place);
  void junctor(const Place& place, const char* key);
  bool alternatives(const Place& place, const std::string& key, const Json& before,
                    const Json& after);
  void words(const Place& place);

  std::string version_;
  std::vector<Change>& out_;
};

}  // namespace kubewatch::crdgen
