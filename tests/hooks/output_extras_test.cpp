// What a hook's patches and events may touch.
#include "hooks/output_extras.hpp"

#include "hooks/patch_writer.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

core::ResourceType type(const std::string& group, const std::string& kind, bool namespaced = true) {
  core::ResourceType out;
  out.gvk = {group, "v1", kind};
  out.plural = "things";
  out.namespaced = namespaced;
  out.subresources.push_back({"status", out.gvk, {"patch"}});
  return out;
}

struct World {
  Rule rule;
  Owner owner{{"demo.dev", "v1", "Website"}, true, {"shop", "a"}, "uid-1", false};
  World() {
    rule.name = "website";
    rule.for_.gvk = owner.gvk;
    rule.writes.push_back({{"", "v1", "Service"}, {}});
    rule.writes.push_back({{"demo.dev", "v1", "Website"}, {}});
    rule.writes.push_back({{"demo.dev", "v1", "Thing"}, {}});
    rule.watches.emplace_back().stream.gvk = {"", "v1", "Pod"};
  }
  std::string patch(core::PatchType kind, Json body, const core::ResourceType& of,
                    const std::string& name = "web", const std::string& subresource = "") const {
    HookPatch patch;
    patch.target = {{"apiVersion", of.gvk.api_version()}, {"kind", of.gvk.kind}, {"name", name}};
    patch.type = kind;
    patch.subresource = subresource;
    patch.patch = std::move(body);
    const auto checked = check_patch(patch, of, rule, owner);
    return checked.ok() ? "" : checked.error().render();
  }
};

bool says(const std::string& text, const std::string& what) {
  INFO(text);
  return text.find(what) != std::string::npos;
}

}  // namespace

TEST_CASE("a patch of a declared kind in the owner's namespace is taken") {
  const World world;
  CHECK(world.patch(core::PatchType::merge, {{"spec", {{"x", 1}}}}, type("", "Service")).empty());
  CHECK(world
            .patch(core::PatchType::merge, {{"metadata", {{"labels", {{"tier", nullptr}}}}}},
                   type("", "Service"))
            .empty());
  CHECK(world
            .patch(core::PatchType::json,
                   {{{"op", "add"}, {"path", "/metadata/labels/tier"}, {"value", "web"}}},
                   type("", "Service"))
            .empty());
}

TEST_CASE("labels and annotations of a patch are checked as those of a manifest") {
  const World world;
  const core::ResourceType service = type("", "Service");
  const auto merge = [&](const char* map, Json value) {
    return world.patch(core::PatchType::merge, {{"metadata", {{map, {{"a", std::move(value)}}}}}},
                       service);
  };
  for (const char* map : {"labels", "annotations"}) {
    const std::string field = std::string("metadata.") + map + "[\"a\"]: must be text, not number";
    CHECK(says(merge(map, 5), field));
    CHECK(merge(map, "5").empty());
    CHECK(merge(map, nullptr).empty());
    const auto operation = [&](const char* op, const Json& value) {
      const std::string path = std::string("/metadata/") + map + "/a";
      return world.patch(core::PatchType::json,
                         Json::array({{{"op", op}, {"path", path}, {"value", value}}}), service);
    };
    CHECK(says(operation("add", 5), "operation 0: " + field));
    CHECK(says(operation("replace", true), "must be text, not boolean"));
    CHECK(operation("add", "5").empty());
    CHECK(operation("test", 5).empty());
  }
  CHECK(says(merge("labels", "no label"), "metadata.labels[\"a\"]: "));
}

TEST_CASE("a patch is taken in the namespaces that a namespaceSelector of `owns` means") {
  World world;
  OwnsRule& owns = world.rule.owns.emplace_back();
  owns.stream.gvk = {"", "v1", "ConfigMap"};
  owns.stream.namespace_selector = *core::LabelSelector::parse("team=web");
  const SelectsNamespace selects = [&](const StreamRule& stream, const std::string& name) {
    return &stream == &owns.stream && name == "edge";
  };
  HookPatch patch;
  patch.target = {{"apiVersion", "v1"}, {"kind", "ConfigMap"}, {"name", "c"}};
  patch.patch = {{"data", {{"x", "1"}}}};
  for (const auto& [place, taken] : std::map<std::string, bool>{{"edge", true}, {"far", false}}) {
    INFO(place);
    patch.target["namespace"] = place;
    const auto checked =
        check_patch(patch, type("", "ConfigMap"), world.rule, world.owner, selects);
    CHECK(checked.ok() == taken);
  }
}

TEST_CASE("a patch is refused where a manifest would be, and where it touches what is kept") {
  const World world;
  using core::PatchType;
  const Json one = {{"spec", {{"x", 1}}}};
  CHECK(says(world.patch(PatchType::merge, one, type("", "Secret")), "does not declare"));
  const std::string own = world.patch(PatchType::merge, one, type("demo.dev", "Website"), "a");
  CHECK(says(own, "is the object itself"));
  CHECK(says(own, "write other fields does it by itself, with credentials: cache"));
  CHECK(says(world.patch(PatchType::merge, one, type("", "Service"), "web", "scale"),
             "has no subresource scale"));
  CHECK(says(world.patch(PatchType::strategic, one, type("demo.dev", "Thing")),
             "no strategic patches"));
  CHECK(world.patch(PatchType::strategic, one, type("", "Service")).empty());
  CHECK(says(
      world.patch(PatchType::merge, {{"metadata", {{"labels", nullptr}}}}, type("", "Service")),
      "must be a mapping"));
  CHECK(says(world.patch(PatchType::merge,
                         {{"metadata", {{"labels", {{"kubewatch.dev/owner-uid", "x"}}}}}},
                         type("", "Service")),
             "kept by kubewatch"));
  CHECK(says(world.patch(PatchType::merge, {{"metadata", {{"ownerReferences", Json::array()}}}},
                         type("", "Service")),
             "not a patch's"));
  CHECK(says(world.patch(PatchType::merge, {{"kind", "Pod"}}, type("", "Service")), "differs"));
  for (const auto& [path, what] : std::vector<std::pair<std::string, std::string>>{
           {"", "whole metadata"},
           {"/metadata", "whole metadata"},
           {"/metadata/labels", "replaces all labels"},
           {"/metadata/uid", "metadata.uid"},
           {"/metadata/ownerReferences/0", "metadata.ownerReferences"},
           {"/metadata/labels/kubewatch.dev~1controller", "kept by kubewatch"}}) {
    CHECK(says(world.patch(PatchType::json,
                           {{{"op", "replace"}, {"path", path}, {"value", Json::object()}}},
                           type("", "Service")),
               what));
  }
  CHECK(world
            .patch(PatchType::json, {{{"op", "test"}, {"path", "/metadata/uid"}, {"value", "u"}}},
                   type("", "Service"))
            .empty());
}

TEST_CASE("a patch is bound to the object that was looked at") {
  PatchTarget target;
  target.patch = {{"spec", {{"x", 1}}}};
  CHECK(bound_patch(target, "u1") == Json{{"spec", {{"x", 1}}}, {"metadata", {{"uid", "u1"}}}});
  target.patch_type = core::PatchType::json;
  target.patch = Json::array({{{"op", "remove"}, {"path", "/spec/x"}}});
  const Json bound = bound_patch(target, "u1");
  REQUIRE(bound.size() == 2);
  CHECK(bound[0] == Json{{"op", "test"}, {"path", "/metadata/uid"}, {"value", "u1"}});
}

TEST_CASE("an event regards the object itself or a kind that the rule names") {
  const World world;
  HookEvent event;
  event.reason = "Created";
  const auto own = check_event(event, world.rule, world.owner);
  REQUIRE(own.ok());
  CHECK(own->regarding == core::ObjectRef{"demo.dev/v1", "Website", "shop", "a", "uid-1"});
  event.regarding =
      Json{{"apiVersion", "v1"}, {"kind", "Pod"}, {"namespace", "shop"}, {"name", "p"}};
  CHECK(check_event(event, world.rule, world.owner)->regarding.namespace_ == "shop");
  event.regarding = Json{{"apiVersion", "v1"}, {"kind", "Secret"}, {"name", "s"}};
  const auto refused = check_event(event, world.rule, world.owner);
  REQUIRE_FALSE(refused.ok());
  CHECK(says(refused.error().render(), "does not name"));
}

TEST_CASE("an event is written where the rule may write, and nowhere else") {
  World world;
  HookEvent event;
  event.reason = "Seen";
  const auto in = [&](const std::string& place) {
    event.regarding = Json{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", "p"}};
    if (!place.empty()) (*event.regarding)["namespace"] = place;
    const auto checked = check_event(event, world.rule, world.owner);
    return checked.ok() ? "" : checked.error().render();
  };
  CHECK(in("shop").empty());
  CHECK(says(in("edge"), "Event in namespace edge, which controller website does not declare"));
  // A Pod without namespace stands for a kind that has none.
  CHECK(says(in(""), "namespace default"));
  world.rule.writes.push_back({{"", "v1", "Secret"}, {"edge", "default"}});
  CHECK(in("edge").empty());
  CHECK(in("").empty());
  CHECK_FALSE(in("far").empty());

  // Children may be anywhere.
  world.owner = {{"demo.dev", "v1", "Fleet"}, false, {"", "a"}, "uid-1", false};
  CHECK(in("far").empty());
  world.rule.writes = {{{"", "v1", "Secret"}, {"edge"}}};
  CHECK_FALSE(in("far").empty());
  // A kind without namespaces is nowhere.
  world.rule.writes = {{{"", "v1", "Node"}, {}}};
  event.regarding =
      Json{{"apiVersion", "v1"}, {"kind", "Pod"}, {"namespace", "far"}, {"name", "p"}};
  const auto of_nodes = check_event(event, world.rule, world.owner, {},
                                    [](const core::Gvk& gvk) { return gvk.kind != "Node"; });
  CHECK_FALSE(of_nodes.ok());
  world.rule.writes = {{{"", "v1", "Secret"}, {"edge"}}};
  // As the events of the object itself.
  CHECK(in("").empty());
  world.rule.has_for = false;
  CHECK_FALSE(in("").empty());
}
