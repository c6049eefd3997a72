// Credentials that change under a running client: tokens after a 401, certificates from files.
#include <chrono>
#include <optional>

#include "base/json.hpp"
#include "client/client.hpp"
#include "client/tls_files.hpp"
#include "http/server.hpp"
#include "rig.hpp"
#include "temp_dir.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using namespace kubewatch::test;

namespace {

TimePoint at(int seconds) {
  return TimePoint{} + Duration{seconds * 1000LL};
}

ClientConfig with_token_file(const std::string& file) {
  ClientConfig config = scripted_config();
  config.token.clear();
  config.token_file = file;
  return config;
}

std::string bearer(Rig& rig, std::size_t index) {
  return std::string(rig.transport.request(index).headers.get("Authorization"));
}

http::GeneratedCertificate make_certificate() {
  const auto now =
      std::chrono::time_point_cast<std::chrono::microseconds>(std::chrono::system_clock::now());
  return *http::generate_certificate({"localhost"}, {"127.0.0.1"}, now);
}

}  // namespace

TEST_CASE("a request that is refused with 401 is sent once more with the token file's new token") {
  TempDir folder;
  const std::string file = folder.write("token", "one");
  Rig rig(with_token_file(file));
  std::optional<Result<Json>> answer;
  const Json object = Json::parse(R"({"metadata":{"name":"a"},"data":{"k":"v"}})");
  const auto pending = rig.client.create(kSecrets, "shop", object, {},
                                         [&](Result<Json> given) { answer.emplace(given); });
  folder.write("token", "two");
  auto& first = rig.transport.call(0);
  first.head(401);
  first.end();
  REQUIRE(rig.transport.size() == 2);
  CHECK_FALSE(answer.has_value());
  CHECK(bearer(rig, 0) == "Bearer one");
  CHECK(bearer(rig, 1) == "Bearer two");
  CHECK(rig.transport.call(1).line() == rig.transport.call(0).line());
  CHECK(rig.transport.request(1).body == object.dump());
  rig.transport.call(1).head(401);
  rig.transport.call(1).end();
  REQUIRE(answer.has_value());  // not a third time
  CHECK(answer->error().is_unauthorized());
  CHECK(rig.transport.size() == 2);
}

TEST_CASE("the second try has its body, whichever file has changed") {
  TempDir folder;
  ClientConfig config = scripted_config();
  config.ca_file = folder.write("ca.pem", "one");
  config.ca_pem = "one";
  Rig rig(config);
  const Json object = Json::parse(R"({"metadata":{"name":"a"}})");
  const auto pending = rig.client.create(kSecrets, "shop", object, {}, [](Result<Json>) {});
  folder.write("ca.pem", "two");
  auto& first = rig.transport.call(0);
  first.head(401);
  first.end();
  REQUIRE(rig.transport.size() == 2);
  CHECK(rig.transport.request(1).body == object.dump());
}

TEST_CASE("each of several requests that were sent with an old token is sent once more") {
  TempDir folder;
  const std::string file = folder.write("token", "one");
  Rig rig(with_token_file(file));
  const auto ignore = [](Result<Json>) {};
  const auto a = rig.client.get(kPods, {"shop", "a"}, ignore);
  const auto b = rig.client.get(kPods, {"shop", "b"}, ignore);
  folder.write("token", "two");
  for (const std::size_t call : {0U, 1U}) {
    rig.transport.call(call).head(401);
    rig.transport.call(call).end();
  }
  REQUIRE(rig.transport.size() == 4);
  CHECK(bearer(rig, 2) == "Bearer two");
  CHECK(bearer(rig, 3) == "Bearer two");
}

TEST_CASE("a 401 with an unchanged token is the answer") {
  TempDir folder;
  Rig rig(with_token_file(folder.write("token", "one")));
  std::optional<Result<Json>> answer;
  const auto pending =
      rig.client.get(kPods, {"shop", "a"}, [&](Result<Json> given) { answer.emplace(given); });
  rig.transport.call(0).head(401);
  rig.transport.call(0).end();
  REQUIRE(answer.has_value());
  CHECK(answer->error().is_unauthorized());
  CHECK(rig.transport.size() == 1);
}

TEST_CASE("a watch that is refused with 401 starts once more, and tells only what follows") {
  TempDir folder;
  Rig rig(with_token_file(folder.write("token", "one")));
  int opened = 0;
  std::vector<std::string> events;
  std::optional<Result<void>> end;
  const auto pending = rig.client.watch(
      kPods, "shop", {},
      {[&] { ++opened; },
       [&](const core::WatchEvent& event) { events.emplace_back(event.type_name); },
       [&](Result<void> given) { end.emplace(std::move(given)); }});
  folder.write("token", "two");
  auto& first = rig.transport.call(0);
  first.head(401);
  first.data("Unauthorized");
  first.end();
  REQUIRE(rig.transport.size() == 2);
  CHECK(bearer(rig, 1) == "Bearer two");
  CHECK(opened == 0);
  rig.transport.call(1).head(200);
  rig.transport.call(1).data(R"({"type":"ADDED","object":{}})");
  CHECK(opened == 1);
  CHECK(events == std::vector<std::string>{"ADDED"});
  rig.transport.call(1).end();
  REQUIRE(end.has_value());
  CHECK(end->ok());
}

TEST_CASE("a list that is refused with 401 starts once more") {
  TempDir folder;
  Rig rig(with_token_file(folder.write("token", "one")));
  std::optional<Result<ListResult>> answer;
  const auto pending = rig.client.list(
      kPods, "shop", {}, [&](Result<ListResult> given) { answer.emplace(std::move(given)); });
  folder.write("token", "two");
  auto& first = rig.transport.call(0);
  first.head(401);
  first.data("Unauthorized");
  first.end();
  REQUIRE(rig.transport.size() == 2);
  CHECK(bearer(rig, 1) == "Bearer two");
  rig.transport.call(1).head(200);
  rig.transport.call(1).data(R"({"kind":"PodList","metadata":{},"items":[{"a":1}]})");
  rig.transport.call(1).end();
  REQUIRE(answer.has_value());
  REQUIRE(answer->ok());
  CHECK((**answer).items.size() == 1);
}

TEST_CASE("a request destroyed between the tries is not sent again") {
  TempDir folder;
  Rig rig(with_token_file(folder.write("token", "one")));
  auto pending = rig.client.get(kPods, {"shop", "a"}, [](Result<Json>) { FAIL("canceled"); });
  folder.write("token", "two");
  auto& first = rig.transport.call(0);
  first.head(401);
  pending.reset();
  first.end();
  CHECK(rig.transport.size() == 1);
}

TEST_CASE("certificate files are looked at every minute, soon after a failure, never in between") {
  TempDir folder;
  ClientConfig config = scripted_config();
  config.ca_pem = "one";
  config.ca_file = folder.write("ca.crt", "one");
  TlsFiles files(config);
  CHECK_FALSE(files.look(at(0)));
  folder.write("ca.crt", "two");
  CHECK_FALSE(files.look(at(59)));
  auto found = files.look(at(60));
  REQUIRE(found);
  CHECK(found->ca_pem == "two");
  files.accept(*found);
  folder.write("ca.crt", "three");
  CHECK_FALSE(files.look(at(61)));
  files.suspect(at(70));
  found = files.look(at(70));
  REQUIRE(found);
  CHECK(found->ca_pem == "three");
  files.accept(*found);
  CHECK_FALSE(files.look(at(200)));
}

TEST_CASE(
    "a certificate file that is being replaced is looked at again soon, a bad one told once") {
  TempDir folder;
  ClientConfig config = scripted_config();
  config.client_cert_pem = "cert";
  config.client_key_pem = "key";
  config.client_cert_file = folder.write("tls.crt", "");
  config.client_key_file = folder.write("tls.key", "key");
  TlsFiles files(config);
  CHECK_FALSE(files.look(at(0)));
  CHECK_FALSE(files.look(at(60)));  // empty: kept as it was
  folder.write("tls.crt", "cert 2");
  CHECK_FALSE(files.look(at(64)));
  auto half = files.look(at(65));
  REQUIRE(half);
  files.reject(*half, at(65));
  CHECK_FALSE(files.look(at(70)));  // the same half is not offered again
  folder.write("tls.key", "key 2");
  const auto whole = files.look(at(130));
  REQUIRE(whole);
  CHECK(whole->client_cert_pem == "cert 2");
  CHECK(whole->client_key_pem == "key 2");
}

TEST_CASE("a failed connection makes the next request look at the files, bad ones change nothing") {
  TempDir folder;
  ClientConfig config = scripted_config();
  config.ca_pem = "one";
  config.ca_file = folder.write("ca.crt", "one");
  Rig rig(config);
  rig.transport.fail(Error(ErrorKind::unreachable, "TLS: not signed by the configured CA"));
  std::optional<Result<Json>> answer;
  const auto keep = [&](Result<Json> given) { answer.emplace(std::move(given)); };
  auto pending = rig.client.get(kPods, {"shop", "a"}, keep);
  rig.run();
  CHECK(rig.transport.tls.empty());
  folder.write("ca.crt", "two");
  pending = rig.client.get(kPods, {"shop", "a"}, keep);
  REQUIRE(rig.transport.tls.size() == 1);
  CHECK(rig.transport.tls[0].ca_pem == "two");
}

TEST_CASE(
    "a client of an old configuration has the certificates of now from its first request on") {
  TempDir folder;
  ClientConfig config = scripted_config();
  config.ca_pem = "one";
  config.ca_file = folder.write("ca.crt", "two");
  Rig rig(config);
  const auto pending = rig.client.get(kPods, {"shop", "a"}, [](Result<Json>) {});
  REQUIRE(rig.transport.tls.size() == 1);
  CHECK(rig.transport.tls[0].ca_pem == "two");
}

TEST_CASE("a client goes on when the server comes back with certificates of another CA") {
  TempDir folder;
  loop::EventLoop loop;
  const auto before = make_certificate();
  const auto after = make_certificate();
  http::ServerOptions options;
  const auto start = [&](const http::GeneratedCertificate& certificate) {
    options.tls = http::ServerTls{certificate.certificate_pem, certificate.key_pem};
    auto server = http::Server::listen(
        loop, options,
        [](const http::ServerRequest&, const std::shared_ptr<http::Responder>& responder) {
          responder->respond(200, {}, R"({"kind":"Pod","metadata":{"name":"a"}})");
        });
    if (!server.ok()) FAIL(server.error().render());
    return std::move(server).value();
  };
  auto server = start(before);
  options.port = server->port();

  ConfigOverrides flags;
  flags.server = "https://127.0.0.1:" + std::to_string(options.port);
  flags.certificate_authority = folder.write("ca.crt", before.ca_pem);
  const auto config = load_config(flags, {});
  REQUIRE(config.ok());
  const auto transport = make_transport(loop, *config);
  REQUIRE(transport.ok());
  Client client(loop, **transport, *config);
  const auto works = [&] {
    std::optional<Result<Json>> answer;
    const auto pending = client.get(kPods, {"shop", "a"},
                                    [&](Result<Json> given) { answer.emplace(std::move(given)); });
    REQUIRE(loop.run_until([&] { return answer.has_value(); }, Duration{20000}));
    return answer->ok();
  };
  CHECK(works());
  server.reset();
  server = start(after);
  folder.write("ca.crt", after.ca_pem);
  // What is tried first may still be made with the old trust; it makes us look.
  const bool first = works();
  CHECK((first || works()));
}

TEST_CASE("the configuration knows which of its certificates came from files") {
  TempDir folder;
  const auto certificate = make_certificate();
  folder.write("ca.crt", certificate.ca_pem);
  folder.write("tls.crt", certificate.certificate_pem);
  folder.write("tls.key", certificate.key_pem);
  ConfigOverrides flags;
  flags.kubeconfig = folder.write("config", R"({clusters: [{name: c, cluster:
    {server: "https://x:1", certificate-authority: ca.crt}}], users: [{name: u, user:
    {client-certificate: tls.crt, client-key: tls.key}}],
    contexts: [{name: x, context: {cluster: c, user: u}}], current-context: x})");
  auto config = load_config(flags, {});
  REQUIRE(config.ok());
  CHECK(config->ca_file == folder.path() + "/ca.crt");
  CHECK(config->client_cert_file == folder.path() + "/tls.crt");
  CHECK(config->client_key_file == folder.path() + "/tls.key");
  flags.insecure_skip_tls_verify = true;
  CHECK(load_config(flags, {})->ca_file.empty());

  ConfigEnvironment pod;
  pod.service_host = "10.0.0.1";
  pod.service_port = "443";
  pod.service_account_dir = folder.path();
  folder.write("token", "t");
  CHECK(load_config({}, pod)->ca_file == folder.path() + "/ca.crt");
}
