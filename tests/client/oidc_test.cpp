// Logins by OpenID Connect: what the tokens say, what is asked of the issuer, what is kept.
#include "client/oidc.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <optional>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "support/catch.hpp"
#include "support/limit.hpp"
#include "support/scripted_transport.hpp"
#include "temp_dir.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using namespace kubewatch::test;

namespace {

std::string token_until(WallTime at, const std::string& mark = "") {
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(at.time_since_epoch()).count();
  return "h." + base::base64url_encode(Json{{"exp", seconds}, {"mark", mark}}.dump()) + ".s";
}

std::string kubeconfig_with(const std::string& id_token, const std::string& refresh_token) {
  return base::dump_yaml(
      Json{{"kind", "Config"},
           {"users",
            {{{"name", "eve"}, {"user", {{"token", "x"}}}},
             {{"name", "me"},
              {"user",
               {{"auth-provider",
                 {{"name", "oidc"},
                  {"config", {{"id-token", id_token}, {"refresh-token", refresh_token}}}}}}}}}}});
}

struct World {
  World() {
    file = folder.write("config", kubeconfig_with("old", "r1"));
    ::chmod(file.c_str(), 0640);
    login.issuer = "https://idp/realm/";
    login.client_id = "kube watch";
    login.client_secret = "s&cret";
    login.refresh_token = "r1";
    login.file = file;
    login.user = "me";
  }
  Result<Login> fetch(bool refused = false) {
    if (!source) {
      auto scripted = std::make_unique<ScriptedTransport>(loop);
      wire = scripted.get();
      wire->route("GET", "/realm/.well-known/openid-configuration", 200, configuration);
      wire->route("POST", "/token", status, tokens);
      source = make_oidc_source(loop, login, std::move(scripted));
    }
    std::optional<Result<Login>> out;
    source->fetch(refused, [&](Result<Login> given) { out.emplace(std::move(given)); });
    CHECK_FALSE(out.has_value());
    REQUIRE(loop.run_until([&] { return out.has_value(); }, kLimit));
    return std::move(*out);
  }

  TempDir folder;
  std::string file;
  loop::EventLoop loop;
  OidcLogin login;
  std::string configuration =
      R"({"issuer":"https://idp/realm","token_endpoint":"https://idp/token"})";
  int status = 200;
  std::string tokens;
  ScriptedTransport* wire = nullptr;
  std::unique_ptr<LoginSource> source;
};

}  // namespace

TEST_CASE("a token says itself when it expires") {
  const auto at = *base::parse_rfc3339("2026-01-02T03:04:05Z");
  CHECK(token_expiry(token_until(at)) == at);
  for (const std::string text : {"", "a.b", "a.b.c", "a.e30.c", "a.bnVsbA.c",
                                 "h.eyJleHAiOjFlMzB9.s", "h.eyJleHAiOi0xfQ.s"}) {
    INFO(text);
    CHECK_FALSE(token_expiry(text).has_value());
  }
}

TEST_CASE("a token that is still good is used without asking anybody") {
  World w;
  w.login.id_token = token_until(w.loop.wall() + std::chrono::hours(1));
  const auto login = w.fetch();
  REQUIRE(login.ok());
  CHECK(login->token == w.login.id_token);
  CHECK(login->expires == token_expiry(w.login.id_token));
  CHECK(w.wire->size() == 0);
}

TEST_CASE("an expired token is renewed at the issuer, and the kubeconfig keeps the new ones") {
  World w;
  w.login.id_token = token_until(w.loop.wall() - std::chrono::hours(1));
  const std::string fresh = token_until(w.loop.wall() + std::chrono::hours(1), "new");
  w.tokens = Json{{"id_token", fresh}, {"refresh_token", "r2"}}.dump();
  auto login = w.fetch();
  REQUIRE(login.ok());
  CHECK(login->token == fresh);
  REQUIRE(w.wire->size() == 2);
  const auto& request = w.wire->request(1);
  CHECK(request.url == "https://idp/token");
  CHECK(request.body == "grant_type=refresh_token&refresh_token=r1");
  CHECK(request.headers.get("Authorization") ==
        "Basic " + base::base64_encode("kube%20watch:s%26cret"));
  const auto kept = base::parse_yaml_values(*base::read_file(w.file, 1U << 20U));
  REQUIRE(kept.ok());
  CHECK(kept->front() == base::parse_yaml_values(kubeconfig_with(fresh, "r2"))->front());
  struct stat status {};
  ::stat(w.file.c_str(), &status);
  CHECK((status.st_mode & 0777) == 0640);
  CHECK_FALSE(std::filesystem::exists(w.file + ".lock"));
  // Refused, although it says that it is good: with the new refresh token.
  login = w.fetch(true);
  REQUIRE(login.ok());
  CHECK(w.wire->last().request().body == "grant_type=refresh_token&refresh_token=r2");
}

TEST_CASE("tokens that somebody else has renewed meanwhile are taken from the kubeconfig") {
  World w;
  w.login.id_token = token_until(w.loop.wall() - std::chrono::hours(1));
  const std::string theirs = token_until(w.loop.wall() + std::chrono::hours(1), "theirs");
  w.folder.write("config", kubeconfig_with(theirs, "r7"));
  auto login = w.fetch();
  REQUIRE(login.ok());
  CHECK(login->token == theirs);
  CHECK(w.wire->size() == 0);
  // Refused all the same: renewed, with the refresh token that is valid now.
  const std::string fresh = token_until(w.loop.wall() + std::chrono::hours(1), "fresh");
  w.wire->route("POST", "/token", 200, Json{{"id_token", fresh}}.dump());
  login = w.fetch(true);
  REQUIRE(login.ok());
  CHECK(login->token == fresh);
  CHECK(w.wire->last().request().body == "grant_type=refresh_token&refresh_token=r7");
}

TEST_CASE("a public client names itself in the form") {
  OidcLogin login;
  login.client_id = "me";
  login.refresh_token = "r";
  const auto request = refresh_request(login, "https://idp/token");
  CHECK(request.body == "grant_type=refresh_token&refresh_token=r&client_id=me");
  CHECK_FALSE(request.headers.has("Authorization"));
}

TEST_CASE("a client that an issuer refuses by its header names itself once in the form") {
  World w;
  w.status = 401;
  w.tokens = R"({"error":"invalid_client"})";
  const auto refused = w.fetch();
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render().find("401: invalid_client") != std::string::npos);
  REQUIRE(w.wire->size() == 3);  // not a third time
  CHECK(w.wire->request(1).headers.has("Authorization"));
  CHECK_FALSE(w.wire->request(2).headers.has("Authorization"));
  CHECK(w.wire->request(2).body ==
        "grant_type=refresh_token&refresh_token=r1&client_id=kube%20watch&client_secret=s%26cret");
  // The way that was taken is the first one from then on.
  const std::string fresh = token_until(w.loop.wall() + std::chrono::hours(1));
  w.wire->route("POST", "/token", 200, Json{{"id_token", fresh}}.dump());
  CHECK(w.fetch().ok());
  REQUIRE(w.wire->size() == 5);
  CHECK(w.wire->request(4).body.find("client_secret=") != std::string::npos);
  CHECK(w.fetch(true).ok());
  CHECK(w.wire->last().request().body.find("client_secret=") != std::string::npos);
}

TEST_CASE("only a client with a secret that was refused itself says it in another way") {
  CHECK(refuses_client(401, ""));
  CHECK(refuses_client(400, R"({"error":"invalid_client"})"));
  CHECK(refuses_client(400, R"({"error":"invalid_request"})"));
  CHECK_FALSE(refuses_client(400, R"({"error":"invalid_grant"})"));
  CHECK_FALSE(refuses_client(200, ""));
  CHECK_FALSE(refuses_client(503, R"({"error":"invalid_client"})"));
  World w;
  w.login.client_secret.clear();
  w.status = 401;
  w.tokens = R"({"error":"invalid_client"})";
  CHECK_FALSE(w.fetch().ok());
  CHECK(w.wire->size() == 2);
}

TEST_CASE("the login goes on when somebody else holds the kubeconfig") {
  World w;
  w.folder.write("config.lock", "");
  const std::string fresh = token_until(w.loop.wall() + std::chrono::hours(1));
  w.tokens = Json{{"id_token", fresh}}.dump();
  CHECK(w.fetch().ok());
  CHECK(*base::read_file(w.file, 1U << 20U) == kubeconfig_with("old", "r1"));
  CHECK(std::filesystem::exists(w.file + ".lock"));
}

TEST_CASE("an issuer that does not renew is named, and its tokens are not") {
  struct Case {
    std::string configuration;
    int status;
    std::string tokens;
    std::string wanted;
  };
  const std::string good = World().configuration;
  const Case cases[] = {
      {"no", 200, "",
       "OpenID Connect issuer https://idp/realm/: its openid-configuration is not "
       "JSON"},
      {R"({"issuer":"https://other"})", 200, "",
       "OpenID Connect issuer https://idp/realm/: its openid-configuration is of another issuer"},
      {R"({"issuer":"https://idp/realm","token_endpoint":"http://idp"})", 200, "",
       "OpenID Connect issuer https://idp/realm/: its token_endpoint is missing or not https"},
      {good, 400, R"({"error":"invalid_grant","id_token":"s3cret"})",
       "OpenID Connect issuer https://idp/realm/: the refresh token is answered 400: "
       "invalid_grant"},
      {good, 200, R"({"id_token":"s3cret"})",
       "OpenID Connect issuer https://idp/realm/: it gave no ID token that says when it expires"},
  };
  for (const Case& c : cases) {
    World w;
    w.configuration = c.configuration;
    w.status = c.status;
    w.tokens = c.tokens;
    const auto login = w.fetch();
    REQUIRE_FALSE(login.ok());
    CHECK(login.error().is_unauthorized());
    CHECK(login.error().render() == c.wanted);
  }
  World w;
  w.login.refresh_token.clear();
  CHECK(w.fetch().error().render() == "the ID token of me in " + w.file +
                                          " is no longer valid, and there is no refresh-token: "
                                          "log in again");
}
