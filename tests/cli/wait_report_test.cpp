// The report of a wait, rendered: text, JSON, JUnit, GitHub; and the table of a terminal.
#include <algorithm>
#include <sstream>

#include "base/json.hpp"
#include "cli/wait/report.hpp"
#include "cli/wait/view.hpp"
#include "cli/wait/waiter.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::cli;
using runtime::Judgement;
using runtime::WaitedObject;
using runtime::WaitState;

namespace {

WaitedObject deployment(const std::string& name, WaitState state, const std::string& current) {
  WaitedObject out;
  out.type.gvk = {"apps", "v1", "Deployment"};
  out.type.plural = "deployments";
  out.type.singular = "deployment";
  out.key = {"shop", name};
  out.uid = "u-" + name;
  out.resource_version = "7";
  out.state = state;
  out.condition = "ready";
  out.judgement.state = state == WaitState::met ? Judgement::State::met : Judgement::State::not_met;
  out.judgement.current = current;
  out.judgement.wanted = "availableReplicas=3";
  out.judgement.rule = "Deployment: availableReplicas";
  out.conditions = {{"ready", out.judgement}};
  return out;
}

WaitReport report() {
  WaitReport out;
  out.outcome = "timedOut";
  out.exit_code = 3;
  out.elapsed = Duration{1500};
  out.wanted = {"ready"};
  out.objects = {deployment("web", WaitState::met, "Current: 3 replicas are available"),
                 deployment("db", WaitState::not_met, "1 of 3 <replicas>, 50% \x1b[31m")};
  out.objects[1].cause = "pod db-0: container a: exit code 1\nsecond";
  return out;
}

}  // namespace

TEST_CASE("a report as text: what is met goes to stdout as kubectl says it, the rest to stderr") {
  CHECK(met_lines(report()) == "deployment.apps/web condition met\n");
  WaitReport tabs = report();
  tabs.objects.front().type.gvk = {"shop.example.com", "v1", "CronTab"};
  tabs.objects.front().type.singular = "ct";
  CHECK(met_lines(tabs) == "crontab.shop.example.com/web condition met\n");
  const std::string errors = error_lines(report());
  CHECK(errors.find("error: timed out waiting for ready on deployments.apps/db: 1 of 3 ") == 0);
  CHECK(errors.find("\n  wanted: availableReplicas=3 (rule: Deployment: availableReplicas)\n") !=
        std::string::npos);
  CHECK(errors.find("\n  cause: pod db-0: container a: exit code 1") != std::string::npos);
  CHECK(errors.find('\x1b') == std::string::npos);
  CHECK(errors.find("apps/web") == std::string::npos);
}

TEST_CASE("nothing that a server says begins a line") {
  WaitReport told = report();
  told.objects[1].judgement.current = "x\n::error::injected";
  told.objects[1].judgement.wanted = "y\n::error::injected";
  told.objects[1].cause = "z\r\n::error::injected";
  told.message = "m\n::error::injected";
  const std::string errors = error_lines(told);
  CHECK(errors.find("injected") != std::string::npos);
  CHECK(errors.find("\n::") == std::string::npos);
  CHECK(errors.find('\r') == std::string::npos);
  CHECK(std::count(errors.begin(), errors.end(), '\n') == 4);
}

TEST_CASE("objects of several namespaces are told with theirs") {
  WaitReport two = report();
  two.several_namespaces = true;
  CHECK(met_lines(two) == "deployment.apps/web condition met in namespace shop\n");
  CHECK(error_lines(two).find("on deployments.apps/db in namespace shop: 1 of 3") !=
        std::string::npos);
}

TEST_CASE("when one object has failed the others are notes, not errors") {
  WaitReport failed = report();
  failed.outcome = "failed";
  failed.exit_code = 4;
  failed.objects.push_back(deployment("bad", WaitState::failed, "Failed: deadline"));
  const std::string errors = error_lines(failed);
  CHECK(errors.find("error: deployments.apps/bad failed while waiting for ready: Failed: "
                    "deadline\n") == 0);
  CHECK(errors.find("note: was waiting for") == std::string::npos);
  CHECK(errors.find("note: deployments.apps/db") != std::string::npos);
}

TEST_CASE("a report as JSON says for each object what decided, and is exact") {
  const Json json = report_json(report());
  CHECK(json["apiVersion"] == "kubewatch.dev/v1");
  CHECK(json["kind"] == "WaitReport");
  CHECK(json["outcome"] == "timedOut");
  CHECK(json["exitCode"] == 3);
  CHECK(json["elapsedMilliseconds"] == 1500);
  const Json& db = json["objects"][1];
  CHECK(db["state"] == "notMet");
  CHECK(db["namespace"] == "shop");
  CHECK(db["resource"] == "deployments.apps");
  CHECK(db["decidedBy"]["current"] == "1 of 3 <replicas>, 50% \x1b[31m");
  CHECK(db["decidedBy"]["wanted"] == "availableReplicas=3");
  CHECK(db["cause"] == "pod db-0: container a: exit code 1\nsecond");
  CHECK_FALSE(json.contains("message"));
}

TEST_CASE("a report as JUnit counts failures and escapes what XML cannot hold") {
  const std::string xml = report_junit(report());
  CHECK(xml.find("tests=\"2\" failures=\"1\" time=\"1.500\"") != std::string::npos);
  CHECK(xml.find("<testcase classname=\"apps/v1.Deployment\" name=\"shop/deployments.apps/web\" "
                 "time=\"1.500\"/>") != std::string::npos);
  CHECK(xml.find("&lt;replicas&gt;") != std::string::npos);
  CHECK(xml.find('\x1b') == std::string::npos);
  WaitReport few = report();
  few.message = "1 match, at least 3 are wanted";
  CHECK(report_junit(few).find("tests=\"3\" failures=\"2\"") != std::string::npos);
}

TEST_CASE("a report as GitHub annotations is one line each, escaped as workflow commands are") {
  const std::string text = report_github(report());
  CHECK(text.find("::notice title=shop/deployments.apps/web::condition met\n") == 0);
  CHECK(text.find("::error title=shop/deployments.apps/db::timed out waiting for ready on "
                  "deployments.apps/db: 1 of 3 <replicas>, 50%25 ") != std::string::npos);
  CHECK(text.find("%0A  cause: ") != std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
}

TEST_CASE("the table of a terminal stays within it, and shows what is not met first") {
  std::vector<WaitedObject> objects;
  for (int i = 0; i < 30; ++i) {
    objects.push_back(deployment("web-" + std::to_string(i),
                                 i == 29 ? WaitState::not_met : WaitState::met,
                                 std::string(200, 'x') + "\x1b[2J\n"));
  }
  const std::string table = wait_table(objects, "waiting for ready", {60, 10, false});
  CHECK(std::count(table.begin(), table.end(), '\n') <= 9);
  CHECK(table.find("web-29") < table.find("web-0 "));
  CHECK(table.find("... and 23 more") != std::string::npos);
  CHECK(table.find('\x1b') == std::string::npos);
  std::size_t longest = 0;
  std::size_t start = 0;
  for (std::size_t end = table.find('\n'); end != std::string::npos;
       end = table.find('\n', start)) {
    longest = std::max(longest, end - start);
    start = end + 1;
  }
  CHECK(longest <= 59);
  CHECK(wait_table(objects, "x", {60, 10, true}).find("\x1b[33mwaiting\x1b[0m") !=
        std::string::npos);
}

TEST_CASE("elsewhere a line is told for each change, and not more often than can be read") {
  std::ostringstream err;
  WaitView view(err, WaitViewMode::lines, false);
  TimePoint now{};
  const auto show = [&](WaitState state, const std::string& current) {
    return view.update({deployment("web", state, current)}, "head", now);
  };
  CHECK_FALSE(show(WaitState::not_met, "1 of 3"));
  CHECK_FALSE(show(WaitState::not_met, "1 of 3"));
  CHECK(show(WaitState::not_met, "2 of 3"));  // too soon
  now += Duration{1000};
  CHECK_FALSE(show(WaitState::not_met, "2 of 3"));
  show(WaitState::met, "3 of 3");  // another state is told at once
  CHECK(err.str() ==
        "deployments.apps/web: waiting: 1 of 3\n"
        "deployments.apps/web: waiting: 2 of 3\n"
        "deployments.apps/web: met: 3 of 3\n");
  CHECK(err.str().find('\x1b') == std::string::npos);
}

TEST_CASE("of many objects one line tells the sum, and only when it changes") {
  std::ostringstream err;
  WaitView view(err, WaitViewMode::lines, false);
  const std::vector<WaitedObject> many(30, deployment("web", WaitState::not_met, "x"));
  view.update(many, "waiting: 1 of 30, 3s of 30s", TimePoint{});
  view.update(many, "waiting: 1 of 30, 9s of 30s", TimePoint{Duration{6000}});
  view.update(many, "waiting: 2 of 30, 12s of 30s", TimePoint{Duration{9000}});
  CHECK(err.str() == "waiting: 1 of 30\nwaiting: 2 of 30\n");
}

TEST_CASE("of several namespaces the lines and the table name each object's") {
  auto here = deployment("web", WaitState::not_met, "a");
  auto there = here;
  here.key.namespace_ = "blog";
  there.key.namespace_ = "shop";
  std::ostringstream err;
  WaitView view(err, WaitViewMode::lines, false);
  view.update({here, there}, "head", {});
  CHECK(err.str() ==
        "deployments.apps/web in namespace blog: waiting: a\n"
        "deployments.apps/web in namespace shop: waiting: a\n");
  CHECK(wait_table({here, there}, "head", {90, 24, false}).find("web in namespace shop") !=
        std::string::npos);
  CHECK(wait_table({here}, "head", {90, 24, false}).find("in namespace") == std::string::npos);
}

TEST_CASE("a redrawn table takes the last one away by exactly its lines") {
  std::ostringstream err;
  WaitView view(err, WaitViewMode::table, false);
  view.update({deployment("web", WaitState::not_met, "a")}, "head", {});
  CHECK(err.str().find("\x1b[") == std::string::npos);
  view.update({deployment("web", WaitState::not_met, "b")}, "head", {});
  CHECK(err.str().find("\x1b[2A\r\x1b[J") != std::string::npos);
  view.clear();
  const std::string drawn = err.str();
  view.clear();
  CHECK(err.str() == drawn);
}

TEST_CASE("flags of a wait that make no sense are refused, with a caret where there is a place") {
  const auto refused = [](WaitFlags flags) {
    const auto goal = wait_goal_of(flags);
    return goal.ok() ? std::string() : goal.error().render();
  };
  WaitFlags path;
  path.conditions = {"jsonpath={.status.phase[}=x"};
  const std::string said = refused(path);
  CHECK(said.find("--for: invalid JSONPath") == 0);
  const auto line = said.find("\n  ");
  REQUIRE(line != std::string::npos);
  CHECK(said.back() == '^');
  WaitFlags hold;
  hold.conditions = {"ready"};
  hold.hold = Duration{60000};
  CHECK(refused(hold) == "--hold 1m can never be met before the deadline of 30s");
  hold.timeout = Duration{-1};
  CHECK(refused(hold).empty());
  WaitFlags grace;
  grace.conditions = {"ready"};
  grace.strict_grace = Duration{1};
  CHECK(refused(grace) == "--strict-grace needs --strict");
  WaitFlags fail;
  fail.conditions = {"ready"};
  fail.fail_if = {"nonsense"};
  CHECK(refused(fail).find("--fail-if: unrecognized condition") == 0);
}
