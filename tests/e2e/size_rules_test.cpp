// How large an object may be: to the byte, and what is said of one that is larger.
#include "core/go_json.hpp"
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

constexpr std::size_t kMib = 1U << 20U;
constexpr const char* kTooLarge = "etcdserver: request is too large";
const std::string kGroup = "sizes.e2e.kubewatch.dev";
const std::string kDefinition =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boxes." + kGroup;

Json definition() {
  const Json schema = {
      {"type", "object"},
      {"properties",
       {{"spec", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", "boxes." + kGroup}}},
          {"spec",
           {{"group", kGroup},
            {"scope", "Namespaced"},
            {"names", {{"plural", "boxes"}, {"kind", "Box"}}},
            {"versions",
             {{{"name", "v1"},
               {"served", true},
               {"storage", true},
               {"schema", {{"openAPIV3Schema", schema}}}}}}}}};
}

Json box(const std::string& name, const std::string& text) {
  return {{"apiVersion", kGroup + "/v1"},
          {"kind", "Box"},
          {"metadata", {{"name", name}}},
          {"spec", {{"text", text}}}};
}

// As it is kept: without its resourceVersion, and with a line break at the end.
std::size_t kept_size(Json object) {
  object["metadata"].erase("resourceVersion");
  return core::go_json(object).size() + 1;
}

std::string message(const Answer& answer) {
  return base::string_at(answer.body, {"message"});
}

Answer merge(World& w, const std::string& path, const Json& body) {
  return send_text(w, "PATCH", path, base::dump_json(body), "application/merge-patch+json");
}

}  // namespace

E2E_CASE("an object may be as large as etcd takes it, and no larger") {
  World w;
  w.apply(definition().dump());
  const std::string boxes = "/apis/" + kGroup + "/v1/namespaces/" + w.ns() + "/boxes";
  Answer small;
  w.eventually([&] {
    small = send(w, "POST", boxes, box("b0", ""));
    return small.code != 404;
  });
  REQUIRE(small.code == 201);
  const std::string key = "/registry/" + kGroup + "/boxes/" + w.ns() + "/b0";
  REQUIRE(key.size() < 110);  // lengths of messages take one byte
  // The key is in the request twice.
  const std::size_t most = 3 * kMib / 2 - 40 - 2 * key.size();
  // kube-apiserver leaves out the managedFields of a new object that is too large with them, and
  // stores it: the room that they take is on neither side here.
  constexpr std::size_t kAbout = 1024;
  const std::size_t room = most - kept_size(small.body);
  CHECK(send(w, "POST", boxes, box("b1", std::string(room - kAbout, 'x'))).code == 201);
  const Answer over = send(w, "POST", boxes, box("b2", std::string(room + kAbout, 'x')));
  CHECK(over.code == 500);
  CHECK(message(over) == kTooLarge);
  CHECK_FALSE(over.body.contains("reason"));
  CHECK_FALSE(over.body.contains("details"));
  // Of a name that is taken as well.
  CHECK(message(send(w, "POST", boxes, box("b0", std::string(room + kAbout, 'x')))) == kTooLarge);
  // A dry run asks no etcd.
  CHECK(send(w, "POST", boxes + "?dryRun=All", box("b2", std::string(room + kAbout, 'x'))).code ==
        201);
  // Six bytes each.
  CHECK(message(send(w, "POST", boxes, box("b2", std::string(room / 5, '<')))) == kTooLarge);

  const Json doubled = {{"spec", {{"more", std::string(kMib, 'x')}}}};
  const Answer grown = merge(w, boxes + "/b1", doubled);
  CHECK(grown.code == 500);
  CHECK(message(grown).rfind("rpc error: code = ResourceExhausted desc = trying to send message "
                             "larger than max (26",
                             0) == 0);
  CHECK(message(grown).find(" vs. 2097152)") != std::string::npos);
  CHECK(merge(w, boxes + "/b1?dryRun=All", doubled).code == 200);
  // One that is refused for something else is told that.
  CHECK(send(w, "POST", boxes, box("B_", std::string(room + kAbout, 'x'))).code == 422);

  send(w, "DELETE", kDefinition, Json::object());
  w.eventually([&] { return send(w, "GET", kDefinition).code == 404; });
}

E2E_CASE("an object of a built-in kind is as large as its texts, not as its JSON") {
  World w;
  const std::string maps = "/api/v1/namespaces/" + w.ns() + "/configmaps";
  const auto map = [](const std::string& name, const std::string& text) {
    return Json{{"apiVersion", "v1"},
                {"kind", "ConfigMap"},
                {"metadata", {{"name", name}}},
                {"data", {{"a", text}}}};
  };
  CHECK(send(w, "POST", maps, map("quotes", std::string(kMib - 1, '"'))).code == 201);
  const Answer over = send(w, "POST", maps, map("over", std::string(kMib + 1, 'x')));
  CHECK(over.code == 422);
}

}  // namespace kubewatch::e2e
