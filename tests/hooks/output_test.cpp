// What a hook prints, accepted or refused as a whole.
#include "hooks/output.hpp"

#include <fmt/format.h>

#include <map>

#include "hooks/output_rights.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

core::ResourceType type(const std::string& group, const std::string& kind,
                        const std::string& plural, bool namespaced = true) {
  core::ResourceType out;
  out.gvk = {group, "v1", kind};
  out.plural = plural;
  out.namespaced = namespaced;
  return out;
}

struct World {
  Rule rule;
  Owner owner{{"demo.kubewatch.dev", "v1", "Website"}, true, {"shop", "a"}, "uid-1", false};
  std::map<core::Gvk, core::ResourceType> types;
  bool manifests_allowed = true;
  bool has_status = true;
  std::function<Result<bool>(const HookResult&)> check_status;
  SelectsNamespace selects;
  std::size_t max_output = 0;

  World() {
    rule.name = "website";
    rule.for_.gvk = owner.gvk;
    OwnsRule config_maps;
    config_maps.stream.gvk = {"", "v1", "ConfigMap"};
    rule.owns.push_back(config_maps);
    rule.writes.push_back({{"", "v1", "Secret"}, {"blog"}});
    rule.writes.push_back({{"", "v1", "Namespace"}, {}});
    rule.writes.push_back({{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"}, {}});
    rule.writes.push_back({{"new.dev", "v1", "Thing"}, {}});
    for (const auto& t : {type("demo.kubewatch.dev", "Website", "websites"),
                          type("", "ConfigMap", "configmaps"), type("", "Secret", "secrets"),
                          type("", "Namespace", "namespaces", false), type("", "Pod", "pods"),
                          type("apiextensions.k8s.io", "CustomResourceDefinition",
                               "customresourcedefinitions", false)}) {
      types[t.gvk] = t;
    }
  }

  Result<HookOutput> parse(std::string_view text) const {
    OutputContext context{rule, owner, [this](const core::Gvk& gvk) {
                            auto it = types.find(gvk);
                            return it == types.end() ? nullptr : &it->second;
                          }};
    context.manifests_allowed = manifests_allowed;
    context.has_status = has_status;
    context.check_schema = [](const core::Gvk&, const Json&) { return Result<bool>(false); };
    context.check_status = check_status;
    context.selects = selects;
    context.max_output = max_output;
    return parse_output(text, context);
  }
};

std::string problem(const Result<HookOutput>& output) {
  return output.ok() ? "" : output.error().render();
}

constexpr const char* kConfigMap = "{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}";

}  // namespace

TEST_CASE("a manifest without a namespace goes to its owner's") {
  const auto output = World().parse(kConfigMap);
  REQUIRE(output.ok());
  REQUIRE(output->manifests.size() == 1);
  CHECK(output->manifests[0].key == core::ObjectKey{"shop", "c"});
  CHECK(output->manifests[0].object["metadata"]["namespace"] == "shop");
}

TEST_CASE("nothing printed is valid and asks for nothing") {
  const auto output = World().parse("");
  REQUIRE(output.ok());
  CHECK(output->manifests.empty());
  CHECK_FALSE(output->result.has_value());
}

TEST_CASE("lists are expanded, also typed ones whose items lack a kind") {
  const auto output = World().parse(R"(
apiVersion: v1
kind: List
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}
- apiVersion: v1
  kind: ConfigMapList
  items: [{metadata: {name: b}}]
)");
  REQUIRE(output.ok());
  REQUIRE(output->manifests.size() == 2);
  CHECK(output->manifests[1].key.name == "b");
  CHECK(output->manifests[1].object["kind"] == "ConfigMap");
}

TEST_CASE("a list whose items are null is an empty one, and one without items is told so") {
  for (const char* list :
       {"{apiVersion: v1, kind: List, items: null}",
        "{apiVersion: v1, kind: ConfigMapList, metadata: {resourceVersion: \"1\"}, items: null}"}) {
    INFO(list);
    const auto output = World().parse(std::string(list) + "\n---\n" + kConfigMap);
    REQUIRE(problem(output).empty());
    CHECK(output->manifests.size() == 1);
  }
  for (const char* list :
       {"{apiVersion: v1, kind: List}", "{apiVersion: v1, kind: List, items: {a: b}}"}) {
    INFO(list);
    CHECK(problem(World().parse(list)).find("v1 List without a list of items") !=
          std::string::npos);
  }
  // A custom kind may be called so.
  const std::string object =
      "{apiVersion: new.dev/v1, kind: AllowList, metadata: {name: a}, items: null}";
  CHECK(problem(World().parse(object)).find("new.dev/v1 AllowList") != std::string::npos);
}

TEST_CASE("half of an output is no output") {
  const std::string whole = std::string(kConfigMap) + "\n---\n{apiVersion: v1, kind: Conf";
  CHECK_FALSE(World().parse(whole).ok());
}

TEST_CASE("a wrong manifest is named by its document and its place in a list") {
  const std::string good = std::string(kConfigMap) + "\n---\n";
  const std::string nameless = "{apiVersion: v1, kind: Secret, metadata: {namespace: shop}}";
  CHECK(problem(World().parse(good + nameless)).starts_with("document 2: v1 Secret without"));
  const std::string listed =
      "{apiVersion: v1, kind: List, items: [" + std::string(kConfigMap) + ", " + nameless + "]}";
  CHECK(problem(World().parse(listed)).starts_with("document 1, item 2: v1 Secret without"));
  const std::string no_object = "{apiVersion: v1, kind: List, items: [a]}";
  CHECK(problem(World().parse(good + no_object)).starts_with("document 2, item 1: must be"));
}

TEST_CASE("a wrong document refuses the whole output and says why") {
  struct Case {
    const char* text;
    const char* says;
  };
  const std::vector<Case> cases = {
      {"hello", "must be an object"},
      {"{kind: ConfigMap, metadata: {name: c}}", ""},
      {"{apiVersion: v1, kind: ConfigMap}", "without metadata"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {generateName: c-}}", "generateName"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {namespace: shop}}", "without metadata.name"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: 5}}", "must be a string"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n---\n"
       "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: shop}}",
       "printed twice"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, status: {a: 1}}", "status"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, ownerReferences: [{uid: x}]}}",
       "ownerReferences"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, labels: "
       "{kubewatch.dev/owner-uid: z}}}",
       "kept by kubewatch"},
      {"{apiVersion: v1, kind: Pod, metadata: {name: c}}", "does not declare"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: blog}}",
       "does not declare: list the namespace"},
      {"{apiVersion: v1, kind: Namespace, metadata: {name: c, namespace: x}}", "cluster-scoped"},
      {"{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n---\n"
       "{apiVersion: v1, kind: ConfigMap, metadata: {name: m-bad!}}",
       "document 2: ConfigMap shop/m-bad!: metadata.name"},
      {"{apiVersion: kubewatch.dev/v1, kind: Result, create: [{apiVersion: v1, kind: ConfigMap, "
       "metadata: {name: c}, data: {a b: x}}]}",
       "create: ConfigMap shop/c: data"},
      {"{apiVersion: kubewatch.dev/v1, kind: Resul, metadata: {name: c}}", "unknown document"},
  };
  for (const Case& c : cases) {
    INFO(c.text);
    const auto output = World().parse(c.text);
    REQUIRE_FALSE(output.ok());
    INFO(problem(output));
    CHECK(problem(output).find(c.says) != std::string::npos);
  }
}

TEST_CASE("what is longer than any name is not quoted, and no part of it") {
  const std::string name(254, 'n');
  for (const std::string& text :
       {"{apiVersion: v1, kind: ConfigMap, metadata: {name: \"" + name + "/\"}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: " + name + "}}",
        "{apiVersion: v1, kind: Pod, metadata: {name: x, namespace: " + name + "}}"}) {
    const auto output = World().parse(text);
    REQUIRE(!output.ok());
    const std::string said = output.error().render();
    CHECK(said.find("nnnn") == std::string::npos);
    CHECK(said.find("(a name of 25") != std::string::npos);
  }
}

TEST_CASE("a name that only the server can judge is to be asked about") {
  World world;
  const core::ResourceType thing = type("new.dev", "Thing", "things");
  world.types[thing.gvk] = thing;
  const auto output = world.parse("{apiVersion: new.dev/v1, kind: Thing, metadata: {name: 'a:b'}}");
  REQUIRE(output.ok());
  CHECK(output->manifests.at(0).ask_first);
  const auto plain = world.parse("{apiVersion: new.dev/v1, kind: Thing, metadata: {name: a}}");
  REQUIRE(plain.ok());
  CHECK_FALSE(plain->manifests.at(0).ask_first);
}

TEST_CASE("another namespace may be printed where the rule lists it") {
  CHECK(World().parse("{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: blog}}").ok());
  CHECK(World().parse("{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: shop}}").ok());
  CHECK_FALSE(
      World().parse("{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: x}}").ok());
}

TEST_CASE("a cluster-scoped owner prints into all namespaces of a kind that lists none") {
  World world;
  world.owner.namespaced = false;
  world.owner.key = {"", "a"};
  CHECK(world.parse("{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: x}}").ok());
  CHECK_FALSE(
      world.parse("{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: x}}").ok());
  CHECK(problem(world.parse(kConfigMap)).find("cluster-scoped") != std::string::npos);
}

TEST_CASE("of each object it is asked once whether a namespaceSelector means its namespace") {
  World world;
  world.rule.owns[0].stream.namespace_selector = *core::LabelSelector::parse("team=web");
  std::vector<std::string> asked;
  world.selects = [&](const StreamRule& stream, const std::string& name) {
    CHECK(&stream == &world.rule.owns[0].stream);
    asked.push_back(name);
    return name != "closed";
  };
  const auto in = [](const std::string& name) {
    return "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, namespace: " + name + "}}\n";
  };
  CHECK(world.parse(in("a") + "---\n" + in("b") + "---\n" + in("shop")).ok());
  CHECK(asked == std::vector<std::string>{"a", "b"});  // its own needs no selector
  CHECK(problem(world.parse(in("closed"))).find("ConfigMap in namespace closed, which") !=
        std::string::npos);
}

TEST_CASE("as much is read as the hook that printed it may print") {
  World world;
  world.rule.reconcile.max_output = 1U << 20U;
  const std::string text = std::string(17U << 20U, '#') + "\n" + kConfigMap;
  CHECK(problem(world.parse(text)).find("more than the limit") != std::string::npos);
  world.max_output = 32U << 20U;
  CHECK(problem(world.parse(text)).empty());
}

TEST_CASE("empty status and creationTimestamp, as kubectl prints them, are dropped") {
  const auto output = World().parse(
      "{apiVersion: v1, kind: ConfigMap, metadata: {name: c, creationTimestamp: null}, status: "
      "{}}");
  REQUIRE(output.ok());
  CHECK_FALSE(output->manifests[0].object.contains("status"));
  CHECK_FALSE(output->manifests[0].object["metadata"].contains("creationTimestamp"));
}

TEST_CASE("of its own object a hook prints labels and annotations only") {
  CHECK(problem(World().parse("{apiVersion: demo.kubewatch.dev/v1, kind: Website, metadata: {name: "
                              "a}, spec: {x: 1}}"))
            .find("write other fields does it by itself, with credentials: cache") !=
        std::string::npos);
  const World world;
  const auto good = world.parse(
      "{apiVersion: demo.kubewatch.dev/v1, kind: Website, metadata: {name: a, labels: {x: z}}}");
  REQUIRE(good.ok());
  REQUIRE(good->own.has_value());
  CHECK(good->manifests.empty());
  const auto spec = world.parse(
      "{apiVersion: demo.kubewatch.dev/v1, kind: Website, metadata: {name: a}, spec: {b: 1}}");
  CHECK(problem(spec).find("not spec") != std::string::npos);
  const auto finalizers = world.parse(
      "{apiVersion: demo.kubewatch.dev/v1, kind: Website, metadata: {name: a, finalizers: [x/y]}}");
  CHECK(problem(finalizers).find("metadata.finalizers") != std::string::npos);
}

TEST_CASE("manifests are refused while finalizing unless the rule allows them") {
  World world;
  world.manifests_allowed = false;
  CHECK(problem(world.parse(kConfigMap)).find("finalize.apply") != std::string::npos);
  CHECK(world.parse("{apiVersion: kubewatch.dev/v1, kind: Result, message: m}").ok());
}

TEST_CASE("a kind that the server lacks is told apart: it may appear") {
  const auto output = World().parse("{apiVersion: new.dev/v1, kind: Thing, metadata: {name: t}}");
  REQUIRE_FALSE(output.ok());
  CHECK(output.error().is_not_found());
}

TEST_CASE("what is close to a kind of the server is told as the server has it") {
  const World world;
  OutputContext context{world.rule, world.owner, [](const core::Gvk&) { return nullptr; }};
  context.meant_by = [](const core::Gvk& gvk) { return gvk.kind == "secret" ? "v1 Secret" : ""; };
  const auto said = [&](const char* kind) {
    return problem(parse_output(
        fmt::format("{{apiVersion: v1, kind: {}, metadata: {{name: c}}}}", kind), context));
  };
  CHECK(said("secret").find("the server has no kind v1 secret; did you mean v1 Secret?") !=
        std::string::npos);
  CHECK(said("Site").find("no kind v1 Site: is its CustomResourceDefinition installed?") !=
        std::string::npos);
}

TEST_CASE("words on stdout, and lists, are told where they belong") {
  const World world;
  const std::string words =
      problem(world.parse("making it: now: really\n" + std::string(kConfigMap)));
  INFO(words);
  CHECK(words.find("print manifests on stdout and everything else on stderr") != std::string::npos);
  const std::string list = problem(world.parse("[" + std::string(kConfigMap) + "]"));
  INFO(list);
  CHECK(list.find("the items of a kind: List") != std::string::npos);
}

TEST_CASE("a kind of a CRD in the same output is known") {
  const auto output = World().parse(R"(
apiVersion: new.dev/v1
kind: Thing
metadata: {name: t}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.new.dev}
spec:
  group: new.dev
  scope: Cluster
  names: {kind: Thing, plural: things}
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}}]
)");
  INFO(problem(output));
  REQUIRE(output.ok());
  CHECK(output->manifests[0].type.plural == "things");
  CHECK_FALSE(output->manifests[0].type.namespaced);
  CHECK(output->manifests[0].type.has_subresource("status"));
}

TEST_CASE("create and delete follow the same rights as manifests") {
  const World world;
  const auto result = [](const std::string& rest) {
    return "apiVersion: kubewatch.dev/v1\nkind: Result\n" + rest + "\n";
  };
  const auto create = world.parse(
      result("create: [{apiVersion: v1, kind: Secret, metadata: {name: s}, stringData: {p: x}}]"));
  INFO(problem(create));
  REQUIRE(create.ok());
  CHECK(create->create.at(0).key == core::ObjectKey{"shop", "s"});
  CHECK_FALSE(
      world.parse(result("create: [{apiVersion: v1, kind: Pod, metadata: {name: s}}]")).ok());
  const auto removal =
      world.parse(result("delete: [{apiVersion: v1, kind: ConfigMap, name: old}]"));
  REQUIRE(removal.ok());
  CHECK(removal->deletes.at(0).key == core::ObjectKey{"shop", "old"});
  CHECK_FALSE(world
                  .parse(result("delete: [{apiVersion: v1, kind: ConfigMap, namespace: x, "
                                "name: old}]"))
                  .ok());
  CHECK_FALSE(world.parse(result("delete: [{apiVersion: v1, kind: ConfigMap}]")).ok());
  CHECK_FALSE(world
                  .parse(std::string(kConfigMap) + "\n---\n" +
                         result("delete: [{apiVersion: v1, kind: ConfigMap, name: c}]"))
                  .ok());
}

TEST_CASE("a name that no path can hold is refused wherever the output names an object") {
  const World world;
  const std::string result = "{apiVersion: kubewatch.dev/v1, kind: Result, ";
  for (const char* name : {"a/b", "..", "web%2Fstatus"}) {
    INFO(name);
    const std::string named = fmt::format("apiVersion: v1, kind: ConfigMap, name: \"{}\"", name);
    const std::string wrong = fmt::format("v1 ConfigMap: \"{}\" cannot be a name", name);
    for (const std::string& list :
         {"delete: [{" + named + "}]", "patches: [{" + named + ", patch: {data: {k: v}}}]"}) {
      CHECK(problem(world.parse(result + list + "}")).find(wrong) != std::string::npos);
    }
    CHECK(problem(world.parse(fmt::format(
                      "{{apiVersion: v1, kind: ConfigMap, metadata: {{name: \"{}\"}}}}", name)))
              .find(wrong) != std::string::npos);
  }
  CHECK(
      problem(world.parse(result + "delete: [{apiVersion: v1, kind: ConfigMap, namespace: \"a/b\", "
                                   "name: old}]}"))
          .find("\"a/b\" cannot be a namespace") != std::string::npos);
}

TEST_CASE("children: none beside printed children is a contradiction") {
  const std::string none = "\n---\n{apiVersion: kubewatch.dev/v1, kind: Result, children: none}";
  CHECK(World().parse(none).ok());
  CHECK_FALSE(World().parse(kConfigMap + none).ok());
}

TEST_CASE("status without a status subresource and a second Result are refused") {
  World world;
  world.has_status = false;
  const std::string result = "{apiVersion: kubewatch.dev/v1, kind: Result, status: {a: 1}}";
  CHECK(problem(world.parse(result)).find("no status subresource") != std::string::npos);
  world.has_status = true;
  CHECK(world.parse(result).ok());
  CHECK(problem(world.parse(result + "\n---\n" + result)).find("second Result") !=
        std::string::npos);
}

TEST_CASE("the status is checked once, unless a definition of its kind is printed with it") {
  World world;
  int asked = 0;
  world.check_status = [&](const HookResult& result) {
    ++asked;
    CHECK(result.status == Json{{"a", 1}});
    return Result<bool>(Error(ErrorKind::invalid, ".status.a: no"));
  };
  const std::string result = "{apiVersion: kubewatch.dev/v1, kind: Result, status: {a: 1}}";
  CHECK(problem(world.parse(result)) ==
        "Result: the schema refuses the status of demo.kubewatch.dev/v1 Website: .status.a: no");
  CHECK(asked == 1);
  CHECK(world.parse(kConfigMap).ok());
  CHECK(world
            .parse(result + R"x(
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: websites.demo.kubewatch.dev}
spec:
  group: demo.kubewatch.dev
  scope: Namespaced
  names: {plural: websites, kind: Website}
  versions: [{name: v1, served: true, storage: true, subresources: {status: {}}}]
)x")
            .ok());
  CHECK(asked == 1);
}

TEST_CASE(
    "a rule may need the finalizer when a child may lie where the owner's deletion does not "
    "reach") {
  Rule rule;
  OwnsRule config_maps;
  config_maps.stream.gvk = {"", "v1", "ConfigMap"};
  rule.owns.push_back(config_maps);
  const auto scope = [](const core::Gvk& gvk) -> std::optional<bool> {
    return gvk.kind != "Namespace";
  };
  CHECK_FALSE(may_need_finalizer(rule, true, scope));
  Rule elsewhere = rule;
  elsewhere.writes.push_back({{"", "v1", "Secret"}, {"blog"}});
  CHECK(may_need_finalizer(elsewhere, true, scope));
  CHECK_FALSE(may_need_finalizer(elsewhere, false, scope));
  Rule cluster = rule;
  cluster.writes.push_back({{"", "v1", "Namespace"}, {}});
  CHECK(may_need_finalizer(cluster, true, scope));
  Rule unreferenced = rule;
  unreferenced.apply.owner_reference = OwnerRef::none;
  CHECK(may_need_finalizer(unreferenced, false, scope));
  Rule finalized = rule;
  finalized.finalize.emplace();
  CHECK(may_need_finalizer(finalized, true, scope));
}
