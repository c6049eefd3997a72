// Header lists, the guards of the message head, gzip, host names.
#include "http/message.hpp"

#include "base/json.hpp"
#include "http/checks.hpp"
#include "http/gzip.hpp"
#include "http/host_check.hpp"
#include "support/catch.hpp"

namespace kubewatch::http {
namespace {

TEST_CASE("no more of an answer is taken than can be read") {
  CHECK(Request{}.max_body == base::JsonLimits{}.max_bytes);
}

TEST_CASE("a Transfer-Encoding counts as evhttp compares it, with what a folded line leaves") {
  for (const char* value : {"chunked", "Chunked", " chunked", "\tchunked", "chunked "}) {
    Headers headers;
    headers.add("Host", "localhost");
    headers.add("Transfer-Encoding", value);
    INFO(value);
    const bool plain = value[0] != ' ' && value[0] != '\t' && std::string_view(value).size() == 7;
    CHECK(framing_fault("POST", headers).has_value() != plain);
  }
}

TEST_CASE("header names compare without case, and order and duplicates are kept") {
  Headers headers;
  headers.add("Warning", "one");
  headers.add("X-Other", "x");
  headers.add("warning", "two");
  CHECK(headers.get("WARNING") == "one");
  CHECK(headers.has("x-other"));
  CHECK_FALSE(headers.has("x-othe"));
  CHECK(headers.get("absent").empty());
  CHECK(headers.all().size() == 3);
  headers.set("WARNING", "three");
  REQUIRE(headers.all().size() == 2);
  CHECK(headers.all()[1].second == "three");
}

TEST_CASE("a request head with a line break, NUL or space in the wrong place is refused") {
  using namespace std::string_literals;
  struct Case {
    std::string method, url, name, value;
  };
  const std::vector<Case> cases = {
      {"GET", "http://h/", "X-A", "a\r\nX-B: b"},
      {"GET", "http://h/", "X-A", "a\nb"},
      {"GET", "http://h/", "X-A", "a\0b"s},
      {"GET", "http://h/", "X-A\r\nX-B", "a"},
      {"GET", "http://h/", "X A", "a"},
      {"GET", "http://h/", "X:A", "a"},
      {"GET", "http://h/", "", "a"},
      {"GET /x HTTP/1.1\r\nA: b", "http://h/", "X", "a"},
      {"", "http://h/", "X", "a"},
      {"GET", "http://h/a b", "X", "a"},
      {"GET", "http://h/\r\nX: y", "X", "a"},
  };
  for (const Case& c : cases) {
    Request request;
    request.method = c.method;
    request.url = c.url;
    request.headers.add(c.name, c.value);
    const Result<void> checked = check_request(request);
    INFO(c.method << " " << c.url << " " << c.name);
    REQUIRE_FALSE(checked.ok());
    CHECK(checked.error().kind() == ErrorKind::invalid);
  }
  Request secret;
  secret.url = "http://h/";
  secret.headers.add("Authorization", "Bearer hunter2\n");
  CHECK(check_request(secret).error().render().find("hunter2") == std::string::npos);
}

TEST_CASE("URLs are split into what TLS and error messages need") {
  struct Case {
    std::string url, host_port, authority, rest;
  };
  const std::vector<Case> cases = {
      {"https://h/a?b", "h:443", "h", "/a?b"},
      {"http://h", "h:80", "h", ""},
      {"https://u:p@h:6443/x", "h:6443", "h:6443", "/x"},
      {"https://[::1]:6443/x", "[::1]:6443", "[::1]:6443", "/x"},
      {"https://[::1]/x", "[::1]:443", "[::1]", "/x"},
      {"http://h:8080?q", "h:8080", "h:8080", "?q"},
  };
  for (const Case& c : cases) {
    const auto endpoint = parse_endpoint(c.url);
    INFO(c.url);
    REQUIRE(endpoint.ok());
    CHECK(endpoint->host_port() == c.host_port);
    CHECK(endpoint->authority == c.authority);
    CHECK(endpoint->rest == c.rest);
  }
  for (const char* bad : {"", "h/a", "ftp://h/", "file:///etc/passwd", "http://", "http://:80/",
                          "http://h:8x/", "http://h:123456/"}) {
    INFO(bad);
    CHECK_FALSE(parse_endpoint(bad).ok());
  }
}

TEST_CASE("Accept-Encoding is read with its qualities") {
  CHECK(accepts_gzip("gzip"));
  CHECK(accepts_gzip("deflate, GZIP;q=0.5"));
  CHECK_FALSE(accepts_gzip(""));
  CHECK_FALSE(accepts_gzip("deflate"));
  CHECK_FALSE(accepts_gzip("gzip;q=0"));
  CHECK_FALSE(accepts_gzip("gzip;q=0.0, br"));
  CHECK_FALSE(accepts_gzip("x-gzip"));
}

TEST_CASE("only the names that a server serves pass its Host check") {
  const HostCheck check("10.0.0.7", {"Sandbox.Example", "fd00::1"});
  for (const char* good :
       {"localhost", "LOCALHOST:80", "127.0.0.1:1", "[::1]", "[::1]:443", "10.0.0.7:6443",
        "sandbox.example.", "sandbox.example:1", "[fd00::1]:1"}) {
    INFO(good);
    CHECK(check.allows(good, "10.9.9.9"));
  }
  for (const char* bad :
       {"", ":80", "evil.example", "localhost.evil.example", "127.0.0.1.evil.example",
        "localhost:80@evil", "127.0.0.2", "[::1", "localhost:x", "."}) {
    INFO(bad);
    CHECK_FALSE(check.allows(bad, "10.9.9.9"));
  }
  CHECK(check.allows("10.9.9.9:1", "10.9.9.9"));
}

TEST_CASE("only a page of the server itself passes its Origin check: scheme, name and port") {
  const HostCheck check("10.0.0.7", {"sandbox.example"});
  struct Case {
    const char* origin;
    const char* host;
    bool tls;
    bool good;
  };
  for (const Case& c :
       std::vector<Case>{{"http://localhost:8080", "localhost:8080", false, true},
                         {"http://127.0.0.1:8080", "localhost:8080", false, true},
                         {"http://[::1]:8080", "[::1]:8080", false, true},
                         {"https://sandbox.example", "sandbox.example:443", true, true},
                         {"http://sandbox.example:80", "sandbox.example", false, true},
                         {"HTTPS://Sandbox.Example:8443", "sandbox.example:8443", true, true},
                         // Another server on the same machine is another origin.
                         {"http://localhost:3000", "localhost:8080", false, false},
                         {"http://localhost", "localhost:8080", false, false},
                         {"http://[::1]:3000", "[::1]:8080", false, false},
                         {"http://[::1]", "[::1]:8080", false, false},
                         {"https://localhost:8080", "localhost:8080", false, false},
                         {"http://localhost:8443", "localhost:8443", true, false},
                         {"https://evil.example:8080", "localhost:8080", true, false},
                         {"localhost:8080", "localhost:8080", false, false},
                         {"null", "localhost", false, false}}) {
    INFO(c.origin << " to " << c.host);
    CHECK(check.allows_origin(c.origin, c.host, c.tls, "") == c.good);
  }
}

}  // namespace
}  // namespace kubewatch::http
