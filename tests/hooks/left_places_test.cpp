// Kinds and namespaces that a changed rule leaves with its children in them.
#include "hooks/left_places.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

using Places = std::vector<std::string>;

const core::Gvk kMap{"", "v1", "ConfigMap"};
const core::Gvk kSecret{"", "v1", "Secret"};

Rule owning(const core::Gvk& gvk, Places namespaces, const std::string& selector = "") {
  Rule out;
  out.owns.emplace_back();
  out.owns[0].stream.gvk = gvk;
  out.owns[0].stream.namespaces = std::move(namespaces);
  const auto parsed = core::LabelSelector::parse(selector);
  REQUIRE(parsed.ok());
  out.owns[0].stream.label_selector = *parsed;
  return out;
}

Rule writing(const core::Gvk& gvk, Places namespaces) {
  Rule out;
  out.writes.push_back({gvk, std::move(namespaces)});
  return out;
}

Places left(const Rule& before, const Rule& now, bool namespaced) {
  return places_left({before, namespaced}, {now, namespaced});
}

}  // namespace

TEST_CASE("a kind and a namespace that a rule names no more are left") {
  CHECK(left(writing(kMap, {"a", "b"}), writing(kMap, {"a"}), true) == Places{"ConfigMap in b"});
  CHECK(left(owning(kMap, {"a", "b"}), owning(kMap, {"b", "c"}), false) ==
        Places{"ConfigMap in a"});
  CHECK(left(writing(kMap, {"a"}), writing(kSecret, {"a"}), true) == Places{"ConfigMap"});
  CHECK(left(writing(kMap, {"a"}), writing(kMap, {}), true) == Places{"ConfigMap in a"});
  CHECK(left(writing(kMap, {"a"}), owning(kMap, {}, "x=y"), true) == Places{"ConfigMap in a"});
}

TEST_CASE("what a rule still finds is not left") {
  CHECK(left(writing(kMap, {"a"}), writing(kMap, {"a", "b"}), true).empty());
  CHECK(left(writing(kMap, {"a"}), owning(kMap, {"a"}), true).empty());
  // All namespaces are watched, or listed for a cluster-scoped object.
  CHECK(left(writing(kMap, {"a"}), owning(kMap, {}), true).empty());
  CHECK(left(writing(kMap, {"a"}), writing(kMap, {}), false).empty());
  const core::Gvk older{"", "v1beta1", "ConfigMap"};
  CHECK(left(writing(older, {"a"}), writing(kMap, {"a"}), true).empty());
}

TEST_CASE("what is watched is where the objects may be, and not where owns says") {
  Rule narrow = owning(kMap, {});
  narrow.for_.namespaces = {"b"};
  // The rule's objects are everywhere, and so what they own is watched everywhere.
  CHECK(left(writing(kMap, {"a"}), owning(kMap, {"b"}), true).empty());
  CHECK(left(writing(kMap, {"a"}), narrow, true) == Places{"ConfigMap in a"});
  // Children are beside their objects, which are not what is asked for here.
  CHECK(left(owning(kMap, {}), narrow, true).empty());
  // Of a cluster-scoped kind they may have been in any namespace.
  CHECK(left(owning(kMap, {}), owning(kMap, {"a"}), false) ==
        Places{"ConfigMap in other namespaces"});
  CHECK(places_left({owning(kMap, {}), false}, {narrow, true}) ==
        Places{"ConfigMap in other namespaces"});
}
