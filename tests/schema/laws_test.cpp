// Laws of server-side apply on random objects, fixed seeds.
#include <random>

#include "schema/managed_entries.hpp"
#include "schema_fixture.hpp"

using namespace schema_test;

namespace {

constexpr int kRounds = 100;

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int below(int limit) { return std::uniform_int_distribution<int>(0, limit - 1)(engine_); }
  bool maybe() { return below(2) == 0; }

  // Some fields of thing_schema's spec; names start with `prefix`, so that two prefixes never meet.
  Json spec(const std::string& prefix) {
    Json out = Json::object();
    if (maybe()) out["free"] = free(prefix);
    if (maybe()) out["tags"] = tags(prefix);
    if (maybe()) out["items"] = items(prefix);
    return out;
  }
  Json shared_spec() {
    Json out = spec("");
    if (maybe()) out["n"] = below(3);
    if (maybe()) out["words"] = Json::array({word("")});
    if (maybe()) out["box"] = {{maybe() ? "a" : "b", below(2)}};
    if (maybe()) out["deep"] = {{"value", word("")}};
    return out;
  }

 private:
  std::string word(const std::string& prefix) {
    return prefix + std::string(1, char('p' + below(4)));
  }
  Json free(const std::string& prefix) {
    Json out = Json::object();
    for (int i = below(3); i >= 0; --i) out[word(prefix)] = word("");
    return out;
  }
  Json tags(const std::string& prefix) {
    Json seen = Json::object();
    for (int i = below(4); i >= 0; --i) seen[word(prefix)] = 1;
    Json out = Json::array();
    for (const auto& [name, one] : seen.items())
      out.insert(out.begin() + below(int(out.size()) + 1), name);
    return out;
  }
  Json items(const std::string& prefix) {
    Json out = tags(prefix);
    for (Json& item : out) {
      item = Json{{"name", item}};
      if (maybe()) item["v"] = below(2);
      if (maybe()) item["w"] = below(2);
    }
    return out;
  }

  std::mt19937 engine_;
};

ApplyOutcome must(Result<ApplyOutcome> outcome) {
  REQUIRE(outcome.ok());
  REQUIRE(outcome->conflicts.empty());
  return *outcome;
}

// An object after a few forced applies by several managers.
Json history(Random& random) {
  Json live = must(apply_as("m0", nullptr, thing(random.shared_spec()))).object;
  for (int i = random.below(4); i >= 0; --i) {
    const std::string manager = "m" + std::to_string(random.below(3));
    live = must(apply_as(manager, &live, thing(random.shared_spec()), true, i + 1)).object;
  }
  return live;
}

// With the maps above fields: {} is a field of its own only as long as it is empty.
FieldSet fields_of_object(const Json& object) {
  return with_named_parents(*thing_schema(), to_field_set(*thing_schema(), object));
}

FieldSet owned_by_others(const Json& object, const std::string& manager) {
  const Result<Managed> managed = decode_managed(managed_fields_of(object));
  REQUIRE(managed.ok());
  FieldSet out;
  for (const auto& [identity, entry] : *managed) {
    if (entry.manager != manager) out.merge_in(entry.fields);
  }
  return out;
}

}  // namespace

TEST_CASE("law: applying the same twice changes nothing the second time") {
  Random random(1);
  for (int round = 0; round < kRounds; ++round) {
    Json live = history(random);
    const Json applied = thing(random.shared_spec());
    const Json once = must(apply_as("m1", &live, applied, true, 50)).object;
    const ApplyOutcome twice = must(apply_as("m1", &once, applied, random.maybe(), 60));
    INFO(base::dump_json(live) << " + " << base::dump_json(applied));
    CHECK_FALSE(twice.changed);
    CHECK(twice.object == once);
  }
}

TEST_CASE("law: two managers with different keys keep what both applied") {
  Random random(2);
  for (int round = 0; round < kRounds; ++round) {
    const Json first = thing(random.spec("a"));
    const Json second = thing(random.spec("b"));
    const Json live = must(apply_as("a", nullptr, first)).object;
    const Json both = must(apply_as("b", &live, second)).object;
    INFO(base::dump_json(first) << " + " << base::dump_json(second));
    const FieldSet fields = fields_of_object(both);
    CHECK(to_field_set(*thing_schema(), first).difference(fields).empty());
    CHECK(to_field_set(*thing_schema(), second).difference(fields).empty());
    CHECK(fields_of(both, "a") == fields_of(live, "a"));
  }
}

TEST_CASE("law: where plain apply succeeds, force gives the same") {
  Random random(3);
  int compared = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Json live = history(random);
    const Json applied = thing(random.shared_spec());
    const Result<ApplyOutcome> plain = apply_as("m1", &live, applied, false, 50);
    const Result<ApplyOutcome> forced = apply_as("m1", &live, applied, true, 50);
    REQUIRE(plain.ok());
    REQUIRE(forced.ok());
    CHECK(forced->conflicts.empty());
    if (!plain->conflicts.empty()) continue;
    CHECK(plain->object == forced->object);
    ++compared;
  }
  CHECK(compared > kRounds / 20);
}

TEST_CASE("law: pruning never takes what another manager owns") {
  Random random(4);
  for (int round = 0; round < kRounds; ++round) {
    const Json live = history(random);
    const Json applied = thing(random.shared_spec());
    const Json after = must(apply_as("m1", &live, applied, true, 50)).object;
    INFO(base::dump_json(live) << " + " << base::dump_json(applied));
    const FieldSet before_fields = fields_of_object(live);
    const FieldSet after_fields = fields_of_object(after);
    // What others owned and live had is still there.
    const FieldSet kept = owned_by_others(live, "m1").intersect(before_fields);
    CHECK(kept.difference(after_fields).empty());
  }
}

TEST_CASE("law: after a forced apply the manager owns exactly what it applied, and it is there") {
  Random random(5);
  for (int round = 0; round < kRounds; ++round) {
    const Json live = history(random);
    const Json applied = thing(random.shared_spec());
    const Json after = must(apply_as("m1", &live, applied, true, 50)).object;
    INFO(base::dump_json(live) << " + " << base::dump_json(applied));
    FieldSet wanted = to_field_set(*thing_schema(), applied);
    strip_identity_fields(wanted);
    const std::string owned = fields_of(after, "m1");
    CHECK(owned == (wanted.empty() ? "" : base::dump_json(wanted.to_fields_v1())));
    CHECK(merge_value(*thing_schema(), after, applied)["spec"] == after["spec"]);
  }
}

TEST_CASE("law: comparing and merging agree") {
  Random random(6);
  for (int round = 0; round < kRounds; ++round) {
    const Json a = thing(random.shared_spec());
    const Json b = thing(random.shared_spec());
    INFO(base::dump_json(a) << " / " << base::dump_json(b));
    CHECK(compare(*thing_schema(), a, a).empty());
    const Comparison there = compare(*thing_schema(), a, b);
    const Comparison back = compare(*thing_schema(), b, a);
    CHECK(there.added == back.removed);
    CHECK(there.removed == back.added);
    CHECK(there.modified == back.modified);
    CHECK(compare(*thing_schema(), a, merge_value(*thing_schema(), a, b)).removed.empty());
  }
}

TEST_CASE("law: FieldsV1 of random objects survives a round trip") {
  Random random(7);
  for (int round = 0; round < kRounds; ++round) {
    const FieldSet fields = to_field_set(*thing_schema(), thing(random.shared_spec()));
    const Result<FieldSet> again = FieldSet::from_fields_v1(fields.to_fields_v1());
    REQUIRE(again.ok());
    CHECK(*again == fields);
  }
}
