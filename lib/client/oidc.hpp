// Kubeconfig users with `auth-provider: {name: oidc}`: an ID token, renewed with a refresh token at
// its issuer (OpenID Connect Core 1.0 section 12, Discovery 1.0 section 4), as client-go's plugin
// of that name does, which also writes new tokens back into the kubeconfig, since an issuer may
// take a refresh token once only. Internal to lib/client.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "client/config.hpp"
#include "client/kubeconfig.hpp"
#include "client/login.hpp"
#include "http/transport.hpp"
#include "loop/event_loop.hpp"

namespace kubewatch::client {

// `user` has a key auth-provider. Errors: invalid, naming file, entry and key.
Result<OidcLogin> read_oidc(const KubeconfigEntry& user);

// When a JSON Web Token expires, by its own word; absent: it does not say, or is no such token.
std::optional<WallTime> token_expiry(std::string_view token);

// Out of the issuer's configuration. Errors: invalid (another issuer's, no https).
Result<std::string> token_endpoint(const OidcLogin& login, std::string_view document);

// Where a client's secret goes: by HTTP Basic, which every issuer must take (RFC 6749 section
// 2.3.1) and some do not, or into the form.
enum class SecretIn { header, form };
http::Request refresh_request(const OidcLogin& login, const std::string& endpoint,
                              SecretIn place = SecretIn::header);
// Whether an issuer refuses the client, or how it says who it is, and not its refresh token.
bool refuses_client(int status, std::string_view body);

struct OidcTokens {
  std::string id_token;
  std::string refresh_token;  // "" = the old one stays good
};
// Errors: invalid; the issuer's error code where it gave one, never a token.
Result<OidcTokens> parse_tokens(int status, std::string_view body);

// What the kubeconfig has now: kubectl, or another client of ours, may have renewed them. Absent:
// it has no such user any more.
std::optional<OidcTokens> tokens_in(std::string_view kubeconfig, const std::string& user);

// The kubeconfig with that user's tokens in it. Errors: invalid, not_found.
Result<std::string> with_tokens(std::string_view kubeconfig, const std::string& user,
                                const OidcTokens& tokens);

// `issuer` is the way to the identity provider. Errors of fetch(): unauthorized.
std::unique_ptr<LoginSource> make_oidc_source(loop::EventLoop& loop, OidcLogin login,
                                              std::unique_ptr<http::Transport> issuer);

}  // namespace kubewatch::client
