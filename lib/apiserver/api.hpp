// The API server without sockets: a request in, an answer or a watch out; controllers that work in
// steps. Owns all state. Single-threaded; time is an argument. The HTTP side is sandbox.hpp.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "apiserver/aggregation_controller.hpp"
#include "apiserver/crd_controller.hpp"
#include "apiserver/deleter.hpp"
#include "apiserver/event_expiry.hpp"
#include "apiserver/garbage_collector.hpp"
#include "apiserver/init_events.hpp"
#include "apiserver/initial_objects.hpp"
#include "apiserver/ip_addresses.hpp"
#include "apiserver/local_api_services.hpp"
#include "apiserver/namespace_lifecycle.hpp"
#include "apiserver/registry.hpp"
#include "apiserver/request.hpp"
#include "apiserver/storage.hpp"
#include "apiserver/tokens.hpp"
#include "apiserver/watch.hpp"
#include "apiserver/writer.hpp"

namespace kubewatch::apiserver {

struct ApiOptions {
  // Of each kind.
  std::size_t history = HistoryLimits().events;
  std::size_t history_bytes = HistoryLimits().bytes;
  // The resourceVersion that the first write follows: all before it is too old.
  std::uint64_t start_version = 0;
  std::uint64_t random_seed = 1;
  Duration bookmark_interval{60000};
  std::string address;  // "127.0.0.1:6443", for /api
  // 0: Events stay. A rehearsal shows all that were written, however much time it skips.
  Duration event_ttl{0};
  // With what a kube-apiserver makes and keeps by itself beside the first namespaces: APIServices,
  // the range and the addresses of Services, roles and bindings. A rehearsal shows what rules do.
  bool whole_cluster = false;
};

// `watch` set: a stream follows the head; attach it to the hub with a sink.
struct Reply {
  ApiResponse response;
  std::shared_ptr<WatchStream> watch;
};

class Api {
 public:
  // Creates the initial objects.
  Api(ApiOptions options, WallTime now);

  Reply handle(const ApiRequest& request, WallTime now);
  // Creates an object by its apiVersion and kind, in its namespace or "default". To one that is
  // there from the start it adds what the object says, and those that the server keeps by itself
  // stay: what was saved of a cluster has them as well. So it may have a resourceVersion, which is
  // left out; its uid, age, generation, status and the owners of its fields are kept. Errors: as a
  // create's and those of its status; not_found of a kind that is not served; internal, of what no
  // check finds, or for which there is no memory.
  Result<void> load(const Json& object, const std::string& manager, WallTime now);

  // Some work of the controllers (garbage collection, namespaces, APIServices) and Events whose
  // time is over; true while there is more.
  bool step(WallTime now);
  // Called at every change: there may be work.
  void on_change(std::function<void()> callback) { on_change_ = std::move(callback); }

  WatchHub& watches() { return watches_; }
  const WatchHub& watches() const { return watches_; }
  Storage& storage() { return storage_; }
  const Storage& storage() const { return storage_; }
  const Registry& registry() const { return registry_; }
  std::uint64_t writes() const { return writes_; }
  const InitEvents& init_events() const { return init_events_; }
  Tokens& tokens() { return tokens_; }
  const Tokens& tokens() const { return tokens_; }
  void set_address(std::string address) { options_.address = std::move(address); }

 private:
  struct Target;  // one request's resource, path and query
  bool leads_behind(const std::vector<std::string>& segments) const;
  bool is_nowhere(const ResourcePath& path) const;
  bool is_create_everywhere(const ResourcePath& path) const;
  Result<Target> route(const ResourcePath& path, Result<Query> query);
  Result<Reply> dispatch(const ApiRequest& request, const Target& target, WallTime now);
  Result<Reply> on_collection(const ApiRequest& request, const Target& target, WallTime now);
  Result<Reply> on_object(const ApiRequest& request, const Target& target, WallTime now);
  Result<Reply> read(const ApiRequest& request, const Target& target, WallTime now);
  Result<Reply> list(const ApiRequest& request, const Target& target, WallTime now);
  Result<Reply> watch(const ApiRequest& request, const Target& target);
  Result<Reply> write(const ApiRequest& request, const Target& target, WallTime now);
  Result<Reply> remove(const ApiRequest& request, const Target& target, WallTime now);
  Result<Reply> remove_all(const ApiRequest& request, const Target& target, WallTime now);
  Result<Reply> scale(const ApiRequest& request, const Target& target, WallTime now);
  Result<Reply> token(const ApiRequest& request, const Target& target, WallTime now);
  Result<Reply> act_on_pod(const ApiRequest& request, const Target& target, WallTime now);
  // `shape`: the Scale as a resource.
  Result<ObjectPtr> write_scale(const ApiRequest& request, WriteContext& context,
                                const ResourcePtr& shape);
  bool is_kept(const Resource& resource, const Json& object) const;
  void take_identity(Json& object, WriteContext& context);
  std::string own_uid(const Json& owner, const std::string& ns) const;
  Result<void> load_status(WriteContext context, Json object);
  Result<void> load_owners(WriteContext context, const Json& object);
  void settle(WallTime now);

  ApiOptions options_;
  base::Random random_;
  Registry registry_;
  Storage storage_;
  Writer writer_;
  Tokens tokens_;
  WatchHub watches_;
  CrdController crds_;
  AggregationController aggregation_;
  GarbageCollector garbage_;
  NamespaceLifecycle namespaces_;
  InitialObjects initial_;
  LocalApiServices local_;
  IpAddresses addresses_;
  EventExpiry expiry_;
  std::function<void()> on_change_;
  WallTime now_;
  std::vector<std::string> warnings_;  // of the request at hand, also when it fails
  std::set<std::string> loaded_uids_;
  std::uint64_t seen_revision_ = 0;
  std::uint64_t writes_ = 0;
  InitEvents init_events_;
};

}  // namespace kubewatch::apiserver
