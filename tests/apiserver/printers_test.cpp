#include "apiserver/printers.hpp"

#include "apiserver/read_text.hpp"
#include "apiserver/support.hpp"
#include "apiserver/table.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

// {"id","columns":[[name,priority]],"cells","object"}
std::vector<Json> printed() {
  static constexpr const char* kPrinted[] = {
#include "apiserver/printed_cells.inc"
  };
  std::vector<Json> out;
  for (const char* one : kPrinted) out.push_back(Json::parse(one));
  return out;
}

// The day on which they were printed: ages of days are told by it, younger ones are passed over.
const WallTime kNow = *base::parse_rfc3339("2026-11-25T18:54:14Z");

Json custom(const std::string& type, const std::string& path, const char* spec) {
  const Json object = {{"metadata", {{"name", "a"}}}, {"spec", Json::parse(spec)}};
  return custom_cell(*core::JsonPath::parse(path), type, object, kNow);
}

}  // namespace

TEST_CASE("cells of built-in kinds are those of kube-apiserver") {
  for (const auto& one : printed()) {
    const std::string id = one.at("id");
    CAPTURE(id, one.at("cells").dump());
    const auto* columns = builtin_columns(id);
    REQUIRE(columns != nullptr);
    REQUIRE(columns->size() == one.at("columns").size());
    for (std::size_t i = 0; i < columns->size(); ++i) {
      const BuiltinColumn& column = (*columns)[i];
      CHECK(Json::array({column.name, column.priority}) == one.at("columns")[i]);
      if (std::string_view(column.name) == "Age") continue;
      CHECK(column.make(one.at("object"), kNow) == one.at("cells")[i]);
    }
  }
}

TEST_CASE(
    "the quick cells of Pods that kube-apiserver printed are those of the slow way, or none") {
  std::size_t quick = 0;
  for (const auto& one : printed()) {
    if (one.at("id") != "pods") continue;
    std::string text;
    if (!append_pod_cells(one.at("object").dump(), kNow, text)) continue;
    ++quick;
    Json slow = Json::array();
    for (const auto& column : *builtin_columns("pods")) {
      slow.push_back(column.make(one.at("object"), kNow));
    }
    CHECK(*base::parse_json(text) == slow);
  }
  CHECK(quick == 1);
}

TEST_CASE("what the rows of a Table have beside their columns") {
  test::Server server;
  const auto shown = [&](const std::string& path, const char* as = "Table") {
    const std::string accept = std::string("application/json;as=") + as + ";v=v1;g=meta.k8s.io";
    return server.call("GET", path, "", "", accept).json;
  };
  const std::string pods = "/api/v1/namespaces/default/pods";
  server.post(pods, Json::parse(R"({"metadata":{"name":"p"},"spec":{
      "containers":[{"name":"c","image":"i"}]}})"));
  CHECK_FALSE(shown(pods)["rows"][0].contains("conditions"));
  for (const auto& [phase, message] :
       {std::pair{"Failed", "The pod failed."},
        std::pair{"Succeeded", "The pod has completed successfully."}}) {
    server.merge(pods + "/p/status", {{"status", {{"phase", phase}}}});
    const Json told = Json::array(
        {{{"type", "Completed"}, {"status", "True"}, {"reason", phase}, {"message", message}}});
    CHECK(shown(pods)["rows"][0]["conditions"] == told);
  }

  const std::string addresses = "/apis/networking.k8s.io/v1/ipaddresses";
  server.post(addresses, Json::parse(R"({"metadata":{"name":"2001:db8::1"},"spec":{
      "parentRef":{"resource":"services","name":"a","namespace":"b"}}})"));
  const Json table = shown(addresses);
  CHECK(table["columnDefinitions"].size() == 2);
  CHECK(table["rows"][0]["cells"] == Json::parse(R"(["2001:db8::1","services/b/a","0s"])"));
  const std::string attachments = "/apis/storage.k8s.io/v1/volumeattachments";
  CHECK(shown(attachments)["columnDefinitions"][1]["format"] == "name");

  const std::string sets = "/apis/apps/v1/namespaces/default/daemonsets";
  server.post(sets, Json::parse(R"({"metadata":{"name":"d"},"spec":{"selector":{"matchLabels":{
      "a":"b"}},"template":{"metadata":{"labels":{"a":"b"}},"spec":{
      "containers":[{"name":"c","image":"i"}]}}}})"));
  CHECK(server.get(sets + "/d").json["metadata"].contains("annotations"));
  CHECK_FALSE(shown(sets)["rows"][0]["object"]["metadata"].contains("annotations"));
  CHECK_FALSE(shown(sets + "/d", "PartialObjectMetadata")["metadata"].contains("annotations"));
}

// What a kube-apiserver v1.36.3 had in the cells of a Table.
TEST_CASE("cells of additionalPrinterColumns are those of kube-apiserver") {
  CHECK(custom("string", ".spec.arr[*]", R"({"arr":["a","b c"]})") == "a");
  CHECK(custom("string", ".spec.arr[*].name", R"({"arr":[{"name":"n1"},{"name":"n2"}]})") == "n1");
  CHECK(custom("string", ".spec..type", R"({"arr":[{"type":"a"},{"type":"b"}]})") == "a");
  CHECK(custom("string", ".spec.arr", R"({"arr":[1,1.5,null,{"a":"<b>"}]})") ==
        R"([1,1.5,null,{"a":"\u003cb\u003e"}])");
  CHECK(custom("string", ".spec.s", R"({"s":"<a>&"})") == "<a>&");
  CHECK(custom("string", ".spec.s", R"({"s":""})") == "");
  CHECK(custom("string", ".spec.s", R"({"s":null})") == "<no value>");
  CHECK(custom("string", ".spec.s", R"({"s":1234567.5})") == "1.2345675e+06");
  CHECK(custom("string", ".spec.s", R"({"s":true})") == "true");
  CHECK(custom("string", ".spec.s", "{}").is_null());
  CHECK(custom("string", ".spec.arr[0]", R"({"arr":[]})").is_null());
  CHECK(custom("string", R"(.spec.c[?(@.type=="Ready")].status)", R"({"c":{}})").is_null());
  CHECK(custom("integer", ".spec.i", R"({"i":9007199254740993})") == 9007199254740993);
  CHECK(custom("integer", ".spec.i", R"({"i":1.5})") == 1);
  CHECK(custom("integer", ".spec.i", R"({"i":1e300})") == INT64_MIN);
  CHECK(custom("number", ".spec.n", R"({"n":1})").dump() == "1");
  CHECK(custom("number", ".spec.n", R"({"n":2.0})").dump() == "2");
  CHECK(custom("number", ".spec.n", R"({"n":0.1})") == 0.1);
  CHECK(custom("boolean", ".spec.b", R"({"b":false})") == false);
  for (const char* type : {"integer", "number", "boolean", "date"}) {
    CAPTURE(type);
    CHECK(custom(type, ".spec.x", R"({"x":{"a":1}})").is_null());
    CHECK(custom(type, ".spec.x", R"({"x":null})").is_null());
  }
  CHECK(custom("integer", ".spec.x", R"({"x":"5"})").is_null());
  CHECK(custom("boolean", ".spec.x", R"({"x":1})").is_null());
  CHECK(custom("date", ".spec.x", R"({"x":5})").is_null());
}

TEST_CASE("dates of additionalPrinterColumns are ages, or say why there is none") {
  const auto date = [](const std::string& text) {
    return custom("date", ".spec.d", Json({{"d", text}}).dump().c_str());
  };
  CHECK(date("2020-01-01T00:00:00Z") == "6y330d");
  CHECK(date("2020-01-01T00:00:00.5+02:00") == "6y330d");
  CHECK(date("2050-01-01T00:00:00Z") == "<invalid>");
  CHECK(date("2020-01-01") == "<invalid>");
  CHECK(date("0001-01-01T00:00:00Z") == "<unknown>");
  CHECK(date("") == "<unknown>");
}

}  // namespace kubewatch::apiserver
