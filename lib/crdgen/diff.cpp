#include "crdgen/diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/strings.hpp"
#include "crdgen/generate.hpp"
#include "crdgen/kept_fields.hpp"
#include "crdgen/markdown_text.hpp"
#include "crdgen/schema_diff.hpp"
#include "crdgen/schema_flag.hpp"

namespace kubewatch::crdgen {

namespace {

std::string words(const Json& value) {
  return value.is_null()     ? "nothing"
         : value.is_string() ? value.get<std::string>()
                             : base::dump_json(value);
}

class CrdDiff {
 public:
  CrdDiff(const Json& before, const Json& after) : before_(before), after_(after) {}

  std::vector<Change> run() {
    names();
    conversion();
    std::map<std::string, Json> old_versions = by_name(before_);
    std::map<std::string, Json> new_versions = by_name(after_);
    for (const auto& [name, version] : old_versions) {
      const auto now = new_versions.find(name);
      now == new_versions.end() ? removed(name, version) : compare(name, version, now->second);
    }
    for (const auto& [name, version] : new_versions) {
      if (old_versions.count(name) == 0)
        add("version-added", name, "", "is new", kSafe, kSafe, kSafe);
    }
    storage();
    across_versions(old_versions, new_versions);
    std::stable_sort(out_.begin(), out_.end(), [](const Change& a, const Change& b) {
      return std::tie(a.version, a.path) < std::tie(b.version, b.path);
    });
    return std::move(out_);
  }

 private:
  void add(const char* id, const std::string& version, const std::string& path, std::string message,
           Verdict stored, Verdict writers, Verdict readers, Json before = nullptr,
           Json after = nullptr) {
    out_.push_back({id, version, path, std::move(message), stored, writers, readers,
                    std::move(before), std::move(after)});
  }

  static std::map<std::string, Json> by_name(const Json& crd) {
    std::map<std::string, Json> out;
    for (const Json& version : crd["spec"]["versions"])
      out[base::string_at(version, {"name"})] = version;
    return out;
  }

  void names() {
    for (const auto& [path, id] :
         {std::pair(std::vector<std::string_view>{"group"}, "group-changed"),
          {{"names", "kind"}, "kind-changed"},
          {{"names", "plural"}, "plural-changed"},
          {{"scope"}, "scope-changed"}}) {
      const Json& before = path.size() == 1 ? base::value_at(before_, {"spec", path[0]})
                                            : base::value_at(before_, {"spec", path[0], path[1]});
      const Json& after = path.size() == 1 ? base::value_at(after_, {"spec", path[0]})
                                           : base::value_at(after_, {"spec", path[0], path[1]});
      if (before == after) continue;
      add(id, "", "",
          fmt::format("{} {} became {}: the server refuses that of an established CRD", path.back(),
                      words(before), words(after)),
          kBreaking, kBreaking, kBreaking, before, after);
    }
    for (const char* key : {"singular", "listKind"}) {
      const Json& before = base::value_at(before_, {"spec", "names", key});
      const Json& after = base::value_at(after_, {"spec", "names", key});
      if (before == after) continue;
      add("name-changed", "", "", fmt::format("{} {} became {}", key, words(before), words(after)),
          kSafe, kSafe, kRisky, before, after);
    }
    for (const auto& [key, word] :
         {std::pair("shortNames", "short name"), {"categories", "category"}}) {
      const Json& before = base::value_at(before_, {"spec", "names", key});
      const Json& after = base::value_at(after_, {"spec", "names", key});
      for (const Json& name : before) {
        if (std::find(after.begin(), after.end(), name) == after.end()) {
          add("alias-removed", "", "",
              fmt::format("{} {} is gone: commands that use it fail", word, words(name)), kSafe,
              kRisky, kRisky, name);
        }
      }
      for (const Json& name : after) {
        if (std::find(before.begin(), before.end(), name) == before.end()) {
          add("alias-added", "", "", fmt::format("{} {} is new", word, words(name)), kSafe, kSafe,
              kSafe, nullptr, name);
        }
      }
    }
  }

  void conversion() {
    const Json& before = base::value_at(before_, {"spec", "conversion"});
    const Json& after = base::value_at(after_, {"spec", "conversion"});
    if (before == after) return;
    const std::string was = words(base::value_at(before, {"strategy"}));
    const std::string is = words(base::value_at(after, {"strategy"}));
    if (was == "Webhook" && is == "None") {
      add("conversion-removed", "", "", "no webhook converts any more: what only it knew is lost",
          kBreaking, kBreaking, kBreaking, before, after);
    } else if (was == "None" && is == "Webhook") {
      add("conversion-added", "", "",
          "a webhook converts from now on: every version fails while it is away", kRisky, kRisky,
          kRisky, before, after);
    } else {
      add("conversion-changed", "", "", "the conversion webhook is another one", kRisky, kRisky,
          kRisky, before, after);
    }
  }

  static bool is_served(const Json& version) { return version.value("served", Json()) == true; }
  // Objects may be stored in it.
  bool holds_objects(const std::string& name, const Json& version) const {
    // One of both may come from a file, without a status.
    const auto stored_in = [&](const Json& crd) {
      const Json& stored = base::value_at(crd, {"status", "storedVersions"});
      return std::find(stored.begin(), stored.end(), Json(name)) != stored.end();
    };
    return version.value("storage", Json()) == true || stored_in(before_) || stored_in(after_);
  }

  void removed(const std::string& name, const Json& version) {
    const bool holds = holds_objects(name, version);
    const bool served = is_served(version);
    add("version-removed", name, "",
        holds ? "is removed while objects may be stored in it: migrate them and clear "
                "status.storedVersions first"
              : "is removed",
        holds ? kBreaking : kSafe, served ? kBreaking : kSafe, served ? kBreaking : kSafe);
  }

  void storage() {
    const auto stored_in = [](const Json& crd) {
      for (const Json& version : crd["spec"]["versions"]) {
        if (version.value("storage", Json()) == true) return base::string_at(version, {"name"});
      }
      return std::string();
    };
    const std::string before = stored_in(before_);
    const std::string after = stored_in(after_);
    if (before != after) {
      add("storage-changed", "", "",
          fmt::format(
              "objects are stored as {}, no longer as {}: old ones until they are written again",
              after, before),
          kRisky, kSafe, kSafe, before, after);
    }
  }

  // Through a version that is served every object is read and written, in whichever it is stored.
  // One that is not has neither readers nor writers, and where no object is stored in it, it is of
  // no consequence at all.
  void compare(const std::string& name, const Json& before, const Json& after) {
    const std::size_t first = out_.size();
    compare_all(name, before, after);
    if (is_served(before) || is_served(after)) return;
    const bool holds = holds_objects(name, before) || holds_objects(name, after);
    for (std::size_t i = first; i < out_.size(); ++i) {
      Change& change = out_[i];
      if (change.verdict() == kSafe) continue;
      change.writers = kSafe;
      change.readers = kSafe;
      if (!holds) change.stored = kSafe;
      change.message += holds ? " (the version is not served)"
                              : " (the version is neither served nor holds objects)";
    }
  }

  void compare_all(const std::string& name, const Json& before, const Json& after) {
    const bool was = is_served(before);
    const bool is = is_served(after);
    if (was && !is)
      add("version-unserved", name, "", "is no longer served", kSafe, kBreaking, kBreaking, true,
          false);
    if (!was && is) add("version-served", name, "", "is served", kSafe, kSafe, kSafe, false, true);
    const Json old_warning = Json::array(
        {before.value("deprecated", Json(false)), before.value("deprecationWarning", Json())});
    const Json new_warning = Json::array(
        {after.value("deprecated", Json(false)), after.value("deprecationWarning", Json())});
    if (old_warning != new_warning)
      add("deprecation-changed", name, "", "clients are warned otherwise", kSafe, kSafe, kSafe,
          old_warning, new_warning);
    subresources(name, before, after);
    columns(name, before, after);
    selectable(name, before, after);
    diff_schemas(base::value_at(before, {"schema", "openAPIV3Schema"}),
                 base::value_at(after, {"schema", "openAPIV3Schema"}), name, out_);
  }

  void subresources(const std::string& name, const Json& before, const Json& after) {
    const bool had_status = base::find(before, {"subresources", "status"}) != nullptr;
    const bool has_status = base::find(after, {"subresources", "status"}) != nullptr;
    if (had_status && !has_status)
      add("status-subresource-removed", name, ".status",
          "controllers write to /status, which is gone", kRisky, kBreaking, kSafe, true, false);
    if (!had_status && has_status)
      add("status-subresource-added", name, ".status",
          "status in ordinary writes is ignored from now on", kSafe, kBreaking, kSafe, false, true);
    const Json& old_scale = base::value_at(before, {"subresources", "scale"});
    const Json& new_scale = base::value_at(after, {"subresources", "scale"});
    if (old_scale == new_scale) return;
    if (new_scale.is_null())
      add("scale-removed", name, "", "kubectl scale and autoscalers fail", kSafe, kBreaking,
          kBreaking, old_scale, new_scale);
    if (old_scale.is_null())
      add("scale-added", name, "", "can be scaled", kSafe, kSafe, kSafe, old_scale, new_scale);
    if (!old_scale.is_null() && !new_scale.is_null())
      add("scale-changed", name, "", "scale reads and writes other fields", kSafe, kRisky, kRisky,
          old_scale, new_scale);
  }

  void columns(const std::string& name, const Json& before, const Json& after) {
    const Json old_columns = before.value("additionalPrinterColumns", Json());
    const Json new_columns = after.value("additionalPrinterColumns", Json());
    if (old_columns != new_columns)
      add("columns-changed", name, "", "kubectl get shows other columns", kSafe, kSafe, kSafe,
          old_columns, new_columns);
  }

  void selectable(const std::string& name, const Json& before, const Json& after) {
    const Json old_fields = before.value("selectableFields", Json::array());
    const Json new_fields = after.value("selectableFields", Json::array());
    for (const Json& field : old_fields) {
      if (std::find(new_fields.begin(), new_fields.end(), field) != new_fields.end()) continue;
      add("selectable-removed", name, base::string_at(field, {"jsonPath"}),
          "field selectors on it are refused", kSafe, kSafe, kBreaking, field);
    }
    for (const Json& field : new_fields) {
      if (std::find(old_fields.begin(), old_fields.end(), field) != old_fields.end()) continue;
      add("selectable-added", name, base::string_at(field, {"jsonPath"}), "can be selected by",
          kSafe, kSafe, kSafe, nullptr, field);
    }
  }

  struct Field {
    std::string type;
    std::string parent;  // "" = the object, which has no entry of a field
    bool open = false;   // what it has no entry for is kept
    bool meta = false;   // of a whole object, all of which the server keeps
  };
  using Paths = std::map<std::string, Field>;

  static std::string shown(const std::string& type) { return type.empty() ? "anything" : type; }

  static void paths(const Json& schema, const std::string& path, const std::string& parent,
                    int depth, Paths& out, bool meta = false) {
    if (!schema.is_object() || depth > 60) return;
    const bool open =
        meta || flag(schema, kPreserve) || schema.value("additionalProperties", Json()) == true;
    out[path] = {base::string_at(schema, {"type"}), parent, open, meta};
    if (const Json* items = base::find(schema, {"items"}))
      paths(*items, path + "[]", path, depth + 1, out, meta);
    if (const Json* values = base::find(schema, {"additionalProperties"}))
      paths(*values, path + "{}", path, depth + 1, out, meta);
    const bool resource = is_whole_object(schema, path);
    const Json* properties = base::find(schema, {"properties"});
    if (properties != nullptr && properties->is_object()) {
      for (const auto& [name, property] : properties->items()) {
        const bool own = resource && name == "metadata";
        paths(property, path + "." + name, path, depth + 1, out, meta || own);
      }
    }
    if (!resource) return;
    // These the server keeps of a whole object whatever the schema says, and of metadata all.
    out.emplace(path + ".apiVersion", Field{"string", path});
    out.emplace(path + ".kind", Field{"string", path});
    out.emplace(path + ".metadata", Field{"object", path, true, true});
  }

  static std::map<std::string, Paths> served_paths(const std::map<std::string, Json>& versions) {
    std::map<std::string, Paths> out;
    for (const auto& [name, version] : versions) {
      if (version.value("served", Json()) == true)
        paths(base::value_at(version, {"schema", "openAPIV3Schema"}), "", "", 0, out[name]);
    }
    return out;
  }

  // There of one object less is kept than here.
  static bool is_cut(const Field& here, const Field& there) {
    return here.meta && !there.meta && !there.open;
  }

  // Without a webhook an object is the same JSON in every version: a field that one of them lacks
  // is dropped by who reads and writes it there. Only what this change brings is told.
  void across_versions(const std::map<std::string, Json>& before,
                       const std::map<std::string, Json>& after) {
    if (base::value_at(after_, {"spec", "conversion", "strategy"}) == "Webhook") return;
    const auto old_paths = served_paths(before);
    const auto new_paths = served_paths(after);
    for (const auto& [name, fields] : new_paths) {
      for (const auto& [other, theirs] : new_paths) {
        if (name == other) continue;
        const auto was = old_paths.find(name);
        const auto was_other = old_paths.find(other);
        for (const auto& [path, field] : fields) {
          if (path.empty()) continue;
          const std::string& type = field.type;
          const auto twin = theirs.find(path);
          const bool cut = twin != theirs.end() && is_cut(field, twin->second);
          const bool lacks = cut || twin == theirs.end();
          if (!lacks && (twin->second.type == type || name > other)) continue;
          // Only the highest missing field is told.
          const auto around = theirs.find(field.parent);
          if (lacks && !cut && (around == theirs.end() || around->second.open)) continue;
          const bool known =
              was != old_paths.end() && was_other != old_paths.end() &&
              was->second.count(path) != 0 &&
              (cut ? was_other->second.count(path) != 0 &&
                         is_cut(was->second.at(path), was_other->second.at(path))
               : lacks ? was_other->second.count(path) == 0
                       : was_other->second.count(path) != 0 && was->second.at(path).type == type &&
                             was_other->second.at(path).type == twin->second.type);
          if (known) continue;
          if (lacks) {
            const std::string_view loss =
                cut ? "keeps only what its schema has of it and no webhook converts: read there "
                      "and written back the rest is dropped"
                    : "lacks it and no webhook converts: read there and written back it is dropped";
            add("version-lacks-field", name, path, fmt::format("version {} {}", other, loss),
                kRisky, kRisky, kRisky);
          } else {
            add("versions-disagree", name, path,
                fmt::format("is {} here and {} in {}, and no webhook converts", shown(type),
                            shown(twin->second.type), other),
                kBreaking, kBreaking, kBreaking);
          }
        }
      }
    }
  }

  const Json& before_;
  const Json& after_;
  std::vector<Change> out_;
};

}  // namespace

std::vector<Change> diff_crds(const Json& before, const Json& after) {
  Json old_crd = normalised(before);
  // Which versions hold objects is in the status, which normalised() drops.
  if (const Json* status = base::find(before, {"status"})) old_crd["status"] = *status;
  const Json new_crd = normalised(after);
  return CrdDiff(old_crd, new_crd).run();
}

Verdict Change::verdict() const {
  return std::max({stored, writers, readers});
}

Verdict worst_of(const std::vector<Change>& changes) {
  Verdict out = Verdict::safe;
  for (const Change& change : changes) out = std::max(out, change.verdict());
  return out;
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::safe: return "safe";
    case Verdict::risky: return "risky";
    case Verdict::breaking: return "breaking";
  }
  return "";
}

Json diff_json(const std::vector<Change>& changes) {
  Json list = Json::array();
  for (const Change& change : changes) {
    list.push_back({{"id", change.id},
                    {"version", change.version},
                    {"path", change.path},
                    {"message", change.message},
                    {"verdict", to_string(change.verdict())},
                    {"storedObjects", to_string(change.stored)},
                    {"writers", to_string(change.writers)},
                    {"readers", to_string(change.readers)},
                    {"before", change.before},
                    {"after", change.after}});
  }
  return {{"verdict", to_string(worst_of(changes))}, {"changes", std::move(list)}};
}

namespace {}  // namespace

std::string diff_markdown(const std::vector<Change>& changes) {
  if (changes.empty()) return "No changes.\n";
  std::string out =
      fmt::format("**{}** is the worst of {} change{}.\n\n", to_string(worst_of(changes)),
                  changes.size(), changes.size() == 1 ? "" : "s");
  out +=
      "| verdict | version | path | change | stored objects | writers | readers "
      "|\n|---|---|---|---|---|---|---|\n";
  for (const Change& change : changes) {
    out += fmt::format("| {} | {} | {} | {} | {} | {} | {} |\n", to_string(change.verdict()),
                       markdown_exact(change.version),
                       change.path.empty() ? "" : markdown_code(change.path, MarkdownPlace::table),
                       markdown_exact(change.message), to_string(change.stored),
                       to_string(change.writers), to_string(change.readers));
  }
  return out;
}

}  // namespace kubewatch::crdgen
