// Who we are, in headers: never where others can read it, never in a log.
#include "client/credentials.hpp"

#include <sys/stat.h>

#include "base/json.hpp"
#include "base/log.hpp"
#include "client/forwarder.hpp"
#include "rig.hpp"
#include "temp_dir.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using namespace kubewatch::test;

namespace {

std::string authorization(Credentials& credentials, TimePoint now) {
  http::Headers headers;
  REQUIRE(credentials.authorize(headers, now).ok());
  return std::string(headers.get("Authorization"));
}

TimePoint at(int seconds) {
  return TimePoint(Duration(seconds * 1000));
}

// Log lines of a scope.
struct CapturedLog {
  explicit CapturedLog(int verbosity) {
    base::LogOptions options;
    options.verbosity = verbosity;
    base::configure_log(options);
    base::capture_log(&lines);
  }
  ~CapturedLog() {
    base::capture_log(nullptr);
    base::configure_log({});
  }
  std::string all() const {
    std::string out;
    for (const std::string& line : lines) out += line + "\n";
    return out;
  }
  std::vector<std::string> lines;
};

}  // namespace

TEST_CASE("a token file is read again after a minute or when the server refuses it") {
  const TempDir dir;
  ClientConfig config = scripted_config();
  config.token_file = dir.write("token", "one\n");
  Credentials credentials(config);
  CHECK(authorization(credentials, at(100)) == "Bearer one");
  dir.write("token", "two");
  CHECK(authorization(credentials, at(159)) == "Bearer one");
  CHECK(authorization(credentials, at(160)) == "Bearer two");
  dir.write("token", "three");
  credentials.refused();
  CHECK(authorization(credentials, at(161)) == "Bearer three");
  dir.write("token", "");
  CHECK(authorization(credentials, at(300)) == "Bearer three");
}

TEST_CASE("a token file that never was readable is an error") {
  const TempDir dir;
  ClientConfig config = scripted_config();
  config.token.clear();
  config.token_file = dir.path() + "/none";
  Credentials credentials(config);
  http::Headers headers;
  const auto missing = credentials.authorize(headers, at(0));
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().render().find(config.token_file) != std::string::npos);
  dir.write("none", " \n");
  CHECK_FALSE(credentials.authorize(headers, at(0)).ok());
  dir.write("none", "now");
  CHECK(authorization(credentials, at(1)) == "Bearer now");
}

TEST_CASE("a token file that reading would wait for is an error") {
  const TempDir dir;
  ClientConfig config = scripted_config();
  config.token.clear();
  config.token_file = dir.path() + "/fifo";
  REQUIRE(::mkfifo(config.token_file.c_str(), 0600) == 0);
  const auto refused = check_token(config);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().kind() == ErrorKind::invalid);
  CHECK(refused.error().message().find(config.token_file + ": it is no regular file") !=
        std::string::npos);
}

TEST_CASE("a start without a token that is needed is a wrong configuration") {
  const TempDir dir;
  ClientConfig config = scripted_config();
  CHECK(check_token(config).ok());
  config.token.clear();
  config.token_file = dir.path() + "/none";
  const auto missing = check_token(config);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().kind() == ErrorKind::invalid);
  dir.write("none", "\n");
  CHECK_FALSE(check_token(config).ok());
  // What else is given is used until the file is there.
  config.token = "one";
  CHECK(check_token(config).ok());
  dir.write("none", "two");
  config.token.clear();
  CHECK(check_token(config).ok());
}

TEST_CASE("user name and password become basic auth and a broken token is refused unquoted") {
  ClientConfig config = scripted_config();
  config.token.clear();
  config.username = "u";
  config.password = "p";
  Credentials basic(config);
  CHECK(authorization(basic, at(0)) == "Basic dTpw");
  config.token = "a\r\nX-Evil: 1";
  Credentials broken(config);
  http::Headers headers;
  const auto refused = broken.authorize(headers, at(0));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render().find("Evil") == std::string::npos);
}

TEST_CASE("impersonation becomes headers") {
  ClientConfig config = scripted_config();
  config.impersonate = {"jane", "42", {"dev", "ops"}, {{"scopes", "a"}, {"sco/pes", "b c"}}};
  Credentials credentials(config);
  http::Headers headers;
  REQUIRE(credentials.authorize(headers, at(0)).ok());
  CHECK(headers.get("Impersonate-User") == "jane");
  CHECK(headers.get("Impersonate-Uid") == "42");
  int groups = 0;
  for (const auto& [name, value] : headers.all()) groups += name == "Impersonate-Group" ? 1 : 0;
  CHECK(groups == 2);
  CHECK(headers.get("Impersonate-Extra-scopes") == "a");
  CHECK(headers.get("Impersonate-Extra-sco%2Fpes") == "b c");
}

TEST_CASE("no credentials go over plain http but to this machine") {
  struct Case {
    const char* server;
    const char* proxy;
    bool sent;
  };
  const Case cases[] = {
      {"https://cluster", "", true},           {"http://127.0.0.1:8080", "", true},
      {"http://localhost:8080", "", true},     {"http://[::1]:8080", "", true},
      {"http://cluster:8080", "", false},      {"http://127.0.0.1.evil.example", "", false},
      {"http://127.0.0.1", "http://p", false}, {"https://127.0.0.1", "http://p", true},
  };
  for (const Case& c : cases) {
    INFO(c.server << " " << c.proxy);
    ClientConfig config = scripted_config();
    config.server = c.server;
    config.proxy_url = c.proxy;
    Credentials credentials(config);
    CHECK(credentials.withheld() == !c.sent);
    CHECK(authorization(credentials, at(0)).empty() == !c.sent);
  }
  ClientConfig anonymous;
  anonymous.server = "http://cluster";
  CHECK_FALSE(Credentials(anonymous).withheld());
}

TEST_CASE("withheld credentials are said once, without showing them") {
  CapturedLog log(0);
  ClientConfig config = scripted_config();
  config.server = "http://cluster";
  Rig rig(config);
  CHECK(log.lines.size() == 1);
  CHECK(log.all().find("http://cluster") != std::string::npos);
  CHECK(log.all().find("secret-token") == std::string::npos);
}

TEST_CASE("a 401 reads the token file again, for a second try and for the next request") {
  const TempDir dir;
  ClientConfig config = scripted_config();
  config.token_file = dir.write("token", "old");
  Rig rig(config);
  rig.transport.answer(401, "");
  rig.transport.answer(401, "");
  int refused = 0;
  const auto first = rig.client.get(kPods, {"shop", "web"}, [&](Result<Json> answer) {
    if (!answer.ok() && answer.error().is_unauthorized()) ++refused;
  });
  dir.write("token", "new");
  rig.run();
  CHECK(refused == 1);  // one second try, not more
  dir.write("token", "newest");
  const auto second = rig.client.watch(kPods, "", {}, {});
  CHECK(rig.transport.request(0).headers.get("Authorization") == "Bearer old");
  CHECK(rig.transport.request(1).headers.get("Authorization") == "Bearer new");
  CHECK(rig.transport.request(2).headers.get("Authorization") == "Bearer newest");
}

TEST_CASE("verbosity 6 shows each request but no secret") {
  CapturedLog log(6);
  Rig rig;
  rig.transport.answer(200, R"({"kind":"Secret","data":{"k":"aHVudGVyMg=="}})");
  rig.transport.fail(Error(ErrorKind::unreachable, "cluster:6443: refused"));
  const auto ignore = [](Result<Json>) {};
  const auto first = rig.client.get(kSecrets, {"shop", "s"}, ignore);
  const auto second = rig.client.get(kPods, {"shop", "web"}, ignore);
  rig.run();
  REQUIRE(log.lines.size() == 2);
  CHECK(log.lines[0].find("method=GET") != std::string::npos);
  CHECK(log.lines[0].find("https://cluster:6443/api/v1/namespaces/shop/secrets/s") !=
        std::string::npos);
  CHECK(log.lines[0].find("status=200") != std::string::npos);
  CHECK(log.lines[0].find("ms=") != std::string::npos);
  CHECK(log.lines[1].find("refused") != std::string::npos);
  CHECK(log.all().find("secret-token") == std::string::npos);
  CHECK(log.all().find("aHVudGVyMg") == std::string::npos);
}

TEST_CASE("verbosity 8 shows bodies, cut, but none of Secrets or raw requests") {
  CapturedLog log(8);
  Rig rig;
  rig.transport.answer(200, R"({"kind":"Pod","note":"visible"})");
  rig.transport.answer(200, R"({"kind":"Pod","note":")" + std::string(5000, 'y') + "\"}");
  rig.transport.answer(200, R"({"kind":"Secret","data":{"k":"aHVudGVyMg=="}})");
  rig.transport.answer(200, R"({"kind":"Secret","data":{"k":"aHVudGVyMg=="}})");
  const auto ignore = [](Result<Json>) {};
  std::vector<PendingPtr> pending;
  pending.push_back(rig.client.get(kPods, {"shop", "web"}, ignore));
  pending.push_back(rig.client.get(kPods, {"shop", "web"}, ignore));
  pending.push_back(rig.client.create(
      kSecrets, "shop", Json::parse(R"({"metadata":{"name":"s"},"stringData":{"k":"hunter2"}})"),
      {}, ignore));
  pending.push_back(
      rig.client.raw("GET", "/api/v1/namespaces/shop/secrets/s", [](Result<http::Response>) {}));
  rig.run();
  CHECK(log.all().find("visible") != std::string::npos);
  CHECK(log.all().find(std::string(1200, 'y')) == std::string::npos);
  for (const char* secret : {"secret-token", "aHVudGVyMg", "hunter2"}) {
    INFO(secret);
    CHECK(log.all().find(secret) == std::string::npos);
  }
}

TEST_CASE("what the server warns of to a write of a Secret or a token is not shown") {
  const std::string policy =
      "Validation failed for ValidatingAdmissionPolicy 'strong' with binding 'all': ";
  http::Headers headers;
  headers.add("Warning", "299 - \"" + policy + "hunter2 is weak\"");
  headers.add("Warning", "299 - \"found hunter2\"");
  const Json secret = Json::parse(R"({"metadata":{"name":"s","namespace":"shop"}})");
  const auto ignore = [](const Result<Json>&) {};
  CapturedLog log(0);
  Rig rig;
  SECTION("by a typed verb") {
    for (int i = 0; i < 3; ++i) rig.transport.answer(200, "{}", headers);
    const auto create = rig.client.create(kSecrets, "shop", secret, {}, ignore);
    const auto update = rig.client.update(kSecrets, secret, {}, ignore);
    const auto token =
        rig.client.create_below(kPods, {"shop", "web"}, "token", Json::object(), ignore);
    rig.run();
  }
  SECTION("passed on for a hook") {
    Forwarder forwarder(rig.loop, rig.transport, scripted_config());
    rig.transport.answer(200, "{}", headers);
    http::Request request;
    request.method = "PUT";
    request.url = "/api/v1/namespaces/shop/secrets/s?fieldManager=me";
    http::CallHandlers handlers;
    handlers.on_done = [](const Result<void>&) {};
    const auto call = forwarder.start(request, std::move(handlers));
    rig.run();
  }
  // That there is one, whose, and of which request.
  REQUIRE(log.lines.size() == 2);
  CHECK(log.lines[0].find(policy + "(its text is not shown") != std::string::npos);
  CHECK(log.lines[0].find("/namespaces/shop/secrets") != std::string::npos);
  CHECK(log.lines[1].find("server: (its text is not shown") != std::string::npos);
  CHECK(log.all().find("hunter2") == std::string::npos);
}

TEST_CASE(
    "what is warned of is shown where the server quotes no Secret, or who wrote it reads it") {
  CapturedLog log(0);
  Rig rig;
  const auto warns = [](const std::string& text) {
    http::Headers headers;
    headers.add("Warning", "299 - \"" + text + "\"");
    return headers;
  };
  rig.transport.answer(200, "{}", warns("of a write"));
  rig.transport.answer(200, "{}", warns("of a look"));
  const auto ignore = [](const Result<Json>&) {};
  const auto write =
      rig.client.create(kPods, "shop", Json::parse(R"({"metadata":{"name":"a"}})"), {}, ignore);
  const auto look = rig.client.get(kSecrets, {"shop", "s"}, ignore);
  rig.run();
  rig.client.show_all_warnings();
  rig.transport.answer(200, "{}", warns("of a Secret"));
  const auto mine =
      rig.client.create(kSecrets, "shop", Json::parse(R"({"metadata":{"name":"s"}})"), {}, ignore);
  rig.run();
  REQUIRE(log.lines.size() == 3);
  for (const char* text : {"of a write", "of a look", "of a Secret"}) {
    INFO(text);
    CHECK(log.all().find(text) != std::string::npos);
  }
}

TEST_CASE("several warnings in one header are shown each") {
  CapturedLog log(0);
  Rig rig;
  http::Headers headers;
  headers.add("Warning",
              R"(299 - "one, \"two\" and 299 - three" "Wed, 21 Oct 2015 07:28:00 GMT" , )"
              R"(110 proxy "stale",299 host:80 "four",, 299 - "", 299 - "five)");
  headers.add("warning", "nothing of the kind");
  rig.transport.answer(200, "{}", headers);
  const auto call = rig.client.get(kPods, {"shop", "a"}, [](const Result<Json>&) {});
  rig.run();
  REQUIRE(log.lines.size() == 3);
  CHECK(log.lines[0].ends_with("server: one, \"two\" and 299 - three"));
  CHECK(log.lines[1].ends_with("server: four"));
  CHECK(log.lines[2].ends_with("server: five"));
}

TEST_CASE("warnings of the server are shown once each") {
  CapturedLog log(0);
  Rig rig;
  http::Headers headers;
  headers.add("Warning", "299 - \"policy/v1beta1 is \\\"old\\\"\"");
  headers.add("Warning", "110 - \"stale\"");
  rig.transport.answer(200, "{}", headers);
  rig.transport.answer(200, "{}", headers);
  const auto ignore = [](Result<Json>) {};
  const auto first = rig.client.get(kPods, {"shop", "a"}, ignore);
  const auto second = rig.client.get(kPods, {"shop", "b"}, ignore);
  rig.run();
  REQUIRE(log.lines.size() == 1);
  CHECK(log.lines[0].find("policy/v1beta1 is \"old\"") != std::string::npos);
}
