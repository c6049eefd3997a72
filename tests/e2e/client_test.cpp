// What a program on the libraries does, without rules: typed verbs, Events, waits, finalizers.
#include "client/api.hpp"
#include "e2e/requests.hpp"
#include "e2e/rules_text.hpp"
#include "e2e/world.hpp"
#include "runtime/await.hpp"
#include "runtime/event_recorder.hpp"
#include "runtime/finalizer_runner.hpp"
#include "runtime/stock_conditions.hpp"

namespace kubewatch::e2e {

namespace {

std::string config_map(const std::string& name, const std::string& extra) {
  return "{apiVersion: v1, kind: ConfigMap, metadata: {name: " + name + ", namespace: @NS@" +
         extra + "}}";
}

using Maps = client::Api<client::DynamicObject>;

// Turns the loop until the callback came.
template <class T, class Start>
Result<T> wait(World& w, Start start) {
  std::optional<Result<T>> out;
  const auto pending = start([&out](Result<T> given) { out.emplace(std::move(given)); });
  REQUIRE(w.eventually([&] { return out.has_value(); }));
  return std::move(*out);
}

}  // namespace

E2E_CASE("bytes of Secrets and ConfigMaps are base64, and kept in its usual form") {
  World w;
  const auto create = [&](const char* kind, const char* field, const Json& data) {
    const std::string path = "/api/v1/namespaces/" + w.ns() +
                             (kind == std::string("Secret") ? "/secrets" : "/configmaps");
    return send(
        w, "POST", path + "?dryRun=All",
        {{"apiVersion", "v1"}, {"kind", kind}, {"metadata", {{"name", "a"}}}, {field, data}});
  };
  const std::pair<const char*, const char*> kept[] = {
      {"YQ==", "YQ=="}, {"Y\nQ==", "YQ=="}, {"YR==", "YQ=="}, {"", ""}, {"+/8=\r\n", "+/8="}};
  for (const auto& [given, text] : kept) {
    INFO(given);
    const auto answer = create("Secret", "data", {{"x", given}});
    CHECK(answer.code == 201);
    CHECK(base::string_at(answer.body, {"data", "x"}) == text);
    CHECK(base::string_at(create("ConfigMap", "binaryData", {{"x", given}}).body,
                          {"binaryData", "x"}) == text);
  }
  CHECK(create("Secret", "data", {{"x", nullptr}}).body["data"] == Json{{"x", ""}});
  CHECK(create("ConfigMap", "data", {{"x", nullptr}}).body["data"] == Json{{"x", ""}});
  const std::pair<const char*, int> refused[] = {
      {"not base64!", 3}, {"YQ", 0}, {"YQ==YQ==", 4}, {"_-8=", 0},   {"YWFhYWFhYWFh!", 12},
      {"YQ=!", 2},        {"=", 0},  {"YQ=", 3},      {"YWFhYQ", 4}, {"YQ==\n=", 5}};
  for (const auto& [given, place] : refused) {
    INFO(given);
    const auto answer = create("Secret", "data", {{"x", given}});
    CHECK(answer.code == 400);
    CHECK(base::string_at(answer.body, {"message"}) ==
          "Secret in version \"v1\" cannot be handled as a Secret: illegal base64 data at input "
          "byte " +
              std::to_string(place));
  }
  CHECK(
      base::string_at(create("Secret", "data", {{"x", 5}}).body, {"message"}) ==
      "Secret in version \"v1\" cannot be handled as a Secret: json: cannot unmarshal number into "
      "Go struct field Secret.data of type []uint8");
  CHECK(
      base::string_at(create("ConfigMap", "binaryData", 5).body, {"message"}) ==
      "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: json: cannot unmarshal number "
      "into Go struct field ConfigMap.binaryData of type map[string][]uint8");
}

E2E_CASE("deletecollection deletes what the labels choose, and a dry run deletes nothing") {
  World w;
  for (const char* name : {"a", "b"}) w.apply(config_map(name, ", labels: {set: one}"));
  w.apply(config_map("c", ", labels: {set: two}"));
  w.apply(config_map("d", ", labels: {set: one}, finalizers: [example.com/hold]"));
  const auto maps = Maps::namespaced(w.client(), w.type("ConfigMap"), w.ns());
  REQUIRE(maps.ok());
  core::ListParams selection;
  selection.label_selector = "set=one";
  const auto remove = [&](const core::DeleteParams& params) {
    using List = client::ObjectList<client::DynamicObject>;
    auto answer = wait<List>(
        w, [&](auto done) { return maps->remove_collection(selection, params, std::move(done)); });
    if (!answer.ok()) FAIL(answer.error().render());
    return answer->items.size();
  };
  core::DeleteParams dry;
  dry.dry_run = true;
  CHECK(remove(dry) == 3);
  CHECK(w.list("ConfigMap", "set").size() == 4);
  CHECK(remove({}) == 3);
  const auto left = w.list("ConfigMap", "set");
  REQUIRE(left.size() == 2);  // another label; held by its finalizer
  CHECK(w.get("ConfigMap", "c").has_value());
  CHECK((*w.get("ConfigMap", "d"))["metadata"].contains("deletionTimestamp"));
  w.merge("ConfigMap", "d", "{metadata: {finalizers: null}}");
}

E2E_CASE("Events are written once, and counted as a series after that") {
  World w;
  const Json map = w.apply(config_map("a", ""));
  base::Random random(7);
  runtime::EventRecorder recorder(w.client(), random);
  runtime::Happening what;
  what.reason = "Tested";
  what.action = "Test";
  what.note = "it works";
  what.regarding = core::object_ref(core::meta_of(map));
  for (int i = 0; i < 3; ++i) {
    const auto taken = recorder.record({"kubewatch.dev/e2e", "e2e-1"}, what);
    REQUIRE(taken.ok());
  }
  core::ResourceType type;  // not the core group's, which shows the same Events in another shape
  type.gvk = {"events.k8s.io", "v1", "Event"};
  type.plural = "events";
  const auto events = Maps::namespaced(w.client(), type, w.ns());
  REQUIRE(events.ok());
  const auto series = [&]() -> Json {
    using List = client::ObjectList<client::DynamicObject>;
    const auto found = wait<List>(w, [&](auto done) { return events->list({}, std::move(done)); });
    if (!found.ok()) FAIL(found.error().render());
    for (const auto& event : found->items) {
      if (event.json["reason"] == "Tested") return event.json;
    }
    return nullptr;
  };
  REQUIRE(w.eventually([&] { return series().contains("series"); }));
  const Json event = series();
  CHECK(event["series"]["count"] == 3);
  CHECK(event["regarding"]["uid"] == map["metadata"]["uid"]);
  CHECK(event["note"] == "it works");
  CHECK(recorder.stats().created == 1);
  CHECK(recorder.stats().dropped == 0);
}

E2E_CASE("waits end when a kind is established, a namespace active, an object gone") {
  World w;
  w.apply(kWebsiteCrd);
  base::Random random(7);
  const auto await = [&](const core::ResourceType& type, const core::ObjectKey& key,
                         runtime::Condition condition) {
    runtime::AwaitOptions options;
    options.deadline = Duration{20000};
    auto end = wait<runtime::Awaited>(w, [&](auto done) {
      return runtime::await_condition(w.client(), type, key, condition, options, random,
                                      std::move(done));
    });
    if (!end.ok()) FAIL(end.error().render());
    return end->met;
  };
  CHECK(await(w.type("CustomResourceDefinition"), {"", "websites.e2e.kubewatch.dev"},
              runtime::conditions::crd_established()));
  CHECK(await(w.type("Namespace"), {"", w.ns()}, runtime::conditions::namespace_active()));

  w.apply(config_map("held", ", finalizers: [example.com/hold]"));
  std::optional<Result<runtime::Awaited>> gone;
  const auto pending = runtime::delete_and_finalize(
      w.client(), w.type("ConfigMap"), {w.ns(), "held"}, {}, {}, random,
      [&](Result<runtime::Awaited> end) { gone.emplace(std::move(end)); });
  CHECK(w.holds_for([&] { return !gone.has_value(); }, Duration{1000}));
  w.merge("ConfigMap", "held", "{metadata: {finalizers: null}}");
  REQUIRE(w.eventually([&] { return gone.has_value(); }));
  REQUIRE(gone->ok());
  CHECK((**gone).met);
}

E2E_CASE("a finalizer is put on before the work and taken off after the cleanup") {
  World w;
  w.apply(config_map("a", ""));
  std::vector<std::string> told;
  runtime::FinalizerRunner::Tasks tasks;
  const auto task = [&](const char* name) {
    return [&told, name](const runtime::StoredObject&, runtime::FinalizerRunner::Done done) {
      told.emplace_back(name);
      done(runtime::RunOutcome::done());
    };
  };
  tasks.apply = task("apply");
  tasks.cleanup = task("cleanup");
  runtime::FinalizerRunner runner(w.client(), w.type("ConfigMap"), "example.com/guard", "e2e",
                                  tasks);
  const auto step = [&] {
    const auto live = w.get("ConfigMap", "a");
    REQUIRE(live);
    bool done = false;
    runner.step({core::meta_of(*live), base::dump_json(*live)},
                [&](const Result<runtime::RunOutcome>&) { done = true; });
    REQUIRE(w.eventually([&] { return done; }));
  };
  step();
  CHECK(told.empty());
  CHECK((*w.get("ConfigMap", "a"))["metadata"]["finalizers"][0] == "example.com/guard");
  step();
  w.remove("ConfigMap", "a");
  step();
  CHECK(told == std::vector<std::string>{"apply", "cleanup"});
  REQUIRE(w.eventually([&] { return !w.get("ConfigMap", "a"); }));
}

E2E_CASE("what stands for a time in metadata and is none is refused") {
  World w;
  const std::string path = "/api/v1/namespaces/" + w.ns() + "/configmaps";
  for (const char* time : {"yesterday", "2020-01-01", "2020-13-01T00:00:00Z", ""}) {
    INFO(time);
    const Answer answer =
        send(w, "POST", path, {{"metadata", {{"name", "a"}, {"creationTimestamp", time}}}});
    CHECK(answer.code == 400);
    CHECK(base::string_at(answer.body, {"message"}).find("parsing time") != std::string::npos);
  }
  CHECK(send(w, "POST", path,
             {{"metadata", {{"name", "a"}, {"creationTimestamp", "2020-01-01T00:00:00Z"}}}})
            .code == 201);
}

}  // namespace kubewatch::e2e
