// What a hook gets: the document on stdin and the environment.
#include "hooks/invocation.hpp"

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

struct World {
  Invocation run;
  core::ObjectMeta meta;
  HookRule hook;
  base::Random random{1};
  EnvironmentPart part = EnvironmentPart::all;

  World() {
    run.id = "abc";
    run.controller = "website";
    run.reason = runtime::Reason::owned_changed;
    run.attempt = 2;
    run.object = R"({"spec":{"title":"A \"b\"","replicas":3,"list":[1,"x"],"none":null}})";
    meta.api_version = "demo.kubewatch.dev/v1";
    meta.kind = "Website";
    meta.namespace_ = "shop";
    meta.name = "a";
    meta.uid = "uid-1";
    meta.generation = 4;
  }

  Result<HookEnvironment> environment() {
    const EnvironmentInput input{run,
                                 meta,
                                 hook,
                                 "/work",
                                 "/home/x",
                                 [](const std::string& name) -> std::optional<std::string> {
                                   if (name == "LANG") return "C.UTF-8";
                                   return std::nullopt;
                                 },
                                 [](const std::string& path, std::size_t) -> Result<std::string> {
                                   if (path == "/key") return std::string("s3cret\n");
                                   if (path == "/nul") return std::string("a\0b", 3);
                                   return Error(ErrorKind::not_found, path + " does not exist");
                                 },
                                 part};
    return build_environment(input, random);
  }
  std::string value(const std::string& name) {
    const auto built = environment();
    if (!built.ok()) return "error: " + built.error().render();
    for (const std::string& variable : built->variables) {
      if (variable.rfind(name + "=", 0) == 0) return variable.substr(name.size() + 1);
    }
    return "(unset)";
  }
  void set_jq(const std::string& name, const std::string& program) {
    hook.env[name].jq = *jq::Program::compile(program);
  }
};

InputList list(const std::string& name, const std::string& kind, std::vector<std::string> objects,
               const std::string& version) {
  InputList out{name, {"demo.dev", "v1", kind}, std::move(objects)};
  out.resource_version = version;
  return out;
}

Json state(const std::string& name, const std::string& kind, Json more) {
  more["of"] = name.empty() ? "owned" : "related";
  if (!name.empty()) more["name"] = name;
  more["apiVersion"] = "demo.dev/v1";
  more["kind"] = kind;
  return more;
}

}  // namespace

TEST_CASE("the document has every key of the contract, raw objects inside") {
  World world;
  world.run.reason_object = "v1 ConfigMap shop/settings";
  world.run.owned = {list("", "A", {R"({"kind":"A"})"}, "7"), list("", "None", {}, "8"),
                     list("", "B", {R"({"kind":"B"})"}, "9")};
  world.run.related = {list("config", "C", {R"({"kind":"C"})"}, "10"), list("empty", "D", {}, "")};
  world.run.related[1].absent = true;
  const auto document = base::parse_json(build_document(world.run));
  REQUIRE(document.ok());
  CHECK(*document ==
        Json{{"apiVersion", "kubewatch.dev/v1"},
             {"kind", "Invocation"},
             {"id", "abc"},
             {"controller", "website"},
             {"reason",
              {{"type", "OwnedChanged"},
               {"object",
                {{"apiVersion", "v1"},
                 {"kind", "ConfigMap"},
                 {"namespace", "shop"},
                 {"name", "settings"}}}}},
             {"attempt", 2},
             {"finalizing", false},
             {"object", *base::parse_json(world.run.object)},
             {"previous", nullptr},
             {"owned", {{{"kind", "A"}}, {{"kind", "B"}}}},
             {"related", {{"config", Json::array({{{"kind", "C"}}})}, {"empty", Json::array()}}},
             {"lists",
              {state("", "A", {{"resourceVersion", "7"}, {"complete", true}}),
               state("", "None", {{"resourceVersion", "8"}, {"complete", true}}),
               state("", "B", {{"resourceVersion", "9"}, {"complete", true}}),
               state("config", "C", {{"resourceVersion", "10"}, {"complete", true}}),
               state("empty", "D", {{"complete", true}, {"absent", true}})}}});
}

TEST_CASE("lists in files are named in the document, and not in it") {
  World world;
  world.run.owned = {list("", "A", {R"({"kind":"A"})"}, "7")};
  world.run.related = {list("config", "C", {R"({"kind":"C"})"}, "10")};
  world.run.owned[0].file = "/proc/1/fd/7";
  world.run.related[0].file = "/proc/1/fd/8";
  const auto document = base::parse_json(build_document(world.run, ListsIn::files));
  REQUIRE(document.ok());
  const auto at = [](const char* version, const char* file) {
    return Json{{"resourceVersion", version}, {"complete", true}, {"file", file}};
  };
  CHECK((*document)["lists"] == Json{state("", "A", at("7", "/proc/1/fd/7")),
                                     state("config", "C", at("10", "/proc/1/fd/8"))});
  CHECK_FALSE(document->contains("owned"));
  CHECK_FALSE(document->contains("related"));
}

TEST_CASE("a reason without an object says its type alone") {
  World world;
  world.run.reason = runtime::Reason::startup;
  const auto document = base::parse_json(build_document(world.run));
  REQUIRE(document.ok());
  CHECK((*document)["reason"] == Json{{"type", "Startup"}});
}

TEST_CASE("the contract's variables say what the run is about") {
  World world;
  CHECK(world.value("KW_CONTROLLER") == "website");
  CHECK(world.value("KW_ID") == "abc");
  CHECK(world.value("KW_API_VERSION") == "demo.kubewatch.dev/v1");
  CHECK(world.value("KW_KIND") == "Website");
  CHECK(world.value("KW_NAMESPACE") == "shop");
  CHECK(world.value("KW_NAME") == "a");
  CHECK(world.value("KW_UID") == "uid-1");
  CHECK(world.value("KW_GENERATION") == "4");
  CHECK(world.value("KW_REASON") == "OwnedChanged");
  CHECK(world.value("KW_ATTEMPT") == "2");
  CHECK(world.value("KW_FINALIZING") == "false");
  CHECK(world.value("KW_WORKDIR") == "/work");
  CHECK(world.value("HOME") == "/home/x");
  CHECK(world.value("PATH").find("/usr/bin") != std::string::npos);
  const std::string trace = world.value("TRACEPARENT");
  CHECK(trace.size() == 55);
  CHECK(trace.rfind("00-", 0) == 0);
}

TEST_CASE("only what the rule lists is inherited") {
  World world;
  CHECK(world.value("LANG") == "(unset)");
  world.hook.inherit_env = {"LANG", "ABSENT"};
  CHECK(world.value("LANG") == "C.UTF-8");
  CHECK(world.value("ABSENT") == "(unset)");
}

TEST_CASE("env values: literal, file without its last newline, jq raw or as JSON, null unset") {
  World world;
  world.hook.env["LOG"].literal = "debug";
  world.hook.env["KEY"].file = "/key";
  world.set_jq("TITLE", ".spec.title");
  world.set_jq("REPLICAS", ".spec.replicas");
  world.set_jq("LIST", ".spec.list");
  world.set_jq("NONE", ".spec.none");
  CHECK(world.value("LOG") == "debug");
  CHECK(world.value("KEY") == "s3cret");
  CHECK(world.value("TITLE") == "A \"b\"");
  CHECK(world.value("REPLICAS") == "3");
  CHECK(world.value("LIST") == "[1,\"x\"]");
  CHECK(world.value("NONE") == "(unset)");
  CHECK(world.environment()->secrets == std::vector<std::string>{"s3cret"});
}

TEST_CASE("NUL bytes, long values, missing files and jq errors name their variable") {
  struct Case {
    const char* what;
    std::function<void(World&)> set;
    const char* says;
  };
  const std::vector<Case> cases = {
      {"NUL", [](World& w) { w.hook.env["X"].file = "/nul"; }, "NUL"},
      {"long", [](World& w) { w.hook.env["X"].literal = std::string(70000, 'x'); }, "65536"},
      {"missing", [](World& w) { w.hook.env["X"].file = "/none"; }, "/none"},
      {"jq", [](World& w) { w.set_jq("X", ".spec.title.deeper"); }, "jq"},
  };
  for (const Case& c : cases) {
    INFO(c.what);
    World world;
    c.set(world);
    const auto built = world.environment();
    REQUIRE_FALSE(built.ok());
    INFO(built.error().render());
    CHECK(built.error().render().find("env X") != std::string::npos);
    CHECK(built.error().render().find(c.says) != std::string::npos);
  }
}

TEST_CASE("an update says which paths changed, where the state before is known") {
  World world;
  world.run.reason = runtime::Reason::updated;
  world.run.previous = R"({"spec":{"title":"A","replicas":2}})";
  world.run.object = R"({"spec":{"title":"B","replicas":2}})";
  const auto document = base::parse_json(build_document(world.run));
  REQUIRE(document.ok());
  CHECK((*document)["reason"] == Json{{"type", "Updated"}, {"changed", {".spec.title"}}});
  world.run.reason = runtime::Reason::resync;
  CHECK((*base::parse_json(build_document(world.run)))["reason"] == Json{{"type", "Resync"}});
  world.run.reason = runtime::Reason::updated;
  world.run.previous = "";
  CHECK((*base::parse_json(build_document(world.run)))["reason"] == Json{{"type", "Updated"}});
}

TEST_CASE("a worker starts with what holds for all runs, and its line brings the rest") {
  World world;
  world.hook.mode = HookMode::worker;
  world.hook.env["LOG"].literal = "debug";
  world.hook.env["KEY"].file = "/key";
  world.set_jq("TITLE", ".spec.title");
  world.hook.inherit_env = {"LANG"};
  const auto names = [&](EnvironmentPart part) {
    world.part = part;
    const auto built = world.environment();
    REQUIRE(built.ok());
    std::vector<std::string> out;
    for (const std::string& variable : built->variables) {
      out.push_back(variable.substr(0, variable.find('=')));
    }
    return out;
  };
  using Names = std::vector<std::string>;
  CHECK(names(EnvironmentPart::worker) ==
        Names{"HOME", "KEY", "KW_CONTROLLER", "KW_WORKDIR", "LANG", "LOG", "PATH"});
  CHECK(names(EnvironmentPart::line) == Names{"KEY", "TITLE", "TRACEPARENT"});
  const std::string object =
      std::exchange(world.run.object, "");  // deleted: it is not in the document
  CHECK(names(EnvironmentPart::line) == Names{"KEY", "KW_API_VERSION", "KW_KIND", "KW_NAME",
                                              "KW_NAMESPACE", "KW_UID", "TRACEPARENT"});
  world.run.object = object;
  const Names all = names(EnvironmentPart::all);
  CHECK(std::find(all.begin(), all.end(), "KW_ID") != all.end());
  CHECK(std::find(all.begin(), all.end(), "TITLE") != all.end());
}

TEST_CASE("what a program says of a Secret that it fails on is not shown") {
  World world;
  world.meta.api_version = "v1";
  world.meta.kind = "Secret";
  world.run.object = R"({"apiVersion":"v1","kind":"Secret","data":{"p":"U3VwM3JTM2NyZXQ="}})";
  for (const char* program : {".data.p|keys", ".data.p|@base64d|.[0]"}) {
    world.set_jq("E1", program);
    CHECK(world.value("E1") == "error: env E1: jq '" + std::string(program) +
                                   "': the error is not shown, as it may quote the Secret");
  }
  world.meta.kind = "Website";
  CHECK(world.value("E1").find("not shown") == std::string::npos);
}
