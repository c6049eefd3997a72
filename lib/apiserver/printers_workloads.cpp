// Kinds that make Pods: apps, batch, autoscaling.
#include <fmt/format.h>

#include <utility>

#include "apiserver/printer_parts.hpp"
#include "base/strings.hpp"

namespace kubewatch::apiserver::parts {

namespace {

using base::find;

// Of the Pods that a template makes: names, images, and what chooses them.
Json names(const Json& pod_spec) {
  return base::join(texts(pod_spec, {"containers"}, {"name"}), ",");
}
Json images(const Json& pod_spec) {
  return base::join(texts(pod_spec, {"containers"}, {"image"}), ",");
}

const Json& at(const Json& o, Path path) {
  static const Json kNothing;
  const Json* found = find(o, path);
  return found == nullptr ? kNothing : *found;
}

std::string ready_of(const Json& o) {
  return fmt::format("{}/{}", number(o, {"status", "readyReplicas"}),
                     number(o, {"spec", "replicas"}, 1));
}

Json job_status(const Json& o, WallTime) {
  if (condition_true(o, "Complete")) return "Complete";
  if (condition_true(o, "Failed")) return "Failed";
  if (deleting(o)) return "Terminating";
  for (const char* type : {"Suspended", "FailureTarget", "SuccessCriteriaMet"}) {
    if (condition_true(o, type)) return type;
  }
  return "Running";
}

Json job_completions(const Json& o, WallTime) {
  const auto succeeded = number(o, {"status", "succeeded"});
  if (exists(o, {"spec", "completions"})) {
    return fmt::format("{}/{}", succeeded, number(o, {"spec", "completions"}));
  }
  const auto parallel = number(o, {"spec", "parallelism"});
  return parallel > 1 ? fmt::format("{}/1 of {}", succeeded, parallel)
                      : fmt::format("{}/1", succeeded);
}

Json job_duration(const Json& o, WallTime now) {
  const auto start = base::parse_rfc3339(text(o, {"status", "startTime"}));
  if (!start) return "";
  const auto done = base::parse_rfc3339(text(o, {"status", "completionTime"}));
  return base::format_age(
      std::chrono::duration_cast<std::chrono::seconds>((done ? *done : now) - *start));
}

Json suspended(const Json& o, WallTime) {
  if (!exists(o, {"spec", "suspend"})) return "<unset>";
  return flag(o, {"spec", "suspend"}) ? "True" : "False";
}

Json last_schedule(const Json& o, WallTime now) {
  if (!exists(o, {"status", "lastScheduleTime"})) return "<none>";
  return since(o, {"status", "lastScheduleTime"}, now);
}

Json controller(const Json& o, WallTime) {
  std::string out = "<none>";
  each(o, {"metadata", "ownerReferences"}, [&](const Json& owner) {
    if (out != "<none>" || !flag(owner, {"controller"})) return;
    const std::string version = text(owner, {"apiVersion"});
    const auto slash = version.find('/');
    const std::string group = slash == std::string::npos ? "" : "." + version.substr(0, slash);
    out = base::to_lower(text(owner, {"kind"}) + group) + "/" + text(owner, {"name"});
  });
  return out;
}

// The part of a metric that its type names: {"type":"Pods","pods":{...}}.
const Json& source_of(const Json& metric) {
  const std::string type = text(metric, {"type"});
  if (type == "Pods") return at(metric, {"pods"});
  if (type == "Object") return at(metric, {"object"});
  if (type == "Resource") return at(metric, {"resource"});
  if (type == "ContainerResource") return at(metric, {"containerResource"});
  return at(metric, {"external"});
}

std::string of_resource(const Json& wanted, const Json& has) {
  const std::string name = text(wanted, {"name"});
  if (exists(wanted, {"target", "averageValue"})) {
    return fmt::format("{}: {}/{}", name, shown(has, {"current", "averageValue"}, "<unknown>"),
                       shown(wanted, {"target", "averageValue"}, ""));
  }
  const auto percent = [](const Json& o, Path path, const char* otherwise) {
    return exists(o, path) ? shown(o, path, "") + "%" : otherwise;
  };
  return fmt::format("{}: {}/{}", name,
                     percent(has, {"current", "averageUtilization"}, "<unknown>"),
                     percent(wanted, {"target", "averageUtilization"}, "<auto>"));
}

std::string of_metric(const Json& metric, const Json& status) {
  const std::string type = text(metric, {"type"});
  const Json& wanted = source_of(metric);
  const Json& has = source_of(status);
  if (type == "Resource" || type == "ContainerResource") return of_resource(wanted, has);
  const bool known = type == "Pods" || type == "Object" || type == "External";
  if (!known) return "<unknown type>";
  const bool average = exists(wanted, {"target", "averageValue"});
  const char* value = average ? "averageValue" : "value";
  return fmt::format("{}/{}{}", shown(has, {"current", value}, "<unknown>"),
                     shown(wanted, {"target", value}, "<nil>"),
                     average && type != "Pods" ? " (avg)" : "");
}

// Of autoscaling/v2, in which all are stored.
Json hpa_targets(const Json& o, WallTime) {
  const Json& statuses = at(o, {"status", "currentMetrics"});
  std::vector<std::string> out;
  each(o, {"spec", "metrics"}, [&](const Json& metric) {
    const std::size_t i = out.size();
    const bool has = statuses.is_array() && i < statuses.size();
    out.push_back(of_metric(metric, has ? statuses[i] : Json()));
  });
  return out.empty() ? "<none>" : first_few(std::move(out), 2, ", ");
}

void add_replicated(ColumnTable& t) {
  const BuiltinColumn containers = {"Containers", "string", 1,
                                    KW_CELL(names(at(o, {"spec", "template", "spec"})))};
  const BuiltinColumn pictures = {"Images", "string", 1,
                                  KW_CELL(images(at(o, {"spec", "template", "spec"})))};
  const BuiltinColumn chosen = {"Selector", "string", 1,
                                KW_CELL(selector(find(o, {"spec", "selector"}), "<none>"))};
  t["deployments.apps"] = {
      kName,
      {"Ready", "string", 0, KW_CELL(ready_of(o))},
      {"Up-to-date", "string", 0, KW_CELL(number(o, {"status", "updatedReplicas"}))},
      {"Available", "string", 0, KW_CELL(number(o, {"status", "availableReplicas"}))},
      kAge,
      containers,
      pictures,
      {"Selector", "string", 1, KW_CELL(selector(find(o, {"spec", "selector"}), ""))}};
  t["replicasets.apps"] = {kName,
                           {"Desired", "integer", 0, KW_CELL(number(o, {"spec", "replicas"}, 1))},
                           {"Current", "integer", 0, KW_CELL(number(o, {"status", "replicas"}))},
                           {"Ready", "integer", 0, KW_CELL(number(o, {"status", "readyReplicas"}))},
                           kAge,
                           containers,
                           pictures,
                           chosen};
  t["replicationcontrollers"] = t["replicasets.apps"];
  t["replicationcontrollers"].back().make = KW_CELL(pairs(find(o, {"spec", "selector"})));
  t["statefulsets.apps"] = {
      kName, {"Ready", "string", 0, KW_CELL(ready_of(o))}, kAge, containers, pictures};
  t["daemonsets.apps"] = {
      kName,
      {"Desired", "integer", 0, KW_CELL(number(o, {"status", "desiredNumberScheduled"}))},
      {"Current", "integer", 0, KW_CELL(number(o, {"status", "currentNumberScheduled"}))},
      {"Ready", "integer", 0, KW_CELL(number(o, {"status", "numberReady"}))},
      {"Up-to-date", "integer", 0, KW_CELL(number(o, {"status", "updatedNumberScheduled"}))},
      {"Available", "integer", 0, KW_CELL(number(o, {"status", "numberAvailable"}))},
      {"Node Selector", "string", 0,
       KW_CELL(pairs(find(o, {"spec", "template", "spec", "nodeSelector"})))},
      kAge,
      containers,
      pictures,
      chosen};
  t["jobs.batch"] = {kName,
                     {"Status", "string", 0, job_status},
                     {"Completions", "string", 0, job_completions},
                     {"Duration", "string", 0, job_duration},
                     kAge,
                     containers,
                     pictures,
                     chosen};
}

}  // namespace

void add_workloads(ColumnTable& t) {
  add_replicated(t);
  t["cronjobs.batch"] = {
      kName,
      {"Schedule", "string", 0, KW_CELL(text(o, {"spec", "schedule"}))},
      {"Timezone", "string", 0, KW_CELL(text(o, {"spec", "timeZone"}, "<none>"))},
      {"Suspend", "boolean", 0, suspended},
      {"Active", "integer", 0, KW_CELL(count(o, {"status", "active"}))},
      {"Last Schedule", "string", 0, last_schedule},
      kAge,
      {"Containers", "string", 1,
       KW_CELL(names(at(o, {"spec", "jobTemplate", "spec", "template", "spec"})))},
      {"Images", "string", 1,
       KW_CELL(images(at(o, {"spec", "jobTemplate", "spec", "template", "spec"})))},
      {"Selector", "string", 1,
       KW_CELL(selector(find(o, {"spec", "jobTemplate", "spec", "selector"}), "<none>"))}};
  t["podtemplates"] = {
      kName,
      {"Containers", "string", 0, KW_CELL(names(at(o, {"template", "spec"})))},
      {"Images", "string", 0, KW_CELL(images(at(o, {"template", "spec"})))},
      {"Pod Labels", "string", 0, KW_CELL(pairs(find(o, {"template", "metadata", "labels"})))}};
  t["controllerrevisions.apps"] = {kName,
                                   {"Controller", "string", 0, controller},
                                   {"Revision", "string", 0, KW_CELL(number(o, {"revision"}))},
                                   kAge};
  t["horizontalpodautoscalers.autoscaling"] = {
      kName,
      {"Reference", "string", 0,
       KW_CELL(text(o, {"spec", "scaleTargetRef", "kind"}) + "/" +
               text(o, {"spec", "scaleTargetRef", "name"}))},
      {"Targets", "string", 0, hpa_targets},
      {"MinPods", "string", 0, KW_CELL(shown(o, {"spec", "minReplicas"}, "<unset>"))},
      {"MaxPods", "string", 0, KW_CELL(number(o, {"spec", "maxReplicas"}))},
      {"Replicas", "string", 0, KW_CELL(number(o, {"status", "currentReplicas"}))},
      kAge};
  t["scales.autoscaling"] = {
      kName,
      {"Desired", "integer", 0, KW_CELL(number(o, {"spec", "replicas"}))},
      {"Available", "integer", 0, KW_CELL(number(o, {"status", "replicas"}))},
      kAge};
  t["poddisruptionbudgets.policy"] = {
      kName,
      {"Min Available", "string", 0, KW_CELL(shown(o, {"spec", "minAvailable"}, "N/A"))},
      {"Max Unavailable", "string", 0, KW_CELL(shown(o, {"spec", "maxUnavailable"}, "N/A"))},
      {"Allowed Disruptions", "integer", 0, KW_CELL(number(o, {"status", "disruptionsAllowed"}))},
      kAge};
}

}  // namespace kubewatch::apiserver::parts
