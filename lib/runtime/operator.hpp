// A controller in C++, built from what it is for, what it owns and what it watches. It binds the
// parts of this folder: reflectors in a StreamSet, owner and relation indexes, and the same
// Controller and WorkQueue that run shell hooks.
//
//   auto built = ControllerBuilder(loop, client, random)
//                    .for_(websites)
//                    .owns(deployments)
//                    .build([&](const StoredObject& website, const Work&, ReconcileDone done)
//                    {...});
//
// The reconciler gets the newest state, never the state at event time, never twice at once for one
// object, and at least once after the last change. It calls `done` exactly once, at once or later:
// with a RunOutcome, or with an Error, which the error policy turns into one. Controllers that
// watch the same kind can share one watch and one cache of it (KindOptions::shared).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/client.hpp"
#include "runtime/controller.hpp"
#include "runtime/owner_index.hpp"
#include "runtime/shared_watch.hpp"
#include "runtime/shutdown.hpp"
#include "runtime/stream_set.hpp"
#include "runtime/trigger_source.hpp"

namespace kubewatch::runtime {

// A std::exception that it throws, as one of on_delete does, ends the run as an Error does which
// says so. What is thrown later, by a callback of its own from the loop, ends the process.
using ReconcileFunction =
    std::function<void(const StoredObject& object, const Work& work, ReconcileDone done)>;
// What an error of the n-th attempt in a row means. Without one: RunOutcome::failed(), tried again
// after the object's own backoff.
using ErrorPolicy =
    std::function<RunOutcome(const core::ObjectKey&, const Error&, std::uint32_t attempt)>;
// From an object of one kind to keys of another kind. Where it throws a std::exception that is
// logged, and the object concerns whom it did before. So is what a predicate of the builder throws;
// the change passes. KindOptions::operators must not throw.
using KeyMapper = std::function<std::vector<core::ObjectKey>(const core::ObjectMeta& meta,
                                                             const std::string& json)>;

// What is watched of a kind: by watches of its own,
struct KindOptions {
  std::vector<std::string> namespaces;  // empty: all, or cluster-scoped
  WatcherOptions list;                  // selectors, strategy, page size, metadata only
  StoreOptions store;                   // what the cache keeps: strip, project, modify
  // or by these, which others use as well: one, or one for each namespace. What they select and
  // keep is theirs: the above is not looked at. Each operator has its own queue and operators.
  std::vector<std::shared_ptr<SharedWatch>> shared;
  // Chains operators (predicates, filters, debounce) in front of the mapping to keys. What they
  // drop runs nothing; the cache has it all the same.
  std::function<void(ChangeStream&)> operators;
};

struct OperatorParts;

// Not to be destroyed from inside a reconciler or a hook of its own.
class Operator {
 public:
  explicit Operator(std::unique_ptr<OperatorParts> parts);
  ~Operator();
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  // Once: it goes on until it is destroyed. Again is nothing.
  void start();
  // Of one that was built as a standby, or stands by again: runs from now on what it has noted.
  // All of it: where a Leadership has several shards, each needs an Operator of its own, whose
  // operators() let its shard's objects through, over shared watches. Deletions: see on_delete().
  void lead();
  // Starts nothing more, keeps its caches and notes what changes; then, when no run is left, tells
  // all who have asked. Its runs are not ended: their writes pass only as far as the client's gate
  // lets them.
  void stand_by(std::function<void()> ended);
  // The cache of a kind that it watches; null when it does not, or not that namespace. Of several
  // one that has whole objects. For reading within one turn of the loop.
  const Store* cache(const core::Gvk& kind, const std::string& namespace_ = "") const;
  const Controller& controller() const;
  // All caches had their first sync.
  bool synced() const;
  // One per watch; a failing one is also logged when it begins to fail and when it recovers.
  std::vector<StreamHealth> health() const;

  // Stops the intake, lets runs finish, calls the flush and the release hook, all within
  // `deadline`; then tells, all who have asked with the deadline of the first. Nothing new starts
  // from now on.
  void shut_down(Duration deadline, std::function<void(const ShutdownReport&)> done);
  // A second signal: what still runs is told as cut off.
  void shut_down_now();

  struct Impl;

 private:
  std::shared_ptr<Impl> impl_;
};

class ControllerBuilder {
 public:
  // All must outlive the Operator.
  ControllerBuilder(loop::EventLoop& loop, client::Client& client, base::Random& random);
  ~ControllerBuilder();

  // The kind that is reconciled. Exactly once.
  ControllerBuilder& for_(core::ResourceType type, KindOptions options = {});
  // Children: their owner runs when one is added, changed or gone. Only metadata is watched unless
  // owns_whole() is called instead.
  ControllerBuilder& owns(core::ResourceType type, KindOptions options = {},
                          OwnerKind references = OwnerKind::controller);
  ControllerBuilder& owns_whole(core::ResourceType type, KindOptions options = {},
                                OwnerKind references = OwnerKind::controller);
  // Related objects that tell which of ours they concern. When one ceases to concern an object,
  // that object runs as well.
  ControllerBuilder& watches(core::ResourceType type, KeyMapper map, KindOptions options = {});
  // Related objects that ours name.
  ControllerBuilder& watches_referenced(core::ResourceType type, KeyMapper references,
                                        KindOptions options = {});
  ControllerBuilder& reconcile_on(const TriggerSource& source);
  ControllerBuilder& reconcile_all_on(const TriggerSource& source);

  // Which of the object's own changes are news (KindOptions::operators of for_ come first).
  ControllerBuilder& predicates(Predicate predicate, PredicateOptions options = {});
  // Wait that long from the first trigger on; later ones do not push it out.
  ControllerBuilder& debounce(Duration window);
  // Objects at the same time; 0 = no limit, the default.
  ControllerBuilder& concurrency(std::size_t limit);
  // A limit over several controllers; must outlive the Operator.
  ControllerBuilder& slots(RunSlots& slots);
  ControllerBuilder& retry(base::BackoffPolicy policy, std::uint32_t max_attempts = 0);
  // false: reconciles as soon as the objects themselves are cached, whatever the other caches hold.
  ControllerBuilder& hold_until_synced(bool all);
  // Fills its caches and runs nothing until Operator::lead(), which is for a Leadership's `gained`;
  // its `end_runs` and `lost` are Operator::stand_by(), its gate() is the client's. `hand_over`:
  // two durations of the lease, see on_delete().
  ControllerBuilder& standby(Duration hand_over = kHandOver);
  ControllerBuilder& error_policy(ErrorPolicy policy);
  static constexpr Duration kHandOver{30000};  // two leases of the default length
  static constexpr std::size_t kMostHandedOver = 10000;
  // Runs once when an object is gone, through the queue: never together with a run of that object,
  // retried as those are. A deletion while nobody watched, or a name that was taken again at once,
  // is not told: where that matters use a finalizer. Without it a gone object is forgotten.
  // What goes while it stands by is for the leader to tell. Only what went within hand_over before
  // lead(), or was left to do at stand_by() so shortly before, the leader may not have got to: that
  // runs then, of it the last kMostHandedOver objects. So across a hand-over it runs at least once,
  // perhaps in both; what went earlier never runs again.
  ControllerBuilder& on_delete(std::function<void(const core::ObjectKey&, ReconcileDone)> task);
  // Sees each result, for metrics. Errors are logged whether it is there or not.
  ControllerBuilder& on_result(
      std::function<void(const core::ObjectKey&, const Result<RunOutcome>&)> callback);
  // Steps of the shutdown: write out what the runs left, give leases back.
  ControllerBuilder& flush_on_shutdown(ShutdownSequence::Step step);
  ControllerBuilder& release_on_shutdown(ShutdownSequence::Step step);

  // Errors: invalid (no kind, one that is empty or cannot be listed and watched, namespaces of a
  // cluster-scoped kind, one that is none or stands twice, shared watches of another kind or of one
  // namespace twice, no function). Once it has built, the builder is used up: whatever it is given
  // is for nothing, and build() is invalid.
  Result<std::unique_ptr<Operator>> build(ReconcileFunction reconcile);

 private:
  std::unique_ptr<OperatorParts> parts_;
  bool used_ = false;
};

}  // namespace kubewatch::runtime
