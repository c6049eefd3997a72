#include "core/api_path.hpp"

#include "core/url.hpp"
#include "support/catch.hpp"

namespace kubewatch::core {

namespace {

std::string describe(const std::string& path) {
  const auto segments = path_segments(path);
  if (!segments.ok()) return "refused";
  const auto parsed = parse_api_path(*segments);
  if (!parsed) return "none";
  return parsed->group + "|" + parsed->version + "|" + parsed->namespace_ + "|" + parsed->plural +
         "|" + parsed->name + "|" + parsed->subresource + (parsed->watch ? "|watch" : "");
}

}  // namespace

TEST_CASE("a path is taken apart into group, version, namespace, plural, name and subresource") {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"/api/v1/pods", "|v1||pods||"},
      {"/api/v1/pods/", "|v1||pods||"},
      {"/api/v1/namespaces", "|v1||namespaces||"},
      {"/api/v1/namespaces/shop", "|v1||namespaces|shop|"},
      {"/api/v1/namespaces/shop/status", "|v1||namespaces|shop|status"},
      {"/api/v1/namespaces/shop/finalize", "|v1||namespaces|shop|finalize"},
      {"/api/v1/namespaces/shop/status/x", "|v1||namespaces|shop|status/x"},
      {"/api/v1/namespaces/shop/pods/web/status", "|v1|shop|pods|web|status"},
      {"/api/v1/namespaces/shop/services/web/proxy/a/b", "|v1|shop|services|web|proxy/a/b"},
      {"/apis/apps/v1/deployments", "apps|v1||deployments||"},
      {"/apis/apps/v1/namespaces/shop/deployments/web", "apps|v1|shop|deployments|web|"},
      {"/api/v1/watch/namespaces/shop/pods", "|v1|shop|pods|||watch"},
      {"/apis/rbac.authorization.k8s.io/v1/clusterroles/a%3Ab",
       "rbac.authorization.k8s.io|v1||clusterroles|a:b|"},
      {"/", "none"},
      {"/api", "none"},
      {"/apis/apps/v1", "none"},
      {"/api/v1/pods/.", "refused"},
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

TEST_CASE("a path that core/url makes is taken apart into what it was made of") {
  ResourceType type;
  type.gvk = {"demo.dev", "v1", "Website"};
  type.plural = "websites";
  type.namespaced = true;
  CHECK(describe(object_path(type, {"shop", "a:b c"}, "status")) ==
        "demo.dev|v1|shop|websites|a:b c|status");
}

TEST_CASE("query parameters are decoded and asked by name") {
  const auto query = QueryValues::parse("a=1&b=x%20y+z&a=2&flag&off=false&one=1&&%66=True");
  REQUIRE(query.ok());
  CHECK(query->get("a") == "1");
  CHECK(query->all("a") == std::vector<std::string>{"1", "2"});
  CHECK(query->get("b") == "x y z");
  CHECK(query->flag("flag"));
  CHECK_FALSE(query->flag("off"));
  CHECK(query->flag("one"));
  CHECK(query->flag("f"));
  CHECK_FALSE(query->flag("absent"));
  CHECK(std::distance(query->begin(), query->end()) == 7);
  CHECK_FALSE(QueryValues::parse("a=False")->flag("a"));
  CHECK_FALSE(QueryValues::parse("a=0")->flag("a"));
  CHECK_FALSE(QueryValues::parse("a=%g1").ok());
}

}  // namespace kubewatch::core
