// A kind that one API server knows and another does not yet: tried again, for a while.
#include "base/json.hpp"
#include "hooks/child_writer.hpp"
#include "hooks/unknown_kinds.hpp"
#include "hooks/verdict.hpp"
#include "support/catch.hpp"
#include "support/scripted_transport.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

TimePoint at(int seconds) {
  return TimePoint{} + Duration{seconds * 1000LL};
}

const core::Gvk kGauge{"demo.example.com", "v1", "Gauge"};

// As little of a rule's surroundings as a writer of children needs.
struct Surroundings : WriteContext {
  Surroundings() : client_(loop, transport, config()) {
    rule_.name = "web";
    rule_.apply.field_manager = "kubewatch/web";
    owner_type_.gvk = {"demo.example.com", "v1", "Website"};
    owner_type_.plural = "websites";
  }
  static client::ClientConfig config() {
    client::ClientConfig out;
    out.server = "http://server.test";
    return out;
  }
  client::Client& client() override { return client_; }
  const Rule& rule() const override { return rule_; }
  const core::ResourceType& owner_type() const override { return owner_type_; }
  ChildMemory& memory() override { return memory_; }
  UnknownKinds& unknown_kinds() override { return unknown_kinds_; }
  std::optional<core::ObjectMeta> cached_child(const ChildId&) const override { return {}; }
  bool is_watched(const ChildId&) const override { return false; }
  bool deletion_wakes(const ChildId&, const std::string&) const override { return false; }
  std::string owner_version(const Owner&) const override { return ""; }
  std::vector<FoundChild> cached_children(const std::string&) const override { return {}; }
  void with_unwatched_places(const Owner&,
                             std::function<void(Result<std::vector<Unwatched>>)> done) override {
    done(std::vector<Unwatched>{});
  }
  void expect(const ChildId&, const std::string&) override {}
  void finalizer_patched(const Owner&, const std::string&) override {}
  void with_status_shape(std::function<void(const StatusShape&)> done) override { done({}); }

  loop::EventLoop loop;
  test::ScriptedTransport transport;

 private:
  client::Client client_;
  Rule rule_;
  core::ResourceType owner_type_;
  ChildMemory memory_;
  UnknownKinds unknown_kinds_;
};

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
  Surroundings around;
  ChildWriter writer(around, {around.owner_type().gvk, true, {"shop", "a"}, "u1", false});
  around.transport.answer(404, "404 page not found\n");
  around.transport.answer(404, body);
  std::optional<Result<WriteEffect>> effect;
  writer.apply(gauge(), [&](Result<WriteEffect> given) { effect.emplace(std::move(given)); });
  around.transport.run();
  REQUIRE(effect.has_value());
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
