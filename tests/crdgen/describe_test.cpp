// CRDs from described C++ structs.
#include "crdgen/describe.hpp"

#include <catch2/catch.hpp>

#include "fixture.hpp"

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

}  // namespace kubewatch::crdgen
