// A client on a scripted transport.
#pragma once

#include <string>

#include "client/client.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"
#include "support/scripted_transport.hpp"

namespace kubewatch::test {

inline client::ClientConfig scripted_config() {
  client::ClientConfig config;
  config.server = "https://cluster:6443";
  config.token = "secret-token";
  config.source = "test";
  return config;
}

struct Rig {
  explicit Rig(client::ClientConfig config = scripted_config())
      : client(loop, transport, std::move(config)) {}

  // Plays what is scripted and turns the loop once.
  void run() {
    transport.run();
    bool turned = false;
    loop.post([&] { turned = true; });
    loop.run_until([&] { return turned; }, kLimit);
    transport.run();
  }

  loop::EventLoop loop;
  ScriptedTransport transport;
  client::Client client;
};

inline const core::ResourceType kPods{{"", "v1", "Pod"}, "pods", "pod", true, {}, {}, {}, {}};
inline const core::ResourceType kNodes{{"", "v1", "Node"}, "nodes", "node", false, {}, {}, {}, {}};
inline const core::ResourceType kDeployments{
    {"apps", "v1", "Deployment"}, "deployments", "deployment", true, {}, {}, {}, {}};
inline const core::ResourceType kSecrets{
    {"", "v1", "Secret"}, "secrets", "secret", true, {}, {}, {}, {}};

}  // namespace kubewatch::test
