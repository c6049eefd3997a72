#include "rehearsal/recorded_server.hpp"

#include "base/json.hpp"
#include "hooks/recording_format.hpp"
#include "rehearsal/recorded_transport.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::rehearsal;

namespace {

Json object(const std::string& name, const std::string& version, const std::string& tier = "web") {
  return {{"metadata",
           {{"name", name},
            {"namespace", "shop"},
            {"resourceVersion", version},
            {"labels", {{"tier", tier}}}}}};
}

std::string recording(const std::vector<Json>& entries) {
  std::string lines;
  for (const Json& entry : entries) lines += base::dump_json(entry) + "\n";
  return std::string(hooks::kRecordingMagic) + hooks::recording_block(lines);
}

Json event(const std::string& type, const Json& what) {
  return {{"t", "event"}, {"s", 1}, {"type", type}, {"o", what}};
}

std::vector<Json> listed() {
  return {{{"t", "start"}, {"v", 1}},
          {{"t", "types"},
           {"types",
            {{{"group", ""},
              {"version", "v1"},
              {"kind", "ConfigMap"},
              {"plural", "configmaps"},
              {"singular", "configmap"},
              {"namespaced", true},
              {"shortNames", {"cm"}}}}}},
          {{"t", "open"}, {"s", 1}, {"path", "/api/v1/configmaps"}, {"how", "list"}},
          {{"t", "item"}, {"s", 1}, {"o", object("a", "1")}},
          {{"t", "item"}, {"s", 1}, {"o", object("b", "2", "db")}},
          {{"t", "page"}, {"s", 1}, {"rv", "5"}, {"more", false}},
          {{"t", "open"}, {"s", 1}, {"path", "/api/v1/configmaps"}, {"how", "watch"}}};
}

RecordedServer server(std::vector<Json> entries) {
  auto out = RecordedServer::load(recording(entries));
  if (!out.ok()) FAIL(out.error().render());
  return std::move(*out);
}

std::vector<std::string> names_at(const RecordedServer& from, const std::string& url) {
  const auto answer = from.answer("GET", "http://x" + url);
  const auto body = base::parse_json(answer.body);
  std::vector<std::string> out;
  if (answer.status != 200 || !body.ok()) return {"status " + std::to_string(answer.status)};
  for (const Json& item : (*body)["items"]) out.push_back(item["metadata"]["name"]);
  return out;
}
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a recording lists what its streams had listed first, with selectors and namespaces") {
  const auto from = server(listed());
  CHECK(names_at(from, "/api/v1/configmaps") == Names{"a", "b"});
  CHECK(names_at(from, "/api/v1/namespaces/shop/configmaps") == Names{"a", "b"});
  CHECK(names_at(from, "/api/v1/namespaces/blog/configmaps").empty());
  CHECK(names_at(from, "/api/v1/configmaps?labelSelector=tier%3Ddb") == Names{"b"});
  CHECK(names_at(from, "/api/v1/configmaps?fieldSelector=metadata.name%3Da") == Names{"a"});
  CHECK(names_at(from, "/api/v1/pods") == Names{"status 404"});
  CHECK(from.answer("GET", "http://x/api/v1/namespaces/shop/configmaps/a").status == 200);
  CHECK(from.answer("GET", "http://x/api/v1/namespaces/shop/configmaps/c").status == 404);
}

TEST_CASE("a recording cannot be written to") {
  const auto from = server(listed());
  for (const char* method : {"POST", "PUT", "PATCH", "DELETE"}) {
    CHECK(from.answer(method, "http://x/api/v1/namespaces/shop/configmaps/a").status == 405);
  }
}

TEST_CASE("discovery of a recording has the words that were recorded") {
  const auto from = server(listed());
  const auto core = base::parse_json(from.answer("GET", "http://x/api").body);
  REQUIRE(core.ok());
  const Json& resource = (*core)["items"][0]["versions"][0]["resources"][0];
  CHECK(resource["resource"] == "configmaps");
  CHECK(resource["responseKind"]["kind"] == "ConfigMap");
  CHECK(resource["scope"] == "Namespaced");
  CHECK(resource["shortNames"] == Json({"cm"}));
  CHECK(from.answer("GET", "http://x/version").status == 200);
}

TEST_CASE("a recording without kinds is read for them") {
  auto entries = listed();
  entries.erase(entries.begin() + 1);
  Json named = object("c", "6");
  named["kind"] = "ConfigMap";
  entries.push_back(event("ADDED", named));
  const auto core = base::parse_json(server(entries).answer("GET", "http://x/api").body);
  REQUIRE(core.ok());
  const Json& resource = (*core)["items"][0]["versions"][0]["resources"][0];
  CHECK(resource["responseKind"]["kind"] == "ConfigMap");
  CHECK(resource["scope"] == "Namespaced");
}

TEST_CASE("a recording of odd shapes is read for what it has, and ends nothing") {
  const RecordedServer from =
      server({{{"t", "start"}, {"v", 1}},
              {{"t", "types"}, {"types", {1, "x", nullptr, {{"plural", 5}, {"namespaced", "no"}}}}},
              {{"t", "kind"}, {"name", "sites.demo.io"}, {"crd", {{"spec", "x"}}}},
              {{"t", "open"}, {"s", 1}, {"path", "/apis/demo.io/v1/sites"}, {"how", "list"}},
              {{"t", "item"}, {"s", 1}, {"o", "no object"}},
              {{"t", "item"}, {"s", 1}, {"o", {{"metadata", {{"name", "a"}}}}}},
              {{"t", "page"}, {"s", 1}, {"rv", 5}, {"more", "no"}}});
  CHECK(from.answer("GET", "http://x/apis/demo.io/v1/sites").status == 200);
  CHECK(from.answer("GET", "http://x/apis").status == 200);
}

TEST_CASE("steps come in the recorded order, and what leaves a selection is deleted from it") {
  auto entries = listed();
  entries.push_back(event("MODIFIED", object("a", "6", "db")));
  entries.push_back(event("MODIFIED", object("b", "7", "web")));
  entries.push_back(event("DELETED", object("a", "8", "db")));
  auto from = server(entries);
  const auto target = hooks::api_target("/api/v1/configmaps?labelSelector=tier%3Dweb");
  REQUIRE(target);
  const auto interest = from.interest_of(*target);
  REQUIRE(interest.ok());
  std::vector<std::string> seen;
  while (auto step = from.next({1})) {
    const std::string line = RecordedServer::event_line(*step, *interest);
    const auto document = base::parse_json(line);
    seen.push_back(line.empty() ? "nothing"
                                : base::string_at(*document, {"type"}) + " " +
                                      base::string_at(*document, {"object", "metadata", "name"}));
  }
  CHECK(seen == std::vector<std::string>{"DELETED a", "ADDED b", "nothing"});
  CHECK(from.at_end());
}

TEST_CASE("a second list is a loss, after which the new state is listed") {
  auto entries = listed();
  entries.push_back({{"t", "open"}, {"s", 1}, {"path", "/api/v1/configmaps"}, {"how", "list"}});
  entries.push_back({{"t", "item"}, {"s", 1}, {"o", object("b", "9")}});
  entries.push_back({{"t", "page"}, {"s", 1}, {"rv", "10"}, {"more", false}});
  auto from = server(entries);
  CHECK(names_at(from, "/api/v1/configmaps") == Names{"a", "b"});
  const auto step = from.next({1});
  REQUIRE(step);
  CHECK(step->lost);
  CHECK(names_at(from, "/api/v1/configmaps") == Names{"b"});
  CHECK(!from.next({1}));
}

TEST_CASE("what a stream is of does not change while it is told, so it is listed again") {
  auto entries = listed();
  entries.back()["labels"] = "tier=db";
  entries.push_back(event("MODIFIED", object("a", "4")));  // goes back from 5
  auto from = server(entries);
  CHECK(names_at(from, "/api/v1/configmaps") == Names{"a", "b"});
  CHECK(from.next({1}));
  CHECK(names_at(from, "/api/v1/configmaps") == Names{"a", "b"});
  CHECK(!from.next({1}));
}

// As apply-ssa records: an object that is read, written and read again, without a watch.
std::vector<Json> single(int stream, const std::string& name, const std::vector<Json>& states) {
  std::vector<Json> out;
  for (const Json& state : states) {
    out.push_back({{"t", "open"},
                   {"s", stream},
                   {"path", "/api/v1/namespaces/shop/configmaps"},
                   {"fields", "metadata.name=" + name},
                   {"object", true},
                   {"how", "list"}});
    const bool there = state.is_object();
    if (there) out.push_back({{"t", "item"}, {"s", stream}, {"o", state}});
    out.push_back({{"t", "page"},
                   {"s", stream},
                   {"rv", base::string_at(state, {"metadata", "resourceVersion"})},
                   {"more", false}});
  }
  return out;
}

TEST_CASE("what became of a single object is told as steps, and a lost watch of a name is not") {
  std::vector<Json> entries = {{{"t", "start"}, {"v", 1}}};
  const auto add = [&entries](const std::vector<Json>& more) {
    entries.insert(entries.end(), more.begin(), more.end());
  };
  add(single(1, "a", {object("a", "5"), object("a", "9")}));
  add(single(2, "b", {Json(), object("b", "8")}));
  add(single(3, "c", {object("c", "7"), object("c", "7")}));
  add(single(1, "a", {Json()}));
  auto lost = single(4, "d", {object("d", "5"), object("d", "9")});
  for (Json& entry : lost) entry.erase("object");
  add(lost);
  const std::string all = "/api/v1/namespaces/shop/configmaps";
  const auto told = [&](const std::string& name) {
    auto from = server(entries);
    const auto target = hooks::api_target(all + "?fieldSelector=metadata.name%3D" + name);
    REQUIRE(target);
    const auto interest = from.interest_of(*target);
    REQUIRE(interest.ok());
    Names out;
    while (const auto step = from.next({interest->stream})) {
      if (step->lost) {
        out.emplace_back("lost");
        continue;
      }
      const auto line = base::parse_json(RecordedServer::event_line(*step, *interest));
      REQUIRE(line.ok());
      out.push_back(base::string_at(*line, {"type"}) + " " +
                    base::string_at(*line, {"object", "metadata", "resourceVersion"}));
    }
    return out;
  };
  CHECK(told("a") == Names{"MODIFIED 9", "DELETED 9"});
  CHECK(told("b") == Names{"ADDED 8"});
  CHECK(told("c").empty());
  CHECK(told("d") == Names{"lost"});
  // They came one by one, in no order that a list could have.
  const auto kind = hooks::api_target(all);
  REQUIRE(kind);
  const auto refused = server(entries).interest_of(*kind);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message() ==
        "the recording has configmaps one by one: name one, such as configmaps/d");
}

TEST_CASE(
    "what was watched one by one is refused as a whole, so that it is asked for by name again") {
  std::vector<Json> entries = {{{"t", "start"}, {"v", 1}}};
  int number = 0;
  for (const char* name : {"a", "b"}) {
    ++number;
    const auto add = [&](Json more) {
      more["s"] = number;
      entries.push_back(std::move(more));
    };
    add({{"t", "open"},
         {"path", "/api/v1/namespaces/shop/configmaps"},
         {"fields", std::string("data.k=v,metadata.name=") + name},
         {"how", "list"}});
    add({{"t", "item"}, {"o", object(name, "4")}});
    add({{"t", "page"}, {"rv", "5"}, {"more", false}});
  }
  const auto from = server(entries);
  const std::string all = "/api/v1/namespaces/shop/configmaps?fieldSelector=data.k%3Dv";
  CHECK(names_at(from, all) == Names{"status 403"});
  CHECK(from.answer("GET", "http://x" + all).body.find("such as configmaps/b") !=
        std::string::npos);
  CHECK(names_at(from, all + "%2Cmetadata.name%3Dc") == Names{"status 404"});
  const auto one = hooks::api_target(all + "%2Cmetadata.name%3Da");
  REQUIRE(one);
  CHECK(from.interest_of(*one)->stream == 1);
}

TEST_CASE("a streaming list counts as a list") {
  auto entries = listed();
  entries.resize(2);
  entries.push_back({{"t", "open"}, {"s", 1}, {"path", "/api/v1/configmaps"}, {"how", "list"}});
  entries.push_back(event("ADDED", object("a", "1")));
  entries.push_back(event(
      "BOOKMARK",
      {{"metadata",
        {{"resourceVersion", "5"}, {"annotations", {{"k8s.io/initial-events-end", "true"}}}}}}));
  entries.push_back(event("ADDED", object("b", "6")));
  auto from = server(entries);
  CHECK(names_at(from, "/api/v1/configmaps") == Names{"a"});
  CHECK(from.next({1})->type == "ADDED");
}

TEST_CASE("what is no recording is refused, and a damaged end is told") {
  CHECK(!RecordedServer::load("hello").ok());
  const auto cut = RecordedServer::load(recording(listed()) + "rubbish");
  REQUIRE(cut.ok());
  CHECK(!cut->damage().empty());
}

TEST_CASE("a recorded watch waits for everybody who lists, then tells all and says so") {
  auto entries = listed();
  entries.push_back(event("ADDED", object("c", "6")));
  loop::EventLoop loop{loop::VirtualClock{}};
  bool ended = false;
  RecordedTransport transport(loop, server(entries), [&] { ended = true; });
  std::string list, told;
  bool listed_done = false;
  http::Request request;
  request.url = "http://x/api/v1/configmaps";
  http::CallHandlers handlers;
  handlers.on_data = [&](std::string_view bytes) { list += bytes; };
  handlers.on_done = [&](Result<void>) { listed_done = true; };
  const auto first = transport.start(request, handlers);
  CHECK(!loop.run_until([&] { return ended; }, Duration{1000}));
  CHECK(listed_done);
  request.url += "?watch=true&resourceVersion=5";
  handlers.on_data = [&](std::string_view bytes) { told += bytes; };
  const auto watch = transport.start(request, handlers);
  CHECK(loop.run_until([&] { return ended; }, Duration{1000}));
  CHECK(told.find("\"name\":\"c\"") != std::string::npos);
  CHECK(told.find("\"name\":\"a\"") == std::string::npos);
}

TEST_CASE("a list that is given up before its answer holds up no recorded watch") {
  auto entries = listed();
  entries.push_back(event("ADDED", object("c", "6")));
  loop::EventLoop loop{loop::VirtualClock{}};
  bool ended = false;
  RecordedTransport transport(loop, server(entries), [&] { ended = true; });
  http::Request list;
  list.url = "http://x/api/v1/configmaps?labelSelector=a%3Db";
  http::Request watch;
  watch.url = "http://x/api/v1/configmaps?watch=true&resourceVersion=5";
  std::string told;
  http::CallHandlers handlers;
  handlers.on_data = [&](std::string_view bytes) { told += bytes; };
  const auto watching = transport.start(watch, handlers);
  transport.start(list, {}).reset();
  CHECK(loop.run_until([&] { return ended; }, Duration{1000}));
  CHECK(told.find("\"name\":\"c\"") != std::string::npos);
}

TEST_CASE("a list that follows one that was given up is waited for all the same") {
  auto entries = listed();
  entries.push_back(event("ADDED", object("c", "6")));
  loop::EventLoop loop{loop::VirtualClock{}};
  bool ended = false;
  RecordedTransport transport(loop, server(entries), [&] { ended = true; });
  http::Request list;
  list.url = "http://x/api/v1/configmaps?labelSelector=a%3Db";
  http::Request watch;
  watch.url = "http://x/api/v1/configmaps?watch=true&resourceVersion=5";
  const auto watching = transport.start(watch, {});
  transport.start(list, {}).reset();
  const auto again = transport.start(list, {});
  CHECK(!loop.run_until([&] { return ended; }, Duration{1000}));
}
