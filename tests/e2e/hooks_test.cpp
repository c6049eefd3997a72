// How hooks are run: by workers, within limits, with credentials, and what they leave behind when
// the controller is killed.
#include <signal.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/strings.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

namespace {

// A worker in shell: $id and $title of each line, then `answer`.
std::string worker(const std::string& answer) {
  return R"x(echo $$ >> workers
while IFS= read -r line; do
  id=${line#*\"id\":\"}; id=${id%%\"*}
  title=${line##*\"TITLE\":\"}; title=${title%%\"*}
  name=${line##*\"NAME\":\"}; name=${name%%\"*}
  echo "at work on $name" >&2
)x" + answer +
         "\ndone\n";
}

const char* const kAnswerWithPage = R"x(
  printf '{"id":"%s","documents":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"%s-page","namespace":"@NS@"},"data":{"title":"%s"}}]}\n' "$id" "$name" "$title"
)x";

const char* const kWorkerRule = R"(
  concurrency: 2
  reconcile:
    exec: [./reconcile.sh]
    mode: worker
    timeout: 10s
    env: {TITLE: {jq: '.spec.title // "none"'}, NAME: {jq: .metadata.name}}
)";

std::string message_of(const World& w, const std::string& name) {
  for (const auto& run : w.runs()) {
    if (base::split(run.object, '/').back() == name) return run.message;
  }
  return "";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// What died and waits for its parent does not count.
bool alive(const std::string& pid) {
  const int number = std::atoi(pid.c_str());
  std::ifstream file("/proc/" + std::to_string(number) + "/stat");
  std::string text;
  if (number <= 0 || !std::getline(file, text)) return false;
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && text.substr(name_end + 2, 1) != "Z";
}

}  // namespace

E2E_CASE("workers run many objects with two processes, and apply what they answer") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kWorkerRule));
  w.script("reconcile.sh", worker(w.expand(kAnswerWithPage)));
  w.start();
  for (int i = 0; i < 20; ++i) {
    w.apply(website("s" + std::to_string(i), "t" + std::to_string(i)));
  }
  REQUIRE(w.eventually([&] { return w.list("ConfigMap").size() >= 20; }));
  w.settle();
  for (int i = 0; i < 20; ++i) {
    const auto page = w.get("ConfigMap", "s" + std::to_string(i) + "-page");
    REQUIRE(page);
    CHECK((*page)["data"]["title"] == "t" + std::to_string(i));
  }
  CHECK(w.lines("workers") <= 2);
  CHECK(w.status().failed_runs == 0);
  CHECK(w.runs().back().max_rss > 0);
  const std::string pid = base::split(w.read("workers"), '\n')[0];
  CHECK(alive(pid));
  w.stop();
  CHECK_FALSE(alive(pid));
}

E2E_CASE("a worker's exit codes mean what those of a process mean") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kWorkerRule + "  retry: {initial: 5m}\n"));
  w.script("reconcile.sh", worker(w.expand(R"x(
  case $title in
    fail) printf '{"id":"%s","exit":9,"documents":[{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"never","namespace":"@NS@"}}]}\n' "$id";;
    wait) printf '{"id":"%s","exit":75,"documents":[{"apiVersion":"kubewatch.dev/v1","kind":"Result","requeueAfter":"10m","status":{"ready":false}}]}\n' "$id";;
    refuse) printf '{"id":"%s","exit":65,"documents":[{"apiVersion":"kubewatch.dev/v1","kind":"Result","message":"bad title"}]}\n' "$id";;
    wrong) printf '{"id":"%s","documents":[{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x","namespace":"@NS@"}}]}\n' "$id";;
    dies) exit 3;;
    garbage) echo "here you are";;
  esac
)x")));
  w.start();
  for (const char* title : {"fail", "wait", "refuse", "wrong", "dies", "garbage"}) {
    w.apply(website(title, title));
  }
  REQUIRE(w.eventually([&] {
    return w.runs_of("fail") > 0 && w.runs_of("wait") > 0 && w.runs_of("refuse") > 0 &&
           w.runs_of("wrong") > 0 && w.runs_of("dies") > 0 && w.runs_of("garbage") > 0;
  }));
  CHECK(w.runs_of("fail", "failed") == 1);
  CHECK(has(message_of(w, "fail"), "last line of stderr: at work on fail"));
  CHECK(w.runs_of("wait", "not-yet") == 1);
  CHECK((*w.get("Website", "wait"))["status"]["ready"] == false);
  CHECK(w.runs_of("refuse", "permanent") == 1);
  CHECK(w.runs_of("wrong", "invalid-output") == 1);
  CHECK(w.runs_of("dies", "failed") == 1);
  CHECK(has(message_of(w, "dies"), "the worker ended (exit code 3) before it answered"));
  CHECK(w.runs_of("garbage", "invalid-output") == 1);
  CHECK(has(message_of(w, "garbage"), "a line that is no answer"));
  CHECK_FALSE(w.get("ConfigMap", "never"));
}

E2E_CASE("a worker that hangs is replaced, and the object is done by the next one") {
  World w;
  w.apply(kWebsiteCrd);
  std::string rule = kWorkerRule;
  rule.replace(rule.find("timeout: 10s"), 12, "timeout: 2s\n    grace: 100ms");
  w.rules(website_rule(std::string(kOwnsConfigMaps) + rule + kFastRetry));
  w.script("reconcile.sh", "trap '' TERM\n" + worker(R"x(
  if [ ! -e hung ]; then touch hung; sleep 600 & echo $! > child; wait; fi
)x" + w.expand(kAnswerWithPage)));
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
  CHECK(w.runs_of("a", "timeout") >= 1);
  CHECK(w.eventually([&] { return !alive(w.read("child")); }));
}

E2E_CASE("limits end the hook that is over them and say which; the others do not notice") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + R"x(
  concurrency: 8
  reconcile:
    exec: [./reconcile.sh]
    timeout: 110s
    limits: {memory: 64Mi, cpu: 4s, processes: 6}
    env: {TITLE: {jq: .spec.title}}
  retry: {initial: 5m}
)x"));
  w.script("reconcile.sh", std::string(R"x(
case $TITLE in
  memory) x=$(head -c 200000000 /dev/zero | tr '\0' x); sleep 600 ;;
  detached) (setsid sh -c 'x=$(head -c 200000000 /dev/zero | tr "\0" x); sleep 600' &); sleep 600 ;;
  cpu) while :; do :; done ;;
  burner) (setsid sh -c 'while :; do :; done' &); sleep 100 ;;
  processes) for i in 1 2 3 4 5 6 7 8; do sleep 600 & done; wait ;;
esac
)x") + kPrintConfigMap);
  w.start();
  for (const char* title : {"memory", "detached", "cpu", "burner", "processes", "good"}) {
    w.apply(website(title, title));
  }
  REQUIRE(w.eventually(
      [&] {
        return w.runs_of("memory") > 0 && w.runs_of("detached") > 0 && w.runs_of("cpu") > 0 &&
               w.runs_of("burner") > 0 && w.runs_of("processes") > 0 &&
               w.get("ConfigMap", "good-page").has_value();
      },
      Duration{120000}));
  CHECK(has(message_of(w, "memory"), "ended: used more than limits.memory 64Mi"));
  CHECK(has(message_of(w, "detached"), "ended: used more than limits.memory 64Mi"));
  CHECK(has(message_of(w, "cpu"), "ended: used more than limits.cpu 4s"));
  CHECK(has(message_of(w, "burner"), "ended: used more than limits.cpu 4s"));
  CHECK(has(message_of(w, "processes"), "ended: used more than limits.processes 6"));
  for (const auto& run : w.runs()) {
    if (has(run.object, "/cpu")) CHECK(run.cpu >= 3.0);
  }
}

E2E_CASE("a hook that prints garbage or ends by a signal writes nothing, and the run says why") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile + "\n  retry: {initial: 5m}\n"));
  w.script("reconcile.sh", std::string(kPrintConfigMap) + R"x(
case $TITLE in
  bytes) head -c 5000 /dev/urandom ;;
  words) echo "here you are" ;;
  deep) head -c 100000 /dev/zero | tr '\0' '[' ;;
  signal) kill -SEGV $$ ;;
esac
)x");
  w.start();
  for (const char* title : {"bytes", "words", "deep", "signal", "good"}) {
    w.apply(website(title, title));
  }
  REQUIRE(w.eventually([&] {
    for (const char* title : {"bytes", "words", "deep", "signal", "good"}) {
      if (w.runs_of(title) == 0) return false;
    }
    return true;
  }));
  for (const char* title : {"bytes", "words", "deep"}) {
    CHECK(w.runs_of(title, "invalid-output") == 1);
    CHECK_FALSE(w.get("ConfigMap", std::string(title) + "-page"));
  }
  CHECK(w.runs_of("signal", "failed") == 1);
  CHECK(has(message_of(w, "signal"), "was ended by signal SIGSEGV"));
  CHECK_FALSE(w.get("ConfigMap", "signal-page"));
  CHECK(w.get("ConfigMap", "good-page"));
}

E2E_CASE("credentials: kubeconfig is one that a hook can use") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + R"x(
  reconcile:
    exec: [./reconcile.sh]
    timeout: 30s
    credentials: kubeconfig
    env: {TITLE: {jq: .spec.title}}
)x"));
  // Moved into place: the next run, for what the first one made, writes them again.
  w.script("reconcile.sh", std::string("stat -c %a \"$KUBECONFIG\" > $KW_ID\nmv $KW_ID mode\n") +
                               KUBEWATCH_BINARY +
                               " reflect --once configmaps -n \"$KW_NAMESPACE\" -o name > $KW_ID "
                               "2> errors || cp errors failed\nmv $KW_ID listed\n" +
                               kPrintConfigMap);
  w.apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: to-be-seen, namespace: '@NS@'}}");
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.runs_of("a") > 0; }));
  CHECK(w.read("failed").empty());
  CHECK(has(w.read("listed"), "to-be-seen"));
  CHECK(has(w.read("mode"), "600"));
  CHECK(w.runs_of("a", "done") > 0);
}

E2E_CASE("an update tells the hook which paths changed") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) + kReconcile));
  w.script("reconcile.sh", "cat > input-$KW_REASON\n" + std::string(kPrintConfigMap));
  w.start();
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] { return w.get("ConfigMap", "a-page").has_value(); }));
  w.settle();
  w.apply(website("a", "two"));
  REQUIRE(w.eventually([&] { return !w.read("input-Updated").empty(); }));
  w.settle();
  CHECK(has(w.read("input-Updated"), R"("changed":[".spec.title"])"));
}

E2E_CASE("a controller that is killed leaves no hook behind, not even one that ignores TERM") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) +
                       "\n  reconcile: {exec: [./reconcile.sh], timeout: 600s}\n"));
  w.script("reconcile.sh", R"x(
trap '' TERM
sh -c 'trap "" TERM; echo $$ > grandchild; while :; do sleep 600; done' &
setsid sh -c 'trap "" TERM; echo $$ > daemon; while :; do sleep 600; done' &
echo $$ > hook
while :; do sleep 600; done
)x");
  Program controller(w.loop(),
                     kubewatch_command(w, {"run-controller", "-f", w.folder() + "/rules.yaml"}));
  w.apply(website("a", "one"));
  REQUIRE(w.eventually([&] {
    return alive(w.read("hook")) && alive(w.read("grandchild")) && alive(w.read("daemon"));
  }));
  controller.signal(SIGKILL);
  CHECK(w.eventually([&] {
    return !controller.running() && !alive(w.read("hook")) && !alive(w.read("grandchild")) &&
           !alive(w.read("daemon"));
  }));
}

}  // namespace kubewatch::e2e
