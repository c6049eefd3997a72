#include "runtime/wait_cause.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/cut_text.hpp"
#include "base/strings.hpp"
#include "runtime/object_status.hpp"

namespace kubewatch::runtime {

namespace {

std::string terminated(const Json& state) {
  std::string out = fmt::format("exit code {}", integer_at(state, {"exitCode"}).value_or(0));
  if (const auto signal = integer_at(state, {"signal"}); signal && *signal != 0) {
    out += fmt::format(", signal {}", *signal);
  }
  const std::string reason = base::string_at(state, {"reason"});
  if (!reason.empty() && reason != "Error") out += fmt::format(" ({})", reason);
  if (const auto message = base::string_at(state, {"message"}); !message.empty()) {
    out += ": " + cause_line(message, 120);
  }
  return out;
}

// How the container's last life ended, when it has been restarted.
std::string last_life(const Json& status) {
  std::string out;
  const Json* last = base::find(status, {"lastState", "terminated"});
  if (last != nullptr) out += ", last " + terminated(*last);
  const auto restarts = integer_at(status, {"restartCount"}).value_or(0);
  if (restarts > 0) out += fmt::format(", {} restart{}", restarts, restarts == 1 ? "" : "s");
  return out;
}

bool only_starts(const std::string& reason) {
  return reason.empty() || reason == "ContainerCreating" || reason == "PodInitializing";
}

// "" when the container does what it should.
std::string container_cause(const std::string& what, const Json& status, bool must_end) {
  const std::string name = what + " " + base::string_at(status, {"name"});
  if (const Json* state = base::find(status, {"state", "waiting"})) {
    const std::string reason = base::string_at(*state, {"reason"});
    if (only_starts(reason) && last_life(status).empty()) return "";
    std::string out = fmt::format("{}: {}", name, reason.empty() ? "waiting" : reason);
    const std::string message = base::string_at(*state, {"message"});
    const std::string before = last_life(status);
    if (before.empty() && !message.empty()) return out + ": " + cause_line(message);
    return out + before;
  }
  if (const Json* state = base::find(status, {"state", "terminated"})) {
    if (integer_at(*state, {"exitCode"}).value_or(0) == 0) return "";
    return name + ": " + terminated(*state) + last_life(status);
  }
  const Json* ready = base::find(status, {"ready"});
  const bool waits = ready != nullptr && ready->is_boolean() && !ready->get<bool>();
  if (must_end || !waits || base::find(status, {"state", "running"}) == nullptr) return "";
  return name + ": running, not ready" + last_life(status);
}

std::string containers(const Json& pod, const char* list, const std::string& what, bool must_end) {
  for (const auto& one : base::items_at(pod, {"status", list})) {
    if (auto cause = container_cause(what, one, must_end); !cause.empty()) return cause;
  }
  return "";
}

std::string creation(const Json& object) {
  return base::string_at(object, {"metadata", "creationTimestamp"});
}

// When an Event was last seen, whichever API wrote it.
std::string time_of(const Json& event) {
  for (const auto& path : {std::vector<std::string>{"series", "lastObservedTime"},
                           {"deprecatedLastTimestamp"},
                           {"lastTimestamp"},
                           {"eventTime"},
                           {"metadata", "creationTimestamp"}}) {
    const Json* at = &event;
    for (const auto& key : path) {
      const auto found = at->is_object() ? at->find(key) : at->end();
      at = at->is_object() && found != at->end() ? &*found : nullptr;
      if (at == nullptr) break;
    }
    if (at != nullptr && at->is_string() && !at->get_ref<const std::string&>().empty()) {
      return at->get<std::string>();
    }
  }
  return "";
}

std::int64_t times(const Json& event) {
  for (const auto& count : {integer_at(event, {"series", "count"}),
                            integer_at(event, {"deprecatedCount"}), integer_at(event, {"count"})}) {
    if (count) return *count;
  }
  return 1;
}

}  // namespace

std::string cause_line(std::string text, std::size_t max) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return base::shortened_bytes(std::string(base::trim(text)), max);
}

std::string pod_cause(const Json& pod) {
  if (auto cause = containers(pod, "initContainerStatuses", "init container", true);
      !cause.empty()) {
    return cause;
  }
  if (auto cause = containers(pod, "containerStatuses", "container", false); !cause.empty()) {
    return cause;
  }
  const Json* scheduled = find_condition(pod, "PodScheduled");
  if (scheduled != nullptr && base::string_at(*scheduled, {"status"}) == "False") {
    return cause_line("unschedulable: " + base::string_at(*scheduled, {"message"}));
  }
  if (base::string_at(pod, {"status", "phase"}) == "Failed") {
    std::string out = "phase is Failed";
    for (const char* field : {"reason", "message"}) {
      const std::string text = base::string_at(pod, {"status", field});
      if (!text.empty()) out += ": " + text;
    }
    return cause_line(out);
  }
  return "";
}

std::vector<std::string> claims_of(const Json& pod) {
  std::vector<std::string> out;
  for (const auto& volume : base::items_at(pod, {"spec", "volumes"})) {
    auto name = base::string_at(volume, {"persistentVolumeClaim", "claimName"});
    if (!name.empty()) out.push_back(std::move(name));
  }
  return out;
}

std::string claim_cause(const Json& claim) {
  const std::string phase = base::string_at(claim, {"status", "phase"});
  if (phase == "Bound") return "";
  return fmt::format("PersistentVolumeClaim {} is {}", base::string_at(claim, {"metadata", "name"}),
                     phase.empty() ? "not bound" : phase);
}

std::string event_cause(const std::vector<Json>& events, const std::vector<std::string>& uids) {
  const Json* newest = nullptr;
  for (const auto& event : events) {
    if (base::string_at(event, {"type"}) != "Warning") continue;
    std::string uid = base::string_at(event, {"regarding", "uid"});
    if (uid.empty()) uid = base::string_at(event, {"involvedObject", "uid"});
    if (std::find(uids.begin(), uids.end(), uid) == uids.end() || uid.empty()) continue;
    if (newest == nullptr || time_of(event) >= time_of(*newest)) newest = &event;
  }
  if (newest == nullptr) return "";
  std::string text = base::string_at(*newest, {"note"});
  if (text.empty()) text = base::string_at(*newest, {"message"});
  std::string out = cause_line(fmt::format("{}: {}", base::string_at(*newest, {"reason"}), text));
  if (const auto count = times(*newest); count > 1) out += fmt::format(" ({} times)", count);
  return out;
}

bool is_owned_by(const Json& object, const std::string& uid) {
  const Json& owners = base::items_at(object, {"metadata", "ownerReferences"});
  return !uid.empty() && std::any_of(owners.begin(), owners.end(), [&](const Json& owner) {
    return base::string_at(owner, {"uid"}) == uid;
  });
}

std::vector<Json> pods_owned_by(const std::vector<Json>& pods, const std::string& uid,
                                const std::vector<Json>& between) {
  std::vector<std::string> owners = {uid};
  for (const auto& one : between) {
    if (is_owned_by(one, uid)) owners.push_back(base::string_at(one, {"metadata", "uid"}));
  }
  std::vector<Json> out;
  for (const auto& pod : pods) {
    const bool owned = std::any_of(owners.begin(), owners.end(), [&](const std::string& owner) {
      return is_owned_by(pod, owner);
    });
    if (owned) out.push_back(pod);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Json& a, const Json& b) { return creation(a) > creation(b); });
  return out;
}

}  // namespace kubewatch::runtime
