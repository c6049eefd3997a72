// The table of updates (schema/updates.yaml): both servers judge them alike, and so does crd-gen
// validate with the stored object as --old.
#include "base/yaml.hpp"
#include "e2e/kubewatch_process.hpp"
#include "e2e/requests.hpp"
#include "e2e/schema/table.hpp"

namespace kubewatch::e2e {

namespace {

const std::string kDefinition =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/changes.updates.e2e.kubewatch.dev";

// The objects of the table, made while their schema is loose; then the schema is tight.
class Updates {
 public:
  Updates(World& w, const Json& table)
      : w_(w), path_("/apis/updates.e2e.kubewatch.dev/v1/namespaces/" + w.ns() + "/changes") {
    w_.apply(tables::change_crd(table, "loose").dump());
    std::size_t index = 0;
    for (const auto& one : table.at("cases")) {
      const std::string name = "c" + std::to_string(index++);
      Answer made;
      w_.eventually([&] {  // a definition is served a little after it was made
        made = send(w_, "POST", path_, tables::before_of(table, one, name));
        return made.code != 404;
      });
      CAPTURE(one.at("name").get<std::string>(), made.body.dump());
      REQUIRE(made.code == 201);
      if (!one.value("dying", false)) continue;
      REQUIRE(send(w_, "DELETE", path_ + "/" + name, Json::object()).code == 200);
      dying_.push_back(name);
    }
    const Json tight = tables::change_crd(table, "tight");
    w_.apply(tight.dump());
    w_.file("crd.yaml", base::dump_yaml(tight));
    const Json probe = tables::before_of(table, {{"old", {{"text", "too long"}}}}, "probe");
    REQUIRE(
        w_.eventually([&] { return send(w_, "POST", path_ + "?dryRun=All", probe).code == 422; }));
  }
  ~Updates() {
    try {
      clean_up();
    } catch (...) {
      // A case that failed leaves what it made to the server's end.
    }
  }
  Updates(const Updates&) = delete;
  Updates& operator=(const Updates&) = delete;

  void clean_up() {
    for (const std::string& name : dying_) {
      Json object = send(w_, "GET", path_ + "/" + name).body;
      object["metadata"].erase("finalizers");
      send(w_, "PUT", path_ + "/" + name, object);
    }
    send(w_, "DELETE", kDefinition, Json::object());
    w_.eventually([&] { return send(w_, "GET", kDefinition).code == 404; });
  }

  Json stored(const std::string& name) { return send(w_, "GET", path_ + "/" + name).body; }
  Answer put(const std::string& name, const Json& object) {
    return send(w_, "PUT", path_ + "/" + name + "?dryRun=All", object);
  }
  // What validate says to it.
  Told validate(const Json& before, const Json& after) {
    w_.file("old.yaml", base::dump_yaml(before));
    w_.file("new.yaml", base::dump_yaml(after));
    const Ran ran =
        kubewatch(w_, {"crd-gen", "validate", w_.folder() + "/crd.yaml", w_.folder() + "/new.yaml",
                       "--old", w_.folder() + "/old.yaml", "-o", "json"});
    const auto parsed = base::parse_json(ran.out);
    if (!parsed.ok()) FAIL(ran.err);
    const Json& one = parsed->at("objects").at(0);
    CHECK(ran.code == (one.at("valid") == true ? 0 : 9));
    return one.at("problems").get<Told>();
  }

 private:
  World& w_;
  std::string path_;
  std::vector<std::string> dying_;
};

}  // namespace

E2E_CASE("schema: updates of the table are judged alike, by crd-gen validate --old too") {
  World w;
  const Json table = tables::read(std::string(SCHEMA_TABLES) + "/updates.yaml");
  Updates updates(w, table);
  std::size_t index = 0;
  for (const auto& one : table.at("cases")) {
    const std::string name = "c" + std::to_string(index++);
    const Json before = updates.stored(name);
    const Json after = schema::merge_patch(before, one.at("new"));
    const Answer answer = updates.put(name, after);
    const std::string message = base::string_at(answer.body, {"message"});
    const Told ours = updates.validate(before, after);
    CAPTURE(one.at("name").get<std::string>(), message, joined(ours));
    CHECK(answer.code == one.value("code", 200));
    if (answer.code == 422) {
      const Told theirs = told_by_server(answer.body);
      CHECK(tells(theirs, one.value("field", ""), one.value("message", "?")));
      CHECK(joined(ours) == joined(theirs));
    } else if (answer.code != 200) {
      CHECK(message.find(one.value("message", "?")) != std::string::npos);
      REQUIRE(ours.size() == 1);
      CHECK(message.find(*ours.begin()) != std::string::npos);
    } else {
      CHECK(joined(ours) == "");
    }
  }
}

}  // namespace kubewatch::e2e
