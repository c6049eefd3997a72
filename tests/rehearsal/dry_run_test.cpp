// A dry run on a whole engine: every write is asked about, and the server stays as it was.
#include "hooks/dry_run.hpp"

#include "base/strings.hpp"
#include "hooks/engine.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"
#include "http/transport.hpp"
#include "rehearsal/local_server.hpp"
#include "rehearsal/needs_account.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::rehearsal;

namespace {

struct DryRun {
  std::vector<std::string> writes;
  std::vector<hooks::RunRecord> runs;
  bool unchanged = false;
  std::size_t may_come_again = 0;  // of the writes
};

void put(LocalServer& server, const Json& object) {
  const auto made = server.ask("POST", "/api/v1/namespaces/default/configmaps", "", object);
  REQUIRE(made.ok());
}

Json config_map(const std::string& name, Json metadata, Json data) {
  metadata["name"] = name;
  return {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"metadata", metadata}, {"data", data}};
}

hooks::DryRunTransport::OnWrite texts_to(std::vector<std::string>& writes) {
  return [&writes, secrets = hooks::SecretHash({1, 2})](const hooks::DryWrite& write) {
    writes.push_back(hooks::text_of(write, secrets));
  };
}

// Runs the rule on what the server has, until nothing is due.
DryRun dry_run(loop::EventLoop& loop, LocalServer& server, http::Transport& wire,
               const std::string& rule) {
  DryRun out;
  hooks::DryRunTransport dry(loop, wire,
                             [&out, tell = texts_to(out.writes)](const hooks::DryWrite& write) {
                               if (write.may_come_again) ++out.may_come_again;
                               tell(write);
                             });
  client::ClientConfig config;
  config.server = LocalServer::kUrl;
  config.namespace_ = "default";
  client::Client client(loop, dry, config);
  auto loaded = hooks::parse_rules(rule, "/tmp/rules.yaml");
  for (const auto& problem : loaded.problems) FAIL_CHECK(problem.str());
  for (auto& one : loaded.rules) hooks::make_dry(one);
  hooks::EngineCallbacks callbacks;
  callbacks.on_run = [&](const hooks::RunRecord& run) { out.runs.push_back(run); };
  const auto before = server.api().storage().version();
  {
    hooks::Engine engine(loop, client, std::move(loaded.rules), {}, callbacks);
    engine.start();
    CHECK(
        loop.run_until([&] { return !out.runs.empty() && engine.status().idle; }, Duration{20000}));
  }
  out.unchanged = server.api().storage().version() == before;
  bool turned = false;
  loop.post([&] { turned = true; });
  loop.run_until([&] { return turned; }, Duration{1000});
  return out;
}

DryRun dry_run(loop::EventLoop& loop, LocalServer& server, const std::string& rule) {
  return dry_run(loop, server, server, rule);
}

std::string rule(const std::string& script, const std::string& more = "") {
  return "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec:\n"
         "  for: {apiVersion: v1, kind: ConfigMap, labelSelector: copy}\n"
         "  owns: [{apiVersion: v1, kind: Secret}, {apiVersion: v1, kind: Namespace}]\n" +
         more + "  reconcile:\n    shell: |\n" + script;
}

}  // namespace

TEST_CASE("a dry run asks about every write, and the server stays as it was") {
  loop::EventLoop loop;
  LocalServer server(loop);
  put(server, config_map("one", {{"labels", {{"copy", "x"}}}}, {}));
  // A finalizer would be added, a child in another namespace and its namespace made.
  const auto seen = dry_run(loop, server,
                            rule("      cat <<END\n"
                                 "      {apiVersion: v1, kind: Secret, metadata: {name: s, "
                                 "namespace: default}, stringData: {k: hunter2}}\n"
                                 "      END\n",
                                 "  finalize: {shell: 'false'}\n"));
  CHECK(seen.unchanged);
  REQUIRE(seen.runs.size() == 1);
  CHECK(seen.runs[0].outcome == "done");
  REQUIRE(seen.writes.size() >= 1);
  std::string all;
  for (const auto& text : seen.writes) all += text;
  CHECK(all.find("apply Secret default/s: created\n") != std::string::npos);
  CHECK(all.find("hunter2") == std::string::npos);
}

TEST_CASE("a dry run deletes nothing, and says what it would delete") {
  loop::EventLoop loop;
  LocalServer server(loop);
  Json owner = config_map("one", {{"labels", {{"copy", "x"}}}}, {});
  put(server, owner);
  const auto live = server.ask("GET", "/api/v1/namespaces/default/configmaps/one", "", nullptr);
  REQUIRE(live.ok());
  const std::string uid = base::string_at(*live, {"metadata", "uid"});
  // A child of an earlier run that is not printed any more.
  const Json child = {
      {"apiVersion", "v1"},
      {"kind", "Secret"},
      {"metadata",
       {{"name", "old"},
        {"labels", {{"kubewatch.dev/controller", "a"}, {"kubewatch.dev/owner-uid", uid}}}}},
      {"stringData", {{"k", "v"}}}};
  REQUIRE(server
              .ask("PATCH", "/api/v1/namespaces/default/secrets/old",
                   "fieldManager=kubewatch%2Fa&force=true", child, "application/apply-patch+yaml")
              .ok());
  const auto seen = dry_run(loop, server,
                            rule("      echo '{apiVersion: v1, kind: Secret, metadata: {name: new, "
                                 "namespace: default}}'\n"));
  CHECK(seen.unchanged);
  std::string all;
  for (const auto& text : seen.writes) all += text;
  INFO(all);
  CHECK(all.find("apply Secret default/new: created\n") != std::string::npos);
  CHECK(all.find("delete Secret default/old: deleted\n") != std::string::npos);
  CHECK(server.ask("GET", "/api/v1/namespaces/default/secrets/old", "", nullptr).ok());
}

namespace {

// The owner, and its child as an earlier run has left it.
void put_child(LocalServer& server, Json child) {
  put(server, config_map("one", {{"labels", {{"copy", "x"}}}}, {}));
  const auto live = server.ask("GET", "/api/v1/namespaces/default/configmaps/one", "", nullptr);
  REQUIRE(live.ok());
  child["apiVersion"] = "v1";
  child["kind"] = "Secret";
  child["metadata"] = {{"name", "s"},
                       {"labels",
                        {{"kubewatch.dev/controller", "a"},
                         {"kubewatch.dev/owner-uid", (*live)["metadata"]["uid"]}}}};
  REQUIRE(server
              .ask("PATCH", "/api/v1/namespaces/default/secrets/s",
                   "fieldManager=kubewatch%2Fa&force=true", child, "application/apply-patch+yaml")
              .ok());
}

}  // namespace

TEST_CASE("a dry run makes anew what it would delete for a field that cannot be changed") {
  loop::EventLoop loop;
  LocalServer server(loop);
  put_child(server, {{"immutable", true}, {"data", {{"k", "dg=="}}}});
  const auto seen = dry_run(loop, server,
                            rule("      echo '{apiVersion: v1, kind: Secret, metadata: {name: s, "
                                 "namespace: default}, immutable: true, data: {k: dw==}}'\n",
                                 "  apply: {onImmutable: recreate}\n"));
  CHECK(seen.unchanged);
  const std::string all = base::join(seen.writes, "");
  INFO(all);
  REQUIRE(seen.runs.size() == 1);
  CHECK(seen.runs[0].outcome == "done");
  CHECK(seen.runs[0].created == 1);
  CHECK(seen.runs[0].deleted == 1);
  REQUIRE(seen.writes.size() == 3);
  CHECK(seen.writes[0].find("refused: ") != std::string::npos);
  CHECK(seen.may_come_again == 1);
  CHECK(seen.writes[1].starts_with("delete Secret default/s: deleted\n"));
  CHECK(seen.writes[2].starts_with(
      "apply Secret default/s: created (cannot be judged before the old one is deleted)\n"));
}

TEST_CASE("a dry run says of fields that others hold that they may be tried once more") {
  loop::EventLoop loop;
  LocalServer server(loop);
  put_child(server, {{"data", {{"k", "dg=="}}}});
  REQUIRE(server
              .ask("PATCH", "/api/v1/namespaces/default/secrets/s", "fieldManager=human",
                   {{"data", {{"k", "dw=="}}}}, "application/merge-patch+json")
              .ok());
  const auto seen = dry_run(loop, server,
                            rule("      echo '{apiVersion: v1, kind: Secret, metadata: {name: s, "
                                 "namespace: default}, data: {k: eA==}}'\n",
                                 "  apply: {force: [.data]}\n"));
  CHECK(seen.unchanged);
  const std::string all = base::join(seen.writes, "");
  INFO(all);
  REQUIRE(seen.runs.size() == 1);
  CHECK(seen.runs[0].outcome == "done");
  REQUIRE(seen.writes.size() == 2);
  CHECK(seen.may_come_again == 1);
  CHECK(seen.writes[0].find("refused: ") != std::string::npos);
  CHECK(seen.writes[1].starts_with("apply Secret default/s: configured\n"));
}

TEST_CASE("a child in a namespace that is not there is refused, unless the run would make it") {
  loop::EventLoop loop;
  LocalServer server(loop);
  put(server, config_map("one", {{"labels", {{"copy", "x"}}}}, {}));
  const std::string child =
      "      echo '{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: far}}'\n";
  const auto far_rule = [](const std::string& script) {
    std::string out = rule(script);
    return out.replace(out.find("kind: Secret}"), 13, "kind: Secret, namespaces: [far]}");
  };
  const auto refused = dry_run(loop, server, far_rule(child));
  CHECK(refused.unchanged);
  CHECK(refused.runs.at(0).outcome == "write-failed");
  std::string all = base::join(refused.writes, "");
  CHECK(all.find("refused: namespaces \"far\" not found") != std::string::npos);
  const auto made =
      dry_run(loop, server,
              far_rule(child + "      echo ---\n"
                               "      echo '{apiVersion: v1, kind: Namespace, metadata: {name: "
                               "far}}'\n"));
  CHECK(made.unchanged);
  CHECK(made.runs.at(0).outcome == "done");
  all = base::join(made.writes, "");
  INFO(all);
  CHECK(all.find(
            "apply Secret far/s: created (cannot be judged before Namespace far is written)\n") !=
        std::string::npos);
}

namespace {

Json gadgets(std::vector<std::string> versions) {
  Json list = Json::array();
  for (const std::string& name : versions) {
    list.push_back({{"name", name},
                    {"served", true},
                    {"storage", name == "v1"},
                    {"schema", {{"openAPIV3Schema", {{"type", "object"}}}}}});
  }
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "gadgets.dry.dev"}}},
          {"spec",
           {{"group", "dry.dev"},
            {"names", {{"kind", "Gadget"}, {"plural", "gadgets"}}},
            {"scope", "Namespaced"},
            {"versions", list}}}};
}

// Prints the definition and an object of one of its versions.
std::string gadget_rule(const Json& definition, const std::string& version) {
  return rule("      echo '" + definition.dump() +
                  "'\n      echo ---\n      echo '{apiVersion: dry.dev/" + version +
                  ", kind: Gadget, metadata: {name: g, namespace: default}}'\n",
              "  writes:\n"
              "    - {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}\n"
              "    - {apiVersion: dry.dev/" +
                  version + ", kind: Gadget}\n");
}

}  // namespace

TEST_CASE("a dry run has no definition to wait for, and knows what it would define") {
  loop::EventLoop loop;
  LocalServer server(loop);
  put(server, config_map("one", {{"labels", {{"copy", "x"}}}}, {}));
  const auto seen = dry_run(loop, server, gadget_rule(gadgets({"v1"}), "v1"));
  CHECK(seen.unchanged);
  const std::string all = base::join(seen.writes, "");
  INFO(all);
  CHECK(seen.runs.at(0).outcome == "done");
  CHECK(all.find("apply Gadget default/g: created (cannot be judged before "
                 "CustomResourceDefinition gadgets.dry.dev is written)\n") != std::string::npos);
  CHECK(all.find("Established") == std::string::npos);  // the server did not say so
}

TEST_CASE("a dry run knows a version more of a definition that is there") {
  loop::EventLoop loop;
  LocalServer server(loop);
  put(server, config_map("one", {{"labels", {{"copy", "x"}}}}, {}));
  const auto live = server.ask("GET", "/api/v1/namespaces/default/configmaps/one", "", nullptr);
  REQUIRE(live.ok());
  Json made = gadgets({"v1"});  // by an earlier run
  made["metadata"]["labels"] = {{"kubewatch.dev/controller", "a"},
                                {"kubewatch.dev/owner-uid", (*live)["metadata"]["uid"]}};
  REQUIRE(server
              .ask("PATCH",
                   "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.dry.dev",
                   "fieldManager=kubewatch%2Fa&force=true", made, "application/apply-patch+yaml")
              .ok());
  const auto seen = dry_run(loop, server, gadget_rule(gadgets({"v1", "v2"}), "v2"));
  CHECK(seen.unchanged);
  const std::string all = base::join(seen.writes, "");
  INFO(all);
  CHECK(seen.runs.at(0).outcome == "done");
  CHECK(all.find("apply Gadget default/g: created (cannot be judged before "
                 "CustomResourceDefinition gadgets.dry.dev is written)\n") != std::string::npos);
}

TEST_CASE("a Pod beside its new ServiceAccount is no refusal of a dry run, and told once") {
  const bool tried_first = GENERATE(false, true);
  const bool with_account = GENERATE(true, false);
  INFO("validate: server " << tried_first << ", prints the account " << with_account);
  loop::EventLoop loop;
  test::NeedsAccount wire(loop);
  LocalServer& server = wire.server();
  put(server, config_map("one", {{"labels", {{"copy", "x"}}}}, {}));
  std::string script =
      "      echo '{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: default}, spec: "
      "{serviceAccountName: runner, containers: [{name: a, image: a}]}}'\n";
  if (with_account) {
    script +=
        "      echo ---\n      echo '{apiVersion: v1, kind: ServiceAccount, metadata: {name: "
        "runner, namespace: default}}'\n";
  }
  const auto seen =
      dry_run(loop, server, wire,
              rule(script, std::string("  writes:\n"
                                       "    - {apiVersion: v1, kind: Pod}\n"
                                       "    - {apiVersion: v1, kind: ServiceAccount}\n") +
                               (tried_first ? "  apply: {validate: server}\n" : "")));
  CHECK(seen.unchanged);
  const std::string all = base::join(seen.writes, "");
  INFO(all << seen.runs.at(0).message);
  CHECK(seen.runs.at(0).outcome == (with_account ? "done" : "write-failed"));
  const std::string pod =
      "apply Pod default/p: created (cannot be judged before ServiceAccount default/runner is "
      "written)\n";
  const auto told = all.find(pod);
  CHECK((told != std::string::npos) == with_account);
  if (!with_account) return;
  CHECK(all.find("apply Pod", told + 1) == std::string::npos);
  CHECK(all.find("apply ServiceAccount default/runner: created\n") < told);
}

TEST_CASE("a dry run shows the finalizer that would come, and finalizes nothing") {
  loop::EventLoop loop;
  LocalServer server(loop);
  const std::string finalizing =
      rule("      echo '{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: default}}'\n",
           "  finalize: {shell: 'exit 1'}\n");
  put(server, config_map("one", {{"labels", {{"copy", "x"}}}}, {}));
  auto seen = dry_run(loop, server, finalizing);
  CHECK(seen.unchanged);
  REQUIRE(seen.runs.size() == 1);
  CHECK(seen.runs[0].outcome == "done");
  std::string all = base::join(seen.writes, "");
  CHECK(all.find("+    - kubewatch.dev/a\n") != std::string::npos);
  CHECK(all.find("apply Secret default/s: created\n") != std::string::npos);

  // With the finalizer, and then being deleted.
  const std::string one = "/api/v1/namespaces/default/configmaps/one";
  REQUIRE(server
              .ask("PATCH", one, "", Json{{"metadata", {{"finalizers", {"kubewatch.dev/a"}}}}},
                   "application/merge-patch+json")
              .ok());
  seen = dry_run(loop, server, finalizing);
  CHECK(base::join(seen.writes, "").find("finalizers") == std::string::npos);
  REQUIRE(server.ask("DELETE", one, "", nullptr).ok());
  seen = dry_run(loop, server, finalizing);
  CHECK(seen.unchanged);
  CHECK(seen.writes.empty());
  REQUIRE(seen.runs.size() == 1);
  CHECK(seen.runs[0].outcome == "done");
  CHECK(seen.runs[0].message == "its finalize hook is not run in a dry run");
}

TEST_CASE("a failed run of a dry run writes no Event either") {
  loop::EventLoop loop;
  LocalServer server(loop);
  put(server, config_map("one", {{"labels", {{"copy", "x"}}}}, {}));
  const auto seen = dry_run(loop, server, rule("      exit 3\n"));
  CHECK(seen.unchanged);
  REQUIRE_FALSE(seen.runs.empty());
  CHECK(seen.runs[0].outcome == "failed");
}

TEST_CASE("a token that a dry run needs is asked for, and shown nowhere") {
  loop::EventLoop loop;
  LocalServer server(loop);
  std::vector<std::string> writes;
  hooks::DryRunTransport dry(loop, server, texts_to(writes));
  http::Request request;
  request.method = "POST";
  request.url =
      std::string(LocalServer::kUrl) + "/api/v1/namespaces/default/serviceaccounts/robot/token";
  request.body = "{}";
  std::optional<bool> answered;
  const auto call =
      http::fetch(dry, std::move(request), [&](const Result<http::Response>&) { answered = true; });
  REQUIRE(loop.run_until([&] { return answered.has_value(); }, kLimit));
  CHECK(writes.empty());
}

TEST_CASE(
    "objects named as subresources and as kinds that dry runs pass over are asked about too") {
  loop::EventLoop loop;
  LocalServer server(loop);
  std::vector<std::string> writes;
  hooks::DryRunTransport dry(loop, server, texts_to(writes));
  const auto make = [&](const std::string& kind, const std::string& path, const Json& metadata) {
    const auto made = server.ask("POST", "/api/v1/" + path, "",
                                 {{"apiVersion", "v1"}, {"kind", kind}, {"metadata", metadata}});
    REQUIRE(made.ok());
  };
  make("Namespace", "namespaces", {{"name", "events"}});
  make("ServiceAccount", "namespaces/default/serviceaccounts", {{"name", "token"}});
  for (const char* name : {"events", "status"}) {
    make("ConfigMap", "namespaces/default/configmaps", {{"name", name}});
  }
  make("ConfigMap", "namespaces/events/configmaps", {{"name", "a"}});
  const auto before = server.api().storage().version();
  for (const std::string path :
       {"namespaces/default/serviceaccounts/token", "namespaces/default/configmaps/events",
        "namespaces/default/configmaps/status", "namespaces/events/configmaps/a"}) {
    CAPTURE(path);
    http::Request request;
    request.method = "DELETE";
    request.url = std::string(LocalServer::kUrl) + "/api/v1/" + path;
    std::optional<int> status;
    const auto call = http::fetch(dry, std::move(request), [&](Result<http::Response> answer) {
      status = answer.ok() ? answer->status : 0;
    });
    REQUIRE(loop.run_until([&] { return status.has_value(); }, kLimit));
    CHECK(*status == 200);
    CHECK(server.api().storage().version() == before);
  }
  REQUIRE(writes.size() == 4);
  CHECK(writes[0].starts_with("delete ServiceAccount default/token: deleted\n"));
  CHECK(writes[1].starts_with("delete ConfigMap default/events: deleted\n"));
  CHECK(writes[2].starts_with("delete ConfigMap default/status: deleted\n"));
  CHECK(writes[3].starts_with("delete ConfigMap events/a: deleted\n"));
}

TEST_CASE("of an object that cannot be read a dry run does not say that it would be made") {
  loop::EventLoop loop;
  LocalServer server(loop);
  put(server, config_map("one", Json::object(), {{"k", "v"}}));
  std::vector<std::string> writes;
  hooks::DryRunTransport dry(loop, server, texts_to(writes));
  const std::string one = "/api/v1/namespaces/default/configmaps/one";
  const auto ask = [&](const std::string& method, const std::string& body) {
    http::Request request;
    request.method = method;
    request.url = LocalServer::kUrl + one;
    request.headers.set("Content-Type", "application/merge-patch+json");
    request.body = body;
    std::optional<int> status;
    const auto call = http::fetch(dry, std::move(request), [&](Result<http::Response> answer) {
      status = answer.ok() ? answer->status : 0;
    });
    REQUIRE(loop.run_until([&] { return status.has_value(); }, kLimit));
    return *status;
  };
  for (const int code : {403, 503}) {
    CAPTURE(code);
    Fault unreadable;
    unreadable.verb = "get";
    unreadable.code = code;
    unreadable.times = 2;
    server.add_fault(unreadable);
    writes.clear();
    CHECK(ask("PATCH", R"({"data":{"k":"w"}})") == code);
    CHECK(ask("DELETE", "") == code);
    REQUIRE(writes.size() == 2);
    CHECK(writes[0].starts_with("patch " + one + ": refused: the object cannot be read: "));
    CHECK(writes[1].starts_with("delete " + one + ": refused: the object cannot be read: "));
  }
  writes.clear();
  CHECK(ask("PATCH", R"({"data":{"k":"w"}})") == 200);
  REQUIRE(writes.size() == 1);
  CHECK(writes[0].starts_with("patch ConfigMap default/one: configured\n"));
}
