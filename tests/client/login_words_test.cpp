#include "client/login_words.hpp"

#include "client/exec_plugin.hpp"
#include "support/catch.hpp"

namespace kubewatch::client {

TEST_CASE("who was refused is told by what it logged in and from where, and no secret") {
  ClientConfig config;
  config.server = "https://server.test";
  config.source = "context a of /kc";
  CHECK(why_unauthorized(config) == "no credentials were sent (context a of /kc)");
  config.client_cert_pem = "PEM";
  CHECK(why_unauthorized(config) ==
        "the server does not accept the client certificate (context a of /kc)");
  config.client_cert_file = "/crt";
  CHECK(why_unauthorized(config).find("the client certificate in /crt ") != std::string::npos);
  config.username = "me";
  config.password = "secret";
  CHECK(why_unauthorized(config).find("the password of user me ") != std::string::npos);
  config.token = "secret";
  CHECK(why_unauthorized(config).find("accept the token (") != std::string::npos);
  config.token_by_flag = true;
  CHECK(why_unauthorized(config).find("accept the token of --token (") != std::string::npos);
  config.token_file = "/run/token";
  CHECK(why_unauthorized(config).find("the token in /run/token ") != std::string::npos);
  CHECK(why_unauthorized(config).find("secret") == std::string::npos);
  config.server = "http://server.test";
  CHECK(why_unauthorized(config).starts_with("no credentials were sent: they are kept from"));
  ClientConfig plugin;
  plugin.server = "https://server.test";
  plugin.exec.emplace().command = "gke-auth";
  CHECK(why_unauthorized(plugin) == "the server does not accept what exec gke-auth gave");
}

TEST_CASE("a request that waits for a login names who has not given it, and not the server") {
  ClientConfig config;
  config.server = "https://server.test";
  CHECK(why_no_answer(config, true) == "no answer from https://server.test");
  config.exec.emplace().command = "gke-auth";
  CHECK(why_no_answer(config, true) == "exec: executable gke-auth did not end");
  CHECK(why_no_answer(config, false) == "no answer from https://server.test");
}

}  // namespace kubewatch::client
