// The finalizer protocol over a scripted server: order, lost races, and what is told.
#include "runtime/finalizer_runner.hpp"

#include "api_rig.hpp"

using namespace kubewatch;
using namespace kubewatch::runtime;
using test::status_text;
using Lines = std::vector<std::string>;

namespace {

const core::ResourceType kMaps = test::resource("", "v1", "ConfigMap", "configmaps");
const char* const kName = "example.com/guard";

std::string object(const std::string& finalizers, bool deleting, const std::string& uid = "u1") {
  return R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"shop","uid":")" +
         uid + R"(","finalizers":[)" + finalizers + "]" +
         (deleting ? R"(,"deletionTimestamp":"2026-01-02T03:04:05Z")" : "") + "}}";
}

struct Guarded : test::ApiRig {
  Lines told;
  Result<RunOutcome> cleanup = RunOutcome::done();
  FinalizerRunner runner{client, kMaps, kName, "guard", tasks()};

  FinalizerRunner::Tasks tasks() {
    FinalizerRunner::Tasks out;
    out.apply = [this](const StoredObject&, FinalizerRunner::Done done) {
      told.push_back("apply");
      done(RunOutcome::done());
    };
    out.cleanup = [this](const StoredObject&, FinalizerRunner::Done done) {
      told.push_back("cleanup");
      done(cleanup);
    };
    return out;
  }
  void step(const std::string& json) {
    StoredObject stored{*core::parse_meta(json), json};
    runner.step(stored, [this](const Result<RunOutcome>& outcome) {
      static const char* const kWords[] = {"done", "requeue", "not yet", "failed", "parked"};
      told.push_back(outcome.ok() ? kWords[static_cast<int>(outcome->verdict)]
                                  : outcome.error().render());
    });
  }
};

const std::string kOurs = "\"" + std::string(kName) + "\"";
const std::string kNamed = " the finalizer " + std::string(kName) + ": ";
const std::string kPatch = kNamed.substr(1) + "patch configmaps \"a\" in namespace \"shop\": ";

}  // namespace

TEST_CASE("work is applied only once the finalizer is there") {
  Guarded guarded;
  guarded.step(object("", false));
  CHECK(guarded.told.empty());
  CHECK(guarded.call(0).line() == "PATCH /api/v1/namespaces/shop/configmaps/a?fieldManager=guard");
  const Json patch = Json::parse(guarded.transport.request(0).body);
  CHECK(patch[1] == Json({{"op", "test"}, {"path", "/metadata/finalizers"}, {"value", nullptr}}));
  guarded.answer(0, 200, object(kOurs, false));
  CHECK(guarded.told == Lines{"done"});
  guarded.step(object(kOurs, false));
  CHECK(guarded.told == Lines{"done", "apply", "done"});
  CHECK(guarded.transport.size() == 1);
}

TEST_CASE("the finalizer goes after the cleanup succeeded, and stays when it did not") {
  Guarded guarded;
  guarded.cleanup = RunOutcome::failed();
  guarded.step(object(kOurs, true));
  CHECK(guarded.told == Lines{"cleanup", "failed"});
  CHECK(guarded.transport.size() == 0);
  guarded.cleanup = RunOutcome::done();
  guarded.step(object(kOurs, true));
  guarded.answer(0, 200, object("", true));
  CHECK(guarded.told == Lines{"cleanup", "failed", "cleanup", "done"});
}

TEST_CASE("an object that is dying without our finalizer is left alone") {
  Guarded guarded;
  guarded.step(object("\"other/x\"", true));
  CHECK(guarded.told == Lines{"done"});
  CHECK(guarded.transport.size() == 0);
}

TEST_CASE("a refused add is a lost race when the object changed, and an error when it did not") {
  Guarded guarded;
  guarded.step(object("", false));
  guarded.answer(0, 422, status_text(422, "Invalid", "test failed"));
  guarded.answer(1, 200, object("\"other/x\"", false));
  CHECK(guarded.told == Lines{"not yet"});

  Guarded refused;
  refused.step(object("", false));
  refused.answer(0, 422, status_text(422, "Invalid", "name is wrong"));
  refused.answer(1, 200, object("", false));
  CHECK(refused.told == Lines{"adding " + kPatch + "name is wrong"});

  Guarded raced;
  raced.step(object("", false));
  raced.answer(0, 409, status_text(409, "Conflict", "modified"));
  raced.answer(1, 200, object("", false));
  CHECK(raced.told == Lines{"not yet"});
}

TEST_CASE("an object that is gone needs no finalizer, and no cleanup twice") {
  Guarded adding;
  adding.step(object("", false));
  adding.answer(0, 404, status_text(404, "NotFound", "gone"));
  CHECK(adding.told == Lines{"done"});

  Guarded removing;
  removing.step(object(kOurs, true));
  removing.answer(0, 404, status_text(404, "NotFound", "gone"));
  CHECK(removing.told == Lines{"cleanup", "done"});
}

TEST_CASE(
    "a removal that lost its race is made anew from the live list, without a second cleanup") {
  Guarded guarded;
  guarded.step(object("\"other/x\"," + kOurs, true));
  guarded.answer(0, 422, status_text(422, "Invalid", "test failed"));
  guarded.answer(1, 200, object(kOurs, true));
  const Json patch = Json::parse(guarded.call(2).request().body);
  CHECK(patch[1]["path"] == "/metadata/finalizers/0");
  guarded.answer(2, 200, object("", true));
  CHECK(guarded.told == Lines{"cleanup", "done"});
}

TEST_CASE("a removal is not tried forever, and never on another object of that name") {
  Guarded guarded;
  guarded.step(object(kOurs, true));
  for (std::size_t i = 0; i < 2; ++i) {
    guarded.answer(2 * i, 409, status_text(409, "Conflict", "modified"));
    guarded.answer(2 * i + 1, 200, object(kOurs, true));
  }
  guarded.answer(4, 409, status_text(409, "Conflict", "modified"));
  CHECK(guarded.told == Lines{"cleanup", "removing " + kPatch + "modified"});

  Guarded recreated;
  recreated.step(object(kOurs, true));
  recreated.answer(0, 422, status_text(422, "Invalid", "test failed"));
  recreated.answer(1, 200, object(kOurs, false, "u2"));
  CHECK(recreated.told == Lines{"cleanup", "done"});
  CHECK(recreated.transport.size() == 2);
}

TEST_CASE("that the server does not serve the kind does not say that the object is gone") {
  const std::string page = "404 page not found\n";
  const std::string kept = "the server answered 404 Not Found: 404 page not found";
  Guarded adding;
  adding.step(object("", false));
  adding.answer(0, 404, page);
  CHECK(adding.told == Lines{"adding " + kPatch + kept});

  Guarded removing;
  removing.step(object(kOurs, true));
  removing.answer(0, 404, page);
  CHECK(removing.told == Lines{"cleanup", "removing " + kPatch + kept});

  for (const bool adds : {false, true}) {
    Guarded looking;
    looking.step(object(adds ? "" : kOurs, !adds));
    looking.answer(0, 409, status_text(409, "Conflict", "modified"));
    looking.answer(1, 404, page);
    CHECK(looking.told.back() == (adds ? "adding" : "removing") + kNamed +
                                     "get configmaps \"a\" in namespace \"shop\": " + kept);
  }
}

TEST_CASE("how the cleanup failed is told as it said it, and keeps the finalizer") {
  Guarded guarded;
  guarded.cleanup = Error(ErrorKind::unavailable, "the bucket is locked");
  guarded.step(object(kOurs, true));
  CHECK(guarded.told == Lines{"cleanup", "the bucket is locked"});
  CHECK(guarded.transport.size() == 0);
}

TEST_CASE("what the server forbids is told, and tried again with backoff") {
  Guarded guarded;
  guarded.step(object("", false));
  guarded.answer(0, 403, status_text(403, "Forbidden", "no"));
  CHECK(guarded.told == Lines{"adding " + kPatch + "no"});
}
