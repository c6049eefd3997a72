// What runs, explain and finalizers answer on the control socket, and what they have nothing to
// answer to.
#include "hooks/control_requests.hpp"

#include "base/log.hpp"
#include "client/write_gate.hpp"
#include "hooks/kept_reply.hpp"
#include "hooks/scripted_engine.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;
using test::kSite;
using test::list;
using test::object;
using Reply = test::KeptReply;
using test::ScriptedEngine;

namespace {

// A rule web for Websites, of which the server has shop/a, and its requests.
struct Asked {
  explicit Asked(const std::string& spec = "", const std::string& more = "",
                 const std::string& for_more = "")
      : world(spec, for_more) {
    world.transport.answer(200, list(object(kSite, "Website", "4", "{}") + more));
  }
  std::shared_ptr<Reply> ask(const std::string& name, const Json& args) {
    auto reply = std::make_shared<Reply>();
    if (!requests) requests.emplace(*world.engine, world.client);
    requests->handle({name, std::make_shared<const Json>(args)}, reply);
    return reply;
  }
  std::shared_ptr<Reply> runs(const Json& args) { return ask("runs", args); }
  // One more rule; before the start.
  void add_rule(const std::string& name, const std::string& spec) {
    const auto loaded = load_rules({world.folder.write(
        name + ".yaml", "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: " + name +
                            "}\nspec:\n" + spec +
                            "  reconcile: {exec: [./hook.sh, reconcile], output: log}\n")});
    for (const auto& problem : loaded.problems) FAIL(problem.str());
    world.rules.insert(world.rules.end(), loaded.rules.begin(), loaded.rules.end());
  }
  ScriptedEngine world;
  std::optional<ControlRequests> requests;
};

bool is_empty(const Reply& reply) {
  return !reply.failed && reply.results.size() == 1 && reply.results[0]["runs"].empty();
}

}  // namespace

TEST_CASE("runs of a rule that is not there are an error that names it, followed or not") {
  Asked asked;
  asked.world.start();
  for (const bool watch : {false, true}) {
    const auto reply = asked.runs({{"controller", "nosuch"}, {"watch", watch}});
    REQUIRE(reply->failed);
    CHECK(reply->failed->is_not_found());
    CHECK(reply->failed->message() == "there is no rule nosuch; there are web");
  }
  const auto other = asked.runs({{"controller", "nosuch"}, {"kind", "website"}, {"watch", true}});
  REQUIRE(other->failed);
  CHECK(other->failed->message() == "there is no rule nosuch for the kind website; there are web");
  CHECK(is_empty(*asked.runs({{"controller", "web"}})));  // it had none yet
}

TEST_CASE(
    "runs of an object that no rule selects are an error, of one that had none yet are none") {
  Asked asked;
  asked.world.start();
  const auto named = [](const char* name, bool watch) {
    return Json{{"kind", "website"}, {"namespace", "shop"}, {"name", name}, {"watch", watch}};
  };
  // What there is, is not known yet.
  CHECK(is_empty(*asked.runs(named("nosuch", false))));
  asked.world.watch("websites");
  REQUIRE(asked.world.until([&] { return !asked.world.runs.empty(); }));
  const auto reply = asked.runs(named("nosuch", false));
  REQUIRE(reply->failed);
  CHECK(reply->failed->is_not_found());
  CHECK(reply->failed->message() ==
        "no rule selects Website shop/nosuch, or there is none; explain KIND/NAME says why");
  CHECK(is_empty(*asked.runs(named("a", false))));
  // It may come.
  const auto followed = asked.runs(named("nosuch", true));
  CHECK(is_empty(*followed));
  CHECK(followed->is_open());
  asked.requests->on_run(asked.world.runs[0]);
  REQUIRE(asked.runs(named("a", false))->results.size() == 1);
  CHECK(asked.runs(named("a", false))->results[0]["runs"].size() == 1);
}

TEST_CASE(
    "runs of an object that several rules run are in the order of their ends, the newest kept") {
  Asked asked;
  asked.add_rule("also", "  for: {apiVersion: demo.dev/v1, kind: Website}\n");
  asked.world.start();
  asked.world.watch("websites");
  const Json args = {{"kind", "website"}, {"namespace", "shop"}, {"name", "a"}};
  CHECK(is_empty(*asked.runs(args)));
  for (const char* rule : {"web", "also", "web", "also", "web"}) {
    RunRecord run;
    run.controller = rule;
    run.object = "Website shop/a";
    run.key = {"shop", "a"};
    asked.requests->on_run(run);
  }
  const auto numbers = [&](const Json& wanted) {
    Json out = Json::array();
    const auto answer = asked.runs(wanted);
    for (const Json& run : answer->results.at(0)["runs"]) out.push_back(run["number"]);
    return out;
  };
  CHECK(numbers(args) == Json{1, 2, 3, 4, 5});
  Json limited = args;
  limited["limit"] = 2;
  CHECK(numbers(limited) == Json{4, 5});
}

TEST_CASE("a rule without `for` is explained by its name, and no kind is asked of it") {
  Asked asked;
  asked.world.rules.clear();
  asked.add_rule("nightly", "  schedule: \"0 3 1 1 *\"\n");
  asked.world.start();
  REQUIRE(asked.world.until(
      [&] { return !asked.world.runs.empty() && asked.world.engine->status().idle; }));
  for (const char* request : {"explain", "runs", "trigger", "finalizers"}) {
    INFO(request);
    const auto reply = asked.ask(request, {{"kind", "website"}, {"name", "a"}});
    REQUIRE(reply->failed);
    CHECK(reply->failed->is_not_found());
    CHECK(
        reply->failed->message() ==
        "no rule is for the kind website; nightly has no `for`: name such a rule by --controller");
  }
  asked.requests->on_run(asked.world.runs[0]);
  const auto reply = asked.ask("explain", {{"controller", "nightly"}});
  REQUIRE(reply->results.size() == 1);
  const Json& rule = reply->results[0]["rules"].at(0);
  CHECK(rule["controller"] == "nightly");
  CHECK(rule["object"] == "<none>");
  CHECK(rule["state"] == "scheduled");
  CHECK(rule["nextRunMilliseconds"].get<std::int64_t>() > 0);
  CHECK(rule["details"].dump().find("its last run ended") != std::string::npos);
  const auto none = asked.ask("explain", {{"controller", "hourly"}});
  REQUIRE(none->failed);
  CHECK(none->failed->message() == "there is no rule hourly; there are nightly");
}

TEST_CASE("trigger runs the objects of the rule that it is asked for alone") {
  Asked asked;
  asked.add_rule("also", "  for: {apiVersion: demo.dev/v1, kind: Website}\n");
  asked.world.start();
  REQUIRE(asked.world.until([&] { return asked.world.runs.size() == 2; }));
  const Json args = {{"kind", "website"}, {"namespace", "shop"}, {"name", "a"}};
  CHECK(asked.ask("trigger", args)->results.at(0)["triggered"] == 2);
  Json one = args;
  one["controller"] = "also";
  const auto reply = asked.ask("trigger", one);
  REQUIRE(reply->results.size() == 1);
  CHECK(reply->results[0]["objects"] == Json{"also: Website shop/a"});
  one["controller"] = "aslo";
  const auto none = asked.ask("trigger", one);
  REQUIRE(none->failed);
  CHECK(none->failed->message() ==
        "there is no rule aslo for the kind website; there are web, also");
}

TEST_CASE("explain is of the rule that it is asked for, and of an object where that has some") {
  Asked asked;
  asked.add_rule("also", "  for: {apiVersion: demo.dev/v1, kind: Website}\n");
  asked.world.start();
  const Json args = {{"kind", "website"}, {"namespace", "shop"}, {"name", "a"}};
  CHECK(asked.ask("explain", args)->results.at(0)["rules"].size() == 2);
  Json one = args;
  one["controller"] = "also";
  const auto reply = asked.ask("explain", one);
  REQUIRE(reply->results.size() == 1);
  REQUIRE(reply->results[0]["rules"].size() == 1);
  CHECK(reply->results[0]["rules"][0]["controller"] == "also");
  const auto no_object = asked.ask("explain", {{"controller", "also"}});
  REQUIRE(no_object->failed);
  CHECK(no_object->failed->message() == "also is for objects of the kind Website: name one");
  one["controller"] = "nosuch";
  const auto none = asked.ask("explain", one);
  REQUIRE(none->failed);
  CHECK(none->failed->message() ==
        "there is no rule nosuch for the kind website; there are web, also");
}

TEST_CASE(
    "finalizers of an object that no rule selects are an error, of one that is not held none") {
  Asked asked;
  asked.world.start();
  const auto named = [](const char* name) {
    return Json{{"kind", "website"}, {"namespace", "shop"}, {"name", name}};
  };
  // What there is, is not known yet, and said to be so.
  const auto early = asked.ask("finalizers", named("nosuch"));
  REQUIRE(early->results.size() == 1);
  CHECK(early->results[0] ==
        Json{{"objects", Json::array()}, {"notStarted", Json::array({"web"})}});
  asked.world.watch("websites");
  REQUIRE(asked.world.until([&] { return !asked.world.runs.empty(); }));
  const auto reply = asked.ask("finalizers", named("nosuch"));
  REQUIRE(reply->failed);
  CHECK(reply->failed->is_not_found());
  CHECK(reply->failed->message() ==
        "no rule selects Website shop/nosuch, or there is none; explain KIND/NAME says why");
  const auto free = asked.ask("finalizers", named("a"));
  REQUIRE(free->results.size() == 1);
  CHECK(free->results[0] == Json{{"objects", Json::array()}});
}

TEST_CASE("an answer that has no room for all that finalizers hold says that there are more") {
  const auto held = [](int count) {
    std::string out;
    for (int i = 0; i < count; ++i) {
      const std::string name = std::to_string(i);
      out += R"(,{"apiVersion":"demo.dev/v1","kind":"Website","metadata":{"name":"h)" + name +
             R"(","namespace":"shop","uid":"u)" + name +
             R"(","resourceVersion":"4","deletionTimestamp":"2026-01-01T00:00:00Z",)"
             R"("finalizers":["kubewatch.dev/web"]},"spec":{}})";
    }
    return out;
  };
  for (const int count : {2000, 2001}) {
    INFO(count);
    Asked asked("", held(count));
    asked.world.start();
    REQUIRE(
        asked.world.until([&] { return asked.world.engine->drivers().at(0)->status().started; }));
    const auto reply = asked.ask("finalizers", Json::object());
    REQUIRE(reply->results.size() == 1);
    CHECK(reply->results[0]["objects"].size() == 2000);
    CHECK(reply->results[0].value("more", false) == (count > 2000));
  }
}

TEST_CASE("of many objects those of the namespace that is chosen are triggered, told and let go") {
  Asked asked;
  asked.world.start();
  test::ScriptedCall& stream = asked.world.watch("websites");
  stream.head(200);
  REQUIRE(asked.world.until([&] { return !asked.world.runs.empty(); }));
  stream.data(test::event(object(kSite, "Website", "6", "{}",
                                 R"(,"deletionTimestamp":"2026-01-01T00:00:00Z",)"
                                 R"("finalizers":["kubewatch.dev/web"])")));
  const auto in = [](const char* chosen, Json args) {
    args["onlyNamespace"] = chosen;
    return args;
  };
  REQUIRE(asked.ask("trigger", in("blog", {{"all", true}}))->failed);
  CHECK(asked.ask("trigger", in("shop", {{"all", true}}))->results.at(0)["triggered"] == 1);
  asked.requests->on_run(asked.world.runs.at(0));
  CHECK(asked.runs(in("blog", Json::object()))->results.at(0)["runs"].empty());
  CHECK_FALSE(asked.runs(in("shop", Json::object()))->results.at(0)["runs"].empty());
  const auto held = [&](const char* chosen) {
    return asked.ask("finalizers", in(chosen, {{"release", false}}))->results.at(0)["objects"];
  };
  CHECK(held("blog").empty());
  CHECK(held("shop").size() == 1);
  const Json selected = {{"selector", "!absent"}};
  REQUIRE(asked.ask("trigger", in("blog", selected))->failed);
  CHECK(asked.ask("trigger", in("shop", selected))->results.at(0)["triggered"] == 1);
  const auto sent = asked.world.transport.size();
  const Json let_go = {{"release", true}};
  CHECK(asked.ask("finalizers", in("blog", let_go))->results.at(0)["objects"].empty());
  CHECK(asked.world.transport.size() == sent);
}

TEST_CASE("a rule without `for` is in no namespace that is chosen, unless it is named") {
  Asked asked;
  asked.add_rule("nightly", "  schedule: \"0 3 1 1 *\"\n");
  asked.world.start();
  REQUIRE(asked.world.until([&] { return asked.world.runs.size() == 2; }));
  Json args = {{"all", true}};
  CHECK(asked.ask("trigger", args)->results.at(0)["triggered"] == 2);
  args["onlyNamespace"] = "shop";
  CHECK(asked.ask("trigger", args)->results.at(0)["objects"] == Json{"web: Website shop/a"});
  args["controller"] = "nightly";
  CHECK(asked.ask("trigger", args)->results.at(0)["objects"] == Json{"nightly: <none>"});
}

TEST_CASE("a trigger that another instance would have to take says so") {
  Asked asked;
  hooks::EngineOptions options;
  options.shards.emplace().count = 2;
  asked.world.start(options);
  asked.world.engine->lead(0);
  asked.world.engine->lead(1);
  asked.world.watch("websites");
  REQUIRE(asked.world.until([&] { return asked.world.runs.size() == 1; }));
  Json args = {{"kind", "website"}, {"namespace", "shop"}, {"name", "nosuch"}};
  CHECK(asked.ask("trigger", args)->failed->is_not_found());
  args["name"] = "a";
  CHECK(asked.ask("trigger", args)->results.at(0)["triggered"] == 1);
  asked.world.engine->end_runs(0, [] {});
  asked.world.engine->end_runs(1, [] {});
  auto reply = asked.ask("trigger", args);
  REQUIRE(reply->failed);
  CHECK(reply->failed->message() ==
        "Website shop/a: another instance leads its shard; ask that one");
  struct Shut : client::WriteGate {
    Result<Duration> admit() override { return Error(ErrorKind::canceled, "shut"); }
  } shut;
  asked.world.client.set_write_gate(&shut);
  reply = asked.ask("trigger", {{"kind", "website"}, {"all", true}});
  asked.world.client.set_write_gate(nullptr);
  REQUIRE(reply->failed);
  CHECK(reply->failed->message().starts_with("this instance may not write now"));
}

TEST_CASE("what is of a shard by namespace that is led elsewhere, another instance is asked") {
  Asked asked;
  hooks::EngineOptions options;
  options.shards = *parse_shard_plan("namespace=shop;blog", std::nullopt);
  asked.world.start(options);
  const auto named = [](const char* ns, const char* kind = "website") {
    return Json{{"kind", kind}, {"namespace", ns}, {"name", "a"}};
  };
  const auto explained = [&](const char* ns) {
    const auto reply = asked.ask("explain", named(ns));
    REQUIRE(reply->results.size() == 1);
    REQUIRE(reply->results[0]["rules"].size() == 1);
    return reply->results[0]["rules"][0];
  };
  const auto refused = [&](const char* request, const Json& args) {
    const auto reply = asked.ask(request, args);
    REQUIRE(reply->failed);
    return *reply->failed;
  };
  const std::string another = "Website blog/a: another instance leads its shard; ask that one";
  const bool leads = GENERATE(false, true);
  CAPTURE(leads);
  if (leads) {
    asked.world.engine->lead(0);
    asked.world.watch("websites");
    REQUIRE(asked.world.until([&] { return asked.world.runs.size() == 1; }));
    CHECK(explained("shop")["state"] != "other-shard");
  } else {
    CHECK(explained("shop")["state"] == "other-shard");
    CHECK(asked.ask("queue", Json::object())->results.at(0)["controllers"].at(0)["started"] ==
          false);
    CHECK(refused("finalizers", {{"kind", "website"}}).kind() == ErrorKind::unavailable);
  }
  CHECK(explained("blog")["state"] == "other-shard");
  CHECK(explained("blog")["object"] == "Website blog/a");
  CHECK(explained("other")["text"] == "namespace other is in none of the shards");
  for (const char* request : {"trigger", "runs", "finalizers"}) {
    INFO(request);
    CHECK(refused(request, named("blog")).kind() == ErrorKind::unavailable);
    CHECK(refused(request, named("blog")).message() == another);
    CHECK(refused(request, named("other")).is_not_found());
    CHECK(refused(request, named("blog", "pod"))
              .message()
              .starts_with("no rule is for the kind pod; there are rules for Website"));
  }
  CHECK(refused("trigger", {{"controller", "nosuch"}, {"all", true}}).message() ==
        "there is no rule nosuch; there are web");
}

TEST_CASE("what is of a shard by label that is led elsewhere, another instance is asked") {
  Asked asked;
  hooks::EngineOptions options;
  options.shards = *parse_shard_plan("label=part", 2);
  asked.world.start(options);
  const Json args = {{"kind", "website"}, {"namespace", "shop"}, {"name", "b"}};
  CHECK(asked.ask("explain", args)->results.at(0)["rules"].at(0)["state"] == "other-shard");
  asked.world.engine->lead(0);
  asked.world.watch("websites");
  REQUIRE(asked.world.until([&] { return asked.world.engine->drivers().at(0)->status().started; }));
  std::string other = object(kSite, "Website", "6", "{}", R"(,"labels":{"part":"1"})");
  other.replace(other.find("\"a\""), 3, "\"b\"");
  asked.world.transport.route("GET", "/apis/demo.dev/v1/namespaces/shop/websites/b", 200, other);
  const auto reply = asked.ask("explain", args);
  REQUIRE(asked.world.until([&] { return !reply->results.empty(); }));
  CHECK(reply->results[0]["rules"].at(0)["state"] == "other-shard");
  const auto trigger = asked.ask("trigger", args);
  REQUIRE(trigger->failed);
  CHECK(trigger->failed->kind() == ErrorKind::unavailable);
  CHECK(trigger->failed->message().starts_with("Website shop/b: it is in none of the shards"));
}

TEST_CASE("an instance that may not write does not say that nothing is parked") {
  Asked asked;
  asked.world.start();
  asked.world.watch("websites");
  REQUIRE(asked.world.until([&] { return asked.world.runs.size() == 1; }));
  CHECK(asked.ask("retry", Json::object())->results.at(0)["triggered"] == 0);
  struct Shut : client::WriteGate {
    Result<Duration> admit() override { return Error(ErrorKind::canceled, "shut"); }
  } shut;
  asked.world.client.set_write_gate(&shut);
  const auto reply = asked.ask("retry", Json::object());
  asked.world.client.set_write_gate(nullptr);
  REQUIRE(reply->failed);
  CHECK(reply->failed->message().starts_with("this instance may not write now"));
}

TEST_CASE("what was run by its name against the filter, and is parked, is retried") {
  Asked asked("  retry: {exits: {1: permanent}}\n", "", ", filter: .spec.on");
  asked.world.folder.script("hook.sh");
  asked.world.folder.write("hook.sh", "#!/bin/sh\nexit 1\n");
  asked.world.start();
  asked.world.watch("websites");
  REQUIRE(asked.world.until([&] { return asked.world.engine->status().idle; }));
  const Json args = {{"kind", "website"}, {"namespace", "shop"}, {"name", "a"}};
  CHECK(asked.ask("trigger", args)->results.at(0)["triggered"] == 1);
  const auto parked = [&](std::size_t runs) {
    return asked.world.until([&] {
      return asked.world.runs.size() == runs && asked.world.engine->status().parked == 1;
    });
  };
  REQUIRE(parked(1));
  CHECK(asked.ask("retry", Json::object())->results.at(0)["triggered"] == 1);
  REQUIRE(parked(2));
  asked.world.folder.write("hook.sh", "#!/bin/sh\nexit 0\n");
  CHECK(asked.ask("retry", Json::object())->results.at(0)["triggered"] == 1);
  REQUIRE(asked.world.until([&] { return asked.world.runs.size() == 3; }));
  REQUIRE(asked.world.until([&] { return asked.world.engine->status().idle; }));
  CHECK(asked.world.engine->status().parked == 0);
  // It is done: the filter counts again.
  CHECK(asked.ask("trigger", {{"kind", "website"}, {"all", true}})->failed);
}

TEST_CASE("the clock of a rule without `for` that is parked is not in its queue") {
  Asked asked;
  asked.world.rules.clear();
  asked.add_rule("nightly", "  schedule: \"0 3 1 1 *\"\n  retry: {maxAttempts: 1}\n");
  asked.world.start();
  REQUIRE(asked.world.until([&] { return asked.world.runs.size() == 1; }));
  const auto queue = [&] { return asked.ask("queue", Json::object())->results.at(0); };
  CHECK(queue()["controllers"].at(0).contains("scheduleInMilliseconds"));
  asked.world.folder.script("hook.sh");
  asked.world.folder.write("hook.sh", "#!/bin/sh\nexit 1\n");
  CHECK(asked.ask("trigger", {{"controller", "nightly"}, {"all", true}})->results.size() == 1);
  REQUIRE(asked.world.until([&] { return asked.world.runs.size() == 2; }));
  REQUIRE(asked.world.until([&] { return queue()["controllers"].at(0)["parked"] == 1; }));
  CHECK_FALSE(queue()["controllers"].at(0).contains("scheduleInMilliseconds"));
}

TEST_CASE("log-level says and changes the level in general, which a filter may have set") {
  Asked asked;
  asked.world.start();
  base::LogOptions options;
  options.filter = *base::LogFilter::parse("error,client=6");
  base::configure_log(options);
  const auto shown = asked.ask("log-level", Json::object());
  const auto changed = asked.ask("log-level", {{"level", 3}});
  const int all = base::log_verbosity();
  base::configure_log({});
  CHECK(shown->results.at(0) == Json{{"verbosity", -2}, {"was", -2}});
  CHECK(changed->results.at(0) == Json{{"verbosity", 3}, {"was", -2}});
  CHECK(all == 6);  // of the client's lines
}

TEST_CASE("the queue shows the objects of the namespace that is chosen, however few may be shown") {
  std::string other = object(kSite, "Website", "4", "{}");
  other.replace(other.find("shop"), 4, "blog");
  other.replace(other.find("u-Website"), 9, "u-other");
  Asked asked("  resync: 1h\n", "," + other);
  asked.world.start();
  asked.world.watch("websites");
  REQUIRE(asked.world.until(
      [&] { return asked.world.runs.size() == 2 && asked.world.engine->status().idle; }));
  const auto objects = [&](const Json& args) {
    const auto reply = asked.ask("queue", args);
    REQUIRE(reply->results.size() == 1);
    const Json& controller = reply->results[0]["controllers"].at(0);
    CHECK(controller["waiting"] == 2);
    std::vector<std::string> out;
    for (const Json& one : controller["objects"]) out.push_back(one["object"]);
    return out;
  };
  CHECK(objects(Json::object()).size() == 2);
  for (const char* const name : {"shop", "blog"}) {
    CHECK(objects({{"onlyNamespace", name}, {"limit", 1}}) ==
          std::vector<std::string>{std::string("Website ") + name + "/a"});
  }
  CHECK(objects({{"onlyNamespace", "nosuch"}}).empty());
}
