// What is known of writes that hooks send through the gateway.
#include "hooks/gateway_writes.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;
using Kind = GatewayEffect::Kind;

namespace {

const std::string kMaps = "/api/v1/namespaces/shop/configmaps";
const ChildId kMap{"", "ConfigMap", {"shop", "a"}};
const ChildId kSite{"demo.dev", "Website", {"shop", "a"}};

std::vector<core::ResourceType> writable() {
  core::ResourceType maps;
  maps.gvk = {"", "v1", "ConfigMap"};
  maps.plural = "configmaps";
  core::ResourceType sites;
  sites.gvk = {"demo.dev", "v1", "Website"};
  sites.plural = "websites";
  core::ResourceType secrets;
  secrets.gvk = {"", "v1", "Secret"};
  secrets.plural = "secrets";
  return {maps, sites, secrets};
}

std::optional<GatewayWrite> write_of(const std::string& method, const std::string& target,
                                     const std::string& body = "", const std::string& type = "") {
  http::ServerRequest request;
  request.method = method;
  request.path = target.substr(0, target.find('?'));
  if (request.path.size() < target.size()) request.query = target.substr(request.path.size() + 1);
  if (!type.empty()) request.headers.add("Content-Type", type);
  request.body = body;
  const auto plan = plan_gateway_request(request, writable(), "kubewatch/web");
  REQUIRE(plan.how == GatewayPlan::How::forward);
  return gateway_write(request, plan, writable());
}

GatewayEffect effect_of(const GatewayWrite& write, int status, const std::string& body,
                        const PatchMemory& memory = PatchMemory(),
                        const std::string& type = "application/json") {
  return gateway_effect(write, status, type, &body, memory);
}

std::string object(const std::string& version, const std::string& kind = "ConfigMap") {
  return R"({"kind":")" + kind + R"(","metadata":{"name":"a","namespace":"shop",)" +
         R"("resourceVersion":")" + version + R"("}})";
}

}  // namespace

TEST_CASE("a write is told from a question, and said in the words of the client") {
  const auto merge = write_of("PATCH", kMaps + "/a", R"({"data":{"k":"v"}})");
  REQUIRE(merge);
  CHECK(merge->what() == "patch configmaps \"a\" in namespace \"shop\"");
  CHECK(merge->id() == kMap);
  CHECK_FALSE(merge->dry_run);
  CHECK(merge->sent["data"]["k"] == "v");
  const std::string yaml = "application/apply-patch+yaml";
  CHECK(write_of("PATCH", kMaps + "/a", "data: {}", yaml)->verb == "apply");
  CHECK(write_of("PATCH", kMaps + "/a", "data: {}", yaml)->sent.is_null());
  CHECK(write_of("PUT", "/apis/demo.dev/v1/namespaces/shop/websites/a/status")->what() ==
        "update websites.demo.dev/status \"a\" in namespace \"shop\"");
  CHECK(write_of("POST", kMaps, R"({"metadata":{"name":"a"}})")->id() == kMap);
  CHECK(write_of("POST", kMaps, R"({"metadata":{"generateName":"a-"}})")->key.name.empty());
  CHECK_FALSE(write_of("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"));
}

TEST_CASE(
    "what is sent for a Secret, and what a refusal quotes of it, is secret in the run's lines") {
  const std::string secrets = "/api/v1/namespaces/shop/secrets";
  GatewayGuest guest("u1", kSite, false, nullptr);
  const auto send = [&](const std::string& method, const std::string& target,
                        const std::string& body, const std::string& type) {
    guest.learn_sent(*write_of(method, target, body, type), body);
  };
  const std::string json = "application/json";
  send("POST", secrets, R"({"kind":"Secret","metadata":{"name":"a"},"data":{"p":"bWFkZS1vbmU="}})",
       json);
  send("PATCH", secrets + "/a?dryRun=All", R"({"stringData":{"p":"merged-one"}})",
       "application/merge-patch+json");
  send("PATCH", secrets + "/a", R"([{"op":"add","path":"/stringData/p","value":"added-one"}])",
       "application/json-patch+json");
  send("PATCH", secrets + "/a", "stringData:\n  p: applied-one\n", "application/apply-patch+yaml");
  send("PUT", secrets + "/a", "{\"stringData\": {\"p\": \"broken-one\"}, ", json);
  send("POST", kMaps, R"({"metadata":{"name":"a"},"data":{"p":"of-a-map"}})", json);
  for (const char* value :
       {"made-one", "bWFkZS1vbmU=", "merged-one", "added-one", "applied-one", "broken-one"}) {
    CHECK(guest.secrets().mask(value) == "***");
  }
  CHECK(guest.secrets().mask("of-a-map, /stringData/p") == "of-a-map, /stringData/p");

  const auto patch = *write_of("PATCH", secrets + "/a", "{}", "application/merge-patch+json");
  const std::string refusal =
      R"({"kind":"Status","code":422,"message":"\"\" is invalid: patch: Invalid value: )"
      R"(\"{\\\"data\\\":{\\\"p\\\":\\\"a2VwdC1vbmU=\\\"},\\\"kind\\\":\\\"Secret\\\"}\": )"
      R"(strict decoding error: unknown field \"metadata.nam\""})";
  guest.learn_answer(patch, 200, &refusal);
  guest.learn_answer(patch, 422, nullptr);
  guest.learn_answer(*write_of("PATCH", kMaps + "/a", "{}"), 422, &refusal);
  CHECK(guest.secrets().mask("kept-one") == "kept-one");
  guest.learn_answer(patch, 422, &refusal);
  CHECK(guest.secrets().mask("kept-one a2VwdC1vbmU= metadata.nam Secret") ==
        "*** *** metadata.nam Secret");
  CHECK(guest.secrets().mask(refusal).find("a2VwdC1vbmU") == std::string::npos);
}

TEST_CASE("a dry run changes nothing, whether its query or its options say so") {
  const auto patch = write_of("PATCH", kMaps + "/a?dryRun=All", "{}");
  REQUIRE(patch);
  CHECK(patch->dry_run);
  CHECK(effect_of(*patch, 200, object("12")).kind == Kind::unknown);
  CHECK(effect_of(*patch, 200, object("12")).version.empty());
  CHECK(write_of("DELETE", kMaps + "/a", R"({"dryRun":["All"]})")->dry_run);
  CHECK_FALSE(write_of("DELETE", kMaps + "/a", R"({"gracePeriodSeconds":0})")->dry_run);
}

TEST_CASE("an answer tells whether a write changed something, and the state that it left") {
  auto patch = *write_of("PATCH", kMaps + "/a", "{}");
  const auto changed = effect_of(patch, 200, object("12"));
  CHECK(changed.kind == Kind::configured);
  CHECK(changed.version == "12");
  // A cache had it so before, or a write before this one left it so.
  patch.version_before = "12";
  CHECK(effect_of(patch, 200, object("12")).kind == Kind::unchanged);
  CHECK(effect_of(patch, 200, object("12")).version.empty());
  CHECK(effect_of(patch, 200, object("13")).kind == Kind::configured);
  PatchMemory memory;
  memory.left("u1", kMap, "13");
  CHECK(effect_of(patch, 200, object("13"), memory).kind == Kind::unchanged);
  CHECK(effect_of(patch, 201, object("14")).kind == Kind::created);

  const auto create = *write_of("POST", kMaps, R"({"metadata":{"generateName":"a-"}})");
  const auto made = effect_of(create, 201, object("15"));
  CHECK(made.kind == Kind::created);
  CHECK(made.key.name == "a");
  CHECK(made.version == "15");

  // A scale has the version of what it scales.
  const auto scale = *write_of("PUT", "/apis/demo.dev/v1/namespaces/shop/websites/a/scale", "{}");
  CHECK(effect_of(scale, 200, object("16", "Scale")).version == "16");

  const auto remove = *write_of("DELETE", kMaps + "/a");
  CHECK(effect_of(remove, 200, R"({"kind":"Status","status":"Success"})").kind == Kind::deleted);
  CHECK(effect_of(remove, 200, object("17")).version == "17");  // its finalizers hold it
}

TEST_CASE("an answer that cannot be read tells nothing of a state") {
  const auto patch = *write_of("PATCH", kMaps + "/a", "{}");
  const PatchMemory memory;
  for (const int status : {0, 403, 409, 500}) {
    CHECK(effect_of(patch, status, object("12")).kind == Kind::unknown);
  }
  CHECK(effect_of(patch, 200, object("12"), memory, "application/vnd.kubernetes.protobuf").kind ==
        Kind::unknown);
  CHECK(effect_of(patch, 200, object("12"), memory, "application/json;charset=utf-8").kind ==
        Kind::configured);
  CHECK(effect_of(patch, 200, "{broken").kind == Kind::unknown);
  CHECK(gateway_effect(patch, 200, "application/json", nullptr, memory).kind == Kind::unknown);
  const auto create = *write_of("POST", kMaps, R"({"metadata":{"name":"a"}})");
  const auto made = gateway_effect(create, 201, "application/json", nullptr, memory);
  CHECK(made.kind == Kind::created);  // what else
  CHECK(made.version.empty());
}

TEST_CASE("a run's writes through the gateway are counted and named, its own object apart") {
  GatewayGuest guest("u1", kSite, true, nullptr);
  const auto map = *write_of("PATCH", kMaps + "/a", R"({"data":{"k":"v"}})");
  const auto site = *write_of("PATCH", "/apis/demo.dev/v1/namespaces/shop/websites/a", "{}");
  const auto remove = *write_of("DELETE", kMaps + "/a");
  guest.note(map, effect_of(map, 201, object("1")));
  guest.note(map, effect_of(map, 200, object("2")));
  guest.note(map, effect_of(map, 409, ""));
  guest.note(site, effect_of(site, 200, object("3", "Website")));
  guest.note(remove, effect_of(remove, 200, "{}"));
  auto again = map;
  again.version_before = "2";
  guest.note(again, effect_of(again, 200, object("2")));
  const auto& written = guest.written();
  CHECK(written.created == 1);
  CHECK(written.configured == 2);
  CHECK(written.unchanged == 1);
  CHECK(written.deleted == 1);
  CHECK(written.itself == 1);
  CHECK(written.writes ==
        std::vector<std::string>{"created ConfigMap shop/a", "configured ConfigMap shop/a",
                                 "configured Website shop/a", "deleted ConfigMap shop/a"});
  CHECK(written.sent.size() == 3);
  CHECK(written.sent.at("PATCH 2 of ConfigMap shop/a")["data"]["k"] == "v");
  GatewayGuest quiet("u1", kSite, false, nullptr);
  quiet.note(map, effect_of(map, 200, object("2")));
  CHECK(quiet.written().sent.empty());
}
