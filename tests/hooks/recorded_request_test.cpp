#include "hooks/recorded_request.hpp"

#include "support/catch.hpp"

namespace kubewatch::hooks {

TEST_CASE("URLs of the API are taken apart") {
  const auto web = api_target(
      "https://h:6443/apis/apps/v1/namespaces/shop/deployments/web/status?fieldManager=a%2Fb");
  REQUIRE(web);
  CHECK(web->group == "apps");
  CHECK(web->version == "v1");
  CHECK(web->namespace_ == "shop");
  CHECK(web->plural == "deployments");
  CHECK(web->name == "web");
  CHECK(web->subresource == "status");
  CHECK(web->parameter("fieldManager") == "a/b");

  const auto below = api_target("https://h/k8s/clusters/c-1/api/v1/pods?watch=true");
  REQUIRE(below);
  CHECK(below->path == "/api/v1/pods");
  CHECK(use_of("GET", *below) == RequestUse::watch);

  const auto space = api_target("/api/v1/namespaces/shop");
  REQUIRE(space);
  CHECK(space->plural == "namespaces");
  CHECK(space->name == "shop");
  CHECK(use_of("GET", *space) == RequestUse::other);
  CHECK(use_of("GET", *api_target("/api/v1/namespaces")) == RequestUse::list);
  CHECK(use_of("GET", *api_target("/api/v1/pods?watch=True")) == RequestUse::watch);
  CHECK(use_of("GET", *api_target("/api/v1/watch/pods")) == RequestUse::watch);
  CHECK_FALSE(api_target("/apis/apps/v1"));
  CHECK_FALSE(api_target("/openapi/v3"));
  CHECK_FALSE(api_target("/version"));
}

TEST_CASE("a stream is what is asked for, not where it begins") {
  const auto first = api_target("/api/v1/pods?labelSelector=a%3Db&resourceVersion=1");
  const auto again = api_target("/api/v1/pods?watch=1&labelSelector=a%3Db&resourceVersion=9");
  CHECK(first->stream() == again->stream());
  CHECK(first->stream() != api_target("/api/v1/pods")->stream());
}

TEST_CASE("an object can leave what selects by what may change of it") {
  CHECK(can_be_left("tier=web", ""));
  CHECK(can_be_left("kubewatch.dev/controller=web,tier", ""));
  CHECK(can_be_left("", "status.phase=Running"));
  CHECK(can_be_left("=", ""));
  CHECK_FALSE(can_be_left("", ""));
  CHECK_FALSE(can_be_left("kubewatch.dev/controller=web", ""));
  CHECK_FALSE(can_be_left("", "metadata.name=a,metadata.namespace=shop"));
}

TEST_CASE("writes become entries, Events, Leases, reviews, tokens and dry runs do not") {
  const auto apply = write_entry("PATCH", "/api/v1/namespaces/shop/configmaps/a?fieldManager=m",
                                 "application/apply-patch+yaml", R"({"kind":"ConfigMap"})");
  REQUIRE(apply);
  CHECK(*apply == Json{{"verb", "apply"},
                       {"path", "/api/v1/namespaces/shop/configmaps/a"},
                       {"manager", "m"},
                       {"body", {{"kind", "ConfigMap"}}}});
  const auto create = write_entry("POST", "/api/v1/namespaces/shop/configmaps", "application/json",
                                  R"({"metadata":{"name":"b"}})");
  REQUIRE(create);
  CHECK((*create)["path"] == "/api/v1/namespaces/shop/configmaps/b");
  const auto gone = write_entry("DELETE", "/api/v1/namespaces/shop/configmaps/b", "",
                                R"({"preconditions":{"uid":"x"}})");
  REQUIRE(gone);
  CHECK_FALSE(gone->contains("body"));
  for (const char* path :
       {"/api/v1/namespaces/shop/events", "/apis/events.k8s.io/v1/namespaces/shop/events/e",
        "/apis/coordination.k8s.io/v1/namespaces/shop/leases/l",
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        "/api/v1/namespaces/shop/serviceaccounts/a/token",
        "/api/v1/namespaces/shop/configmaps?dryRun=All"}) {
    INFO(path);
    CHECK_FALSE(write_entry("POST", path, "application/json", "{}"));
  }
  CHECK_FALSE(write_entry("GET", "/api/v1/namespaces/shop/configmaps/a", "", ""));
}

}  // namespace kubewatch::hooks
