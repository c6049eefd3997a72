#include "http/no_proxy.hpp"

#include "support/catch.hpp"

using kubewatch::http::named_by_no_proxy;

namespace {

struct Case {
  const char* list;
  const char* host;
  const char* port;
  bool named;
};

}  // namespace

TEST_CASE("NO_PROXY means what it means to kubectl") {
  const Case cases[] = {
      {"", "a.example", "443", false},
      {"*", "a.example", "443", true},
      {"*", "192.0.2.2", "443", true},
      {"x, * ,y", "a.example", "443", true},
      // domains
      {"example", "example", "443", true},
      {"example", "a.b.example", "443", true},
      {"example", "anexample", "443", false},
      {"EXAMPLE", "A.Example", "443", true},
      {".example", "example", "443", false},
      {".example", "a.example", "443", true},
      {"*.example", "example", "443", false},
      {"*.example", "a.example", "443", true},
      {" b.example , a.example ", "a.example", "443", true},
      {"b.example a.example", "a.example", "443", false},
      // ports
      {"a.example:443", "a.example", "443", true},
      {"a.example:443", "x.a.example", "443", true},
      {"a.example:443", "a.example", "6443", false},
      {".example:6443", "a.example", "6443", true},
      {"a.example:", "a.example", "6443", true},
      {":443", "a.example", "443", false},
      {"192.0.2.2:6443", "192.0.2.2", "6443", true},
      {"192.0.2.2:6443", "192.0.2.2", "443", false},
      {"[2001:db8::1]:6443", "[2001:db8::1]", "6443", true},
      {"[2001:db8::1]:6443", "2001:db8::1", "443", false},
      // addresses
      {"192.0.2.2", "192.0.2.2", "443", true},
      {"192.0.2.2", "192.0.2.20", "443", false},
      {"192.0.2.2", "::ffff:192.0.2.2", "443", true},
      {"2001:DB8:0::1", "[2001:db8::1]", "443", true},
      {"2001:db8::1", "2001:db8::2", "443", false},
      {"[2001:db8::1]", "2001:db8::1", "443", false},  // without a port no brackets, as in Go
      {"fe80::1", "fe80::1%eth0", "443", true},
      {"2", "192.0.2.2", "443", false},
      {".2.2", "192.0.2.2", "443", false},
      // networks
      {"192.0.2.0/24", "192.0.2.200", "443", true},
      {"192.0.2.77/24", "192.0.2.200", "443", true},
      {"192.0.2.0/25", "192.0.2.200", "443", false},
      {"0.0.0.0/0", "192.0.2.2", "443", true},
      {"0.0.0.0/0", "2001:db8::1", "443", false},
      {"::/0", "192.0.2.2", "443", false},
      {"::/0", "2001:db8::1", "443", true},
      {"2001:db8::/32", "[2001:db8:1::5]", "443", true},
      {"2001:db8::/33", "2001:db8:8000::1", "443", false},
      {"10.0.0.0/8", "10.example", "443", false},
      // what is no entry
      {"192.0.2.0/33,192.0.2.0/,192.0.2.0/-1,/24,192.0.2.0/2x", "192.0.2.0", "443", false},
      {"192.0.2.0/24:443", "192.0.2.2", "443", false},
      {",,*.,.,[:1,[]:443", "a.example", "443", false},
  };
  for (const Case& one : cases) {
    INFO(one.list << " and " << one.host << ":" << one.port);
    CHECK(named_by_no_proxy(one.list, one.host, one.port) == one.named);
  }
}
