// Lists of a size at which comparing each item with each other would not end: hundreds of millions
// of comparisons. Nothing is timed.
#include "base/strings.hpp"
#include "builtin/objects.hpp"
#include "builtin/warnings.hpp"

namespace kubewatch::builtin {

namespace {

constexpr int kMany = 20000;

template <class Item>
Json many(Item item) {
  Json list = Json::array();
  for (int i = 0; i < kMany; ++i) list.push_back(item(i));
  return list;
}

Json pod_with(const char* key, Json list) {
  Json out = right("pods");
  out["spec"][key] = std::move(list);
  return out;
}

Json pod_with_ports(Json list) {
  Json out = right("pods");
  out["spec"]["containers"][0]["ports"] = std::move(list);
  return out;
}

Json spread(const std::string& key) {
  return {{"maxSkew", 1},
          {"topologyKey", key},
          {"whenUnsatisfiable", "DoNotSchedule"},
          {"labelSelector", Json::object()}};
}

}  // namespace

TEST_CASE("many tolerations are kept by an update in any order, but for their time") {
  const auto toleration = [](int i) {
    return Json{{"key", "k" + std::to_string(i)}, {"operator", "Exists"}, {"effect", "NoExecute"}};
  };
  const Json live = pod_with("tolerations", many(toleration));
  Json turned = pod_with("tolerations", many([&](int i) {
                           Json out = toleration(kMany - 1 - i);
                           out["tolerationSeconds"] = i;
                           return out;
                         }));
  CHECK(told("pods", &live, turned).empty());
  turned["spec"]["tolerations"][kMany / 2]["key"] = "other";
  CHECK(told("pods", &live, turned) ==
        "spec.tolerations: Forbidden: existing toleration can not be modified except its "
        "tolerationSeconds");
}

TEST_CASE(
    "many spread constraints are compared, and one that comes again is told where it is first") {
  Json list = many([](int i) { return spread("k" + std::to_string(i)); });
  CHECK(told("pods", nullptr, pod_with("topologySpreadConstraints", list)).empty());
  list.back()["topologyKey"] = "k1";
  list[2]["topologyKey"] = "k1";
  const auto duplicate = [](const char* at) {
    return std::string("spec.topologySpreadConstraints[") + at +
           "].{topologyKey, whenUnsatisfiable}: Duplicate value: \"{k1, DoNotSchedule}\"";
  };
  CHECK(told("pods", nullptr, pod_with("topologySpreadConstraints", list)) ==
        "[" + duplicate("1") + ", " + duplicate("2") + "]");
}

TEST_CASE("many keys of one constraint are looked up") {
  Json one = spread("k");
  one["matchLabelKeys"] = many([](int i) { return "k" + std::to_string(i); });
  one["labelSelector"] = {{"matchLabels", {{"k7", "v"}}},
                          {"matchExpressions", {{{"key", "k7"}, {"operator", "Exists"}}}}};
  CHECK(
      told("pods", nullptr, pod_with("topologySpreadConstraints", {one})) ==
      "spec.topologySpreadConstraints[0][7]: Invalid value: \"k7\": exists in both matchLabelKeys "
      "and labelSelector");
}

TEST_CASE("many ports of one number are compared with those near them, and told up to a limit") {
  const auto apart = [](int i) { return Json{{"containerPort", 80}, {"hostPort", i + 1}}; };
  Json ports = many(apart);
  CHECK(warnings_of("pods", nullptr, pod_with_ports(ports)).empty());
  ports.push_back(apart(4));
  CHECK(warnings_of("pods", nullptr, pod_with_ports(ports)).size() == 1);
  const auto equal = warnings_of("pods", nullptr, pod_with_ports(many([](int) {
                                   return Json{{"containerPort", 80}};
                                 })));
  CHECK(equal.size() > 4096);
  CHECK(equal.size() < 5000);
}

TEST_CASE("many containers that have ended are found by their names") {
  const auto name = [](int i) { return "c" + std::to_string(i); };
  const Json ended = {{"terminated", {{"exitCode", 0}}}};
  Json live = right("pods");
  live["spec"]["restartPolicy"] = "OnFailure";
  live["spec"]["containers"] = many([&](int i) { return Json{{"name", name(i)}}; });
  live["status"]["containerStatuses"] = many([&](int i) {
    return Json{{"name", name(i)}, {"state", ended}};
  });
  Json object = live;
  object["status"]["containerStatuses"] = many([&](int i) {
    const Json state = i == 0 ? Json{{"running", Json::object()}} : ended;
    return Json{{"name", name(kMany - 1 - i)}, {"state", state}};
  });
  schema::FieldErrors errors;
  validate("pods", &live, object, "status", errors);
  CHECK(schema::sentences(errors) ==
        "status.containerStatuses[" + std::to_string(kMany - 1) +
            "].state: Forbidden: may not be transitioned to non-terminated state");
}

TEST_CASE("many drivers of a node are kept by their names") {
  constexpr const char* node = "csinodes.storage.k8s.io";
  const auto driver = [](int i) {
    return Json{{"name", "d" + std::to_string(i) + ".io"}, {"nodeID", "n"}};
  };
  Json live = right(node);
  Json turned = live;
  live["spec"]["drivers"] = many(driver);
  turned["spec"]["drivers"] = many([&](int i) { return driver(kMany - 1 - i); });
  CHECK(told(node, &live, turned).empty());
  turned["spec"]["drivers"][7]["nodeID"] = "m";
  CHECK(told(node, &live, turned).ends_with(": field is immutable"));
}

TEST_CASE("a schedule with a duration of many parts is read once") {
  std::string hours;
  for (int i = 0; i < 1000000; ++i) hours += "1h";
  Json job = right("cronjobs.batch");
  job["spec"]["schedule"] = "@every " + hours;
  CHECK(told("cronjobs.batch", nullptr, job).empty());
  job["spec"]["schedule"] = "@every " + hours + "1x";
  CHECK(told("cronjobs.batch", nullptr, job).find("failed to parse duration") != std::string::npos);
}

TEST_CASE("many topologies are compared, and empty ones are told up to a limit") {
  constexpr const char* classes = "storageclasses.storage.k8s.io";
  const auto errors_of = [&](Json list) {
    Json object = right(classes);
    object["allowedTopologies"] = std::move(list);
    schema::FieldErrors errors;
    validate(classes, nullptr, object, "", errors);
    return errors;
  };
  Json apart = many([](int i) {
    const Json one = {{"key", "zone"}, {"values", {"z" + std::to_string(i)}}};
    return Json{{"matchLabelExpressions", {one}}};
  });
  CHECK(errors_of(apart).empty());
  apart.push_back(apart[7]);
  CHECK(schema::sentences(errors_of(apart)) ==
        "allowedTopologies[" + std::to_string(kMany) +
            "].matchLabelExpressions: Duplicate value: \"\"");
  // Each of them is told as often as there are terms.
  const auto empty = errors_of(many([](int) { return Json::object(); }));
  CHECK(empty.full());
  CHECK(empty.front().field == "allowedTopologies[0].matchLabelExpressions");
}

TEST_CASE("many scopes that do not go with many resources are told up to a limit") {
  Json hard = Json::object();
  for (int i = 0; i < kMany; ++i) hard["requests.hugepages-" + std::to_string(i) + "Mi"] = "1";
  const auto errors_of = [&](const Json& spec) {
    Json object = {{"spec", spec}};
    object["spec"]["hard"] = hard;
    schema::FieldErrors errors;
    validate("resourcequotas", nullptr, object, "", errors);
    return errors;
  };
  const auto scopes = errors_of({{"scopes", many([](int) { return "BestEffort"; })}});
  CHECK(scopes.full());
  CHECK(scopes.front().field == "spec.scopes");
  CHECK(scopes.front().message.ends_with("]: unsupported scope applied to resource"));
  const Json list = many([](int) {
    return Json{{"scopeName", "BestEffort"}, {"operator", "Exists"}};
  });
  const auto selected = errors_of({{"scopeSelector", {{"matchExpressions", list}}}});
  CHECK(selected.full());
  CHECK(selected.front().field == "spec.scopeSelector.matchExpressions");
  CHECK(selected.front().message.ends_with("]}: unsupported scope applied to resource"));
}

TEST_CASE("many beginnings of PEM that have no end are read once") {
  const auto told_of_certificate = [](const std::string& pem) {
    const Json live = Json::object();
    const Json object = {{"status", {{"certificate", base::base64_encode(pem)}}}};
    schema::FieldErrors errors;
    validate("certificatesigningrequests.certificates.k8s.io", &live, object, "status", errors);
    return errors.empty() ? "" : schema::sentences(errors);
  };
  std::string begins;
  for (int i = 0; i < 20 * kMany; ++i) begins += "-----BEGIN CERTIFICATE-----\n";
  CHECK(told_of_certificate(begins).ends_with("must contain at least one CERTIFICATE PEM block"));
  // The last of them is that of the block.
  CHECK(told_of_certificate(begins + "MAA=\n-----END CERTIFICATE-----\n").empty());
  CHECK(told_of_certificate(begins + "A: b\n-----BEGIN CERTIFICATE-----\nMAA=\n"
                                     "-----END CERTIFICATE-----\n")
            .empty());
}

}  // namespace kubewatch::builtin
