// Jobs and CronJobs. The time zone of a CronJob is looked up in the machine's database: the one
// thing here that reads a file.
#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "base/keep_member.hpp"
#include "base/strings.hpp"
#include "base/time_zone.hpp"
#include "builtin/go_values.hpp"
#include "builtin/validation_kinds.hpp"
#include "builtin/validation_pods.hpp"
#include "core/resource.hpp"

namespace kubewatch::builtin {

namespace {

constexpr std::size_t kMostRules = 20;
constexpr std::size_t kMostPatterns = 20;
constexpr std::size_t kMostManagedBy = 63;
constexpr std::size_t kMostIndexText = std::size_t{64} << 10U;
constexpr std::int64_t kMostIndexedParallelism = 100000;

std::string valid_values(const Values& values) {
  Values quoted;
  for (const auto& value : values) quoted.push_back(go_quoted(value));
  return "valid values: [" + base::join(quoted, " ") + "]";
}

void one_of_valid(const Field& field, const Values& values) {
  if (field.empty()) return field.required(valid_values(values));
  field.one_of(values);
}

void check_exit_codes(const Field& codes, const std::set<std::string>& containers) {
  const Field op = codes["operator"];
  one_of_valid(op, {"In", "NotIn"});
  const Field container = codes["containerName"];
  if (container.present() && containers.count(container.text()) == 0) {
    container.invalid("must be one of the container or initContainer names in the pod template");
  }
  const Field values = codes["values"];
  if (values.empty()) values.invalid("at least one value is required");
  if (values.size() > kMostExitCodes) values.too_many(kMostExitCodes);
  std::set<std::int64_t> seen;
  std::optional<std::int64_t> last;
  bool ordered = true;
  for (const auto& value : values.items()) {
    const std::int64_t code = value.number_or(0);
    if (op.is("In") && code == 0) value.invalid("must not be 0 for the In operator");
    if (!seen.insert(code).second) value.duplicate();
    ordered = ordered && (!last || *last <= code);
    last = code;
  }
  if (!ordered) values.invalid("must be ordered");
}

void check_pod_conditions(const Field& conditions) {
  if (conditions.size() > kMostPatterns) conditions.too_many(kMostPatterns);
  for (const auto& pattern : conditions.items()) {
    const Field type = pattern["type"];
    type.invalid_each(qualified_problems(type.text()));
    const Field status = pattern["status"];
    if (status.present()) one_of_valid(status, {"False", "True", "Unknown"});
  }
}

void check_failure_policy(const Field& spec) {
  const Field rules = spec["podFailurePolicy"]["rules"];
  if (rules.size() > kMostRules) rules.too_many(kMostRules);
  std::set<std::string> containers;
  for (const char* key : {"containers", "initContainers"}) {
    for (const auto& one : spec["template"]["spec"][key].items()) {
      containers.insert(one["name"].text());
    }
  }
  for (const auto& rule : rules.items()) {
    const Field action = rule["action"];
    if (action.is("FailIndex")) {
      if (!spec["backoffLimitPerIndex"].present()) {
        action.invalid("requires the backoffLimitPerIndex to be set");
      }
    } else {
      one_of_valid(action, {"Count", "FailIndex", "FailJob", "Ignore"});
    }
    const Field codes = rule["onExitCodes"];
    const Field conditions = rule["onPodConditions"];
    if (codes.present()) check_exit_codes(codes, containers);
    if (!conditions.empty()) check_pod_conditions(conditions);
    if (codes.present() && !conditions.empty()) {
      rule.invalid_untold("specifying both OnExitCodes and OnPodConditions is not supported");
    }
    if (!codes.present() && conditions.empty()) {
      rule.invalid_untold("specifying one of OnExitCodes and OnPodConditions is required");
    }
  }
}

void check_replacement_policy(const Field& spec) {
  const Field policy = spec["podReplacementPolicy"];
  const bool failures = spec["podFailurePolicy"].present();
  policy.one_of(failures ? Values{"Failed"} : Values{"Failed", "TerminatingOrFailed"});
}

void check_success_rule(const Field& rule, std::int64_t completions) {
  const Field count = rule["succeededCount"];
  const Field indexes = rule["succeededIndexes"];
  if (!count.present() && !indexes.present()) {
    rule.required("at least one of succeededCount or succeededIndexes must be specified");
  }
  std::int64_t total = 0;
  if (indexes.size() > kMostIndexText) indexes.too_long(kMostIndexText);
  if (const auto counted = count_indexes(indexes.text(), completions)) {
    total = *counted;
  } else {
    indexes.invalid("error parsing succeededIndexes: " + counted.error().message());
  }
  const auto at_most = [&count](std::int64_t most, const char* what) {
    if (count.number_or(0) <= most) return;
    count.invalid(fmt::format("must be less than or equal to {} (the number of {})", most, what));
  };
  count.not_negative();
  at_most(completions, "specified completions");
  if (indexes.present()) at_most(total, "indexes in the specified succeededIndexes field");
}

void check_success_policy(const Field& spec) {
  const Field policy = spec["successPolicy"];
  if (!policy.present()) return;
  const Field rules = policy["rules"];
  if (rules.empty()) {
    rules.required("at least one rules must be specified when the successPolicy is specified");
  }
  if (rules.size() > kMostRules) rules.too_many(kMostRules);
  const std::int64_t completions = spec["completions"].number_or(0);
  for (const auto& rule : rules.items()) check_success_rule(rule, completions);
}

void check_indexed(const Field& spec) {
  const Field completions = spec["completions"];
  const Field failed = spec["maxFailedIndexes"];
  const Field parallelism = spec["parallelism"];
  if (!completions.present()) completions.required("when completion mode is Indexed");
  const auto at_most = [](const Field& field, std::int64_t most, const std::string& more) {
    if (field.number_or(0) <= most) return;
    field.invalid(fmt::format("must be less than or equal to {}{}", most, more));
  };
  at_most(parallelism, kMostIndexedParallelism, " when completion mode is Indexed");
  if (failed.number_or(0) > completions.number_or(INT64_MAX)) {
    failed.invalid("must be less than or equal to completions");
  }
  at_most(failed, kMostIndexedParallelism, "");
  const bool many = completions.number_or(0) > kMostIndexedParallelism;
  if (!many || !spec["backoffLimitPerIndex"].present()) return;
  const std::string when =
      fmt::format(" when completions are above {} and used with backoff limit per index",
                  kMostIndexedParallelism);
  if (!failed.present()) {
    failed.required(
        fmt::format("must be specified when completions is above {}", kMostIndexedParallelism));
  }
  constexpr std::int64_t most = 10000;
  at_most(parallelism, most, when);
  at_most(failed, most, when);
}

void check_job_template_restart(const Field& spec) {
  const Field restart = spec["template"]["spec"]["restartPolicy"];
  if (restart.empty() || restart.is("Always")) {
    restart.required("valid values: \"OnFailure\", \"Never\"");
  } else if (!restart.is("OnFailure") && !restart.is("Never")) {
    restart.not_supported({"OnFailure", "Never"});
  } else if (spec["podFailurePolicy"].present() && !restart.is("Never")) {
    restart.invalid("only \"Never\" is supported when podFailurePolicy is specified");
  }
}

void check_job_numbers(const Field& spec) {
  for (const char* key : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                          "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    spec[key].not_negative();
  }
  const Field per_index = spec["backoffLimitPerIndex"];
  if (spec["maxFailedIndexes"].present() && !per_index.present()) {
    per_index.required("when maxFailedIndexes is specified");
  }
}

void check_job_spec(const Field& spec) {
  check_job_numbers(spec);
  const Field manager = spec["managedBy"];
  if (manager.present()) {
    check_domain_path(manager);
    if (manager.size() > kMostManagedBy) manager.too_long(kMostManagedBy);
  }
  const Field mode = spec["completionMode"];
  mode.one_of({"NonIndexed", "Indexed"});
  if (mode.is("Indexed")) {
    check_indexed(spec);
  } else if (!mode.present() || mode.is("NonIndexed")) {
    for (const char* key : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
      if (spec[key].present()) spec[key].invalid("requires indexed completion mode");
    }
  }
  if (spec["podFailurePolicy"].present()) check_failure_policy(spec);
  if (mode.is("Indexed")) {
    check_success_policy(spec);
  } else if (spec["successPolicy"].present()) {
    spec["successPolicy"].invalid("requires indexed completion mode");
  }
  check_replacement_policy(spec);
  check_pod_template(spec["template"]);
  check_job_template_restart(spec);
}

void check_has_label(const Field& labels, const std::string& key, const std::string& value) {
  const Field label = labels[key].at(fmt::format("{}[{}]", labels.path(), key));
  const std::string problem = "must be '" + value + "'";
  if (!label.present()) return label.required(problem);
  if (!label.is(value)) label.invalid_as(labels.shown(), problem);
}

// A Job selects its Pods by what the server itself puts on them.
void check_generated_selector(const Field& object) {
  const Field spec = object["spec"];
  if (spec["manualSelector"].is_true() || !spec["selector"].present()) return;
  const std::string uid = object["metadata"]["uid"].text();
  const std::string name = object["metadata"]["name"].text();
  const Field labels = spec["template"]["metadata"]["labels"];
  check_has_label(labels, "controller-uid", uid);
  check_has_label(labels, "job-name", name);
  check_has_label(labels, "batch.kubernetes.io/controller-uid", uid);
  check_has_label(labels, "batch.kubernetes.io/job-name", name);
  const Json expected = {{"controller-uid", uid},
                         {"job-name", name},
                         {"batch.kubernetes.io/controller-uid", uid},
                         {"batch.kubernetes.io/job-name", name}};
  const Field selector = spec["selector"];
  const auto selected = selects(selector, Field(expected, object.errors()));
  if (selected.value_or(true)) return;
  selector.invalid_as(selector_text(selector), "`selector` not auto-generated");
}

void check_job_selector(const Field& spec) {
  const Field selector = spec["selector"];
  if (!selector.present()) {
    selector.required();
  } else {
    check_label_selector(selector);
  }
  const Field labels = spec["template"]["metadata"]["labels"];
  if (selects(selector, labels).value_or(true)) return;
  labels.invalid("`selector` does not match template `labels`");
}

void check_pod_names(const Field& object) {
  const Field spec = object["spec"];
  const std::int64_t completions = spec["completions"].number_or(0);
  if (!spec["completionMode"].is("Indexed") || completions <= 0) return;
  const Field name = object["metadata"]["name"];
  const std::string last = fmt::format("{}-{}", name.text(), completions - 1);
  if (core::check_dns_label(last).empty()) return;
  name.invalid_text("will not able to create pod with invalid DNS label: " + last);
}

void check_new_job(const Field& object) {
  check_generated_selector(object);
  check_job_spec(object["spec"]);
  check_job_selector(object["spec"]);
  check_pod_names(object);
}

void take_resources(const Json& given, Json& kept) {
  if (!given.is_array() || !kept.is_array() || given.size() != kept.size()) return;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!given[i].is_object() || !kept[i].is_object()) continue;
    if (base::string_at(given[i], {"name"}) != base::string_at(kept[i], {"name"})) continue;
    base::keep_member(given[i], kept[i], "resources");
  }
}

// Which nodes the Pods of a Job that is held want, and how much of them, may change.
Json with_directives(const Json& before, const Json& now) {
  Json out = before;
  for (const char* key : {"nodeSelector", "tolerations", "schedulingGates"}) {
    base::keep_member(now, out, key);
  }
  // None is another one than one that says nothing, unless only nodes were spoken of.
  Json& affinity = out["affinity"];
  const Json* wanted = base::find(now, {"affinity"});
  const bool given = wanted != nullptr && wanted->is_object();
  if (given && !affinity.is_object()) affinity = Json::object();
  if (affinity.is_object()) {
    base::keep_member(given ? *wanted : Json::object(), affinity, "nodeAffinity");
    if (!given && affinity.empty()) affinity = nullptr;
  }
  for (const char* key : {"containers", "initContainers"}) {
    const Json* containers = base::find(now, {key});
    Json* kept = base::find(out, {key});
    if (containers != nullptr && kept != nullptr) take_resources(*containers, *kept);
  }
  return out;
}

// Held, without Pods: never started, or stopped again.
bool is_at_rest(const Field& job) {
  const Field status = job["status"];
  const auto conditions = status["conditions"].items();
  const bool stopped =
      std::any_of(conditions.begin(), conditions.end(), [](const Field& condition) {
        return condition["type"].is("Suspended") && condition["status"].is("True");
      });
  return job["spec"]["suspend"].is_true() && (!status["startTime"].present() || stopped) &&
         status["active"].number_or(0) == 0;
}

void check_same_template(const Field& tmpl, const Field& old, bool at_rest) {
  if (!tmpl.present() || !old.present()) return;
  if (same_go_value("PodTemplateSpec", *tmpl.json(), *old.json())) return;
  if (!at_rest) {
    return tmpl.invalid_as(go_value("PodTemplateSpec", *tmpl.json()), "field is immutable");
  }
  // Its metadata may be another.
  const Field pod = tmpl["spec"];
  if (!pod.is_map() || !old["spec"].is_map()) return;
  const Json allowed = with_directives(*old["spec"].json(), *pod.json());
  if (same_go_value("PodSpec", *pod.json(), allowed)) return;
  pod.invalid_as(go_value("PodSpec", *pod.json()), "field is immutable");
}

void check_job_update(const Field& object, const Json& live) {
  const Field spec = object["spec"];
  const Field job(live, object.errors());
  const Field before = job["spec"];
  check_job_spec(spec);
  check_job_selector(spec);
  const Field completions = spec["completions"];
  if (!spec["completionMode"].is("Indexed")) {
    completions.immutable(before["completions"]);
  } else if (completions.present() && !same_field(completions, before["completions"]) &&
             completions.number() != spec["parallelism"].number()) {
    completions.invalid("can only be modified in tandem with spec.parallelism");
  }
  const Field selector = spec["selector"];
  if (!same_field(selector, before["selector"])) {
    selector.invalid_as(selector_text(selector), "field is immutable");
  }
  check_same_template(spec["template"], before["template"], is_at_rest(job));
  for (const char* key : {"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy",
                          "successPolicy"}) {
    spec[key].immutable(before[key]);
  }
}

void check_time_zone(const Field& zone) {
  if (!zone.present()) return;
  const std::string name = zone.text();
  if (name.empty()) return zone.invalid("timeZone must be nil or non-empty string");
  const std::string unknown = "unknown time zone " + name;
  for (const auto& part : base::split(name, '/')) {
    const bool good =
        !part.empty() && part.size() <= 14 && part != "." && part != ".." && part.front() != '-' &&
        std::all_of(part.begin(), part.end(), [](char c) {
          return base::is_alphanumeric(c) || c == '.' || c == '-' || c == '_' || c == '+';
        });
    if (!good) return zone.invalid(unknown);
  }
  if (base::to_lower(name) == "local") {
    zone.invalid(
        "timeZone must be an explicit time zone as defined in "
        "https://www.iana.org/time-zones");
  }
  // A machine without the database knows none: then all are taken.
  const auto found = base::TimeZone::load(name);
  if (found.ok() || name == "UTC" || name == "Local" || !base::TimeZone::load("Etc/UTC").ok()) {
    return;
  }
  zone.invalid(unknown);
}

}  // namespace

void check_job(const Field& object, const Json* live) {
  check_new_job(object);
  if (live != nullptr) check_job_update(object, *live);
}

void check_cron_job(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  const Field schedule = spec["schedule"];
  if (schedule.empty()) {
    schedule.required();
  } else {
    const std::string problem = check_schedule(schedule.text());
    if (!problem.empty()) schedule.invalid(problem);
    if (schedule.text().find("TZ") != std::string::npos) {
      schedule.invalid("cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    }
  }
  spec["startingDeadlineSeconds"].not_negative();
  const Field zone = spec["timeZone"];
  const Json* before = live != nullptr ? base::find(*live, {"spec", "timeZone"}) : nullptr;
  if (live == nullptr || !same_value(before, zone.json())) check_time_zone(zone);
  spec["concurrencyPolicy"].one_of_required({"Allow", "Forbid", "Replace"});
  const Field job = spec["jobTemplate"]["spec"];
  check_job_spec(job);
  if (job["selector"].present()) {
    job["selector"].invalid_as(selector_text(job["selector"]), "`selector` will be auto-generated");
  }
  if (job["manualSelector"].is_true()) job["manualSelector"].not_supported({"nil", "false"});
  spec["successfulJobsHistoryLimit"].not_negative();
  spec["failedJobsHistoryLimit"].not_negative();
}

}  // namespace kubewatch::builtin
