#include "cli/printers/object_printer.hpp"

#include <sstream>

#include "base/yaml.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

namespace {

core::ResourceType make_type(const std::string& group, const std::string& kind,
                             const std::string& plural, bool namespaced = true) {
  core::ResourceType type;
  type.gvk = {group, "v1", kind};
  type.plural = plural;
  type.singular = plural.substr(0, plural.size() - 1);
  type.namespaced = namespaced;
  return type;
}

const core::ResourceType kMaps = make_type("", "ConfigMap", "configmaps");
const core::ResourceType kWebsites = make_type("demo.example.com", "Website", "websites");
const core::ResourceType kNodes = make_type("", "Node", "nodes", false);

Json map_object(const std::string& name, int keys) {
  Json data = Json::object();
  for (int i = 0; i < keys; ++i) data["k" + std::to_string(i)] = "v";
  return {{"apiVersion", "v1"},
          {"kind", "ConfigMap"},
          {"metadata",
           {{"name", name},
            {"namespace", "shop"},
            {"labels", {{"app.kubernetes.io/name", "x" + name}, {"tier", "web"}}},
            {"creationTimestamp", "2026-01-02T03:04:05Z"},
            {"managedFields", Json::array({{{"manager", "someone"}}})}}},
          {"data", data}};
}

Json website(const std::string& name) {
  return {{"apiVersion", "demo.example.com/v1"},
          {"kind", "Website"},
          {"metadata", {{"name", name}, {"namespace", "blog"}}},
          {"spec", {{"replicas", 3}, {"note", "a\x1b[31mb"}}}};
}

WallTime later() {
  return *base::parse_rfc3339("2026-01-02T03:09:05Z");
}

struct Printed {
  PrintFlags flags;
  PrinterSetup setup;

  explicit Printed(const std::string& output) { flags.output = output; }
  std::unique_ptr<ObjectPrinter> printer() const {
    auto made = ObjectPrinter::make(flags, setup);
    REQUIRE(made.ok());
    return std::move(made).value();
  }
  std::string list(const std::vector<PrintedObject>& objects, bool single = false) const {
    std::ostringstream out;
    const auto done = printer()->print_list(out, objects, single, later());
    return done.ok() ? out.str() : "error: " + done.error().render();
  }
  std::string stream(const std::vector<PrintedObject>& objects,
                     const std::vector<std::string>& leading = {}) const {
    std::ostringstream out;
    const auto made = printer();
    for (const auto& one : objects) REQUIRE(made->print_one(out, one, later(), leading).ok());
    return out.str();
  }
};

}  // namespace

TEST_CASE("a table of a built-in kind has kubectl's columns, AGE last") {
  const Json a = map_object("settings", 2);
  const Json b = map_object("x", 10);
  Printed table("table");
  CHECK(table.list({{kMaps, a}, {kMaps, b}}) ==
        "NAME       DATA   AGE\n"
        "settings   2      5m\n"
        "x          10     5m\n");
  table.setup.with_namespace = true;
  table.flags.label_columns = {"app.kubernetes.io/name", "none"};
  table.flags.show_labels = true;
  CHECK(table.list({{kMaps, b}}) ==
        "NAMESPACE   NAME   DATA   AGE   NAME   NONE   LABELS\n"
        "shop        x      10     5m    xx            "
        "app.kubernetes.io/name=xx,tier=web\n");
  table = Printed("table");
  table.flags.no_headers = true;
  CHECK(table.list({{kMaps, b}}) == "x   10   5m\n");
}

TEST_CASE("several kinds are tables of TYPE/NAME with a blank line between") {
  const Json a = map_object("settings", 2);
  const Json w = website("blog");
  const Json node = {{"metadata", {{"name", "n"}}}};
  Printed table("table");
  table.setup.several_kinds = true;
  table.setup.with_namespace = true;
  CHECK(table.list({{kMaps, a}, {kWebsites, w}, {kMaps, a}}) ==
        "NAMESPACE   NAME                 DATA   AGE\n"
        "shop        configmap/settings   2      5m\n"
        "shop        configmap/settings   2      5m\n"
        "\n"
        "NAMESPACE   NAME                            AGE\n"
        "blog        website.demo.example.com/blog   <unknown>\n");
  CHECK(table.list({{kNodes, node}}).find("NAMESPACE") == std::string::npos);
  table.setup.common_columns = true;
  CHECK(table.list({{kMaps, a}, {kWebsites, w}}) ==
        "NAMESPACE   NAME                            AGE\n"
        "shop        configmap/settings              5m\n"
        "blog        website.demo.example.com/blog   <unknown>\n");
}

TEST_CASE("a custom kind has the columns of its CRD, wide ones by priority") {
  const Json crd = Json::parse(R"j({"spec":{"versions":[{"name":"v1","additionalPrinterColumns":[
    {"name":"Replicas","type":"integer","jsonPath":".spec.replicas"},
    {"name":"Note","type":"string","jsonPath":".spec.note","priority":1},
    {"name":"Wrong","type":"string","jsonPath":".spec["},
    {"name":"Text","type":"string","jsonPath":".spec.none"},
    {"name":"Since","type":"date","jsonPath":".metadata.creationTimestamp"}]}]}})j");
  const Json w = website("blog");
  std::ostringstream out;
  for (const auto* format : {"table", "wide"}) {
    const auto printer = Printed(format).printer();
    printer->columns().put(kWebsites, crd_columns(crd, "v1"));
    REQUIRE(printer->print_list(out, {{kWebsites, w}}, false, later()).ok());
  }
  CHECK(out.str() ==
        "NAME   REPLICAS   WRONG   TEXT   SINCE\n"
        "blog   3\n"
        "NAME   REPLICAS   NOTE         WRONG   TEXT   SINCE\n"
        "blog   3          a\\x1b[31mb\n");
  CHECK(crd_columns(crd, "v2") == plain_columns());
}

TEST_CASE("of a cell with several lines a table shows the first") {
  const Json crd = Json::parse(R"j({"spec":{"versions":[{"name":"v1","additionalPrinterColumns":[
    {"name":"Note","type":"string","jsonPath":".spec.note"},
    {"name":"Replicas","type":"integer","jsonPath":".spec.replicas"}]}]}})j");
  for (const auto* note : {"a\tb\nc", "a\tb\r\nc", "a\tb\fc\n"}) {
    Json object = website("blog");
    object["spec"]["note"] = note;
    std::ostringstream out;
    const auto printer = Printed("table").printer();
    printer->columns().put(kWebsites, crd_columns(crd, "v1"));
    REQUIRE(printer->print_list(out, {{kWebsites, object}}, false, later()).ok());
    CHECK(out.str() == "NAME   NOTE      REPLICAS\nblog   a\\tb...   3\n");
  }
}

TEST_CASE("a stream has its header once, and the verb's own cells in front") {
  const Json a = map_object("settings", 2);
  const Json b = map_object("longer-than-all", 3);
  Printed table("table");
  table.setup.leading = {"EVENT"};
  CHECK(table.stream({{kMaps, a}, {kMaps, b}, {kMaps, a}}, {"ADDED"}) ==
        "EVENT   NAME       DATA   AGE\n"
        "ADDED   settings   2      5m\n"
        "ADDED   longer-than-all   3      5m\n"
        "ADDED   settings          2      5m\n");
  std::ostringstream out;
  const auto printer = table.printer();
  printer->measure({kMaps, b}, later(), {"ADDED"});
  REQUIRE(printer->print_one(out, {kMaps, a}, later(), {"ADDED"}).ok());
  CHECK(out.str() ==
        "EVENT   NAME              DATA   AGE\n"
        "ADDED   settings          2      5m\n");
}

TEST_CASE("json is one object, a List, or a line for each of a stream, without managedFields") {
  const Json a = map_object("a", 1);
  Printed json("json");
  const auto single = base::parse_json(json.list({{kMaps, a}}, true));
  REQUIRE(single.ok());
  CHECK((*single)["kind"] == "ConfigMap");
  CHECK_FALSE((*single)["metadata"].contains("managedFields"));
  const auto several = base::parse_json(json.list({{kMaps, a}}, false));
  REQUIRE(several.ok());
  CHECK((*several)["kind"] == "List");
  CHECK((*several)["apiVersion"] == "v1");
  CHECK((*several)["items"].size() == 1);
  const std::string lines = json.stream({{kMaps, a}, {kMaps, a}});
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 2);
  json.flags.show_managed_fields = true;
  CHECK(json.list({{kMaps, a}}).find("managedFields") != std::string::npos);
  CHECK(json.list({}).find("\"items\": []") != std::string::npos);
}

TEST_CASE("items of a list get the kind that they lack, from bytes too") {
  const std::string bytes = R"({"metadata":{"name":"a"}})";
  Printed json("json");
  CHECK(
      json.stream({{kWebsites, std::string_view(bytes)}}) ==
      "{\"apiVersion\":\"demo.example.com/v1\",\"kind\":\"Website\",\"metadata\":{\"name\":\"a\"}}"
      "\n");
}

TEST_CASE("bytes of a stream are printed as they were sent, unless something is to be left out") {
  const std::string bytes =
      R"({"metadata":{"name":"a"},"kind":"ConfigMap","apiVersion":"v1","data":{"z":"1","a":"é"}})";
  Printed json("json");
  CHECK(json.stream({{kMaps, std::string_view(bytes)}}) == bytes + "\n");
  const std::string managed =
      R"({"metadata":{"name":"a","managedFields":[]},"kind":"ConfigMap","apiVersion":"v1"})";
  CHECK(json.stream({{kMaps, std::string_view(managed)}}).find("managed") == std::string::npos);
  json.flags.show_managed_fields = true;
  CHECK(json.stream({{kMaps, std::string_view(managed)}}) == managed + "\n");
  CHECK(Printed("name").stream({{kMaps, std::string_view(bytes)}}) == "configmap/a\n");
  Printed common("table");
  common.setup.common_columns = true;
  common.flags.no_headers = true;
  CHECK(common.stream({{kMaps, std::string_view(bytes)}}) == "a   <unknown>\n");
}

TEST_CASE("yaml is one document, or documents with lines between in a stream") {
  const Json w = website("blog");
  Printed yaml("yaml");
  CHECK(yaml.list({{kWebsites, w}}, true).starts_with("apiVersion: demo.example.com/v1\n"));
  const auto documents = base::parse_yaml_values(yaml.stream({{kWebsites, w}, {kWebsites, w}}));
  REQUIRE(documents.ok());
  REQUIRE(documents->size() == 2);
  CHECK((*documents)[1] == w);
}

TEST_CASE("names, templates, jq and custom columns print each their way") {
  const Json a = map_object("a", 1);
  const Json w = website("blog");
  const std::vector<PrintedObject> both = {{kMaps, a}, {kWebsites, w}};
  CHECK(Printed("name").list(both) == "configmap/a\nwebsite.demo.example.com/blog\n");
  CHECK(Printed("jsonpath={range .items[*]}{.metadata.name}{\"\\n\"}{end}").list(both) ==
        "a\nblog\n");
  CHECK(Printed("jsonpath={.metadata.name} ").stream(both) == "a blog ");
  CHECK(Printed("jq=.items[].metadata.name").list(both) == "a\nblog\n");
  CHECK(Printed("jq={n: .metadata.name}").stream(both) == "{\"n\":\"a\"}\n{\"n\":\"blog\"}\n");
  CHECK(Printed("custom-columns=N:.metadata.name,R:.spec.replicas").list(both) ==
        "N      R\na      <none>\nblog   3\n");
  CHECK(Printed("jsonpath={.items[9]}").list(both).find("out of bounds") != std::string::npos);
  Printed strict("jsonpath={.none}");
  strict.flags.allow_missing = false;
  CHECK(strict.list(both) == "error: -o jsonpath: none is not found");
}

TEST_CASE("a list is sorted before it is printed") {
  const Json a = map_object("web10", 1);
  const Json b = map_object("web2", 1);
  Printed name("name");
  name.flags.sort_by = ".metadata.name";
  CHECK(name.list({{kMaps, a}, {kMaps, b}}) == "configmap/web2\nconfigmap/web10\n");
}

TEST_CASE("what a printer cannot be made of is told with its place") {
  const auto error_of = [](const std::string& output) {
    PrintFlags flags;
    flags.output = output;
    const auto made = ObjectPrinter::make(flags, {});
    return made.ok() ? std::string() : made.error().message();
  };
  CHECK(error_of("jsonpath={.a[}").find("\n  {.a[}\n      ^") != std::string::npos);
  CHECK(error_of("jq=.a[").find("-o jq") != std::string::npos);
  CHECK(error_of("custom-columns=A").find("HEADER:PATH") != std::string::npos);
  PrintFlags flags;
  flags.output = "table";
  flags.template_ = "{{.a}}";
  CHECK(ObjectPrinter::make(flags, {}).error().message().find("not supported") !=
        std::string::npos);
}

TEST_CASE("on a terminal nothing is interpreted, into a pipe bytes are exact, json is both") {
  const Json w = {{"metadata", {{"name", "a\x1b]0;x\x07\u202e"}}}};
  Printed piped("jsonpath={.metadata.name}");
  Printed tty = piped;
  tty.setup.terminal.tty = true;
  CHECK(piped.list({{kWebsites, w}}, true) == "a\x1b]0;x\x07\u202e");
  CHECK(tty.list({{kWebsites, w}}, true) == "a\\x1b]0;x\\x07\\u202e");
  const std::string json = Printed("json").list({{kWebsites, w}}, true);
  CHECK(json.find('\x1b') == std::string::npos);
  CHECK(json.find("\u202e") == std::string::npos);
  CHECK((*base::parse_json(json))["metadata"]["name"] == "a\x1b]0;x\x07\u202e");
  CHECK(shown_json("\"\xf3\xa0\x80\x81\"") == "\"\\udb40\\udc01\"");
}

}  // namespace kubewatch::cli
