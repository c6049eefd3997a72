// What a hook's patches and events may touch.
#include "hooks/output_extras.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/json_pointer.hpp"
#include "hooks/output_fields.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::hooks {
namespace {

Error invalid(std::string message) {
  return Error(ErrorKind::invalid, std::move(message));
}

bool is_kept_key(const std::string& key) {
  return key.rfind(kDomain, 0) == 0 && key != kPruneAnnotation;
}

constexpr std::array<const char*, 6> kKeptFields = {
    "managedFields", "ownerReferences", "uid", "name", "namespace", "generateName"};

// metadata of a merge or strategic patch.
Result<void> check_metadata(const Json& metadata) {
  if (!metadata.is_object()) return invalid("metadata must be an object");
  for (const char* field : kKeptFields) {
    if (metadata.contains(field)) {
      return invalid(fmt::format("metadata.{} is not a patch's to change", field));
    }
  }
  for (const char* map : {"labels", "annotations"}) {
    const Json* values = base::find(metadata, {map});
    if (values == nullptr) continue;
    if (!values->is_object()) {
      return invalid(
          fmt::format("metadata.{} must be a mapping: to remove one, set it to null "
                      "by its name",
                      map));
    }
    for (const auto& [key, value] : values->items()) {
      if (is_kept_key(key) || key.rfind('$', 0) == 0) {
        return invalid(fmt::format("metadata.{}: {} is kept by kubewatch; leave it out", map, key));
      }
    }
  }
  return check_text_maps(metadata);
}

Result<void> check_merge(const Json& patch, const core::Gvk& gvk) {
  for (const auto& [key, value] : patch.items()) {
    if (key == "$patch" || key == "$retainKeys") {
      return invalid(key + " of the whole object is not a patch's to say");
    }
    if ((key == "apiVersion" && value != gvk.api_version()) || (key == "kind" && value != gvk.kind))
      return invalid(key + " differs from the target's");
    if (key == "metadata") {
      KW_TRY(check_metadata(value));
      for (const auto& [inner, unused] : value.items()) {
        if (inner.rfind('$', 0) == 0) return invalid(inner + " is no metadata");
      }
    }
  }
  return {};
}

// "/metadata/labels/kubewatch.dev~1x" -> what is wrong with writing there; "" when nothing is.
std::string wrong_pointer(const std::string& pointer) {
  if (pointer.empty() || pointer == "/metadata") return "replaces the whole metadata";
  static const std::string metadata = "/metadata/";
  if (pointer.rfind(metadata, 0) != 0) return "";
  const std::string rest = pointer.substr(metadata.size());
  const std::size_t slash = rest.find('/');
  const std::string field = rest.substr(0, slash);
  for (const char* kept : kKeptFields) {
    if (field == kept) return fmt::format("changes metadata.{}, which is not a patch's", kept);
  }
  if (field != "labels" && field != "annotations") return "";
  if (slash == std::string::npos) {
    return "replaces all " + field + ": name one, or use the type merge";
  }
  std::string key = rest.substr(slash + 1);
  for (std::size_t at = key.find("~1"); at != std::string::npos; at = key.find("~1")) {
    key.replace(at, 2, "/");
  }
  return is_kept_key(key) ? "changes " + key + ", which is kept by kubewatch" : "";
}

// What an operation sets one label or annotation to.
Result<void> check_set_text(const std::string& pointer, const Json& value) {
  for (const char* map : {"labels", "annotations"}) {
    const std::string place = fmt::format("/metadata/{}/", map);
    if (!pointer.starts_with(place)) continue;
    const std::string key = base::unescape_pointer(pointer.substr(place.size()));
    return check_text_maps({{map, {{key, value}}}});
  }
  return {};
}

Result<void> check_operations(const Json& operations) {
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Json& operation = operations[i];
    const std::string op = base::string_at(operation, {"op"});
    if (op == "test") continue;
    std::string wrong = wrong_pointer(base::string_at(operation, {"path"}));
    if (wrong.empty() && op == "move") wrong = wrong_pointer(base::string_at(operation, {"from"}));
    if (!wrong.empty()) return invalid(fmt::format("operation {} {}", i, wrong));
    const auto value = operation.find("value");
    if (value == operation.end() || (op != "add" && op != "replace")) continue;
    KW_TRY(check_set_text(base::string_at(operation, {"path"}), *value)
               .with_context(fmt::format("operation {}", i)));
  }
  return {};
}

// The API server reads strategic patches of its own kinds only.
bool takes_strategic(const core::Gvk& gvk) {
  if (schema::builtin_merge_schema(gvk) != nullptr) return true;
  static constexpr std::string_view own = ".k8s.io";
  return gvk.group.find('.') == std::string::npos ||
         (gvk.group.size() > own.size() &&
          gvk.group.compare(gvk.group.size() - own.size(), own.size(), own) == 0);
}

bool names_kind(const Rule& rule, const core::Gvk& gvk) {
  const auto same = [&gvk](const core::Gvk& other) {
    return other.group == gvk.group && other.kind == gvk.kind;
  };
  return same(rule.for_.gvk) || is_declared(rule, gvk) ||
         std::any_of(rule.watches.begin(), rule.watches.end(),
                     [&](const WatchesRule& watches) { return same(watches.stream.gvk); });
}

core::ObjectRef reference_of(const Owner& owner) {
  return {owner.gvk.api_version(), owner.gvk.kind, owner.namespaced ? owner.key.namespace_ : "",
          owner.key.name, owner.uid};
}

bool is_path_part(const std::string& name) {
  return name != "." && name != ".." && name.find_first_of("/%") == std::string::npos;
}

}  // namespace

std::string shown_name(const std::string& name) {
  constexpr std::size_t kLongestName = 253;
  if (name.size() <= kLongestName) return name;
  return fmt::format("(a name of {} bytes)", name.size());
}

Result<void> check_key(const core::Gvk& gvk, const core::ObjectKey& key) {
  const bool named = is_path_part(key.name);
  if (named && is_path_part(key.namespace_)) return {};
  return invalid(fmt::format("{}: \"{}\" cannot be a {}", gvk.str(),
                             shown_name(named ? key.namespace_ : key.name),
                             named ? "namespace" : "name"));
}

Result<core::ObjectKey> place_target(const core::ResourceType& type, const Json& target,
                                     const Owner& owner) {
  core::ObjectKey key{base::string_at(target, {"namespace"}), base::string_at(target, {"name"})};
  if (key.name.empty()) return invalid("an entry without name");
  KW_TRY(check_key(type.gvk, key));
  if (!type.namespaced) {
    if (key.namespace_.empty()) return key;
    return invalid(fmt::format("{} is cluster-scoped; leave out namespace", type.gvk.kind));
  }
  if (key.namespace_.empty()) key.namespace_ = owner.key.namespace_;
  if (!key.namespace_.empty()) return key;
  return invalid(fmt::format("{} {} needs a namespace", type.gvk.kind, key.name));
}

Result<PatchTarget> check_patch(const HookPatch& patch, core::ResourceType type, const Rule& rule,
                                const Owner& owner, const SelectsNamespace& selects) {
  KW_ASSIGN(const core::ObjectKey key, place_target(type, patch.target, owner));
  const core::Gvk gvk = type.gvk;
  PatchTarget out{std::move(type), key, patch.subresource, patch.type, patch.patch};
  const auto check = [&]() -> Result<void> {
    KW_TRY(check_rights(rule, owner, gvk, key.namespace_, selects));
    if (out.id() == child_id(owner.gvk, owner.key)) {
      return invalid(
          fmt::format("is the object itself: print its labels and annotations as a manifest, and "
                      "its status in the Result; {}",
                      kOtherOwnFields));
    }
    if (!patch.subresource.empty() && !out.type.has_subresource(patch.subresource)) {
      return invalid(fmt::format("{} has no subresource {}", gvk.str(), patch.subresource));
    }
    if (patch.type == core::PatchType::strategic && !takes_strategic(gvk)) {
      return invalid(fmt::format(
          "the server takes no strategic patches of {}; use the type merge or json", gvk.str()));
    }
    return patch.type == core::PatchType::json ? check_operations(patch.patch)
                                               : check_merge(patch.patch, gvk);
  };
  KW_TRY(check().with_context(out.id().str()));
  return out;
}

Result<runtime::Happening> check_event(const HookEvent& event, const Rule& rule, const Owner& owner,
                                       const SelectsNamespace& selects,
                                       const IsNamespaced& namespaced) {
  runtime::Happening out;
  out.type = event.warning ? runtime::EventType::warning : runtime::EventType::normal;
  out.reason = event.reason;
  out.action = event.action;
  out.note = event.note;
  if (!event.regarding) {
    if (owner.key.name.empty()) {
      return invalid("event " + event.reason + " has no regarding, and the run has no object");
    }
    out.regarding = reference_of(owner);
    return out;
  }
  KW_ASSIGN(const core::Gvk gvk, core::gvk_of(*event.regarding));
  if (!names_kind(rule, gvk)) {
    return invalid(
        fmt::format("event {} regards {}, a kind that controller {} does not name in "
                    "`for`, `owns`, `writes` or `watches`",
                    event.reason, gvk.str(), rule.name));
  }
  out.regarding = {gvk.api_version(), gvk.kind, base::string_at(*event.regarding, {"namespace"}),
                   base::string_at(*event.regarding, {"name"}),
                   base::string_at(*event.regarding, {"uid"})};
  const bool own = gvk.group == owner.gvk.group && gvk.kind == owner.gvk.kind &&
                   out.regarding.name == owner.key.name &&
                   out.regarding.namespace_ == owner.key.namespace_;
  if (own && out.regarding.uid.empty()) out.regarding.uid = owner.uid;
  KW_TRY(check_event_place(rule, owner, gvk, out.regarding.namespace_, selects, namespaced)
             .with_context("event " + event.reason));
  return out;
}

}  // namespace kubewatch::hooks
