// Where the API server is and who we are there: kubeconfig with kubectl's merge rules and
// overrides, or the in-cluster service account. Reads files; talks to no server. Secrets stay in
// this value.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"

namespace kubewatch::client {

// The global flags that change the configuration; names are kubectl's. Empty = not given.
struct ConfigOverrides {
  std::string kubeconfig;
  std::string context;
  std::string cluster;
  std::string user;
  std::string namespace_;
  std::string server;
  std::string token;
  std::string as;
  std::string as_uid;
  std::vector<std::string> as_groups;
  std::vector<std::string> as_user_extra;  // key=value
  std::string certificate_authority;
  std::string client_certificate;
  std::string client_key;
  bool insecure_skip_tls_verify = false;
  std::string tls_server_name;
  std::string proxy_url;
  bool disable_compression = false;
  std::string cache_dir;
  std::optional<Duration> request_timeout;
};

struct Impersonation {
  std::string user;
  std::string uid;
  std::vector<std::string> groups;
  std::vector<std::pair<std::string, std::string>> extra;
};

// A program that logs in: `exec` of a kubeconfig user (client-go credential plugins,
// client.authentication.k8s.io v1 and v1beta1). Run without a shell, and not before a request needs
// it.
struct ExecPlugin {
  enum class Interactive { never, if_available, always };
  std::string api_version;
  std::string command;  // a name to find in PATH, or a path that is absolute
  std::vector<std::string> arguments;
  std::vector<std::pair<std::string, std::string>> environment;  // beside ours
  std::string install_hint;
  bool provide_cluster_info = false;
  Interactive interactive = Interactive::if_available;
  std::string cluster_config;  // JSON of the cluster's extension for plugins, "" = none
  std::string entry;           // the user's entry as JSON, for a kubeconfig made of this one
};

// `auth-provider: {name: oidc}` of a kubeconfig user, see client/oidc.hpp.
struct OidcLogin {
  std::string issuer;
  std::string client_id;
  std::string client_secret;
  std::string id_token;
  std::string refresh_token;
  std::string ca_pem;  // "" = the system's
  std::string file;    // where new tokens are written, under this user
  std::string user;
  std::string entry;  // auth-provider as JSON, for a kubeconfig made of this one
};

struct ClientConfig {
  std::string server;      // "https://host:port", no trailing slash
  std::string namespace_;  // the Pod's, else "default", when nothing names one
  std::string ca_pem;
  std::string tls_server_name;
  bool insecure_skip_tls_verify = false;
  std::string client_cert_pem;
  std::string client_key_pem;
  // Where that material came from, when from files: read again, so that it may be rotated.
  std::string ca_file;
  std::string client_cert_file;
  std::string client_key_file;
  std::string token;
  bool token_by_flag = false;  // --token and not `source` gave it
  std::string token_file;      // wins over token; read again at most once a minute and on 401
  std::string username;
  std::string password;
  // One of them at most, and only when nothing above logs in.
  std::optional<ExecPlugin> exec;
  std::optional<OidcLogin> oidc;
  Impersonation impersonate;
  std::string proxy_url;  // "" = none; NO_PROXY is taken into account already
  bool disable_compression = false;
  Duration request_timeout{30000};  // 0 = none, but a list or discovery, silent for a minute, ends
  std::string source;               // "context kind-a of /home/me/.kube/config", for messages
};

// What the process's environment contributes; a value, so that tests need no setenv.
struct ConfigEnvironment {
  std::string kubeconfig;    // $KUBECONFIG, a ':' list
  std::string home;          // $HOME
  std::string service_host;  // $KUBERNETES_SERVICE_HOST
  std::string service_port;
  std::string pod_namespace;  // $POD_NAMESPACE
  std::string service_account_dir = "/var/run/secrets/kubernetes.io/serviceaccount";
  std::string https_proxy;  // $HTTPS_PROXY or $https_proxy; never used for loopback servers
  std::string http_proxy;
  std::string no_proxy;  // exceptions from both, by http/no_proxy.hpp's rules
  static ConfigEnvironment from_process();
};

// --kubeconfig, else $KUBECONFIG, else ~/.kube/config; in-cluster where these hold nothing and no
// flag names another server. Errors name file and key: invalid (bad file, unknown context, users
// whose exec or auth-provider cannot be used), not_found.
Result<ClientConfig> load_config(const ConfigOverrides& overrides, const ConfigEnvironment& env);

// The same with what the files that it names hold by now: certificates may have been rotated since,
// the tokens of an identity provider renewed. What cannot be read stays, and so do a certificate
// and its key until both are new.
ClientConfig read_again(ClientConfig config);

// The kubeconfig that leads to this configuration (YAML, for mode 0600); material from files is in
// it as it was read.
std::string render_kubeconfig(const ClientConfig& config, const std::string& context_name);

// The host of "https://[::1]:6443/x" without brackets; "" when there is none.
std::string host_of_url(std::string_view url);

}  // namespace kubewatch::client
