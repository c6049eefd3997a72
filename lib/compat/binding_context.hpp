// The binding context: the JSON array that tells a shell-operator hook why it runs. What is put in
// and how it is written; the state of the objects comes from whoever keeps it. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "compat/hook_config.hpp"

namespace kubewatch::compat {

enum class ContextType { startup, schedule, synchronization, event };

// One reason to run. Of an event: the object as it was then.
struct Context {
  ContextType type = ContextType::startup;
  std::size_t binding = 0;  // its place in the hook's kubernetes or schedule bindings
  std::string name;         // of the binding
  std::string group;
  std::vector<std::string> snapshots_from;
  WatchEvent event = WatchEvent::added;
  std::string object_id;                  // "Pod shop/web", for logs
  std::string object;                     // raw JSON; "" = not kept
  std::optional<std::string> filtered{};  // raw JSON; absent: the binding has no filter
};

// One object of a snapshot, raw JSON each.
struct SnapshotItem {
  std::string object;  // "" = not kept
  std::optional<std::string> filtered;
};
// The objects of the kubernetes binding at this place, as they are now.
using SnapshotOf = std::function<std::vector<SnapshotItem>(std::size_t binding)>;

Context startup_context();
Context schedule_context(const HookConfig& config, std::size_t binding);
Context synchronization_context(const HookConfig& config, std::size_t binding);

// The array, with the state of snapshots as it is now. Bindings of one name share one snapshot.
std::string render_contexts(const HookConfig& config, const std::vector<Context>& contexts,
                            const SnapshotOf& snapshot_of);

// One of them shows objects as they are when it is rendered, beside that of its event.
bool shows_state(const std::vector<Context>& contexts);

// How many contexts one run may have so that their snapshots, which each of them repeats, stay
// within 64 MiB; at least one. `bytes_of`: the objects of the kubernetes binding at this place.
std::size_t most_contexts(const HookConfig& config,
                          const std::function<std::size_t(std::size_t binding)>& bytes_of);

// "Synchronization of pods, Added Pod shop/web, and 3 more", for logs and lists of runs.
std::string describe(const std::vector<Context>& contexts);

}  // namespace kubewatch::compat
