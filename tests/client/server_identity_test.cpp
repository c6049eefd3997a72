// Which cluster files were saved from, and what is said where it is another one.
#include "client/server_identity.hpp"

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::client;

namespace {

ServerIdentity identity(const std::string& url, const std::string& ca) {
  ClientConfig config;
  config.server = url;
  config.ca_pem = ca;
  return identity_of(config);
}

}  // namespace

TEST_CASE("a cluster that was made anew at the same URL is another one") {
  const ServerIdentity before = identity("https://127.0.0.1:6443", "one");
  CHECK(before.url == "https://127.0.0.1:6443");
  CHECK(before == identity("https://127.0.0.1:6443", "one"));
  CHECK(why_other(before, before).empty());
  CHECK(why_other(before, identity("https://127.0.0.1:6443", "two")) ==
        "https://127.0.0.1:6443 with another certificate authority");
  CHECK_FALSE(why_other(before, identity("https://127.0.0.1:6443", "")).empty());
  CHECK(why_other(before, identity("https://b", "one")) ==
        "https://127.0.0.1:6443, and this is https://b");
}

TEST_CASE("what a file of before does not say about its server is not held against it") {
  const ServerIdentity here = identity("https://a", "one");
  CHECK(why_other({}, here).empty());
  CHECK(why_other({"https://a", ""}, here).empty());
  CHECK(why_other({"https://b", ""}, here) == "https://b, and this is https://a");
}
