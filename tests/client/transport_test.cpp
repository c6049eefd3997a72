// The transport that a configuration asks for.
#include "client/client.hpp"
#include "rig.hpp"

using namespace kubewatch;
using namespace kubewatch::client;

TEST_CASE("a configuration gives a transport or says what is wrong with it") {
  loop::EventLoop loop;
  ClientConfig config = test::scripted_config();
  CHECK(make_transport(loop, config).ok());
  config.ca_pem = "no certificate";
  config.source = "context dev of /home/me/.kube/config";
  const auto broken = make_transport(loop, config);
  REQUIRE_FALSE(broken.ok());
  CHECK(broken.error().kind() == ErrorKind::invalid);
  CHECK(broken.error().render().rfind(config.source + ": ", 0) == 0);
}
