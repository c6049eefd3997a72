// The verbs of Client for one kind as a C++ type: Api<Website>::namespaced(client,
// "shop").get(...). A thin, header-only layer without caches or retries: what keeps a collection up
// to date is runtime/reflect.hpp. A scope that the kind does not have is a compile error for kinds
// known at compile time, an Error for the others.
//
// An Api is a value: a pointer to the Client, the kind and a namespace. It may be copied, and
// destroyed while its requests are under way; the Client must outlive both. The caller owns the
// PendingPtr of each request: destroying it cancels, and its callback is not called then. Callbacks
// come from the loop, once, but for those of a watch.
//
// Errors of the verbs are Client's, with the verb and the object in front, and `invalid`, naming
// the object, where what came is no T, or where one to write is of another namespace than the Api.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/apply_result.hpp"
#include "client/client.hpp"
#include "client/delete_result.hpp"
#include "client/resource.hpp"
#include "client/target.hpp"
#include "core/status.hpp"

namespace kubewatch::client {

template <Resource T>
struct ObjectList {
  core::ListPage page;
  std::vector<T> items;
  std::vector<Error> broken;  // of items that are no T: one bad object hides no other
};

template <Resource T>
struct TypedWatchHandlers {
  std::function<void()> on_open;
  // added, modified, deleted.
  std::function<void(core::WatchEventType, T)> on_object;
  std::function<void(const std::string& resource_version)> on_bookmark;
  // With WatchParams::send_initial_events: all that there was has been given. The bookmark that
  // says so is told right after it.
  std::function<void()> on_initial_events_end;
  // An object that is no T, or an ERROR event; the stream may go on.
  std::function<void(const Error&)> on_problem;
  std::function<void(Result<void>)> on_end;
};

template <Resource T>
class Api {
 public:
  template <class Answer>
  using Done = std::function<void(Result<Answer>)>;

  // Every namespace, or a cluster-scoped kind. Of a namespaced kind whole objects are written where
  // they say (create, replace, apply); what names an object without it being there to say so (get,
  // patch, remove) needs a namespace and fails without: invalid.
  static Api all(Client& client) requires StaticKind<T> {
    return Api(client, resource_type_of<T>(), "");
  }
  static Api namespaced(Client& client, std::string place) requires NamespacedKind<T> {
    return Api(client, resource_type_of<T>(), std::move(place));
  }
  // In the namespace of the configuration.
  static Api default_namespaced(Client& client) requires NamespacedKind<T> {
    return Api(client, resource_type_of<T>(), client.config().namespace_);
  }
  static Api cluster(Client& client) requires ClusterKind<T> {
    return Api(client, resource_type_of<T>(), "");
  }

  // The same for a type from discovery. Errors: invalid (the kind has another scope).
  static Api all(Client& client, core::ResourceType type) requires DynamicKind<T> {
    return Api(client, std::move(type), "");
  }
  static Result<Api> namespaced(Client& client, core::ResourceType type,
                                std::string place) requires DynamicKind<T> {
    if (!type.namespaced) {
      return Error(ErrorKind::invalid,
                   type.qualified_plural() + " are cluster-scoped: they are in no namespace");
    }
    return Api(client, std::move(type), std::move(place));
  }
  static Result<Api> cluster(Client& client, core::ResourceType type) requires DynamicKind<T> {
    if (type.namespaced) {
      return Error(ErrorKind::invalid,
                   type.qualified_plural() + " are namespaced: name a namespace, or ask for all");
    }
    return Api(client, std::move(type), "");
  }

  const core::ResourceType& type() const { return type_; }
  const std::string& namespace_name() const { return namespace_; }
  Client& client() const { return *client_; }

  [[nodiscard]] PendingPtr get(const std::string& name, Done<T> done) const {
    return client_->get(type_, key(name), decoding(std::move(done)));
  }
  // Absent: the object does not exist. That its kind is not served is an error.
  [[nodiscard]] PendingPtr get_opt(const std::string& name, Done<std::optional<T>> done) const {
    return get(name, [done = std::move(done)](Result<T> answer) {
      if (answer.ok()) return done(std::optional<T>(std::move(answer).value()));
      if (core::is_absent_object(answer.error())) return done(std::optional<T>());
      done(std::move(answer).error());
    });
  }
  // One page.
  [[nodiscard]] PendingPtr list(const core::ListParams& params, Done<ObjectList<T>> done) const {
    return client_->list(type_, namespace_, params, decoding_list(std::move(done)));
  }
  [[nodiscard]] PendingPtr create(const T& object, const core::WriteParams& params,
                                  Done<T> done) const {
    const Json json = encoded(object);
    if (auto wrong = misplaced(json)) {
      return refuse(client_->loop(), std::move(*wrong), std::move(done));
    }
    return client_->create(type_, namespace_of(json), json, params, decoding(std::move(done)));
  }
  // The whole object; its resourceVersion decides whether it is still the one that was read.
  [[nodiscard]] PendingPtr replace(const T& object, const core::WriteParams& params,
                                   Done<T> done) const {
    return update(object, params, std::move(done), "");
  }
  [[nodiscard]] PendingPtr replace_status(const T& object, const core::WriteParams& params,
                                          Done<T> done) const {
    return update(object, params, std::move(done), "status");
  }
  [[nodiscard]] PendingPtr patch(const std::string& name, const Json& patch,
                                 const core::PatchParams& params, Done<T> done,
                                 const std::string& subresource = "") const {
    return patch_at(key(name), patch, params, std::move(done), subresource);
  }
  [[nodiscard]] PendingPtr patch_status(const std::string& name, const Json& patch,
                                        const core::PatchParams& params, Done<T> done) const {
    return this->patch(name, patch, params, std::move(done), "status");
  }
  // Server-side apply of what `object` holds: leave empty what shall not be owned.
  [[nodiscard]] PendingPtr apply(const T& object, core::PatchParams params, Done<T> done) const {
    params.type = core::PatchType::apply;
    const Json json = encoded(object);
    if (auto wrong = misplaced(json)) {
      return refuse(client_->loop(), std::move(*wrong), std::move(done));
    }
    return patch_at({namespace_of(json), base::string_at(json, {"metadata", "name"})}, json, params,
                    std::move(done), "");
  }
  // Absent: it is gone (is_gone). Else it is dying, held by finalizers or its grace period.
  [[nodiscard]] PendingPtr remove(const std::string& name, const core::DeleteParams& params,
                                  Done<std::optional<T>> done) const {
    return client_->remove(type_, key(name), params,
                           [type = type_, done = std::move(done)](Result<Json> answer) {
                             if (!answer.ok()) return done(std::move(answer).error());
                             if (is_gone(*answer)) return done(std::optional<T>());
                             auto object = decode(std::move(answer).value(), type);
                             if (!object.ok()) return done(std::move(object).error());
                             done(std::optional<T>(std::move(object).value()));
                           });
  }
  // What the selectors choose, all in one request; the answer is what was deleted, or is dying.
  [[nodiscard]] PendingPtr remove_collection(const core::ListParams& selection,
                                             const core::DeleteParams& params,
                                             Done<ObjectList<T>> done) const {
    return client_->remove_collection(type_, namespace_, selection, params,
                                      decoding_list(std::move(done)));
  }
  // One watch, as it comes; runtime/reflect.hpp is what keeps a collection up to date.
  [[nodiscard]] PendingPtr watch(const core::WatchParams& params,
                                 TypedWatchHandlers<T> handlers) const {
    WatchHandlers raw;
    raw.on_open = handlers.on_open;
    raw.on_end = handlers.on_end;
    raw.on_event = [type = type_, handlers = std::move(handlers)](const core::WatchEvent& event) {
      on_event(event, type, handlers);
    };
    return client_->watch(type_, namespace_, params, std::move(raw));
  }

  // A T from its JSON; items of lists lack apiVersion and kind, which the type completes.
  static Result<T> decode(Json json, const core::ResourceType& type) {
    if (json.is_object()) {
      if (!json.contains("apiVersion")) json["apiVersion"] = type.gvk.api_version();
      if (!json.contains("kind")) json["kind"] = type.gvk.kind;
    }
    T out;
    auto read = out.from_json(json);
    if (read.ok()) return out;
    const std::string name = core::meta_of(json).key().str();
    return std::move(read).error().with_context(type.qualified_plural() +
                                                (name.empty() ? "" : " \"" + name + "\""));
  }
  static Result<T> decode_text(std::string_view text, const core::ResourceType& type) {
    auto json = base::parse_json(text);
    if (!json.ok()) return std::move(json).error().with_context(type.qualified_plural());
    return decode(std::move(json).value(), type);
  }

 private:
  Api(Client& client, core::ResourceType type, std::string place)
      : client_(&client), type_(std::move(type)), namespace_(std::move(place)) {}

  core::ObjectKey key(const std::string& name) const { return {namespace_, name}; }

  PendingPtr update(const T& object, const core::WriteParams& params, Done<T> done,
                    const std::string& subresource) const {
    const Json json = encoded(object);
    if (auto wrong = misplaced(json)) {
      return refuse(client_->loop(), std::move(*wrong), std::move(done));
    }
    return client_->update(type_, json, params, decoding(std::move(done)), subresource);
  }

  PendingPtr patch_at(const core::ObjectKey& key, const Json& patch,
                      const core::PatchParams& params, Done<T> done,
                      const std::string& subresource) const {
    return client_->patch(
        type_, key, patch, params,
        [done = decoding(std::move(done))](Result<ApplyResult> answer) {
          if (!answer.ok()) return done(std::move(answer).error());
          done(std::move(answer->object));
        },
        subresource);
  }
  std::optional<Error> misplaced(const Json& json) const {
    const std::string place = base::string_at(json, {"metadata", "namespace"});
    if (namespace_.empty() || place == namespace_) return std::nullopt;
    return Error(ErrorKind::invalid,
                 type_.qualified_plural() + " \"" + base::string_at(json, {"metadata", "name"}) +
                     "\" is in namespace \"" + place + "\", not in \"" + namespace_ + "\"");
  }

  // What the object does not say of its kind and place is the Api's.
  Json encoded(const T& object) const {
    Json json = object.to_json();
    if (base::string_at(json, {"apiVersion"}).empty()) json["apiVersion"] = type_.gvk.api_version();
    if (base::string_at(json, {"kind"}).empty()) json["kind"] = type_.gvk.kind;
    if (!namespace_.empty() && base::string_at(json, {"metadata", "namespace"}).empty()) {
      json["metadata"]["namespace"] = namespace_;
    }
    return json;
  }
  std::string namespace_of(const Json& json) const {
    return namespace_.empty() ? base::string_at(json, {"metadata", "namespace"}) : namespace_;
  }

  ObjectCallback decoding(Done<T> done) const {
    return [type = type_, done = std::move(done)](Result<Json> answer) {
      if (!answer.ok()) return done(std::move(answer).error());
      done(decode(std::move(answer).value(), type));
    };
  }
  std::function<void(Result<ListResult>)> decoding_list(Done<ObjectList<T>> done) const {
    return [type = type_, done = std::move(done)](Result<ListResult> answer) {
      if (!answer.ok()) return done(std::move(answer).error());
      ObjectList<T> out;
      out.page = std::move(answer->page);
      for (const std::string& item : answer->items) {
        auto object = decode_text(item, type);
        if (object.ok()) {
          out.items.push_back(std::move(object).value());
        } else {
          out.broken.push_back(std::move(object).error());
        }
      }
      done(std::move(out));
    };
  }

  static void on_event(const core::WatchEvent& event, const core::ResourceType& type,
                       const TypedWatchHandlers<T>& handlers) {
    using core::WatchEventType;
    const auto problem = [&handlers](const Error& error) {
      if (handlers.on_problem) handlers.on_problem(error);
    };
    if (event.type == WatchEventType::unknown) return;
    if (event.type == WatchEventType::error) {
      return problem(core::error_from_status_json(event.object)
                         .with_context("watch " + type.qualified_plural()));
    }
    if (event.type == WatchEventType::bookmark) {
      const auto meta = core::parse_meta(event.object);
      if (!meta.ok()) return;
      if (core::ends_initial_events(*meta) && handlers.on_initial_events_end) {
        handlers.on_initial_events_end();
      }
      if (handlers.on_bookmark) handlers.on_bookmark(meta->resource_version);
      return;
    }
    auto object = decode_text(event.object, type);
    if (!object.ok()) return problem(object.error());
    if (handlers.on_object) handlers.on_object(event.type, std::move(object).value());
  }

  Client* client_;
  core::ResourceType type_;
  std::string namespace_;
};

}  // namespace kubewatch::client
