// Which token a request has, and whether it is the one.
#include "http/bearer.hpp"

#include "support/catch.hpp"

namespace kubewatch::http {
namespace {

Headers with(const char* value) {
  Headers out;
  out.add("authorization", value);
  return out;
}

TEST_CASE("the token of a request") {
  CHECK(bearer_token(with("Bearer abc")) == "abc");
  CHECK(bearer_token(with("Bearer a b")) == "a b");
  CHECK(bearer_token(with("bearer  abc ")) == "abc");
  CHECK(bearer_token(with("Bearerabc")).empty());
  CHECK(bearer_token(with("Basic abc")).empty());
  CHECK(bearer_token(with("Bearer ")).empty());
  CHECK(bearer_token({}).empty());
}

TEST_CASE("secrets are the same, or not") {
  CHECK(same_secret("abc", "abc"));
  CHECK_FALSE(same_secret("abc", "abd"));
  CHECK_FALSE(same_secret("abc", "abcabc"));
  CHECK_FALSE(same_secret("abcabc", "abc"));
  CHECK_FALSE(same_secret("", "abc"));
  CHECK_FALSE(same_secret("abc", ""));
  CHECK_FALSE(same_secret("", ""));
}

}  // namespace
}  // namespace kubewatch::http
