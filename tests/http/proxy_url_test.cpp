// What libcurl is told of a proxy, and what people are.
#include "http/proxy_url.hpp"

#include "support/catch.hpp"

using kubewatch::http::host_of_proxy;
using kubewatch::http::is_tls_proxy;
using kubewatch::http::proxy_for_curl;

TEST_CASE("a proxy without a port is at that of its scheme, and SOCKS resolves names itself") {
  const std::pair<const char*, const char*> table[] = {
      {"", ""},
      {"http://p", "http://p:80"},
      {"p", "p:80"},
      {"http://p/", "http://p:80/"},
      {"http://p:3128", "http://p:3128"},
      {"p:3128", "p:3128"},
      {"http://u:w@p", "http://u:w@p:80"},
      {"http://u:w/x@p/", "http://u:w/x@p:80/"},
      {"http://[::1]", "http://[::1]:80"},
      {"http://[::1]:8080", "http://[::1]:8080"},
      {"https://p", "https://p"},
      {"socks5://p", "socks5h://p"},
      {"socks5://u:w@p:1081", "socks5h://u:w@p:1081"},
      {"socks5h://p", "socks5h://p"}};
  for (const auto& [url, expected] : table) CHECK(proxy_for_curl(url) == expected);
}

TEST_CASE("people are told the host and port of a proxy, and not who may use it") {
  CHECK(host_of_proxy("http://user:pass/word@proxy.corp:3128/x") == "proxy.corp:3128");
  CHECK(host_of_proxy("proxy.corp") == "proxy.corp");
}

TEST_CASE("a proxy is reached by TLS when its URL says https") {
  CHECK(is_tls_proxy("https://p:3129"));
  CHECK(is_tls_proxy("HTTPS://p"));
  for (const char* url : {"", "p", "https", "http://p", "socks5://p"})
    CHECK_FALSE(is_tls_proxy(url));
}
