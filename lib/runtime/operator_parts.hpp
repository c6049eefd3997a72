// What a ControllerBuilder collects and an Operator is made of. Private to operator*.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "runtime/operator.hpp"

namespace kubewatch::runtime {

struct WatchedKind {
  enum class Role { self, owned, mapped, referenced } role = Role::self;
  core::ResourceType type;
  KindOptions options;
  OwnerKind references = OwnerKind::controller;  // owned
  KeyMapper map;                                 // mapped, referenced
};

struct OperatorParts {
  OperatorParts(loop::EventLoop& the_loop, client::Client& the_client, base::Random& the_random)
      : loop(the_loop), client(the_client), random(the_random) {
    queue.concurrency = 0;
  }

  loop::EventLoop& loop;
  client::Client& client;
  base::Random& random;

  std::vector<WatchedKind> kinds;
  std::vector<TriggerSource> triggers;
  std::vector<TriggerSource> all_triggers;
  std::optional<Predicate> predicate;
  PredicateOptions predicate_options;
  Duration debounce{0};
  WorkQueueOptions queue;
  RunSlots* slots = nullptr;
  bool hold_for_all = true;
  bool standby = false;
  Duration hand_over = ControllerBuilder::kHandOver;
  ReconcileFunction reconcile;
  ErrorPolicy error_policy;
  std::function<void(const core::ObjectKey&, ReconcileDone)> on_delete;
  std::function<void(const core::ObjectKey&, const Result<RunOutcome>&)> on_result;
  ShutdownSequence::Step flush;
  ShutdownSequence::Step release;
};

}  // namespace kubewatch::runtime
