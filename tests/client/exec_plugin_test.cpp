// The contract with programs that log in, and their runs as real processes.
#include "client/exec_plugin.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/json.hpp"
#include "client/exec_source.hpp"
#include "client/login_waits.hpp"
#include "loop/process.hpp"
#include "support/catch.hpp"
#include "temp_dir.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using kubewatch::test::TempDir;

namespace {

constexpr const char* kV1 = "client.authentication.k8s.io/v1";

ExecPlugin plugin_of(const std::string& command) {
  ExecPlugin out;
  out.api_version = kV1;
  out.command = command;
  out.interactive = ExecPlugin::Interactive::never;
  return out;
}

std::string credential(const std::string& status, const std::string& version = kV1) {
  return R"({"apiVersion":")" + version + R"(","kind":"ExecCredential","status":)" + status + "}";
}

std::string script(const TempDir& folder, const std::string& name, const std::string& body) {
  const std::string file = folder.write(name, "#!/bin/sh\n" + body);
  ::chmod(file.c_str(), 0700);
  return file;
}

// One run of the program.
Result<Login> run(const ExecPlugin& plugin) {
  loop::EventLoop loop;
  ClientConfig config;
  config.server = "https://cluster:6443";
  config.ca_pem = "CA";
  config.exec = plugin;
  const auto source = make_exec_source(loop, config);
  std::optional<Result<Login>> login;
  source->fetch(false, [&](Result<Login> given) { login.emplace(std::move(given)); });
  CHECK_FALSE(login.has_value());
  REQUIRE(loop.run_until([&] { return login.has_value(); }, Duration{20000}));
  return std::move(*login);
}

}  // namespace

TEST_CASE("a credential has a token, a certificate with its key, or both, and may expire") {
  const ExecPlugin plugin = plugin_of("aws");
  auto login = parse_exec_credential(
      plugin, credential(R"({"token":"t","expirationTimestamp":"2026-01-02T03:04:05Z"})"));
  REQUIRE(login.ok());
  CHECK(login->token == "t");
  CHECK(login->expires == *base::parse_rfc3339("2026-01-02T03:04:05Z"));
  login = parse_exec_credential(plugin,
                                credential(R"({"clientCertificateData":"C","clientKeyData":"K"})"));
  REQUIRE(login.ok());
  CHECK(login->client_cert_pem == "C");
  CHECK(login->client_key_pem == "K");
  CHECK_FALSE(login->expires.has_value());
}

TEST_CASE(
    "a credential that expires at Go's zero time does not expire, in whatever zone it says so") {
  for (const char* zero : {"0001-01-01T00:00:00Z", "0001-01-01T01:00:00+01:00"}) {
    INFO(zero);
    const auto login = parse_exec_credential(
        plugin_of("aws"),
        credential(std::string(R"({"token":"t","expirationTimestamp":")") + zero + R"("})"));
    REQUIRE(login.ok());
    CHECK_FALSE(login->expires.has_value());
  }
}

TEST_CASE("a credential may be YAML, of one document") {
  const ExecPlugin plugin = plugin_of("aws");
  const std::string text = std::string("apiVersion: ") + kV1 +
                           "\nkind: ExecCredential\nstatus:\n  token: t\n"
                           "  expirationTimestamp: 2026-01-02T03:04:05Z\n";
  for (const std::string& output : {text, "---\n" + text, "# of mine\n---\n" + text + "...\n"}) {
    INFO(output);
    const auto login = parse_exec_credential(plugin, output);
    REQUIRE(login.ok());
    CHECK(login->token == "t");
    CHECK(login->expires == *base::parse_rfc3339("2026-01-02T03:04:05Z"));
  }
}

TEST_CASE("output that is no credential is refused without being repeated") {
  const ExecPlugin plugin = plugin_of("aws");
  const std::string name = "exec: executable aws: ";
  const std::string not_json =
      name + "its output is neither JSON nor YAML of one object of kind ExecCredential";
  const std::string not_kind = name + "its output is no ExecCredential of " + kV1;
  const std::pair<std::string, std::string> cases[] = {
      {"", not_json},
      {"s3cret", not_json},
      {"[]", not_json},
      {"- token: s3cret", not_json},
      {"kind: ExecCredential\n---\nkind: ExecCredential\nstatus: {token: s3cret}\n", not_json},
      {"kind: ExecCredential\nstatus: {token: s3cret\n", not_json},
      {"status: {token: s3cret}\n", not_kind},
      {std::string("kind: ExecCredential\napiVersion: ") + kV1 + "\nstatus: {token: [s3cret]}\n",
       name + "it gave neither a token nor a client certificate"},
      {R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"Secret"})", not_kind},
      {credential(R"({"token":"s3cret"})", "client.authentication.k8s.io/v1beta1"), not_kind},
      {credential("{}"), name + "it gave neither a token nor a client certificate"},
      {credential(R"({"clientKeyData":"s3cret"})"),
       name + "it gave one of clientCertificateData and clientKeyData without the other"},
      {credential(R"({"token":"s3cret\nX: y"})"),
       name + "its token holds spaces, control or non-ASCII characters"},
      {credential(R"({"token":"s3cret","expirationTimestamp":"soon"})"),
       name + "its expirationTimestamp is no time"},
  };
  for (const auto& [output, wanted] : cases) {
    INFO(output);
    const auto login = parse_exec_credential(plugin, output);
    REQUIRE_FALSE(login.ok());
    CHECK(login.error().render() == wanted);
    CHECK(login.error().render().find("s3cret") == std::string::npos);
  }
}

TEST_CASE("what a plugin says is shown, but for lines that may hold what it gave") {
  for (const char* line :
       {"To sign in, open https://login.example/device and enter ABCD-EFGH", "", "the cache is old",
        "Password: ", "error: token expired, please run: aws sso login",
        "To get a token: open https://login.example/device and enter code ABCD"}) {
    CHECK(shown_plugin_line(line) == line);
  }
  for (const char* line :
       {"+ TOKEN=s3cret", "{\"kind\": \"ExecCredential\", \"status\": {}}", "\"token\": \"s3cret\"",
        "> Authorization: Bearer s3cret", "-----BEGIN EC PRIVATE KEY-----",
        "MHcCAQEEIBbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbboAoGCCqGSM49AwEH",
        "got eyJhbGciOiJub25lIn0.e30.", "clientKeyData: s3cret", "password: s3cret",
        "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI", "TOKEN = s3cr3t", "secretAccessKey: abc",
        "running login --token abc", "Authorization: Basic YTpi", "api_key=abc",
        "{\\\"token\\\": \\\"abc\\\"}", "curl -u admin:s3cret https://x",
        "GET https://me:pw@host/"}) {
    CHECK(shown_plugin_line(line) == "(a line that may hold a credential is not shown)");
  }
  CHECK(shown_plugin_line("GET https://host:8443/a@b") == "GET https://host:8443/a@b");
  ExecPlugin plugin = plugin_of("aws");
  plugin.environment = {{"LOGIN", "s3cret-value"}, {"PROFILE", "prod"}};
  CHECK(shown_plugin_line(plugin, "using s3cret-value").find("s3cret") == std::string::npos);
  CHECK(shown_plugin_line(plugin, "no profile prod") == "no profile prod");
}

TEST_CASE("a plugin is told the cluster only when it asks") {
  ClientConfig config;
  config.server = "https://cluster:6443";
  config.ca_pem = "CA";
  config.tls_server_name = "cluster.example";
  ExecPlugin plugin = plugin_of("aws");
  CHECK(exec_info(plugin, config, false) ==
        R"({"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential",)"
        R"("spec":{"interactive":false}})");
  plugin.provide_cluster_info = true;
  plugin.cluster_config = R"({"audience":"x"})";
  const Json info = Json::parse(exec_info(plugin, config, true));
  CHECK(info["spec"]["interactive"] == true);
  CHECK(info["spec"]["cluster"] == Json({{"server", "https://cluster:6443"},
                                         {"tls-server-name", "cluster.example"},
                                         {"certificate-authority-data", "Q0E="},
                                         {"config", {{"audience", "x"}}}}));
}

TEST_CASE("who must talk with a person needs a terminal") {
  ExecPlugin plugin = plugin_of("login");
  CHECK_FALSE(*is_interactive(plugin, true));
  plugin.interactive = ExecPlugin::Interactive::if_available;
  CHECK(*is_interactive(plugin, true));
  CHECK_FALSE(*is_interactive(plugin, false));
  plugin.interactive = ExecPlugin::Interactive::always;
  CHECK(*is_interactive(plugin, true));
  CHECK(is_interactive(plugin, false).error().render() ==
        "exec: executable login: it must talk with a person, and standard input is no terminal");
}

TEST_CASE("a program is found in absolute folders of PATH, never in the one that we stand in") {
  const TempDir folder;
  const std::string file = script(folder, "my-login", "exit 0\n");
  ExecPlugin plugin = plugin_of("my-login");
  CHECK(*find_plugin(plugin, "/nowhere:" + folder.path()) == file);
  plugin.install_hint = "get it from your administrator";
  for (const std::string path : {"", ".", ":", "relative"}) {
    const auto found = find_plugin(plugin, path);
    REQUIRE_FALSE(found.ok());
    CHECK(found.error().render() ==
          "exec: executable my-login not found\n  get it from your administrator");
  }
  folder.write("not-executable", "x");
  CHECK_FALSE(find_plugin(plugin_of("not-executable"), folder.path()).ok());
}

TEST_CASE("kubectl's policy for plugins holds here as well") {
  const ExecPlugin aws = plugin_of("aws");
  const auto check = [&](const std::string& text) {
    const auto policy = parse_plugin_policy("kuberc", text);
    REQUIRE(policy.ok());
    return check_policy(*policy, aws, "/usr/bin/aws", "/usr/bin");
  };
  CHECK(check("{}").ok());
  CHECK(check("credentialPluginPolicy: AllowAll").ok());
  CHECK(
      check("{credentialPluginPolicy: Allowlist, credentialPluginAllowlist: [{name: aws}]}").ok());
  CHECK(check("{credentialPluginPolicy: Allowlist, "
              "credentialPluginAllowlist: [{command: /usr/bin/aws}]}")
            .ok());
  const auto denied = check("credentialPluginPolicy: DenyAll");
  REQUIRE_FALSE(denied.ok());
  CHECK(denied.error().render() ==
        "exec: executable aws may not run: credentialPluginPolicy DenyAll of kuberc");
  CHECK_FALSE(check("{credentialPluginPolicy: Allowlist, "
                    "credentialPluginAllowlist: [{name: /opt/aws}]}")
                  .ok());
  CHECK_FALSE(parse_plugin_policy("kuberc", "credentialPluginPolicy: DenyAl").ok());
  // The first document that says something decides, as in kubectl.
  CHECK_FALSE(check("a: 1\n---\ncredentialPluginPolicy: DenyAll\n---\n"
                    "credentialPluginPolicy: AllowAll\n")
                  .ok());
  CHECK(check("{credentialPluginPolicy: null, credentialPluginAllowlist: null}").ok());
}

TEST_CASE("a list of allowed plugins, and a policy, are never passed over") {
  for (const char* text :
       {"credentialPluginAllowlist: [{name: aws}]", "credentialPluginAllowlist: []",
        "{credentialPluginPolicy: AllowAll, credentialPluginAllowlist: [{name: aws}]}",
        "{credentialPluginPolicy: DenyAll, credentialPluginAllowlist: [{name: aws}]}",
        "credentialPluginPolicy: [DenyAll]", "credentialPluginPolicy: {DenyAll: true}",
        "{credentialPluginPolicy: Allowlist, credentialPluginAllowlist: {name: aws}}",
        "a: 1\n---\ncredentialPluginAllowlist: [{name: aws}]"}) {
    INFO(text);
    const auto policy = parse_plugin_policy("kuberc", text);
    REQUIRE_FALSE(policy.ok());
    CHECK(policy.error().render().starts_with("kuberc: credentialPlugin"));
  }
}

TEST_CASE("a plugin that is allowed by its name alone may be named by its path in PATH") {
  const TempDir folder;
  const TempDir elsewhere;
  const std::string file = script(folder, "get-identity", "exit 0\n");
  const auto policy = parse_plugin_policy("kuberc",
                                          "{credentialPluginPolicy: Allowlist, "
                                          "credentialPluginAllowlist: [{name: get-identity}]}");
  REQUIRE(policy.ok());
  CHECK(check_policy(*policy, plugin_of(file), file, "/nowhere:" + folder.path()).ok());
  CHECK_FALSE(check_policy(*policy, plugin_of(file), file, elsewhere.path()).ok());
  const std::string other = script(elsewhere, "get-identity", "exit 0\n");
  CHECK_FALSE(check_policy(*policy, plugin_of(other), other, folder.path()).ok());
}

TEST_CASE("a kuberc that would have a login wait is refused, and none at all is none") {
  const TempDir folder;
  const std::string pipe = folder.path() + "/kuberc";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  REQUIRE(setenv("KUBERC", pipe.c_str(), 1) == 0);
  const auto refused = load_plugin_policy();
  REQUIRE(setenv("KUBERC", "/dev/null", 1) == 0);
  const auto none = load_plugin_policy();
  REQUIRE(unsetenv("KUBERC") == 0);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().render() == "kuberc: cannot read " + pipe + ": it is no regular file");
  REQUIRE(none.ok());
  CHECK(none->kind == PluginPolicy::Kind::allow_all);
}

TEST_CASE("a program runs without a shell, with its arguments, its environment and the info") {
  const TempDir folder;
  ExecPlugin plugin =
      plugin_of(script(folder, "login",
                       "[ \"$1\" = 'a b; exit 9' ] || exit 3\n[ \"$WHO\" = me ] || exit 4\n[ -n "
                       "\"$PATH\" ] || exit 5\n"
                       "case \"$KUBERNETES_EXEC_INFO\" in *'\"server\":\"https://cluster:6443\"'*) "
                       ";; *) exit 6;; esac\n"
                       "echo '" +
                           credential(R"({"token":"t"})") + "'\n"));
  plugin.arguments = {"a b; exit 9"};
  plugin.environment = {{"WHO", "me"}};
  plugin.provide_cluster_info = true;
  const auto login = run(plugin);
  INFO((login.ok() ? "" : login.error().render()));
  REQUIRE(login.ok());
  CHECK(login->token == "t");
}

TEST_CASE("a program that logs in is killed with its group before we end in a hurry") {
  const TempDir folder;
  loop::EventLoop loop;
  ClientConfig config;
  config.server = "https://cluster:6443";
  const std::string file = folder.path() + "/child";
  config.exec = plugin_of(
      script(folder, "endless", "sleep 1000 &\necho $! >" + file + "\necho up >&2\nwait\n"));
  const auto source = make_exec_source(loop, config);
  source->fetch(false, [](const Result<Login>&) { FAIL("it has no end to tell of"); });
  int child = 0;
  REQUIRE(loop.run_until([&] { return bool(std::ifstream(file) >> child); }, Duration{20000}));
  pollfd end{static_cast<int>(::syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
  REQUIRE(end.fd >= 0);
  kill_login_programs();
  CHECK(::poll(&end, 1, 20000) == 1);
  ::close(end.fd);
  kill_login_programs();  // nothing is left
}

TEST_CASE("what a program leaves running, as an agent or a browser, is not ended with it") {
  loop::become_subreaper();
  const TempDir folder;
  const std::string in_group = folder.path() + "/in-group";
  const std::string elsewhere = folder.path() + "/elsewhere";
  const auto login = run(plugin_of(
      script(folder, "login",
             "sleep 1000 >/dev/null 2>&1 &\necho $! >" + in_group + "\nsetsid sh -c 'echo $$ >" +
                 elsewhere + ".new; mv " + elsewhere + ".new " + elsewhere +
                 "; exec sleep 1000' >/dev/null 2>&1 &\nwhile [ ! -e " + elsewhere +
                 " ]; do sleep 0.01; done\necho '" + credential(R"({"token":"t"})") + "'\n")));
  INFO((login.ok() ? "" : login.error().render()));
  REQUIRE(login.ok());
  for (const std::string& file : {in_group, elsewhere}) {
    INFO(file);
    pid_t left = 0;
    REQUIRE(bool(std::ifstream(file) >> left));
    pollfd end{static_cast<int>(::syscall(SYS_pidfd_open, left, 0)), POLLIN, 0};
    REQUIRE(end.fd >= 0);
    CHECK(::poll(&end, 1, 0) == 0);
    ::kill(left, SIGKILL);
    CHECK(::poll(&end, 1, 20000) == 1);
    ::close(end.fd);
  }
}

TEST_CASE("however a program fails, the error is that nobody is logged in") {
  const TempDir folder;
  const std::string failing = script(folder, "failing", "echo no luck >&2; exit 3\n");
  auto login = run(plugin_of(failing));
  REQUIRE_FALSE(login.ok());
  CHECK(login.error().is_unauthorized());
  CHECK(login.error().render() == "exec: executable " + failing + " failed with exit code 3");
  login = run(plugin_of("/nowhere/login"));
  REQUIRE_FALSE(login.ok());
  CHECK(login.error().is_unauthorized());
  const std::string killed = script(folder, "killed", "kill -9 $$\n");
  login = run(plugin_of(killed));
  REQUIRE_FALSE(login.ok());
  CHECK(login.error().render() == "exec: executable " + killed + " was ended by signal 9");
  const std::string big = script(folder, "big", "yes | head -c 2000000\n");
  login = run(plugin_of(big));
  REQUIRE_FALSE(login.ok());
  CHECK(login.error().render() == "exec: executable " + big + " printed over 1 MiB");
}
