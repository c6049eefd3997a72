#include "apiserver/request.hpp"

#include <string>
#include <utility>
#include <vector>

#include "apiserver/go_json_text.hpp"
#include "support/catch.hpp"

namespace kubewatch::apiserver {

TEST_CASE("what is broken in a path or a query is a bad request") {
  for (const auto& refused :
       {split_path("/api/v1/pods/%zz").error(), parse_query("a=%g1").error()}) {
    CHECK(status_code(refused) == 400);
  }
}

TEST_CASE("between two slashes of a path is something, but for the namespace") {
  const auto plural = [](const char* text) {
    const auto segments = split_path(text);
    if (!segments) return std::to_string(status_code(segments.error()));
    const auto path = parse_resource_path(*segments);
    return path ? path->namespace_ + ":" + path->plural + ":" + path->name : "none";
  };
  CHECK(plural("/api/v1//namespaces") == "404");
  CHECK(plural("//api/v1/namespaces") == "404");
  CHECK(plural("/api/v1/namespaces/shop//pods") == "404");
  CHECK(plural("/api/v1/namespaces//pods") == ":pods:");
  CHECK(plural("/api/v1/namespaces/shop/pods//") == "shop:pods:");
  CHECK(plural("/api/v1/namespaces/") == ":namespaces:");
  CHECK(plural("/") == "none");
  for (const char* path : {"//", "///", "/apis//", "/livez/ping/", "/healthz/", "/openapi/v2//"}) {
    CAPTURE(path);
    CHECK(plural(path) == "404");
  }
}

TEST_CASE("a text that is no JSON is told of as Go's decoder does") {
  const std::vector<std::pair<std::string, std::string>> rows = {
      {"{", "unexpected end of JSON input"},
      {"\"\\", "invalid character ' ' in string escape code"},
      {"[1,]", "invalid character ']' looking for beginning of value"},
      {"{\"a\":1]", "invalid character ']' after object key:value pair"},
      {"'", "invalid character '\\'' looking for beginning of value"},
      {"\"\"\x7F", "invalid character '\\x7f' after top-level value"},
      {"\xA0", "invalid character '\\u00a0' looking for beginning of value"},
      {"-", "invalid character ' ' in numeric literal"},
      {std::string(10001, '['), "invalid character '[' exceeded max depth"},
  };
  for (const auto& [text, words] : rows) {
    CAPTURE(text.substr(0, 10));
    CHECK(why_no_go_json(text) == words);
  }
  for (const char* text : {" null ", "[-0.5e+7,\"\\u12aF\"]", "{\"a\":{},\"b\":[]}"}) {
    CHECK_FALSE(why_no_go_json(text).has_value());
  }
  // What is past our own limit is told of only if Go would take it.
  const auto nested = [](int depth) { return std::string(depth, '[') + std::string(depth, ']'); };
  CHECK(parse_go_json(nested(300)).error().kind() == ErrorKind::too_large);
  CHECK(parse_go_json(nested(10001)).error().message() ==
        "invalid character '[' exceeded max depth");
  CHECK(parse_go_json(std::string(300, '[')).error().message() == "unexpected end of JSON input");
  // Halves of pairs, an escaped backslash, and bytes that are no UTF-8.
  CHECK(*parse_go_json("[\"\\ud800\\ud83d\\ude00\\\\ud800\xFF\"]") ==
        Json::array({"\xEF\xBF\xBD\xF0\x9F\x98\x80\\ud800\xEF\xBF\xBD"}));
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
