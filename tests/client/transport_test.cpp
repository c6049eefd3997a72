// The transport that a configuration asks for.
#include <sys/stat.h>

#include <algorithm>

#include "base/files.hpp"
#include "client/client.hpp"
#include "rig.hpp"
#include "temp_dir.hpp"

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

TEST_CASE("transports of one login run its program once, those of another run another") {
  const test::TempDir folder;
  loop::EventLoop loop;
  ClientConfig config;
  config.server = "https://127.0.0.1:0";
  config.exec.emplace();
  config.exec->api_version = "client.authentication.k8s.io/v1";
  config.exec->interactive = ExecPlugin::Interactive::never;
  config.exec->command =
      folder.write("login",
                   "#!/bin/sh\necho ran >> \"$(dirname \"$0\")/runs\"\n"
                   "echo '{\"apiVersion\":\"client.authentication.k8s.io/v1\","
                   "\"kind\":\"ExecCredential\",\"status\":{\"token\":\"t\"}}'\n");
  REQUIRE(::chmod(config.exec->command.c_str(), 0700) == 0);
  ClientConfig other = config;
  other.exec->arguments = {"--as", "somebody-else"};
  std::vector<std::unique_ptr<http::Transport>> transports;
  std::vector<std::unique_ptr<http::Call>> calls;
  std::size_t ended = 0;
  const auto runs = [&](const std::vector<const ClientConfig*>& configs) {
    for (const ClientConfig* one : configs) {
      auto made = make_transport(loop, *one);
      REQUIRE(made.ok());
      transports.push_back(std::move(*made));
      http::Request request;
      request.url = one->server + "/version";
      http::CallHandlers handlers;
      handlers.on_done = [&](const Result<void>&) { ++ended; };
      calls.push_back(transports.back()->start(std::move(request), std::move(handlers)));
    }
    REQUIRE(loop.run_until([&] { return ended == calls.size(); }, kLimit));
    CHECK(transports.back()->secrets().at(0) == "t");
    const auto said = base::read_file(folder.path() + "/runs", 1000);
    REQUIRE(said.ok());
    return std::count(said->begin(), said->end(), '\n');
  };
  CHECK(runs({&config, &config, &config}) == 1);
  CHECK(runs({&config}) == 1);
  CHECK(runs({&other}) == 2);
}
