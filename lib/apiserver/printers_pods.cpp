// Pods, step by step as kube-apiserver's printPod: what a Pod is doing is said by many fields.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "apiserver/printer_parts.hpp"

namespace kubewatch::apiserver::parts {

namespace {

using base::find;

struct PodState {
  std::size_t ready = 0;
  std::size_t containers = 0;
  std::string reason;
  std::int64_t restarts = 0;
  std::string restarted_at;  // the last time that one ended before it was started again
};

// Why a container ended: "Error", "Signal:9", "ExitCode:3".
std::string ended_reason(const Json& ended) {
  std::string reason = text(ended, {"reason"});
  if (!reason.empty()) return reason;
  const auto signal = number(ended, {"signal"});
  return signal != 0 ? fmt::format("Signal:{}", signal)
                     : fmt::format("ExitCode:{}", number(ended, {"exitCode"}));
}

// Restarts of some containers, and when the last of them was.
struct Restarts {
  std::int64_t count = 0;
  std::string last;

  void add(const Json& status) {
    count += number(status, {"restartCount"});
    const std::string at = text(status, {"lastState", "terminated", "finishedAt"});
    last = std::max(last, at);  // RFC 3339 of one zone: ordered as texts
  }
};

std::set<std::string> sidecars_of(const Json& pod) {
  std::set<std::string> out;
  each(pod, {"spec", "initContainers"}, [&](const Json& container) {
    if (text(container, {"restartPolicy"}) == "Always") out.insert(text(container, {"name"}));
  });
  return out;
}

class PodReader {
 public:
  explicit PodReader(const Json& pod) : pod_(pod), sidecars_(sidecars_of(pod)) {}

  PodState read() {
    out_.containers = count(pod_, {"spec", "containers"}) + sidecars_.size();
    const std::string phase = text(pod_, {"status", "phase"});
    const std::string given = text(pod_, {"status", "reason"});
    out_.reason = given.empty() ? phase : given;
    each(pod_, {"status", "conditions"}, [&](const Json& one) {
      const bool gated = text(one, {"reason"}) == "SchedulingGated";
      if (gated && text(one, {"type"}) == "PodScheduled") out_.reason = "SchedulingGated";
    });
    const bool initializing = read_init();
    if (!initializing || condition_true(pod_, "Initialized")) read_containers();
    const bool over = phase == "Failed" || phase == "Succeeded";
    if (deleting(pod_) && given == "NodeLost") {
      out_.reason = "Unknown";
    } else if (deleting(pod_) && !over) {
      out_.reason = "Terminating";
    }
    out_.restarts = restarts_.count;
    out_.restarted_at = restarts_.last;
    return out_;
  }

 private:
  // True: an init container is not through. Those after it are not looked at.
  bool read_init() {
    const Json* all = find(pod_, {"status", "initContainerStatuses"});
    if (all == nullptr || !all->is_array()) return false;
    for (std::size_t i = 0; i < all->size(); ++i) {
      const Json& status = (*all)[i];
      const bool sidecar = sidecars_.count(text(status, {"name"})) != 0;
      restarts_.add(status);
      if (sidecar) sidecar_restarts_.add(status);
      const bool ended = exists(status, {"state", "terminated"});
      if (ended && number(status, {"state", "terminated", "exitCode"}) == 0) continue;
      if (sidecar && flag(status, {"started"})) {
        if (flag(status, {"ready"})) ++out_.ready;
        continue;
      }
      const std::string waits = text(status, {"state", "waiting", "reason"});
      if (ended) {
        out_.reason = "Init:" + ended_reason(*find(status, {"state", "terminated"}));
      } else if (!waits.empty() && waits != "PodInitializing") {
        out_.reason = "Init:" + waits;
      } else {
        out_.reason = fmt::format("Init:{}/{}", i, count(pod_, {"spec", "initContainers"}));
      }
      return true;
    }
    return false;
  }

  void read_containers() {
    restarts_ = sidecar_restarts_;
    bool running = false;
    std::string error;
    const Json* all = find(pod_, {"status", "containerStatuses"});
    const std::size_t many = all != nullptr && all->is_array() ? all->size() : 0;
    // The first one has the last word.
    for (std::size_t i = many; i-- > 0;) {
      const Json& status = (*all)[i];
      restarts_.add(status);
      const std::string waits = text(status, {"state", "waiting", "reason"});
      if (!waits.empty()) {
        out_.reason = waits;
      } else if (exists(status, {"state", "terminated"})) {
        out_.reason = ended_reason(*find(status, {"state", "terminated"}));
        if (number(status, {"state", "terminated", "exitCode"}) != 0) error = out_.reason;
      } else if (flag(status, {"ready"}) && exists(status, {"state", "running"})) {
        running = true;
        ++out_.ready;
      }
    }
    if (out_.reason != "Completed") return;
    if (running && condition_true(pod_, "Ready")) {
      out_.reason = "Running";
    } else if (!error.empty()) {
      out_.reason = error;
    } else if (running) {
      out_.reason = "NotReady";
    }
  }

  const Json& pod_;
  std::set<std::string> sidecars_;
  PodState out_;
  Restarts restarts_;
  Restarts sidecar_restarts_;
};

Json ready(const Json& o, WallTime) {
  const PodState pod = PodReader(o).read();
  return fmt::format("{}/{}", pod.ready, pod.containers);
}

Json status(const Json& o, WallTime) {
  return PodReader(o).read().reason;
}

Json restarts(const Json& o, WallTime now) {
  const PodState pod = PodReader(o).read();
  if (pod.restarts == 0 || pod.restarted_at.empty()) return std::to_string(pod.restarts);
  return fmt::format("{} ({} ago)", pod.restarts, age_of(pod.restarted_at, now));
}

std::string ip(const Json& o) {
  const std::string one = text(o, {"status", "podIP"});
  if (!one.empty()) return one;
  const auto all = texts(o, {"status", "podIPs"}, {"ip"});
  return all.empty() || all.front().empty() ? "<none>" : all.front();
}

Json readiness_gates(const Json& o, WallTime) {
  std::size_t gates = 0;
  std::size_t open = 0;
  each(o, {"spec", "readinessGates"}, [&](const Json& gate) {
    ++gates;
    if (condition_true(o, text(gate, {"conditionType"}))) ++open;
  });
  return gates == 0 ? "<none>" : fmt::format("{}/{}", open, gates);
}

}  // namespace

void add_pods(ColumnTable& t) {
  t["pods"] = {
      kName,
      {"Ready", "string", 0, ready},
      {"Status", "string", 0, status},
      {"Restarts", "string", 0, restarts},
      kAge,
      {"IP", "string", 1, KW_CELL(ip(o))},
      {"Node", "string", 1, KW_CELL(text(o, {"spec", "nodeName"}, "<none>"))},
      {"Nominated Node", "string", 1, KW_CELL(text(o, {"status", "nominatedNodeName"}, "<none>"))},
      {"Readiness Gates", "string", 1, readiness_gates}};
}

}  // namespace kubewatch::apiserver::parts
