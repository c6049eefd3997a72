// The embedded API server without sockets, as a transport: what a rehearsed engine talks to. Knows
// at every moment whether something is on its way, keeps a list of all writes, and fails requests
// when told to. Owned by a rehearsal; the loop outlives it.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "apiserver/api.hpp"
#include "http/transport.hpp"

namespace kubewatch::rehearsal {

// One write as the server saw it, Events apart.
struct ApiWrite {
  std::string verb;  // create, apply, patch, update, delete, deletecollection
  core::Gvk gvk;
  core::ObjectKey key;
  std::string subresource;
  std::string manager;
  int code = 0;  // HTTP status; 0: the connection was lost
  // What it did: created, configured, unchanged, deleted, failed.
  std::string effect;
  // As it was sent, for recordings: path and query, Content-Type, body.
  std::string target;
  std::string content_type;
  std::string body;
  bool ownership = false;  // it changed who owns what, and nothing else
  bool by_hook = false;    // by its own credentials, and not by the engine from its output
  bool changed() const { return effect != "unchanged" && effect != "failed"; }
  std::string str() const;  // "apply Deployment shop/web: configured"
};

// Requests that fail. Empty fields match everything.
struct Fault {
  std::string verb;  // of ApiWrite, or get, list, watch; "write": any of the writes
  std::string kind;
  std::string name;
  std::string namespace_;
  std::string subresource;
  int code = 500;  // 0: the connection is lost
  std::size_t times = 1;
};

// The n-th write of the engine, counted from 0, is interrupted: before it is done, or after, so
// that only the answer is lost.
struct Interruption {
  std::size_t write = 0;
  bool done = false;
};

class LocalServer : public http::Transport {
 public:
  explicit LocalServer(loop::EventLoop& loop);
  ~LocalServer() override;

  // Where there is no FrontDoor. Who takes it for an address reaches nothing, and asks no name
  // server either.
  static constexpr const char* kUrl = "http://127.0.0.1:0";

  // Of what host a URL is does not matter.
  std::unique_ptr<http::Call> start(http::Request request, http::CallHandlers handlers) override;
  // What a hook asks for itself: faults meet it, interruptions do not, and a watch of it may end.
  std::unique_ptr<http::Call> start_for_hook(http::Request request, apiserver::Caller caller,
                                             http::CallHandlers handlers);

  // Asked directly, as a user beside the controller would: no faults, not among writes(). The path
  // has no query; errors are the server's.
  Result<Json> ask(const std::string& method, const std::string& path, const std::string& query,
                   const Json& body, const std::string& content_type = "application/json");
  apiserver::Api& api() { return api_; }
  const apiserver::Api& api() const { return api_; }
  // Of an object that is not there the engine is told that it is this one: it reads it, patches do
  // nothing, and the first deletion ends it.
  void pretend(const apiserver::Resource& resource, const core::ObjectKey& key, Json object);
  // Garbage collection, namespaces: until nothing is left to do.
  void finish_work();

  // Forgets the history and ends all watches: they go on with a 410.
  void compact();
  void add_fault(Fault fault) { faults_.push_back(std::move(fault)); }
  // All that were added, in order; `times` is how often each has yet to be met.
  const std::vector<Fault>& faults() const { return faults_; }
  void interrupt(Interruption at) { interruption_ = at; }

  const std::vector<ApiWrite>& writes() const { return writes_; }
  // Those of the engine.
  std::size_t client_writes() const { return client_writes_; }
  // Grows with everything that is sent or delivered.
  std::uint64_t activity() const { return activity_; }
  // Nothing is on its way, and every watch that ended was opened again.
  bool quiet() const { return in_flight_ == 0 && !work_pending_; }
  bool watches_complete() const { return lost_watches_.empty(); }

 private:
  struct CallState;
  class LocalCall;
  class Sink;
  struct Parsed;

  void serve(const std::shared_ptr<CallState>& state);
  std::optional<int> fault_of(const Parsed& parsed);
  void respond(const std::shared_ptr<CallState>& state, const apiserver::ApiResponse& response);
  void lose(const std::shared_ptr<CallState>& state);
  void stream(const std::shared_ptr<CallState>& state, apiserver::Reply reply);
  void deliver(const std::shared_ptr<CallState>& state);
  void end_stream(const std::shared_ptr<CallState>& state);
  Parsed parse(const apiserver::ApiRequest& request) const;
  // Without a caller it is the engine.
  std::unique_ptr<http::Call> start_for(std::optional<apiserver::Caller> hook,
                                        http::Request request, http::CallHandlers handlers);
  apiserver::Reply carry_out(const apiserver::ApiRequest& request, const Parsed& parsed,
                             std::optional<int> fault, bool hook);
  apiserver::Reply answer(const apiserver::ApiRequest& request, const Parsed& parsed, bool hook);
  void note_lost(const CallState& state, const std::string& watch);
  void schedule_work();
  void post(std::function<void()> callback);

  loop::EventLoop& loop_;
  apiserver::Api api_;
  std::vector<Fault> faults_;
  std::optional<Interruption> interruption_;
  std::map<std::pair<std::string, std::string>, Json> pretended_;  // by storage id and object key
  std::vector<ApiWrite> writes_;
  std::size_t client_writes_ = 0;
  std::uint64_t activity_ = 0;
  std::size_t in_flight_ = 0;
  bool work_pending_ = false;
  std::set<std::string> lost_watches_;  // path and selectors
  std::shared_ptr<char> alive_ = std::make_shared<char>();
};

// The Status of a failure that is staged.
apiserver::ApiResponse staged_failure(int code);

}  // namespace kubewatch::rehearsal
