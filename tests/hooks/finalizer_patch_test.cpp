// A finalizer is put on an object or taken off while others do the same.
#include "hooks/finalizer_patch.hpp"

#include "base/json.hpp"
#include "client/rig.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

constexpr const char* kOurs = "kubewatch.dev/website";
// As the server says it of a failed test.
constexpr const char* kRefused =
    R"({"kind":"Status","status":"Failure","reason":"Invalid","code":422,"message":)"
    R"("the server rejected our request due to an error in our request","details":{}})";

std::string object(const std::vector<std::string>& finalizers, const std::string& uid = "u",
                   const std::string& more = "") {
  return R"({"metadata":{"name":"a","namespace":"shop","uid":")" + uid +
         R"(","resourceVersion":"4","finalizers":)" + base::dump_json(Json(finalizers)) + more +
         "}}";
}

struct Change {
  explicit Change(bool add, const std::vector<std::string>& seen = {}) {
    core::ObjectMeta meta;
    meta.name = "a";
    meta.namespace_ = "shop";
    meta.uid = "u";
    meta.finalizers = seen;
    change = {test::kPods, meta, kOurs, "kubewatch/website", add};
  }
  void run() {
    change_finalizer(rig.client, requests, change,
                     [this](Result<ChangedMeta> result) { ended.emplace(std::move(result)); });
    for (int i = 0; i < 60 && !ended; ++i) rig.run();
    REQUIRE(ended);
  }
  std::vector<std::string> finalizers() {
    REQUIRE(ended->ok());
    REQUIRE((*ended)->has_value());
    return (**ended)->finalizers;
  }

  test::Rig rig;
  client::InFlight requests;
  FinalizerChange change;
  std::optional<Result<ChangedMeta>> ended;
};

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a finalizer that another one came before is added to what is there now") {
  Change change(true);
  change.rig.transport.answer(422, kRefused);
  change.rig.transport.answer(200, object({"x/y"}));
  change.rig.transport.answer(200, object({"x/y", kOurs}));
  change.run();
  CHECK(change.finalizers() == Names{"x/y", kOurs});
  REQUIRE(change.rig.transport.size() == 3);
  CHECK(change.rig.transport.call(1).line() == "GET /api/v1/namespaces/shop/pods/a");
  CHECK(change.rig.transport.request(2).body.find(R"("value":["x/y"])") != std::string::npos);
}

TEST_CASE("a finalizer that has moved in its list is taken off where it is") {
  Change change(false, {"x/y", kOurs});
  change.rig.transport.answer(422, kRefused);
  change.rig.transport.answer(200, object({kOurs}));
  change.rig.transport.answer(200, object({}));
  change.run();
  CHECK(change.finalizers().empty());
  CHECK(change.rig.transport.request(2).body.find("/metadata/finalizers/0") != std::string::npos);
}

TEST_CASE("what is done already is not done again, and what is gone is let be") {
  Change there(true);
  there.rig.transport.answer(422, kRefused);
  there.rig.transport.answer(200, object({"x/y", kOurs}));
  there.run();
  CHECK(there.finalizers() == Names{"x/y", kOurs});
  CHECK(there.rig.transport.size() == 2);
  for (const auto& now : {object({}, "another"),
                          object({"x/y"}, "u", R"(,"deletionTimestamp":"2026-01-01T00:00:00Z")")}) {
    Change change(true);
    change.rig.transport.answer(422, kRefused);
    change.rig.transport.answer(200, now);
    change.run();
    REQUIRE(change.ended->ok());
    CHECK_FALSE((*change.ended)->has_value());
    CHECK(change.rig.transport.size() == 2);
  }
  Change gone(false, {kOurs});
  gone.rig.transport.answer(404, R"({"kind":"Status","code":404,"reason":"NotFound"})");
  gone.run();
  REQUIRE(gone.ended->ok());
  CHECK_FALSE((*gone.ended)->has_value());
}

TEST_CASE("a server that does not serve the kind yet does not say that the object is gone") {
  for (const bool looks : {false, true}) {
    Change change(true);
    if (looks) change.rig.transport.answer(422, kRefused);
    change.rig.transport.answer(404, "404 page not found\n");
    change.run();
    REQUIRE_FALSE(change.ended->ok());
    CHECK(change.ended->error().is_not_found());
  }
}

TEST_CASE("an object that is refused as it is is an error, at once") {
  Change change(false, {kOurs});
  change.rig.transport.answer(422, kRefused);
  change.rig.transport.answer(200, object({kOurs}));
  change.run();
  REQUIRE_FALSE(change.ended->ok());
  CHECK(change.ended->error().kind() == ErrorKind::invalid);
  CHECK(change.rig.transport.size() == 2);
}

TEST_CASE("an object whose finalizers keep changing is given up after ten patches") {
  Change change(true);
  for (int i = 0; i < 10; ++i) {
    change.rig.transport.answer(422, kRefused);
    change.rig.transport.answer(200, object(Names(static_cast<std::size_t>(i + 1), "x/y")));
  }
  change.run();
  REQUIRE_FALSE(change.ended->ok());
  CHECK(change.ended->error().is_conflict());
  CHECK(change.rig.transport.size() == 20);
}
