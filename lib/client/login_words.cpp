#include "client/login_words.hpp"

#include "client/credentials.hpp"

namespace kubewatch::client {

namespace {

// As Credentials chooses among them: the token goes before the password, a certificate with both.
std::string login_of(const ClientConfig& config) {
  if (!config.token_file.empty()) return "the token in " + config.token_file;
  if (!config.token.empty()) return config.token_by_flag ? "the token of --token" : "the token";
  if (!config.username.empty()) return "the password of user " + config.username;
  if (config.exec) return "what exec " + config.exec->command + " gave";
  if (config.oidc) return "the login of " + config.oidc->user + " at " + config.oidc->issuer;
  if (!config.client_cert_file.empty()) {
    return "the client certificate in " + config.client_cert_file;
  }
  return config.client_cert_pem.empty() ? "" : "the client certificate";
}

}  // namespace

std::string why_unauthorized(const ClientConfig& config) {
  const std::string login = login_of(config);
  if (!login.empty() && !sends_credentials(config)) {
    return "no credentials were sent: they are kept from a server that is neither https nor this "
           "machine";
  }
  return (login.empty() ? "no credentials were sent" : "the server does not accept " + login) +
         (config.source.empty() ? "" : " (" + config.source + ")");
}

std::string why_no_answer(const ClientConfig& config, bool awaits_login) {
  if (awaits_login && config.exec) {
    return "exec: executable " + config.exec->command + " did not end";
  }
  if (awaits_login && config.oidc) {
    return "no login of " + config.oidc->user + " from " + config.oidc->issuer;
  }
  return "no answer from " + config.server;
}

}  // namespace kubewatch::client
