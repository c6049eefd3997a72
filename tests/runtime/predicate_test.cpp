#include "runtime/predicate.hpp"

#include "base/json.hpp"
#include "runtime/changes.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using test::change_of;
using test::meta_named;

namespace {

TimePoint at(std::int64_t ms) {
  return TimePoint{Duration{ms}};
}

core::ObjectMeta generation(const std::string& name, std::int64_t value) {
  core::ObjectMeta meta = meta_named(name);
  meta.generation = value;
  return meta;
}

// Whether the second state of an object is news after the first one.
bool is_news(const Predicate& predicate, const core::ObjectMeta& before,
             const core::ObjectMeta& after, PredicateOptions options = {}) {
  PredicateFilter filter(predicate, options);
  CHECK(filter.passes(at(0), change_of(before, ChangeType::added)));
  return filter.passes(at(1), change_of(after));
}

}  // namespace

TEST_CASE("a predicate lets the first state pass, then only what it counts") {
  const core::ObjectMeta base = generation("a", 1);
  struct Row {
    std::string changed;
    Predicate predicate;
    std::function<void(core::ObjectMeta&)> change;
  };
  const std::vector<Row> rows = {
      {"generation", predicates::generation(), [](auto& meta) { meta.generation = 2; }},
      {"version", predicates::resource_version(), [](auto& meta) { meta.resource_version = "9"; }},
      {"labels", predicates::labels(),
       [](auto& meta) {
         meta.labels = {{"app", "web"}};
       }},
      {"annotations", predicates::annotations(),
       [](auto& meta) {
         meta.annotations = {{"a", ""}};
       }},
      {"finalizers", predicates::finalizers(), [](auto& meta) { meta.finalizers = {"x.y/z"}; }},
      {"deletion", predicates::deletion(), [](auto& meta) { meta.deletion_timestamp = "now"; }},
  };
  PredicateOptions plain;
  plain.lifecycle = false;
  for (const Row& counted : rows) {
    for (const Row& changed : rows) {
      CAPTURE(counted.changed, changed.changed);
      core::ObjectMeta after = base;
      changed.change(after);
      CHECK(is_news(counted.predicate, base, after, plain) == (counted.changed == changed.changed));
    }
  }
}

TEST_CASE("labels are a set: their order does not count, keys and values do not run together") {
  core::ObjectMeta before = meta_named("a"), after = before;
  before.labels = {{"a", "1"}, {"b", "2"}};
  after.labels = {{"b", "2"}, {"a", "1"}};
  CHECK_FALSE(is_news(predicates::labels(), before, after));
  after.labels = {{"a", "2"}, {"b", "1"}};
  CHECK(is_news(predicates::labels(), before, after));
  before.labels = {{"ab", "c"}};
  after.labels = {{"a", "bc"}};
  CHECK(is_news(predicates::labels(), before, after));
}

TEST_CASE("combined predicates tell a change of either") {
  const Predicate both = predicates::generation().and_then(predicates::labels());
  const core::ObjectMeta before = generation("a", 1);
  core::ObjectMeta labelled = before;
  labelled.labels = {{"app", "web"}};
  CHECK_FALSE(is_news(both, before, before));
  CHECK(is_news(both, before, generation("a", 2)));
  CHECK(is_news(both, before, labelled));
}

TEST_CASE("an absent property always passes, and a combination with one passes as well") {
  const core::ObjectMeta config_map = meta_named("a");
  CHECK(is_news(predicates::generation(), config_map, config_map));
  CHECK(
      is_news(predicates::generation().and_then(predicates::finalizers()), config_map, config_map));
  PredicateFilter filter(predicates::generation());
  filter.passes(at(0), change_of(config_map));
  CHECK(filter.remembered() == 0);
}

TEST_CASE("a fallback counts where the first is absent") {
  const Predicate either = predicates::generation().fallback(predicates::resource_version());
  CHECK_FALSE(is_news(either, meta_named("a", 1), meta_named("a", 1)));
  CHECK(is_news(either, meta_named("a", 1), meta_named("a", 2)));
  core::ObjectMeta before = generation("a", 1), after = before;
  after.resource_version = "77";
  CHECK_FALSE(is_news(either, before, after));
  CHECK_FALSE(is_news(predicates::generation().fallback(predicates::constant()), meta_named("a", 1),
                      meta_named("a", 2)));
}

TEST_CASE("any value of an object can be a predicate") {
  const Predicate image = predicates::text([](const std::string& json) {
    const auto parsed = base::parse_json(json);
    const Json* found = parsed.ok() ? base::find(*parsed, {"spec", "image"}) : nullptr;
    return found == nullptr ? std::nullopt : std::optional(base::dump_json(*found));
  });
  PredicateFilter filter(image);
  const auto told = [&](const std::string& json) {
    return filter.passes(at(0), change_of(meta_named("a"), ChangeType::modified, json));
  };
  CHECK(told(R"({"spec":{"image":"x:1"}})"));
  CHECK_FALSE(told(R"({"spec":{"image":"x:1","replicas":3}})"));
  CHECK(told(R"({"spec":{"image":"x:2"}})"));
  CHECK(told("{}"));
  CHECK(told("{}"));
}

// The guide warns of generation alone: an object whose finalizers change is missed.
TEST_CASE("deletion and finalizers pass a generation predicate") {
  const core::ObjectMeta before = generation("a", 1);
  core::ObjectMeta guarded = before, dying = before;
  guarded.finalizers = {"example.com/x"};
  dying.deletion_timestamp = "2026-01-02T03:04:05Z";
  CHECK(is_news(predicates::generation(), before, guarded));
  CHECK(is_news(predicates::generation(), before, dying));
  PredicateOptions plain;
  plain.lifecycle = false;
  CHECK_FALSE(is_news(predicates::generation(), before, guarded, plain));
}

TEST_CASE("a recreated name passes though nothing else differs, and deletions always do") {
  core::ObjectMeta recreated = generation("a", 1);
  recreated.uid = "another";
  CHECK(is_news(predicates::generation(), generation("a", 1), recreated));
  PredicateFilter filter(predicates::generation());
  filter.passes(at(0), change_of(generation("a", 1)));
  CHECK(filter.passes(at(0), change_of(generation("a", 1), ChangeType::deleted)));
  CHECK(filter.remembered() == 0);
  CHECK(filter.passes(at(0), change_of(generation("a", 1))));
}

TEST_CASE("what was let through a lifetime ago passes again, changed or not") {
  PredicateFilter filter(predicates::generation(), {Duration{1000}, 100, true});
  CHECK(filter.passes(at(0), change_of(generation("a", 1))));
  CHECK_FALSE(filter.passes(at(999), change_of(generation("a", 1))));
  CHECK(filter.passes(at(1000), change_of(generation("a", 1))));
  CHECK_FALSE(filter.passes(at(1999), change_of(generation("a", 1))));
}

TEST_CASE("what is remembered is bounded by number and age, and what was forgotten passes") {
  PredicateFilter filter(predicates::generation(), {Duration{1000}, 10, true});
  for (int i = 0; i < 100; ++i) {
    filter.passes(at(i), change_of(generation("k" + std::to_string(i), 1)));
    REQUIRE(filter.remembered() <= 10);
  }
  CHECK(filter.passes(at(100), change_of(generation("k0", 1))));
  CHECK_FALSE(filter.passes(at(100), change_of(generation("k99", 1))));
  filter.passes(at(5000), change_of(generation("late", 1)));
  CHECK(filter.remembered() == 1);
}
