// A controller that is recorded at work, and its recording replayed by a process that has no
// server. KUBEWATCH_KEEP_RECORDING=FOLDER keeps the recording there with its rules and hook: as
// tests/cli/recordings has one of a real kube-apiserver.
#include <signal.h>
#include <stdlib.h>

#include <filesystem>

#include "base/json.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"
#include "loop/process.hpp"

namespace kubewatch::e2e {
namespace {

class Program {
 public:
  Program(World& w, std::vector<std::string> words, const std::string& kubeconfig) : w_(w) {
    loop::ProcessOptions options;
    options.argv = std::move(words);
    options.argv.insert(options.argv.begin(), {KUBEWATCH_BINARY, "run-controller"});
    options.environment = {"PATH=" + std::string(::getenv("PATH")), "KUBECONFIG=" + kubeconfig};
    options.timeout = Duration{0};
    options.max_stderr_line = 1U << 20U;
    auto started = loop::Process::start(
        w.loop(), std::move(options),
        [this](std::string_view line) { log += std::string(line) + "\n"; },
        [this](loop::ProcessExit end) { exit = std::move(end); });
    if (!started.ok()) FAIL(started.error().render());
    process = std::move(*started);
  }
  void wait() {
    REQUIRE(w_.eventually([this] { return exit.has_value(); }));
  }

  std::string log;
  std::optional<loop::ProcessExit> exit;
  std::unique_ptr<loop::Process> process;

 private:
  World& w_;
};

std::string title_of(World& w, const std::string& name) {
  const auto page = w.get("ConfigMap", name);
  return page ? base::string_at(*page, {"data", "title"}) : "";
}

// The exit code; the answer is in `out`.
int replay(World& w, Json& out) {
  Program program(
      w, {"replay", w.folder() + "/recording", "-f", w.folder() + "/rules.yaml", "-o", "json"},
      w.folder() + "/none");
  program.wait();
  INFO(program.log);
  INFO(program.exit->out);
  auto answer = base::parse_json(program.exit->out);
  REQUIRE(answer.ok());
  out = std::move(*answer);
  return program.exit->code.value_or(-1);
}

}  // namespace

E2E_CASE("a recording is replayed without the server, and a changed hook shows as a difference") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + kFastRetry));
  w.script("reconcile.sh", kPrintConfigMap);
  w.apply(website("a", "one"));
  w.apply(website("b", "two"));
  w.file("kubeconfig", client::render_kubeconfig(w.server().config(), "e2e"));
  Program recorded(
      w,
      {"-f", w.folder() + "/rules.yaml", "--socket", "none", "--record", w.folder() + "/recording"},
      w.folder() + "/kubeconfig");
  const auto wait_for = [&](const std::string& name, const std::string& title) {
    const bool came = w.eventually([&] { return title_of(w, name) == title; });
    if (!came) FAIL(name + " never got the title " + title + "; the log:\n" + recorded.log);
  };
  wait_for("b-page", "two");
  wait_for("a-page", "one");
  w.merge("Website", "a", "{spec: {title: changed}}");
  wait_for("a-page", "changed");
  const std::string uid = base::string_at(*w.get("ConfigMap", "b-page"), {"metadata", "uid"});
  w.remove("ConfigMap", "b-page");
  REQUIRE(w.eventually([&] {
    const auto page = w.get("ConfigMap", "b-page");
    return page && base::string_at(*page, {"metadata", "uid"}) != uid;
  }));
  w.remove("Website", "b");
  w.apply(website("c", "three"));
  wait_for("c-page", "three");
  ::kill(recorded.process->pid(), SIGTERM);
  recorded.wait();
  CHECK(recorded.exit->code == 0);

  Json out;
  CHECK(replay(w, out) == 0);
  CHECK(out["equal"] == true);
  CHECK(out["differences"].empty());
  CHECK(out["failedRuns"].empty());
  CHECK(out["writes"].get<int>() >= 5);
  CHECK(out["events"].get<int>() >= 5);

  if (const char* folder = ::getenv("KUBEWATCH_KEEP_RECORDING"); folder != nullptr) {
    std::filesystem::create_directories(folder);
    for (const char* file : {"recording", "rules.yaml", "reconcile.sh"}) {
      std::filesystem::copy(w.folder() + "/" + file, std::string(folder) + "/" + file,
                            std::filesystem::copy_options::overwrite_existing);
    }
  }

  std::string other = kPrintConfigMap;
  other.replace(other.find("$TITLE"), 6, "site $TITLE");
  w.script("reconcile.sh", other);
  CHECK(replay(w, out) == 9);
  CHECK(out["equal"] == false);
  REQUIRE_FALSE(out["differences"].empty());
  CHECK(out["differences"][0]["change"] == "changed");
  CHECK(out["differences"][0]["diff"].get<std::string>().find("title: site") != std::string::npos);
}

E2E_CASE("a recording that begins with statuses that are right is replayed as equal") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(kReconcile));
  w.script("reconcile.sh",
           "printf 'apiVersion: kubewatch.dev/v1\\nkind: Result\\nstatus: {ready: true}\\n'\n");
  w.apply(website("a", "one"));
  w.file("kubeconfig", client::render_kubeconfig(w.server().config(), "e2e"));
  const std::string rules = w.folder() + "/rules.yaml";
  const std::string config = w.folder() + "/kubeconfig";
  Program first(w, {"-f", rules, "--socket", "none", "--once"}, config);
  first.wait();
  REQUIRE(first.exit->code == 0);
  REQUIRE((*w.get("Website", "a"))["status"]["ready"] == true);
  Program recorded(
      w, {"-f", rules, "--socket", "none", "--once", "--record", w.folder() + "/recording"},
      config);
  recorded.wait();
  REQUIRE(recorded.exit->code == 0);
  Json out;
  CHECK(replay(w, out) == 0);
  CHECK(out["differences"].empty());
}

}  // namespace kubewatch::e2e
