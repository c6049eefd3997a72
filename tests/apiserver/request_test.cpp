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
  CHECK(Query::parse("a=F").value().flag("a"));
  CHECK_FALSE(Query::parse("a=False").value().flag("a"));
  CHECK_FALSE(Query::parse("a=%g1").ok());
}

TEST_CASE("a timeout that is none is refused of requests that do not stay open") {
  const auto why = [](const std::string& method, const std::string& path, const char* query) {
    const auto parsed = parse_resource_path(split_path(path).value());
    const auto checked = check_timeout(method, parsed, Query::parse(query).value());
    return checked.ok() ? "" : checked.error().message();
  };
  const std::string maps = "/api/v1/namespaces/shop/configmaps";
  const std::string none =
      "invalid timeout specified in the request URL - time: invalid duration \"x\"";
  CHECK(why("GET", maps, "timeout=x") == none);
  CHECK(why("GET", maps + "/a", "watch=1&timeout=x") == none);
  CHECK(why("POST", maps, "watch=1&timeout=x") == none);
  CHECK(why("GET", "/version", "timeout=x&timeout=1s") == none);
  CHECK(why("GET", maps, "watch=1&timeout=x").empty());
  CHECK(why("GET", "/api/v1/watch/namespaces/shop/configmaps/a", "timeout=x").empty());
  CHECK(why("GET", "/api/v1/namespaces/shop/pods/p/log", "timeout=x").empty());
  CHECK(why("GET", maps, "timeout=").empty());
  CHECK(why("GET", maps, "timeout=1s&timeout=x").empty());
}

TEST_CASE("whole numbers are refused in Go's words") {
  CHECK(parse_whole("-7").value() == -7);
  CHECK(parse_whole("x").error().message() == "strconv.ParseInt: parsing \"x\": invalid syntax");
  CHECK(parse_whole("99999999999999999999").error().message() ==
        "strconv.ParseInt: parsing \"99999999999999999999\": value out of range");
}

}  // namespace kubewatch::apiserver
