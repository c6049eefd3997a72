// From flags, files and environment to one ClientConfig: who wins over whom, as in kubectl.
#include "client/config.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "client/exec_plugin.hpp"
#include "client/file_limits.hpp"
#include "client/kubeconfig.hpp"
#include "client/oidc.hpp"
#include "client/proxy_choice.hpp"
#include "client/tls_files.hpp"
#include "client/url_scheme.hpp"
#include "http/checks.hpp"
#include "http/pem.hpp"

namespace kubewatch::client {
namespace {

Error invalid(std::string message) {
  return Error(ErrorKind::invalid, std::move(message));
}

std::string first_of(std::string a, std::string b) {
  return a.empty() ? b : a;
}

Result<std::string> read_flag_file(const char* flag, const std::string& path) {
  auto content = base::read_file(path, kMaxCredentialFile);
  if (!content.ok()) return std::move(content).error().with_context(flag);
  if (base::trim(*content).empty()) return invalid(std::string(flag) + ": " + path + " is empty");
  return content;
}

std::vector<std::string> kubeconfig_files(const ConfigOverrides& flags,
                                          const ConfigEnvironment& env) {
  if (!flags.kubeconfig.empty()) return {flags.kubeconfig};
  std::vector<std::string> out;
  if (!env.kubeconfig.empty()) {
    for (std::string& file : base::split(env.kubeconfig, ':')) {
      if (!file.empty() && std::find(out.begin(), out.end(), file) == out.end()) {
        out.push_back(std::move(file));
      }
    }
  } else if (!env.home.empty()) {
    out.push_back(env.home + "/.kube/config");
  }
  return out;
}

std::string names_of(const std::map<std::string, KubeconfigEntry>& entries) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries) names.push_back(name);
  return names.empty() ? "there are none" : "there are: " + base::join(names, ", ");
}

Error unknown_name(const std::string& what, const std::string& name, const Kubeconfig& file,
                   const std::map<std::string, KubeconfigEntry>& entries) {
  std::vector<std::string> names;
  for (const auto& [known, entry] : entries) names.push_back(known);
  const auto close = base::suggest(name, names);
  return Error(ErrorKind::invalid,
               what + " \"" + name + "\" does not exist in " + base::join(file.files, ", ") + "; " +
                   (close.empty() ? names_of(entries) : "did you mean \"" + close.front() + "\"?"));
}

// Reads one ClientConfig out of a merged kubeconfig.
class Resolver {
 public:
  Resolver(const Kubeconfig& file, const ConfigOverrides& flags) : file_(file), flags_(flags) {}

  Result<ClientConfig> resolve() {
    KW_TRY(pick_entries());
    KW_TRY(read_cluster());
    KW_TRY(read_user());
    return std::move(out_);
  }

 private:
  Result<void> pick_entries() {
    const std::string context = first_of(flags_.context, file_.current_context);
    std::string cluster = flags_.cluster;
    std::string user = flags_.user;
    if (!context.empty()) {
      const auto found = file_.contexts.find(context);
      if (found == file_.contexts.end()) {
        return unknown_name(flags_.context.empty() ? "current-context" : "context", context, file_,
                            file_.contexts);
      }
      const KubeconfigEntry& entry = found->second;
      KW_ASSIGN(const std::string own_cluster, entry.text("cluster"));
      KW_ASSIGN(const std::string own_user, entry.text("user"));
      KW_ASSIGN(out_.namespace_, entry.text("namespace"));
      cluster = first_of(cluster, own_cluster);
      user = first_of(user, own_user);
      out_.source = "context " + context + " of " + entry.file();
    } else {
      out_.source = base::join(file_.files, ", ");
    }
    if (cluster.empty() && flags_.server.empty()) {
      const std::string files = base::join(file_.files, ", ");
      if (!context.empty())
        return invalid(files + ": context \"" + context + "\" names no cluster");
      if (!file_.contexts.empty()) {
        return invalid(files + ": current-context is not set; use --context, " +
                       names_of(file_.contexts));
      }
      if (!file_.clusters.empty()) {
        return invalid(files + ": there are no contexts; use --cluster, " +
                       names_of(file_.clusters));
      }
      return invalid("no cluster is configured: " + files +
                     (file_.files.size() > 1 ? " have" : " has") +
                     " no contexts; use --kubeconfig or --server, or a sandbox");
    }
    if (!cluster.empty() && !find(file_.clusters, cluster, cluster_) && flags_.server.empty()) {
      return unknown_name("cluster", cluster, file_, file_.clusters);
    }
    const bool own_credentials = !flags_.token.empty() || !flags_.client_certificate.empty();
    if (!user.empty() && !find(file_.users, user, user_) &&
        (!own_credentials || !flags_.user.empty())) {
      return unknown_name("user", user, file_, file_.users);
    }
    return {};
  }

  static bool find(const std::map<std::string, KubeconfigEntry>& entries, const std::string& name,
                   const KubeconfigEntry*& out) {
    const auto found = entries.find(name);
    if (found != entries.end()) out = &found->second;
    return found != entries.end();
  }

  Result<void> read_cluster() {
    if (cluster_ == nullptr) return {};
    const KubeconfigEntry& entry = *cluster_;
    KW_ASSIGN(out_.server, entry.text("server"));
    if (out_.server.empty() && flags_.server.empty()) return entry.error("server is missing");
    KW_ASSIGN(out_.tls_server_name, entry.text("tls-server-name"));
    KW_ASSIGN(out_.proxy_url, entry.text("proxy-url"));
    KW_ASSIGN(out_.disable_compression, entry.flag("disable-compression"));
    KW_ASSIGN(out_.insecure_skip_tls_verify, entry.flag("insecure-skip-tls-verify"));
    if (flags_.insecure_skip_tls_verify || !flags_.certificate_authority.empty()) {
      out_.insecure_skip_tls_verify = false;  // the flags decide, see apply_flags
      return {};
    }
    KW_ASSIGN(out_.ca_pem, entry.content("certificate-authority"));
    out_.ca_file = entry.content_file("certificate-authority");
    if (out_.insecure_skip_tls_verify && !out_.ca_pem.empty()) {
      return entry.error("certificate-authority and insecure-skip-tls-verify exclude each other");
    }
    return {};
  }

  Result<void> read_user() {
    if (user_ == nullptr) return {};
    const KubeconfigEntry& entry = *user_;
    KW_ASSIGN(out_.impersonate.user, entry.text("as"));
    KW_ASSIGN(out_.impersonate.uid, entry.text("as-uid"));
    KW_ASSIGN(out_.impersonate.groups, entry.texts("as-groups"));
    KW_ASSIGN(out_.impersonate.extra, entry.text_lists("as-user-extra"));
    if (flags_.client_certificate.empty()) {
      KW_ASSIGN(out_.client_cert_pem, entry.content("client-certificate"));
      out_.client_cert_file = entry.content_file("client-certificate");
    }
    if (flags_.client_key.empty()) {
      KW_ASSIGN(out_.client_key_pem, entry.content("client-key"));
      out_.client_key_file = entry.content_file("client-key");
    }
    if (!flags_.token.empty()) return {};
    return read_login(entry);
  }

  Result<void> read_login(const KubeconfigEntry& entry) {
    KW_ASSIGN(out_.token, entry.text("token"));
    KW_ASSIGN(const std::string token_file, entry.text("tokenFile"));
    out_.token_file = entry.resolve(token_file);
    KW_ASSIGN(out_.username, entry.text("username"));
    KW_ASSIGN(out_.password, entry.text("password"));
    if (!out_.username.empty() && (!out_.token.empty() || !out_.token_file.empty())) {
      return entry.error("token and username exclude each other");
    }
    return read_login_by_others(entry);
  }

  // A program or an identity provider. Other credentials win over both, as in client-go; a
  // certificate over a program alone, as the token of an identity provider goes along with it.
  Result<void> read_login_by_others(const KubeconfigEntry& entry) {
    if (entry.has("exec") && entry.has("auth-provider")) {
      return entry.error("exec and auth-provider exclude each other");
    }
    const bool other = !out_.token.empty() || !out_.token_file.empty() || !out_.username.empty();
    const bool certificate = !out_.client_cert_pem.empty() || !flags_.client_certificate.empty();
    if (entry.has("exec")) {
      KW_ASSIGN(ExecPlugin plugin, read_exec_plugin(entry, cluster_));
      if (!other && !certificate) out_.exec = std::move(plugin);
    }
    if (entry.has("auth-provider")) {
      KW_ASSIGN(OidcLogin login, read_oidc(entry));
      if (!other) out_.oidc = std::move(login);
    }
    return {};
  }

  const Kubeconfig& file_;
  const ConfigOverrides& flags_;
  const KubeconfigEntry* cluster_ = nullptr;
  const KubeconfigEntry* user_ = nullptr;
  ClientConfig out_;
};

std::string server_of_pod(const ConfigEnvironment& env) {
  const bool v6 = env.service_host.find(':') != std::string::npos;
  return "https://" + (v6 ? "[" + env.service_host + "]" : env.service_host) + ":" +
         env.service_port;
}

// Whether --server leaves or names the server that the service account is for: its token is for
// nobody else to see.
bool is_of_pod(const std::string& server, const ConfigEnvironment& env) {
  if (server.empty()) return true;
  const bool bare = server.find("://") == std::string::npos;
  const auto asked = http::parse_endpoint(bare ? "https://" + server : with_lower_scheme(server));
  const auto own = http::parse_endpoint(server_of_pod(env));
  return asked.ok() && own.ok() && asked->scheme == own->scheme && asked->port == own->port &&
         base::to_lower(asked->host) == base::to_lower(own->host);
}

Result<ClientConfig> in_cluster_config(const ConfigEnvironment& env) {
  const std::string& dir = env.service_account_dir;
  ClientConfig out;
  out.server = server_of_pod(env);
  out.token_file = dir + "/token";
  out.source = "the service account in " + dir;
  out.ca_file = dir + "/ca.crt";
  auto ca = base::read_file(out.ca_file, kMaxCredentialFile);
  if (!ca.ok()) return std::move(ca).error().with_context("in-cluster configuration");
  out.ca_pem = std::move(ca).value();
  return out;
}

bool in_cluster(const ConfigEnvironment& env) {
  return !env.service_host.empty() && !env.service_port.empty() &&
         base::read_file(env.service_account_dir + "/token", kMaxCredentialFile).ok();
}

// What a Pod works in where nothing names a namespace, also when a kubeconfig names the cluster:
// the rule of client-go's DeferredLoadingClientConfig.Namespace. "" outside of Pods.
std::string namespace_of_pod(const ConfigEnvironment& env) {
  if (!in_cluster(env)) return "";
  if (!env.pod_namespace.empty()) return env.pod_namespace;
  const auto name = base::read_file(env.service_account_dir + "/namespace", kMaxCredentialFile);
  return name.ok() ? std::string(base::trim(*name)) : "";
}

std::string are_missing(const std::vector<std::string>& files) {
  const std::string names = base::join(files, ", ");
  return files.size() > 1 ? "none of " + names + " exists" : names + " does not exist";
}

Error nothing_configured(const std::vector<std::string>& files) {
  const std::string tried =
      files.empty() ? "neither KUBECONFIG nor HOME is set" : are_missing(files);
  return Error(ErrorKind::not_found,
               "no cluster is configured: " + tried +
                   ", and this is no pod; use --kubeconfig or --server, or a sandbox");
}

Result<ClientConfig> base_config(const ConfigOverrides& flags, const ConfigEnvironment& env) {
  const auto files = kubeconfig_files(flags, env);
  KW_ASSIGN(const Kubeconfig file, load_kubeconfig(files, !flags.kubeconfig.empty()));
  const bool pod = in_cluster(env) && is_of_pod(flags.server, env);
  const bool chosen = !flags.context.empty() || !flags.cluster.empty() || !flags.user.empty();
  if (!file.files.empty() && !(pod && file.empty() && !chosen)) {
    return Resolver(file, flags).resolve();
  }
  for (const std::string* name : {&flags.context, &flags.cluster, &flags.user}) {
    if (!name->empty()) {
      return Error(ErrorKind::not_found, "\"" + *name +
                                             "\" is asked for by a flag, but there is no " +
                                             "kubeconfig: " + are_missing(files));
    }
  }
  if (pod) return in_cluster_config(env);
  if (flags.server.empty()) return nothing_configured(files);
  ClientConfig out;
  out.source = "--server";
  return out;
}

Result<void> apply_tls_flags(const ConfigOverrides& flags, ClientConfig& out) {
  if (flags.insecure_skip_tls_verify && !flags.certificate_authority.empty()) {
    return invalid("--certificate-authority and --insecure-skip-tls-verify exclude each other");
  }
  if (flags.insecure_skip_tls_verify) {
    out.insecure_skip_tls_verify = true;
    out.ca_pem.clear();
    out.ca_file.clear();
  }
  if (!flags.certificate_authority.empty()) {
    out.insecure_skip_tls_verify = false;
    KW_ASSIGN(out.ca_pem, read_flag_file("--certificate-authority", flags.certificate_authority));
    out.ca_file = flags.certificate_authority;
  }
  if (!flags.tls_server_name.empty() || !flags.server.empty()) {
    out.tls_server_name = flags.tls_server_name;
  }
  if (!flags.client_certificate.empty()) {
    KW_ASSIGN(out.client_cert_pem,
              read_flag_file("--client-certificate", flags.client_certificate));
    out.client_cert_file = flags.client_certificate;
  }
  if (!flags.client_key.empty()) {
    KW_ASSIGN(out.client_key_pem, read_flag_file("--client-key", flags.client_key));
    out.client_key_file = flags.client_key;
  }
  if (out.client_cert_pem.empty() != out.client_key_pem.empty()) {
    return invalid(out.source + ": a client " +
                   (out.client_key_pem.empty() ? "certificate is given without its key"
                                               : "key is given without its certificate"));
  }
  return {};
}

Result<void> apply_impersonation(const ConfigOverrides& flags, Impersonation& out) {
  if (!flags.as.empty()) out.user = flags.as;
  if (!flags.as_uid.empty()) out.uid = flags.as_uid;
  if (!flags.as_groups.empty()) out.groups = flags.as_groups;
  if (!flags.as_user_extra.empty()) out.extra.clear();
  for (const std::string& pair : flags.as_user_extra) {
    const std::size_t equal = pair.find('=');
    if (equal == 0 || equal == std::string::npos) {
      return invalid("--as-user-extra \"" + pair + "\" is not KEY=VALUE");
    }
    out.extra.emplace_back(pair.substr(0, equal), pair.substr(equal + 1));
  }
  if (out.user.empty() && (!out.uid.empty() || !out.groups.empty() || !out.extra.empty())) {
    return invalid("impersonating a uid, groups or extra fields needs a user: --as");
  }
  return {};
}

Result<void> check_server(ClientConfig& out) {
  std::string& server = out.server;
  server = with_lower_scheme(std::move(server));
  if (server.find("://") == std::string::npos) {
    const bool tls =
        !out.ca_pem.empty() || !out.client_cert_pem.empty() || out.insecure_skip_tls_verify;
    server = (tls ? "https://" : "http://") + server;
  }
  while (server.ends_with('/')) server.pop_back();
  const bool scheme = server.starts_with("https://") || server.starts_with("http://");
  const bool clean =
      std::all_of(server.begin(), server.end(), [](char c) { return c > 0x20 && c < 0x7f; }) &&
      server.find_first_of("?#@\\\"<>") == std::string::npos;
  if (scheme && clean && !host_of_url(server).empty()) return {};
  // A URL with user:password@ is a secret, so it is not quoted.
  if (server.find('@') != std::string::npos) {
    return invalid(out.source + ": the server's URL holds a user name; use the user's entry");
  }
  return invalid(out.source + ": server \"" + server + "\" is not https://HOST[:PORT][/PATH]");
}

}  // namespace

ConfigEnvironment ConfigEnvironment::from_process() {
  ConfigEnvironment out;
  out.kubeconfig = base::from_environment("KUBECONFIG");
  out.home = base::from_environment("HOME");
  out.service_host = base::from_environment("KUBERNETES_SERVICE_HOST");
  out.service_port = base::from_environment("KUBERNETES_SERVICE_PORT");
  out.pod_namespace = base::from_environment("POD_NAMESPACE");
  out.https_proxy =
      first_of(base::from_environment("HTTPS_PROXY"), base::from_environment("https_proxy"));
  // Under a CGI server HTTP_PROXY is the header Proxy of whoever asks: Go refuses it there.
  const bool cgi = !base::from_environment("REQUEST_METHOD").empty();
  out.http_proxy = first_of(cgi ? "" : base::from_environment("HTTP_PROXY"),
                            base::from_environment("http_proxy"));
  out.no_proxy = first_of(base::from_environment("NO_PROXY"), base::from_environment("no_proxy"));
  return out;
}

Result<ClientConfig> load_config(const ConfigOverrides& flags, const ConfigEnvironment& env) {
  KW_ASSIGN(ClientConfig out, base_config(flags, env));
  if (!flags.server.empty()) out.server = flags.server;
  KW_TRY(apply_tls_flags(flags, out));
  KW_TRY(check_server(out));
  if (!flags.token.empty()) {
    out.token = flags.token;
    out.token_by_flag = true;
    out.token_file.clear();
    out.username.clear();
    out.password.clear();
  }
  if (std::any_of(out.token.begin(), out.token.end(),
                  [](unsigned char c) { return c <= 0x20 || c >= 0x7f; })) {
    return invalid((flags.token.empty() ? out.source + ": the token" : std::string("--token")) +
                   " holds spaces, control or non-ASCII characters");
  }
  KW_TRY(apply_impersonation(flags, out.impersonate));
  if (flags.disable_compression) out.disable_compression = true;
  KW_TRY(choose_proxy(flags, env, out));
  if (!flags.namespace_.empty()) out.namespace_ = flags.namespace_;
  if (out.namespace_.empty()) out.namespace_ = first_of(namespace_of_pod(env), "default");
  if (flags.request_timeout) out.request_timeout = *flags.request_timeout;
  return out;
}

namespace {

// Whoever gets the file must not be more than we are.
void add_impersonation(const Impersonation& as, Json& user) {
  if (!as.user.empty()) user["as"] = as.user;
  if (!as.uid.empty()) user["as-uid"] = as.uid;
  for (const std::string& group : as.groups) user["as-groups"].push_back(group);
  for (const auto& [key, value] : as.extra) user["as-user-extra"][key].push_back(value);
}

std::string absolute(const std::string& file) {
  std::error_code failed;
  const auto path = std::filesystem::absolute(file, failed);
  return failed ? file : path.string();
}

void add_tokens(const OidcLogin& login, Json& provider) {
  Json* config = base::find(provider, {"config"});
  if (config == nullptr || !config->is_object()) return;
  if (!login.id_token.empty()) (*config)["id-token"] = login.id_token;
  if (!login.refresh_token.empty()) (*config)["refresh-token"] = login.refresh_token;
}

}  // namespace

ClientConfig read_again(ClientConfig config) {
  if (auto tls = read_tls_files(config, tls_options_of(config))) {
    // While they are rotated one may be new and the other old, or half written.
    if (http::parse_certificate(tls->ca_pem, "the CA").ok()) config.ca_pem = std::move(tls->ca_pem);
    if (http::check_key_pair(tls->client_cert_pem, tls->client_key_pem, "the client").ok()) {
      config.client_cert_pem = std::move(tls->client_cert_pem);
      config.client_key_pem = std::move(tls->client_key_pem);
    }
  }
  if (config.oidc) {
    const auto text = base::read_file(config.oidc->file, kMaxKubeconfig);
    if (auto tokens = text.ok() ? tokens_in(*text, config.oidc->user) : std::nullopt) {
      config.oidc->id_token = std::move(tokens->id_token);
      // Not where somebody does without it.
      if (!config.oidc->refresh_token.empty()) {
        config.oidc->refresh_token = std::move(tokens->refresh_token);
      }
    }
  }
  return config;
}

std::string render_kubeconfig(const ClientConfig& config, const std::string& context_name) {
  Json cluster{{"server", config.server}};
  if (!config.ca_pem.empty()) {
    cluster["certificate-authority-data"] = base::base64_encode(config.ca_pem);
  }
  if (!config.tls_server_name.empty()) cluster["tls-server-name"] = config.tls_server_name;
  if (config.insecure_skip_tls_verify) cluster["insecure-skip-tls-verify"] = true;
  if (config.disable_compression) cluster["disable-compression"] = true;
  Json user = Json::object();
  if (!config.token.empty()) user["token"] = config.token;
  if (!config.token_file.empty()) user["tokenFile"] = absolute(config.token_file);
  if (!config.username.empty()) user["username"] = config.username;
  if (!config.password.empty()) user["password"] = config.password;
  if (config.oidc) {
    if (auto entry = base::parse_json(config.oidc->entry); entry.ok()) {
      add_tokens(*config.oidc, *entry);
      user["auth-provider"] = *entry;
    }
  }
  if (config.exec) {
    if (auto entry = base::parse_json(config.exec->entry); entry.ok()) user["exec"] = *entry;
    if (auto extension = base::parse_json(config.exec->cluster_config); extension.ok()) {
      cluster["extensions"] = {{{"name", kExecExtension}, {"extension", *extension}}};
    }
  }
  if (!config.client_cert_pem.empty()) {
    user["client-certificate-data"] = base::base64_encode(config.client_cert_pem);
    user["client-key-data"] = base::base64_encode(config.client_key_pem);
  }
  if (!config.proxy_url.empty()) cluster["proxy-url"] = config.proxy_url;
  add_impersonation(config.impersonate, user);
  Json context{{"cluster", context_name}, {"user", context_name}};
  if (!config.namespace_.empty()) context["namespace"] = config.namespace_;
  return base::dump_yaml(
      Json{{"apiVersion", "v1"},
           {"kind", "Config"},
           {"current-context", context_name},
           {"clusters", Json::array({{{"name", context_name}, {"cluster", cluster}}})},
           {"users", Json::array({{{"name", context_name}, {"user", user}}})},
           {"contexts", Json::array({{{"name", context_name}, {"context", context}}})}});
}

}  // namespace kubewatch::client
