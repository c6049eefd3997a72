// Changes of what a stream does not keep: which of them run nothing, and that all others do.
#include "hooks/kept_change.hpp"

#include "hooks/scripted_engine.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

constexpr Duration kTurn{10};

core::ResourceType type(bool has_status) {
  core::ResourceType out;
  out.gvk = {"", "v1", "Node"};
  if (has_status) out.subresources.push_back({"status", out.gvk, {"get"}});
  return out;
}

StreamRule stream(core::Content content, std::vector<std::string> strip = {}) {
  StreamRule out;
  out.list.content = content;
  out.strip = std::move(strip);
  return out;
}

std::string text(const std::string& version, const std::string& metadata = "",
                 const std::string& more = "") {
  return R"({"kind":"Node","metadata":{"name":"a","resourceVersion":")" + version + "\"" +
         metadata + "}" + more + "}";
}

runtime::StoreChange change(const std::string& before, const std::string& now) {
  runtime::StoreChange out;
  out.type = runtime::ChangeType::modified;
  out.previous_meta = *core::parse_meta(before);
  out.previous_json = before;
  out.meta = *core::parse_meta(now);
  out.json = now;
  return out;
}

constexpr auto kFull = core::Content::full;
constexpr auto kMetadata = core::Content::metadata;
constexpr auto kOwned = Relative::owned;
constexpr auto kRelated = Relative::related;

}  // namespace

TEST_CASE("texts that differ in what the server counts alone are the same") {
  const std::string before =
      text("1", R"(,"generation":1,"labels":{"a":"b"})", R"(,"spec":{"a":1})");
  CHECK(same_but_for_counts(
      before, text("2", R"(,"generation":2,"labels":{"a":"b"})", R"(,"spec":{"a":1})")));
  CHECK(same_but_for_counts(text("1"), text("2", R"(,"managedFields":[{}])")));
  CHECK_FALSE(same_but_for_counts(
      before, text("2", R"(,"generation":1,"labels":{"a":"c"})", R"(,"spec":{"a":1})")));
  CHECK_FALSE(same_but_for_counts(
      before, text("2", R"(,"generation":1,"labels":{"a":"b"})", R"(,"spec":{"a":2})")));
  CHECK_FALSE(same_but_for_counts(before, text("2", R"(,"generation":1,"labels":{"a":"b"})")));
  CHECK_FALSE(
      same_but_for_counts(text("1"), text("2", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")")));
  // Beside the metadata the same words are others.
  CHECK_FALSE(same_but_for_counts(text("1", "", R"(,"generation":1)"),
                                  text("2", "", R"(,"generation":2)")));
  CHECK_FALSE(same_but_for_counts("{", "{"));
}

TEST_CASE("of an object kept as metadata only a change of its status alone tells nothing") {
  const auto heartbeat = change(text("1"), text("2"));
  const auto counted = change(text("1", R"(,"generation":3)"), text("2", R"(,"generation":3)"));
  for (const Relative relative : {kOwned, kRelated}) {
    CHECK(only_unkept_changed(stream(kMetadata), type(true), counted, relative));
    // What has no status has changed in what it holds.
    CHECK_FALSE(only_unkept_changed(stream(kMetadata), type(false), counted, relative));
    // It may be a change of its spec.
    CHECK_FALSE(only_unkept_changed(stream(kMetadata), type(true), heartbeat, relative));
  }
  const auto spec = change(text("1", R"(,"generation":3)"), text("2", R"(,"generation":4)"));
  for (const Relative relative : {kOwned, kRelated}) {
    CHECK_FALSE(only_unkept_changed(stream(kMetadata), type(true), spec, relative));
  }
}

TEST_CASE("a change of what strip drops tells nothing, but of a child only where it is status") {
  const auto same = change(text("1"), text("2"));
  const std::vector<std::string> status = {"/status/conditions", "/metadata/managedFields"};
  for (const Relative relative : {kOwned, kRelated}) {
    CHECK(only_unkept_changed(stream(kFull, status), type(true), same, relative));
    // Nothing is dropped that would explain the change.
    CHECK_FALSE(only_unkept_changed(stream(kFull), type(true), same, relative));
    CHECK_FALSE(only_unkept_changed(stream(kFull, {"/metadata/managedFields"}), type(true), same,
                                    relative));
  }
  CHECK(only_unkept_changed(stream(kFull, {"/spec"}), type(true), same, kRelated));
  CHECK_FALSE(only_unkept_changed(stream(kFull, {"/spec"}), type(true), same, kOwned));
  const auto counted = change(text("1", R"(,"generation":3)"), text("2", R"(,"generation":3)"));
  CHECK(only_unkept_changed(stream(kFull, {"/spec"}), type(true), counted, kOwned));
}

TEST_CASE("what comes, goes, moves or is not known whole always tells something") {
  const StreamRule rule = stream(kFull, {"/status"});
  auto one = change(text("1"), text("2"));
  REQUIRE(only_unkept_changed(rule, type(true), one, kRelated));
  auto reduced = one;
  reduced.reduced = true;
  CHECK_FALSE(only_unkept_changed(rule, type(true), reduced, kRelated));
  auto labelled = one;  // which are stripped
  labelled.meta.labels.emplace_back("a", "b");
  CHECK_FALSE(only_unkept_changed(rule, type(true), labelled, kRelated));
  for (const auto kind : {runtime::ChangeType::added, runtime::ChangeType::deleted}) {
    one.type = kind;
    CHECK_FALSE(only_unkept_changed(rule, type(true), one, kRelated));
  }
}

TEST_CASE("a related or owned object whose stripped part alone changes runs nothing") {
  const bool owned = GENERATE(true, false);
  INFO(owned);
  test::ScriptedEngine world(
      owned ? "  owns: [{apiVersion: v1, kind: ConfigMap, strip: [.status]}]\n"
            : "  watches: [{name: maps, apiVersion: v1, kind: ConfigMap, strip: [.status], map: "
              "all}]\n");
  const std::string label = R"(,"labels":{"kubewatch.dev/owner-uid":"u-Website"})";
  const auto map = [&](const std::string& version, const std::string& spec,
                       const std::string& status) {
    std::string out = test::object("v1", "ConfigMap", version, spec, label);
    out.back() = ',';
    return out + R"("status":{"seen":)" + status + "}}";
  };
  world.transport.answer(200, test::list(test::object(test::kSite, "Website", "4", "{}")));
  world.start();
  world.give_list("configmaps", map("4", "{}", "1"));
  auto& watch = world.watch("configmaps");
  watch.head(200);
  REQUIRE(world.until([&] { return world.engine->status().idle && !world.runs.empty(); }));
  const std::size_t before = world.runs.size();
  watch.data(test::event(map("6", "{}", "2")));
  world.loop.run_until([] { return false; }, kTurn);
  CHECK(world.engine->status().idle);
  CHECK(world.runs.size() == before);
  // It was taken all the same, and what is kept counts as ever.
  watch.data(test::event(map("7", R"({"a":1})", "2")));
  REQUIRE(world.until([&] { return world.runs.size() > before; }));
  watch.data(test::watch_line("DELETED", map("8", R"({"a":1})", "2")));
  CHECK(world.until([&] { return world.runs.size() > before + 1; }));
}
