// TokenRequest, and two small files.
#include "hooks/hook_credentials.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "hooks/hook_homes.hpp"
#include "hooks/private_file.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::int64_t kLifetimeSeconds = 3600;
// A server may grant less than was asked for, but nothing shorter is of use.
constexpr Duration kShortestLifetime{60000};
constexpr Duration kPauseAfterFailure{30000};
constexpr std::size_t kMaxTokenFile = 1U << 20U;
constexpr const char* kContext = "kubewatch";

core::ResourceType service_accounts() {
  core::ResourceType type;
  type.gvk = {"", "v1", "ServiceAccount"};
  type.plural = "serviceaccounts";
  type.singular = "serviceaccount";
  type.namespaced = true;
  return type;
}

// The way to the same server, for who is somebody else there. What is not named here stays here:
// a way to log in that is added one day must not reach a hook by that.
client::ClientConfig way_to_server(const client::ClientConfig& config) {
  client::ClientConfig out;
  out.server = config.server;
  out.namespace_ = config.namespace_;
  out.ca_pem = config.ca_pem;
  out.tls_server_name = config.tls_server_name;
  out.insecure_skip_tls_verify = config.insecure_skip_tls_verify;
  out.proxy_url = config.proxy_url;
  out.disable_compression = config.disable_compression;
  return out;
}

std::string kubeconfig_in(const std::string& home) {
  return home + "/kubeconfig";
}

std::string token_in(const std::string& home) {
  return home + "/token";
}

// Whether a kubeconfig may become outdated; files of tokens it names.
bool may_change(const client::ClientConfig& config) {
  return config.oidc || !config.ca_file.empty() || !config.client_cert_file.empty() ||
         !config.client_key_file.empty();
}

// What changes in a kubeconfig.
std::string material_of(const client::ClientConfig& config) {
  std::string out = config.ca_pem + '\n' + config.client_cert_pem + '\n' + config.client_key_pem;
  if (config.oidc) out += '\n' + config.oidc->id_token + '\n' + config.oidc->refresh_token;
  return out;
}

// By its name: what else a login program is told ("production") would take words out of every log.
bool names_a_secret(std::string_view name) {
  const std::string lower = base::to_lower(name);
  for (const char* word : {"secret", "token", "passw", "key", "credential", "authorization"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

// Of the login program's environment, and of arguments like --client-secret=X or --client-secret X.
std::vector<std::string> secrets_of(const client::ExecPlugin& plugin) {
  std::vector<std::string> out;
  for (const auto& [name, value] : plugin.environment) {
    if (names_a_secret(name)) out.push_back(value);
  }
  bool named = false;
  for (const std::string& argument : plugin.arguments) {
    const bool flag = argument.starts_with("-");
    if (named && !flag) out.push_back(argument);
    const std::size_t equals = argument.find('=');
    const bool names = flag && names_a_secret(argument.substr(0, equals));
    if (names && equals != std::string::npos) out.push_back(argument.substr(equals + 1));
    named = names && equals == std::string::npos;
  }
  return out;
}

// The password of `http://user:password@host`, as it stands there, as it is meant and as it is
// sent.
std::vector<std::string> secrets_of_proxy(std::string_view url) {
  if (const auto scheme = url.find("://"); scheme != url.npos) url.remove_prefix(scheme + 3);
  const std::size_t at = url.rfind('@');
  if (at == url.npos) return {};
  const std::string_view user = url.substr(0, at);
  const std::size_t colon = user.find(':');
  if (colon == user.npos || colon + 1 == user.size()) return {};
  std::vector<std::string> out{std::string(user.substr(colon + 1))};
  const auto name = base::percent_decode(user.substr(0, colon));
  const auto password = base::percent_decode(out.front());
  if (name.ok() && password.ok()) {
    out.push_back(*password);
    out.push_back(base::base64_encode(*name + ":" + *password));
  }
  return out;
}

// All that says who we are, in the forms in which it stands in files, headers and answers.
std::vector<std::string> secrets_of(const client::Client& client, const client::ClientConfig& now) {
  const client::ClientConfig& config = client.config();
  std::vector<std::string> out = client.login_secrets();
  out.insert(out.end(), {config.token, config.password});
  // Hooks that run may have the old ones, and those that start the new.
  for (const client::ClientConfig* one : {&config, &now}) {
    out.push_back(one->client_key_pem);
    if (!one->oidc) continue;
    out.insert(out.end(),
               {one->oidc->client_secret, one->oidc->id_token, one->oidc->refresh_token});
  }
  if (config.exec) {
    for (std::string& secret : secrets_of(*config.exec)) out.push_back(std::move(secret));
  }
  // What the hook may read there now: others renew it.
  if (!config.token_file.empty()) {
    const auto content = base::read_regular_file(config.token_file, kMaxTokenFile);
    if (content.ok()) out.emplace_back(base::trim(*content));
  }
  for (std::string& secret : secrets_of_proxy(config.proxy_url)) out.push_back(std::move(secret));
  const std::vector<std::string> plain = out;
  for (const std::string& secret : plain) out.push_back(base::base64_encode(secret));
  if (!config.username.empty()) {
    out.push_back(base::base64_encode(config.username + ":" + config.password));
  }
  return out;
}

std::string kubeconfig_of(const CredentialsRule& rule, const std::string& home,
                          const client::ClientConfig& config) {
  if (rule.kind != CredentialsRule::Kind::service_account) {
    return client::render_kubeconfig(config, kContext);
  }
  client::ClientConfig way = way_to_server(config);
  way.token_file = token_in(home);
  return client::render_kubeconfig(way, kContext);
}

// Whatever cleans up temporary folders was there.
bool is_missing(const std::string& path) {
  return ::access(path.c_str(), F_OK) != 0;
}

Result<void> write_again(const std::string& home, const std::string& path, std::string_view text) {
  KW_TRY(make_private_folder(home));
  return write_private(path, text);
}

}  // namespace

void TokenAge::got(TimePoint now, Duration lifetime) {
  got_ = now;
  failed_.reset();
  lifetime_ = lifetime;
  doubted_ = false;
}

void TokenAge::doubt(TimePoint now) {
  if (got_ && now - *got_ >= kPauseAfterFailure) doubted_ = true;
}

bool TokenAge::usable(TimePoint now) const {
  return got_ && now - *got_ < lifetime_ - lifetime_ / 20;
}

bool TokenAge::due(TimePoint now) const {
  if (failed_ && usable(now) && now - *failed_ < kPauseAfterFailure) return false;
  return !got_ || doubted_ || now - *got_ >= lifetime_ / 5 * 4;
}

void HookCredentials::prepare(const CredentialsRule& rule,
                              std::function<void(Result<void>)> ready) {
  if (rule.kind != CredentialsRule::Kind::service_account) return ready({});
  Account& account = accounts_[rule.service_account];
  const TimePoint now = client_.loop().now();
  const bool ask_now = account.age.due(now) && !account.asking;
  const bool awaited = account.age.doubted() && (account.asking || ask_now);
  if (account.age.usable(now) && !awaited) {
    if (ask_now) ask(rule.service_account);
    return ready({});
  }
  account.waiting.push_back(std::move(ready));
  if (ask_now) ask(rule.service_account);
}

void HookCredentials::ask(const std::string& name) {
  accounts_[name].asking = true;
  const Json request{{"apiVersion", "authentication.k8s.io/v1"},
                     {"kind", "TokenRequest"},
                     {"spec", {{"expirationSeconds", kLifetimeSeconds}}}};
  requests_.run<Result<Json>>([this, name](const Result<Json>& answer) { on_answer(name, answer); },
                              [&](client::ObjectCallback done) {
                                return client_.create_below(service_accounts(),
                                                            {client_.config().namespace_, name},
                                                            "token", request, std::move(done));
                              });
}

void HookCredentials::on_answer(const std::string& name, const Result<Json>& answer) {
  Account& account = accounts_[name];
  const TimePoint now = client_.loop().now();
  account.asking = false;
  Result<void> outcome;
  const std::string token = answer.ok() ? base::string_at(*answer, {"status", "token"}) : "";
  if (!token.empty()) {
    const auto seconds = base::int_at(*answer, {"spec", "expirationSeconds"});
    account.token = token;
    account.age.got(
        now, std::max(kShortestLifetime, Duration{seconds.value_or(kLifetimeSeconds) * 1000}));
  } else {
    account.age.failed(now);
    Error error =
        answer.ok() ? Error(ErrorKind::invalid, "the answer holds no token") : answer.error();
    error.add_context(fmt::format("credentials: no token for service account {} in namespace {}",
                                  name, client_.config().namespace_));
    if (account.age.usable(now)) {
      base::log_warn(
          "a token could not be renewed; the present one, which has not expired, stays in use",
          {{"error", error.render()}});
    } else {
      outcome = std::move(error);
    }
  }
  // Each may be the start of a run, and more may come to wait.
  for (const auto& ready : std::exchange(account.waiting, {})) ready(outcome);
}

Result<HookEnvironment> HookCredentials::write(const CredentialsRule& rule,
                                               const std::string& home) {
  using Kind = CredentialsRule::Kind;
  if (rule.kind == Kind::none) return HookEnvironment{};
  HookEnvironment out;
  if (rule.kind == Kind::service_account) {
    const auto account = accounts_.find(rule.service_account);
    if (account == accounts_.end()) return Error(ErrorKind::internal, "no token was asked for");
    KW_TRY(write_private(token_in(home), account->second.token));
  }
  const client::ClientConfig& config = now();
  KW_TRY(write_private(kubeconfig_in(home), kubeconfig_of(rule, home, config)));
  const bool ours = rule.kind != Kind::service_account;
  out.secrets = ours ? secrets_of(client_, config) : secrets(rule);
  out.variables.push_back("KUBECONFIG=" + kubeconfig_in(home));
  return out;
}

Result<HookEnvironment> HookCredentials::write_kept(const CredentialsRule& rule,
                                                    const std::string& home) {
  KW_ASSIGN(HookEnvironment out, write(rule, home));
  const bool writes = !out.variables.empty();
  if (writes && may_change(client_.config())) in_kubeconfigs_[home] = material_of(now_);
  return out;
}

// What a file that is being replaced held last stays.
const client::ClientConfig& HookCredentials::now() const {
  now_ = client::read_again(std::move(now_));
  return now_;
}

// Whether the kubeconfig there is another one now.
bool HookCredentials::renew_kubeconfig(const CredentialsRule& rule, const std::string& home) {
  const bool gone = is_missing(kubeconfig_in(home));
  if (!gone && !may_change(client_.config())) return false;
  const client::ClientConfig& config = now();
  std::string material = material_of(config);
  std::string& written = in_kubeconfigs_[home];
  // kubectl may have renewed its login there: nothing replaces that but what is newer than ours.
  if (!gone && written == material) return false;
  const auto done = write_again(home, kubeconfig_in(home), kubeconfig_of(rule, home, config));
  if (!done.ok()) {
    base::log_warn("the kubeconfig of a hook cannot be renewed",
                   {{"error", done.error().render()}});
    return false;
  }
  written = std::move(material);
  return true;
}

std::vector<std::string> HookCredentials::refresh(const CredentialsRule& rule,
                                                  const std::string& home) {
  using Kind = CredentialsRule::Kind;
  if (rule.kind != Kind::kubeconfig && rule.kind != Kind::service_account) return {};
  const bool renewed = renew_kubeconfig(rule, home);
  if (rule.kind == Kind::kubeconfig) {
    return renewed ? secrets(rule) : std::vector<std::string>();
  }
  Account& account = accounts_[rule.service_account];
  std::string& written = account.in_homes[home];
  if (written == account.token && !is_missing(token_in(home))) return {};
  if (const auto done = write_again(home, token_in(home), account.token); !done.ok()) {
    base::log_warn("the token of a worker cannot be renewed", {{"error", done.error().render()}});
    return {};
  }
  written = account.token;
  return {account.token};
}

std::vector<std::string> HookCredentials::secrets(const CredentialsRule& rule) const {
  if (rule.kind == CredentialsRule::Kind::none) return {};
  if (rule.kind == CredentialsRule::Kind::kubeconfig) return secrets_of(client_, now());
  const auto account = accounts_.find(rule.service_account);
  if (account == accounts_.end()) return {};
  std::vector<std::string> out = secrets_of_proxy(client_.config().proxy_url);
  out.push_back(account->second.token);
  return out;
}

void HookCredentials::doubt(const CredentialsRule& rule) {
  if (rule.kind != CredentialsRule::Kind::service_account) return;
  accounts_[rule.service_account].age.doubt(client_.loop().now());
}

void HookCredentials::forget(const std::string& home) {
  for (auto& [name, account] : accounts_) account.in_homes.erase(home);
  in_kubeconfigs_.erase(home);
}

}  // namespace kubewatch::hooks
