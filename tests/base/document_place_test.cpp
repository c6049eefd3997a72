// Places in a document: how messages name them and what is said of them.
#include "base/document_place.hpp"

#include "base/json.hpp"
#include "support/catch.hpp"

using namespace kubewatch;

namespace {

struct Place : base::DocumentPlace {
  using DocumentPlace::DocumentPlace;
  using DocumentPlace::enter;
  using DocumentPlace::pointer;
  using DocumentPlace::remark;
};

}  // namespace

TEST_CASE("a place is named by its path and found by its pointer") {
  const Json document = {{"spec", {{"a/b", {1, {{"true", "x"}}}}}}};
  Place place(document);
  CHECK(place.path().empty());
  CHECK(place.has("spec"));
  CHECK_FALSE(place.has("gone"));
  place.enter("spec");
  place.enter("a/b");
  CHECK_FALSE(place.has("0"));  // a list has no keys
  place.enter(1);
  place.enter("true", "on");
  CHECK(place.path() == "spec.a/b[1].on");
  CHECK(place.pointer() == "/spec/a~1b/1/true");
  CHECK(place.value() == "x");
}

TEST_CASE("a remark begins with the path, is cut where it is long, and is safe to print") {
  const Json document = {{"spec", 1}};
  Place place(document);
  CHECK(place.remark("r.yaml", {1, 1}, "no").str() == "r.yaml:1:1: no");
  place.enter("spec");
  CHECK(place.remark("r.yaml", {2, 3}, "no").str() == "r.yaml:2:3: spec: no");
  CHECK(place.remark("r.yaml", {2, 3}, std::string(2000, 'x')).message ==
        "spec: " + std::string(1000, 'x') + "...");
  CHECK(base::Remark{"\x1b.yaml", 0, 0, "gone"}.str() == "\\x1b.yaml: gone");
}
