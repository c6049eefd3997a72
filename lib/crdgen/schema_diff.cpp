#include "crdgen/schema_diff.hpp"

#include <algorithm>
#include <set>

#include "crdgen/kept_fields.hpp"
#include "crdgen/keyword_diff.hpp"
#include "crdgen/schema_flag.hpp"

namespace kubewatch::crdgen {

namespace {

constexpr int kDiffDepth = 100;

class SchemaDiff {
 public:
  SchemaDiff(const std::string& version, std::vector<Change>& out) : keywords_(version, out) {}

  void compare(const Place& place) {
    if (place.depth > kDiffDepth || place.before == place.after) return;
    if (!place.before.is_object() || !place.after.is_object()) return;
    if (!keywords_.compare(place)) return;
    required(place);
    properties(place);
    values(place);
    items(place);
  }

 private:
  static std::set<std::string> required_of(const Json& schema) {
    const auto names = base::strings_at(schema, {"required"});
    return {names.begin(), names.end()};
  }

  // Without one of these the server takes no object, whatever the schema says.
  static bool always_there(const Place& place, bool whole, const std::string& name) {
    if (name == "metadata") return place.path.empty();
    return (name == "apiVersion" || name == "kind") && whole;
  }

  void required(const Place& place) {
    const auto before = required_of(place.before);
    const auto after = required_of(place.after);
    for (const std::string& name : after) {
      if (before.count(name) != 0) continue;
      const Json* property = base::find(place.after, {"properties", name});
      Place field{place.before, place.after, place.path + "." + name, place.correlatable};
      if (always_there(place, place.is_whole_before(), name)) {
        keywords_.loosened(field, "required-added", "is required, and was always there", false,
                           true);
      } else if (property != nullptr && property->contains("default")) {
        keywords_.loosened(field, "required-with-default",
                           "is required, and the default fills it in", false, true);
      } else {
        keywords_.tightened(field, "required-added", "is required and has no default", false, true);
      }
    }
    for (const std::string& name : before) {
      const Json* property = base::find(place.after, {"properties", name});
      if (after.count(name) != 0) continue;
      if (property == nullptr && !is_kept_field(place.meta_after, place.is_whole_after(), name)) {
        continue;  // properties() tells that it is gone
      }
      Place field{place.before, place.after, place.path + "." + name, place.correlatable};
      if (always_there(place, place.is_whole_after(), name)) {
        keywords_.loosened(field, "required-removed", "is not required, and always there", true,
                           false);
        continue;
      }
      keywords_.add(field, "required-removed", "is optional: readers may find nothing there", kSafe,
                    kSafe, property != nullptr && property->contains("default") ? kSafe : kRisky,
                    true, false);
    }
  }

  void compare_property(const Place& place, const std::string& name, const Json& before,
                        const Json& after) {
    Place field{before, after, place.path + "." + name, place.correlatable, place.depth + 1};
    field.meta_before = meta_of_field(place.meta_before, place.is_whole_before(), name);
    field.meta_after = meta_of_field(place.meta_after, place.is_whole_after(), name);
    const Json& list = base::items_at(place.after, {"required"});
    field.required = std::find(list.begin(), list.end(), Json(name)) != list.end();
    compare(field);
  }

  // Of items and values. Those of metadata are kept where one side says nothing of them.
  void compare_inner(const Place& place, const char* suffix, const Json& before, const Json& after,
                     bool correlatable) {
    const bool come = !before.is_object() && place.meta_before != Meta::none;
    const bool go = !after.is_object() && place.meta_after != Meta::none;
    const Json own = come ? kept_inside(place.meta_before, after)
                     : go ? kept_inside(place.meta_after, before)
                          : Json();
    compare({come ? own : before, go ? own : after, place.path + suffix, correlatable,
             place.depth + 1, meta_inside(place.meta_before), meta_inside(place.meta_after)});
  }

  void properties(const Place& place) {
    const Json none = Json::object();
    const Json& before =
        at(place.before, "properties").is_object() ? at(place.before, "properties") : none;
    const Json& after =
        at(place.after, "properties").is_object() ? at(place.after, "properties") : none;
    const Json& new_values = at(place.after, "additionalProperties");
    const bool kept = keeps_unknown(place.after);
    for (const auto& [name, schema] : before.items()) {
      const Place field{schema, schema, place.path + "." + name, place.correlatable};
      if (const auto it = after.find(name); it != after.end()) {
        compare_property(place, name, schema, *it);
      } else if (const Json own = kept_field(place.after, place.meta_after, place.is_whole_after(),
                                             name, schema);
                 !own.is_null()) {
        compare_property(place, name, schema, own);
      } else if (kept) {
        keywords_.add(field, "property-removed", "is no longer described, but kept", kRisky, kSafe,
                      kRisky, schema, nullptr);
        // As a key of the map it is what all values of the map are.
        compare_property(place, name, schema, new_values);
      } else {
        keywords_.add(field, "property-removed", "is removed: the server drops it from objects",
                      kBreaking, kBreaking, kBreaking, schema, nullptr);
      }
    }
    const Json& old_values = at(place.before, "additionalProperties");
    const bool was_open = flag(place.before, kPreserve);
    for (const auto& [name, schema] : after.items()) {
      if (before.contains(name)) continue;
      const Place field{schema, schema, place.path + "." + name, place.correlatable};
      if (const Json own =
              kept_field(place.before, place.meta_before, place.is_whole_before(), name, schema);
          !own.is_null()) {
        compare_property(place, name, own, schema);
        continue;
      }
      if (was_open && !old_values.is_object() && !takes_anything(schema)) {
        // What was kept unchecked there before may not be what the new field takes.
        keywords_.tightened(field, "property-added", "is checked from now on", nullptr, schema);
        continue;
      }
      keywords_.add(field, "property-added", "is new", kSafe, kSafe, kSafe, nullptr, schema);
      compare_property(place, name, old_values, schema);
    }
  }

  // No word that a value could fail.
  static bool takes_anything(const Json& schema) {
    static const std::set<std::string> kWords = {"description", "title",    "example",
                                                 "default",     "nullable", "externalDocs"};
    if (!schema.is_object() || !flag(schema, kPreserve)) return false;
    for (const auto& [key, value] : schema.items()) {
      if (key != kPreserve && kWords.count(key) == 0) return false;
    }
    return true;
  }

  void values(const Place& place) {
    const Json& before = at(place.before, "additionalProperties");
    const Json& after = at(place.after, "additionalProperties");
    if (before == after) return;
    const bool both = after.is_object() ? before.is_object() || place.meta_before != Meta::none
                                        : before.is_object() && place.meta_after != Meta::none;
    if (both) return compare_inner(place, "{}", before, after, place.correlatable);
    if (after.is_object() && flag(place.before, kPreserve)) {
      return compare_inner(place, "{}", open_value(), after, place.correlatable);
    }
    if (place.meta_after != Meta::none || (flag(place.after, kPreserve) && takes_anything(before)))
      return;
    const bool was = !before.is_null() && before != false;
    const bool is = !after.is_null() && after != false;
    if (was && !is && !flag(place.after, kPreserve)) {
      keywords_.add(place, "map-closed", "keys of the map are dropped from now on", kBreaking,
                    kBreaking, kBreaking, before, after);
    } else if (was && !is) {
      keywords_.add(place, "map-values-freed", "the values of the map may be anything", kSafe,
                    kSafe, kRisky, before, after);
    } else if (!was && is) {
      keywords_.add(place, "map-opened", "takes any key from now on", kSafe, kSafe, kRisky, before,
                    after);
    } else {
      keywords_.tightened(place, "map-values-changed",
                          "the values of the map are described otherwise", before, after);
    }
  }

  void items(const Place& place) {
    const Json& before = at(place.before, "items");
    const Json& after = at(place.after, "items");
    const bool keyed = at(place.after, "x-kubernetes-list-type") == "map";
    compare_inner(place, "[]", before, after, place.correlatable && keyed);
  }

  KeywordDiff keywords_;
};

}  // namespace

void diff_schemas(const Json& before, const Json& after, const std::string& version,
                  std::vector<Change>& out) {
  SchemaDiff(version, out).compare({before, after, ""});
}

}  // namespace kubewatch::crdgen
