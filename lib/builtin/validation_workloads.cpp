// Controllers that make Pods from a template: apps, and ReplicationControllers.
#include <fmt/format.h>

#include "builtin/validation_kinds.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kNotSelected = "`selector` does not match template `labels`";

void check_labels_selected(const Field& tmpl, bool selected) {
  if (selected) return;
  tmpl["metadata"]["labels"].invalid(kNotSelected);
}

void check_always(const Field& tmpl, const char* kind) {
  const Field restart = tmpl["spec"]["restartPolicy"];
  if (restart.present() && !restart.is("Always")) restart.not_supported({"Always"});
  const Field deadline = tmpl["spec"]["activeDeadlineSeconds"];
  if (!deadline.present()) return;
  deadline.forbidden(fmt::format("activeDeadlineSeconds in {} is not Supported", kind));
}

// There, right, and not of everything.
void check_required_selector(const Field& selector, const char* kind) {
  if (!selector.present()) return selector.required();
  check_label_selector(selector);
  if (selects_all(selector)) {
    selector.invalid_as("{}", fmt::format("empty selector is invalid for {}", kind));
  }
}

// As both Deployments and ReplicaSets do it, down to the words.
void check_replica_template(const Field& spec) {
  const auto selected = selects(spec["selector"], spec["template"]["metadata"]["labels"]);
  if (!selected) {
    return spec["selector"].invalid_as(selector_text(spec["selector"]), "invalid label selector");
  }
  check_labels_selected(spec["template"], *selected);
  check_pod_template(spec["template"]);
  check_always(spec["template"], "ReplicaSet");
}

void check_same_selector(const Field& object, const Json* live) {
  if (live == nullptr) return;
  const Field selector = object["spec"]["selector"];
  if (same_field(selector, Field(*live, object.errors())["spec"]["selector"])) return;
  selector.invalid_as(selector_text(selector), "field is immutable");
}

void check_rolling_deployment(const Field& update) {
  const Field unavailable = update["maxUnavailable"];
  const Field surge = update["maxSurge"];
  check_int_or_percent(unavailable);
  check_int_or_percent(surge);
  const bool both = unavailable.present() && surge.present();
  if (both && int_or_percent(unavailable) == 0 && int_or_percent(surge) == 0) {
    unavailable.invalid("may not be 0 when `maxSurge` is 0");
  }
  check_not_above_all(unavailable);
}

void check_deployment_strategy(const Field& strategy) {
  const Field type = strategy["type"];
  const Field update = strategy["rollingUpdate"];
  if (type.is("Recreate")) {
    if (update.present()) {
      update.forbidden("may not be specified when strategy `type` is 'Recreate'");
    }
  } else if (type.is("RollingUpdate")) {
    check_rolling_deployment(update);
  } else if (type.present()) {
    const auto shown = [&](const char* key) {
      return update[key].present() ? update[key].shown() : "0";
    };
    const std::string rolling = update.present()
                                    ? fmt::format("{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}",
                                                  shown("maxUnavailable"), shown("maxSurge"))
                                    : "null";
    strategy.errors().push_back(field_not_supported(
        strategy.path(), fmt::format("{{\"Type\":{},\"RollingUpdate\":{}}}", type.shown(), rolling),
        {"Recreate", "RollingUpdate"}));
  }
}

void check_progress(const Field& spec) {
  const Field progress = spec["progressDeadlineSeconds"];
  if (!progress.present()) return;
  progress.not_negative();
  if (progress.number_or(0) > spec["minReadySeconds"].number_or(0)) return;
  progress.invalid("must be greater than minReadySeconds");
}

}  // namespace

void check_deployment(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  spec["replicas"].not_negative();
  check_required_selector(spec["selector"], "deployment");
  check_replica_template(spec);
  check_deployment_strategy(spec["strategy"]);
  spec["minReadySeconds"].not_negative();
  spec["revisionHistoryLimit"].not_negative();
  check_progress(spec);
  check_same_selector(object, live);
}

void check_replica_set(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  spec["replicas"].not_negative();
  spec["minReadySeconds"].not_negative();
  check_required_selector(spec["selector"], "deployment");
  check_replica_template(spec);
  check_same_selector(object, live);
}

void check_replication_controller(const Field& object, const Json* /*live*/) {
  const Field spec = object["spec"];
  spec["minReadySeconds"].not_negative();
  const Field selector = spec["selector"];
  if (selector.empty()) selector.required();
  spec["replicas"].not_negative();
  const Field tmpl = spec["template"];
  if (!tmpl.present()) return tmpl.required();
  const Field labels = tmpl["metadata"]["labels"];
  for (const auto& [key, value] : selector.entries()) {
    if (labels[key].is(value.text())) continue;
    labels.invalid(kNotSelected);
    break;
  }
  check_pod_template(tmpl);
  check_always(tmpl, "ReplicationController");
}

namespace {

void check_rolling_stateful_set(const Field& update) {
  update["partition"].not_negative();
  const Field unavailable = update["maxUnavailable"];
  if (!unavailable.present()) return;
  check_int_or_percent(unavailable);
  if (int_or_percent(unavailable) == 0) unavailable.invalid("cannot be 0");
  check_not_above_all(unavailable);
}

void check_stateful_strategy(const Field& strategy) {
  const Field type = strategy["type"];
  const Field update = strategy["rollingUpdate"];
  const std::string partition = std::to_string(update["partition"].number_or(0));
  const Field most = update["maxUnavailable"];
  const std::string shown =
      update.present()
          ? fmt::format("{{\"Partition\":{},\"MaxUnavailable\":{}}}", partition, most.shown())
          : "null";
  if (type.is("OnDelete")) {
    if (update.present()) {
      update.invalid_as(shown, "only allowed for updateStrategy 'RollingUpdate'");
    }
  } else if (type.is("RollingUpdate")) {
    check_rolling_stateful_set(update);
  } else if (type.present()) {
    strategy.invalid_as(fmt::format("{{\"Type\":{},\"RollingUpdate\":{}}}", type.shown(), shown),
                        "must be 'RollingUpdate' or 'OnDelete'");
  }
}

// The template as it will be: with the volumes of the claims, and a host name of its own.
Json with_claims(const Field& spec) {
  Json out = spec["template"].is_map() ? *spec["template"].json() : Json::object();
  Json& pod = out["spec"];
  if (!pod.is_object()) pod = Json::object();
  pod.erase("hostname");
  pod.erase("subdomain");
  const auto claims = spec["volumeClaimTemplates"].items();
  if (claims.empty()) return out;
  Json volumes = Json::array();
  std::set<std::string> names;
  for (const auto& claim : claims) {
    const std::string name = claim["metadata"]["name"].text();
    if (!names.insert(name).second) continue;
    volumes.push_back({{"name", name}, {"persistentVolumeClaim", {{"claimName", name}}}});
  }
  for (const auto& volume : spec["template"]["spec"]["volumes"].items()) {
    if (volume.present() && names.count(volume["name"].text()) == 0) {
      volumes.push_back(*volume.json());
    }
  }
  pod["volumes"] = std::move(volumes);
  return out;
}

// Labels and annotations are looked at twice, as the server does.
void check_stateful_template(const Field& spec) {
  const auto selected = selects(spec["selector"], spec["template"]["metadata"]["labels"]);
  if (!selected) return spec["selector"].invalid_as(selector_text(spec["selector"]), "");
  check_labels_selected(spec["template"], *selected);
  const Json whole = with_claims(spec);
  const Field tmpl(&whole, spec["template"].path(), spec.errors());
  check_pod_template(tmpl);
  check_labels(tmpl["metadata"]["labels"].at(tmpl.path() + ".labels"));
  check_annotations(tmpl["metadata"]["annotations"].at(tmpl.path() + ".annotations"));
}

void check_stateful_spec(const Field& spec, const Json* live) {
  const Field management = spec["podManagementPolicy"];
  if (management.present() && !management.is("OrderedReady") && !management.is("Parallel")) {
    management.invalid("must be 'OrderedReady' or 'Parallel'");
  }
  check_stateful_strategy(spec["updateStrategy"]);
  for (const char* key : {"whenDeleted", "whenScaled"}) {
    spec["persistentVolumeClaimRetentionPolicy"][key].one_of({"Retain", "Delete"});
  }
  if (live == nullptr) {
    for (const auto& claim : spec["volumeClaimTemplates"].items()) check_claim_spec(claim["spec"]);
  }
  spec["replicas"].not_negative();
  spec["minReadySeconds"].not_negative();
  spec["ordinals"]["start"].not_negative();
  const Field service = spec["serviceName"];
  if (live == nullptr && !service.empty()) service.invalid_each(label_problems(service.text()));
  check_required_selector(spec["selector"], "statefulset");
  check_stateful_template(spec);
  const Field pod = spec["template"]["spec"];
  const Field restart = pod["restartPolicy"];
  if (restart.present() && !restart.is("Always")) restart.not_supported({"Always"});
  const Field deadline = pod["activeDeadlineSeconds"];
  if (deadline.present()) {
    deadline.forbidden("activeDeadlineSeconds in StatefulSet is not Supported");
  }
}

Json without_mutable(const Json& spec) {
  Json out = spec;
  for (const char* key : {"replicas", "template", "updateStrategy", "minReadySeconds", "ordinals",
                          "revisionHistoryLimit", "persistentVolumeClaimRetentionPolicy"}) {
    out.erase(key);
  }
  return out;
}

}  // namespace

void check_stateful_set(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  check_stateful_spec(spec, live);
  if (live == nullptr) return;
  const Field before = Field(*live, object.errors())["spec"];
  if (!spec.is_map() || !before.is_map()) return;
  const Json now = without_mutable(*spec.json());
  const Json then = without_mutable(*before.json());
  if (same_value(&now, &then)) return;
  spec.forbidden(
      "updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', "
      "'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and "
      "'minReadySeconds' are forbidden");
}

namespace {

void check_rolling_daemon_set(const Field& update) {
  const Field unavailable = update["maxUnavailable"];
  const Field surge = update["maxSurge"];
  check_int_or_percent(unavailable);
  check_int_or_percent(surge);
  check_not_above_all(unavailable);
  check_not_above_all(surge);
  if (!unavailable.present() || !surge.present()) return;
  const bool some = int_or_percent(unavailable) != 0;
  const bool more = int_or_percent(surge) != 0;
  if (some && more) surge.invalid("may not be set when maxUnavailable is non-zero");
  if (!some && !more) unavailable.required("cannot be 0 when maxSurge is 0");
}

void check_daemon_strategy(const Field& strategy) {
  const Field type = strategy["type"];
  if (type.is("RollingUpdate")) return check_rolling_daemon_set(strategy["rollingUpdate"]);
  if (!type.present() || type.is("OnDelete")) return;
  const Field update = strategy["rollingUpdate"];
  const auto shown = [&update](const char* key) {
    return update[key].present() ? update[key].shown() : "0";
  };
  const std::string rolling = update.is_map()
                                  ? fmt::format("{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}",
                                                shown("maxUnavailable"), shown("maxSurge"))
                                  : "null";
  strategy.errors().push_back(field_not_supported(
      strategy.path(), fmt::format("{{\"Type\":{},\"RollingUpdate\":{}}}", type.shown(), rolling),
      {"RollingUpdate", "OnDelete"}));
}

}  // namespace

void check_daemon_set(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  const Field selector = spec["selector"];
  const Field tmpl = spec["template"];
  check_same_selector(object, live);
  check_label_selector(selector);
  const auto selected = selects(selector, tmpl["metadata"]["labels"]);
  check_labels_selected(tmpl, selected.value_or(true));
  if (selects_all(selector)) {
    selector.invalid_as("{}", "empty selector is invalid for daemonset");
  }
  check_pod_template(tmpl);
  check_always(tmpl, "DaemonSet");
  spec["minReadySeconds"].not_negative();
  check_daemon_strategy(spec["updateStrategy"]);
  spec["revisionHistoryLimit"].not_negative();
}

void check_controller_revision(const Field& object, const Json* live) {
  object["revision"].not_negative();
  const Field data = object["data"];
  if (live == nullptr) {
    if (!data.present()) data.required("data is mandatory");
    if (data.present() && !data.json()->is_object()) {
      data.required("data must be a valid JSON object");
    }
    return;
  }
  data.immutable(Field(*live, object.errors())["data"]);
}

void check_pod_template_object(const Field& object, const Json* /*live*/) {
  check_pod_template(object["template"]);
}

}  // namespace kubewatch::builtin
