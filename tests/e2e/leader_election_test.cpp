// Leader election with real processes: killed, stopped, ended, sharing shards. Short leases where
// one has to run out, so that a fail-over takes seconds. KUBEWATCH_FAILOVERS=n makes n of them
// (tests/e2e/fail-overs: 20 on the real server).
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {
namespace {

// Each run writes who runs it and tells when two run the same object at once.
const char* const kWriteMyName = R"x(
exec 9>"$FOLDER/lock-$KW_NAME"
flock -n 9 || echo "$KW_NAME $ME" >> "$FOLDER/overlaps"
echo "$KW_NAME $ME" >> "$FOLDER/runs"
sleep 0.2
cat <<MANIFEST
apiVersion: v1
kind: ConfigMap
metadata: {name: $KW_NAME-page, namespace: $KW_NAMESPACE}
data: {by: "$ME", at: "$(date +%s%N)"}
MANIFEST
)x";

std::string busy_rule(const std::string& namespaces) {
  return R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Website)" +
         namespaces + R"(}
  owns:
    - {apiVersion: v1, kind: ConfigMap}
  resync: 1s
  reconcile:
    exec: [./reconcile.sh]
    timeout: 10s
    inheritEnv: [ME, FOLDER]
)";
}

// As short as a busy machine allows: who gets no CPU for the renew deadline loses it.
const char* const kShortLease = "|--lease-duration|7s|--renew-deadline|6s";
// Where nobody has to wait until one runs out.
const char* const kLongLease = "|--lease-duration|5m|--renew-deadline|4m";

// One controller of several, which writes what it says as JSON.
class Contender : public Program {
 public:
  Contender(World& w, const std::string& the_name, const std::vector<std::string>& flags = {},
            const std::string& lease = kShortLease)
      : Program(w.loop(), command(w, the_name, flags, lease)), name(the_name) {}
  ~Contender() { signal(SIGCONT); }

  std::string name;

 private:
  static ProgramOptions command(World& w, const std::string& name,
                                const std::vector<std::string>& flags, const std::string& lease) {
    std::vector<std::string> words = base::split(
        "run-controller|-f|@FOLDER|--leader-elect|--lease-name|lead" + lease +
            "|--retry-period|500ms|--log-format|json|-v|6|--lease-namespace|@NS|--identity",
        '|');
    std::replace(words.begin(), words.end(), std::string("@FOLDER"), w.folder() + "/rules.yaml");
    std::replace(words.begin(), words.end(), std::string("@NS"), w.ns());
    words.push_back(name);
    words.insert(words.end(), flags.begin(), flags.end());
    ProgramOptions options = kubewatch_command(w, std::move(words));
    options.environment.push_back("ME=" + name);
    return options;
  }
};

void prepare(World& w, const std::string& namespaces = ", namespaces: ['@NS@']") {
  w.apply(kWebsiteCrd);
  w.rules(busy_rule(namespaces));
  w.script("reconcile.sh", kWriteMyName);
}

// Hooks of `one` go on until the file `go` is there; those of others end at once.
const char* const kWaitForGo = R"x(
echo "$KW_NAME $ME begins" >> "$FOLDER/log"
[ "$ME" != one ] || while [ ! -e "$FOLDER/go" ]; do sleep 0.05; done
echo "$KW_NAME $ME ends" >> "$FOLDER/log"
)x";

void prepare_long_runs(World& w) {
  prepare(w);
  std::string rule = busy_rule(", namespaces: ['@NS@']");
  rule.replace(rule.find("timeout: 10s"), 12, "timeout: 90s");
  w.rules(rule + "  concurrency: 16\n");
  w.script("reconcile.sh", kWaitForGo);
}

std::string holder(World& w, const std::string& lease = "lead") {
  const auto object = w.get("Lease", lease);
  return object ? base::string_at(*object, {"spec", "holderIdentity"}) : "";
}

std::string writer(World& w, const std::string& object = "a-page") {
  const auto map = w.get("ConfigMap", object);
  return map ? base::string_at(*map, {"data", "by"}) : "";
}

std::size_t fail_overs_wanted() {
  const char* text = ::getenv("KUBEWATCH_FAILOVERS");
  return text == nullptr ? 4 : std::strtoul(text, nullptr, 10);
}

}  // namespace

E2E_CASE("leaders that are killed or stopped are replaced and write nothing afterwards") {
  World w;
  prepare(w);
  w.apply(website("a", "one"));
  int born = 0;
  const auto start = [&] {
    return std::make_unique<Contender>(w, "host-" + std::to_string(++born));
  };
  auto leader = start();
  REQUIRE(w.eventually([&] { return writer(w) == leader->name; }));
  Duration longest{0};
  const std::size_t wanted = fail_overs_wanted();
  for (std::size_t i = 0; i < wanted; ++i) {
    auto standby = start();
    REQUIRE(w.eventually([&] { return standby->says("standing by: held by " + leader->name); }));
    const bool stops = i % 2 == 1;
    const TimePoint struck = w.loop().now();
    leader->signal(stops ? SIGSTOP : SIGKILL);
    INFO("fail-over " << i << "\n" << standby->tail());
    REQUIRE(w.eventually([&] { return writer(w) == standby->name; }));
    longest = std::max(longest, w.loop().now() - struck);
    if (stops) {
      leader->signal(SIGCONT);
      CHECK(leader->code() == 1);
      CHECK(leader->says("not the leader any more"));
      CHECK(w.holds_for([&] { return writer(w) == standby->name; }, Duration{1000}));
    }
    CHECK(holder(w) == standby->name);
    leader = std::move(standby);
  }
  WARN(wanted << " fail-overs on " << w.server().name() << ", the longest "
              << base::format_duration(longest));
  CHECK(leader->end() == 0);
  CHECK(holder(w).empty());
  CHECK(w.read("overlaps").empty());
}

E2E_CASE("a leader that ends gracefully hands over at once") {
  World w;
  prepare(w);
  w.apply(website("a", "one"));
  Contender one(w, "one", {}, kLongLease);
  REQUIRE(w.eventually([&] { return writer(w) == "one"; }));
  Contender two(w, "two", {}, kLongLease);
  REQUIRE(w.eventually([&] { return two.says("standing by: held by one"); }));
  one.signal(SIGTERM);
  // Long before the lease runs out.
  REQUIRE(w.eventually([&] { return two.says("\"leading\""); }));
  REQUIRE(w.eventually([&] { return !one.running() && writer(w) == "two"; }));
  CHECK(one.code() == 0);
  const auto lease = w.get("Lease", "lead");
  REQUIRE(lease);
  CHECK(base::int_at(*lease, {"spec", "leaseTransitions"}) == 1);
  CHECK(w.read("overlaps").empty());
}

E2E_CASE("a leader that is ended keeps its lease until its hooks have ended") {
  World w;
  prepare_long_runs(w);
  w.apply(website("a", "one"));
  Contender one(w, "one", {}, kLongLease);
  REQUIRE(w.eventually([&] { return w.read("log") == "a one begins\n"; }));
  Contender two(w, "two", {}, kLongLease);
  REQUIRE(w.eventually([&] { return two.says("standing by: held by one"); }));
  one.signal(SIGTERM);
  // Its successor asks every half a second.
  CHECK(w.holds_for([&] { return holder(w) == "one" && w.read("log") == "a one begins\n"; },
                    Duration{2500}));
  w.file("go", "");
  REQUIRE(w.eventually([&] { return two.says("\"leading\"") && w.lines("log") > 2; }));
  CHECK(w.read("log").starts_with("a one begins\na one ends\na two begins\n"));
  CHECK(one.code() == 0);
}

E2E_CASE("a shard goes to another instance only when the hooks that run for it have ended") {
  World w;
  prepare_long_runs(w);
  std::vector<std::string> names;
  for (int i = 0; i < 12; ++i) names.push_back("site-" + std::to_string(i));
  for (const auto& name : names) w.apply(website(name, "one"));
  const std::vector<std::string> flags = {"--shards", "2", "--concurrency", "16"};
  Contender one(w, "one", flags, kLongLease);
  REQUIRE(w.eventually([&] { return w.lines("log") == names.size(); }));
  Contender two(w, "two", flags, kLongLease);
  INFO(one.tail());
  REQUIRE(w.eventually([&] { return one.says("handing over"); }));
  CHECK(w.holds_for([&] { return w.lines("log") == names.size(); }, Duration{2500}));
  w.file("go", "");
  const auto place = [&](const std::string& line) { return w.read("log").find(line + "\n"); };
  const auto has_gone = [&](const std::string& name) {
    return place(name + " two begins") != std::string::npos;
  };
  REQUIRE(w.eventually([&] { return std::any_of(names.begin(), names.end(), has_gone); }));
  for (const auto& name : names) {
    if (has_gone(name)) CHECK(place(name + " one ends") < place(name + " two begins"));
  }
}

// As in a rolling update: one after the other is ended, and the hooks of the first go on for long.
E2E_CASE("an instance that waits for its last hooks takes no more shards over") {
  World w;
  prepare_long_runs(w);
  w.file("go", "");
  for (int i = 0; i < 24; ++i) w.apply(website("site-" + std::to_string(i), "one"));
  constexpr int kShards = 6;
  const std::vector<std::string> flags = {"--shards", std::to_string(kShards), "--concurrency",
                                          "64",       "--shutdown-timeout",    "60s"};
  Contender one(w, "one", flags, kLongLease);
  Contender two(w, "two", flags, kLongLease);
  Contender three(w, "three", flags, kLongLease);
  const auto of = [&](const std::string& who) {
    std::set<int> out;
    for (int i = 0; i < kShards; ++i) {
      if (holder(w, "lead-" + std::to_string(i)) == who) out.insert(i);
    }
    return out;
  };
  REQUIRE(w.eventually(
      [&] { return of("one").size() == 2 && of("two").size() == 2 && of("three").size() == 2; }));
  ::unlink((w.folder() + "/go").c_str());
  const auto count = [&](const std::string& what) {
    const auto lines = base::split(w.read("log"), '\n');
    return std::count_if(lines.begin(), lines.end(),
                         [&](const std::string& line) { return line.ends_with(what); });
  };
  REQUIRE(w.eventually([&] { return count(" one begins") > count(" one ends"); }));
  const auto had = of("one");
  one.signal(SIGTERM);
  REQUIRE(w.eventually([&] { return one.says("shutting down"); }));
  two.signal(SIGTERM);
  CHECK(two.code() == 0);
  INFO(three.tail());
  REQUIRE(w.eventually([&] { return of("one").size() + of("three").size() == kShards; }));
  CHECK(one.running());
  const auto kept = of("one");
  CHECK_FALSE(kept.empty());
  CHECK(std::includes(had.begin(), had.end(), kept.begin(), kept.end()));
  w.file("go", "");
  CHECK(one.code() == 0);
  CHECK(w.eventually([&] { return of("three").size() == kShards; }));
}

E2E_CASE("a leader that loses its lease ends its hooks and drops what they say") {
  World w;
  prepare(w);
  w.script("reconcile.sh", std::string("[ \"$ME\" = slow ] && { "
                                       "trap 'touch \"$FOLDER/ended\"; exit 0' TERM; "
                                       "touch \"$FOLDER/started\"; sleep 30 & wait; }\n") +
                               kWriteMyName);
  w.apply(website("a", "one"));
  Contender slow(w, "slow", {}, kLongLease);
  REQUIRE(w.eventually([&] { return !w.read("started").empty() || slow.says("\"leading\""); }));
  REQUIRE(w.eventually([&] { return ::access((w.folder() + "/started").c_str(), F_OK) == 0; }));
  // Somebody else is written into the lease.
  w.merge("Lease", "lead", "{spec: {holderIdentity: somebody, leaseDurationSeconds: 3600}}");
  const int code = slow.code();
  INFO(slow.tail());
  CHECK(code == 1);
  CHECK(slow.says("not the leader any more: lost the lease " + w.ns() +
                  "/lead: it is held by somebody"));
  CHECK(::access((w.folder() + "/ended").c_str(), F_OK) == 0);
  CHECK(writer(w).empty());
}

E2E_CASE("a deletion that no leader has lived to tell is told by who takes over") {
  World w;
  w.apply(kWebsiteCrd);
  w.rules(R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Website, namespaces: ['@NS@']}
  onDelete: true
  reconcile: {exec: [./reconcile.sh], output: log, inheritEnv: [ME, FOLDER]}
)");
  w.script("reconcile.sh", R"x(
case "$(cat)" in *'"object":null'*) state=gone ;; *) state=there ;; esac
echo "$KW_NAME $state, says $ME" >> "$FOLDER/runs"
)x");
  w.apply(website("a", "one"));
  // What went is kept for twice as long.
  const std::string lease = "|--lease-duration|15s|--renew-deadline|10s";
  Contender one(w, "one", {}, lease);
  REQUIRE(w.eventually([&] { return w.read("runs") == "a there, says one\n"; }));
  Contender two(w, "two", {}, lease);
  // Its cache is warm: it sees the deletion.
  REQUIRE(w.eventually(
      [&] { return two.says("standing by: held by one") && two.says("controller started"); }));
  one.signal(SIGKILL);
  w.remove("Website", "a");
  INFO(two.tail());
  REQUIRE(w.eventually([&] { return w.lines("runs") > 1; }));
  CHECK(w.read("runs") == "a there, says one\na gone, says two\n");
}

E2E_CASE("shards are shared out, handed over and taken over without two runs at once") {
  World w;
  prepare(w);
  std::set<std::string> names;
  for (int i = 0; i < 14; ++i) names.insert("site-" + std::to_string(i));
  for (const auto& name : names) w.apply(website(name, "one"));
  const std::vector<std::string> flags = {"--shards", "4"};
  const auto run_by = [&] {
    std::set<std::string> out;
    for (const auto& name : names) out.insert(writer(w, name + "-page"));
    return out;
  };
  const auto both = std::set<std::string>{"one", "two"};
  Contender one(w, "one", flags);
  REQUIRE(w.eventually([&] { return run_by() == std::set<std::string>{"one"}; }));
  auto two = std::make_unique<Contender>(w, "two", flags);
  INFO(one.tail());
  REQUIRE(w.eventually([&] { return run_by() == both; }));
  CHECK(one.says("handing over"));
  CHECK(w.holds_for([&] { return run_by() == both; }, Duration{1500}));
  // Graceful: everything comes back. Then again, by a crash.
  two->signal(SIGTERM);
  REQUIRE(w.eventually([&] { return run_by() == std::set<std::string>{"one"}; }));
  CHECK(two->code() == 0);
  Contender three(w, "three", flags);
  REQUIRE(w.eventually([&] { return run_by() == std::set<std::string>{"one", "three"}; }));
  one.signal(SIGKILL);
  REQUIRE(w.eventually([&] { return run_by() == std::set<std::string>{"three"}; }));
  CHECK(w.read("overlaps").empty());
}

E2E_CASE("instances that share objects out differently never run at once") {
  World w;
  prepare(w);
  w.apply(website("site", "one"));
  Contender one(w, "one", {"--shards", "2"});
  REQUIRE(w.eventually([&] { return writer(w, "site-page") == "one"; }));
  Contender two(w, "two", {"--shards", "3"});
  REQUIRE(w.eventually([&] { return two.says("standing by: other instances share"); }));
  CHECK(two.says("2 even shards by hash of names"));
  w.apply(website("site", "two"));
  CHECK(w.holds_for([&] { return writer(w, "site-page") == "one"; }, Duration{1500}));
  one.signal(SIGTERM);
  REQUIRE(w.eventually([&] { return !one.running() && writer(w, "site-page") == "two"; }));
  CHECK(one.code() == 0);
  Contender plain(w, "plain");
  REQUIRE(w.eventually([&] {
    return plain.says("which share the objects out (3 even shards by hash of names); none of them");
  }));
  CHECK(w.read("overlaps").empty());
}

E2E_CASE("shards by namespace watch only the namespaces of their shards") {
  World w;
  prepare(w, "");
  w.apply(website("a", "one"));
  w.apply(
      "{apiVersion: e2e.kubewatch.dev/v1, kind: Website, metadata: {name: b, namespace: '@NS2@'}}");
  const std::vector<std::string> flags = {"--shard-by", "namespace=" + w.ns() + ";" + w.ns2()};
  const auto watches = [&](const Contender& who, const std::string& ns) {
    return who.says("/namespaces/" + ns + "/websites?");
  };
  const auto by = [&](const std::string& name, const std::string& ns) {
    const auto map = w.get("ConfigMap", name + "-page", ns);
    return map ? base::string_at(*map, {"data", "by"}) : "";
  };
  Contender one(w, "one", flags, kLongLease);
  REQUIRE(w.eventually([&] { return by("a", w.ns()) == "one" && by("b", w.ns2()) == "one"; }));
  Contender two(w, "two", flags, kLongLease);
  REQUIRE(w.eventually([&] { return by("a", w.ns()) == "two" || by("b", w.ns2()) == "two"; }));
  const bool has_first = by("a", w.ns()) == "two";
  CHECK(watches(two, has_first ? w.ns() : w.ns2()));
  CHECK_FALSE(watches(two, has_first ? w.ns2() : w.ns()));
  CHECK_FALSE(two.says("/v1/websites?"));
  CHECK(w.read("overlaps").empty());
}

E2E_CASE("shards by label list only the objects that carry their number") {
  World w;
  prepare(w);
  w.apply(website("a", "one", ", labels: {part: '0'}"));
  w.apply(website("b", "one", ", labels: {part: '1'}"));
  w.apply(website("c", "one"));
  const std::vector<std::string> flags = {"--shards", "2", "--shard-by", "label=part"};
  Contender one(w, "one", flags, kLongLease);
  REQUIRE(w.eventually([&] { return writer(w) == "one" && writer(w, "b-page") == "one"; }));
  CHECK(writer(w, "c-page").empty());
  Contender two(w, "two", flags, kLongLease);
  REQUIRE(w.eventually([&] { return writer(w) == "two" || writer(w, "b-page") == "two"; }));
  const bool has_first = writer(w) == "two";
  CHECK(two.says(std::string("labelSelector=part%3D") + (has_first ? "0" : "1")));
  CHECK_FALSE(two.says(std::string("labelSelector=part%3D") + (has_first ? "1" : "0")));
  CHECK(w.read("overlaps").empty());
}

namespace {

// Two shards by the label `part`, each with an instance.
struct TwoParts {
  explicit TwoParts(const std::string& rule, const std::string& script) {
    w.apply(kWebsiteCrd);
    w.rules(rule);
    w.script("reconcile.sh", script);
    w.script("cleanup.sh", "echo \"cleanup $KW_NAME\" >> \"$FOLDER/cleanups\"\n");
    one.emplace(w, "one", kFlags, kLongLease);
    REQUIRE(
        w.eventually([&] { return holder(w, "lead-0") == "one" && holder(w, "lead-1") == "one"; }));
    two.emplace(w, "two", kFlags, kLongLease);
    REQUIRE(
        w.eventually([&] { return holder(w, "lead-0") == "two" || holder(w, "lead-1") == "two"; }));
  }
  void put(const std::string& name, const std::string& title, int part) {
    w.apply(website(name, title, ", labels: {part: '" + std::to_string(part) + "'}"));
  }

  inline static const std::vector<std::string> kFlags = {"--shards", "2", "--shard-by",
                                                         "label=part"};
  World w;
  std::optional<Contender> one;
  std::optional<Contender> two;
};

}  // namespace

E2E_CASE("what a hook says of an object that went to another shard is dropped") {
  TwoParts parts(R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Website, namespaces: ['@NS@']}
  reconcile:
    exec: [./reconcile.sh]
    grace: 1s
    env: {TITLE: {jq: .spec.title}}
    inheritEnv: [ME, FOLDER]
)",
                 R"x(
echo "$ME $TITLE" >> "$FOLDER/runs"
if [ "$TITLE" = slow ]; then sleep 8; fi
printf 'apiVersion: kubewatch.dev/v1\nkind: Result\nstatus: {title: "%s"}\n' "$TITLE"
)x");
  World& w = parts.w;
  const auto title = [&] {
    return base::string_at(w.get("Website", "m").value_or(Json()), {"status", "title"});
  };
  parts.put("m", "slow", 0);
  REQUIRE(w.eventually([&] { return w.lines("runs") == 1; }));
  parts.put("m", "quick", 1);
  REQUIRE(w.eventually([&] { return title() == "quick"; }));
  CHECK(w.holds_for([&] { return title() == "quick"; }, Duration{9500}));
  CHECK((parts.one->says("left this shard") || parts.two->says("left this shard")));
  CHECK(w.lines("runs") == 2);
}

E2E_CASE("an object that goes to another shard is not let go as one that matches no more") {
  TwoParts parts(R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Website, namespaces: ['@NS@'], labelSelector: area=x}
  whenNoLongerMatched: finalize
  reconcile: {shell: "exit 0"}
  finalize: {exec: [./cleanup.sh], inheritEnv: [FOLDER]}
)",
                 "exit 0\n");
  World& w = parts.w;
  const auto put = [&](int part) {
    for (int i = 0; i < 12; ++i) {
      w.apply(website("m" + std::to_string(i), "x",
                      ", labels: {area: x, part: '" + std::to_string(part) + "'}"));
    }
  };
  const auto guarded = [&] {
    const auto all = w.list("Website");
    return all.size() == 12 && std::all_of(all.begin(), all.end(), [](const Json& one) {
             return base::find(one, {"metadata", "finalizers"}) != nullptr;
           });
  };
  put(0);
  REQUIRE(w.eventually(guarded));
  for (int round = 1; round <= 6; ++round) {
    put(round % 2);
    w.holds_for([] { return true; }, Duration{700});
  }
  CHECK(guarded());
  CHECK(w.read("cleanups").empty());
  for (const Json& one : w.list("Website")) {
    REQUIRE(w.try_remove("Website", one["metadata"]["name"], w.ns()));
  }
  CHECK(w.eventually([&] { return w.list("Website").empty(); }));
  INFO(parts.one->tail() << "\n\n" << parts.two->tail() << "\n\n" << w.read("cleanups"));
  CHECK(parts.one->running());  // it would have run cleanups of its own once more
  CHECK(parts.two->running());
  CHECK(w.lines("cleanups") == 12);
}

namespace {

// A leader at work on an object whose hook takes note of TERM, and goes on for ever.
struct StubbornHook {
  explicit StubbornHook(const std::string& lease) {
    w.apply(kWebsiteCrd);
    w.rules(R"(
apiVersion: kubewatch.dev/v1
kind: Controller
metadata: {name: '@NS@'}
spec:
  for: {apiVersion: e2e.kubewatch.dev/v1, kind: Website, namespaces: ['@NS@']}
  reconcile:
    exec: [./reconcile.sh]
    timeout: 20m
    grace: 10m
    inheritEnv: [FOLDER]
)");
    w.script("reconcile.sh", R"x(
trap ': > "$FOLDER/termed"' TERM
echo $$ > "$FOLDER/pid.new"
mv "$FOLDER/pid.new" "$FOLDER/pid"
while :; do sleep 0.1 || :; done
)x");
    w.apply(website("a", "one"));
    leader.emplace(w, "one", std::vector<std::string>{}, lease);
    REQUIRE(w.eventually([&] { return !w.read("pid").empty(); }));
    pid = static_cast<pid_t>(std::stol(w.read("pid")));
    REQUIRE(lives());
  }
  bool lives() const { return ::kill(pid, 0) == 0; }
  bool got_term() const { return ::access((w.folder() + "/termed").c_str(), F_OK) == 0; }

  World w;
  std::optional<Contender> leader;
  pid_t pid = 0;
};

}  // namespace

E2E_CASE("a hook that ignores TERM is killed soon after its leader has lost the lease") {
  // 2 seconds from TERM to KILL: half of what is between the two.
  StubbornHook hook("|--lease-duration|24s|--renew-deadline|20s");
  World& w = hook.w;
  w.merge("Lease", "lead", "{spec: {holderIdentity: somebody, leaseDurationSeconds: 3600}}");
  REQUIRE(w.eventually([&] { return hook.leader->says("not the leader any more"); }));
  INFO(hook.leader->tail());
  // A busy machine may take longer; left alone it has the 10 minutes of its rule.
  CHECK(w.eventually([&] { return !hook.lives(); }, Duration{20000}));
  CHECK(hook.got_term());
  CHECK(hook.leader->code() == 1);
}

E2E_CASE("a hook is killed without TERM where its leader was stopped until the lease had run out") {
  StubbornHook hook("|--lease-duration|9s|--renew-deadline|8s");
  World& w = hook.w;
  hook.leader->signal(SIGSTOP);
  CHECK(w.holds_for([&] { return hook.lives(); }, Duration{9000}));
  hook.leader->signal(SIGCONT);
  const int code = hook.leader->code();
  INFO(hook.leader->tail());
  CHECK(code == 1);
  CHECK(hook.leader->says("not the leader any more"));
  CHECK_FALSE(hook.lives());
  CHECK_FALSE(hook.got_term());
}

}  // namespace kubewatch::e2e
