// A controller that is recorded at work, and its recording replayed by a process that has no
// server. KUBEWATCH_KEEP_RECORDING=FOLDER keeps the recording there with its rules and hook: as
// tests/cli/recordings has one of a real kube-apiserver.
#include <signal.h>
#include <stdlib.h>

#include <filesystem>

#include "base/json.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {
namespace {

ProgramOptions command(World& w, std::vector<std::string> words, const std::string& kubeconfig) {
  words.insert(words.begin(), "run-controller");
  return kubewatch_command(w, std::move(words), kubeconfig);
}

// The exit code; the answer is in `out`.
int replay(World& w, Json& out) {
  const Ran ran = Program(w.loop(), command(w,
                                            {"replay", w.folder() + "/recording", "-f",
                                             w.folder() + "/rules.yaml", "-o", "json"},
                                            w.folder() + "/none"))
                      .ran();
  INFO(ran.err);
  INFO(ran.out);
  auto answer = base::parse_json(ran.out);
  REQUIRE(answer.ok());
  out = std::move(*answer);
  return ran.code;
}

}  // namespace

E2E_CASE("a recording is replayed without the server, and a changed hook shows as a difference") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + kFastRetry));
  w.script("reconcile.sh", kPrintConfigMap);
  w.apply(website("a", "one"));
  w.apply(website("b", "two"));
  Program recorded(w.loop(), command(w,
                                     {"-f", w.folder() + "/rules.yaml", "--socket", "none",
                                      "--record", w.folder() + "/recording"},
                                     w.kubeconfig()));
  const auto wait_for = [&](const std::string& name, const std::string& title) {
    const bool came = w.eventually([&] { return title_of(w, name) == title; });
    if (!came) FAIL(name + " never got the title " + title + "; the log:\n" + recorded.err);
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
  CHECK(recorded.end(SIGTERM) == 0);

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
  const std::string rules = w.folder() + "/rules.yaml";
  const auto once = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"-f", rules, "--socket", "none", "--once"});
    return Program(w.loop(), command(w, std::move(more), w.kubeconfig())).code();
  };
  REQUIRE(once({}) == 0);
  REQUIRE((*w.get("Website", "a"))["status"]["ready"] == true);
  REQUIRE(once({"--record", w.folder() + "/recording"}) == 0);
  Json out;
  CHECK(replay(w, out) == 0);
  CHECK(out["differences"].empty());
}

}  // namespace kubewatch::e2e
