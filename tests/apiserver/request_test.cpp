#include "apiserver/request.hpp"

#include "support/catch.hpp"

namespace kubewatch::apiserver {

namespace {

std::string describe(const std::string& path) {
  const auto segments = split_path(path);
  if (!segments) return "refused";
  const auto parsed = parse_resource_path(segments.value());
  if (!parsed) return "none";
  return parsed->group + "|" + parsed->version + "|" + parsed->namespace_ + "|" + parsed->resource +
         "|" + parsed->name + "|" + parsed->subresource + (parsed->watch ? "|watch" : "");
}

}  // namespace

TEST_CASE("a path is taken apart into group, version, namespace, resource, name and subresource") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"/api/v1/pods", "|v1||pods||"},
      {"/api/v1/namespaces", "|v1||namespaces||"},
      {"/api/v1/namespaces/shop", "|v1||namespaces|shop|"},
      {"/api/v1/namespaces/shop/status", "|v1||namespaces|shop|status"},
      {"/api/v1/namespaces/shop/finalize", "|v1||namespaces|shop|finalize"},
      {"/api/v1/namespaces/shop/pods/web/status", "|v1|shop|pods|web|status"},
      {"/apis/apps/v1/deployments", "apps|v1||deployments||"},
      {"/apis/apps/v1/namespaces/shop/deployments/web", "apps|v1|shop|deployments|web|"},
      {"/api/v1/watch/namespaces/shop/pods", "|v1|shop|pods|||watch"},
      {"/apis/rbac.authorization.k8s.io/v1/clusterroles/a%3Ab",
       "rbac.authorization.k8s.io|v1||clusterroles|a:b|"},
      {"/api", "none"},
      {"/apis/apps/v1", "none"},
      {"/api/v1/a/b/c/d/e/f", "none"},
      {"/api/v1/pods/%2e%2e", "refused"},
      {"/api/v1/pods/a%2Fb", "refused"},
      {"/api/v1/pods/%zz", "refused"},
      {"/api/v1/pods/a%00", "refused"},
  };
  for (const auto& [path, wanted] : cases) {
    CAPTURE(path);
    CHECK(describe(path) == wanted);
  }
}

TEST_CASE("query parameters are decoded and asked by name") {
  const auto query = Query::parse("a=1&b=x%20y+z&a=2&flag&off=false&one=1");
  REQUIRE(query.ok());
  CHECK(query->get("a") == "1");
  CHECK(query->all("a") == std::vector<std::string>{"1", "2"});
  CHECK(query->get("b") == "x y z");
  CHECK(query->flag("flag"));
  CHECK_FALSE(query->flag("off"));
  CHECK(query->flag("one"));
  CHECK_FALSE(query->flag("absent"));
  CHECK_FALSE(Query::parse("a=%g1").ok());
}

}  // namespace kubewatch::apiserver
