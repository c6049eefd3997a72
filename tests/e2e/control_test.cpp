// A controller as a process of its own, asked through its control socket; rules that change under
// it; and what it knows after a restart.
#include <signal.h>

#include <filesystem>

#include "base/json.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {
namespace {

std::string state_of(World& w, const std::string& name) {
  const Json answer = ask(w, {"explain", "websites.e2e.kubewatch.dev/" + name});
  if (!answer.is_object() || answer["rules"].empty()) return "";
  return base::string_at(answer["rules"][0], {"state"});
}

}  // namespace

E2E_CASE("shards that one instance holds are one rule: one concurrency, one answer to explain") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(R"(
  concurrency: 1
  reconcile:
    shell: 'mkdir busy || echo "$KW_NAME" >> overlaps; echo x >> runs; sleep 0.3; rmdir busy'
)"));
  for (int part = 0; part < 3; ++part) {
    const std::string number = std::to_string(part);
    w.apply(website("w" + number, "one", ", labels: {part: '" + number + "'}"));
  }
  w.apply(website("none", "one"));
  auto kubewatch =
      controller(w, {"--leader-elect", "--lease-name", "lead", "--lease-namespace", w.ns(),
                     "--identity", "me", "--lease-duration", "5m", "--renew-deadline", "4m",
                     "--retry-period", "500ms", "--shards", "3", "--shard-by", "label=part"});
  for (const std::string name : {"w0", "w1", "w2"}) {
    INFO(name);
    REQUIRE(w.eventually([&] { return state_of(w, name) == "idle"; }));
    CHECK(ask(w, {"explain", "websites.e2e.kubewatch.dev/" + name})["rules"].size() == 1);
  }
  const Json outside = ask(w, {"explain", "websites.e2e.kubewatch.dev/none"});
  REQUIRE(outside["rules"].size() == 1);
  CHECK(outside["rules"][0]["state"] == "not-selected");
  for (const char* part : {"part=0", "part=1", "part=2"}) {
    CHECK(outside["rules"][0]["text"].get<std::string>().find(part) != std::string::npos);
  }
  CHECK(w.lines("runs") == 3);
  CHECK(w.read("overlaps").empty());
}

E2E_CASE("queue says when the schedule of a rule runs it next") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule("\n  schedule: 0 0 1 1 *\n  reconcile: {shell: 'true'}\n"));
  auto kubewatch = controller(w);
  std::int64_t wait = 0;
  REQUIRE(w.eventually([&] {
    const Json answer = ask(w, {"queue"});
    wait = answer.is_object()
               ? base::int_at(answer["controllers"][0], {"scheduleInMilliseconds"}).value_or(0)
               : 0;
    return wait > 0;
  }));
  CHECK(wait <= std::int64_t{366} * 24 * 3600 * 1000);
}

E2E_CASE("a running controller explains, lists runs, and runs objects when it is told to") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) +
                           "\n  changed: [.spec]\n  reconcile:\n    exec: [./reconcile.sh]\n"
                           "    env: {TITLE: {jq: '.spec.title // \"none\"'}}\n",
                       "    labelSelector: tier=web\n"));
  w.script("reconcile.sh", std::string("echo looking at $KW_NAME >&2\n") + kPrintConfigMap);
  w.apply(website("in", "one", ", labels: {tier: web}"));
  w.apply(website("out", "one", ", labels: {tier: db}"));
  auto kubewatch = controller(w);
  REQUIRE(w.eventually([&] { return state_of(w, "in") == "idle"; }));
  CHECK(state_of(w, "out") == "not-selected");
  CHECK(ask(w, {"explain", "website/none"}).is_null());

  // A change that `changed` does not name is ignored, and explain says so.
  w.merge("Website", "in", "{metadata: {annotations: {note: x}}}");
  REQUIRE(w.eventually([&] {
    const Json answer = ask(w, {"explain", "website/in"});
    return answer.is_object() && answer.dump().find("touched nothing") != std::string::npos;
  }));

  const Json triggered = ask(w, {"trigger", "website/in", "--reason", "by hand"});
  REQUIRE(triggered.is_object());
  CHECK(triggered["triggered"] == 1);
  Json run;
  REQUIRE(w.eventually([&] {
    const Json runs = ask(w, {"runs", "website/in"});
    if (!runs.is_object() || runs["runs"].empty()) return false;
    run = runs["runs"].back();
    return run["reason"] == "Manual";
  }));
  CHECK(run["outcome"] == "done");
  CHECK(run["exitCode"] == 0);
  CHECK(run["reasonObject"] == "by hand");
  CHECK(run["stderr"] == "looking at in\n");
  CHECK(run["unchanged"] == 1);
  const Json first = ask(w, {"runs", "website/in"})["runs"].front();
  CHECK(first["writes"] == Json::array({"created ConfigMap " + w.ns() + "/in-page"}));
  CHECK(ask(w, {"trigger", "website/out"}).is_null());
  CHECK(ask(w, {"queue"})["controllers"][0]["parked"] == 0);
  CHECK(kubewatch->end() == 0);
  CHECK(ask(w, {"queue"}).is_null());
}

E2E_CASE("what the filter holds runs when a person names it, and is not counted otherwise") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(
      website_rule("\n  reconcile: {shell: 'echo $KW_NAME >> ran', output: log}\n"
                   "  finalize: {shell: 'echo $KW_NAME >> cleaned', output: log}\n",
                   "    filter: .spec.title != \"paused\"\n"));
  w.apply(website("a", "one"));
  w.apply(website("b", "paused"));
  auto kubewatch = controller(w);
  REQUIRE(w.eventually([&] { return state_of(w, "a") == "idle"; }));
  CHECK(state_of(w, "b") == "filtered");
  CHECK(ask(w, {"trigger", "website", "--all"})["triggered"] == 1);
  REQUIRE(w.eventually([&] { return w.read("ran") == "a\na\n"; }));

  CHECK(ask(w, {"trigger", "website/b"})["triggered"] == 1);
  REQUIRE(w.eventually([&] { return w.read("ran") == "a\na\nb\n"; }));
  // What it made is to be cleaned up.
  w.remove("Website", "b");
  REQUIRE(w.eventually([&] { return !w.get("Website", "b"); }));
  CHECK(w.read("cleaned") == "b\n");

  w.merge("Website", "a", "{spec: {title: paused}}");
  REQUIRE(w.eventually([&] { return state_of(w, "a") == "filtered"; }));
  CHECK(ask(w, {"trigger", "website", "--all"}).is_null());
  CHECK(w.read("ran") == "a\na\nb\n");
  kubewatch->end();
}

E2E_CASE("a dying object that its finalizer holds is listed with why, and can be released") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(
      website_rule("\n  retry: {initial: 10m, max: 10m}\n  reconcile: {shell: 'true'}\n"
                   "  finalize: {shell: 'echo the archive is full >&2; exit 1'}\n"));
  w.apply(website("a", "one"));
  auto kubewatch = controller(w);
  REQUIRE(w.eventually([&] {
    const auto live = w.get("Website", "a");
    return live && (*live)["metadata"].contains("finalizers");
  }));
  w.remove("Website", "a");
  Json held;
  REQUIRE(w.eventually([&] {
    const Json answer = ask(w, {"finalizers"});
    if (!answer.is_object() || answer["objects"].empty()) return false;
    held = answer["objects"][0];
    return held["state"] == "backoff";
  }));
  CHECK(held["object"] == "Website " + w.ns() + "/a");
  CHECK(held["finalizer"] == "kubewatch.dev/" + w.ns());
  CHECK(held.dump().find("the archive is full") != std::string::npos);
  kubewatch->end();

  // Nothing runs any more: the server is asked.
  const Ran direct = Program(w.loop(), kubewatch_command(w, {"run-controller", "finalizers", "-f",
                                                             w.folder() + "/rules.yaml",
                                                             "--release", "-o", "json"}))
                         .ran();
  const auto answer = base::parse_json(direct.out);
  REQUIRE(answer.ok());
  CHECK((*answer)["objects"][0]["released"] == true);
  CHECK(w.eventually([&] { return !w.get("Website", "a"); }));
}

E2E_CASE("a changed rule file restarts what changed alone, and a broken one nothing") {
  World w;
  w.apply(kWebsiteCrd);
  const auto rule = [&](const std::string& name, const std::string& script) {
    return "---\napiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: '@NS@-" + name +
           "'}\nspec:\n  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Website, namespaces: "
           "['@NS@']}\n  reconcile: {shell: 'echo x >> " +
           script + "'}\n";
  };
  w.apply(website("a", "one"));
  w.rules(rule("one", "ones") + rule("two", "twos"));
  auto kubewatch = controller(w);
  REQUIRE(w.eventually([&] { return w.lines("ones") == 1 && w.lines("twos") == 1; }));

  // As editors do it: beside, and renamed over.
  w.file("rules.new", rule("one", "ones") + rule("two", "changed") + rule("three", "threes"));
  std::filesystem::rename(w.folder() + "/rules.new", w.folder() + "/rules.yaml");
  REQUIRE(w.eventually([&] { return w.lines("changed") == 1 && w.lines("threes") == 1; }));
  CHECK(w.lines("ones") == 1);
  CHECK(w.lines("twos") == 1);

  w.rules("apiVersion: kubewatch.dev/v1\nkind: Nonsense\n");
  REQUIRE(w.eventually([&] { return kubewatch->says("go on with the rules they have"); }));
  w.apply(website("b", "one"));
  REQUIRE(w.eventually([&] { return w.lines("ones") == 2 && w.lines("changed") == 2; }));

  w.rules(rule("one", "ones"));
  REQUIRE(w.eventually([&] { return ask(w, {"queue"})["controllers"].size() == 1; }));
  w.apply(website("c", "one"));
  REQUIRE(w.eventually([&] { return w.lines("ones") == 3; }));
  CHECK(w.lines("changed") == 2);
  kubewatch->signal(SIGHUP);
  REQUIRE(w.eventually([&] { return kubewatch->says("the rules are as they were"); }));
  kubewatch->end();
}

E2E_CASE("a leader takes changed rules over, a standby has them when it leads") {
  World w;
  w.apply(kWebsiteCrd);
  const auto rule = [](const std::string& file) {
    return website_rule("\n  reconcile: {shell: 'echo $KW_NAME >> " + file + "'}\n");
  };
  w.rules(rule("old"));
  w.apply(website("a", "one"));
  const std::vector<std::string> flags = {"--leader-elect",
                                          "--lease-name",
                                          "lead",
                                          "--lease-namespace",
                                          w.ns(),
                                          "--lease-duration",
                                          "5m",
                                          "--renew-deadline",
                                          "4m",
                                          "--retry-period",
                                          "500ms"};
  auto leader = controller(w, flags);
  REQUIRE(w.eventually([&] { return w.lines("old") == 1; }));
  std::vector<std::string> more = flags;
  more.insert(more.begin(), "run-controller");
  more.insert(more.end(), {"-f", w.folder() + "/rules.yaml", "--socket", "none"});
  Program standby(w.loop(), kubewatch_command(w, more));
  REQUIRE(w.eventually([&] { return standby.says("controller started"); }));
  CHECK(state_of(w, "a") == "idle");

  w.rules(rule("new"));
  REQUIRE(w.eventually([&] { return w.lines("new") == 1; }));
  REQUIRE(w.eventually([&] { return standby.says("the rules changed"); }));
  CHECK(w.lines("new") == 1);
  leader->end();
  REQUIRE(w.eventually([&] { return w.lines("new") == 2; }));
  CHECK(w.lines("old") == 1);
  standby.end();
}

E2E_CASE("with --state a restart runs only what changed meanwhile, also after SIGKILL") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(website_rule(std::string(kOwnsConfigMaps) +
                       "\n  reconcile:\n    exec: [./reconcile.sh]\n"
                       "    env: {TITLE: {jq: '.spec.title // \"none\"'}}\n"));
  const std::string hook = std::string(R"x(
if [ "$TITLE" = bad ]; then
  echo '{apiVersion: kubewatch.dev/v1, kind: Result, message: broken}'; exit 65
fi
)x") + kPrintConfigMap;
  w.script("reconcile.sh", "echo $KW_NAME >> runs\n" + hook);
  w.apply(website("park", "bad"));
  for (const char* name : {"a", "b", "c"}) w.apply(website(name, "one"));
  const auto quiet = [&] {
    return w.eventually([&] {
      const Json answer = ask(w, {"queue"});
      if (!answer.is_object()) return false;
      const Json& one = answer["controllers"][0];
      return one["started"] == true && one["ready"] == 0 && one["running"] == 0 &&
             one["waiting"] == 0;
    });
  };
  // Own writes come back as events: only what is quiet for a while is quiet.
  const auto settled = [&] {
    std::size_t before = w.lines("runs") + 1;
    while (before != w.lines("runs")) {
      before = w.lines("runs");
      REQUIRE(quiet());
      w.holds_for([] { return true; }, Duration{700});
    }
  };
  const std::vector<std::string> flags = {"--state", w.folder() + "/state"};
  auto first = controller(w, flags);
  REQUIRE(w.eventually([&] { return w.lines("runs") >= 4; }));
  settled();
  CHECK(ask(w, {"queue"})["controllers"][0]["parked"] == 1);
  first->end();
  w.file("runs", "");

  auto second = controller(w, flags);
  settled();
  CHECK(w.read("runs") == "");
  CHECK(ask(w, {"queue"})["controllers"][0]["parked"] == 1);
  CHECK(state_of(w, "park") == "parked");
  CHECK(second->says("objects as they were before the restart do not run"));
  second->end(SIGKILL);

  w.apply(website("b", "two"));                                    // itself
  w.merge("ConfigMap", "c-page", "{metadata: {labels: {x: z}}}");  // a child
  w.apply(website("d", "one"));                                    // new
  w.remove("Website", "a");                                        // deleted
  auto third = controller(w, flags);
  REQUIRE(w.eventually([&] { return w.lines("runs") >= 3; }));
  settled();
  const std::string ran = w.read("runs");
  for (const char* name : {"b\n", "c\n", "d\n"}) CHECK(ran.find(name) != std::string::npos);
  for (const char* name : {"a\n", "park\n"}) CHECK(ran.find(name) == std::string::npos);
  CHECK(third->says("gone=1"));
  third->end();
  w.file("runs", "");

  // Another hook: everything runs.
  w.script("reconcile.sh", "echo $KW_NAME >> runs # changed\n" + hook);
  auto fourth = controller(w, flags);
  REQUIRE(w.eventually([&] { return w.lines("runs") >= 4; }));
  settled();
  fourth->end();
}

E2E_CASE(
    "a rule that changes twice while its hook runs ends with the last text, never two runs at "
    "once") {
  World w;
  w.apply(kWebsiteCrd);
  const auto rule = [](const std::string& word, const std::string& manager) {
    return website_rule("\n  apply: {fieldManager: '" + manager +
                        "'}\n  reconcile:\n    shell: |\n"
                        "      exec 9>lock; flock -n 9 || echo overlap >> overlaps\n"
                        "      echo " +
                        word + " >> runs\n      sleep 1.5\n      echo " + word + " >> ends\n");
  };
  w.rules(rule("first", "m"));
  w.apply(website("a", "one"));
  auto kubewatch = controller(w);
  REQUIRE(w.eventually([&] { return w.lines("runs") == 1; }));
  w.rules(rule("second", "m"));
  REQUIRE(w.eventually([&] { return kubewatch->says("the rules changed"); }));
  // Another field manager and the same name: it has to wait as well.
  w.rules(rule("third", "n"));
  REQUIRE(w.eventually([&] {
    return w.read("ends") == "first\nthird\n" || w.read("ends") == "first\nsecond\nthird\n";
  }));
  CHECK(w.read("overlaps") == "");
  CHECK(w.holds_for([&] { return w.lines("ends") <= 3; }, Duration{1000}));
  CHECK(kubewatch->end() == 0);
}

}  // namespace kubewatch::e2e
