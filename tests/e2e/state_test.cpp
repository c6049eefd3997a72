// What --state must not forget when the controller is killed in the wrong moment: requests that
// waited, deletions that nobody was told of, writes that were refused.
#include <signal.h>

#include <filesystem>

#include "e2e/kubewatch_process.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {
namespace {

// Notes each run, and waits while the file hold-NAME is there.
const char* const kHook = R"x(
if grep -q '"object":null' "$KW_INPUT"; then echo "gone $KW_KIND $KW_NAME" >> runs; exit 0; fi
echo "$KW_NAME" >> runs
while [ -e "hold-$KW_NAME" ]; do sleep 0.05; done
)x";

class Kept {
 public:
  // `spec`: more of the rule.
  explicit Kept(const std::string& spec, const std::string& hook = kHook,
                const std::string& for_extra = "") {
    w.apply(kWebsiteCrd);
    w.rules(website_rule(spec + "\n  concurrency: 1\n  reconcile: {exec: [./reconcile.sh]}\n",
                         for_extra));
    w.script("reconcile.sh", hook);
  }
  void start() { process_ = controller(w, {"--state", w.folder() + "/state"}); }
  // With --once; the exit code.
  int once() {
    process_ = controller(w, {"--once", "--state", w.folder() + "/state"});
    return process_->code();
  }
  void end(int signal) { process_->end(signal); }
  void hold(const std::string& name) { w.file("hold-" + name, ""); }
  void let_go(const std::string& name) { std::filesystem::remove(w.folder() + "/hold-" + name); }
  bool ran(const std::string& line) {
    return w.eventually([&] { return ("\n" + w.read("runs")).find("\n" + line + "\n") != npos; });
  }
  // Nothing runs or is to run.
  void settle() {
    REQUIRE(w.eventually([&] {
      const std::size_t before = w.lines("runs");
      const Json queue = controllers();
      if (queue.is_null() || queue["started"] != true) return false;
      if (queue["ready"] != 0 || queue["running"] != 0) return false;
      w.holds_for([] { return true; }, Duration{500});
      return before == w.lines("runs");
    }));
  }
  void clear() { w.file("runs", ""); }
  void make_again_while_ended(const std::string& name, const std::string& title) {
    end(SIGTERM);
    w.remove("Website", name);
    w.apply(website(name, title));
    clear();
    start();
  }
  // Ended again.
  std::string runs_of_another_start() {
    clear();
    start();
    w.holds_for([] { return true; }, Duration{1000});
    settle();
    std::string out = w.read("runs");
    end(SIGTERM);
    return out;
  }
  bool waiting(std::size_t count) {
    return w.eventually([&] {
      const Json queue = controllers();
      return queue.is_object() && queue["ready"] == count;
    });
  }

  World w;

 private:
  static constexpr std::size_t npos = std::string::npos;
  Json controllers() {
    const Json answer = ask(w, {"queue"});
    return answer.is_object() ? answer["controllers"][0] : Json(nullptr);
  }
  std::unique_ptr<Program> process_;
};

}  // namespace

E2E_CASE("with --state what was asked for and had not run before a SIGKILL runs after it") {
  Kept k("");
  for (const char* name : {"a", "b"}) k.w.apply(website(name, "one"));
  k.start();
  REQUIRE((k.ran("a") && k.ran("b")));
  k.settle();
  k.clear();

  // b has the only slot; a is as it was, but somebody asks for it.
  k.hold("b");
  k.w.apply(website("b", "two"));
  REQUIRE(k.ran("b"));
  CHECK(ask(k.w, {"trigger", "website/a"})["triggered"] == 1);
  REQUIRE(k.waiting(1));
  k.end(SIGKILL);
  k.let_go("b");
  k.clear();
  k.start();
  CHECK(k.ran("a"));
  k.settle();
  k.clear();

  // Asked for while it runs: the end of that run does not answer it.
  k.hold("a");
  k.w.apply(website("a", "three"));
  REQUIRE(k.ran("a"));
  k.hold("b");
  k.w.apply(website("b", "three"));
  REQUIRE(k.waiting(1));
  CHECK(ask(k.w, {"trigger", "website/a"})["triggered"] == 1);
  k.let_go("a");
  REQUIRE(k.ran("b"));
  k.end(SIGKILL);
  k.let_go("b");
  k.clear();
  k.start();
  CHECK(k.ran("a"));
  k.settle();
  k.end(SIGTERM);
}

E2E_CASE("with --state a deletion that was not told before a SIGKILL is told after it, once") {
  Kept k("\n  onDelete: true\n");
  for (const char* name : {"a", "b"}) k.w.apply(website(name, "one"));
  k.start();
  REQUIRE((k.ran("a") && k.ran("b")));
  k.settle();
  k.clear();

  // Seen, and waiting for the only slot.
  k.hold("b");
  k.w.apply(website("b", "two"));
  REQUIRE(k.ran("b"));
  k.w.remove("Website", "a");
  REQUIRE(k.waiting(1));
  k.end(SIGKILL);
  k.let_go("b");
  k.clear();
  k.start();
  CHECK(k.ran("gone Website a"));
  k.settle();
  k.clear();

  // Of an object whose run was cut off, while nobody looks.
  k.hold("b");
  k.w.apply(website("b", "three"));
  REQUIRE(k.ran("b"));
  k.end(SIGKILL);
  k.let_go("b");
  k.w.remove("Website", "b");
  k.clear();
  k.start();
  CHECK(k.ran("gone Website b"));
  k.settle();
  k.end(SIGTERM);
  CHECK(k.runs_of_another_start().empty());

  // Made again under its name meanwhile: first the deletion of the one, then the other.
  k.w.apply(website("c", "one"));
  k.start();
  REQUIRE(k.ran("c"));
  k.settle();
  k.make_again_while_ended("c", "one");
  CHECK(k.ran("c"));
  k.settle();
  CHECK(k.w.read("runs") == "gone Website c\nc\n");
  k.end(SIGTERM);
  CHECK(k.runs_of_another_start().empty());
}

E2E_CASE(
    "with --state the deletion of an object whose name is that of an unmatched one is told once") {
  Kept k("\n  onDelete: true\n", kHook, "    filter: .spec.title != \"skip\"\n");
  k.w.apply(website("a", "one"));
  k.start();
  REQUIRE(k.ran("a"));
  k.settle();
  k.make_again_while_ended("a", "skip");
  CHECK(k.ran("gone Website a"));
  k.settle();
  CHECK(k.w.read("runs") == "gone Website a\n");
  k.end(SIGTERM);
  CHECK(k.runs_of_another_start().empty());
}

E2E_CASE("with --state a rule that is for another kind now tells no deletions of the former one") {
  Kept k("\n  onDelete: true\n");
  for (const char* name : {"a", "b"}) k.w.apply(website(name, "one"));
  k.start();
  REQUIRE((k.ran("a") && k.ran("b")));
  k.settle();
  k.end(SIGTERM);
  k.clear();
  k.w.rules(R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: v1, kind: ConfigMap, namespaces: ['@NS@'], labelSelector: mine}
  onDelete: true
  reconcile: {exec: [./reconcile.sh]}
)");
  // One of another kind has the name of one of them.
  k.w.apply(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: '@NS@', labels: "
      "{mine: 'yes'}}}");
  k.start();
  REQUIRE(k.ran("a"));
  k.settle();
  CHECK(k.w.read("runs") == "a\n");
  k.end(SIGTERM);
  k.w.remove("ConfigMap", "a");
  CHECK(k.runs_of_another_start() == "gone ConfigMap a\n");
}

E2E_CASE("with --state and --once a deletion whose run fails is a failure, and told again") {
  Kept k("\n  onDelete: true\n  retry: {maxAttempts: 1}\n", R"x(
if grep -q '"object":null' "$KW_INPUT"; then echo "gone $KW_NAME" >> runs; exit 1; fi
echo "$KW_NAME" >> runs
)x");
  k.w.apply(website("a", "one"));
  REQUIRE(k.once() == 0);
  k.w.remove("Website", "a");
  for (int i = 0; i < 2; ++i) {
    k.clear();
    CHECK(k.once() == 1);
    CHECK(k.w.read("runs") == "gone a\n");
  }
  // An object of that name waits for it no longer, but nobody is told that all is well.
  k.w.apply(website("a", "two"));
  k.clear();
  CHECK(k.once() == 1);
  CHECK(k.w.read("runs") == "gone a\na\n");
  k.clear();
  CHECK(k.once() == 0);
  CHECK(k.w.read("runs").empty());
}

E2E_CASE("with --state a request that comes before the start runs what it names, and only that") {
  Kept k("\n  triggers: [{exec: [./tell.sh]}]\n");
  k.w.script("tell.sh", "[ ! -e request ] || cat request\nexec sleep 1000\n");
  for (const char* name : {"a", "b"}) k.w.apply(website(name, "one"));
  k.start();
  REQUIRE((k.ran("a") && k.ran("b")));
  k.settle();
  k.end(SIGTERM);
  k.clear();
  k.w.file("request", "{\"name\": \"a\", \"namespace\": \"@NS@\"}\n");
  k.start();
  CHECK(k.ran("a"));
  k.settle();
  CHECK(k.w.read("runs") == "a\n");
  k.end(SIGTERM);
}

E2E_CASE(
    "with --state resync counts from the last run, and a missed time of the schedule runs once") {
  // As long as nothing runs; then the interval with its jitter is over.
  Kept resync("\n  resync: 20s\n");
  resync.w.apply(website("a", "one"));
  resync.start();
  REQUIRE(resync.ran("a"));
  resync.end(SIGTERM);
  resync.clear();
  resync.w.holds_for([] { return true; }, Duration{22500});
  resync.start();
  resync.settle();
  CHECK(resync.w.read("runs") == "a\n");
  resync.end(SIGTERM);

  Kept schedule("\n  schedule: '* * * * *'\n");
  schedule.w.apply(website("a", "one"));
  const auto minute = [&] {
    return std::chrono::floor<std::chrono::minutes>(schedule.w.loop().wall());
  };
  schedule.start();
  REQUIRE(schedule.ran("a"));
  schedule.end(SIGTERM);
  schedule.clear();
  const auto before = minute();
  REQUIRE(schedule.w.eventually([&] { return minute() > before; }, Duration{150000}));
  schedule.start();
  schedule.settle();
  const auto runs = schedule.w.lines("runs");
  CHECK(runs >= 1);
  CHECK(runs <= 1 + static_cast<std::size_t>((minute() - before).count()));
  schedule.end(SIGTERM);
}

E2E_CASE("with --state a run whose writes were refused runs again after a restart") {
  Kept k("\n  writes: [{apiVersion: v1, kind: ConfigMap, namespaces: ['@NS@-none']}]\n",
         "echo \"$KW_NAME\" >> runs\n"
         "echo '{apiVersion: v1, kind: ConfigMap, metadata: {name: x, namespace: @NS@-none}}'\n");
  k.w.apply(website("a", "one"));
  k.start();
  REQUIRE(k.ran("a"));
  k.settle();
  k.end(SIGTERM);
  k.clear();
  // The right may have been given, or the namespace made, meanwhile.
  k.start();
  CHECK(k.ran("a"));
  k.end(SIGTERM);
}

E2E_CASE("with --state explain says after a SIGKILL why an object is parked") {
  Kept k("",
         "echo \"$KW_NAME\" >> runs\n"
         "echo 'apiVersion: kubewatch.dev/v1'\n"
         "echo 'kind: Result'\n"
         "echo 'message: no plan for it'\n"
         "exit 65\n");
  k.w.apply(website("a", "one"));
  k.start();
  REQUIRE(k.ran("a"));
  k.settle();
  for (int start = 0; start < 2; ++start) {
    k.end(SIGKILL);
    k.clear();
    k.start();
    k.settle();
    CHECK(k.w.read("runs") == "");
    const Json rule = ask(k.w, {"explain", "website/a"})["rules"][0];
    CHECK(rule["state"] == "parked");
    const std::string details = rule["details"].dump();
    INFO(details);
    CHECK(details.find("its last run began") != std::string::npos);
    CHECK(details.find("permanent failure: no plan for it") != std::string::npos);
  }
  CHECK(k.w.read("state/handled.log").find("no plan for") != std::string::npos);
  k.end(SIGTERM);
}

}  // namespace kubewatch::e2e
