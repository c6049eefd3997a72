// Tokens that are asked for, kept, renewed and written, and the kubeconfig around them.
#include "hooks/hook_credentials.hpp"

#include <sys/stat.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "client/rig.hpp"
#include "hooks/rule_folder.hpp"
#include "http/server.hpp"
#include "loop/skipping_time.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

namespace {

const CredentialsRule kRobot{CredentialsRule::Kind::service_account, "robot"};
const CredentialsRule kOurs{CredentialsRule::Kind::kubeconfig, ""};

const char* const kToken =
    R"({"kind":"TokenRequest","spec":{"expirationSeconds":3600},"status":{"token":"tok-one"}})";

client::ClientConfig config() {
  client::ClientConfig out = test::scripted_config();
  out.namespace_ = "ops";
  out.ca_pem = "CA";
  out.client_cert_pem = "CERT";
  out.client_key_pem = "KEY";
  return out;
}

struct Rig : test::Rig {
  Rig() : test::Rig(config()) {}
  // "ok", "" while it waits, or what went wrong.
  std::string prepare(const CredentialsRule& rule) {
    auto said = std::make_shared<std::string>();
    credentials.prepare(
        rule, [said](Result<void> ready) { *said = ready.ok() ? "ok" : ready.error().render(); });
    run();
    return *said;
  }
  // One was given, and a hook has failed since.
  void doubt_a_token() {
    transport.answer(201, kToken);
    REQUIRE(prepare(kRobot) == "ok");
    time.skip(Duration{33000});
    run();
    credentials.doubt(kRobot);
  }
  mode_t mode(const std::string& name) const {
    struct stat info {};
    REQUIRE(::stat(folder.file(name).c_str(), &info) == 0);
    return info.st_mode & 0777U;
  }
  std::string text(const std::string& name) const {
    auto read = base::read_file(folder.file(name), 1U << 20U);
    return read.ok() ? *read : "";
  }

  test::RuleFolder folder;
  loop::SkippingTime time{loop};
  HookCredentials credentials{client};
};

}  // namespace

TEST_CASE("a token is good for most of its life, and the next is asked for before") {
  TokenAge age;
  TimePoint now{Duration{5000}};
  CHECK_FALSE(age.usable(now));
  CHECK(age.due(now));
  age.got(now, Duration{3600000});
  CHECK(age.usable(now));
  CHECK_FALSE(age.due(now));
  now += Duration{47 * 60000};
  CHECK_FALSE(age.due(now));
  now += Duration{60000};
  CHECK(age.due(now));
  CHECK(age.usable(now));
  age.failed(now);
  CHECK_FALSE(age.due(now));
  now += Duration{30000};
  CHECK(age.due(now));
  now += Duration{10 * 60000};
  CHECK_FALSE(age.usable(now));
  CHECK(age.due(now));
}

TEST_CASE("a token with which a hook failed is asked for anew, but not again and again") {
  TokenAge age;
  TimePoint now{Duration{5000}};
  age.doubt(now);
  CHECK_FALSE(age.doubted());  // there is none
  age.got(now, Duration{3600000});
  age.doubt(now + Duration{29000});
  CHECK_FALSE(age.doubted());
  CHECK_FALSE(age.due(now + Duration{29000}));
  now += Duration{30000};
  age.doubt(now);
  CHECK(age.doubted());
  CHECK(age.usable(now));
  CHECK(age.due(now));
  age.failed(now);
  CHECK(age.usable(now));
  CHECK_FALSE(age.due(now + Duration{29000}));
  CHECK(age.due(now + Duration{30000}));
  CHECK_FALSE(age.usable(now + Duration{3600000}));  // no longer than without doubt
  age.got(now, Duration{3600000});
  CHECK_FALSE(age.doubted());
  CHECK_FALSE(age.due(now));
}

TEST_CASE("a service account's token is asked for once and written where only the hook reads it") {
  Rig rig;
  rig.transport.answer(201, kToken);
  CHECK(rig.prepare(kRobot) == "ok");
  CHECK(rig.transport.call(0).line() == "POST /api/v1/namespaces/ops/serviceaccounts/robot/token");
  const auto sent = base::parse_json(rig.transport.call(0).request().body);
  REQUIRE(sent.ok());
  CHECK((*sent)["spec"]["expirationSeconds"] == 3600);
  CHECK(rig.prepare(kRobot) == "ok");
  CHECK(rig.transport.size() == 1);

  const auto written = rig.credentials.write(kRobot, rig.folder.path());
  REQUIRE(written.ok());
  CHECK(written->variables ==
        std::vector<std::string>{"KUBECONFIG=" + rig.folder.file("kubeconfig")});
  CHECK(written->secrets == std::vector<std::string>{"tok-one"});
  CHECK(rig.mode("kubeconfig") == 0600);
  CHECK(rig.mode("token") == 0600);
  CHECK(rig.text("token") == "tok-one");
  client::ConfigOverrides overrides;
  overrides.kubeconfig = rig.folder.file("kubeconfig");
  const auto loaded = client::load_config(overrides, {});
  REQUIRE(loaded.ok());
  CHECK(loaded->server == "https://cluster:6443");
  CHECK(loaded->namespace_ == "ops");
  CHECK(loaded->token_file == rig.folder.file("token"));
  // Nothing of our own identity.
  CHECK(loaded->client_key_pem.empty());
  CHECK(rig.text("kubeconfig").find("secret-token") == std::string::npos);
}

TEST_CASE("a token that is refused fails the run with the account's name and the server's words") {
  Rig rig;
  rig.transport.answer(
      404, R"({"kind":"Status","code":404,"reason":"NotFound","message":"no such robot"})");
  const std::string said = rig.prepare(kRobot);
  CHECK(said.find("no token for service account robot in namespace ops") != std::string::npos);
  CHECK(said.find("no such robot") != std::string::npos);
  rig.transport.answer(201, R"({"kind":"TokenRequest","status":{}})");
  CHECK(rig.prepare(kRobot).find("holds no token") != std::string::npos);
  rig.transport.answer(201, kToken);
  CHECK(rig.prepare(kRobot) == "ok");
}

TEST_CASE("a hook that fails costs no run its token while the server gives no other one") {
  Rig rig;
  rig.doubt_a_token();
  std::vector<std::string> log;
  base::capture_log(&log);
  rig.transport.answer(403, R"({"kind":"Status","code":403,"reason":"Forbidden","message":"no"})");
  CHECK(rig.prepare(kRobot) == "ok");
  base::capture_log(nullptr);
  CHECK(rig.transport.size() == 2);
  REQUIRE(log.size() == 1);
  CHECK(log[0].find("no token for service account robot in namespace ops") != std::string::npos);
  const auto written = rig.credentials.write(kRobot, rig.folder.path());
  REQUIRE(written.ok());
  CHECK(written->secrets == std::vector<std::string>{"tok-one"});
  // Nor is the server asked for each run.
  rig.credentials.doubt(kRobot);
  CHECK(rig.prepare(kRobot) == "ok");
  CHECK(rig.transport.size() == 2);
  rig.time.skip(Duration{30000});
  rig.run();
  rig.transport.answer(201, R"({"kind":"TokenRequest","status":{"token":"tok-two"}})");
  CHECK(rig.prepare(kRobot) == "ok");
  CHECK(rig.credentials.secrets(kRobot) == std::vector<std::string>{"tok-two"});
}

TEST_CASE("runs wait for the token that follows one in doubt") {
  Rig rig;
  rig.doubt_a_token();
  int ready = 0;
  for (int i = 0; i < 2; ++i) {
    rig.credentials.prepare(kRobot, [&](const Result<void>& got) { ready += got.ok() ? 1 : 0; });
  }
  CHECK(ready == 0);
  REQUIRE(rig.transport.size() == 2);
  rig.transport.call(1).head(201);
  rig.transport.call(1).data(R"({"kind":"TokenRequest","status":{"token":"tok-two"}})");
  rig.transport.call(1).end();
  rig.run();
  CHECK(ready == 2);
  CHECK(rig.credentials.secrets(kRobot) == std::vector<std::string>{"tok-two"});
}

TEST_CASE("runs that start together share one request for a token") {
  Rig rig;
  int ready = 0;
  for (int i = 0; i < 3; ++i) {
    rig.credentials.prepare(kRobot, [&](const Result<void>& got) { ready += got.ok() ? 1 : 0; });
  }
  CHECK(ready == 0);
  REQUIRE(rig.transport.size() == 1);
  rig.transport.call(0).head(201);
  rig.transport.call(0).data(kToken);
  rig.transport.call(0).end();
  rig.run();
  CHECK(ready == 3);
}

TEST_CASE("a worker's home gets a renewed token, and only then") {
  Rig rig;
  rig.transport.answer(201, kToken);
  CHECK(rig.prepare(kRobot) == "ok");
  REQUIRE(rig.credentials.write(kRobot, rig.folder.path()).ok());
  CHECK(rig.credentials.refresh(kRobot, rig.folder.path()) == std::vector<std::string>{"tok-one"});
  rig.folder.write("token", "touched");
  CHECK(rig.credentials.refresh(kRobot, rig.folder.path()).empty());
  CHECK(rig.text("token") == "touched");
  rig.credentials.forget(rig.folder.path());
  CHECK_FALSE(rig.credentials.refresh(kRobot, rig.folder.path()).empty());
  CHECK(rig.text("token") == "tok-one");
  CHECK(rig.credentials.refresh(kOurs, rig.folder.path()).empty());
}

TEST_CASE("what a cleaner of temporary folders took of a home is written again") {
  Rig rig;
  rig.transport.answer(201, kToken);
  CHECK(rig.prepare(kRobot) == "ok");
  const std::string home = rig.folder.file("home");
  REQUIRE(::mkdir(home.c_str(), 0700) == 0);
  const auto text = [&](const char* name) { return rig.text("home/" + std::string(name)); };
  for (const CredentialsRule& rule : {kRobot, kOurs}) {
    INFO(rule.service_account);
    REQUIRE(rig.credentials.write_kept(rule, home).ok());
    rig.credentials.refresh(rule, home);
    const std::string kubeconfig = text("kubeconfig");
    REQUIRE_FALSE(kubeconfig.empty());
    std::filesystem::remove(home + "/kubeconfig");
    rig.credentials.refresh(rule, home);
    CHECK(text("kubeconfig") == kubeconfig);
    std::filesystem::remove_all(home);
    rig.credentials.refresh(rule, home);
    CHECK(text("kubeconfig") == kubeconfig);
    CHECK(rig.mode("home") == 0700);
    CHECK((rule.kind == kOurs.kind || text("token") == "tok-one"));
  }
}

TEST_CASE("credentials kubeconfig is who we are, impersonation included") {
  client::ClientConfig ours = config();
  ours.impersonate.user = "jane";
  ours.impersonate.uid = "u1";
  ours.impersonate.groups = {"dev", "ops"};
  ours.impersonate.extra = {{"scopes", "a"}, {"scopes", "b"}};
  test::Rig rig(ours);
  HookCredentials credentials(rig.client);
  const test::RuleFolder folder;
  bool ready = false;
  credentials.prepare(kOurs, [&](const Result<void>& got) { ready = got.ok(); });
  CHECK(ready);
  const auto written = credentials.write(kOurs, folder.path());
  REQUIRE(written.ok());
  const auto& secrets = written->secrets;
  CHECK(std::find(secrets.begin(), secrets.end(), "secret-token") != secrets.end());
  client::ConfigOverrides overrides;
  overrides.kubeconfig = folder.file("kubeconfig");
  const auto loaded = client::load_config(overrides, {});
  REQUIRE(loaded.ok());
  CHECK(loaded->token == "secret-token");
  CHECK(loaded->client_key_pem == "KEY");
  CHECK(loaded->impersonate.user == "jane");
  CHECK(loaded->impersonate.uid == "u1");
  CHECK(loaded->impersonate.groups == ours.impersonate.groups);
  CHECK(loaded->impersonate.extra == ours.impersonate.extra);
}

TEST_CASE("who logs in by a program or an identity provider gives neither to a service account") {
  client::ClientConfig ours = config();
  ours.tls_server_name = "api.example";
  ours.exec.emplace();
  ours.exec->command = "login";
  ours.exec->arguments = {"get-token", "--client-secret=arg-one", "--password", "arg-two", "--env",
                          "production"};
  ours.exec->environment = {{"AAD_CLIENT_SECRET", "env-secret"}, {"AWS_PROFILE", "production"}};
  ours.exec->entry = R"({"command":"login","args":["--client-secret=arg-one"]})";
  ours.oidc.emplace();
  ours.oidc->client_secret = "oidc-secret";
  ours.oidc->refresh_token = "oidc-refresh";
  ours.oidc->id_token = "oidc-id";
  ours.oidc->entry = R"({"name":"oidc","config":{"refresh-token":"oidc-refresh"}})";
  test::Rig rig(ours);
  rig.transport.route("POST", "/api/v1/namespaces/ops/serviceaccounts/robot/token", 201, kToken);
  test::RuleFolder folder;
  HookCredentials credentials(rig.client);
  bool ready = false;
  credentials.prepare(kRobot, [&](Result<void> outcome) { ready = outcome.ok(); });
  rig.run();
  REQUIRE(ready);
  REQUIRE(credentials.write(kRobot, folder.path()).ok());
  const auto text = base::read_file(folder.file("kubeconfig"), 1U << 20U);
  REQUIRE(text.ok());
  CHECK(text->find("tls-server-name: api.example") != std::string::npos);
  for (const char* secret : {"exec", "login", "arg-one", "oidc", "auth-provider"}) {
    CAPTURE(secret);
    CHECK(text->find(secret) == std::string::npos);
  }
  const auto known = credentials.secrets(kOurs);
  const auto knows = [&](const std::string& value) {
    return std::find(known.begin(), known.end(), value) != known.end();
  };
  for (const char* secret :
       {"arg-one", "arg-two", "env-secret", "oidc-secret", "oidc-refresh", "oidc-id"}) {
    CAPTURE(secret);
    CHECK(knows(secret));
  }
  CHECK_FALSE(knows("production"));
}

TEST_CASE("hooks find the certificates that were rotated since the start") {
  const test::RuleFolder files;
  const auto next = http::generate_certificate({"localhost"}, {}).value();
  client::ClientConfig ours = config();
  ours.ca_file = files.write("ca.crt", "CA");
  ours.client_cert_file = files.write("tls.crt", "CERT");
  ours.client_key_file = files.write("tls.key", "KEY");
  test::Rig rig(ours);
  rig.transport.answer(201, kToken);
  HookCredentials credentials(rig.client);
  bool ready = false;
  credentials.prepare(kRobot, [&](Result<void> outcome) { ready = outcome.ok(); });
  rig.run();
  REQUIRE(ready);
  const auto found_in = [&](const test::RuleFolder& home) {
    client::ConfigOverrides overrides;
    overrides.kubeconfig = home.file("kubeconfig");
    const auto loaded = client::load_config(overrides, {});
    REQUIRE(loaded.ok());
    return loaded->ca_pem + "," + loaded->client_cert_pem + "," + loaded->client_key_pem;
  };
  const test::RuleFolder home;
  const test::RuleFolder of_robot;
  const auto write_both = [&] {
    REQUIRE(credentials.write_kept(kOurs, home.path()).ok());
    REQUIRE(credentials.write_kept(kRobot, of_robot.path()).ok());
  };
  write_both();
  CHECK(found_in(home) == "CA,CERT,KEY");
  CHECK(found_in(of_robot) == "CA,,");
  files.write("ca.crt", next.ca_pem);
  files.write("tls.crt", next.certificate_pem);
  files.write("tls.key", next.key_pem);
  SECTION("runs that start now") {
    write_both();
    const auto known = credentials.secrets(kOurs);
    CHECK(std::find(known.begin(), known.end(), next.key_pem) != known.end());
  }
  SECTION("runs that start while a file is being replaced") {
    write_both();
    files.write("tls.crt", "");
    write_both();
  }
  SECTION("workers that live on") {
    const auto known = credentials.refresh(kOurs, home.path());
    CHECK(std::find(known.begin(), known.end(), next.key_pem) != known.end());
    credentials.refresh(kRobot, of_robot.path());
  }
  CHECK(found_in(home) == next.ca_pem + "," + next.certificate_pem + "," + next.key_pem);
  CHECK(found_in(of_robot) == next.ca_pem + ",,");
}

TEST_CASE("of a home that nobody renews nothing is remembered") {
  const test::RuleFolder files;
  client::ClientConfig ours = config();
  ours.ca_file = files.write("ca.crt", "CA");
  test::Rig rig(ours);
  HookCredentials credentials(rig.client);
  const test::RuleFolder home;
  REQUIRE(credentials.write(kOurs, home.path()).ok());
  CHECK(credentials.kept() == 0);
  REQUIRE(credentials.write_kept({}, home.path()).ok());
  CHECK(credentials.kept() == 0);
  REQUIRE(credentials.write_kept(kOurs, home.path()).ok());
  CHECK(credentials.kept() == 1);
  credentials.forget(home.path());
  CHECK(credentials.kept() == 0);
}

TEST_CASE("hooks and workers get the tokens that an identity provider has given since") {
  const test::RuleFolder files;
  const auto kubeconfig = [&](const std::string& tokens) {
    return files.write("config", R"({"users":[{"name":"me","user":{"auth-provider":{"name":"oidc",
      "config":{"idp-issuer-url":"https://idp","client-id":"c",)" +
                                     tokens + "}}}}]}");
  };
  client::ClientConfig ours = config();
  ours.token.clear();
  ours.client_cert_pem.clear();
  ours.oidc.emplace();
  ours.oidc->user = "me";
  ours.oidc->file = kubeconfig(R"("id-token":"id-token-1","refresh-token":"refresh-1")");
  ours.oidc->id_token = "id-token-1";
  ours.oidc->refresh_token = "refresh-1";
  ours.oidc->entry = R"({"name":"oidc","config":{"idp-issuer-url":"https://idp","client-id":"c",
    "id-token":"id-token-1","refresh-token":"refresh-1"}})";
  test::Rig rig(ours);
  HookCredentials credentials(rig.client);
  const test::RuleFolder home;
  const auto has = [&](const std::string& token) {
    return base::read_file(home.file("kubeconfig"), 1U << 20U)->find(token) != std::string::npos;
  };
  REQUIRE(credentials.write(kOurs, home.path()).ok());
  CHECK(has("refresh-1"));
  kubeconfig(R"("id-token":"id-token-2","refresh-token":"refresh-2")");
  REQUIRE(credentials.write(kOurs, home.path()).ok());
  CHECK(has("id-token-2"));
  CHECK(has("refresh-2"));
  CHECK_FALSE(has("refresh-1"));
  REQUIRE(credentials.write_kept(kOurs, home.path()).ok());
  home.write("kubeconfig", "as kubectl renewed it");
  CHECK(credentials.refresh(kOurs, home.path()).empty());
  CHECK(has("as kubectl renewed it"));
  kubeconfig(R"("id-token":"id-token-3","refresh-token":"refresh-3")");
  const auto known = credentials.refresh(kOurs, home.path());
  CHECK(has("refresh-3"));
  for (const char* secret : {"id-token-1", "id-token-3", "refresh-3"}) {
    CAPTURE(secret);
    CHECK(std::find(known.begin(), known.end(), secret) != known.end());
  }
}

TEST_CASE("what a token file holds is known as a secret, renewed or not") {
  test::RuleFolder files;
  client::ClientConfig from_file = config();
  from_file.token_file = files.write("token", "token-of-the-pod\n");
  from_file.username = "me";
  from_file.password = "password";
  test::Rig rig(from_file);
  HookCredentials credentials(rig.client);
  const auto knows = [](const std::vector<std::string>& secrets, const std::string& value) {
    return std::find(secrets.begin(), secrets.end(), value) != secrets.end();
  };
  const auto written = credentials.write(kOurs, files.path());
  REQUIRE(written.ok());
  CHECK(knows(written->secrets, "token-of-the-pod"));
  CHECK(knows(written->secrets, base::base64_encode("me:password")));
  files.write("token", "token-of-tomorrow");
  CHECK(knows(credentials.secrets(kOurs), "token-of-tomorrow"));
}

TEST_CASE("the password of a proxy that a hook is handed is known as a secret") {
  const auto known_of = [](const std::string& proxy) {
    client::ClientConfig behind = config();
    behind.proxy_url = proxy;
    test::Rig rig(behind);
    return HookCredentials(rig.client).secrets(kOurs);
  };
  const auto knows = [](const std::vector<std::string>& secrets, const std::string& value) {
    return std::find(secrets.begin(), secrets.end(), value) != secrets.end();
  };
  const auto secrets = known_of("http://me:pass%40word@proxy:3128");
  CHECK(knows(secrets, "pass%40word"));
  CHECK(knows(secrets, "pass@word"));
  CHECK(knows(secrets, base::base64_encode("me:pass@word")));
  CHECK_FALSE(knows(known_of("http://me@proxy:3128"), "me"));
  CHECK_FALSE(knows(known_of("http://proxy:3128"), "proxy:3128"));
}

TEST_CASE("credentials none hands over nothing") {
  Rig rig;
  CHECK(rig.prepare({}) == "ok");
  const auto written = rig.credentials.write({}, rig.folder.path());
  REQUIRE(written.ok());
  CHECK(written->variables.empty());
  CHECK(rig.text("kubeconfig").empty());
}
