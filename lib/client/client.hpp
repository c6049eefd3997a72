// Typed verbs on one API server: one request each, no retries, no caches. What to do after a
// failure is decided by the callers (watcher backoff, work queue, outcome). Callbacks come from the
// loop, never from inside a verb; parameters or names that cannot be sent fail the same way,
// without a request. Errors name the verb and the object: `get pods "web" in namespace "shop":
// ...`.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "client/config.hpp"
#include "core/list_splitter.hpp"
#include "core/params.hpp"
#include "core/resource.hpp"
#include "core/server_version.hpp"
#include "core/watch_event.hpp"
#include "http/transport.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::client {

class Rewinds;            // client/rewinds.hpp
class WriteGate;          // client/write_gate.hpp
struct RequestObservers;  // client/request_observer.hpp

// A request in flight. Destroying it cancels; its callback is not called then. May be destroyed
// inside it.
class Pending {
 public:
  virtual ~Pending() = default;
};
using PendingPtr = std::unique_ptr<Pending>;

struct ListResult {
  core::ListPage page;
  std::vector<std::string> items;  // raw JSON, one object each, as sent
};

struct WatchHandlers {
  // The server answered 200: the watch is open.
  std::function<void()> on_open;
  // Each event; the views are valid during the call. An event whose object does not parse is still
  // given.
  std::function<void(const core::WatchEvent&)> on_event;
  // Once, at the end: ok = the server closed the stream; errors otherwise (HTTP status, network,
  // idle).
  std::function<void(Result<void>)> on_end;
};

struct ApplyResult;  // client/apply_result.hpp: whoever calls patch() includes it

using ObjectCallback = std::function<void(Result<Json>)>;
// One item's JSON as sent; the view is valid during the call.
using ItemCallback = std::function<void(std::string_view)>;
using ListCallback = std::function<void(Result<core::ListPage>)>;

class Client {
 public:
  // `loop` and `transport` must outlive the client, the client its pending requests. Clients of one
  // server may share `rewinds`; null: one of its own.
  Client(loop::EventLoop& loop, http::Transport& transport, ClientConfig config,
         std::shared_ptr<Rewinds> rewinds = nullptr);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const ClientConfig& config() const;
  // What a login gave that config() does not have: its token and key. Not for any log.
  std::vector<std::string> login_secrets() const;
  loop::EventLoop& loop() const;
  // As Transport::awaits_login().
  bool awaits_login() const;
  // As why_no_answer() of login_words.hpp, of now.
  std::string no_answer() const;

  // Every write from now on asks it first; null: none is asked. It must outlive the client.
  void set_write_gate(WriteGate* gate);
  // What a server warns of to a write of Secrets may quote them and is not logged, unless this is
  // said: whoever wrote them reads the log.
  void show_all_warnings();
  // Who is told of requests; RequestScope takes it.
  RequestObservers& observers();
  // What the gate says now of a write, as http::Request::admit has it. Errors: canceled.
  Result<Duration> may_write() const;
  // By which one who sees this server's data go back tells all others.
  Rewinds& rewinds() const;

  [[nodiscard]] PendingPtr get(const core::ResourceType& type, const core::ObjectKey& key,
                               ObjectCallback done);
  // One page, item by item as the bytes come: whatever its size it is never held as a whole. Items
  // count only once `done` gets a page: what was given before an error is of no complete list. The
  // request timeout of the configuration limits silence, not the whole answer.
  [[nodiscard]] PendingPtr list_items(const core::ResourceType& type, const std::string& namespace_,
                                      const core::ListParams& params, ItemCallback on_item,
                                      ListCallback done);
  // The same, collected: for lists that are known to be small.
  [[nodiscard]] PendingPtr list(const core::ResourceType& type, const std::string& namespace_,
                                const core::ListParams& params,
                                std::function<void(Result<ListResult>)> done);
  [[nodiscard]] PendingPtr watch(const core::ResourceType& type, const std::string& namespace_,
                                 const core::WatchParams& params, WatchHandlers handlers);
  [[nodiscard]] PendingPtr create(const core::ResourceType& type, const std::string& namespace_,
                                  const Json& object, const core::WriteParams& params,
                                  ObjectCallback done);
  // POST to what is below an object: a TokenRequest, an Eviction. The answer is the server's word.
  [[nodiscard]] PendingPtr create_below(const core::ResourceType& type, const core::ObjectKey& key,
                                        const std::string& subresource, const Json& object,
                                        ObjectCallback done);
  [[nodiscard]] PendingPtr update(const core::ResourceType& type, const Json& object,
                                  const core::WriteParams& params, ObjectCallback done,
                                  const std::string& subresource = "");
  // `patch` is an object (merge, strategic, apply) or an array (json).
  [[nodiscard]] PendingPtr patch(const core::ResourceType& type, const core::ObjectKey& key,
                                 const Json& patch, const core::PatchParams& params,
                                 std::function<void(Result<ApplyResult>)> done,
                                 const std::string& subresource = "");
  // The answer is the object (finalizers pending) or a Status.
  [[nodiscard]] PendingPtr remove(const core::ResourceType& type, const core::ObjectKey& key,
                                  const core::DeleteParams& params, ObjectCallback done);
  // Deletes what the selection chooses (all of it when it is empty), one namespace at a time, and
  // gives what was deleted or is dying; nothing where the server does not tell. The preconditions
  // of `params` are checked against each object.
  [[nodiscard]] PendingPtr remove_collection(const core::ResourceType& type,
                                             const std::string& namespace_,
                                             const core::ListParams& selection,
                                             const core::DeleteParams& params,
                                             std::function<void(Result<ListResult>)> done);
  // Any path, e.g. "/version", "/readyz". The answer comes back whatever its HTTP status; errors
  // only when there is none. Without a request timeout it may take all the time there is, but ends
  // as a list does when nothing comes for a minute, or less than 16 KiB of what is not its end.
  [[nodiscard]] PendingPtr raw(const std::string& method, const std::string& path_and_query,
                               std::function<void(Result<http::Response>)> done,
                               const std::string& accept = "application/json");
  // Asked once; absent when the server does not tell. `done` comes from the loop.
  [[nodiscard]] PendingPtr server_version(
      std::function<void(std::optional<core::ServerVersion>)> done);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The transport that a configuration asks for. Errors: invalid.
Result<std::unique_ptr<http::Transport>> make_transport(loop::EventLoop& loop,
                                                        const ClientConfig& config);

}  // namespace kubewatch::client
