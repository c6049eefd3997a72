// The order in which a plan is carried out, and how many of its writes are on their way at once.
#include "hooks/outcome.hpp"

#include <algorithm>

#include "base/json.hpp"
#include "core/status.hpp"
#include "hooks/write_surroundings.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const char* const kNotFound = R"({"kind":"Status","reason":"NotFound","code":404})";

std::string name_in(const test::ScriptedCall& call) {
  if (call.request().method == "POST") {
    return base::string_at(*base::parse_json(call.request().body), {"metadata", "name"});
  }
  return call.path().substr(call.path().rfind('/') + 1);
}

std::string written(const test::ScriptedCall& call) {
  return R"({"metadata":{"name":")" + name_in(call) + R"(","uid":"u-x","resourceVersion":"7"}})";
}

Manifest config_map(const std::string& name) {
  return test::manifest({"", "v1", "ConfigMap"}, "configmaps", {"shop", name});
}

PatchTarget patch_of(const std::string& name) {
  PatchTarget out;
  out.type = config_map(name).type;
  out.key = {"shop", name};
  out.patch = {{"data", {{"k", "v"}}}};
  return out;
}

// Answers are held back until the test gives them.
struct World : test::WriteSurroundings {
  void start(WritePlan plan, bool ask_first = false) {
    OutcomeInput input;
    input.owner = owner();
    for (auto* list : {&plan.manifests, &plan.create}) {
      for (Manifest& manifest : *list) manifest.ask_first = ask_first;
    }
    plan.ask_status = ask_first;
    writer = std::make_unique<OutcomeWriter>(*this, std::move(input), std::move(plan));
    writer->start([this](WriteReport done) { report.emplace(std::move(done)); });
    turn();
  }
  void turn() {
    until([] { return false; }, Duration{1});
  }
  std::vector<test::ScriptedCall*> open() {
    std::vector<test::ScriptedCall*> out;
    for (std::size_t i = 0; i < transport.size(); ++i) {
      if (transport.call(i).open()) out.push_back(&transport.call(i));
    }
    return out;
  }
  std::vector<std::string> open_lines() {
    std::vector<std::string> out;
    for (test::ScriptedCall* call : open()) out.push_back(call->request().method + call->path());
    return out;
  }
  // Nothing is there, and every write succeeds.
  void answer(test::ScriptedCall& call) {
    const bool read = call.request().method == "GET";
    answer(call, read ? 404 : 200, read ? kNotFound : written(call));
  }
  void answer(test::ScriptedCall& call, int status, const std::string& body) {
    call.head(status);
    call.data(body);
    call.end();
    turn();
  }

  std::unique_ptr<OutcomeWriter> writer;
  std::optional<WriteReport> report;
};

}  // namespace

TEST_CASE("children of one class are written side by side, eight of them and no more") {
  World world;
  WritePlan plan;
  for (int i = 0; i < 20; ++i) plan.manifests.push_back(config_map("c" + std::to_string(i)));
  world.start(std::move(plan));
  CHECK(world.open().size() == 8);
  std::size_t answered = 0;
  while (!world.report) {
    REQUIRE(!world.open().empty());
    REQUIRE(world.open().size() <= 8);
    // A read and a write for each of them.
    CHECK(world.open().size() == std::min<std::size_t>(8, 20 - answered / 2));
    // The one that began first: of each child the read, and then the write.
    auto open = world.open();
    const auto write = std::find_if(open.begin(), open.end(), [](const test::ScriptedCall* call) {
      return call->request().method == "PATCH";
    });
    world.answer(write == open.end() ? *open.front() : **write);
    ++answered;
  }
  CHECK(answered == 40);
  CHECK(world.report->failures.empty());
  CHECK(world.report->created == 20);
}

TEST_CASE("the next class of children begins when all of the one before have had their answers") {
  World world;
  WritePlan plan;
  plan.manifests = {
      test::manifest({"", "v1", "Namespace"}, "namespaces", {"", "n"}),
      test::manifest({"", "v1", "Namespace"}, "namespaces", {"", "m"}),
      test::manifest({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                     "customresourcedefinitions", {"", "things.demo.dev"}),
      config_map("a"),
      test::manifest({"demo.dev", "v1", "Thing"}, "things", {"shop", "t"}),
  };
  plan.create = {config_map("once")};
  plan.patches = {patch_of("p"), patch_of("p")};
  world.start(std::move(plan));
  using Lines = std::vector<std::string>;
  const std::string maps = "/api/v1/namespaces/shop/configmaps/";
  CHECK(world.open_lines() == Lines{"GET/api/v1/namespaces/n", "GET/api/v1/namespaces/m"});
  world.answer(*world.open()[0]);
  world.answer(*world.open()[0]);
  CHECK(world.open_lines() == Lines{"PATCH/api/v1/namespaces/n", "PATCH/api/v1/namespaces/m"});
  world.answer(*world.open()[0]);
  CHECK(world.open_lines() == Lines{"PATCH/api/v1/namespaces/m"});
  world.answer(*world.open()[0]);
  const std::string crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.demo.dev";
  CHECK(world.open_lines() == Lines{"GET" + crd});
  world.answer(*world.open()[0]);
  CHECK(world.open_lines() == Lines{"PATCH" + crd});
  // Applied, and not known to the server yet: its object waits.
  world.answer(*world.open()[0]);
  CHECK(world.open().empty());
  REQUIRE(world.until([&] { return !world.open().empty(); }, Duration{300}));
  CHECK(world.open_lines() == Lines{"GET" + crd});
  world.answer(
      *world.open()[0], 200,
      R"({"metadata":{"name":"things.demo.dev"},"status":{"conditions":[{"type":"Established","status":"True"}]}})");
  CHECK(world.open_lines() ==
        Lines{"GET" + maps + "a", "GET/apis/demo.dev/v1/namespaces/shop/things/t"});
  for (int i = 0; i < 4; ++i) world.answer(*world.open()[0]);
  CHECK(world.open_lines() == Lines{"GET" + maps + "once"});
  world.answer(*world.open()[0]);
  world.answer(*world.open()[0]);
  // Patches may be of one object: one at a time.
  for (int i = 0; i < 2; ++i) {
    CHECK(world.open_lines() == Lines{"GET" + maps + "p"});
    world.answer(*world.open()[0], 200, written(*world.open()[0]));
    CHECK(world.open_lines() == Lines{"PATCH" + maps + "p"});
    world.answer(*world.open()[0]);
  }
  REQUIRE(world.report);
  CHECK(world.report->failures.empty());
}

TEST_CASE("what others are refused without is there before they are sent") {
  World world;
  WritePlan plan;
  const auto account = [](const std::string& name) {
    return test::manifest({"", "v1", "ServiceAccount"}, "serviceaccounts", {"shop", name});
  };
  const auto pod = [](const std::string& name) {
    return test::manifest({"", "v1", "Pod"}, "pods", {"shop", name});
  };
  plan.manifests = {account("a"), pod("a")};
  plan.create = {account("b"), pod("b")};
  world.start(std::move(plan));
  using Lines = std::vector<std::string>;
  const std::string shop = "/api/v1/namespaces/shop/";
  for (const char* name : {"serviceaccounts/a", "pods/a", "serviceaccounts/b", "pods/b"}) {
    CHECK(world.open_lines() == Lines{"GET" + shop + name});
    world.answer(*world.open()[0]);
    REQUIRE(world.open().size() == 1);
    world.answer(*world.open()[0]);
  }
  REQUIRE(world.report);
  CHECK(world.report->created == 4);
}

TEST_CASE("a refusal beside what was just brought and is looked up is no lasting one") {
  struct Row {
    const char* name;
    int status;        // of the Pod
    const char* kind;  // of the other
    bool created;      // else it is as it was
    bool in_create;    // the other is in `create`, and so written after the Pod
    bool permanent;
  };
  const Row row =
      GENERATE(Row{"forbidden", 403, "ServiceAccount", true, false, false},
               Row{"not found", 404, "ServiceAccount", true, false, false},
               Row{"brought after it", 403, "ServiceAccount", true, true, false},
               Row{"for what it is", 422, "ServiceAccount", true, false, true},
               Row{"again, when nothing is new", 403, "ServiceAccount", false, false, true},
               Row{"beside what nobody looks up", 403, "ConfigMap", true, false, true});
  INFO(row.name);
  World world;
  WritePlan plan;
  plan.manifests = {test::manifest({"", "v1", "Pod"}, "pods", {"shop", "p"})};
  auto& list = row.in_create ? plan.create : plan.manifests;
  list.insert(list.begin(), test::manifest({"", "v1", row.kind}, "others", {"shop", "o"}));
  world.rule_.apply.adopt = Adopt::unowned;
  world.start(std::move(plan));
  while (!world.report) {
    const auto open = world.open();
    REQUIRE(!open.empty());
    test::ScriptedCall& call = *open.front();
    const bool read = call.request().method == "GET";
    const bool pod = call.path().find("/pods") != std::string::npos;
    if (pod && !read) {
      world.answer(call, row.status,
                   R"({"kind":"Status","message":"no","code":)" + std::to_string(row.status) + "}");
    } else if (!pod && !row.created) {
      world.answer(call, 200, written(call));
    } else {
      world.answer(call);
    }
  }
  CHECK(world.report->failures.size() == 1);
  CHECK(world.report->permanent() == row.permanent);
}

TEST_CASE("nothing is deleted where an apply of the same output has failed") {
  const auto [code, deletes] = GENERATE(std::pair(403, 0), std::pair(409, 0), std::pair(200, 2));
  INFO(code);
  World world;
  WritePlan plan;
  plan.manifests = {config_map("new"), config_map("other")};
  plan.patches = {patch_of("p")};
  for (const char* name : {"old", "older"}) {
    plan.deletes.push_back({config_map(name).type, {"shop", name}});
  }
  world.start(std::move(plan));
  int deleted = 0;
  bool patched = false;
  while (!world.report) {
    REQUIRE(!world.open().empty());
    test::ScriptedCall& call = *world.open()[0];
    const bool read = call.request().method == "GET";
    const bool of_old = call.path().find("/old") != std::string::npos;
    deleted += call.request().method == "DELETE" ? 1 : 0;
    patched = patched || (!read && call.path().ends_with("/p"));
    if (of_old) CHECK(code == 200);
    if (!read && call.path().ends_with("/new") && code != 200) {
      world.answer(call, code, R"({"kind":"Status","message":"no"})");
    } else if (read && (of_old || call.path().ends_with("/p"))) {
      world.answer(call, 200, written(call));
    } else {
      world.answer(call);
    }
  }
  CHECK(patched);
  CHECK(deleted == deletes);
  CHECK(world.report->deleted == static_cast<std::size_t>(deletes));
  CHECK(world.report->failures.size() == (code == 200 ? 0 : 1));
}

TEST_CASE("nothing is deleted where an apply of the same output has failed before it was sent") {
  World world;
  REQUIRE(world.memory().claim(config_map("new").id(), "of another object"));
  WritePlan plan;
  plan.manifests = {config_map("new")};
  plan.deletes.push_back({config_map("old").type, {"shop", "old"}});
  world.start(std::move(plan));
  CHECK(world.transport.size() == 0);
  REQUIRE(world.report);
  CHECK(world.report->deleted == 0);
  CHECK(world.report->failures.size() == 1);
}

TEST_CASE("a condition hides what the message of the run hides") {
  World world;
  WritePlan plan;
  plan.manifests = {config_map("a")};
  OutcomeInput input;
  input.owner = world.owner();
  input.has_conditions = true;
  input.mask.add_value("hunter22-and-more");
  world.shape = {true, true};
  world.writer = std::make_unique<OutcomeWriter>(world, std::move(input), std::move(plan));
  world.writer->start([&](WriteReport done) { world.report.emplace(std::move(done)); });
  world.turn();
  world.answer(*world.open()[0]);
  // A proxy quotes what was sent; of that the message has the first 200 bytes.
  world.answer(*world.open()[0], 403, std::string(190, 'x') + "hunter22-and-more and the rest");
  std::string sent;
  while (!world.report) {
    REQUIRE(!world.open().empty());
    test::ScriptedCall& call = *world.open()[0];
    const bool read = call.request().method == "GET";
    if (!read) sent += call.request().body;
    world.answer(call, 200, R"({"metadata":{"name":"a","uid":"u1","resourceVersion":"7"}})");
  }
  INFO(sent);
  CHECK(sent.find("WriteFailed") != std::string::npos);
  CHECK(sent.find("hunter22") == std::string::npos);
  CHECK(sent.find("x***...") != std::string::npos);
}

TEST_CASE("with validate: server a patch is tried before anything is written") {
  for (const bool refused : {true, false}) {
    INFO("refused " << refused);
    World world;
    world.rule_.apply.validate = Validate::server;
    WritePlan plan;
    plan.manifests = {config_map("a")};
    // What is written by the same output, or patched before, cannot be tried as it is now.
    plan.patches = {patch_of("p"), patch_of("p"), patch_of("a")};
    world.start(std::move(plan));
    std::vector<std::string> writes;
    while (!world.report) {
      REQUIRE(!world.open().empty());
      test::ScriptedCall& call = *world.open()[0];
      const bool patched = call.path().ends_with("/p");
      const bool write = call.request().method != "GET";
      const bool dry = call.line().find("dryRun=All") != std::string::npos;
      if (write) writes.push_back((dry ? "dry " : "") + name_in(call));
      if (dry && patched && refused) {
        world.answer(call, 400,
                     R"({"kind":"Status","reason":"BadRequest","code":400,"message":)"
                     R"("strict decoding error: unknown field \"dat\""})");
      } else if (patched || call.path().ends_with("/a")) {
        const bool there = write || patched || writes.size() > 2;
        world.answer(call, there ? 200 : 404, there ? written(call) : kNotFound);
      } else {
        FAIL(call.line());
      }
    }
    using Writes = std::vector<std::string>;
    if (refused) {
      std::sort(writes.begin(), writes.end());
      CHECK(writes == Writes{"dry a", "dry p"});
      CHECK(world.report->permanent());
      CHECK(world.report->message().find("dry run of patching ConfigMap shop/p") !=
            std::string::npos);
    } else {
      REQUIRE(writes.size() == 6);
      CHECK(Writes(writes.begin() + 2, writes.end()) == Writes{"a", "p", "p", "a"});
      CHECK(world.report->failures.empty());
    }
  }
}

namespace {

const char* const kNoAccount =
    R"({"kind":"Status","reason":"Forbidden","code":403,"message":"pods \"p\" is forbidden: )"
    R"(error looking up service account shop/runner: serviceaccount \"runner\" not found"})";
const char* const kQuota =
    R"({"kind":"Status","reason":"Forbidden","code":403,"message":"pods \"p\" is forbidden: )"
    R"(exceeded quota: q"})";

// A Pod, its ServiceAccount, and something that needs neither; the Pod is refused without the
// account, and with it where `refused_then`.
struct Admission : World {
  void run(bool by_rule) {
    if (by_rule) rule_.apply.validate = Validate::server;
    rule_.apply.adopt = Adopt::unowned;
    WritePlan plan;
    plan.manifests = {
        test::manifest({"", "v1", "ServiceAccount"}, "serviceaccounts", {"shop", "runner"}),
        config_map("c"), test::manifest({"", "v1", "Pod"}, "pods", {"shop", "p"})};
    plan.manifests[2].ask_first = !by_rule;
    OutcomeInput input;
    input.owner = owner();
    writer = std::make_unique<OutcomeWriter>(*this, std::move(input), std::move(plan));
    writer->start([this](WriteReport done) { report.emplace(std::move(done)); });
    turn();
    while (!report) {
      REQUIRE(!open().empty());
      test::ScriptedCall& call = *open()[0];
      const bool read = call.request().method == "GET";
      const bool dry = call.line().find("dryRun=All") != std::string::npos;
      const std::string name = name_in(call);
      if (!read) writes.push_back((dry ? "dry " : "") + name);
      account_written = account_written || (!read && !dry && name == "runner");
      if (!read && name == "p" && !account_written) {
        answer(call, 403, kNoAccount);
      } else if (!read && name == "p" && refused_then) {
        answer(call, 403, kQuota);
      } else if (read && name == "runner" && account_there) {
        answer(call, 200, written(call));
      } else {
        answer(call);
      }
    }
  }
  std::vector<std::string> sorted(std::size_t begin, std::size_t end) {
    REQUIRE(writes.size() >= end);
    std::vector<std::string> out(writes.begin() + static_cast<std::ptrdiff_t>(begin),
                                 writes.begin() + static_cast<std::ptrdiff_t>(end));
    std::sort(out.begin(), out.end());
    return out;
  }

  bool account_there = false;
  bool account_written = false;
  bool refused_then = false;
  std::vector<std::string> writes;
};

}  // namespace

TEST_CASE("what lacks an object of the same output is tried again once that is written") {
  using Writes = std::vector<std::string>;
  const bool by_rule = GENERATE(true, false);
  INFO(by_rule);
  Admission world;
  world.run(by_rule);
  INFO(world.report->message());
  const std::size_t tried = by_rule ? 3 : 1;
  CHECK(world.sorted(0, tried) ==
        (by_rule ? Writes{"dry c", "dry p", "dry runner"} : Writes{"dry p"}));
  REQUIRE(world.writes.size() == tried + 4);
  CHECK(world.writes[tried] == "runner");
  CHECK(world.writes[tried + 1] == "dry p");
  CHECK(world.sorted(tried + 2, tried + 4) == Writes{"c", "p"});
  CHECK(world.report->created == 3);
  CHECK(world.report->failures.empty());

  // Refused for something else then: what it lacked is there, and nothing more is written.
  Admission refused;
  refused.refused_then = true;
  refused.run(by_rule);
  REQUIRE(refused.writes.size() == tried + 2);
  CHECK(refused.writes[tried] == "runner");
  CHECK(refused.writes[tried + 1] == "dry p");
  CHECK(refused.report->created == 1);
  REQUIRE(refused.report->failures.size() == 1);
  CHECK(refused.report->message().find("dry run of Pod shop/p") != std::string::npos);
  CHECK(refused.report->message().find("exceeded quota") != std::string::npos);
}

TEST_CASE("what is said to be lacking and was found is no reason to write anything") {
  Admission world;
  world.account_there = true;
  world.run(true);
  CHECK(world.sorted(0, world.writes.size()) ==
        std::vector<std::string>{"dry c", "dry p", "dry runner"});
  CHECK(world.report->permanent());
}

TEST_CASE("an object of a new kind or namespace is tried once that is there") {
  struct Row {
    const char* name;
    core::Gvk first;
    const char* first_name;
    int code;  // of the other, as long as the first is not there; once more by `late`
    const char* body;
    bool late;
    std::vector<std::string> writes;
  };
  const core::Gvk crd{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};
  const char* const no_namespace =
      R"({"kind":"Status","reason":"NotFound","code":404,"message":"namespaces \"shop\" not found",)"
      R"("details":{"name":"shop","kind":"namespaces"}})";
  const Row row = GENERATE_COPY(Row{"namespace",
                                    {"", "v1", "Namespace"},
                                    "shop",
                                    404,
                                    no_namespace,
                                    false,
                                    {"shop", "dry t", "t"}},
                                Row{"kind",
                                    crd,
                                    "things.demo.dev",
                                    404,
                                    "404 page not found",
                                    false,
                                    {"things.demo.dev", "dry t", "t"}},
                                // The server may take a moment to serve it: the write is judged.
                                Row{"kind, served late",
                                    crd,
                                    "things.demo.dev",
                                    404,
                                    "404 page not found",
                                    true,
                                    {"things.demo.dev", "dry t", "t"}},
                                Row{"namespace that stays away",
                                    {"", "v1", "Namespace"},
                                    "shop",
                                    404,
                                    no_namespace,
                                    true,
                                    {"shop", "dry t"}});
  INFO(row.name);
  World world;
  world.rule_.apply.validate = Validate::server;
  WritePlan plan;
  plan.manifests = {test::manifest(row.first, "firsts", {"", row.first_name}),
                    test::manifest({"demo.dev", "v1", "Thing"}, "things", {"shop", "t"})};
  world.start(std::move(plan));
  std::vector<std::string> writes;
  std::size_t tries = 0;
  while (!world.report) {
    REQUIRE(!world.open().empty());
    test::ScriptedCall& call = *world.open()[0];
    const bool read = call.request().method == "GET";
    const bool dry = call.line().find("dryRun=All") != std::string::npos;
    const std::string name = name_in(call);
    if (!read) writes.push_back((dry ? "dry " : "") + name);
    if (name == "t" && dry && tries++ < (row.late ? 2U : 1U)) {
      world.answer(call, row.code, row.body);
    } else if (!read && name == "things.demo.dev") {
      world.answer(call, 200,
                   R"({"metadata":{"name":"things.demo.dev","uid":"u","resourceVersion":"7"},)"
                   R"("status":{"conditions":[{"type":"Established","status":"True"}]}})");
    } else {
      world.answer(call);
    }
  }
  REQUIRE(writes.size() == row.writes.size() + 2);
  CHECK(std::vector<std::string>(writes.begin() + 2, writes.end()) == row.writes);
  CHECK(world.report->failures.empty() == (row.writes.back() == "t"));
}

TEST_CASE("the object's own labels are tried before anything is written") {
  const bool refused = GENERATE(true, false);
  const bool by_rule = GENERATE(true, false);
  INFO("refused " << refused << ", by the rule " << by_rule);
  World world;
  if (by_rule) world.rule_.apply.validate = Validate::server;
  WritePlan plan;
  plan.manifests = {config_map("c"), test::manifest(world.owner().gvk, "websites", {"shop", "a"})};
  world.start(std::move(plan), !by_rule);
  std::vector<std::string> writes;
  while (!world.report) {
    REQUIRE(!world.open().empty());
    test::ScriptedCall& call = *world.open()[0];
    const bool dry = call.line().find("dryRun=All") != std::string::npos;
    if (call.request().method != "GET") writes.push_back((dry ? "dry " : "") + name_in(call));
    if (call.path().ends_with("/websites/a")) {
      CHECK(call.request().body.find(R"("uid":"u1")") != std::string::npos);
    }
    if (refused && call.path().ends_with("/websites/a")) {
      world.answer(call, 409,
                   R"({"kind":"Status","reason":"Conflict","code":409,"message":"conflict with x",)"
                   R"("details":{"causes":[{"reason":"FieldManagerConflict",)"
                   R"("message":"conflict with x","field":".metadata.labels.tier"}]}})");
    } else {
      world.answer(call);
    }
  }
  std::sort(writes.begin(), writes.begin() + 2);
  if (!refused) {
    CHECK(writes == std::vector<std::string>{"dry a", "dry c", "a", "c"});
    CHECK(world.report->failures.empty());
  } else {
    CHECK(writes == std::vector<std::string>{"dry a", "dry c"});
    CHECK(world.report->conflicts());
    CHECK(world.report->message().find("dry run of Website shop/a") != std::string::npos);
  }
}

namespace {

const char* const kStatus = "/apis/demo.example.com/v1/namespaces/shop/websites/a/status";

// The object itself is there, nothing else is, and the server judges a status by `refusal`: "" as
// it fits.
struct StatusWorld : World {
  void run(WritePlan plan, bool ask_first = false) {
    start(std::move(plan), ask_first);
    while (!report) {
      REQUIRE(!open().empty());
      test::ScriptedCall& call = *open()[0];
      const bool of_owner = call.path() == kStatus || call.path() + "/status" == kStatus;
      const bool write = call.request().method != "GET";
      const bool dry = call.line().find("dryRun=All") != std::string::npos;
      const bool applies =
          call.request().headers.get("Content-Type").find("apply") != std::string_view::npos;
      if (write) {
        writes.push_back(std::string(dry ? "dry " : "") + (!of_owner ? "child"
                                                           : applies ? "status"
                                                                     : "conditions"));
      }
      if (of_owner && write && applies && !refusal.empty()) {
        answer(call, code, refusal);
      } else if (of_owner) {
        answer(call, live.empty() ? 404 : 200, live.empty() ? kNotFound : live);
      } else {
        answer(call);
      }
    }
  }
  static WritePlan plan() {
    WritePlan out;
    out.manifests = {config_map("c")};
    out.status = Json{{"ready", true}};
    const Json ready = {{"type", "Ready"}, {"status", "True"}, {"reason", "Up"}, {"message", ""}};
    out.conditions = {ready};
    return out;
  }

  std::string live = R"({"metadata":{"name":"a","uid":"u1","resourceVersion":"7"}})";
  int code = 0;
  std::string refusal;
  std::vector<std::string> writes;
};

using Writes = std::vector<std::string>;

}  // namespace

TEST_CASE("what a webhook does not let be tried is written, unless the rule wants all tried") {
  const bool by_rule = GENERATE(false, true);
  World world;
  if (by_rule) world.rule_.apply.validate = Validate::server;
  WritePlan plan;
  plan.manifests = {config_map("a")};
  world.start(std::move(plan), !by_rule);
  std::vector<std::string> writes;
  while (!world.report) {
    REQUIRE(!world.open().empty());
    test::ScriptedCall& call = *world.open()[0];
    const bool dry = call.line().find("dryRun=All") != std::string::npos;
    if (call.request().method != "GET") writes.push_back(dry ? "dry" : "written");
    if (dry) {
      world.answer(call, 400,
                   R"({"kind":"Status","reason":"BadRequest","code":400,"message":)"
                   R"("admission webhook \"v.example.com\" does not support dry run"})");
    } else {
      const bool write = call.request().method != "GET";
      world.answer(call, write ? 200 : 404, write ? written(call) : kNotFound);
    }
  }
  CHECK(writes == (by_rule ? Writes{"dry"} : Writes{"dry", "written"}));
  CHECK(world.report->failures.empty() == !by_rule);
}

TEST_CASE("a status is tried before anything is written where the server is asked first") {
  for (const bool by_rule : {true, false}) {
    StatusWorld world;
    if (by_rule) world.rule_.apply.validate = Validate::server;
    world.run(StatusWorld::plan(), !by_rule);
    REQUIRE(world.writes.size() == 6);
    std::sort(world.writes.begin(), world.writes.begin() + 3);
    CHECK(world.writes ==
          Writes{"dry child", "dry conditions", "dry status", "child", "conditions", "status"});
    CHECK(world.report->failures.empty());
    CHECK(world.report->status_written);
  }
  StatusWorld world;
  world.run(StatusWorld::plan());
  CHECK(world.writes == Writes{"child", "conditions", "status"});
}

TEST_CASE("a status that the server refuses to try keeps everything from being written") {
  for (const int code : {422, 500}) {
    INFO(code);
    StatusWorld world;
    world.rule_.apply.validate = Validate::server;
    world.code = code;
    // The second is how an apply of a field that the schema lacks is refused.
    world.refusal = R"({"kind":"Status","reason":"Invalid","code":422,"message":"ready: no"})";
    if (code == 500) {
      world.refusal =
          R"({"kind":"Status","code":500,"message":"failed to create typed patch object: no"})";
    }
    world.run(StatusWorld::plan());
    std::sort(world.writes.begin(), world.writes.end());
    CHECK(world.writes == Writes{"dry child", "dry conditions", "dry status"});
    INFO(world.report->message());
    CHECK(world.report->permanent());
    CHECK(world.report->message().find("dry run of writing status of ") != std::string::npos);
    CHECK_FALSE(world.report->status_written);
    CHECK(world.memory().status("u1").hash == 0);
    CHECK(world.memory().status("u1").resource_version.empty());
    CHECK_FALSE(world.memory().wrote_status("u1", "7"));
  }
}

TEST_CASE("a status is not tried on an object that is gone, and not where it alone is written") {
  for (const char* const live : {"", R"({"metadata":{"name":"a","uid":"u2"}})"}) {
    INFO(live);
    StatusWorld world;
    world.rule_.apply.validate = Validate::server;
    world.live = live;
    world.run(StatusWorld::plan());
    CHECK(world.writes == Writes{"dry child", "child"});
    CHECK(world.report->failures.empty());
  }
  StatusWorld gave_up;
  gave_up.rule_.apply.validate = Validate::server;
  WritePlan plan = StatusWorld::plan();
  plan.manifests.clear();
  plan.status_alone = true;
  gave_up.run(std::move(plan));
  CHECK(gave_up.writes == Writes{"conditions", "status"});
}

TEST_CASE("a status is not tried under a definition that the same output changes") {
  StatusWorld world;
  world.rule_.apply.validate = Validate::server;
  WritePlan plan = StatusWorld::plan();
  plan.manifests = {test::manifest({"apiextensions.k8s.io", "v1", "CustomResourceDefinition"},
                                   "customresourcedefinitions", {"", "websites.demo.example.com"})};
  world.start(std::move(plan));
  REQUIRE(world.open().size() == 1);
  CHECK(world.open()[0]->path().ends_with("/websites.demo.example.com"));
}

TEST_CASE("for an owner that is gone, or dying, when it is to be guarded nothing is written") {
  const std::string path = "/apis/demo.example.com/v1/namespaces/shop/websites/a";
  struct Case {
    int code;           // of the patch that adds the finalizer
    std::string after;  // what is there then
  };
  const auto [code, after] = GENERATE(
      Case{404, ""}, Case{422, R"({"metadata":{"name":"a","namespace":"shop","uid":"u2"}})"},
      Case{422, R"({"metadata":{"name":"a","namespace":"shop","uid":"u1",)"
                R"("deletionTimestamp":"2026-01-02T03:04:05Z","finalizers":["others.dev/f"]}})"});
  INFO(after);
  World world;
  WritePlan plan = StatusWorld::plan();
  plan.needs_finalizer = true;
  OutcomeInput input;
  input.owner = world.owner();
  input.meta.name = "a";
  input.meta.namespace_ = "shop";
  input.meta.uid = "u1";
  input.has_conditions = true;
  world.writer = std::make_unique<OutcomeWriter>(world, std::move(input), std::move(plan));
  world.writer->start([&](WriteReport done) { world.report.emplace(std::move(done)); });
  world.turn();
  REQUIRE(world.open_lines() == std::vector<std::string>{"PATCH" + path});
  world.answer(*world.open()[0], code,
               R"({"kind":"Status","reason":")" + core::reason_of_code(code) + R"(","code":)" +
                   std::to_string(code) + R"(,"message":"no"})");
  if (code == 422) {
    REQUIRE(world.open_lines() == std::vector<std::string>{"GET" + path});
    world.answer(*world.open()[0], 200, after);
  }
  REQUIRE(world.report);
  CHECK(world.report->owner_gone);
  CHECK(world.report->failures.empty());
  CHECK(world.transport.size() == (code == 422 ? 2 : 1));
}

TEST_CASE(
    "the guard stays for what was created once without the reference that the rule wants now") {
  const bool refers = GENERATE(false, true);
  INFO("refers " << refers);
  const std::string made =
      R"({"metadata":{"name":"once","namespace":"shop","uid":"u-x","resourceVersion":"7","labels":)"
      R"({"kubewatch.dev/controller":"web","kubewatch.dev/owner-uid":"u1"},"ownerReferences":[)" +
      std::string(refers ? R"({"uid":"u1","name":"a"})" : "") +
      R"(],"managedFields":[{"manager":"kubewatch/web","operation":"Update"}]}})";
  World world;
  world.transport.route("GET", "/api/v1/namespaces/shop/configmaps/once", 200, made);
  WritePlan plan;
  plan.manifests = {config_map("a")};
  plan.create = {config_map("once")};
  plan.keep = {config_map("a").id(), config_map("once").id()};
  plan.prune = true;
  plan.drop_finalizer = true;
  OutcomeInput input;
  input.owner = world.owner();
  input.meta.name = "a";
  input.meta.namespace_ = "shop";
  input.meta.uid = "u1";
  input.meta.finalizers = {world.rule_.finalizer_name};
  world.writer = std::make_unique<OutcomeWriter>(world, std::move(input), std::move(plan));
  world.writer->start([&](WriteReport done) { world.report.emplace(std::move(done)); });
  world.turn();
  bool let_go = false;
  while (!world.report) {
    // The other is answered by its route.
    auto open = world.open();
    std::erase_if(open, [](test::ScriptedCall* one) { return one->path().ends_with("/once"); });
    if (open.empty()) {
      REQUIRE(world.until([&] { return world.report || !world.open().empty(); }));
      world.turn();
      continue;
    }
    test::ScriptedCall& call = *open[0];
    let_go = let_go || call.path().ends_with("/websites/a");
    CHECK(call.request().method != "DELETE");
    world.answer(call);
  }
  CHECK(world.report->failures.empty());
  CHECK(let_go == refers);
}
