// How large an object may be: to the byte, and what is said of one that is larger.
#include "core/go_json.hpp"
#include "e2e/requests.hpp"

namespace kubewatch::e2e {

namespace {

constexpr std::size_t kMib = 1U << 20U;
constexpr const char* kTooLarge = "etcdserver: request is too large";
const std::string kGroup = "sizes.e2e.kubewatch.dev";

Json definition(const std::string& plural, const std::string& kind) {
  const Json schema = {
      {"type", "object"},
      {"properties",
       {{"spec", {{"type", "object"}, {"x-kubernetes-preserve-unknown-fields", true}}}}}};
  return {{"apiVersion", "apiextensions.k8s.io/v1"},
          {"kind", "CustomResourceDefinition"},
          {"metadata", {{"name", plural + "." + kGroup}}},
          {"spec",
           {{"group", kGroup},
            {"scope", "Namespaced"},
            {"names", {{"plural", plural}, {"kind", kind}}},
            {"versions",
             {{{"name", "v1"},
               {"served", true},
               {"storage", true},
               {"schema", {{"openAPIV3Schema", schema}}}}}}}}};
}

Json box(const std::string& name, const std::string& text, const std::string& kind = "Box") {
  return {{"apiVersion", kGroup + "/v1"},
          {"kind", kind},
          {"metadata", {{"name", name}}},
          {"spec", {{"text", text}}}};
}

// As it is kept: without its resourceVersion, and with a line break at the end.
std::size_t kept_size(Json object) {
  object["metadata"].erase("resourceVersion");
  return core::go_json(object).size() + 1;
}

// What etcd takes of a new object.
std::size_t most_of(const std::string& key) {
  REQUIRE(key.size() < 110);  // lengths of messages take one byte
  // The key is in the request twice.
  return 3 * kMib / 2 - 40 - 2 * key.size();
}

// The first object of a kind that was just defined: the server needs a moment to serve it.
Answer make_first(World& w, const std::string& collection, const Json& object) {
  Answer made;
  w.eventually([&] {
    made = send(w, "POST", collection, object);
    return made.code != 404;
  });
  REQUIRE(made.code == 201);
  return made;
}

void drop_definition(World& w, const std::string& plural) {
  const std::string path =
      "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + plural + "." + kGroup;
  send(w, "DELETE", path, Json::object());
  w.eventually([&] { return send(w, "GET", path).code == 404; });
}

}  // namespace

E2E_CASE("an object may be as large as etcd takes it, and no larger") {
  World w;
  w.apply(definition("boxes", "Box").dump());
  const std::string boxes = "/apis/" + kGroup + "/v1/namespaces/" + w.ns() + "/boxes";
  const Answer small = make_first(w, boxes, box("b0", ""));
  const std::size_t most = most_of("/registry/" + kGroup + "/boxes/" + w.ns() + "/b0");
  // What managedFields take is on neither side here.
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
  const Answer grown = patch(w, boxes + "/b1", doubled);
  CHECK(grown.code == 500);
  CHECK(message(grown).rfind("rpc error: code = ResourceExhausted desc = trying to send message "
                             "larger than max (26",
                             0) == 0);
  CHECK(message(grown).find(" vs. 2097152)") != std::string::npos);
  CHECK(patch(w, boxes + "/b1?dryRun=All", doubled).code == 200);
  // One that is refused for something else is told that.
  CHECK(send(w, "POST", boxes, box("B_", std::string(room + kAbout, 'x'))).code == 422);

  drop_definition(w, "boxes");
}

E2E_CASE("what is too large with its managedFields is kept without, but not what is applied") {
  World w;
  w.apply(definition("crates", "Crate").dump());
  const std::string crates = "/apis/" + kGroup + "/v1/namespaces/" + w.ns() + "/crates";
  const Answer small = make_first(w, crates, box("b0", "", "Crate"));
  Json bare = small.body;
  bare["metadata"].erase("managedFields");
  const std::size_t most = most_of("/registry/" + kGroup + "/crates/" + w.ns() + "/b0");
  // Of which so many bytes are left.
  const auto sized = [&](const std::string& name, std::size_t left) {
    return box(name, std::string(most - left - kept_size(bare), 'x'), "Crate");
  };
  const auto is_bare = [](const Answer& answer) {
    return base::find(answer.body, {"metadata", "managedFields"}) == nullptr;
  };
  CHECK_FALSE(is_bare(small));
  // Less than the owners take; an update's request holds the key once more.
  constexpr std::size_t kBelow = 140;
  const std::string path = crates + "/b1";
  const Answer applied =
      send_text(w, "PATCH", path + "?fieldManager=a", base::dump_json(sized("b1", kBelow)),
                "application/apply-patch+yaml");
  CHECK(applied.code == 500);
  CHECK(message(applied) == kTooLarge);

  const Answer made = send(w, "POST", crates, sized("b1", kBelow));
  CHECK(made.code == 201);
  CHECK(is_bare(made));
  const Answer patched = patch(w, path, {{"spec", {{"a", 1}}}});
  CHECK(patched.code == 200);
  CHECK(is_bare(patched));
  Answer now = send(w, "GET", path);
  CHECK(is_bare(now));
  now.body["spec"]["a"] = 2;
  const Answer put = send(w, "PUT", path, now.body);
  CHECK(put.code == 200);
  CHECK(is_bare(put));

  // One that has room for what says who owns its fields, until it grows.
  const auto grow = [](const std::string& name) {
    return Json{{"apiVersion", kGroup + "/v1"},
                {"kind", "Crate"},
                {"metadata", {{"name", name}}},
                {"spec", {{"more", std::string(150, 'x')}}}};
  };
  const std::size_t owners = kept_size(small.body) - kept_size(bare);
  CHECK_FALSE(is_bare(send(w, "POST", crates, sized("b4", owners + 100))));
  const Answer over_by_apply =
      send_text(w, "PATCH", crates + "/b4?fieldManager=a", base::dump_json(grow("b4")),
                "application/apply-patch+yaml");
  CHECK(over_by_apply.code == 500);
  const Answer grown = patch(w, crates + "/b4", grow("b4"));
  CHECK(grown.code == 200);
  CHECK(is_bare(grown));

  CHECK(send(w, "POST", crates, sized("b2", 0)).code == 201);
  // The id of a request begins with the low 16 bits of its member's id, which etcd makes of its
  // peer address: of that it takes ten bytes, nine or, seldom, eight.
  Json over = sized("b3", 0);
  over["spec"]["text"].get_ref<std::string&>() += "xxx";
  CHECK(message(send(w, "POST", crates, over)) == kTooLarge);

  drop_definition(w, "crates");
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
