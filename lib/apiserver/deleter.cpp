#include "apiserver/deleter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apiserver/crd.hpp"
#include "apiserver/metadata.hpp"

namespace kubewatch::apiserver {

namespace {

bool has(const Json& finalizers, const char* name) {
  return std::find(finalizers.begin(), finalizers.end(), Json(name)) != finalizers.end();
}

// Finalizers with the two of the garbage collector as the policy wants them; those that are there
// when it wants no others, whatever their order.
Json wanted_finalizers(const Resource& resource, const Json& object, const std::string& policy) {
  const Json& now = base::items_at(object, {"metadata", "finalizers"});
  bool orphan = policy == "Orphan" || (policy.empty() && has(now, kOrphanFinalizer));
  bool foreground = policy == "Foreground" || (policy.empty() && has(now, kForegroundFinalizer));
  const bool old_kind =
      resource.storage_id == "jobs.batch" || resource.storage_id == "replicationcontrollers";
  if (policy.empty() && old_kind && !foreground) orphan = true;
  // Nothing waits for what an Event owns.
  if (resource.storage_id == "events") orphan = foreground = false;
  Json out = Json::array();
  for (const auto& one : now) {
    if (one != kOrphanFinalizer && one != kForegroundFinalizer) out.push_back(one);
  }
  if (orphan) out.push_back(kOrphanFinalizer);
  if (foreground) out.push_back(kForegroundFinalizer);
  const std::set<Json> before(now.begin(), now.end());
  return before == std::set<Json>(out.begin(), out.end()) ? now : out;
}

Result<void> check_preconditions(const WriteContext& context, const Object& live,
                                 const DeleteOptions& options) {
  const Subject subject = context.resource->kind_subject(context.name);
  if (options.uid && *options.uid != live.uid()) {
    return conflict(subject, fmt::format("the UID in the precondition ({}) does not match the UID "
                                         "in record ({}). The object might have been deleted and "
                                         "then recreated",
                                         *options.uid, live.uid()));
  }
  if (options.resource_version && *options.resource_version != std::to_string(live.version())) {
    return conflict(subject, fmt::format("the ResourceVersion in the precondition ({}) does not "
                                         "match the ResourceVersion in record ({}). The object "
                                         "might have been modified",
                                         *options.resource_version, live.version()));
  }
  return {};
}

// Whether mark() has nothing to do. Objects are large, and asked again for each that goes.
bool is_dying_with_grace(const Json& object) {
  return is_dying(object) && object.at("metadata").contains("deletionGracePeriodSeconds");
}

// Marks the object as dying. One that was dying without grace, a CRD or a Namespace, is not of
// another generation with it.
void mark(const WriteContext& context, Json& object, bool with_grace) {
  Json& metadata = object["metadata"];
  const bool begins = !metadata.contains("deletionTimestamp");
  if (begins) metadata["deletionTimestamp"] = base::format_rfc3339(context.now);
  if (!with_grace || metadata.contains("deletionGracePeriodSeconds")) return;
  metadata["deletionGracePeriodSeconds"] = 0;
  const auto generation = base::int_at(metadata, {"generation"});
  if (begins && generation && *generation > 0) metadata["generation"] = *generation + 1;
}

ObjectPtr store(Storage& storage, const WriteContext& context, Json object) {
  if (context.dry_run) return std::make_shared<const Object>(std::move(object));
  return storage.put(context.resource->storage_id, std::move(object));
}

// The first delete of it, whose policy nobody asks for: its objects go first.
Deleted mark_crd(Storage& storage, const WriteContext& context, const ObjectPtr& live) {
  Json object = live->json();
  mark(context, object, false);
  Json& finalizers = object["metadata"]["finalizers"];
  if (!finalizers.is_array()) finalizers = Json::array();
  if (!has(finalizers, kCrdFinalizer)) finalizers.push_back(kCrdFinalizer);
  set_condition(object["status"], "Terminating", "True", "InstanceDeletionPending",
                "CustomResourceDefinition marked for deletion; CustomResource deletion will begin "
                "soon",
                context.now);
  return Deleted{store(storage, context, std::move(object)), false};
}

// Waits for its finalizers. Another delete may want others than the one before.
Deleted let_die(Storage& storage, const WriteContext& context, const ObjectPtr& live,
                const Json& finalizers) {
  if (is_dying_with_grace(live->json()) &&
      finalizers == base::items_at(live->json(), {"metadata", "finalizers"})) {
    return Deleted{live, false};
  }
  Json object = live->json();
  mark(context, object, true);
  object["metadata"]["finalizers"] = finalizers;
  return Deleted{store(storage, context, std::move(object)), false};
}

Deleted take_away(Storage& storage, const WriteContext& context, const ObjectPtr& live) {
  const Resource& resource = *context.resource;
  const bool by_status = !resource.traits.answers_with_object;
  const ObjectPtr last = context.dry_run ? live : storage.remove(resource.storage_id, live->key());
  if (resource.storage_id != "pods") return Deleted{last, by_status, true};
  // A Pod is answered dying without grace: there is no kubelet to wait for.
  Json object = last->json();
  mark(context, object, true);
  return Deleted{std::make_shared<const Object>(std::move(object)), by_status, true};
}

Deleted end(Storage& storage, const WriteContext& context, const ObjectPtr& live,
            const Json& finalizers) {
  return finalizers.empty() ? take_away(storage, context, live)
                            : let_die(storage, context, live, finalizers);
}

// A Namespace has what is in it taken away first, by who then removes the finalizers of its spec.
Result<Deleted> delete_namespace(Storage& storage, const WriteContext& context,
                                 const ObjectPtr& live, const Json& finalizers) {
  static const std::set<std::string> kept = {"default", "kube-system", "kube-public"};
  if (kept.count(context.name) != 0) {
    return forbidden(context.resource->subject(context.name), "this namespace may not be deleted");
  }
  if (!is_dying(live->json())) {
    Json object = live->json();
    mark(context, object, false);
    object["status"]["phase"] = "Terminating";
    if (!finalizers.empty()) {
      object["metadata"]["finalizers"] = finalizers;
    } else {
      object["metadata"].erase("finalizers");
    }
    return Deleted{store(storage, context, std::move(object)), false};
  }
  const Json* holding = base::find(live->json(), {"spec", "finalizers"});
  if (holding != nullptr && !holding->empty()) return Deleted{live, false};
  return end(storage, context, live, finalizers);
}

}  // namespace

Result<Deleted> delete_object(Storage& storage, const WriteContext& context,
                              const DeleteOptions& options) {
  const Resource& resource = *context.resource;
  const std::string ns = resource.type.namespaced ? context.namespace_ : "";
  const ObjectPtr live = storage.get(resource.storage_id, object_key(ns, context.name));
  if (!live) return not_found(resource.subject(context.name));
  KW_TRY(check_preconditions(context, *live, options));
  if (resource.storage_id == kCrds && !is_dying(live->json())) {
    return mark_crd(storage, context, live);
  }
  const bool is_namespace = resource.storage_id == "namespaces";
  std::string policy = options.propagation;
  // Dependents that are not to be left are waited for, of a Namespace alone.
  if (is_namespace && options.by_orphan_flag && policy == "Background") policy = "Foreground";
  const Json finalizers = wanted_finalizers(resource, live->json(), policy);
  return is_namespace ? delete_namespace(storage, context, live, finalizers)
                      : end(storage, context, live, finalizers);
}

void delete_all(Storage& storage, const ResourcePtr& resource, const std::string& prefix,
                const std::string& manager, const DeleteOptions& options, WallTime now) {
  std::vector<core::ObjectKey> all;
  storage.each(resource->storage_id, prefix, "", [&](const ObjectPtr& object) {
    all.push_back({object->namespace_(), object->name()});
    return true;
  });
  for (const core::ObjectKey& key : all) {
    WriteContext context;
    context.resource = resource;
    context.namespace_ = key.namespace_;
    context.name = key.name;
    context.manager = manager;
    context.now = now;
    (void)delete_object(storage, context, options);
  }
}

std::vector<std::string> delete_warnings(const Resource& resource, const DeleteOptions& options) {
  if (resource.storage_id != "jobs.batch" || !options.propagation.empty()) return {};
  return {
      "child pods are preserved by default when jobs are deleted; set "
      "propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress "
      "this warning"};
}

Json deleted_status(const Resource& resource, const Object& object) {
  Json details = {{"name", object.name()}, {"kind", resource.type.plural}, {"uid", object.uid()}};
  if (!resource.type.gvk.group.empty()) details["group"] = resource.type.gvk.group;
  Json status = success_status();
  status["details"] = std::move(details);
  return status;
}

}  // namespace kubewatch::apiserver
