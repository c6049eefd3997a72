#include "apiserver/api.hpp"

#include <exception>

#include "apiserver/api_target.hpp"
#include "apiserver/connections.hpp"
#include "apiserver/crd.hpp"
#include "apiserver/discovery.hpp"
#include "apiserver/reviews.hpp"
#include "apiserver/step_guard.hpp"
#include "builtin/aggregation.hpp"
#include "schema/managed_entries.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr const char* kBindings = "bindings";

ApiResponse plain_not_found() {
  ApiResponse response;
  response.status = 404;
  response.content_type = "text/plain; charset=utf-8";
  response.body = "404 page not found\n";
  return response;
}

ApiResponse metrics_response(const InitEvents& events) {
  ApiResponse response;
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  response.body = events.text();
  return response;
}

bool is_misplaced(const core::ResourceType& type, const ResourcePath& path) {
  return type.namespaced ? path.namespace_.empty() && !path.name.empty() : !path.namespace_.empty();
}

ApiResponse failed(const ApiRequest& request, const Error& error) {
  return plain_response(request, status_json(error), status_code(error));
}

// Only below a version of an API there are Statuses.
ApiResponse no_path(const ApiRequest& request, const Error& error) {
  const std::string_view path = request.path;
  const bool api =
      path.starts_with("/api/") || (path.starts_with("/apis/") && !path.starts_with("/apis//"));
  return api || status_code(error) != 404 ? failed(request, error) : plain_not_found();
}

}  // namespace

Api::Api(ApiOptions options, WallTime now)
    : options_(std::move(options)),
      random_(options_.random_seed),
      storage_({options_.history, options_.history_bytes}, options_.start_version),
      writer_(storage_, registry_, random_),
      tokens_(storage_),
      watches_(options_.bookmark_interval),
      crds_(storage_, registry_, writer_,
            [this](const std::string& storage_id) { watches_.outdate(storage_id); }),
      aggregation_(storage_, registry_, writer_),
      garbage_(storage_, registry_, writer_),
      namespaces_(storage_, registry_, writer_),
      initial_(registry_, writer_),
      local_(storage_, registry_, writer_),
      addresses_(storage_, registry_, writer_),
      expiry_(storage_, options_.event_ttl),
      now_(now) {
  storage_.observe([this](const std::string& storage_id, const EventPtr& event) {
    ++writes_;
    crds_.on_event(storage_id, event);
    aggregation_.on_event(storage_id, event);
    garbage_.on_event(storage_id, event);
    writer_.on_event(storage_id, event);
    namespaces_.on_event(storage_id, event);
    expiry_.on_event(storage_id, event, now_);
    if (options_.whole_cluster) {
      local_.on_event(storage_id, event);
      addresses_.on_event(storage_id, event);
    }
    watches_.on_event(storage_id, event, now_);
    if (on_change_) on_change_();
  });
  seen_revision_ = registry_.revision();
  initial_.create(options_.whole_cluster, now);
  if (!options_.whole_cluster) return;
  local_.create(now);
  while (aggregation_.step(now)) {
  }
}

Reply Api::handle(const ApiRequest& request, WallTime now) try {
  now_ = now;
  warnings_.clear();
  const auto segments = split_path(request.path);
  if (!segments) return {no_path(request, segments.error()), nullptr};
  const auto path = parse_resource_path(segments.value());
  auto query = parse_query(request.query);
  if (query) {
    const auto timed = check_timeout(request.method, path, *query);
    if (!timed) return {failed(request, timed.error()), nullptr};
  }
  if (!path) {
    const bool reading = request.method == "GET" || request.method == "HEAD";
    auto answer = request.path == "/metrics"
                      ? metrics_response(init_events_)
                      : answer_discovery(registry_, segments.value(), request, options_.address);
    if (answer && !reading) return {failed(request, method_not_allowed()), nullptr};
    if (!answer && leads_behind(segments.value())) {
      return {failed(request, no_such_resource()), nullptr};
    }
    return {answer ? std::move(*answer) : plain_not_found(), nullptr};
  }
  if (auto review = answer_review(request, segments.value(), tokens_, now)) {
    return {std::move(*review), nullptr};
  }
  if (is_nowhere(*path) || (request.method == "POST" && is_create_everywhere(*path))) {
    return {plain_not_found(), nullptr};
  }
  auto target = route(*path, std::move(query));
  if (!target) return {failed(request, target.error()), nullptr};
  auto reply = dispatch(request, target.value(), now);
  settle(now);
  Reply out = reply ? std::move(reply).value() : Reply{failed(request, reply.error()), nullptr};
  if (const std::string& deprecation = target->resource->deprecation; !deprecation.empty()) {
    warnings_.insert(warnings_.begin(), deprecation);
  }
  add_warnings(warnings_, out.response);
  return out;
} catch (const std::exception&) {
  // Nothing that a client sends may end the server.
  return {failed(request, internal_error(why_it_failed())), nullptr};
}

// Behind what there may be of a built-in kind, such as a part of a part of an object.
bool Api::leads_behind(const std::vector<std::string>& segments) const {
  const auto path = core::parse_api_path(segments);
  return path && registry_.has_builtin_group(path->group);
}

// In groups without built-in kinds nobody answers for what there is not.
bool Api::is_nowhere(const ResourcePath& path) const {
  if (registry_.has_builtin_group(path.group)) return false;
  const ResourcePtr resource = registry_.find(path.group, path.version, path.plural);
  return !resource || is_misplaced(resource->type, path);
}

// Of custom kinds; others refuse the method.
bool Api::is_create_everywhere(const ResourcePath& path) const {
  const ResourcePtr resource = registry_.find(path.group, path.version, path.plural);
  return resource && resource->custom && resource->type.namespaced && path.namespace_.empty();
}

Result<Api::Target> Api::route(const ResourcePath& path, Result<Query> query) {
  Target target;
  target.path = path;
  target.resource = registry_.find(path.group, path.version, path.plural);
  if (!target.resource) return no_such_resource();
  KW_ASSIGN(target.query, std::move(query));
  const core::ResourceType& type = target.resource->type;
  if (is_misplaced(type, path)) return no_such_resource();
  // Bindings are made in a namespace, and there is nothing else to be found.
  const bool bindings = type.gvk.group.empty() && type.plural == kBindings;
  if (bindings && (path.namespace_.empty() || !path.name.empty())) return no_such_resource();
  if (path.subresource.empty() || type.has_subresource(path.subresource)) return target;
  if (target.resource->custom) return not_found(target.resource->subject(path.name));
  return no_such_resource();
}

Result<Reply> Api::dispatch(const ApiRequest& request, const Target& target, WallTime now) {
  return target.path.name.empty() ? on_collection(request, target, now)
                                  : on_object(request, target, now);
}

Result<Reply> Api::on_collection(const ApiRequest& request, const Target& target, WallTime now) {
  const core::ResourceType& type = target.resource->type;
  if (request.method == "GET") {
    const bool watching = is_watch(target.path, target.query);
    if (!type.has_verb(watching ? "watch" : "list")) return method_not_allowed();
    return watching ? watch(request, target) : list(request, target, now);
  }
  const bool placed = !type.namespaced || !target.path.namespace_.empty();
  if (request.method == "POST" && type.gvk.group.empty() && type.plural == kBindings) {
    return act_on_pod(request, target, now);
  }
  // Kinds that cannot be read are not stored either.
  if (request.method == "POST" && type.has_verb("create") && type.has_verb("get") && placed) {
    return write(request, target, now);
  }
  // Of all namespaces at once nobody may.
  if (request.method == "DELETE" && type.has_verb("deletecollection") && placed) {
    return remove_all(request, target, now);
  }
  return method_not_allowed();
}

Result<Reply> Api::on_object(const ApiRequest& request, const Target& target, WallTime now) {
  const std::string& sub = target.path.subresource;
  if (sub == "scale") return scale(request, target, now);
  if (sub == "token" && request.method == "POST") return token(request, target, now);
  if ((sub == "eviction" || sub == "binding") && request.method == "POST") {
    return act_on_pod(request, target, now);
  }
  if (is_connection(sub)) {
    KW_ASSIGN(ApiResponse answer, answer_connection(storage_, *target.resource, target.path,
                                                    target.query, request.method));
    return Reply{std::move(answer), nullptr};
  }
  const bool written = sub.empty() || sub == "status" || sub == "finalize" || sub == "approval" ||
                       builtin::is_pod_part(sub);
  if (!written) return method_not_allowed();
  const std::string& method = request.method;
  // One object is watched by the old path only; a parameter does not make a get a watch.
  if (method == "GET" && sub.empty() && target.path.watch) return watch(request, target);
  if (method == "GET" && sub != "finalize") return read(request, target, now);
  if (method == "PUT" || (method == "PATCH" && sub != "finalize"))
    return write(request, target, now);
  if (method == "DELETE" && sub.empty()) return remove(request, target, now);
  return method_not_allowed();
}

Result<void> Api::load(const Json& object, const std::string& manager, WallTime now) try {
  now_ = now;
  KW_ASSIGN(const core::Gvk gvk, core::gvk_of(object));
  WriteContext context;
  context.resource = registry_.find_kind(gvk);
  if (!context.resource) {
    return Error(ErrorKind::not_found,
                 "no kind " + gvk.str() + " in the sandbox: load its CRD first");
  }
  if (context.resource->type.namespaced) {
    context.namespace_ = base::string_at(object, {"metadata", "namespace"});
    if (context.namespace_.empty()) context.namespace_ = "default";
  }
  context.manager = manager;
  context.now = now;
  Json fresh = object;
  take_identity(fresh, context);
  auto written = writer_.create(context, fresh);
  settle(now);
  if (!written.ok() && written.error().is_already_exists()) {
    if (initial_.has(object)) return initial_.add(object, manager, now);
    if (is_kept(*context.resource, object)) return {};
  }
  KW_TRY(written);
  context.name = written->object->name();
  KW_TRY(load_status(context, std::move(fresh)).with_context("its status"));
  return load_owners(context, object);
} catch (const std::exception&) {
  // A file may hold what is far larger than any request.
  return internal_error(why_it_failed());
}

// What was saved of a cluster is known by its uid: owner references, the labels of a Job's Pods and
// the claim of a volume speak of it. One that is there twice is the first one's, and what the
// server made by itself has another than in that cluster: those that it owned are given that one.
void Api::take_identity(Json& object, WriteContext& context) {
  Json* metadata = base::find(object, {"metadata"});
  if (metadata == nullptr || !metadata->is_object()) return;
  metadata->erase("resourceVersion");
  const std::string uid = base::string_at(*metadata, {"uid"});
  context.saved = !uid.empty() && loaded_uids_.insert(uid).second;
  Json* owners = base::find(*metadata, {"ownerReferences"});
  if (owners == nullptr || !owners->is_array()) return;
  for (Json& owner : *owners) {
    const std::string own = own_uid(owner, context.namespace_);
    if (!own.empty()) owner["uid"] = own;
  }
}

// By its kind and name and not by its uid there, since it may be loaded after what it owns. "": of
// no such object, or of one that has the uid of a loaded one.
std::string Api::own_uid(const Json& owner, const std::string& ns) const {
  const auto gvk = core::gvk_of(owner);
  if (!gvk || base::string_at(owner, {"uid"}).empty()) return "";
  const ResourcePtr resource = registry_.find_kind(*gvk);
  if (!resource) return "";
  const ObjectPtr live = storage_.get(
      resource->storage_id,
      object_key(resource->type.namespaced ? ns : "", base::string_at(owner, {"name"})));
  return live && loaded_uids_.count(live->uid()) == 0 ? live->uid() : "";
}

// By a write of its own, where a create takes none. The server says itself what it found out of
// definitions, registrations and namespaces.
Result<void> Api::load_status(WriteContext context, Json object) {
  static const std::set<std::string> own = {kCrds, builtin::kApiServices, "namespaces"};
  const Resource& resource = *context.resource;
  const Json* status = base::find(object, {"status"});
  const bool says = status != nullptr && status->is_object() && !status->empty();
  if (!says || !resource.has_status() || own.count(resource.storage_id) != 0) return {};
  context.subresource = "status";
  KW_ASSIGN(const ObjectPtr live, writer_.live(context));
  object["metadata"].erase("uid");
  object["metadata"]["name"] = context.name;  // which may be made of its generateName
  object["metadata"]["resourceVersion"] = std::to_string(live->version());
  KW_TRY(writer_.update(context, std::move(object)));
  return {};
}

// Who owned its fields there does so here.
Result<void> Api::load_owners(WriteContext context, const Json& object) {
  const Json* saved = base::find(object, {"metadata", "managedFields"});
  const auto read = schema::decode_managed(saved);
  if (!context.saved || !read.ok() || read->empty()) return {};
  context.owners_known = true;
  return writer_.change(context, [&](Json& live) {
    live["metadata"]["managedFields"] = *saved;
    return true;
  });
}

// Whether the server keeps the one of that name by itself.
bool Api::is_kept(const Resource& resource, const Json& object) const {
  const ObjectPtr live = storage_.get(
      resource.storage_id, object_key("", base::string_at(object, {"metadata", "name"})));
  return live && (is_kept_registration(live->json()) || is_kept_address(live->json()));
}

// What must be true when a write is answered: CRDs serve, references know of new kinds, addresses
// of Services are told.
void Api::settle(WallTime now) {
  while (crds_.step(now)) {
  }
  while (addresses_.step(now)) {
  }
  if (seen_revision_ == registry_.revision()) return;
  seen_revision_ = registry_.revision();
  garbage_.on_kinds_changed();
  namespaces_.on_kinds_changed();
  if (options_.whole_cluster) local_.on_kinds_changed();
  if (on_change_) on_change_();
}

bool Api::step(WallTime now) {
  now_ = now;
  constexpr int kObjectsAtOnce = 64;
  bool more = false;
  for (int i = 0; i < kObjectsAtOnce; ++i) {
    more = garbage_.step(now);
    if (!more) break;
  }
  more = namespaces_.step(now) || more;
  more = local_.step(now) || more;
  more = aggregation_.step(now) || more;
  more = expiry_.step(now) || more;
  settle(now);
  return more;
}

}  // namespace kubewatch::apiserver
