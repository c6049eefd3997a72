// What goes through the transport, and what of it stands in the recording.
#include "hooks/recording_transport.hpp"

#include <algorithm>

#include "base/files.hpp"
#include "hooks/recording_format.hpp"
#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"
#include "support/scripted_transport.hpp"

namespace kubewatch::hooks {

namespace {

struct Fixture {
  test::RuleFolder folder;
  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport wire;
  std::shared_ptr<Recorder> recorder;
  std::unique_ptr<RecordingTransport> transport;
  std::vector<std::unique_ptr<http::Call>> calls;
  std::string seen;  // bytes that came through

  explicit Fixture(bool complete = true, std::size_t most_waiting = kMostWaiting,
                   RecordingTransport::Objects objects = RecordingTransport::Objects::left_out) {
    auto file = RecordingFile::create(folder.file("r"));
    REQUIRE(file.ok());
    recorder = std::make_shared<Recorder>(loop, std::move(*file),
                                          RecorderOptions{{"copier"}, complete, most_waiting});
    transport = std::make_unique<RecordingTransport>(wire, recorder, objects);
  }
  test::ScriptedCall& ask(const std::string& method, const std::string& target,
                          const std::string& body = "", const std::string& type = "") {
    http::Request request;
    request.method = method;
    request.url = "https://server" + target;
    request.body = body;
    if (!type.empty()) request.headers.set("Content-Type", type);
    http::CallHandlers handlers;
    handlers.on_data = [this](std::string_view bytes) { seen += bytes; };
    handlers.on_done = [](const Result<void>&) {};
    calls.push_back(transport->start(std::move(request), std::move(handlers)));
    return wire.call(calls.size() - 1);
  }
  std::vector<Json> entries(const std::string& type = "") {
    recorder->end(true);
    return written(type);
  }
  // What stands in the file so far.
  std::vector<Json> written(const std::string& type = "") {
    const auto bytes = base::read_file(folder.file("r"), kMaxRecording);
    REQUIRE(bytes.ok());
    const auto loaded = load_recording(*bytes);
    REQUIRE(loaded.ok());
    std::vector<Json> out;
    for (const auto& line : loaded->lines) {
      Json entry = *base::parse_json(line);
      if (type.empty() || entry["t"] == type) out.push_back(std::move(entry));
    }
    return out;
  }
};

constexpr const char* kList =
    R"({"kind":"ConfigMapList","apiVersion":"v1","metadata":{"resourceVersion":"7"},"items":[
    {"metadata":{"name":"a","namespace":"shop","resourceVersion":"3",
                 "managedFields":[{"manager":"m"}]},"data":{"k":"v"}}]})";

}  // namespace

TEST_CASE("lists and watches are recorded item by item, however their bytes come") {
  Fixture f;
  auto& list = f.ask("GET", "/api/v1/configmaps?labelSelector=copy%3Dyes");
  list.head(200);
  list.data(kList, 3);
  list.end();
  auto& watch = f.ask("GET", "/api/v1/configmaps?watch=1&labelSelector=copy%3Dyes");
  watch.head(200);
  const std::string event =
      R"({"type":"DELETED","object":{"metadata":{"name":"a","namespace":"shop"}}})";
  watch.data(event, 5);
  CHECK(f.seen == kList + event);

  const auto entries = f.entries();
  REQUIRE(entries.size() == 7);
  CHECK(entries[0]["t"] == "start");
  CHECK(entries[1]["t"] == "open");
  CHECK(entries[1]["labels"] == "copy=yes");
  CHECK(entries[1]["how"] == "list");
  CHECK(entries[2]["t"] == "item");
  CHECK(entries[2]["o"]["data"]["k"] == "v");
  CHECK_FALSE(entries[2]["o"]["metadata"].contains("managedFields"));
  CHECK(entries[3]["t"] == "page");
  CHECK(entries[3]["rv"] == "7");
  CHECK(entries[3]["more"] == false);
  CHECK(entries[4]["s"] == entries[1]["s"]);
  CHECK(entries[4]["how"] == "watch");
  CHECK(entries[5]["t"] == "event");
  CHECK(entries[5]["type"] == "DELETED");
  CHECK(entries[6]["t"] == "end");
  CHECK(entries[6]["idle"] == true);
}

TEST_CASE("an item without readable metadata does not end the recording") {
  Fixture f;
  auto& list = f.ask("GET", "/api/v1/configmaps");
  list.head(200);
  list.data(R"({"kind":"ConfigMapList","metadata":{"resourceVersion":"7"},"items":[
      {"kind":"ConfigMap","metadata":null},{"metadata":"x"},{"metadata":{"labels":"x"}},
      {"metadata":{"name":"a","namespace":"shop","managedFields":[]}}]})");
  list.end();
  auto& watch = f.ask("GET", "/api/v1/configmaps?watch=1");
  watch.head(200);
  watch.data(R"({"type":"MODIFIED","object":{"kind":"X","metadata":["x"]}})");
  f.recorder->on_kind("things.demo.dev", {{"metadata", nullptr}});
  const auto items = f.entries("item");
  REQUIRE(items.size() == 4);
  CHECK(items[0]["o"]["metadata"].is_null());
  CHECK(items[3]["o"]["metadata"] == Json{{"name", "a"}, {"namespace", "shop"}});
  CHECK(f.written("event").size() == 1);
  CHECK(f.written("end").size() == 1);
}

TEST_CASE("a list of Secrets, whose items do not say what they are, is recorded as hashes") {
  Fixture f;
  auto& list = f.ask("GET", "/api/v1/secrets");
  list.head(200);
  list.data(R"({"kind":"SecretList","metadata":{"resourceVersion":"7"},"items":[
      {"metadata":{"name":"s","namespace":"shop","resourceVersion":"3"},
       "data":{"token":"Y29ycmVjdC1ob3JzZQ=="}}]})");
  list.end();
  auto& other =
      f.ask("PATCH", "/api/v1/namespaces/shop/configmaps/a",
            R"({"kind":"ConfigMap","metadata":{"name":"a"},"data":{"t":"correct-horse"}})",
            "application/apply-patch+yaml");
  other.head(201);
  other.data(R"({"metadata":{"name":"a","resourceVersion":"9"}})");
  other.end();

  std::string all;
  for (const Json& entry : f.entries()) all += base::dump_json(entry);
  CHECK(all.find("correct-horse") == std::string::npos);
  CHECK(all.find("Y29ycmVjdC1ob3JzZQ") == std::string::npos);
  const auto writes = f.entries("write");
  REQUIRE(writes.size() == 1);
  CHECK(writes[0]["body"]["data"]["t"] == "***");
  CHECK(writes[0]["rv"] == "9");
  CHECK(writes[0]["code"] == 201);
}

TEST_CASE("nothing is written before every list is whole, and then by all that it told") {
  Fixture f;
  auto& configs = f.ask("GET", "/api/v1/configmaps");
  auto& secrets = f.ask("GET", "/api/v1/secrets?watch=1&sendInitialEvents=true");
  auto& pods = f.ask("GET", "/api/v1/pods");
  configs.head(200);
  configs.data(R"({"metadata":{"resourceVersion":"7"},"items":[
      {"metadata":{"name":"a"},"data":{"t":"correct-horse"}}]})");
  configs.end();
  const auto later = [&f] { f.loop.run_until([] { return false; }, Duration{600}); };
  later();
  CHECK(f.written().empty());
  pods.head(403);
  pods.end();
  secrets.head(200);
  secrets.data(R"({"type":"ADDED","object":{"kind":"Secret","metadata":{"name":"s"},
      "data":{"token":"Y29ycmVjdC1ob3JzZQ=="}}})");
  later();
  CHECK(f.written().empty());
  secrets.data(R"({"type":"BOOKMARK","object":{"kind":"Secret","metadata":{"resourceVersion":"9",
      "annotations":{"k8s.io/initial-events-end":"true"}}}})");
  later();
  const auto items = f.written("item");
  REQUIRE(items.size() == 1);
  CHECK(items[0]["o"]["data"]["t"] == "***");
}

TEST_CASE("lists that do not end are written when too much waits for them") {
  Fixture f(true, 2048);
  auto& configs = f.ask("GET", "/api/v1/configmaps");
  configs.head(200);
  configs.data(R"({"metadata":{"resourceVersion":"7"},"items":[
      {"metadata":{"name":"a"},"data":{"t":")" +
               std::string(4096, 'x') + R"("}})");
  f.recorder->on_kind("sites.demo", nullptr);
  f.loop.run_until([] { return false; }, Duration{600});
  CHECK(f.written("item").size() == 1);
}

TEST_CASE("a write that changes nothing does not take another's version for its own") {
  Fixture f;
  auto& watch = f.ask("GET", "/api/v1/configmaps?watch=1");
  watch.head(200);
  const auto event = [&](const char* type, const char* version) {
    watch.data(base::dump_json(
        {{"type", type},
         {"object",
          {{"kind", "ConfigMap"},
           {"metadata", {{"name", "a"}, {"namespace", "shop"}, {"resourceVersion", version}}}}}}));
  };
  const auto apply = [&](const char* version) {
    auto& call = f.ask("PATCH", "/api/v1/namespaces/shop/configmaps/a?fieldManager=m", "{}",
                       "application/apply-patch+yaml");
    call.head(200);
    return [&call, version] {
      call.data(base::dump_json({{"metadata", {{"name", "a"}, {"resourceVersion", version}}}}));
      call.end();
    };
  };
  event("ADDED", "11");
  apply("11")();
  apply("12")();
  const auto seen_before_its_answer = apply("13");
  event("MODIFIED", "13");
  seen_before_its_answer();
  event("DELETED", "14");
  apply("14")();
  const auto writes = f.entries("write");
  REQUIRE(writes.size() == 4);
  CHECK_FALSE(writes[0].contains("rv"));
  CHECK(writes[1]["rv"] == "12");
  CHECK(writes[2]["rv"] == "13");
  CHECK(writes[3]["rv"] == "14");
}

TEST_CASE("a write without an answer is recorded as such, a refused list not at all") {
  Fixture f;
  auto& write = f.ask("DELETE", "/api/v1/namespaces/shop/configmaps/a");
  write.fail(Error(ErrorKind::unreachable, "gone"));
  auto& list = f.ask("GET", "/api/v1/configmaps");
  list.head(403);
  list.data("{}");
  list.end();
  CHECK(f.entries("open").empty());
  const auto writes = f.entries("write");
  REQUIRE(writes.size() == 1);
  CHECK(writes[0]["code"] == 0);
}

TEST_CASE("custom kinds are looked up once, for their schema") {
  Fixture f;
  f.ask("GET", "/apis/demo.kubewatch.dev/v1/websites");
  f.ask("GET", "/apis/demo.kubewatch.dev/v1/websites?watch=1");
  // The definition is asked for before the first list goes out.
  CHECK(f.wire.call(0).target() ==
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/websites.demo.kubewatch.dev");
  f.wire.call(0).head(200);
  f.wire.call(0).data(R"({"kind":"CustomResourceDefinition","metadata":{"name":"x"}})");
  f.wire.call(0).end();
  const auto kinds = f.entries("kind");
  REQUIRE(kinds.size() == 1);
  CHECK(kinds[0]["name"] == "websites.demo.kubewatch.dev");
  CHECK(kinds[0]["crd"]["metadata"]["name"] == "x");
}

TEST_CASE("runs are recorded with a digest of what the hook was given") {
  Fixture f;
  RunRecord run;
  run.id = "1";
  run.controller = "copier";
  run.object = "ConfigMap shop/a";
  run.key = {"shop", "a"};
  run.reason = "External";
  run.outcome = "failed";
  run.exit_code = 3;
  f.recorder->on_run(run);
  const auto runs = f.entries("run");
  REQUIRE(runs.size() == 1);
  CHECK(runs[0]["name"] == "a");
  CHECK(runs[0]["namespace"] == "shop");
  CHECK(runs[0]["exit"] == 3);
  CHECK(runs[0]["outcome"] == "failed");
}

TEST_CASE("where objects are asked for, reads and what writes made stand as lists of one name") {
  Fixture f(true, kMostWaiting, RecordingTransport::Objects::recorded);
  const std::string path = "/api/v1/namespaces/shop/configmaps/a%3Ab";
  const auto object = [](const std::string& version) {
    return R"({"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"a:b","namespace":"shop",)"
           R"("resourceVersion":")" +
           version + R"("},"data":{"k":")" + version + "\"}}";
  };
  auto& none = f.ask("GET", path);
  none.head(404);
  none.data(R"({"kind":"Status","code":404})");
  none.end();
  auto& made = f.ask("PATCH", path + "?fieldManager=ci", R"({"data":{"k":"5"}})",
                     "application/apply-patch+yaml");
  made.head(201);
  made.data(object("5"), 7);
  made.end();
  auto& scale = f.ask("GET", path + "/scale");  // not the object
  scale.head(200);
  scale.data(R"({"kind":"Scale","metadata":{"name":"a:b"}})");
  scale.end();
  auto& rehearsed = f.ask("PATCH", path + "?dryRun=All", "{}", "application/apply-patch+yaml");
  rehearsed.head(200);
  rehearsed.data(object("6"));
  rehearsed.end();
  auto& failed = f.ask("GET", path);
  failed.head(500);
  failed.data("oops");
  failed.end();
  auto& gone = f.ask("DELETE", path);
  gone.head(200);
  gone.data(R"({"kind":"Status","status":"Success"})");
  gone.end();
  const auto opens = f.entries("open");
  REQUIRE(opens.size() == 3);
  for (const Json& open : opens) {
    CHECK(open["path"] == "/api/v1/namespaces/shop/configmaps");
    CHECK(open["fields"] == "metadata.name=a:b");
    CHECK(open["how"] == "list");
    CHECK(open["object"] == true);
    CHECK(open["s"] == opens[0]["s"]);
  }
  const auto items = f.written("item");
  REQUIRE(items.size() == 1);
  CHECK(items[0]["o"]["data"]["k"] == "5");
  const auto pages = f.written("page");
  REQUIRE(pages.size() == 3);
  CHECK(pages[1]["rv"] == "5");
  CHECK(f.written("write").size() == 2);
}

TEST_CASE("values that will be written are hidden from the beginning") {
  Fixture f(true, kMostWaiting, RecordingTransport::Objects::recorded);
  f.recorder->learn(Json{{"kind", "Secret"}, {"stringData", {{"k", "hunter2-hunter2"}}}});
  auto& read = f.ask("GET", "/api/v1/namespaces/shop/configmaps/a");
  read.head(200);
  read.data(R"({"kind":"ConfigMap","metadata":{"name":"a"},"data":{"url":"x:hunter2-hunter2@y"}})");
  read.end();
  auto& secret = f.ask("GET", "/api/v1/namespaces/shop/secrets/s");
  secret.head(200);
  secret.data(R"({"kind":"Secret","metadata":{"name":"s"},"data":{"k":"b3Blbi1zZXNhbWU="}})");
  secret.end();
  const auto items = f.entries("item");
  REQUIRE(items.size() == 2);
  const std::string text = base::dump_json(items);
  CHECK(text.find("hunter2") == std::string::npos);
  CHECK(text.find("b3Blbi1zZXNhbWU") == std::string::npos);
  CHECK(items[1]["o"]["kind"] == "Secret");
}

TEST_CASE("an object that no watch tells of is recorded as it was first found, and no other") {
  Fixture f(true, kMostWaiting, RecordingTransport::Objects::as_found);
  auto& list = f.ask("GET", "/api/v1/configmaps");
  list.head(200);
  list.data(kList);
  list.end();
  const std::string core = "/api/v1/namespaces/shop/";
  const auto read = [&](const std::string& path, int code, const std::string& version) {
    auto& call = f.ask("GET", path);
    call.head(code);
    call.data(base::dump_json({{"kind", "Some"},
                               {"metadata",
                                {{"name", path.substr(path.rfind('/') + 1)},
                                 {"namespace", "shop"},
                                 {"resourceVersion", version}}},
                               {"data", {{"k", "b3Blbi1zZXNhbWU="}}}}));
    call.end();
  };
  const auto write = [&](const std::string& method, const std::string& path, int code) {
    auto& call = f.ask(method, path, R"({"metadata":{"name":"made"}})", "application/json");
    call.head(code);
    call.data(R"({"metadata":{"name":"made","namespace":"shop","resourceVersion":"20"}})");
    call.end();
  };
  read(core + "configmaps/a", 200, "4");  // watched
  read(core + "secrets/found", 200, "10");
  write("PATCH", core + "secrets/found", 200);
  read(core + "secrets/found", 200, "20");
  read(core + "secrets/absent", 404, "");
  read(core + "secrets/absent", 200, "21");  // so it came later
  write("POST", core + "secrets", 201);
  read(core + "secrets/made", 200, "20");
  write("POST", core + "secrets", 409);
  read("/apis/coordination.k8s.io/v1/namespaces/shop/leases/l", 200, "5");
  read("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/sites.demo", 200, "5");

  const auto items = f.entries("item");
  REQUIRE(items.size() == 2);
  CHECK(items[0]["o"]["metadata"]["name"] == "a");
  CHECK(items[0]["o"]["metadata"]["resourceVersion"] == "3");
  CHECK(items[1]["o"]["metadata"]["name"] == "found");
  CHECK(items[1]["o"]["metadata"]["resourceVersion"] == "10");
  CHECK(base::dump_json(items).find("b3Blbi1zZXNhbWU") == std::string::npos);
  const auto opens = f.written("open");
  REQUIRE(opens.size() == 2);
  CHECK(opens[1]["object"] == true);
  CHECK(opens[1]["fields"] == "metadata.name=found");
  CHECK(f.written("write").size() == 3);
}

TEST_CASE("the server is asked for what a watch that selects tells as deleted") {
  Fixture f(true, kMostWaiting, RecordingTransport::Objects::as_found);
  const auto object = [](const std::string& name, const char* version, const char* uid) {
    return Json{
        {"kind", "Secret"},
        {"metadata",
         {{"name", name}, {"namespace", "shop"}, {"uid", uid}, {"resourceVersion", version}}},
        {"data", {{"k", "b3Blbi1zZXNhbWU="}}}};
  };
  const auto deleted = [&](const std::string& name) {
    return base::dump_json({{"type", "DELETED"}, {"object", object(name, "9", "u1")}});
  };
  f.ask("GET", "/api/v1/secrets?watch=1").head(200);
  f.wire.call(0).data(deleted("all"));
  f.ask("GET", "/api/v1/secrets?watch=1&fieldSelector=metadata.name%3Da").head(200);
  f.wire.call(1).data(deleted("a"));
  REQUIRE(f.wire.size() == 2);

  const auto watched =
      GENERATE(as<std::string>(), "/api/v1/secrets", "/api/v1/namespaces/shop/secrets");
  f.ask("GET", watched + "?watch=1&labelSelector=tier%3Dweb").head(200);
  for (const char* name : {"left", "gone", "made-anew", "refused"})
    f.wire.call(2).data(deleted(name));
  REQUIRE(f.wire.size() == 7);
  CHECK(f.wire.call(3).line() == "GET /api/v1/namespaces/shop/secrets/left");
  const auto answer = [&](std::size_t call, int status, const Json& body) {
    f.wire.call(call).head(status);
    f.wire.call(call).data(base::dump_json(body));
    f.wire.call(call).end();
  };
  answer(3, 200, object("left", "9", "u1"));
  answer(4, 404, {{"kind", "Status"}});
  answer(5, 200, object("made-anew", "12", "u2"));
  answer(6, 403, {{"kind", "Status"}});
  const auto told = f.entries("still");
  REQUIRE(told.size() == 3);
  CHECK(told[0]["name"] == "left");
  CHECK(told[0]["namespace"] == "shop");
  CHECK(told[0]["uid"] == "u1");
  CHECK(told[0]["rv"] == "9");
  CHECK(told[0]["o"]["metadata"]["resourceVersion"] == "9");
  CHECK(base::dump_json(told).find("b3Blbi1zZXNhbWU") == std::string::npos);
  CHECK(told[0]["s"] == f.written("event").back()["s"]);
  CHECK(told[1]["name"] == "gone");
  CHECK_FALSE(told[1].contains("o"));
  CHECK(told[2]["name"] == "made-anew");
  CHECK_FALSE(told[2].contains("o"));
}

TEST_CASE("an answer that comes after a later event does not take its version back") {
  Fixture f(true, kMostWaiting, RecordingTransport::Objects::as_found);
  const auto object = [](const char* version) {
    return Json{
        {"metadata",
         {{"name", "a"}, {"namespace", "shop"}, {"uid", "u1"}, {"resourceVersion", version}}}};
  };
  auto& watch = f.ask("GET", "/api/v1/configmaps?watch=1&labelSelector=tier%3Dweb");
  watch.head(200);
  watch.data(base::dump_json({{"type", "DELETED"}, {"object", object("9")}}));
  REQUIRE(f.wire.size() == 2);
  watch.data(base::dump_json({{"type", "ADDED"}, {"object", object("12")}}));
  f.wire.call(1).head(200);
  f.wire.call(1).data(base::dump_json(object("10")));
  f.wire.call(1).end();
  f.ask("PATCH", "/api/v1/namespaces/shop/configmaps/a?fieldManager=m", "{}",
        "application/apply-patch+yaml");
  auto& call = f.wire.call(2);
  call.head(200);
  call.data(base::dump_json(object("12")));
  call.end();
  const auto writes = f.entries("write");
  REQUIRE(writes.size() == 1);
  CHECK_FALSE(writes[0].contains("rv"));
  CHECK(f.written("still").size() == 1);
}

TEST_CASE("many deletions are asked for a few at a time") {
  Fixture f(true, kMostWaiting, RecordingTransport::Objects::as_found);
  auto& watch = f.ask("GET", "/api/v1/namespaces?watch=1&labelSelector=tier%3Dweb");
  watch.head(200);
  for (int i = 0; i < 20; ++i) {
    const std::string name = "n" + std::to_string(i);
    watch.data(base::dump_json(
        {{"type", "DELETED"},
         {"object", {{"metadata", {{"name", name}, {"uid", name}, {"resourceVersion", "9"}}}}}}));
  }
  CHECK(f.wire.size() == 9);
  for (std::size_t i = 1; i < f.wire.size(); ++i) {
    f.wire.call(i).head(404);
    f.wire.call(i).end();
  }
  CHECK(f.wire.size() == 21);
  CHECK(f.wire.last().line() == "GET /api/v1/namespaces/n19");
  CHECK(f.entries("still").size() == 20);
}

TEST_CASE("without being asked, single objects are not recorded") {
  Fixture f;
  auto& read = f.ask("GET", "/api/v1/namespaces/shop/configmaps/a");
  read.head(200);
  read.data(R"({"kind":"ConfigMap","metadata":{"name":"a"}})");
  read.end();
  CHECK(f.entries("open").empty());
}

}  // namespace kubewatch::hooks
