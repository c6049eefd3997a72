// The small language of the e2e cases: a server, a namespace of its own, a rule folder, the engine
// in this process, and the API as a test person uses it. Every wait turns the one loop; nothing
// sleeps blindly.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/random.hpp"
#include "client/apply_result.hpp"
#include "client/client.hpp"
#include "client/discovery.hpp"
#include "e2e/server.hpp"
#include "hooks/engine.hpp"
#include "loop/event_loop.hpp"
#include "support/catch.hpp"

namespace kubewatch::e2e {

// Cases call it first; it makes the summary of cases x servers.
#define E2E_CASE(name) TEST_CASE(name, "[e2e]")

// How long cases wait for what must come. It costs nothing while all is well, and machines that run
// the tests are busy.
inline constexpr Duration kSoon{60000};
// A busy kube-apiserver takes its time to see that no objects of a definition are left.
inline constexpr Duration kCrdGone{240000};
// Its discovery takes its time as well, above all to forget a kind.
inline constexpr Duration kDiscovery{150000};
// What the garbage collector and the namespace controller of a cluster have to do.
inline constexpr Duration kCollected{240000};

// What a busy cluster says once, and not a moment later ("etcdserver: request timed out"):
// World::eventually looks again, everywhere else it fails the case.
struct NotNow : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class World {
 public:
  World();
  ~World();

  Server& server() { return *server_; }
  loop::EventLoop& loop() { return loop_; }
  client::Client& client() { return *client_; }
  // Fresh namespaces of this case; @NS@ and @NS2@ in all texts below.
  const std::string& ns() const { return ns_; }
  const std::string& ns2() const { return ns2_; }

  // --- the rule folder ---
  const std::string& folder() const { return folder_; }
  void file(const std::string& name, const std::string& text);  // 0644
  void script(const std::string& name,
              const std::string& body);             // 0755, "#!/bin/sh\nset -eu\n" + body
  std::string read(const std::string& name) const;  // "" when absent
  // The path of one for the server, which is there from the beginning.
  std::string kubeconfig() const { return folder_ + "/kubeconfig"; }
  std::size_t lines(const std::string& name) const;
  void rules(const std::string& yaml);

  // --- the engine ---
  void trace_to(hooks::TraceTarget target) { traces_ = std::move(target); }  // before start()
  void start();
  void stop();                           // as SIGTERM
  void reload(const std::string& yaml);  // as a changed rules.yaml
  const std::vector<hooks::RunRecord>& runs() const { return runs_; }
  std::size_t runs_of(const std::string& name, const std::string& outcome = "") const;
  hooks::EngineStatus status() const { return engine_->status(); }
  // Of the controllers that are there now.
  std::uint64_t their_runs() const;
  std::uint16_t trigger_port() const { return engine_->trigger_port(); }
  // As /metrics says it.
  std::string metrics() const;
  // Nothing queued, nothing running, for `quiet`; waits at most `deadline`.
  void settle(Duration quiet = Duration{400}, Duration deadline = kSoon);

  // --- the API; each fails the case with the server's words when refused ---
  // Forced, all documents; waits until there is what they need, as their kinds and namespaces.
  Json apply(const std::string& yaml, const std::string& manager = "e2e");
  Json create(const std::string& yaml);
  Json merge(const std::string& kind, const std::string& name, const std::string& patch_yaml,
             const std::string& namespace_ = "@NS@", const std::string& subresource = "");
  void remove(const std::string& kind, const std::string& name,
              const std::string& namespace_ = "@NS@");
  // A CustomResourceDefinition, until it is gone with its objects.
  void remove_definition(const std::string& name);
  std::optional<Json> get(const std::string& kind, const std::string& name,
                          const std::string& namespace_ = "@NS@");
  std::vector<Json> list(const std::string& kind, const std::string& selector = "",
                         const std::string& namespace_ = "@NS@");
  // Writes that may fail.
  bool try_remove(const std::string& kind, const std::string& name, const std::string& namespace_);
  bool try_merge(const std::string& kind, const std::string& name, const std::string& patch_yaml,
                 const std::string& namespace_);
  Result<Json> try_create(const Json& object, bool dry_run, const std::string& field_validation);
  Result<client::ApplyResult> try_apply(const std::string& yaml, const std::string& manager,
                                        bool force);

  // Turns the loop until it holds. A NotNow of the last look fails the case.
  bool eventually(const std::function<bool()>& holds, Duration deadline = kSoon);
  // Turns the loop that long; false as soon as it does not hold.
  bool holds_for(const std::function<bool()>& holds, Duration how_long);

  // NotNow where a cluster serves; what the sandbox does not answer is a defect of ours.
  [[noreturn]] void fail_for_now(const std::string& what) const;

  std::string expand(std::string text) const;
  // Waits until it is served. Valid until the next call and discover().
  const core::ResourceType& type(const std::string& kind);
  // Kinds that are known are asked for anew: another version or scope of one is not seen by itself.
  void discover();

 private:
  template <class T>
  Result<T> wait(const std::function<client::PendingPtr(std::function<void(Result<T>)>)>& start);
  [[noreturn]] void fail_with(const Error& error) const;
  const core::ResourceType* known(const std::string& kind) const;

  loop::EventLoop loop_;
  base::Random random_;
  std::unique_ptr<Server> server_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<client::Client> client_;
  std::shared_ptr<const client::ResourceMap> resources_;
  std::string ns_, ns2_, folder_;
  std::unique_ptr<hooks::Engine> engine_;
  std::vector<hooks::RunRecord> runs_;
  std::optional<hooks::TraceTarget> traces_;
};

// The CRD that most cases use: Website demo.kubewatch.dev/v1 with status, conditions as list-map.
extern const char* const kWebsiteCrd;
// Cluster-scoped Fleet demo.kubewatch.dev/v1; and Plain, whose status.conditions is no list-map.
extern const char* const kFleetCrd;
extern const char* const kPlainCrd;

}  // namespace kubewatch::e2e
