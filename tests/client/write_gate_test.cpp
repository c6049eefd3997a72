#include "client/write_gate.hpp"

#include "base/json.hpp"
#include "client/apply_result.hpp"
#include "rig.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using namespace kubewatch::test;

namespace {

struct Gate : WriteGate {
  Result<Duration> admit() override {
    if (open) return most;
    return Error(ErrorKind::canceled, "not the leader any more");
  }
  bool open = true;
  Duration most{1500};
};

Json pod() {
  return Json::parse(R"({"kind":"Pod","metadata":{"name":"web","namespace":"shop"}})");
}

}  // namespace

TEST_CASE("a closed gate lets no write out and every read") {
  Rig rig;
  Gate gate;
  gate.open = false;
  rig.client.set_write_gate(&gate);
  std::vector<std::string> errors;
  const auto failed = [&](const Result<Json>& answer) {
    errors.push_back(answer.error().render());
  };
  core::PatchParams apply;
  apply.type = core::PatchType::apply;
  apply.field_manager = "test";
  const ObjectCallback done = failed;
  const auto create = rig.client.create(kPods, "shop", pod(), {}, done);
  const auto update = rig.client.update(kPods, pod(), {}, done);
  const auto remove = rig.client.remove(kPods, {"shop", "web"}, {}, done);
  const auto patch = rig.client.patch(
      kPods, {"shop", "web"}, pod(), apply,
      [&](const Result<ApplyResult>& answer) { errors.push_back(answer.error().render()); });
  const auto raw = rig.client.raw("DELETE", "/x", [&](const Result<http::Response>& answer) {
    errors.push_back(answer.error().render());
  });
  rig.transport.answer(200, pod().dump());
  const auto get = rig.client.get(kPods, {"shop", "web"}, [](const Result<Json>&) {});
  rig.run();
  CHECK(rig.transport.lines() == std::vector<std::string>{"GET /api/v1/namespaces/shop/pods/web"});
  REQUIRE(errors.size() == 5);
  CHECK(errors[0] == "create pods \"web\" in namespace \"shop\": not the leader any more");
  CHECK(errors[3] == "apply pods \"web\" in namespace \"shop\": not the leader any more");
  CHECK_FALSE(rig.client.may_write().ok());
}

TEST_CASE("a write that the gate lets through ends by the time that it says") {
  Rig rig;
  Gate gate;
  rig.client.set_write_gate(&gate);
  const auto ignore = [](const Result<Json>&) {};
  const auto first = rig.client.update(kPods, pod(), {}, ignore);
  gate.most = Duration{90000};
  const auto second = rig.client.update(kPods, pod(), {}, ignore);
  const auto read = rig.client.get(kPods, {"shop", "web"}, ignore);
  CHECK(rig.transport.request(0).response_timeout == Duration{1500});
  CHECK(rig.transport.request(0).connect_timeout == Duration{1500});
  CHECK(rig.transport.request(1).response_timeout == Duration{30000});
  CHECK(rig.transport.request(2).response_timeout == Duration{30000});
  rig.client.set_write_gate(nullptr);
  CHECK(rig.client.may_write().ok());
}

TEST_CASE("a closed gate lets through what asks for one's own rights, and no other review") {
  Rig rig;
  Gate gate;
  gate.open = false;
  rig.client.set_write_gate(&gate);
  const auto review = [](const std::string& plural) {
    return core::ResourceType{
        {"authorization.k8s.io", "v1", "Review"}, plural, "", false, {}, {}, {}, {}};
  };
  const Json body = Json::parse(R"({"kind":"Review","metadata":{"name":"a"}})");
  const auto ignore = [](const Result<Json>&) {};
  const auto access = rig.client.create(review("selfsubjectaccessreviews"), "", body, {}, ignore);
  const auto rules = rig.client.create(review("selfsubjectrulesreviews"), "", body, {}, ignore);
  const auto others = rig.client.create(review("subjectaccessreviews"), "", body, {}, ignore);
  const auto update = rig.client.update(review("selfsubjectaccessreviews"), body, {}, ignore);
  const auto proxied = rig.client.raw(
      "POST", "/api/v1/namespaces/a/services/b/proxy/apis/authorization.k8s.io/v1/selfsubjectx",
      [](const Result<http::Response>&) {});
  rig.run();
  CHECK(rig.transport.lines() ==
        std::vector<std::string>{"POST /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                                 "POST /apis/authorization.k8s.io/v1/selfsubjectrulesreviews"});
}
