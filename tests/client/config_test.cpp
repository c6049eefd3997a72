// Where the server is and who we are: kubeconfig files, flags, the pod's service account.
#include "client/config.hpp"

#include <filesystem>

#include "base/strings.hpp"
#include "client/exec_plugin.hpp"
#include "client/kubeconfig.hpp"
#include "client/oidc.hpp"
#include "http/listen_address.hpp"
#include "http/server.hpp"
#include "support/catch.hpp"
#include "temp_dir.hpp"

using namespace kubewatch;
using namespace kubewatch::client;
using kubewatch::test::TempDir;

namespace {

constexpr const char* kPlain = R"(apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: one
  cluster: {server: "https://one:6443/"}
- name: two
  cluster: {server: "https://two:6443", insecure-skip-tls-verify: true, tls-server-name: two.example}
users:
- name: alice
  user: {token: tok-alice}
- name: bob
  user: {username: bob, password: "pa:ss"}
contexts:
- name: dev
  context: {cluster: one, user: alice, namespace: shop}
- name: prod
  context: {cluster: two, user: bob}
- name: anonymous
  context: {cluster: one, user: ""}
)";

Result<ClientConfig> load(const std::string& file, ConfigOverrides flags = {}) {
  flags.kubeconfig = file;
  return load_config(flags, {});
}

std::string load_error(const std::string& file, ConfigOverrides flags = {}) {
  const auto config = load(file, std::move(flags));
  REQUIRE_FALSE(config.ok());
  return config.error().render();
}

// What the environment of a Pod with a service account is; its files lie in the folder.
ConfigEnvironment pod(const TempDir& dir) {
  dir.write("sa/token", "pod-token\n");
  dir.write("sa/ca.crt", "POD CA");
  dir.write("sa/namespace", "pod-ns\n");
  ConfigEnvironment env;
  env.service_host = "10.0.0.1";
  env.service_port = "443";
  env.service_account_dir = dir.path() + "/sa";
  return env;
}

ConfigOverrides to_server(const std::string& server, const std::string& proxy = "") {
  ConfigOverrides flags;
  flags.server = server;
  flags.proxy_url = proxy;
  return flags;
}

std::string user_file(const std::string& user, const std::string& cluster = "") {
  return "clusters: [{name: c, cluster: {server: 'https://c'" + cluster +
         "}}]\n"
         "users: [{name: u1, user: {}}, {name: u2, user: {}}, {name: dev, user: " +
         user +
         "}]\n"
         "contexts: [{name: k, context: {cluster: c, user: dev}}]\ncurrent-context: k\n";
}

}  // namespace

TEST_CASE("the current context gives server, user and namespace") {
  const TempDir dir;
  const std::string file = dir.write("config", kPlain);
  const auto config = load(file);
  REQUIRE(config.ok());
  CHECK(config->server == "https://one:6443");
  CHECK(config->token == "tok-alice");
  CHECK(config->namespace_ == "shop");
  CHECK(config->request_timeout == Duration(30000));
  CHECK(config->source == "context dev of " + file);
  CHECK_FALSE(config->insecure_skip_tls_verify);
}

TEST_CASE("another context, cluster, user or namespace can be chosen") {
  const TempDir dir;
  const std::string file = dir.write("config", kPlain);
  ConfigOverrides flags;
  flags.context = "prod";
  auto config = load(file, flags);
  REQUIRE(config.ok());
  CHECK(config->server == "https://two:6443");
  CHECK(config->insecure_skip_tls_verify);
  CHECK(config->tls_server_name == "two.example");
  CHECK(config->username == "bob");
  CHECK(config->password == "pa:ss");
  CHECK(config->namespace_ == "default");
  flags = {};
  flags.cluster = "two";
  flags.user = "bob";
  flags.namespace_ = "blog";
  flags.request_timeout = Duration(5000);
  config = load(file, flags);
  REQUIRE(config.ok());
  CHECK(config->server == "https://two:6443");
  CHECK(config->username == "bob");
  CHECK(config->token.empty());
  CHECK(config->namespace_ == "blog");
  CHECK(config->request_timeout == Duration(5000));
  flags = {};
  flags.context = "anonymous";
  config = load(file, flags);
  REQUIRE(config.ok());
  CHECK(config->token.empty());
}

TEST_CASE("names that do not exist are named, with the ones that do") {
  const TempDir dir;
  const std::string file = dir.write("config", kPlain);
  ConfigOverrides flags;
  flags.context = "pro";
  CHECK(load_error(file, flags) ==
        "context \"pro\" does not exist in " + file + "; did you mean \"prod\"?");
  flags.context = "something-else";
  CHECK(load_error(file, flags).find("there are: anonymous, dev, prod") != std::string::npos);
  flags = {};
  flags.cluster = "three-clusters";
  CHECK(load_error(file, flags).rfind("cluster \"three-clusters\" does not exist in", 0) == 0);
  flags = {};
  flags.user = "carol";
  CHECK(load_error(file, flags).rfind("user \"carol\" does not exist in", 0) == 0);
  flags.token = "t";  // would replace the user's credentials, but --user names a user
  CHECK_FALSE(load(file, flags).ok());
  const std::string bare =
      dir.write("bare", "clusters: [{name: a, cluster: {server: 'https://a'}}]");
  CHECK(load_error(bare) == bare + ": there are no contexts; use --cluster, there are: a");
  const std::string empty = dir.write("empty", "");
  CHECK(load_error(empty) == "no cluster is configured: " + empty +
                                 " has no contexts; use --kubeconfig or --server, or a sandbox");
  const std::string choice =
      dir.write("choice", "contexts: [{name: a, context: {}}, {name: b, context: {}}]");
  CHECK(load_error(choice) ==
        choice + ": current-context is not set; use --context, there are: a, b");
}

TEST_CASE("of several files the first that names an entry wins it whole") {
  const TempDir dir;
  const std::string first = dir.write("a/config", R"(
clusters: [{name: c, cluster: {server: 'https://first'}}]
users: [{name: u, user: {tokenFile: tok}}]
)");
  const std::string second = dir.write("b/config", R"(
current-context: k
clusters: [{name: c, cluster: {server: 'https://second', tls-server-name: s}}]
users: [{name: u, user: {token: second, as: root}}]
contexts: [{name: k, context: {cluster: c, user: u, namespace: ns}}]
)");
  const std::string third = dir.write("c/config", "current-context: other\n");
  ConfigEnvironment env;
  env.kubeconfig = dir.path() + "/missing::" + first + ":" + second + ":" + third;
  const auto config = load_config({}, env);
  REQUIRE(config.ok());
  CHECK(config->server == "https://first");
  CHECK(config->tls_server_name.empty());
  CHECK(config->token.empty());
  CHECK(config->token_file == dir.path() + "/a/tok");
  CHECK(config->impersonate.user.empty());
  CHECK(config->namespace_ == "ns");
}

TEST_CASE("KUBECONFIG replaces the home file and --kubeconfig replaces both") {
  const TempDir dir;
  const auto minimal = [](const std::string& host) {
    return "clusters: [{name: c, cluster: {server: 'https://" + host +
           "'}}]\ncontexts: [{name: k, context: {cluster: c}}]\ncurrent-context: k\n";
  };
  dir.write(".kube/config", minimal("home"));
  ConfigEnvironment env;
  env.home = dir.path();
  CHECK(load_config({}, env)->server == "https://home");
  env.kubeconfig = dir.write("env", minimal("env"));
  CHECK(load_config({}, env)->server == "https://env");
  ConfigOverrides flags;
  flags.kubeconfig = dir.write("flag", minimal("flag"));
  CHECK(load_config(flags, env)->server == "https://flag");
  flags.kubeconfig = dir.path() + "/missing";
  const auto missing = load_config(flags, env);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().is_not_found());
  CHECK(missing.error().render().find(dir.path() + "/missing") != std::string::npos);
}

TEST_CASE("certificates come inline or from files beside the kubeconfig") {
  const TempDir dir;
  dir.write("pki/ca.pem", "CA FROM FILE");
  dir.write("pki/cert.pem", "CERT");
  dir.write("pki/key.pem", "KEY");
  const auto files = load(
      dir.write("config", user_file("{client-certificate: pki/cert.pem, client-key: pki/key.pem}",
                                    ", certificate-authority: pki/ca.pem")));
  REQUIRE(files.ok());
  CHECK(files->ca_pem == "CA FROM FILE");
  CHECK(files->client_cert_pem == "CERT");
  CHECK(files->client_key_pem == "KEY");
  const auto inline_data = load(dir.write(
      "config", user_file("{client-certificate-data: " + base::base64_encode("C2") +
                              ", client-key-data: " + base::base64_encode("K2") + "}",
                          ", certificate-authority: pki/ca.pem, certificate-authority-data: " +
                              base::base64_encode("CA INLINE"))));
  REQUIRE(inline_data.ok());
  CHECK(inline_data->ca_pem == "CA INLINE");
  CHECK(inline_data->client_cert_pem == "C2");
  CHECK(inline_data->client_key_pem == "K2");
  // As base64(1) prints it.
  const auto in_lines = load(
      dir.write("config", user_file("{client-certificate-data: QzI=, client-key-data: SzI=}",
                                    ", certificate-authority-data: \"Q0Eg\\nSU5M\\r\\nSU5F\\n\"")));
  REQUIRE(in_lines.ok());
  CHECK(in_lines->ca_pem == "CA INLINE");
}

TEST_CASE("errors of a kubeconfig name file, entry and key") {
  const TempDir dir;
  const std::string file = dir.path() + "/config";
  struct Case {
    std::string content;
    std::string message;
  };
  const std::string user = file + ": users[2] \"dev\": ";
  const std::string cluster = file + ": clusters[0] \"c\": ";
  const Case cases[] = {
      {user_file("{client-certificate-data: '%%%'}"),
       user + "client-certificate-data is not valid base64"},
      {user_file("{token: 12345}"), user + "token is not a string"},
      {user_file("{exec: {command: aws}}"),
       user + "exec.apiVersion is neither client.authentication.k8s.io/v1 nor v1beta1"},
      {user_file("{exec: {apiVersion: client.authentication.k8s.io/v1, command: aws}}"),
       user + "exec.interactiveMode must be given for client.authentication.k8s.io/v1"},
      {user_file("{exec: {apiVersion: client.authentication.k8s.io/v1beta1}}"),
       user + "exec.command is missing"},
      {user_file("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: a, "
                 "interactiveMode: Maybe}}"),
       user + "exec.interactiveMode is none of Never, IfAvailable, Always"},
      {user_file("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: a, "
                 "args: [1]}}"),
       user + "exec.args is not a list of strings"},
      {user_file("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: a, "
                 "env: [{name: PORT, value: 80}]}}"),
       user + "exec.env PORT: value is not a string"},
      {user_file("{auth-provider: {name: gcp}}"),
       user + "auth-provider \"gcp\" is not known: only oidc is; others have become exec plugins"},
      {user_file("{token: a, username: b}"), user + "token and username exclude each other"},
      {user_file("{as-groups: x}"), user + "as-groups is not a list"},
      {user_file("{as-groups: [1]}"), user + "as-groups is not a list of strings"},
      {user_file("{as-user-extra: [1]}"), user + "as-user-extra is not an object"},
      {user_file("{as-user-extra: {a: b}}"), user + "as-user-extra.a is not a list"},
      {user_file("{}", ", insecure-skip-tls-verify: 'true'"),
       cluster + "insecure-skip-tls-verify is not true or false"},
      {user_file("{}", ", insecure-skip-tls-verify: true, certificate-authority-data: QQ=="),
       cluster + "certificate-authority and insecure-skip-tls-verify exclude each other"},
      {user_file("[]"), user + "user is not an object"},
      {"clusters: {}", file + ": clusters is not a list"},
      {"clusters: [1]", file + ": clusters[0] is not an object"},
      {"users: [{user: {}}]", file + ": users[0]: name is missing or not a string"},
      {"users: [{name: a}, {name: a}]", file + ": users[1]: the name \"a\" is used twice"},
      {"current-context: [x]", file + ": current-context is not a string"},
      {"kind: Pod", file + ": kind is not Config: this is no kubeconfig"},
      {"apiVersion: v2", file + ": apiVersion is not v1: this is no kubeconfig"},
      {"just text", file + ": this is no kubeconfig: not an object"},
      {"clusters: [{name: c}]\ncontexts: [{name: k, context: {cluster: c}}]\ncurrent-context: k",
       cluster + "server is missing"},
      {"contexts: [{name: k}]\ncurrent-context: k", file + ": context \"k\" names no cluster"},
  };
  for (const Case& c : cases) {
    INFO(c.content);
    CHECK(load_error(dir.write("config", c.content)) == c.message);
  }
}

TEST_CASE("files that a kubeconfig names must be there and hold something") {
  const TempDir dir;
  const std::string file = dir.path() + "/config";
  const std::string missing =
      load_error(dir.write("config", user_file("{client-certificate: none.pem}")));
  CHECK(missing.rfind(file + ": users[2] \"dev\": client-certificate: ", 0) == 0);
  CHECK(missing.find(dir.path() + "/none.pem") != std::string::npos);
  dir.write("empty.pem", "\n");
  CHECK(load_error(dir.write("config", user_file("{}", ", certificate-authority: empty.pem"))) ==
        file + ": clusters[0] \"c\": certificate-authority: " + dir.path() + "/empty.pem is empty");
  dir.write("cert.pem", "C");
  CHECK(load_error(dir.write("config", user_file("{client-certificate: cert.pem}"))) ==
        "context k of " + file + ": a client certificate is given without its key");
}

TEST_CASE("hostile kubeconfig files are errors, not trouble") {
  const TempDir dir;
  for (const std::string& content :
       {std::string("\t: ["), std::string("a: &x [*x]"), std::string(100000, '['),
        std::string("\xff\xfe\x00", 3), "users: " + std::string(5U << 20U, 'x')}) {
    INFO(content.substr(0, 20));
    const auto config = load(dir.write("config", content));
    REQUIRE_FALSE(config.ok());
    CHECK(config.error().render().find(dir.path() + "/config") != std::string::npos);
  }
  CHECK_FALSE(load(dir.path()).ok());  // a folder
  CHECK_FALSE(load(dir.write("config", "")).ok());
}

TEST_CASE("a program or an identity provider logs in only where nothing else does") {
  const TempDir dir;
  const std::string exec =
      "exec: {apiVersion: client.authentication.k8s.io/v1beta1, command: bin/login, "
      "args: [a], env: [{name: K, value: V}], provideClusterInfo: true}";
  const std::string cluster =
      ", extensions: [{name: client.authentication.k8s.io/exec, extension: {audience: x}}]";
  auto config = load(dir.write("config", user_file("{" + exec + "}", cluster)));
  REQUIRE(config.ok());
  REQUIRE(config->exec.has_value());
  CHECK(config->exec->command == dir.path() + "/bin/login");
  CHECK(config->exec->arguments == std::vector<std::string>{"a"});
  CHECK(config->exec->environment.front() == std::pair<std::string, std::string>{"K", "V"});
  CHECK(config->exec->cluster_config == R"({"audience":"x"})");
  // Beside a file without a folder it is still a path, and no word for $PATH.
  Kubeconfig bare;
  REQUIRE(
      merge_kubeconfig("config",
                       user_file("{exec: {apiVersion: client.authentication.k8s.io/v1, command: "
                                 "./login, interactiveMode: Never}}"),
                       bare)
          .ok());
  const auto beside = read_exec_plugin(bare.users.at("dev"), nullptr);
  REQUIRE(beside.ok());
  CHECK(beside->command == std::filesystem::current_path().string() + "/login");
  // Handed on, it is the same login wherever the file lies.
  const TempDir other;
  const auto again = load(other.write("config", render_kubeconfig(*config, "c")));
  REQUIRE(again.ok());
  REQUIRE(again->exec.has_value());
  CHECK(again->exec->command == config->exec->command);
  CHECK(again->exec->environment == config->exec->environment);
  CHECK(again->exec->cluster_config == config->exec->cluster_config);
  config = load(dir.write("config", user_file("{token: t, " + exec + "}")));
  REQUIRE(config.ok());
  CHECK_FALSE(config->exec.has_value());
  ConfigOverrides flags;
  flags.token = "flag";
  config = load(dir.write("config", user_file("{" + exec + "}")), flags);
  REQUIRE(config.ok());
  CHECK_FALSE(config->exec.has_value());
  const std::string oidc =
      "{auth-provider: {name: oidc, config: {idp-issuer-url: 'https://idp', client-id: c, "
      "refresh-token: r}}}";
  config = load(dir.write("config", user_file(oidc)));
  REQUIRE(config.ok());
  REQUIRE(config->oidc.has_value());
  CHECK(config->oidc->refresh_token == "r");
  CHECK(config->oidc->user == "dev");
  CHECK(load(other.write("config", render_kubeconfig(*config, "c")))->oidc->issuer ==
        "https://idp");
}

TEST_CASE("a client certificate stands in for a program, and goes along with an ID token") {
  const TempDir dir;
  const std::string exec =
      "exec: {apiVersion: client.authentication.k8s.io/v1, command: login, interactiveMode: Never}";
  const std::string oidc =
      "auth-provider: {name: oidc, config: {idp-issuer-url: 'https://idp', client-id: c, "
      "refresh-token: r}}";
  const std::string certificate = "client-certificate-data: Q0VSVA==, client-key-data: S0VZ, ";
  auto config = load(dir.write("config", user_file("{" + certificate + exec + "}")));
  REQUIRE(config.ok());
  CHECK_FALSE(config->exec.has_value());
  CHECK(config->client_cert_pem == "CERT");
  config = load(dir.write("config", user_file("{" + certificate + oidc + "}")));
  REQUIRE(config.ok());
  CHECK(config->oidc.has_value());
  CHECK(config->client_cert_pem == "CERT");
  CHECK(config->client_key_pem == "KEY");
  // Tokens and passwords win over both.
  config = load(dir.write("config", user_file("{token: t, " + certificate + oidc + "}")));
  REQUIRE(config.ok());
  CHECK_FALSE(config->oidc.has_value());
}

TEST_CASE("an issuer's address with a password in it is refused without being told") {
  const TempDir dir;
  const std::string error = load_error(dir.write(
      "config", user_file("{auth-provider: {name: oidc, config: {idp-issuer-url: "
                          "'https://me:hunter2@idp/x', client-id: c, refresh-token: r}}}")));
  CHECK(error.find("idp-issuer-url holds a user name") != std::string::npos);
  CHECK(error.find("hunter2") == std::string::npos);
}

TEST_CASE("flags replace what the file says") {
  const TempDir dir;
  const std::string file =
      dir.write("config", user_file("{exec: {apiVersion: client.authentication.k8s.io/v1beta1, "
                                    "command: x}, as: eve, as-uid: '1', as-groups: [g], "
                                    "as-user-extra: {k: [v, w]}}",
                                    ", insecure-skip-tls-verify: true, tls-server-name: s, "
                                    "proxy-url: 'socks5h://p:1', disable-compression: true"));
  ConfigOverrides flags;
  flags.token = "flag-token";
  auto config = load(file, flags);
  REQUIRE(config.ok());
  CHECK(config->token == "flag-token");
  CHECK(config->tls_server_name == "s");
  CHECK(config->proxy_url == "socks5://p:1");
  CHECK(config->disable_compression);
  CHECK(config->impersonate.user == "eve");
  CHECK(config->impersonate.uid == "1");
  CHECK(config->impersonate.groups == std::vector<std::string>{"g"});
  CHECK(config->impersonate.extra ==
        std::vector<std::pair<std::string, std::string>>{{"k", "v"}, {"k", "w"}});
  flags.server = "https://other:1/k8s/";
  flags.certificate_authority = dir.write("ca.pem", "CA");
  flags.client_certificate = dir.write("cert.pem", "CERT");
  flags.client_key = dir.write("key.pem", "KEY");
  flags.proxy_url = "http://q";
  flags.as = "mallory";
  flags.as_uid = "2";
  flags.as_groups = {"h", "i"};
  flags.as_user_extra = {"a=b=c"};
  config = load(file, flags);
  REQUIRE(config.ok());
  CHECK(config->server == "https://other:1/k8s");
  CHECK(config->tls_server_name.empty());
  CHECK_FALSE(config->insecure_skip_tls_verify);
  CHECK(config->ca_pem == "CA");
  CHECK(config->client_cert_pem == "CERT");
  CHECK(config->client_key_pem == "KEY");
  CHECK(config->proxy_url == "http://q");
  CHECK(config->impersonate.user == "mallory");
  CHECK(config->impersonate.uid == "2");
  CHECK(config->impersonate.groups == std::vector<std::string>{"h", "i"});
  CHECK(config->impersonate.extra ==
        std::vector<std::pair<std::string, std::string>>{{"a", "b=c"}});
}

TEST_CASE("a token flag replaces token file and password") {
  const TempDir dir;
  ConfigOverrides flags;
  flags.token = "t";
  auto config = load(dir.write("config", user_file("{tokenFile: /x}")), flags);
  CHECK(config->token_file.empty());
  CHECK(config->token == "t");
  CHECK(config->token_by_flag);
  config = load(dir.write("config", user_file("{username: u, password: p}")), flags);
  CHECK(config->username.empty());
  CHECK(config->password.empty());
}

TEST_CASE("a token that no header can hold is refused at once, without being told") {
  ConfigOverrides flags;
  flags.server = "https://cluster:6443";
  flags.token = "one\ntwo";
  const auto loaded = load_config(flags, {});
  REQUIRE_FALSE(loaded.ok());
  CHECK(loaded.error().kind() == ErrorKind::invalid);
  CHECK(loaded.error().render() == "--token holds spaces, control or non-ASCII characters");
}

TEST_CASE("the flag --insecure-skip-tls-verify drops the authority of the file") {
  const TempDir dir;
  const std::string file =
      dir.write("config", user_file("{}", ", certificate-authority-data: QQ=="));
  ConfigOverrides flags;
  flags.insecure_skip_tls_verify = true;
  const auto config = load(file, flags);
  REQUIRE(config.ok());
  CHECK(config->insecure_skip_tls_verify);
  CHECK(config->ca_pem.empty());
  flags.certificate_authority = dir.write("ca.pem", "CA");
  CHECK(load_error(file, flags) ==
        "--certificate-authority and --insecure-skip-tls-verify exclude each other");
}

TEST_CASE("wrong flags are refused") {
  const TempDir dir;
  const std::string file = dir.write("config", user_file("{}"));
  const auto with = [&](auto change) {
    ConfigOverrides flags;
    change(flags);
    return load_error(file, flags);
  };
  CHECK(with([](auto& f) { f.as_groups = {"g"}; }) ==
        "impersonating a uid, groups or extra fields needs a user: --as");
  CHECK(with([](auto& f) { f.as_user_extra = {"=x"}; }) ==
        "--as-user-extra \"=x\" is not KEY=VALUE");
  CHECK(with([](auto& f) { f.client_key = "/nonexistent/key"; }).rfind("--client-key: ", 0) == 0);
  for (const char* server : {"ftp://x", "https://", "https://a b", "https://x?y", "https://x#y",
                             "https://x\n", "https:///path", "http://\\x"}) {
    INFO(server);
    CHECK_FALSE(load(file, to_server(server)).ok());
  }
  const std::string secret = with([](auto& f) { f.server = "https://u:hunter2@x"; });
  CHECK(secret.find("hunter2") == std::string::npos);
  CHECK(with([](auto& f) { f.proxy_url = "gopher://x"; }).find("proxy-url") != std::string::npos);
}

TEST_CASE("a server without a scheme is https when something says TLS") {
  ConfigOverrides flags;
  flags.server = "localhost:8080";
  CHECK(load_config(flags, {})->server == "http://localhost:8080");
  flags.insecure_skip_tls_verify = true;
  CHECK(load_config(flags, {})->server == "https://localhost:8080");
}

TEST_CASE("a pod uses its service account when no kubeconfig exists") {
  const TempDir dir;
  ConfigEnvironment env = pod(dir);
  env.service_host = "fd00::1";
  env.home = dir.path();
  const auto config = load_config({}, env);
  REQUIRE(config.ok());
  CHECK(config->server == "https://[fd00::1]:443");
  CHECK(config->token_file == dir.path() + "/sa/token");
  CHECK(config->ca_pem == "POD CA");
  CHECK(config->namespace_ == "pod-ns");
  env.service_host = "10.0.0.1";
  ConfigOverrides flags;
  flags.namespace_ = "mine";
  flags.token = "t";
  const auto changed = load_config(flags, env);
  CHECK(changed->server == "https://10.0.0.1:443");
  CHECK(changed->namespace_ == "mine");
  CHECK(changed->token == "t");
  CHECK(changed->token_file.empty());
  dir.write(".kube/config", user_file("{}"));
  CHECK(load_config({}, env)->server == "https://c");
}

TEST_CASE("in a pod an empty kubeconfig hides nothing, and its token is for its own server only") {
  const TempDir dir;
  ConfigEnvironment env = pod(dir);
  const std::string token = dir.path() + "/sa/token";
  env.kubeconfig = "/dev/null";
  CHECK(load_config({}, env)->token_file == token);
  env.kubeconfig = dir.write(
      "config", "apiVersion: v1\nkind: Config\nclusters: []\nusers: null\ncurrent-context: ''\n");
  CHECK(load_config({}, env)->token_file == token);
  ConfigOverrides explicit_file;
  explicit_file.kubeconfig = "/dev/null";
  CHECK(load_config(explicit_file, env)->token_file == token);
  ConfigOverrides flags;
  flags.context = "dev";
  CHECK_FALSE(load_config(flags, env).ok());
  for (const std::string& file : {std::string("/dev/null"), std::string()}) {
    env.kubeconfig = file;
    for (const char* other : {"https://evil.example", "https://10.0.0.1:6443", "https://10.0.0.2",
                              "http://10.0.0.1:443", "https://10.0.0.1:443@evil.example"}) {
      INFO(file << " " << other);
      const auto config = load_config(to_server(other), env);
      // A URL with a user's name is refused.
      CHECK(config.ok() == (std::string_view(other).find('@') == std::string_view::npos));
      if (!config.ok()) continue;
      CHECK(config->token_file.empty());
      CHECK(config->ca_pem.empty());
    }
    for (const char* same : {"https://10.0.0.1:443/", "https://10.0.0.1", "10.0.0.1:443"}) {
      INFO(file << " " << same);
      CHECK(load_config(to_server(same), env)->token_file == token);
    }
  }
  dir.write("users", "users: [{name: u, user: {}}]\n");
  env.kubeconfig = dir.path() + "/users";
  CHECK_FALSE(load_config({}, env).ok());
  env = {};
  env.kubeconfig = "/dev/null";
  CHECK(load_config({}, env).error().message().find("/dev/null has no contexts") !=
        std::string::npos);
}

TEST_CASE("in a pod its own namespace is meant where nothing names one") {
  const TempDir dir;
  ConfigEnvironment env = pod(dir);
  env.home = dir.path();
  const auto used = [&env](const ConfigOverrides& flags = {}) {
    return load_config(flags, env)->namespace_;
  };
  dir.write(".kube/config", user_file("{}"));
  CHECK(used() == "pod-ns");
  env.pod_namespace = "told";
  CHECK(used() == "told");
  ConfigOverrides flags;
  flags.namespace_ = "mine";
  CHECK(used(flags) == "mine");
  env.service_port.clear();  // no pod
  CHECK(used() == "default");
  env.service_port = "443";
  dir.write(".kube/config", kPlain);
  CHECK(used() == "shop");
  // Said, and not only assumed.
  dir.write(".kube/config",
            "clusters: [{name: c, cluster: {server: 'https://c'}}]\n"
            "contexts: [{name: k, context: {cluster: c, namespace: default}}]\n"
            "current-context: k\n");
  CHECK(used() == "default");
  env.home.clear();
  CHECK(used() == "told");
  env.pod_namespace.clear();
  dir.write("sa/namespace", "\n");
  CHECK(used() == "default");
}

TEST_CASE("without any configuration the error says what was looked for") {
  ConfigEnvironment env;
  const auto nothing = load_config({}, env);
  REQUIRE_FALSE(nothing.ok());
  CHECK(nothing.error().is_not_found());
  CHECK(nothing.error().message().find("neither KUBECONFIG nor HOME is set") != std::string::npos);
  env.home = "/nonexistent";
  CHECK(load_config({}, env).error().message().find("/nonexistent/.kube/config does not exist") !=
        std::string::npos);
  ConfigOverrides flags;
  flags.context = "dev";
  CHECK(load_config(flags, env).error().message().find("\"dev\"") != std::string::npos);
  env.kubeconfig = "/nonexistent/a:/nonexistent/b";
  for (const ConfigOverrides& asked : {ConfigOverrides(), flags}) {
    CHECK(load_config(asked, env)
              .error()
              .message()
              .find(": none of /nonexistent/a, /nonexistent/b exists") != std::string::npos);
  }
  CHECK(load_config(to_server("https://x"), env)->server == "https://x");
}

TEST_CASE("proxies of the environment are used, but never to reach this machine") {
  ConfigEnvironment env;
  env.https_proxy = "proxy:3128";
  env.http_proxy = "http://plain:3128";
  env.no_proxy = ".internal";
  const auto proxy_for = [&](const std::string& server) {
    return load_config(to_server(server), env)->proxy_url;
  };
  CHECK(proxy_for("https://x") == "http://proxy:3128");
  CHECK(proxy_for("http://x") == "http://plain:3128");
  CHECK(proxy_for("https://127.0.0.1:6443").empty());
  CHECK(proxy_for("https://localhost:6443").empty());
  CHECK(proxy_for("https://[::1]:6443").empty());
  CHECK(proxy_for("https://api.internal").empty());
  CHECK(proxy_for("https://internal") == "http://proxy:3128");
  env.no_proxy = "x,y:6443,192.0.2.0/24,2001:db8::/32";
  CHECK(proxy_for("https://x").empty());
  CHECK(proxy_for("http://a.x").empty());
  CHECK(proxy_for("https://y") == "http://proxy:3128");
  CHECK(proxy_for("https://y:6443/path").empty());
  CHECK(proxy_for("https://192.0.2.2:6443").empty());
  CHECK(proxy_for("https://[2001:db8::1]:6443").empty());
  CHECK(proxy_for("https://[2001:db9::1]:6443") == "http://proxy:3128");
  CHECK_FALSE(load_config(to_server("https://x:port"), env).ok());
}

TEST_CASE("what is wrong with a proxy is said of where it was given, without its password") {
  const TempDir dir;
  const auto told = [](const ConfigOverrides& flags, const ConfigEnvironment& env) {
    return load_config(flags, env).error().render();
  };
  ConfigEnvironment env;
  env.https_proxy = "socks4://u:hunter2@p:1";
  CHECK(told(to_server("https://x"), env) ==
        "the environment's HTTPS_PROXY has none of the schemes http, https, socks5");
  env.http_proxy = "proxy:x";
  CHECK(told(to_server("http://x"), env) ==
        "the environment's HTTP_PROXY has a port that is no number from 1 to 65535");
  CHECK(told(to_server("https://x", "gopher://x"), env) ==
        "--proxy-url has none of the schemes http, https, socks5");
  for (const char* port : {"99999", "65536", "0", "-1", "x", "123456"}) {
    INFO(port);
    CHECK(told(to_server("https://x", std::string("http://u:hunter2@127.0.0.1:") + port), {}) ==
          "--proxy-url has a port that is no number from 1 to 65535");
  }
  CHECK(told(to_server("https://x", "http://:3128"), {}) == "--proxy-url has no host");
  ConfigOverrides flags;
  flags.kubeconfig = dir.write("config", user_file("{}", ", proxy-url: 'gopher://q'"));
  CHECK(told(flags, {}).ends_with(": proxy-url has none of the schemes http, https, socks5"));
  CHECK(told(flags, {}).find(flags.kubeconfig) != std::string::npos);
  for (const char* sound : {"http://p", "http://p:", "http://[::1]:65535/", "socks5://u:p@q:1"}) {
    INFO(sound);
    CHECK(load_config(to_server("https://x", sound), {})->proxy_url == sound);
  }
}

TEST_CASE("the schemes of URLs have no case") {
  CHECK(load_config(to_server("HTTPS://127.0.0.1:6443/A"), {})->server ==
        "https://127.0.0.1:6443/A");
  CHECK(load_config(to_server("Http://x"), {})->server == "http://x");
  CHECK(load_config(to_server("https://x", "SOCKS5H://P:1"), {})->proxy_url == "socks5://P:1");
}

TEST_CASE("a proxy of a flag or a cluster is asked whatever NO_PROXY says") {
  const TempDir dir;
  ConfigEnvironment env;
  env.no_proxy = "*";
  CHECK(load_config(to_server("https://x", "http://q"), env)->proxy_url == "http://q");
  ConfigOverrides flags;
  flags.kubeconfig = dir.write("config", user_file("{}", ", proxy-url: 'http://q'"));
  CHECK(load_config(flags, env)->proxy_url == "http://q");
}

TEST_CASE("it is the server's address that NO_PROXY names, not what its certificate is for") {
  ConfigEnvironment env;
  env.https_proxy = "http://proxy:3128";
  ConfigOverrides flags = to_server("https://192.0.2.2:6443");
  flags.tls_server_name = "api.example";
  env.no_proxy = "192.0.2.2";
  CHECK(load_config(flags, env)->proxy_url.empty());
  env.no_proxy = "api.example";
  CHECK(load_config(flags, env)->proxy_url == "http://proxy:3128");
}

TEST_CASE("a kubeconfig that we write has the proxy, whatever NO_PROXY holds") {
  const TempDir dir;
  ConfigEnvironment env;
  env.https_proxy = "http://proxy:3128";
  env.no_proxy = "elsewhere";
  const auto config = load_config(to_server("https://x"), env);
  REQUIRE(config.ok());
  const auto again = load(dir.write("config", render_kubeconfig(*config, "c")));
  REQUIRE(again.ok());
  CHECK(again->proxy_url == "http://proxy:3128");
}

TEST_CASE("a kubeconfig that we write is one that we read") {
  const TempDir dir;
  ClientConfig config;
  config.server = "https://127.0.0.1:6443";
  config.namespace_ = "shop";
  config.ca_pem = "CA PEM\n";
  config.token = "1234";
  config.client_cert_pem = "CERT";
  config.client_key_pem = "KEY";
  config.tls_server_name = "sandbox";
  const auto again = load(dir.write("config", render_kubeconfig(config, "sandbox")));
  REQUIRE(again.ok());
  CHECK(again->server == config.server);
  CHECK(again->namespace_ == "shop");
  CHECK(again->ca_pem == "CA PEM\n");
  CHECK(again->token == "1234");
  CHECK(again->client_cert_pem == "CERT");
  CHECK(again->client_key_pem == "KEY");
  CHECK(again->tls_server_name == "sandbox");
  ClientConfig basic;
  basic.server = "https://x";
  basic.username = "u";
  basic.password = "p";
  basic.insecure_skip_tls_verify = true;
  const auto second = load(dir.write("config", render_kubeconfig(basic, "s")));
  REQUIRE(second.ok());
  CHECK(second->username == "u");
  CHECK(second->password == "p");
  CHECK(second->insecure_skip_tls_verify);
}

TEST_CASE("a kubeconfig that we write names a token file by its absolute path") {
  ClientConfig config;
  config.server = "https://x";
  config.token_file = "token";
  CHECK(render_kubeconfig(config, "c")
            .find("tokenFile: " + std::filesystem::current_path().string() + "/token") !=
        std::string::npos);
}

TEST_CASE("what the files of a configuration hold by now is read again, unless one is missing") {
  const TempDir dir;
  const auto next = http::generate_certificate({"localhost"}, {}).value();
  ClientConfig config;
  config.ca_pem = "CA";
  config.client_cert_pem = "CERT";
  config.client_cert_file = dir.write("tls.crt", next.certificate_pem);
  config.client_key_pem = "KEY";
  config.client_key_file = dir.write("tls.key", next.key_pem);
  const ClientConfig now = read_again(config);
  CHECK(now.ca_pem == "CA");
  CHECK(now.client_cert_pem == next.certificate_pem);
  CHECK(now.client_key_pem == next.key_pem);
  std::filesystem::remove(config.client_key_file);
  CHECK(read_again(config).client_cert_pem == "CERT");
}

TEST_CASE("a certificate whose key is not rotated yet is not read, nor is half of a CA") {
  const TempDir dir;
  const auto old = http::generate_certificate({"localhost"}, {}).value();
  const auto next = http::generate_certificate({"localhost"}, {}).value();
  ClientConfig config;
  config.ca_pem = old.ca_pem;
  config.ca_file = dir.write("ca.crt", next.ca_pem.substr(0, next.ca_pem.size() / 2));
  config.client_cert_pem = old.certificate_pem;
  config.client_cert_file = dir.write("tls.crt", next.certificate_pem);
  config.client_key_pem = old.key_pem;
  config.client_key_file = dir.write("tls.key", old.key_pem);
  ClientConfig now = read_again(config);
  CHECK(now.ca_pem == old.ca_pem);
  CHECK(now.client_cert_pem == old.certificate_pem);
  CHECK(now.client_key_pem == old.key_pem);
  dir.write("ca.crt", next.ca_pem);
  CHECK(read_again(now).ca_pem == next.ca_pem);
  dir.write("tls.key", next.key_pem);
  now = read_again(now);
  CHECK(now.client_cert_pem == next.certificate_pem);
  CHECK(now.client_key_pem == next.key_pem);
}

TEST_CASE("hosts of URLs are told and loopback is recognised") {
  CHECK(host_of_url("https://a.b:6443/x") == "a.b");
  CHECK(host_of_url("https://[::1]:6443") == "::1");
  CHECK(host_of_url("https://127.0.0.1@evil/x") == "evil");
  CHECK(host_of_url("http://a\\@127.0.0.1") == "a");
  CHECK(host_of_url("localhost") == "");
  CHECK(http::is_loopback_host("LOCALHOST"));
  CHECK(http::is_loopback_host("127.1.2.3"));
  CHECK(http::is_loopback_host("::1"));
  CHECK_FALSE(http::is_loopback_host("127.evil.example"));
  CHECK_FALSE(http::is_loopback_host("localhost.evil.example"));
  CHECK_FALSE(http::is_loopback_host("10.0.0.1"));
}
