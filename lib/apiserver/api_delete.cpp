// The verbs of Api that take away: delete and deletecollection.
#include "apiserver/api_target.hpp"
#include "apiserver/list.hpp"
#include "builtin/system_priorities.hpp"

namespace kubewatch::apiserver {

namespace {

WriteContext deletion_of(const ResourcePtr& resource, const std::string& namespace_,
                         const std::string& name, bool dry_run, WallTime now) {
  WriteContext context;
  context.resource = resource;
  context.namespace_ = namespace_;
  context.name = name;
  context.dry_run = dry_run;
  context.now = now;
  return context;
}

// With all others of its kind it goes.
Result<void> check_system_priority(const Resource& resource, const std::string& name) {
  const bool kept = resource.storage_id == "priorityclasses.scheduling.k8s.io" &&
                    builtin::system_priority(name) != nullptr;
  if (!kept) return {};
  return forbidden(resource.subject(name), "this is a system priority class and cannot be deleted");
}

Result<DeleteOptions> options_of(const ApiRequest& request, const Query& query) {
  if (request.body.empty()) return delete_options_of(query);
  KW_ASSIGN(const Json body, parse_options_body(request));
  return delete_options_of(body);
}

}  // namespace

Result<Reply> Api::remove(const ApiRequest& request, const Target& target, WallTime now) {
  const Resource& resource = *target.resource;
  if (!resource.type.has_verb("delete")) return method_not_allowed();
  KW_ASSIGN(const Representation as,
            representation_of(request, resource, target.query, Endpoint::object));
  KW_ASSIGN(const DeleteOptions options, options_of(request, target.query));
  warnings_ = delete_warnings(resource, options);
  KW_TRY(check_system_priority(resource, target.path.name));
  const WriteContext context =
      deletion_of(target.resource, target.path.namespace_, target.path.name, options.dry_run, now);
  KW_ASSIGN(const Deleted deleted, delete_object(storage_, context, options));
  if (deleted.by_status) {
    return Reply{plain_response(request, deleted_status(resource, *deleted.object), 200), nullptr};
  }
  // The old flag alone, as older clients take any other code than 200 for a failure.
  const bool waits = !deleted.gone && options.by_orphan_flag && options.propagation == "Background";
  return Reply{
      text_response(as, object_text(resource, as, *deleted.object, now), waits ? 202 : 200),
      nullptr};
}

Result<Reply> Api::remove_all(const ApiRequest& request, const Target& target, WallTime now) {
  const Resource& resource = *target.resource;
  KW_ASSIGN(const Representation as,
            representation_of(request, resource, target.query, Endpoint::deleted));
  KW_ASSIGN(const ListOptions selection, stored_list_options(resource, target.query, false));
  KW_ASSIGN(const DeleteOptions options, options_of(request, target.query));
  warnings_ = delete_warnings(resource, options);
  KW_ASSIGN(const ListResult found, list_objects(storage_, resource, target.prefix(), selection));
  for (const auto& object : found.items) {
    const WriteContext context =
        deletion_of(target.resource, object->namespace_(), object->name(), options.dry_run, now);
    const auto deleted = delete_object(storage_, context, options);
    if (!deleted && !deleted.error().is_not_found()) return deleted.error();
  }
  return Reply{text_response(as, list_text(resource, as, found.items, found.meta, now)), nullptr};
}

}  // namespace kubewatch::apiserver
