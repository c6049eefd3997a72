// A read-only API server in front of caches: get, list, watch, tables, metadata, as the Kubernetes
// API has them, over TLS with an own CA and a bearer token. What it does not hold is passed on
// where its owner allows that, else refused in words that say why. Readers never see half a list.
// Owned by cli; the backends must outlive it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apiserver/read_history.hpp"
#include "apiserver/resource.hpp"
#include "base/result.hpp"
#include "core/read_backend.hpp"
#include "http/server.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::apiserver {

struct ReadServerOptions {
  std::string address = "127.0.0.1";
  std::uint16_t port = 0;
  bool insecure_http = false;      // loopback only, without a token
  std::vector<std::string> names;  // further names and addresses that it is reached by
  HistoryLimits history;           // of each kind
  Duration bookmark_interval{60000};
  Duration version_wait{3000};  // for a state that is newer than the cache
  // Passes a request on with the owner's credentials; empty: nothing is.
  std::function<void(http::ServerRequest, std::shared_ptr<http::Responder>)> forward{};
  bool forward_reads = false;  // what is not cached
  bool forward_writes = false;
  // GET of a discovery or schema document from the real server.
  using Fetched = std::function<void(Result<http::Response>)>;
  std::function<void(const std::string& target, const std::string& accept, Fetched done)> fetch{};
};

struct ReadCounters {
  std::uint64_t requests = 0, refused = 0, forwarded = 0;
  std::uint64_t objects_sent = 0;
  std::uint64_t watches = 0, watches_open = 0, watches_dropped = 0;
};

class ReadServer {
 public:
  // Errors: unavailable (bind), invalid (plain HTTP beyond loopback).
  static Result<std::unique_ptr<ReadServer>> start(loop::EventLoop& loop,
                                                   ReadServerOptions options);
  virtual ~ReadServer() = default;

  using KindId = std::size_t;
  // Before it is asked for. `resource`: of the backend's type.
  virtual KindId add(const core::ReadBackend& backend, ResourcePtr resource) = 0;
  // The backend goes on in another version of its kind, that of `resource`: it is not complete
  // until synced(). Who reads the version before is answered as by a server that has it no more.
  virtual void change_version(KindId kind, ResourcePtr resource) = 0;
  // The cache tells its changes as it makes them: live ones, or those of a relist up to synced().
  virtual void changed(KindId kind, ReadChange change, bool relisted) = 0;
  // A full state is there; `gap`: not the first.
  virtual void synced(KindId kind, bool gap) = 0;
  // The cache stands at its newest resourceVersion: after events, after bookmarks.
  virtual void moved(KindId kind) = 0;

  virtual std::string url() const = 0;
  virtual std::string ca_pem() const = 0;  // "" with insecure_http
  virtual std::string token() const = 0;
  virtual ReadCounters counters() const = 0;
};

}  // namespace kubewatch::apiserver
