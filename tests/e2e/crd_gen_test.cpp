// crd-gen beside a server: what it makes is stored as it is, what it refuses the server refuses
// too, and the sources that name a cluster work.
#include <algorithm>
#include <set>

#include "base/files.hpp"
#include "base/yaml.hpp"
#include "crdgen/core_types.hpp"
#include "crdgen/generate.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/requests.hpp"
#include "e2e/schema/table.hpp"

namespace kubewatch::e2e {

namespace {

const std::string kCrds = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

std::string file_text(const std::string& path) {
  auto text = base::read_file(path, 1U << 20U);
  if (!text.ok()) FAIL(text.error().render());
  return *text;
}

Json types_table() {
  return tables::read(std::string(SCHEMA_TABLES) + "/types.yaml");
}

std::vector<Json> crds_of(const std::string& text,
                          crdgen::ServerCheck check = crdgen::ServerCheck::run) {
  const auto made = crdgen::generate({{"types.yaml", text}}, check);
  for (const auto& problem : made.problems) FAIL_CHECK(problem.str());
  return made.crds;
}

// A field of each core type.
std::string all_core_types() {
  Json fields = Json::object();
  int index = 0;
  for (const std::string& name : crdgen::core_type_names()) {
    fields["f" + std::to_string(index++)] = name;
  }
  const Json table = types_table();
  return tables::types_text(
      table,
      {{"spec", {{"group", "core.types.e2e.kubewatch.dev"}, {"spec", {{"fields", fields}}}}}});
}

bool holds(const Json& crd, const std::string& condition) {
  const Json* conditions = base::find(crd, {"status", "conditions"});
  if (conditions == nullptr) return false;
  return std::any_of(conditions->begin(), conditions->end(), [&](const Json& one) {
    return one.value("type", "") == condition && one.value("status", "") == "True";
  });
}

// As the server gives it back, without what only a server can know.
Json stored_of(World& w, const std::string& name) {
  Json crd;
  REQUIRE(w.eventually([&] {
    crd = send(w, "GET", kCrds + "/" + name).body;
    return holds(crd, "Established") && holds(crd, "NamesAccepted");
  }));
  crd.erase("status");
  for (const char* key :
       {"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields"}) {
    crd["metadata"].erase(key);
  }
  return crd;
}

// It goes when the server has time: who makes another one takes another name.
void remove_crd(World& w, const std::string& name) {
  CHECK(send(w, "DELETE", kCrds + "/" + name, Json::object()).code == 200);
}

void check_round_trip(World& w, const std::string& what, const Json& crd) {
  const std::string name = base::string_at(crd, {"metadata", "name"});
  const auto made = send(w, "POST", kCrds + "?fieldValidation=Strict", crd);
  CAPTURE(what, base::string_at(made.body, {"message"}));
  CHECK(made.code == 201);
  if (made.code != 201) return;
  const Json stored = stored_of(w, name);
  // A JSON patch from what was made to what was stored: empty.
  CHECK(Json::diff(crd, stored).dump() == "[]");
  remove_crd(w, name);
}

}  // namespace

E2E_CASE("crd-gen: every CRD that it makes is taken and stored as it was made") {
  World w;
  const std::string examples = KUBEWATCH_EXAMPLES;
  for (const std::string& file :
       {examples + "/types/types.yaml", examples + "/../tests/crdgen/types/website.yaml"}) {
    for (const Json& crd : crds_of(file_text(file))) check_round_trip(w, file, crd);
  }
  // What lies there as made is what was made.
  const auto golden =
      base::parse_yaml_values(file_text(examples + "/types/crds/demo.example.com_mailboxes.yaml"));
  REQUIRE(golden.ok());
  CHECK(golden->front() == crds_of(file_text(examples + "/types/types.yaml")).at(0));
  check_round_trip(w, "every core type", crds_of(all_core_types()).at(0));
  const Json table = types_table();
  std::size_t number = 0;
  for (Json one : table.at("valid")) {
    one["spec"].emplace("group", "t" + std::to_string(number++) + ".types.e2e.kubewatch.dev");
    const auto crds = crds_of(tables::types_text(table, one));
    REQUIRE(crds.size() == 1);
    check_round_trip(w, one.at("name").get<std::string>(), crds.front());
  }
}

E2E_CASE(
    "crd-gen: what it refuses for its structure or rules the server refuses, in the same words") {
  World w;
  const Json table = types_table();
  for (const auto& one : table.at("refused")) {
    const std::string text = tables::types_text(table, one);
    Told ours;
    const std::string ahead = "the server refuses this: ";
    for (const auto& problem : crdgen::generate({{"t", text}}, crdgen::ServerCheck::run).problems) {
      const auto at = problem.message.find(ahead);
      if (at != std::string::npos) ours.insert(problem.message.substr(at + ahead.size()));
    }
    const auto crds = crds_of(text, crdgen::ServerCheck::skip);
    REQUIRE(crds.size() == 1);
    const auto answer = send(w, "POST", kCrds + "?dryRun=All", crds.front());
    const Told theirs = told_by_server(answer.body);
    const std::string field = tables::crd_field(one);
    CAPTURE(one.at("name").get<std::string>(), joined(ours), joined(theirs));
    CHECK(answer.code == 422);
    CHECK(tells(ours, field, one.at("message")));
    CHECK(tells(theirs, field, one.at("message")));
  }
}

E2E_CASE("crd-gen: import, lint, diff, validate, sample and docs read a CRD of the cluster") {
  World w;
  const std::string examples = KUBEWATCH_EXAMPLES;
  Json crd = crds_of(file_text(examples + "/types/types.yaml")).at(0);
  const std::string group = "cluster.demo.example.com";
  const std::string name = "mailboxes." + group;
  crd["spec"]["group"] = group;
  crd["metadata"]["name"] = name;
  send(w, "POST", kCrds, crd);
  stored_of(w, name);
  const std::string source = "cluster:" + name;

  // Imported, by either way of saying it, and made again: what the cluster has.
  for (const std::string& word : {source, name}) {
    const Ran types = kubewatch(w, {"crd-gen", "import", word});
    CAPTURE(types.err);
    REQUIRE(types.code == 0);
    CHECK(types.err.find("not kept") == std::string::npos);  // notes may tell of raw blocks
    CHECK(crdgen::normalised(crds_of(types.out).at(0)) == crdgen::normalised(crd));
  }
  w.file("same.yaml", crdgen::crd_yaml({crd}));
  const Ran same = kubewatch(w, {"crd-gen", "diff", source, w.folder() + "/same.yaml"});
  CHECK(same.code == 0);
  CHECK(same.out == "verdict: safe\n");
  Json tight = crd;
  tight["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]
       ["address"]["maxLength"] = 10;
  w.file("tight.yaml", crdgen::crd_yaml({tight}));
  const Ran broken =
      kubewatch(w, {"crd-gen", "diff", source, w.folder() + "/tight.yaml", "-o", "json"});
  CHECK(broken.code == 9);
  CHECK(broken.out.find("\"breaking\"") != std::string::npos);

  const Ran lint = kubewatch(w, {"crd-gen", "lint", source, "-o", "json"});
  CAPTURE(lint.out, lint.err);
  CHECK(lint.code == 0);
  std::string mailbox = file_text(examples + "/types/mailbox.yaml");
  mailbox.replace(mailbox.find("demo.example.com/"), 17, group + "/");
  w.file("mailbox.yaml", mailbox);
  const Ran valid = kubewatch(w, {"crd-gen", "validate", source, w.folder() + "/mailbox.yaml"});
  CAPTURE(valid.out, valid.err);
  CHECK(valid.code == 0);
  w.file("bad.yaml",
         "{apiVersion: cluster.demo.example.com/v1, kind: Mailbox, metadata: {name: a}, spec: "
         "{address: b}}");
  const Ran invalid = kubewatch(w, {"crd-gen", "validate", source, w.folder() + "/bad.yaml"});
  CHECK(invalid.code == 9);
  CHECK(invalid.out.find("spec.address: Invalid value: \"b\"") != std::string::npos);
  const Ran sample = kubewatch(w, {"crd-gen", "sample", source, "--size", "minimal"});
  CHECK(sample.out.find("kind: Mailbox") != std::string::npos);
  const Ran docs = kubewatch(w, {"crd-gen", "docs", source});
  CHECK(docs.code == 0);
  CHECK(docs.out.find("# Mailbox") != std::string::npos);

  const Ran cpp = kubewatch(w, {"crd-gen", "import", name, "--lang", "cpp"});
  CHECK(cpp.code == 0);
  CHECK(cpp.out.find("struct Mailbox ") != std::string::npos);
  const Ran nothing = kubewatch(w, {"crd-gen", "lint", "cluster:nothing.demo.example.com"});
  CHECK(nothing.code == 5);
  CHECK(nothing.err.find("nothing.demo.example.com") != std::string::npos);
  remove_crd(w, name);
}

E2E_CASE("crd-gen: lint of a CRD of the cluster finds what it finds in a file, and where") {
  World w;
  const Json table = types_table();
  const Json crd =
      crds_of(tables::types_text(
                  table, {{"spec",
                           {{"spec", {{"fields", {{"list", "[]string"}, {"ratio", "number"}}}}}}}}))
          .at(0);
  const std::string name = base::string_at(crd, {"metadata", "name"});
  send(w, "POST", kCrds, crd);
  stored_of(w, name);
  w.file("crd.yaml", crdgen::crd_yaml({crd}));
  const auto findings = [&](const std::string& source) {
    const Ran ran = kubewatch(w, {"crd-gen", "lint", source, "-o", "json"});
    CHECK(ran.code == 9);
    auto parsed = base::parse_json(ran.out);
    REQUIRE(parsed.ok());
    std::set<std::string> out;
    for (const Json& one : parsed->at("findings")) {
      CHECK(one.at("file") == source);
      out.insert(one.at("id").get<std::string>() + one.at("pointer").get<std::string>());
    }
    return out;
  };
  const auto there = findings("cluster:" + name);
  CHECK(there.size() == 2);
  CHECK(there == findings(w.folder() + "/crd.yaml"));
  remove_crd(w, name);
}

E2E_CASE("crd-gen: import --builtin prints structs of what the server says of its kinds") {
  World w;
  w.apply(kWebsiteCrd);
  w.type("Website");
  Ran ran;
  // The real server publishes the schemas of a new kind a little later.
  CHECK(w.eventually([&] {
    ran = kubewatch(
        w, {"crd-gen", "import", "--builtin", "websites.e2e.kubewatch.dev", "--lang", "cpp"});
    return ran.code == 0;
  }));
  CAPTURE(ran.err);
  for (const char* line : {"struct WebsiteSpec {", "std::optional<std::string> title;",
                           "kPlural = \"websites\"", "namespace website_v1 {"}) {
    CAPTURE(line);
    CHECK(ran.out.find(line) != std::string::npos);
  }
  const std::pair<const char*, const char*> kinds[] = {
      {"deployments.apps", "std::optional<PodTemplateSpec> template_;"},
      {"pods", "std::optional<std::vector<Container>> containers;"},
      {"customresourcedefinitions", "struct JSONSchemaProps"},
      {"configmaps", "std::optional<std::map<std::string, std::string>> data;"}};
  for (const auto& [type, line] : kinds) {
    const Ran built = kubewatch(w, {"crd-gen", "import", "--builtin", type, "--lang", "cpp"});
    CAPTURE(type, built.err);
    CHECK(built.code == 0);
    CHECK(built.out.find(line) != std::string::npos);
  }
  const Ran none = kubewatch(w, {"crd-gen", "import", "--builtin", "gizmos", "--lang", "cpp"});
  CHECK(none.code != 0);
  CHECK(none.err.find("gizmos") != std::string::npos);
}

}  // namespace kubewatch::e2e
