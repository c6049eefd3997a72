// APIServices, FlowSchemas and PriorityLevelConfigurations: kinds about the server itself.
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

constexpr const char* kApiServices = "/apis/apiregistration.k8s.io/v1/apiservices";
constexpr const char* kSchemas = "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas";
constexpr const char* kLevels = "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations";

// Takes it away again: a group that nobody answers for keeps others from being deleted.
class Registered {
 public:
  Registered(World& w, std::string path) : w_(w), path_(std::move(path)) {}
  ~Registered() { send(w_, "DELETE", path_); }
  Registered(const Registered&) = delete;
  Registered& operator=(const Registered&) = delete;

 private:
  World& w_;
  std::string path_;
};

Json api_service(World& w, Json spec) {
  spec["group"] = w.ns() + ".example.com";
  spec["version"] = "v1";
  return {{"apiVersion", "apiregistration.k8s.io/v1"},
          {"kind", "APIService"},
          {"metadata", {{"name", "v1." + w.ns() + ".example.com"}}},
          {"spec", std::move(spec)}};
}

Json available(const Json& api_service) {
  for (const Json& one : api_service["status"].value("conditions", Json::array())) {
    if (one["type"] == "Available") return one;
  }
  return Json::object();
}

Json flow_object(const char* kind, const std::string& name, const std::string& spec) {
  return {{"apiVersion", "flowcontrol.apiserver.k8s.io/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}}},
          {"spec", base::parse_json(spec).value()}};
}

// The cells of an object's table, and its columns.
std::pair<Json, std::string> table_of(World& w, const std::string& path) {
  http::Request request;
  request.method = "GET";
  request.url = path;
  request.headers.set("Accept", "application/json;as=Table;g=meta.k8s.io;v=v1");
  const Json table =
      base::parse_json(fetch(w, w.server().config(), std::move(request)).body).value();
  std::string columns;
  for (const Json& column : table["columnDefinitions"]) {
    columns += column["name"].get<std::string>() + " ";
  }
  return {table["rows"][0]["cells"], columns};
}

}  // namespace

E2E_CASE("an APIService that names no service is available at once") {
  World w;
  const Json local = api_service(w, {{"groupPriorityMinimum", 10}, {"versionPriority", 10}});
  const std::string path = kApiServices + ("/" + local["metadata"]["name"].get<std::string>());
  const Answer made = send(w, "POST", kApiServices, local);
  REQUIRE(made.code == 201);
  const Registered registered(w, path);
  CHECK(available(made.body)["reason"] == "Local");
  CHECK(available(made.body)["status"] == "True");
  CHECK_FALSE(made.body["metadata"].contains("generation"));
  CHECK(message(send(w, "PUT", path, local)).find("must be specified for an update") !=
        std::string::npos);
  const auto [cells, columns] = table_of(w, path);
  CHECK(columns == "Name Service Available Age ");
  CHECK(cells[1] == "Local");
  CHECK(cells[2] == "True");
}

E2E_CASE("an APIService says what is missing behind it") {
  World w;
  const Json service = {{"name", "none"}, {"namespace", w.ns()}};
  const Json remote = api_service(w, {{"service", service},
                                      {"groupPriorityMinimum", 10},
                                      {"versionPriority", 10},
                                      {"insecureSkipTLSVerify", true}});
  const std::string path = kApiServices + ("/" + remote["metadata"]["name"].get<std::string>());
  const Answer made = send(w, "POST", kApiServices, remote);
  REQUIRE(made.code == 201);
  const Registered registered(w, path);
  CHECK(made.body["spec"]["service"]["port"] == 443);
  CHECK(made.body["status"] == Json::object());
  const auto reason = [&] { return available(send(w, "GET", path).body).value("reason", Json()); };
  REQUIRE(w.eventually([&] { return reason() == "ServiceNotFound"; }));
  const Json condition = available(send(w, "GET", path).body);
  CHECK(condition["status"] == "False");
  CHECK(condition["message"] == "service/none in \"" + w.ns() + "\" is not present");
  CHECK(table_of(w, path).first[2] == "False (ServiceNotFound)");

  w.apply(R"(
apiVersion: v1
kind: Service
metadata: {name: none, namespace: @NS@}
spec: {ports: [{port: 80}]}
)");
  REQUIRE(w.eventually([&] { return reason() == "ServicePortError"; }));
}

E2E_CASE("APIServices are refused by the server's rules") {
  World w;
  const Json named = {{"name", "n"}, {"namespace", w.ns()}};
  Json bad = api_service(w, {{"service", named}, {"groupPriorityMinimum", 30000}});
  bad["metadata"]["name"] = "v2.x";
  const Answer refused = send(w, "POST", kApiServices, bad);
  REQUIRE(refused.code == 422);
  const Told told = told_by_server(refused.body);
  CHECK(tells(told, "metadata.name", "must be `spec.version+\".\"+spec.group`"));
  CHECK(tells(told, "spec.groupPriorityMinimum", "must be positive and less than 20000"));
  CHECK(tells(told, "spec.versionPriority", "must be positive and less than 1000"));
  const Json bytes = api_service(w, {{"service", named}, {"caBundle", "#"}});
  CHECK(message(send(w, "POST", kApiServices, bytes)) ==
        "APIService in version \"v1\" cannot be handled as a APIService: illegal base64 data at "
        "input byte 0");
}

E2E_CASE("flow control objects get their defaults and a generation") {
  World w;
  const std::string name = w.ns();
  const Json level = flow_object("PriorityLevelConfiguration", name, R"({"type":"Limited",
    "limited":{"limitResponse":{"type":"Queue","queuing":{}}}})");
  const Answer made = send(w, "POST", kLevels, level);
  REQUIRE(made.code == 201);
  const Registered kept_level(w, kLevels + ("/" + name));
  CHECK(made.body["metadata"]["generation"] == 1);
  CHECK(made.body["spec"]["limited"] == base::parse_json(R"({"nominalConcurrencyShares":30,
    "lendablePercent":0,"limitResponse":{"type":"Queue",
    "queuing":{"queues":64,"handSize":8,"queueLengthLimit":50}}})")
                                            .value());
  const auto [cells, columns] = table_of(w, kLevels + ("/" + name));
  CHECK(columns == "Name Type NominalConcurrencyShares Queues HandSize QueueLengthLimit Age ");
  CHECK(Json(std::vector<Json>(cells.begin() + 1, cells.begin() + 6)) ==
        Json::array({"Limited", 30, 64, 8, 50}));

  const Json schema = flow_object("FlowSchema", name, R"({"priorityLevelConfiguration":
    {"name":")" + name + R"("},"rules":[{"subjects":[{"kind":"User","user":{"name":"u"}}],
    "resourceRules":[{"verbs":["get"],"apiGroups":["*"],"resources":["*"],
    "clusterScope":true}]}]})");
  const Answer flow = send(w, "POST", kSchemas, schema);
  REQUIRE(flow.code == 201);
  const Registered kept_schema(w, kSchemas + ("/" + name));
  CHECK(flow.body["spec"]["matchingPrecedence"] == 1000);
  CHECK(flow.body["spec"]["rules"][0]["resourceRules"][0]["namespaces"] == nullptr);
  const Json entry = flow.body["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"];
  CHECK(entry["f:priorityLevelConfiguration"] == Json{{"f:name", Json::object()}});
  const Answer changed =
      send_text(w, "PATCH", kSchemas + ("/" + name), R"({"spec":{"matchingPrecedence":5}})",
                "application/merge-patch+json");
  CHECK(changed.body["metadata"]["generation"] == 2);
  CHECK(table_of(w, kSchemas + ("/" + name)).second ==
        "Name PriorityLevel MatchingPrecedence DistinguisherMethod Age MissingPL ");
}

E2E_CASE("flow control objects are refused by the server's rules") {
  World w;
  const Json schema = flow_object("FlowSchema", w.ns(), R"({"matchingPrecedence":1,
    "distinguisherMethod":{"type":"Foo"},"rules":[{},{"subjects":[{"kind":"User","group":{}}],
    "nonResourceRules":[{"verbs":["*","get"],"nonResourceURLs":["/a*"]}],
    "resourceRules":[{"verbs":["jump"],"apiGroups":["*"],"resources":["*"]}]}]})");
  const Told flow = told_by_server(send(w, "POST", kSchemas, schema).body);
  CHECK(tells(flow, "spec.matchingPrecedence", "only the schema named 'exempt' may have"));
  CHECK(tells(flow, "spec.distinguisherMethod.type", "Unsupported value: {\"Type\":\"Foo\"}"));
  CHECK(tells(flow, "spec.priorityLevelConfiguration.name", "must reference a priority level"));
  CHECK(tells(flow, "spec.rules[0].subjects", "subjects must contain at least one value"));
  CHECK(tells(flow, "spec.rules[1].subjects[0].group", "group is forbidden when"));
  CHECK(tells(flow, "spec.rules[1].nonResourceRules[0].verbs", "must not specify other verbs"));
  CHECK(tells(flow, "spec.rules[1].nonResourceRules[0].nonResourceURLs[0]", "suffix matching"));
  CHECK(tells(flow, "spec.rules[1].resourceRules[0].verbs", "Unsupported value: [\"jump\"]"));
  CHECK(tells(flow, "spec.rules[1].resourceRules[0].namespaces", "at least one namespace"));

  const Json level = flow_object("PriorityLevelConfiguration", w.ns(), R"({"type":"Limited",
    "exempt":{},"limited":{"lendablePercent":101,"limitResponse":{"type":"Queue",
    "queuing":{"queues":1000000,"handSize":30}}}})");
  const Told limits = told_by_server(send(w, "POST", kLevels, level).body);
  CHECK(tells(limits, "spec.exempt", "must be nil if the type is Limited"));
  CHECK(tells(limits, "spec.limited.lendablePercent", "must be between 0 and 100, inclusive"));
  CHECK(tells(limits, "spec.limited.limitResponse.queuing.handSize",
              "required entropy bits of deckSize 1000000 and handSize 30"));
  const Json exempt = flow_object("PriorityLevelConfiguration", w.ns(), R"({"type":"Exempt"})");
  CHECK(message(send(w, "POST", kLevels, exempt))
            .ends_with("must be 'Exempt' if and only if `name` is 'exempt'"));
}

}  // namespace kubewatch::e2e
