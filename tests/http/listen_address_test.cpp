#include "http/listen_address.hpp"

#include "support/catch.hpp"

using kubewatch::http::parse_listen_address;

TEST_CASE("an address to listen on is read in one way by every flag") {
  CHECK(parse_listen_address("127.0.0.1:9090")->address == "127.0.0.1");
  CHECK(parse_listen_address("127.0.0.1:9090")->port == 9090);
  CHECK(parse_listen_address("localhost:0")->port == 0);
  CHECK(parse_listen_address("[::1]:0")->address == "::1");
  CHECK(parse_listen_address(":80")->address == "0.0.0.0");
  for (const char* wrong : {"", "9090", "127.0.0.1", "a:b", "::1:80", "x:70000", "x:", "x:-1",
                            "[]:1", "[::1:1", "x:1 "}) {
    INFO(wrong);
    CHECK_FALSE(parse_listen_address(wrong).ok());
  }
}
