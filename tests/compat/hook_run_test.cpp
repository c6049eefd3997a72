// One run of a hook: a real process, and a server that is scripted.
#include "compat/hook_run.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "client/rig.hpp"
#include "compat/engine.hpp"

using namespace kubewatch;
using namespace kubewatch::compat;

namespace {

constexpr const char* kPod = "/api/v1/namespaces/shop/pods/web";
constexpr const char* kPodText =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"web","namespace":"shop","uid":"u1"}})";

struct RunRig {
  explicit RunRig(const std::string& body) {
    std::string pattern = "/tmp/kubewatch-test-XXXXXX";
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    folder = pattern;
    const std::string script = folder + "/hook.sh";
    std::ofstream(script) << "#!/bin/sh\n" << body;
    chmod(script.c_str(), 0755);
    file = {"hook.sh", script};
    map->add(test::kPods);
    map->add(test::kSecrets);
  }
  ~RunRig() { std::filesystem::remove_all(folder); }

  RunResult run(bool dry) {
    RunServices services{client, guard, [this] { return map; },
                         [](const std::function<void()>& done) { done(); }, dry};
    RunInput input;
    input.folder = folder + "/run";
    input.context = "[]";
    input.mask = mask;
    input.environment = whole_environment();
    std::optional<RunResult> out;
    HookRun run(services, file, std::move(input),
                [&](RunResult result) { out = std::move(result); });
    run.start();
    REQUIRE(loop.run_until([&] { return out.has_value(); }, Duration{60000}));
    return *std::move(out);
  }

  std::string folder;
  HookFile file;
  hooks::SecretMask mask;
  loop::EventLoop loop;
  test::ScriptedTransport transport{loop};
  client::Client client{loop, transport, test::scripted_config()};
  hooks::LimitGuard guard{loop};
  std::shared_ptr<client::ResourceMap> map = std::make_shared<client::ResourceMap>();
};

constexpr const char* kDelete =
    "echo '{\"operation\":\"Delete\",\"kind\":\"Pod\",\"namespace\":\"shop\",\"name\":\"web\"}' "
    ">\"$KUBERNETES_PATCH_PATH\"\n";

}  // namespace

TEST_CASE("a dry run does not wait for the end of what it does not delete") {
  RunRig rig(kDelete);
  rig.transport.route("DELETE", kPod, 200, kPodText);
  rig.transport.route("GET", kPod, 200, kPodText);
  const RunResult result = rig.run(true);
  CHECK(result.message.empty());
  CHECK(result.outcome == "done");
  CHECK(result.patch.deleted == 1);
  for (const std::string& line : rig.transport.lines()) CHECK(line.find("GET") != 0);
}

TEST_CASE("a Delete is done when the object is gone") {
  RunRig rig(kDelete);
  rig.transport.route("DELETE", kPod, 200, kPodText);
  rig.transport.route("GET", kPod, 404, R"({"kind":"Status","reason":"NotFound","code":404})");
  const RunResult result = rig.run(false);
  CHECK(result.outcome == "done");
  CHECK(rig.transport.last().line() == std::string("GET ") + kPod);
}

TEST_CASE("lines of both streams are logged in order, and claim to be of neither") {
  RunRig rig("echo one\necho two >&2\necho three\n");
  std::vector<std::string> lines;
  base::capture_log(&lines);
  CHECK(rig.run(false).outcome == "done");
  base::capture_log(nullptr);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].ends_with("one stream=output"));
  CHECK(lines[1].ends_with("two stream=output"));
  CHECK(lines[2].ends_with("three stream=output"));
}

TEST_CASE("a run whose write failed gives no metrics, for its retry gives them again") {
  RunRig rig(std::string(kDelete) +
             "echo '{\"name\":\"seen\",\"action\":\"add\",\"value\":1}' >\"$METRICS_PATH\"\n");
  rig.transport.route("GET", kPod, 404, R"({"kind":"Status","reason":"NotFound","code":404})");
  rig.transport.route("DELETE", kPod, 403, R"({"kind":"Status","reason":"Forbidden","code":403})");
  const RunResult failed = rig.run(false);
  CHECK(failed.outcome == "write-failed");
  CHECK(failed.metrics.empty());
  rig.transport.route("DELETE", kPod, 200, kPodText);
  const RunResult retried = rig.run(false);
  CHECK(retried.outcome == "done");
  CHECK(retried.metrics.size() == 1);
}

TEST_CASE("labels of metrics do not tell values of Secrets, also of those that it wrote") {
  RunRig rig(
      "echo '{\"name\":\"a\",\"action\":\"set\",\"value\":1,\"labels\":"
      "{\"of\":\"by swordfish-1\",\"to\":\"swordfish-2\",\"at\":\"home\"}}' >\"$METRICS_PATH\"\n"
      "echo "
      "'{\"operation\":\"MergePatch\",\"kind\":\"Secret\",\"namespace\":\"shop\",\"name\":\"db\","
      "\"mergePatch\":{\"stringData\":{\"x\":\"swordfish-2\"}}}' >\"$KUBERNETES_PATCH_PATH\"\n");
  const std::string secret =
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"db","namespace":"shop"}})";
  for (const char* method : {"GET", "PATCH"}) {
    rig.transport.route(method, "/api/v1/namespaces/shop/secrets/db", 200, secret);
  }
  rig.mask.add_value("swordfish-1");
  const RunResult result = rig.run(false);
  INFO(result.message);
  CHECK(result.outcome == "done");
  REQUIRE(result.metrics.size() == 1);
  CHECK(result.metrics[0].labels ==
        hooks::MetricLabels{{"at", "home"}, {"of", "by ***"}, {"to", "***"}});
}

TEST_CASE("a metric whose name tells a value of a Secret is not taken, which is told") {
  RunRig rig(
      "cat >\"$METRICS_PATH\" <<'END'\n"
      R"({"name":"of_swordfish_1","action":"set","value":1}
{"name":"a","action":"set","value":1,"labels":{"swordfish_1":"x"}}
{"name":"swordfish_1_items","group":"g","action":"set","value":1}
{"name":"b","action":"set","value":1}
END
)");
  rig.mask.add_value("swordfish_1");
  const RunResult result = rig.run(false);
  INFO(result.message);
  CHECK(result.outcome == "done");
  REQUIRE(result.metrics.size() == 2);
  // What the group held of earlier runs goes all the same.
  CHECK(result.metrics[0].action == MetricOperation::Action::expire);
  CHECK(result.metrics[0].group == "g");
  CHECK(result.metrics[0].name.empty());
  CHECK(result.metrics[1].name == "b");
  CHECK(result.notes == std::vector<std::string>{
                            "METRICS_PATH: a metric is not taken: its name, or the name of one of "
                            "its labels, holds or may hold a value of a Secret"});
}

TEST_CASE("what is unknown in the files of a run is told and keeps nothing from being done") {
  RunRig rig(
      "echo '{\"name\":\"a\",\"action\":\"set\",\"value\":1,\"swordfish-1\":1}' "
      ">\"$METRICS_PATH\"\n"
      "echo '{\"operation\":\"DeleteInBackground\",\"kind\":\"Pod\",\"namespace\":\"shop\","
      "\"name\":\"web\",\"force\":true}' >\"$KUBERNETES_PATCH_PATH\"\n");
  rig.transport.route("DELETE", kPod, 200, kPodText);
  rig.mask.add_value("swordfish-1");
  const RunResult result = rig.run(false);
  INFO(result.message);
  CHECK(result.outcome == "done");
  CHECK(result.metrics.size() == 1);
  CHECK(result.patch.deleted == 1);
  CHECK(result.notes == std::vector<std::string>{"KUBERNETES_PATCH_PATH: force: unknown field",
                                                 "METRICS_PATH: ***: unknown field"});
}

TEST_CASE("an answer that is no regular file is not read, for that may never end") {
  for (const char* variable : {"KUBERNETES_PATCH_PATH", "METRICS_PATH"}) {
    RunRig rig(std::string("ln -sf /dev/zero \"$") + variable + "\"\n");
    const RunResult result = rig.run(false);
    CHECK(result.outcome == "invalid-output");
    CHECK(result.message.find(variable) == 0);
    CHECK(result.message.find("it is no regular file") != std::string::npos);
  }
}

TEST_CASE("an operation on a Secret that fails does not tell its values") {
  constexpr const char* secret = "/api/v1/namespaces/shop/secrets/db";
  const std::string live =
      R"({"apiVersion":"v1","kind":"Secret","metadata":{"name":"db","namespace":"shop"},)"
      R"("data":{"conf":")" +
      base::base64_encode("password=hunter22-and-more") + R"("}})";
  const auto message_of = [&](const std::string& rest, const std::string& answer) {
    RunRig rig(
        "cat >\"$KUBERNETES_PATCH_PATH\" <<'END'\n{kind: Secret, namespace: shop, name: db, " +
        rest + "}\nEND\n");
    rig.transport.route("GET", secret, 200, live);
    for (const char* method : {"PUT", "PATCH"}) rig.transport.route(method, secret, 422, answer);
    const RunResult result = rig.run(false);
    CHECK(result.outcome == "write-failed");
    return result.message;
  };
  const std::string of_filter = message_of(
      "operation: JQPatch, jqFilter: '.data.n = (.data.conf | @base64d | fromjson | tojson)'", "");
  INFO(of_filter);
  CHECK(of_filter.find("JQPatch Secret shop/db: jqFilter: ") != std::string::npos);
  CHECK(of_filter.find("hunter22") == std::string::npos);
  // A server quotes what it refuses.
  const auto refusal = [](const std::string& quoted) {
    return R"({"kind":"Status","code":422,"reason":"Invalid","message":"wrong: )" + quoted +
           R"("})";
  };
  const std::string of_patch =
      message_of("operation: MergePatch, mergePatch: {stringData: {new: swordfish-and-more}}",
                 refusal("swordfish-and-more"));
  INFO(of_patch);
  CHECK(of_patch.find("wrong: ***") != std::string::npos);
  const std::string of_edit = message_of("operation: JQPatch, jqFilter: '.data.x = .data.conf'",
                                         refusal("password=hunter22-and-more"));
  INFO(of_edit);
  CHECK(of_edit.find("wrong: ***") != std::string::npos);
}
