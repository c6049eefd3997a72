#include "hooks/streams.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "client/rewinds.hpp"
#include "client/rig.hpp"
#include "hooks/rule_file.hpp"
#include "hooks/rule_folder.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;
using Lines = std::vector<std::string>;

namespace {

// The stream that the keys of a rule's `for` ask for.
StreamSpec spec_of(const std::string& keys) {
  const test::RuleFolder folder;
  folder.script("r.sh");
  const auto loaded = load_rules(
      {folder.write("rules.yaml",
                    "apiVersion: kubewatch.dev/v1\nkind: Controller\nmetadata: {name: a}\nspec:\n"
                    "  for: {apiVersion: v1, kind: Pod, " +
                        keys + "}\n  reconcile: {exec: [./r.sh]}\n")});
  for (const auto& problem : loaded.problems) FAIL(problem.str());
  const StreamRule& rule = loaded.rules.at(0).for_;
  StreamSpec spec;
  spec.type = test::kPods;
  spec.namespace_ = "shop";
  spec.label_selector = rule.label_selector.str();
  spec.field_selector = rule.field_selector.str();
  spec.strip = rule.strip;
  spec.list = rule.list;
  return spec;
}

// What goes over the wire until the watch is open.
Lines wire(const std::string& keys, std::vector<std::string> answers) {
  test::Rig rig;
  for (std::string& answer : answers) rig.transport.answer(200, std::move(answer));
  base::Random random(1);
  StreamPool pool(rig.client, random);
  pool.open(spec_of(keys), {[](const auto&) {}, [] {}});
  rig.run();
  Lines out;
  const std::string path = "GET /api/v1/namespaces/shop/pods";
  for (const std::string& line : rig.transport.lines()) {
    REQUIRE(line.rfind(path, 0) == 0);
    out.push_back(line.substr(path.size()));
  }
  return out;
}

// The Accept headers of the same requests.
Lines accepts(const std::string& keys, std::vector<std::string> answers) {
  test::Rig rig;
  for (std::string& answer : answers) rig.transport.answer(200, std::move(answer));
  base::Random random(1);
  StreamPool pool(rig.client, random);
  pool.open(spec_of(keys), {[](const auto&) {}, [] {}});
  rig.run();
  Lines out;
  for (std::size_t i = 0; i < rig.transport.size(); ++i) {
    out.emplace_back(rig.transport.request(i).headers.get("Accept"));
  }
  return out;
}

const char* const kList =
    R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":[]})";
const char* const kFirstPage =
    R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"c"},)"
    R"("items":[{"metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"4"}}]})";

}  // namespace

TEST_CASE("every key of a rule's list block is in the requests that are sent") {
  const std::string watch =
      "?allowWatchBookmarks=true&resourceVersion=5&timeoutSeconds=225&watch=true";
  CHECK(wire("list: {}", {kList}) == Lines{"", watch});
  CHECK(wire("list: {strategy: unpaged, semantics: any}", {kList}) ==
        Lines{"?resourceVersion=0", watch});
  CHECK(wire("list: {strategy: paged, pageSize: 7}", {kFirstPage, kList}) ==
        Lines{"?limit=7", "?continue=c&limit=7", watch});
  // As --chunk-size 0.
  CHECK(wire("list: {pageSize: 0}", {kList}) == Lines{"", watch});
  // The pair that drops the version elsewhere keeps it here.
  CHECK(wire("list: {strategy: paged, semantics: any, pageSize: 7}", {kList}) ==
        Lines{"?limit=7&resourceVersion=0", watch});
  CHECK(wire("list: {timeout: 60s, bookmarks: false}", {kList}) ==
        Lines{"", "?resourceVersion=5&timeoutSeconds=60&watch=true"});
  CHECK(wire("list: {strategy: streaming, bookmarks: false, timeout: 5s}", {}) ==
        Lines{"?allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan&sendInitialEvents=true&"
              "timeoutSeconds=5&watch=true"});
  CHECK(wire("list: {strategy: streaming, semantics: any}", {}) ==
        Lines{"?allowWatchBookmarks=true&resourceVersion=0&resourceVersionMatch=NotOlderThan&"
              "sendInitialEvents=true&timeoutSeconds=225&watch=true"});
  CHECK(wire("labelSelector: tier in (web), list: {strategy: unpaged}", {kList})[0] ==
        "?labelSelector=tier%3Dweb");
}

TEST_CASE("content: metadata asks for metadata, in lists and in watches") {
  CHECK(accepts("content: metadata", {kList}) ==
        Lines{std::string(core::accept_list(core::Content::metadata)),
              std::string(core::accept_watch(core::Content::metadata))});
  CHECK(accepts("content: full", {kList}) ==
        Lines{std::string(core::accept_list(core::Content::full)),
              std::string(core::accept_watch(core::Content::full))});
  CHECK(core::accept_watch(core::Content::metadata).find("as=PartialObjectMetadata") !=
        std::string_view::npos);
}

TEST_CASE("a list that fails for ten seconds is not to be waited for, until it comes") {
  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport(loop);
  client::Client client(loop, transport, test::scripted_config());
  transport.route("GET", "/api/v1/namespaces/shop/pods", 500, "broken");
  base::Random random(1);
  StreamPool pool(client, random);
  int told = 0;
  const auto opened =
      pool.open(spec_of("list: {strategy: unpaged}"), {[](const auto&) {}, [&] { ++told; }});
  const Stream& stream = *opened.stream;
  loop.run_until([] { return false; }, Duration{9000});
  CHECK_FALSE(stream.stalled());
  CHECK(told == 0);
  loop.run_until([&] { return stream.stalled(); }, Duration{30000});
  CHECK(stream.stalled());
  CHECK_FALSE(stream.blocked());
  CHECK(told == 1);
  transport.route("GET", "/api/v1/namespaces/shop/pods", 200, kList);
  loop.run_until([&] { return stream.ready(); }, Duration{60000});
  CHECK(stream.ready());
  CHECK_FALSE(stream.stalled());
  CHECK(told == 2);
}

TEST_CASE("failures of a watch are counted by class, and the first of each class is logged") {
  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport(loop);
  client::Client client(loop, transport, test::scripted_config());
  transport.answer(500, "broken");
  transport.answer(500, "broken");
  transport.answer(200, kList);
  transport.answer(500, "broken");
  base::Random random(1);
  std::vector<std::string> logged;
  base::capture_log(&logged);
  StreamPool pool(client, random);
  const auto opened = pool.open(spec_of("list: {strategy: unpaged}"), {[](const auto&) {}, [] {}});
  loop.run_until([&] { return opened.stream->facts().failures[1] > 0; }, Duration{30000});
  base::capture_log(nullptr);
  CHECK(opened.stream->facts().failures == runtime::FailureCounts{2, 1, 0, 0, 0});
  const auto lines_with = [&](const std::string& text) {
    return std::count_if(logged.begin(), logged.end(), [&](const std::string& line) {
      return line.find(text) != std::string::npos;
    });
  };
  CHECK(lines_with("where=\"initial list\"") == 1);
  CHECK(lines_with("where=\"watch start\"") == 1);
}

TEST_CASE("a list that is needed anew has ten seconds of its own") {
  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport(loop);
  client::Client client(loop, transport, test::scripted_config());
  transport.answer(200, kList);
  base::Random random(1);
  StreamPool pool(client, random);
  const auto opened = pool.open(spec_of("list: {strategy: unpaged}"), {[](const auto&) {}, [] {}});
  const Stream& stream = *opened.stream;
  const auto pass = [&](int seconds) {
    loop.run_until([] { return false; }, Duration{seconds * 1000});
  };
  loop.run_until([&] { return stream.ready() && transport.size() == 2; }, Duration{5000});
  REQUIRE(stream.ready());
  transport.last().fail(Error(ErrorKind::unreachable, "cut"));  // the watch comes back
  loop.run_until([&] { return transport.size() == 3; }, Duration{30000});
  transport.last().head(200);
  pass(60);
  REQUIRE(stream.ready());
  transport.route("GET", "/api/v1/namespaces/shop/pods", 500, "broken");
  const auto other = client.rewinds().listen("other", [] {});
  client.rewinds().seen(other);  // the server was restored: all is listed anew
  pass(9);
  CHECK_FALSE(stream.ready());
  CHECK_FALSE(stream.stalled());
  loop.run_until([&] { return stream.stalled(); }, Duration{30000});
  CHECK(stream.stalled());
}

TEST_CASE("a list whose pages come between failures is waited for") {
  loop::EventLoop loop{loop::VirtualClock{}};
  test::ScriptedTransport transport(loop);
  client::Client client(loop, transport, test::scripted_config());
  http::Headers wait;
  wait.add("Retry-After", "8");
  const auto page = [](int number) {
    return R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5","continue":"c)" +
           std::to_string(number) + R"("},"items":[{"metadata":{"name":"a)" +
           std::to_string(number) +
           R"(","namespace":"shop","uid":"u","resourceVersion":"4"},"spec":{"text":")" +
           std::string(5000, static_cast<char>('a' + number)) + R"("}}]})";
  };
  for (int i = 0; i < 4; ++i) {
    transport.answer(429, "busy", wait);
    transport.answer(200, page(i));
  }
  for (int i = 0; i < 10; ++i) transport.answer(429, "busy", wait);
  base::Random random(1);
  StreamPool pool(client, random);
  const auto opened =
      pool.open(spec_of("list: {strategy: paged, pageSize: 1}"), {[](const auto&) {}, [] {}});
  const Stream& stream = *opened.stream;
  loop.run_until([] { return false; }, Duration{31000});
  CHECK_FALSE(stream.stalled());
  loop.run_until([&] { return stream.stalled(); }, Duration{30000});
  CHECK(stream.stalled());
}

TEST_CASE("streams are shared only when everything that is asked for is the same") {
  const std::string same = spec_of("list: {pageSize: 7}").key();
  CHECK(spec_of("list: {pageSize: 7}").key() == same);
  for (const char* other :
       {"list: {pageSize: 8}", "list: {pageSize: 7, strategy: paged}",
        "list: {pageSize: 7, semantics: any}", "list: {pageSize: 7, timeout: 60s}",
        "list: {pageSize: 7, bookmarks: false}", "list: {pageSize: 7, backoff: {initial: 1s}}",
        "list: {pageSize: 7, backoff: {max: 1m}}", "list: {pageSize: 7}, strip: [.data]",
        "list: {pageSize: 7}, content: metadata", "list: {pageSize: 7}, labelSelector: a",
        "list: {pageSize: 7}, fieldSelector: a=b"}) {
    INFO(other);
    CHECK(spec_of(other).key() != same);
  }
}

TEST_CASE("who asks for the same is given the same list and the same watch") {
  test::Rig rig;
  rig.transport.answer(
      200, R"({"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"5"},"items":)"
           R"([{"metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"4"}}]})");
  base::Random random(1);
  StreamPool pool(rig.client, random);
  std::vector<int> told(2);
  const auto open = [&](std::size_t listener) {
    return pool.open(spec_of("list: {strategy: unpaged}"),
                     {[&told, listener](const auto&) { ++told[listener]; }, [] {}});
  };
  const auto first = open(0);
  rig.run();
  const auto second = open(1);  // late: what is there is there
  rig.run();
  CHECK(second.stream->ready());
  CHECK(second.stream->store().size() == 1);
  CHECK(pool.facts().size() == 1);
  REQUIRE(rig.transport.size() == 2);
  auto& watch = rig.transport.call(1);
  REQUIRE(watch.line().find("watch=true") != std::string::npos);
  watch.head(200);
  const auto change = [&](const std::string& version) {
    watch.data(R"({"type":"MODIFIED","object":{"metadata":{"name":"a","namespace":"shop",)"
               R"("uid":"u","resourceVersion":")" +
               version + "\"},\"spec\":{\"v\":" + version + "}}}\n");
    rig.run();
  };
  change("6");
  CHECK(told == std::vector<int>{1, 1});
  // The one goes on without the other.
  pool.close(first);
  change("7");
  CHECK(told == std::vector<int>{1, 2});
  CHECK(pool.facts().size() == 1);
  pool.close(second);
  CHECK(pool.facts().empty());
  CHECK(rig.transport.size() == 2);
}
