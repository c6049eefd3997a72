// Checks everything that a hook printed, before the first write.
#include "hooks/output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/yaml.hpp"
#include "hooks/output_fields.hpp"
#include "hooks/output_rights.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxObjects = 10000;
constexpr std::size_t kMaxListDepth = 4;

Error invalid_output(std::string message) {
  return Error(ErrorKind::invalid, std::move(message));
}

std::string shown(ChildId id) {
  id.key = {shown_name(id.key.namespace_), shown_name(id.key.name)};
  return id.str();
}

// Of a list without items Go programs print null. An object of a custom kind whose name ends so has
// a name itself.
bool is_list(const Json& document) {
  const auto items = document.find("items");
  if (!base::string_at(document, {"kind"}).ends_with("List") || items == document.end()) {
    return false;
  }
  return items->is_array() ||
         (items->is_null() && base::string_at(document, {"metadata", "name"}).empty());
}

bool is_plain_list(const Json& document) {
  return base::string_at(document, {"kind"}) == "List" &&
         base::string_at(document, {"apiVersion"}) == "v1";
}

// One pass over one output.
class Reader {
 public:
  explicit Reader(const OutputContext& context) : context_(context) {}

  Result<HookOutput> read(const std::vector<Json>& documents) {
    for (std::size_t i = 0; i < documents.size(); ++i) {
      place_ = fmt::format("document {}", i + 1);
      KW_TRY(expand(documents[i], 0).with_context(place_));
    }
    for (const Printed& printed : objects_) note_crd(printed.object);
    for (Printed& printed : objects_) {
      KW_TRY(take_manifest(std::move(printed.object)).with_context(printed.place));
    }
    if (!out_.result) return std::move(out_);
    for (const Json& object : out_.result->create) KW_TRY(take_create(object));
    for (const HookPatch& patch : out_.result->patches) KW_TRY(take_patch(patch));
    for (const Json& target : out_.result->remove) KW_TRY(take_delete(target));
    for (const HookEvent& event : out_.result->events) KW_TRY(take_event(event));
    if (out_.result->children_none && (printed_child_ || !out_.create.empty())) {
      return invalid_result("children: none, but children are printed or created as well");
    }
    KW_TRY(check_status());
    return std::move(out_);
  }

 private:
  struct Printed {
    Json object;
    std::string place;  // "document 2, item 3"
  };

  Result<void> expand(const Json& document, std::size_t depth);
  Result<void> take_result(const Json& document);
  Result<void> take_manifest(Json object);
  Result<void> take_create(const Json& object);
  Result<void> take_patch(const HookPatch& patch);
  Result<void> take_delete(const Json& target);
  Result<void> take_event(HookEvent event);
  Result<void> check_status();
  Result<void> take_own(Manifest manifest);
  Result<Manifest> check(Json object);
  Result<void> place(Manifest& manifest);
  Result<core::ResourceType> type_of(const core::Gvk& gvk) const;
  void note_crd(const Json& object);
  bool is_own(const Manifest& manifest) const {
    return manifest.type.gvk.group == context_.owner.gvk.group &&
           manifest.type.gvk.kind == context_.owner.gvk.kind && manifest.key == context_.owner.key;
  }

  const OutputContext& context_;
  std::vector<Printed> objects_;
  std::string place_;  // of what is expanded
  std::map<core::Gvk, core::ResourceType> from_crds_;
  std::set<ChildId> seen_;
  bool printed_child_ = false;
  HookOutput out_;
};

Result<void> Reader::expand(const Json& document, std::size_t depth) {
  if (document.is_array()) {
    return invalid_output(
        "must be an object, not a list: print each item as a document of its own, or all as the "
        "items of a kind: List");
  }
  if (!document.is_object()) {
    return invalid_output(
        fmt::format("must be an object, not {}: print manifests on stdout and everything "
                    "else on stderr",
                    document.type_name()));
  }
  if (is_result_document(document)) return take_result(document);
  if (!is_list(document)) {
    if (is_plain_list(document)) {
      return invalid_output("v1 List without a list of items: what it holds stands under items");
    }
    if (objects_.size() >= kMaxObjects) {
      return Error(ErrorKind::too_large, fmt::format("more than {} objects", kMaxObjects));
    }
    objects_.push_back({document, place_});
    return {};
  }
  if (depth >= kMaxListDepth) return invalid_output("lists nested too deeply");
  const std::string list_kind = base::string_at(document, {"kind"});
  const std::string list = place_;
  std::size_t number = 0;
  for (const Json& item : document["items"]) {
    place_ = fmt::format("{}, item {}", list, ++number);
    Json object = item;
    if (object.is_object() && list_kind != "List" && !object.contains("kind")) {
      object["kind"] = list_kind.substr(0, list_kind.size() - 4);
      object["apiVersion"] = document.value("apiVersion", Json());
    }
    KW_TRY(expand(object, depth + 1));
  }
  return {};
}

Result<void> Reader::take_result(const Json& document) {
  if (out_.result) return invalid_output("a second Result document; there may be one");
  KW_ASSIGN(out_.result, parse_result_document(document));
  if (!context_.has_status && (out_.result->status || !out_.result->conditions.empty())) {
    if (context_.owner.none() || context_.deleted) {
      return invalid_result("there is no object whose status and conditions could be written");
    }
    return invalid_result(
        fmt::format("{} has no status subresource, so status and conditions cannot "
                    "be written",
                    context_.owner.gvk.str()));
  }
  return {};
}

void Reader::note_crd(const Json& object) {
  const std::string group = base::string_at(object, {"spec", "group"});
  const std::string kind = base::string_at(object, {"spec", "names", "kind"});
  const Json* versions = base::find(object, {"spec", "versions"});
  if (base::string_at(object, {"kind"}) != "CustomResourceDefinition" || versions == nullptr ||
      !versions->is_array()) {
    return;
  }
  for (const Json& version : *versions) {
    const core::Gvk gvk{group, base::string_at(version, {"name"}), kind};
    if (auto type = type_from_crd(object, gvk)) from_crds_[gvk] = *type;
  }
}

Result<core::ResourceType> Reader::type_of(const core::Gvk& gvk) const {
  if (auto it = from_crds_.find(gvk); it != from_crds_.end()) return it->second;
  if (const core::ResourceType* type = context_.type_of(gvk)) return *type;
  const std::string meant = context_.meant_by ? context_.meant_by(gvk) : "";
  return Error(ErrorKind::not_found,
               fmt::format("the server has no kind {}{}", gvk.str(),
                           meant.empty() ? ": is its CustomResourceDefinition installed?"
                                         : "; did you mean " + meant + "?"));
}

// Names, forbidden fields and rights that manifests and `create` objects share.
Result<Manifest> Reader::check(Json object) {
  KW_ASSIGN(const core::Gvk gvk, core::gvk_of(object));
  if (gvk.group == "kubewatch.dev") {
    return invalid_output(fmt::format("unknown document {} (known: Result)", gvk.str()));
  }
  Json* metadata = base::find(object, {"metadata"});
  if (metadata == nullptr || !metadata->is_object()) {
    return invalid_output(fmt::format("{} without metadata", gvk.str()));
  }
  const std::string name = base::string_at(*metadata, {"name"});
  if (metadata->contains("generateName")) {
    return invalid_output(fmt::format(
        "{}: generateName would make a new object in each run; print a name", gvk.str()));
  }
  if (const Json* given = base::find(*metadata, {"name"});
      given != nullptr && !given->is_string()) {
    return invalid_output(fmt::format("{}: metadata.name is {}, not text; quote it", gvk.str(),
                                      base::dump_json(*given)));
  }
  if (name.empty()) return invalid_output(fmt::format("{} without metadata.name", gvk.str()));
  KW_TRY(check_key(gvk, {base::string_at(*metadata, {"namespace"}), name}));
  if (const Json* ns = base::find(*metadata, {"namespace"});
      ns && !ns->is_string() && !ns->is_null()) {
    return invalid_output(
        fmt::format("{} {}: metadata.namespace must be a string", gvk.kind, shown_name(name)));
  }
  for (const char* key : {"managedFields", "ownerReferences", "uid", "resourceVersion"}) {
    if (metadata->contains(key) && !(*metadata)[key].is_null()) {
      return invalid_output(
          fmt::format("{} {}: metadata.{} is kept by the server and kubewatch; leave it out",
                      gvk.kind, shown_name(name), key));
    }
    metadata->erase(key);
  }
  metadata->erase("creationTimestamp");
  KW_ASSIGN(core::ResourceType type, type_of(gvk));
  Manifest out{
      std::move(type), {base::string_at(*metadata, {"namespace"}), name}, std::move(object)};
  KW_TRY(place(out));
  KW_ASSIGN(const FieldsVerdict fields,
            check_fields(out.type.gvk, out.object).with_context(shown(out.id())));
  if (!context_.check_schema) return out;
  KW_ASSIGN(const bool unknown, context_.check_schema(out.type.gvk, out.object)
                                    .with_context("the schema refuses " + shown(out.id())));
  out.ask_first = unknown || fields == FieldsVerdict::to_ask;
  return out;
}

// Fills in the namespace, or refuses one.
Result<void> Reader::place(Manifest& manifest) {
  core::ObjectKey& key = manifest.key;
  Json& metadata = manifest.object["metadata"];
  if (!manifest.type.namespaced) {
    if (!key.namespace_.empty()) {
      return invalid_output(fmt::format("{} {} is cluster-scoped; leave out metadata.namespace",
                                        manifest.type.gvk.kind, shown_name(key.name)));
    }
    metadata.erase("namespace");
    return {};
  }
  if (key.namespace_.empty()) key.namespace_ = context_.owner.key.namespace_;
  if (key.namespace_.empty()) {
    return invalid_output(fmt::format(
        "{} {} needs a metadata.namespace: {}", manifest.type.gvk.kind, shown_name(key.name),
        context_.owner.none() ? "the rule has no object whose it could be"
                              : "its owner is cluster-scoped"));
  }
  metadata["namespace"] = key.namespace_;
  return {};
}

Result<void> check_labels(const Json& object, const ChildId& id) {
  for (const char* map : {"labels", "annotations"}) {
    const Json* values = base::find(object, {"metadata", map});
    if (values == nullptr || values->is_null()) continue;
    if (!values->is_object())
      return invalid_output(fmt::format("{}: metadata.{} is no map", shown(id), map));
    for (const auto& [key, value] : values->items()) {
      if (key.rfind(kDomain, 0) == 0 && key != kPruneAnnotation) {
        return invalid_output(fmt::format("{}: metadata.{}: {} is kept by kubewatch; leave it out",
                                          shown(id), map, key));
      }
    }
  }
  return {};
}

Result<void> Reader::take_manifest(Json object) {
  KW_ASSIGN(Manifest manifest, check(std::move(object)));
  const ChildId id = manifest.id();
  if (const Json* status = base::find(manifest.object, {"status"}); status != nullptr) {
    if (!status->is_null() && !(status->is_object() && status->empty())) {
      return invalid_output(
          fmt::format("{}: status is not a manifest's to set; leave it out", shown(id)));
    }
    manifest.object.erase("status");
  }
  KW_TRY(check_labels(manifest.object, id));
  if (context_.deleted) {
    return invalid_output(
        fmt::format("{} printed for an object that is deleted: nothing could own it", shown(id)));
  }
  if (!context_.manifests_allowed) {
    return invalid_output(fmt::format(
        "{} printed while finalizing; set finalize.apply: true to allow it", shown(id)));
  }
  if (!seen_.insert(id).second)
    return invalid_output(fmt::format("{} is printed twice", shown(id)));
  if (is_own(manifest)) return take_own(std::move(manifest));
  printed_child_ = true;
  KW_TRY(check_rights(context_.rule, context_.owner, manifest.type.gvk, manifest.key.namespace_,
                      context_.selects)
             .with_context(shown(id)));
  out_.manifests.push_back(std::move(manifest));
  return {};
}

Result<void> Reader::take_own(Manifest manifest) {
  static const std::set<std::string> top = {"apiVersion", "kind", "metadata"};
  static const std::set<std::string> meta = {"name", "namespace", "labels", "annotations"};
  std::string wrong;
  for (const auto& [key, value] : manifest.object.items()) {
    if (top.count(key) == 0) wrong = key;
  }
  for (const auto& [key, value] : manifest.object["metadata"].items()) {
    if (meta.count(key) == 0) wrong = "metadata." + key;
  }
  if (!wrong.empty()) {
    return invalid_output(
        fmt::format("{} is the object itself: a hook may print its labels and annotations "
                    "only, not {} (status goes into the Result; {})",
                    shown(manifest.id()), wrong, kOtherOwnFields));
  }
  out_.own = std::move(manifest);
  return {};
}

Result<void> Reader::take_create(const Json& object) {
  auto checked = check(object);
  if (!checked.ok()) return std::move(checked.error()).with_context("Result: create");
  Manifest manifest = std::move(*checked);
  const ChildId id = manifest.id();
  KW_TRY(check_labels(manifest.object, id).with_context("Result: create"));
  if (context_.deleted) {
    return invalid_result(
        fmt::format("create: {} for an object that is deleted: nothing could own it", shown(id)));
  }
  if (!context_.manifests_allowed) {
    return invalid_result(
        fmt::format("create: {} while finalizing; set finalize.apply: true to "
                    "allow it",
                    shown(id)));
  }
  if (is_own(manifest)) return invalid_result("create: the object itself exists already");
  if (!seen_.insert(id).second) {
    return invalid_result(fmt::format("create: {} is printed twice", shown(id)));
  }
  KW_TRY(check_rights(context_.rule, context_.owner, manifest.type.gvk, manifest.key.namespace_,
                      context_.selects)
             .with_context("Result: create: " + shown(id)));
  out_.create.push_back(std::move(manifest));
  return {};
}

Result<void> Reader::take_patch(const HookPatch& patch) {
  const auto checked = [&]() -> Result<PatchTarget> {
    KW_ASSIGN(const core::Gvk gvk, core::gvk_of(patch.target));
    KW_ASSIGN(core::ResourceType type, type_of(gvk));
    return check_patch(patch, std::move(type), context_.rule, context_.owner, context_.selects);
  };
  KW_ASSIGN(PatchTarget target, checked().with_context("Result: patches"));
  out_.patches.push_back(std::move(target));
  return {};
}

Result<void> Reader::take_event(HookEvent event) {
  if (event.regarding) {
    const auto gvk = core::gvk_of(*event.regarding);
    const core::ResourceType* type = gvk.ok() ? context_.type_of(*gvk) : nullptr;
    if (type != nullptr) {
      const auto key = place_target(*type, *event.regarding, context_.owner);
      if (!key.ok()) return Error(key.error()).with_context("Result: events: " + event.reason);
      if (type->namespaced) (*event.regarding)["namespace"] = key->namespace_;
    }
  }
  const IsNamespaced namespaced = [this](const core::Gvk& gvk) -> std::optional<bool> {
    const core::ResourceType* type = context_.type_of(gvk);
    if (type == nullptr) return std::nullopt;
    return type->namespaced;
  };
  KW_ASSIGN(runtime::Happening happening,
            check_event(event, context_.rule, context_.owner, context_.selects, namespaced)
                .with_context("Result: events"));
  out_.events.push_back(std::move(happening));
  return {};
}

Result<void> Reader::take_delete(const Json& target) {
  auto gvk = core::gvk_of(target);
  if (!gvk.ok()) return std::move(gvk.error()).with_context("Result: delete");
  DeleteTarget out;
  auto type = type_of(*gvk);
  if (!type.ok()) return std::move(type.error()).with_context("Result: delete");
  out.type = std::move(*type);
  auto key = place_target(out.type, target, context_.owner);
  if (!key.ok()) return std::move(key.error()).with_context("Result: delete");
  out.key = std::move(*key);
  const ChildId id = child_id(out.type.gvk, out.key);
  KW_TRY(check_rights(context_.rule, context_.owner, out.type.gvk, out.key.namespace_,
                      context_.selects)
             .with_context("Result: delete: " + shown(id)));
  if (!seen_.insert(id).second) {
    return invalid_result(fmt::format("delete: {} is printed as well, or there twice", shown(id)));
  }
  out_.deletes.push_back(std::move(out));
  return {};
}

// A schema that comes with the same output is not known yet.
Result<void> Reader::check_status() {
  const core::Gvk& gvk = context_.owner.gvk;
  if (!context_.check_status || from_crds_.count(gvk) > 0) return {};
  KW_ASSIGN(out_.ask_status,
            context_.check_status(*out_.result)
                .with_context("Result: the schema refuses the status of " + gvk.str()));
  return {};
}

}  // namespace

bool is_crd(const core::Gvk& gvk) {
  return gvk.group == "apiextensions.k8s.io" && gvk.kind == "CustomResourceDefinition";
}

std::optional<core::ResourceType> type_from_crd(const Json& crd, const core::Gvk& gvk) {
  if (base::string_at(crd, {"spec", "group"}) != gvk.group ||
      base::string_at(crd, {"spec", "names", "kind"}) != gvk.kind) {
    return std::nullopt;
  }
  for (const Json& version : base::items_at(crd, {"spec", "versions"})) {
    const Json* served = base::find(version, {"served"});
    if (base::string_at(version, {"name"}) != gvk.version || served == nullptr || *served != true) {
      continue;
    }
    core::ResourceType type;
    type.gvk = gvk;
    type.plural = base::string_at(crd, {"spec", "names", "plural"});
    type.singular = base::string_at(crd, {"spec", "names", "singular"});
    type.namespaced = base::string_at(crd, {"spec", "scope"}) != "Cluster";
    if (type.plural.empty()) return std::nullopt;
    if (base::find(version, {"subresources", "status"}) != nullptr) {
      type.subresources.push_back({"status", gvk, {"get", "patch", "update"}});
    }
    return type;
  }
  return std::nullopt;
}

Result<HookOutput> parse_output(std::string_view text, const OutputContext& context) {
  if (text.empty()) return HookOutput{};  // of most hooks that are run for what they do
  base::YamlLimits limits;
  limits.max_bytes = std::max(limits.max_bytes, context.max_output);
  auto documents = base::parse_yaml_values(text, limits);
  if (!documents.ok()) {
    return std::move(documents.error())
        .with_context(
            "stdout is not valid YAML or JSON (print manifests on stdout and everything else on "
            "stderr)");
  }
  return Reader(context).read(*documents);
}

Result<HookOutput> parse_output_list(std::string_view json, const OutputContext& context) {
  if (json.empty() || json == "[]") return HookOutput{};
  base::JsonLimits limits;
  limits.max_bytes = std::max(limits.max_bytes, context.max_output);
  limits.max_depth = base::YamlLimits{}.max_depth + 1;
  auto documents = base::parse_json(json, limits);
  if (!documents.ok()) {
    return std::move(documents.error()).with_context("\"documents\" is not valid JSON");
  }
  if (!documents->is_array()) return invalid_output("\"documents\" must be a list");
  return Reader(context).read(documents->get_ref<const Json::array_t&>());
}

}  // namespace kubewatch::hooks
