#include "apiserver/request.hpp"

#include "support/catch.hpp"

namespace kubewatch::apiserver {

TEST_CASE("what is broken in a path or a query is a bad request") {
  for (const auto& refused :
       {split_path("/api/v1/pods/%zz").error(), parse_query("a=%g1").error()}) {
    CHECK(status_code(refused) == 400);
  }
}

TEST_CASE("nothing stands behind a subresource") {
  const auto path = [](const char* text) {
    return parse_resource_path(split_path(text).value()).has_value();
  };
  CHECK(path("/api/v1/namespaces/shop/pods/web/status"));
  CHECK_FALSE(path("/api/v1/namespaces/shop/pods/web/status/x"));
}

TEST_CASE("a timeout that is none is refused of requests that do not stay open") {
  const auto why = [](const std::string& method, const std::string& path, const char* query) {
    const auto parsed = parse_resource_path(split_path(path).value());
    const auto checked = check_timeout(method, parsed, parse_query(query).value());
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
