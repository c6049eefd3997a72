// The reading verbs of Api: get, list, watch.
#include "apiserver/api_target.hpp"
#include "apiserver/list.hpp"
#include "core/selector.hpp"

namespace kubewatch::apiserver {

Result<void> check_read_version(const Query& query, std::uint64_t newest) {
  const std::string version = query.get("resourceVersion");
  if (version.empty()) return {};
  const auto wanted = parse_version(version);
  if (!wanted) return internal_error(wanted.error().message());
  if (*wanted > newest) return version_too_large(*wanted, newest);
  return {};
}

Result<Reply> Api::read(const ApiRequest& request, const Target& target, WallTime now) {
  const Resource& resource = *target.resource;
  const auto as =
      representation_of(request, resource, target.query, Endpoint::object, target.tables());
  if (!as && !refuses_form(as.error())) return as.error();
  KW_TRY(check_read_version(target.query, storage_.version()));
  const ObjectPtr object =
      storage_.get(resource.storage_id, object_key(target.path.namespace_, target.path.name));
  if (!object) return not_found(resource.subject(target.path.name));
  KW_TRY(as);
  return Reply{text_response(*as, object_text(resource, *as, *object, now)), nullptr};
}

Result<Reply> Api::list(const ApiRequest& request, const Target& target, WallTime now) {
  const Resource& resource = *target.resource;
  const auto as = representation_of(request, resource, target.query, Endpoint::list);
  if (!as && !refuses_form(as.error())) return as.error();
  KW_ASSIGN(const ListOptions options, stored_list_options(resource, target.query, false));
  KW_ASSIGN(const ListResult found, list_objects(storage_, resource, target.prefix(), options));
  KW_TRY(as);
  return Reply{text_response(*as, list_text(resource, *as, found.items, found.meta, now)), nullptr};
}

Result<Reply> Api::watch(const ApiRequest& request, const Target& target) {
  const Resource& resource = *target.resource;
  KW_ASSIGN(const Representation as,
            representation_of(request, resource, target.query, Endpoint::watch));
  KW_ASSIGN(ListOptions options, stored_list_options(resource, target.query, true));
  WatchSpec spec;
  spec.resource = target.resource;
  spec.prefix = target.prefix();
  spec.labels = options.labels;
  spec.fields = options.fields;
  if (!target.path.name.empty()) {
    KW_ASSIGN(spec.fields,
              core::FieldSelector::parse(core::with_name(options.fields.str(), target.path.name)));
  }
  spec.as = as;
  spec.bookmarks = options.bookmarks;
  spec.timeout = watch_time(options, random_);
  auto stream = std::make_shared<WatchStream>(std::move(spec));
  const bool from_state = options.version == 0 || options.send_initial_events.value_or(false);
  if (options.send_initial_events.value_or(false) && options.version > storage_.version()) {
    stream->start_with_error(version_too_large(options.version, storage_.version()));
  } else if (from_state && options.send_initial_events.value_or(true)) {
    std::vector<ObjectPtr> objects;
    storage_.each(resource.storage_id, target.prefix(), "", [&](const ObjectPtr& object) {
      objects.push_back(object);
      return true;
    });
    init_events_.count(resource.type.gvk.group, resource.type.plural, objects.size());
    // An old-style watch without a start is served as one that asked for initial events.
    stream->start_with_state(std::move(objects), storage_.version(), true);
  } else if (options.version > 0) {
    auto events = storage_.since(resource.storage_id, options.version);
    if (events) {
      init_events_.count(resource.type.gvk.group, resource.type.plural, events.value().size());
      stream->start_with_events(std::move(events).value(), options.version);
    } else {
      stream->start_with_error(std::move(events).error());
    }
  }
  Reply reply;
  reply.watch = std::move(stream);
  return reply;
}

}  // namespace kubewatch::apiserver
