#include <algorithm>

#include "base/json.hpp"
#include "cli/watch/columns.hpp"
#include "cli/watch/object_print.hpp"
#include "cli/watch/views.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::cli;
using namespace kubewatch::cli::watch;

namespace {

SourceInfo pods() {
  SourceInfo out;
  out.type.gvk = {"", "v1", "Pod"};
  out.type.plural = "pods";
  out.type.singular = "pod";
  return out;
}

runtime::StoreChange change(runtime::ChangeType type, const std::string& name, const Json& object,
                            const Json& before = nullptr) {
  runtime::StoreChange out;
  out.type = type;
  out.meta.name = name;
  out.meta.namespace_ = "shop";
  out.meta.creation_timestamp = "2026-01-02T03:04:05Z";
  out.json = base::dump_json(object);
  if (!before.is_null()) out.previous_json = base::dump_json(before);
  return out;
}

// Of an object whose name and age are read from itself.
Json named(Json object) {
  object["metadata"] = {{"name", "web"}, {"creationTimestamp", "2026-01-02T03:04:05Z"}};
  return object;
}

const WallTime kNow = *base::parse_rfc3339("2026-01-02T03:05:05Z");
using runtime::ChangeType;

std::string shown(View& view, const SourceInfo& source, const runtime::StoreChange& what) {
  std::string out;
  const auto done = view.event(Event(source, what), kNow, out);
  if (!done.ok()) FAIL(done.error().render());
  return out;
}

Result<std::unique_ptr<View>> view_of(const std::string& output, const ViewOptions& options = {}) {
  KW_ASSIGN(const auto format, parse_output_format(output, {}));
  return make_object_view(format, options);
}

}  // namespace

TEST_CASE("columns are as wide as the first rows need, and become wider when a row needs it") {
  EventTable table({"A", "B"});
  table.add({"1", "x"});
  table.add({"long", "y"});
  CHECK(table.text() == "A      B\n1      x\nlong   y\n");
  table.add({"longer", "z"});
  table.add({"1"});
  CHECK(table.text() == "longer   z\n1\n");
  CHECK(table.text().empty());
  table.add({"a\tb", "z"});
  CHECK(table.text() == "a\\tb     z\n");
}

TEST_CASE("marks alone come without the header, which waits for the first row") {
  EventTable table({"EVENT", "NAME"});
  table.add_mark({"SYNCED", "(nothing that is as long as this)"});
  CHECK(table.text() == "SYNCED   (nothing that is as long as this)\n");
  table.add({"ADDED", "web"});
  CHECK(table.text() == "EVENT   NAME\nADDED   web\n");
}

TEST_CASE("the event has a colour where there are colours, and the columns stay where they are") {
  Terminal colours;
  colours.color = true;
  EventTable table({"EVENT", "NAME"}, true, 0, colours);
  table.add({"ADDED", "web"}, event_style("ADDED"));
  table.add({"INITIAL", "\u4e16\u754c"}, event_style("INITIAL"));
  table.add_mark({"GAP", "(x)"}, event_style("GAP"));
  CHECK(table.text() ==
        "EVENT     NAME\n\x1b[32mADDED\x1b[0m     web\nINITIAL   \u4e16\u754c\n"
        "\x1b[35mGAP\x1b[0m       (x)\n");
}

TEST_CASE("nothing in a cell reaches a terminal as a command") {
  EventTable table({"NAME"}, false);
  table.add({"a\x1b[31mred\r\n"});
  const std::string text = table.text();
  CHECK(text.find('\x1b') == std::string::npos);
  CHECK(text.find('\r') == std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 1);
}

TEST_CASE("a table of one kind has its columns, the initial state is marked, then SYNCED") {
  const SourceInfo source = pods();
  TableView view{ViewOptions{}};
  const Json pod =
      named({{"spec", {{"containers", {{{"name", "a"}}, {{"name", "b"}}}}}},
             {"status",
              {{"phase", "Running"},
               {"containerStatuses",
                {{{"ready", true}, {"restartCount", 3}, {"state", {{"running", {{"a", 1}}}}}},
                 {{"ready", false},
                  {"restartCount", 11},
                  {"state", {{"waiting", {{"reason", "CrashLoopBackOff"}}}}}}}}}}});
  auto first = change(ChangeType::added, "web", pod);
  first.initial = true;
  std::string out = shown(view, source, first);
  view.synced(source, 1, out);
  out += shown(view, source, change(ChangeType::deleted, "web", pod));
  view.gap(source, out);
  view.flush(out);
  CHECK(out ==
        "EVENT      NAME   READY   STATUS             RESTARTS   AGE\n"
        "INITIAL    web    1/2     CrashLoopBackOff   14         60s\n"
        "SYNCED     (1 object)\n"
        "DELETED    web    1/2     CrashLoopBackOff   14         60s\n"
        "GAP        (changes in between may be missing)\n");
}

TEST_CASE(
    "a table of several kinds, namespaces and contexts says which, with the rest in DETAILS") {
  SourceInfo source = pods();
  source.context = "prod";
  ViewOptions options;
  options.several_contexts = options.several_namespaces = options.several_types = true;
  TableView view(options);
  std::string out =
      shown(view, source, change(ChangeType::added, "web", {{"status", {{"phase", "Pending"}}}}));
  view.flush(out);
  CHECK(out ==
        "EVENT      CONTEXT   NAMESPACE   KIND   NAME   AGE   DETAILS\n"
        "ADDED      prod      shop        Pod    web    60s   READY=0/0 STATUS=Pending "
        "RESTARTS=0\n");
}

TEST_CASE("a word that turns out to be a category has the table of several kinds") {
  TableView view{ViewOptions()};
  view.of_several_types();
  std::string out = shown(view, pods(), change(ChangeType::added, "web", {}));
  view.flush(out);
  CHECK(out.starts_with("EVENT      KIND   NAME   AGE   DETAILS\nADDED      Pod    web "));
}

TEST_CASE("labels are columns behind the others, of several kinds before the details") {
  ViewOptions options;
  options.label_columns = {"example.com/app", "none"};
  options.show_labels = true;
  auto what = change(ChangeType::added, "web", named(Json::object()));
  what.meta.labels = {{"z", "1"}, {"example.com/app", "shop"}};
  SourceInfo source = pods();
  source.type.plural = "orders";
  for (const bool several : {false, true}) {
    options.several_types = several;
    TableView view(options);
    std::string out = shown(view, source, what);
    view.flush(out);
    CHECK(out == (several
                      ? "EVENT      KIND   NAME   AGE   APP    NONE   LABELS                  "
                        "   DETAILS\n"
                        "ADDED      Pod    web    60s   shop          example.com/app=shop,z=1\n"
                      : "EVENT      NAME   AGE   APP    NONE   LABELS\n"
                        "ADDED      web    60s   shop          example.com/app=shop,z=1\n"));
  }
}

TEST_CASE("columns of --fields stand in the place of the kind's") {
  ViewOptions options;
  options.fields = {".spec.a", ".b"};
  TableView view(options);
  const SourceInfo source = pods();
  const auto what = change(ChangeType::modified, "web", Json::object());
  Event event(source, what);
  event.fields = {{".spec.a", 1, "two"}, {".b", 1, nullptr}};
  std::string out;
  REQUIRE(view.event(event, kNow, out).ok());
  view.flush(out);
  CHECK(out == "EVENT      NAME   .spec.a   .b\nMODIFIED   web    two       <none>\n");
}

TEST_CASE("each line of NDJSON is an envelope of a version around the object's own text") {
  JsonView view{ViewOptions{}};
  SourceInfo source = pods();
  auto first = change(ChangeType::added, "web", {{"kind", "Pod"}});
  first.initial = true;
  CHECK(shown(view, source, first) ==
        "{\"apiVersion\":\"kubewatch.dev/v1\",\"kind\":\"WatchEvent\",\"type\":\"ADDED\","
        "\"initial\":true,\"object\":{\"kind\":\"Pod\"}}\n");
  source.context = "prod";
  source.namespace_ = "shop";
  std::string out;
  view.synced(source, 1, out);
  const auto mark = base::parse_json(out);
  REQUIRE(mark.ok());
  CHECK((*mark)["type"] == "SYNCED");
  CHECK((*mark)["objects"] == 1);
  CHECK((*mark)["source"] == Json({{"apiVersion", "v1"}, {"kind", "Pod"}, {"namespace", "shop"}}));
  CHECK((*mark)["context"] == "prod");
  auto found = change(ChangeType::deleted, "web", {{"kind", "Pod"}});
  found.relisted = true;
  CHECK(base::parse_json(shown(view, source, found))->at("relisted") == true);
}

TEST_CASE("NDJSON on a terminal says the same with escapes for what it would interpret") {
  ViewOptions options;
  options.terminal.tty = true;
  JsonView view(options);
  const Json object = {{"text", "a\u202e\u009b31m\x1b"}};
  const std::string line = shown(view, pods(), change(ChangeType::added, "web", object));
  CHECK(line.find("\u202e") == std::string::npos);
  CHECK(line.find("\u009b") == std::string::npos);
  CHECK(line.find('\x1b') == std::string::npos);
  CHECK(base::parse_json(line)->at("object") == object);
  CHECK(std::count(line.begin(), line.end(), '\n') == 1);
}

TEST_CASE("NDJSON of --diff has the changes with their writers, and no managedFields") {
  ViewOptions options;
  options.diff = true;
  JsonView view(options);
  const Json fields = {{"f:data", {{"f:a", Json::object()}}}};
  const auto object = [&](const std::string& value, const std::string& time) {
    return Json{{"kind", "Secret"},
                {"metadata",
                 {{"name", "web"},
                  {"managedFields",
                   {{{"manager", "me"},
                     {"operation", "Update"},
                     {"apiVersion", "v1"},
                     {"time", time},
                     {"fieldsType", "FieldsV1"},
                     {"fieldsV1", fields}}}}}},
                {"data", {{"a", value}}}};
  };
  const auto line = base::parse_json(
      shown(view, pods(),
            change(ChangeType::modified, "web", object("bmV3", "T2"), object("b2xk", "T1"))));
  REQUIRE(line.ok());
  CHECK(!line->at("object")["metadata"].contains("managedFields"));
  REQUIRE(line->at("changes").size() == 1);
  const Json& one = line->at("changes")[0];
  CHECK(one["path"] == ".data.a");
  CHECK(one["by"]["manager"] == "me");
  CHECK(one["old"].get<std::string>().find("<masked ") == 0);
  CHECK(one["old"] != one["new"]);
  CHECK(line->at("writers")[0]["time"] == "T2");
}

TEST_CASE("a diff has a line for each field, secret values hidden, and nothing for a terminal") {
  ViewOptions options;
  options.diff = true;
  DiffView view(options);
  const std::string text = shown(
      view, pods(),
      change(ChangeType::modified, "web",
             {{"kind", "Secret"}, {"data", {{"password", "bmV3cGFzcw=="}}}, {"type", "b"}},
             {{"kind", "Secret"}, {"data", {{"password", "b2xkcGFzcw=="}}}, {"type", "a\x1b"}}));
  CHECK(text.find("MODIFIED  pod/web\n") == 0);
  CHECK(text.find("\n    .data.password: \"<masked ") != std::string::npos);
  CHECK(text.find("bmV3") == std::string::npos);
  CHECK(text.find("    .type: ") != std::string::npos);
  CHECK(text.find('\x1b') == std::string::npos);
}

TEST_CASE("a diff has colours where there are colours, and says where it is synced") {
  ViewOptions options;
  options.diff = true;
  options.terminal.color = true;
  DiffView view(options);
  SourceInfo source = pods();
  std::string text =
      shown(view, source, change(ChangeType::modified, "web", {{"x", "b"}}, {{"x", "a"}}));
  CHECK(text.find("\x1b[33mMODIFIED\x1b[0m  pod/web\n") == 0);
  CHECK(text.find("    .x: \x1b[31m\"a\"\x1b[0m -> \x1b[32m\"b\"\x1b[0m\n") != std::string::npos);
  source.context = "prod";
  source.namespace_ = "shop";
  text.clear();
  view.synced(source, 1, text);
  view.gap(source, text);
  CHECK(text ==
        "\x1b[36mSYNCED\x1b[0m  prod pods in shop (1 object)\n"
        "\x1b[35mGAP\x1b[0m  prod pods in shop (changes in between may be missing)\n");
}

TEST_CASE("formats of single objects: name, jsonpath, jq, custom-columns") {
  const SourceInfo source = pods();
  const auto what = change(ChangeType::added, "web", {{"metadata", {{"name", "web"}}}});
  const auto print = [&](const std::string& format) {
    auto view = view_of(format);
    if (!view.ok()) FAIL(view.error().render());
    std::string out = shown(**view, source, what);
    (*view)->flush(out);
    return out;
  };
  CHECK(print("name") == "pod/web\n");
  CHECK(print("jsonpath={.metadata.name}") == "web\n");
  CHECK(print("jq=.metadata | keys[]") == "name\n");
  CHECK(print("custom-columns=NAME:.metadata.name,X:.x") ==
        "EVENT      NAME   X\nADDED      web    <none>\n");
}

TEST_CASE("managed fields are in every format of single objects where they were asked for") {
  const SourceInfo source = pods();
  const auto what =
      change(ChangeType::added, "web",
             *base::parse_json(R"({"metadata":{"managedFields":[{"manager":"helm"}]}})"));
  ViewOptions options;
  options.show_managed_fields = true;
  for (const char* format :
       {"jsonpath={.metadata.managedFields[0].manager}", "jq=.metadata.managedFields[0].manager",
        "custom-columns=M:.metadata.managedFields[0].manager"}) {
    CAPTURE(format);
    auto view = view_of(format, options);
    if (!view.ok()) FAIL(view.error().render());
    std::string out = shown(**view, source, what);
    (*view)->flush(out);
    CHECK(out.find("helm\n") != std::string::npos);
  }
}

TEST_CASE("YAML is what JSON is: marks, what is only there when it says something, any depth") {
  ViewOptions options;
  options.yaml = true;
  JsonView view(options);
  const SourceInfo source = pods();
  auto what = change(ChangeType::added, "web", {{"metadata", {{"name", "web"}}}});
  what.reduced = true;
  const std::string told = shown(view, source, what);
  CHECK(told.find("reduced: true\n") != std::string::npos);
  CHECK(told.ends_with("type: ADDED\n---\n"));
  std::string marks;
  view.synced(source, 3, marks);
  view.gap(source, marks);
  CHECK(marks.find("objects: 3\n") != std::string::npos);
  CHECK(marks.find("type: SYNCED\n---\n") != std::string::npos);
  CHECK(marks.ends_with("type: GAP\n---\n"));
  // As deep as a store keeps an object, which the envelope is around.
  Json deep = "leaf";
  for (int i = 0; i < 198; ++i) deep = Json{{"a", deep}};
  const auto deepest =
      change(ChangeType::added, "web", {{"metadata", {{"name", "web"}}}, {"spec", deep}});
  CHECK(shown(view, source, deepest).find("leaf") != std::string::npos);
}

TEST_CASE("a format that is wrong is refused by name, with a caret or what there is") {
  const auto error = [](const std::string& format) {
    auto view = view_of(format);
    return view.ok() ? std::string() : view.error().render();
  };
  CHECK(error("jsonpath={.a[}").find("^") != std::string::npos);
  CHECK(error("jq=.a |").find("^") != std::string::npos);
  CHECK(error("custom-columns=NAME").find("NAME") != std::string::npos);
  CHECK(error("tabel").find("custom-columns") != std::string::npos);
  CHECK(!error("jsonpath=").empty());
}

TEST_CASE("columns of a custom kind come from its definition, and are those of kubectl get -w") {
  SourceInfo source = pods();
  source.type.gvk = {"shop.example.com", "v1", "Order"};
  source.type.plural = "orders";
  const Json definition = Json::parse(R"j({"spec":{"versions":[{"name":"v1",
    "additionalPrinterColumns":[
      {"name":"Ready","type":"string","jsonPath":".status.c[?(@.type==\"Ready\")].status"},
      {"name":"Title","type":"string","jsonPath":".spec.title"},
      {"name":"Types","type":"string","jsonPath":".spec..type"},
      {"name":"Count","type":"integer","jsonPath":".spec.count"},
      {"name":"Detail","type":"string","jsonPath":".spec.d","priority":1},
      {"name":"Created","type":"string","jsonPath":".metadata.creationTimestamp"}]}]}})j");
  const Json object = named(Json::parse(
      R"({"spec":{"title":"a\u0041","count":"no number","d":{"e":"<f>"},
          "list":[{"type":"x"},{"type":"y"}]},
          "status":{"c":[{"type":"Other","status":"False"},{"type":"Ready","status":"True"},
          {"type":"Ready","status":"False"}]}})"));
  for (const bool wide : {false, true}) {
    ViewOptions options;
    options.wide = wide;
    TableView view(options);
    view.set_columns(source.type, crd_columns(definition, "v1"));
    std::string out = shown(view, source, change(ChangeType::added, "web", object));
    view.flush(out);
    // An AGE that the definition does not have is not added.
    CHECK(out == (wide ? "EVENT      NAME   READY   TITLE   TYPES   COUNT   DETAIL"
                         "                  CREATED\n"
                         "ADDED      web    True    aA      x               "
                         "{\"e\":\"\\u003cf\\u003e\"}   2026-01-02T03:04:05Z\n"
                       : "EVENT      NAME   READY   TITLE   TYPES   COUNT   CREATED\n"
                         "ADDED      web    True    aA      x               "
                         "2026-01-02T03:04:05Z\n"));
  }
}

TEST_CASE("a row is one line, and of a cell with several the first") {
  const Json definition = Json::parse(R"j({"spec":{"versions":[{"name":"v1",
    "additionalPrinterColumns":[{"name":"Note","type":"string","jsonPath":".note"}]}]}})j");
  CHECK(cells_of(pods().type, *crd_columns(definition, "v1"), false,
                 R"({"metadata":{"name":"web"},"note":"one\ntwo\nthree"})",
                 kNow) == std::vector<std::string>{"web", "one..."});
}

TEST_CASE("wide tables have the columns of lower priority, of built-in kinds too") {
  ViewOptions options;
  options.wide = true;
  TableView view(options);
  const Json pod = named({{"spec", {{"nodeName", "n1"}}}, {"status", {{"phase", "Pending"}}}});
  std::string out = shown(view, pods(), change(ChangeType::added, "web", pod));
  view.flush(out);
  CHECK(out ==
        "EVENT      NAME   READY   STATUS    RESTARTS   AGE   IP       NODE   NOMINATED NODE   "
        "READINESS GATES\n"
        "ADDED      web    0/0     Pending   0          60s   <none>   n1     <none>           "
        "<none>\n");
}

TEST_CASE("a row is read from the object's text, no more of it than the columns look at") {
  const core::ResourceType type = pods().type;
  const auto status = [&](const std::string& text) {
    return cells_of(type, *builtin_columns_of(type), false, text, kNow).at(2);
  };
  CHECK(status(R"({"status":{"phase":"Pending"}})") == "Pending");
  CHECK(status(R"({"status":{"phase":"Pending"},"status":{"phase":"Running"}})") == "Running");
  CHECK(status(R"({"metadata":{"deletionTimestamp":"x"},"status":{"phase":"Running"}})") ==
        "Terminating");
  CHECK(status(R"({"status":{"phase":"Running"},"spec":{"a)") == "Running");
  CHECK(status("{}").empty());
  CHECK(status("[1").empty());
  // What cannot be parsed does no harm where nobody looks at it.
  const std::string deep(1000, '[');
  core::ResourceType orders = type;
  orders.plural = "orders";
  CHECK(cells_of(orders, *plain_columns(), false, R"({"metadata":{"name":"web"},"spec":)" + deep,
                 kNow) == std::vector<std::string>{"web", "<unknown>"});
}
