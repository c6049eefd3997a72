// What an engine knows about itself at one moment, as plain numbers: for /metrics, /readyz and
// /healthz. Collected by engine; judged by health, written down by metrics.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "runtime/failure_counts.hpp"

namespace kubewatch::hooks {

struct ControllerFacts {
  std::string controller;
  bool started = false;         // its caches had their first sync
  std::string why_not_started;  // "": a kind is not synced
  bool absent = false;  // its kind is optional and not there, or in no shard: it waits for nothing
  std::size_t ready = 0, waiting = 0, running = 0, parked = 0;
  std::size_t failing = 0;         // objects whose last run failed
  std::optional<Duration> oldest;  // how long the oldest key that is due has waited
};

struct WatchFacts {
  std::string resource;  // "deployments.apps"
  std::string namespace_;
  bool synced = false;
  bool needed = true;                   // false: nobody waits for it
  std::optional<Duration> failing_for;  // absent: all is well
  std::string failure;                  // the last one, while it is failing
  std::uint64_t relists = 0, reconnects = 0;
  runtime::FailureCounts failures{};  // by class, since it was opened
  std::size_t objects = 0;
  std::uint64_t bytes = 0;
};

// "deployments.apps in namespace shop"
std::string name_of(const WatchFacts& watch);
// "the watch of deployments.apps has failed for 37s". Precondition: it is failing.
std::string how_long_failing(const WatchFacts& watch);

// Its Leases can be neither held nor seen to be held by another instance.
struct LeadTrouble {
  std::string why;
  Duration lasts{0};
};

struct EngineFacts {
  bool discovered = false;  // the server has said what kinds it has
  bool stopping = false;
  std::vector<ControllerFacts> controllers;
  std::vector<WatchFacts> watches;
  std::optional<Duration> since_finish;  // since a run ended; absent: none did yet
  std::map<std::size_t, bool> leads;     // by shard; empty: there is no leader election
  std::optional<LeadTrouble> lead_trouble;
  Duration longest_run{0};  // that a hook may take with its grace, of the present rules
};

}  // namespace kubewatch::hooks
