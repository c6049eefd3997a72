// CRDs from described C++ structs.
#include "crdgen/describe.hpp"

#include <limits>

#include "fixture.hpp"
#include "support/catch.hpp"

namespace {

struct Backend {
  std::string name;
  std::optional<std::int32_t> port;
};
struct SiteSpec {
  std::int64_t replicas = 1;
  std::optional<std::vector<std::string>> hosts;
  std::vector<Backend> backends;
  std::optional<std::map<std::string, std::string>> labels;
  std::variant<std::int64_t, std::string> target_port;
  std::optional<kubewatch::Json> settings;
  std::optional<double> ratio;
  std::optional<bool> paused;
  std::optional<std::string> tier;
};
struct SiteStatus {
  std::optional<std::string> phase;
};
// The server tells of one kind of these at a time.
struct BadPattern {
  std::string word;
};
struct BadDefaults {
  std::optional<std::string> tier;
  std::vector<std::string> list;
  std::int32_t count = 0;
};
struct BadRules {
  std::map<std::string, std::int32_t> map;
};
struct Twice {
  std::int32_t a = 0;
  std::int32_t b = 0;
};
struct Numbers {
  std::int32_t fraction = 0;
  std::int8_t wide = 0;
  std::int64_t inexact = 0;
  double endless = 0;
  std::optional<double> nothing;
  std::optional<Twice> twice;
};
struct Whole {
  std::vector<std::string> words;
};
struct Short {
  std::int8_t byte = 0;
  std::int16_t two = 0;
  char letter = 0;
  std::vector<std::int8_t> list;
  std::variant<std::int8_t, std::string> either;
};

}  // namespace

template <>
struct kubewatch::crdgen::Describe<Backend> {
  static void fields(Fields<Backend>& f) {
    f.description("One server.");
    f.field("name", &Backend::name).max_length(63).pattern("^[a-z]+$");
    f.field("port", &Backend::port).minimum(1).maximum(65535).default_value(80);
  }
};
template <>
struct kubewatch::crdgen::Describe<SiteSpec> {
  static void fields(Fields<SiteSpec>& f) {
    f.field("replicas", &SiteSpec::replicas).minimum(0).default_value(1);
    f.field("hosts", &SiteSpec::hosts).set_list().max_items(16);
    f.field("backends", &SiteSpec::backends).keyed_list(&Backend::name).min_items(1);
    f.field("labels", &SiteSpec::labels).max_properties(10).atomic_map();
    f.field("targetPort", &SiteSpec::target_port);
    f.field("settings", &SiteSpec::settings);
    f.field("ratio", &SiteSpec::ratio).nullable();
    f.field("paused", &SiteSpec::paused).description("nothing is done");
    f.field("tier", &SiteSpec::tier).one_of({"small", "large"}).immutable();
    f.rule("self.replicas < 10", "too many");
  }
};
template <>
struct kubewatch::crdgen::Describe<SiteStatus> {
  static void fields(Fields<SiteStatus>& f) { f.field("phase", &SiteStatus::phase); }
};
template <>
struct kubewatch::crdgen::Describe<BadPattern> {
  static void fields(Fields<BadPattern>& f) { f.field("word", &BadPattern::word).pattern("("); }
};
template <>
struct kubewatch::crdgen::Describe<BadDefaults> {
  static void fields(Fields<BadDefaults>& f) {
    f.field("tier", &BadDefaults::tier).one_of({"x"}).default_value("zz");
    f.field("list", &BadDefaults::list).default_value(Json(5));
    f.field("count", &BadDefaults::count).default_value(3.5);
  }
};
template <>
struct kubewatch::crdgen::Describe<BadRules> {
  static void fields(Fields<BadRules>& f) {
    f.field("map", &BadRules::map).rule("self.foo(");
    f.rule("self.nope == 1");
  }
};
template <>
struct kubewatch::crdgen::Describe<Twice> {
  static void fields(Fields<Twice>& f) {
    f.field("same", &Twice::a).minimum(1);
    f.field("same", &Twice::b).maximum(2);
  }
};
template <>
struct kubewatch::crdgen::Describe<Numbers> {
  static void fields(Fields<Numbers>& f) {
    f.field("fraction", &Numbers::fraction).minimum(0.5);
    f.field("wide", &Numbers::wide).maximum(300);
    f.field("inexact", &Numbers::inexact).maximum(1e300);
    f.field("endless", &Numbers::endless).minimum(-std::numeric_limits<double>::infinity());
    f.field("nothing", &Numbers::nothing).default_value(std::numeric_limits<double>::quiet_NaN());
    f.field("twice", &Numbers::twice);
  }
};
template <>
struct kubewatch::crdgen::Describe<Whole> {
  static void fields(Fields<Whole>& f) { f.field("words", &Whole::words).atomic_list(); }
};
template <>
struct kubewatch::crdgen::Describe<Short> {
  static void fields(Fields<Short>& f) {
    f.field("byte", &Short::byte).minimum(0);
    f.field("two", &Short::two);
    f.field("letter", &Short::letter);
    f.field("list", &Short::list);
    f.field("either", &Short::either);
  }
};

namespace kubewatch::crdgen {

namespace {

// What the compiler refuses, asked of it without an error.
template <class M>
concept TakesMaxLength = requires(FieldDescription<M> field) {
  field.max_length(3);
};
template <class M>
concept TakesMinimum = requires(FieldDescription<M> field) {
  field.minimum(3);
};
template <class M>
concept TakesBackendKey = requires(FieldDescription<M> field) {
  field.keyed_list(&Backend::name);
};
static_assert(TakesMaxLength<std::string> && TakesMaxLength<std::optional<std::string>>);
static_assert(!TakesMaxLength<std::int32_t> && !TakesMaxLength<std::vector<std::string>>);
static_assert(TakesMinimum<double> && !TakesMinimum<bool> && !TakesMinimum<std::string>);
static_assert(TakesBackendKey<std::vector<Backend>> && !TakesBackendKey<std::vector<SiteStatus>>);
static_assert(Described<Backend> && !Described<std::string>);

}  // namespace

TEST_CASE("a described kind may be cluster-scoped, and a list of it atomic") {
  const auto crd =
      crd_of<Whole>(KindDescription("demo.example.com", "v1", "Word").cluster_scoped());
  REQUIRE(crd.ok());
  CHECK((*crd)["spec"]["scope"] == "Cluster");
  const Json& spec =
      (*crd)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"];
  CHECK(spec["properties"]["words"]["x-kubernetes-list-type"] == "atomic");
}

TEST_CASE("a described struct yields the CRD that the same TypeDefinitions yield") {
  const auto crd = crd_of<SiteSpec, SiteStatus>(KindDescription("demo.example.com", "v1", "Site")
                                                    .short_names({"st"})
                                                    .categories({"all"})
                                                    .description("A site.")
                                                    .annotation("a.example/b", "c")
                                                    .label("l", "m")
                                                    .column("Phase", "string", ".status.phase", 1)
                                                    .scale(".spec.replicas", ".status.replicas")
                                                    .selectable({".spec.tier"})
                                                    .rule("self.metadata.name != 'x'", "not x"));
  REQUIRE(crd.ok());
  const Generated made = made_of(R"(
apiVersion: kubewatch.dev/v1
kind: TypeDefinitions
spec:
  group: demo.example.com
  version: v1
  kind: Site
  shortNames: [st]
  categories: [all]
  description: A site.
  annotations: {a.example/b: c}
  labels: {l: m}
  columns: ["Phase: string .status.phase | priority=1"]
  scale: {specReplicas: .spec.replicas, statusReplicas: .status.replicas}
  selectable: [.spec.tier]
  validations: [{rule: "self.metadata.name != 'x'", message: not x}]
  types:
    Backend:
      description: One server.
      fields:
        name: string | required maxLength=63 pattern=^[a-z]+$
        port: int32 | minimum=1 maximum=65535 default=80
  spec:
    required: true
    fields:
      replicas: int64 | minimum=0 default=1
      hosts: '[]string | listType=set maxItems=16'
      backends: '[]Backend | required listType=map listMapKeys=name minItems=1'
      labels: map[string]string | maxProperties=10 mapType=atomic
      targetPort: int64 or string | required
      settings: any
      ratio: double | nullable
      paused: boolean | description="nothing is done"
      tier: string | enum=[small,large] immutable
    validations: [{rule: self.replicas < 10, message: too many}]
  status: {fields: {phase: string}}
)");
  REQUIRE(first_of(made.problems) == "");
  CHECK(*crd == made.crds.at(0));
}

TEST_CASE("what only generate() can see of a described struct is an error") {
  const auto crd = crd_of<SiteSpec>(KindDescription("demo.example.com", "V1", "Site"));
  REQUIRE_FALSE(crd.ok());
  CHECK(crd.error().kind() == ErrorKind::invalid);
  CHECK_THAT(crd.error().message(), Catch::Contains("is no name of a version"));
}

TEST_CASE("a described struct that the server would refuse is an error, as its YAML is") {
  const KindDescription kind("demo.example.com", "v1", "Site");
  const auto check = [](const Result<Json>& crd, const Json& document, std::size_t problems) {
    REQUIRE_FALSE(crd.ok());
    CHECK(crd.error().kind() == ErrorKind::invalid);
    const auto made = generate({TypeFile{"site.yaml", document.dump()}}, ServerCheck::run);
    CHECK(made.problems.size() == problems);
    for (const Remark& problem : made.problems) {
      CHECK_THAT(problem.message, Catch::Contains("the server refuses this"));
      CHECK_THAT(crd.error().message(), Catch::Contains(problem.message));
    }
  };
  check(crd_of<BadPattern>(kind), document_of<BadPattern>(kind), 1);
  check(crd_of<BadDefaults>(kind), document_of<BadDefaults>(kind), 4);
  check(crd_of<BadRules>(kind), document_of<BadRules>(kind), 2);
}

TEST_CASE("what a description cannot hold is told and not changed or lost") {
  const KindDescription kind("demo.example.com", "v1", "Site");
  const auto twice = crd_of<Twice>(kind);
  REQUIRE_FALSE(twice.ok());
  CHECK(twice.error().message() == "spec.same: is described twice");
  const auto numbers = crd_of<SiteSpec, Numbers>(kind);
  REQUIRE_FALSE(numbers.ok());
  const std::string whole =
      " must be a whole number that the member can hold, between -2^53 and 2^53; ";
  CHECK(numbers.error().message() ==
        "status.fraction: minimum" + whole + "status.wide: maximum" + whole +
            "status.inexact: maximum" + whole +
            "status.endless: minimum must be a finite number that the member can hold; "
            "status.nothing: default_value must be a number that JSON has; "
            "status.twice.same: is described twice");
}

TEST_CASE("short integers have their range") {
  const auto crd = crd_of<Short>(KindDescription("demo.example.com", "v1", "Site"));
  REQUIRE(crd.ok());
  const Json& fields = (*crd)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]
                             ["spec"]["properties"];
  const auto range = [](int least, int most) {
    return Json({{"type", "integer"}, {"format", "int32"}, {"minimum", least}, {"maximum", most}});
  };
  CHECK(fields["byte"] == range(0, 127));
  CHECK(fields["two"] == range(-32768, 32767));
  CHECK(fields["letter"] == range(-128, 127));
  CHECK(fields["list"]["items"] == range(-128, 127));
  CHECK(fields["either"]["x-kubernetes-int-or-string"] == true);
}

}  // namespace kubewatch::crdgen
