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

}  // namespace

TEST_CASE("a kind and a namespace that a rule names no more are left") {
  CHECK(places_left(writing(kMap, {"a", "b"}), writing(kMap, {"a"}), true) ==
        Places{"ConfigMap in b"});
  CHECK(places_left(owning(kMap, {"a", "b"}), owning(kMap, {"b", "c"}), true) ==
        Places{"ConfigMap in a"});
  CHECK(places_left(writing(kMap, {"a"}), writing(kSecret, {"a"}), true) == Places{"ConfigMap"});
  CHECK(places_left(writing(kMap, {"a"}), writing(kMap, {}), true) == Places{"ConfigMap in a"});
  CHECK(places_left(writing(kMap, {"a"}), owning(kMap, {}, "x=y"), true) ==
        Places{"ConfigMap in a"});
}

TEST_CASE("what a rule still finds is not left") {
  CHECK(places_left(writing(kMap, {"a"}), writing(kMap, {"a", "b"}), true).empty());
  CHECK(places_left(writing(kMap, {"a"}), owning(kMap, {"a"}), true).empty());
  // All namespaces are watched, or listed for a cluster-scoped object.
  CHECK(places_left(writing(kMap, {"a"}), owning(kMap, {}), true).empty());
  CHECK(places_left(writing(kMap, {"a"}), writing(kMap, {}), false).empty());
  const core::Gvk older{"", "v1beta1", "ConfigMap"};
  CHECK(places_left(writing(older, {"a"}), writing(kMap, {"a"}), true).empty());
}
