#include "base/json.hpp"
#include "cli/watch/end_rule.hpp"
#include "cli/watch/event_filter.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::cli::watch;
using Words = std::vector<std::string>;

namespace {

const Json kBefore = {{"spec", {{"replicas", 1}, {"tags", {"a", "b"}}}}};
const Json kAfter = {{"spec", {{"replicas", 2}, {"tags", {"a", "b"}}}}};

EventView modified() {
  return {&kBefore, &kAfter, "MODIFIED", false};
}

EventFilter filter(const Words& fields, const std::string& when = "") {
  auto out = EventFilter::parse(fields, when);
  if (!out.ok()) FAIL(out.error().render());
  return std::move(*out);
}

}  // namespace

TEST_CASE("commas in brackets, braces and quotes belong to a path") {
  CHECK(split_paths(".a,.b") == Words{".a", ".b"});
  CHECK(split_paths(".a[.x,.y],{.b}") == Words{".a[.x,.y]", "{.b}"});
  CHECK(split_paths(R"(.a["x,\"y"],.b)") == Words{R"(.a["x,\"y"])", ".b"});
}

TEST_CASE("the flag --fields shows an event only when one of them changed, with both values") {
  const auto seen = filter({".spec.replicas,{.spec.tags[1]}"}).look(modified());
  REQUIRE(seen.ok());
  REQUIRE(*seen);
  REQUIRE((*seen)->size() == 2);
  CHECK((**seen)[0].before == 1);
  CHECK((**seen)[0].after == 2);
  CHECK((**seen)[1].after == "b");
  const auto other = filter({".spec.tags", ".nothing"}).look(modified());
  REQUIRE(other.ok());
  CHECK(!*other);
}

TEST_CASE("the flag --fields shows what is new and what is gone whatever its fields are") {
  EventView added = modified();
  added.before = nullptr;
  added.type = "ADDED";
  CHECK(filter({".spec.tags"}).look(added)->has_value());
  EventView deleted = modified();
  deleted.type = "DELETED";
  CHECK(filter({".spec.tags"}).look(deleted)->has_value());
}

TEST_CASE("the flag --when sees the object, the one before it, and the event") {
  CHECK(filter({}, ".spec.replicas > .old.spec.replicas").look(modified())->has_value());
  CHECK(!filter({}, ".spec.replicas < 2").look(modified())->has_value());
  CHECK(filter({}, ".event == \"MODIFIED\" and (.initial | not)").look(modified())->has_value());
  EventView added = modified();
  added.before = nullptr;
  CHECK(filter({}, ".old == null").look(added)->has_value());
}

TEST_CASE("a program that fails on an object is an error that names its flag") {
  const auto seen = filter({}, ".spec.replicas | keys").look(modified());
  REQUIRE(!seen.ok());
  CHECK(seen.error().render().find("--when") == 0);
  const auto field = filter({".spec | .replicas.x"}).look(modified());
  REQUIRE(!field.ok());
  CHECK(field.error().render().find("--fields .spec | .replicas.x") == 0);
}

TEST_CASE("a wrong path or program is refused with a caret under the place") {
  const auto path = EventFilter::parse({"{.spec.[}"}, "");
  REQUIRE(!path.ok());
  CHECK(path.error().render().find("--fields") == 0);
  CHECK(path.error().render().find("\n  {.spec.[}\n          ^") != std::string::npos);
  const auto when = EventFilter::parse({}, ".spec |");
  REQUIRE(!when.ok());
  CHECK(when.error().render().find("--when") == 0);
  CHECK(when.error().render().find("^") != std::string::npos);
  CHECK(!EventFilter::parse({".a,,.b"}, "").ok());
}

TEST_CASE("a watch ends after so many events, and counts those that were shown") {
  EndRule::Flags flags;
  flags.max_events = 2;
  auto rule = EndRule::parse(flags);
  REQUIRE(rule.ok());
  CHECK(!rule->wants_object());
  CHECK(*rule->note(nullptr) == EndRule::Verdict::goes_on);
  CHECK(*rule->note(nullptr) == EndRule::Verdict::enough);
  CHECK(rule->shown() == 2);
}

TEST_CASE("the flag --until takes kubectl wait's forms, and jq where it is none of them") {
  const auto ends = [](const std::string& until, const EventView& event) {
    EndRule::Flags flags;
    flags.until = until;
    auto rule = EndRule::parse(flags);
    if (!rule.ok()) FAIL(rule.error().render());
    return *rule->note(&event) == EndRule::Verdict::met;
  };
  const Json ready = {{"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}};
  const EventView is_ready{nullptr, &ready, "MODIFIED", false};
  CHECK(ends("condition=Ready", is_ready));
  CHECK(!ends("condition=Ready=False", is_ready));
  CHECK(ends("jsonpath={.spec.replicas}=2", modified()));
  CHECK(ends(".spec.replicas == 2", modified()));
  CHECK(ends("jq=.old.spec.replicas == 1", modified()));
  CHECK(!ends("delete", modified()));
  EventView deleted = modified();
  deleted.type = "DELETED";
  CHECK(ends("delete", deleted));
  CHECK(!ends("create", deleted));
}

TEST_CASE("whether an object is there is known without its content") {
  const auto reads = [](const std::string& until) {
    EndRule::Flags flags;
    flags.until = until;
    return EndRule::parse(flags)->reads_content();
  };
  CHECK_FALSE(reads(""));
  CHECK_FALSE(reads("delete"));
  CHECK_FALSE(reads("create"));
  CHECK(reads("condition=Ready"));
  CHECK(reads("jsonpath={.spec.replicas}=2"));
  CHECK(reads(".status == null"));
}

TEST_CASE("a wrong --until is refused and named") {
  EndRule::Flags flags;
  for (const char* until : {"condition=", "jsonpath={.a", ".a |"}) {
    flags.until = until;
    const auto rule = EndRule::parse(flags);
    REQUIRE(!rule.ok());
    CHECK(rule.error().render().find("--until") == 0);
  }
}

TEST_CASE("only a --until that was not met makes the end of --duration a failure") {
  EndRule::Flags flags;
  flags.duration = Duration{1000};
  CHECK(!EndRule::parse(flags)->timed_out_is_failure());
  flags.until = "delete";
  CHECK(EndRule::parse(flags)->timed_out_is_failure());
}
