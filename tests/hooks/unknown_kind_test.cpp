// A kind that one API server knows and another does not yet: tried again, for a while.
#include "base/json.hpp"
#include "hooks/child_writer.hpp"
#include "hooks/unknown_kinds.hpp"
#include "hooks/verdict.hpp"
#include "hooks/write_surroundings.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

TimePoint at(int seconds) {
  return TimePoint{} + Duration{seconds * 1000LL};
}

const core::Gvk kGauge{"demo.example.com", "v1", "Gauge"};

Manifest gauge() {
  Manifest out;
  out.type.gvk = kGauge;
  out.type.plural = "gauges";
  out.key = {"shop", "g"};
  out.object = {{"apiVersion", "demo.example.com/v1"},
                {"kind", "Gauge"},
                {"metadata", {{"name", "g"}, {"namespace", "shop"}}}};
  return out;
}

Error refusal(const std::string& body) {
  test::WriteSurroundings around;
  ChildWriter writer(around, around.owner());
  around.transport.answer(404, "404 page not found\n");
  around.transport.answer(404, body);
  std::optional<Result<WriteEffect>> effect;
  writer.apply(gauge(), [&](Result<WriteEffect> given) { effect.emplace(std::move(given)); });
  REQUIRE(around.until([&] { return effect.has_value(); }));
  REQUIRE_FALSE(effect->ok());
  return effect->error();
}

}  // namespace

TEST_CASE(
    "a kind that a server does not know yet is waited for, half a minute from the first time") {
  UnknownKinds kinds;
  CHECK(kinds.may_come(kGauge, at(100)));
  CHECK(kinds.may_come(kGauge, at(129)));
  CHECK_FALSE(kinds.may_come(kGauge, at(130)));
  CHECK_FALSE(kinds.may_come(kGauge, at(700)));
  CHECK(kinds.may_come({"demo.example.com", "v1", "Other"}, at(700)));
  CHECK(kinds.may_come(kGauge, at(1300)));  // ten minutes later it is another story
}

TEST_CASE("applying a kind that the answering server does not know is not a failure for good") {
  const Error error = refusal("404 page not found\n");
  CHECK(error.is_retryable());
  CHECK_FALSE(is_permanent_write_error(error));
  CHECK(error.render() ==
        "applying Gauge shop/g: the server that answered does not know demo.example.com/v1 Gauge "
        "yet, which is established on another: the server answered 404 Not Found: 404 page not "
        "found");
}

TEST_CASE("applying into a namespace that does not exist stays a failure for good") {
  const Error error =
      refusal(R"({"kind":"Status","reason":"NotFound","message":"namespaces \"shop\" not found",
              "details":{"name":"shop","kind":"namespaces"}})");
  CHECK(error.is_not_found());
  CHECK(is_permanent_write_error(error));
}
