#include "client/oidc.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "client/file_limits.hpp"
#include "client/login_answer.hpp"
#include "core/object_rules.hpp"

namespace kubewatch::client {
namespace {

constexpr std::size_t kMaxAnswer = 1U << 20U;
constexpr std::chrono::seconds kRenewedBefore{10};
// A token may name any number.
constexpr std::int64_t kLastSecond = 253402300799;  // 9999-12-31T23:59:59Z

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

Error from_issuer(const OidcLogin& login, const std::string& what) {
  return Error(ErrorKind::invalid, "OpenID Connect issuer " + login.issuer + ": " + what);
}

std::string form(const std::vector<std::pair<std::string, std::string>>& fields) {
  std::string out;
  for (const auto& [name, value] : fields) {
    out += (out.empty() ? "" : "&") + name + "=" + base::percent_encode(value);
  }
  return out;
}

// users[NAME].user.auth-provider.config; null when there is none. Of a Json or a const one.
template <class Document>
Document* provider_of(Document& kubeconfig, const std::string& user) {
  Document* users = base::find(kubeconfig, {"users"});
  if (users == nullptr || !users->is_array()) return nullptr;
  for (auto& entry : *users) {
    if (base::string_at(entry, {"name"}) != user) continue;
    Document* config = base::find(entry, {"user", "auth-provider", "config"});
    return config != nullptr && config->is_object() ? config : nullptr;
  }
  return nullptr;
}

// While it exists, kubectl and we leave the kubeconfig alone.
class LockFile {
 public:
  explicit LockFile(std::string path) : path_(std::move(path)) {
    fd_ = ::open(path_.c_str(), O_CREAT | O_EXCL | O_CLOEXEC | O_RDONLY, 0600);
  }
  ~LockFile() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(path_.c_str());
  }
  LockFile(const LockFile&) = delete;
  LockFile& operator=(const LockFile&) = delete;
  bool held() const { return fd_ >= 0; }

 private:
  std::string path_;
  int fd_ = -1;
};

Result<void> keep_tokens(const OidcLogin& login, const OidcTokens& tokens) {
  // Behind a symbolic link is the file to write.
  std::error_code ignored;
  const auto real = std::filesystem::canonical(login.file, ignored);
  const std::string file = ignored ? login.file : real.string();
  const LockFile lock(file + ".lock");
  if (!lock.held()) return Error(ErrorKind::conflict, file + ".lock exists");
  KW_ASSIGN(const std::string before, base::read_regular_file(file, kMaxKubeconfig));
  KW_ASSIGN(const std::string after, with_tokens(before, login.user, tokens).with_context(file));
  struct stat status {};
  const unsigned mode = ::stat(file.c_str(), &status) == 0 ? status.st_mode & 0777U : 0600U;
  KW_TRY(base::write_file_atomic(file, after, mode));
  // Written by root for a user, it stays the user's.
  if (status.st_uid != ::geteuid() && ::chown(file.c_str(), status.st_uid, status.st_gid) != 0) {
    return Error(ErrorKind::forbidden, file + " belongs to this user now: chown failed");
  }
  return {};
}

class OidcSource : public LoginSource {
 public:
  OidcSource(loop::EventLoop& loop, OidcLogin login, std::unique_ptr<http::Transport> issuer)
      : loop_(loop), login_(std::move(login)), issuer_(std::move(issuer)) {}

  void fetch(bool refused, std::function<void(Result<Login>)> done) override {
    answer_.owe(std::move(done));
    // An issuer may take a refresh token once only: the newest one is in the file.
    const std::string had = login_.id_token;
    if (refused || !is_good()) read_again();
    if (is_good() && (!refused || login_.id_token != had)) {
      return answer_.tell_later(Login{login_.id_token, "", "", token_expiry(login_.id_token)});
    }
    if (login_.refresh_token.empty()) {
      return answer_.tell_later(
          Error(ErrorKind::unauthorized,
                "the ID token of " + login_.user + " in " + login_.file +
                    " is no longer valid, and there is no refresh-token: log in again"));
    }
    http::Request request;
    request.url = without_slash(login_.issuer) + "/.well-known/openid-configuration";
    ask(std::move(request), &OidcSource::found);
  }

 private:
  bool is_good() const {
    const auto expires = token_expiry(login_.id_token);
    return expires && loop_.wall() + kRenewedBefore < *expires;
  }

  void read_again() {
    const auto text = base::read_regular_file(login_.file, kMaxKubeconfig);
    const auto tokens = text.ok() ? tokens_in(*text, login_.user) : std::nullopt;
    if (!tokens) return;
    login_.id_token = tokens->id_token;
    // Not where somebody does without it (completion).
    if (!login_.refresh_token.empty()) login_.refresh_token = tokens->refresh_token;
  }

  using Next = void (OidcSource::*)(const http::Response&);

  void ask(http::Request request, Next next) {
    request.max_body = kMaxAnswer;
    call_ = http::fetch(*issuer_, std::move(request), [this, next](Result<http::Response> answer) {
      if (!answer.ok()) return answer_.tell(std::move(answer).error().with_context(issuer()));
      const http::Response response = std::move(answer).value();
      (this->*next)(response);
    });
  }

  void found(const http::Response& response) {
    if (response.status != 200) {
      return answer_.tell(from_issuer(
          login_, "its openid-configuration is answered " + std::to_string(response.status)));
    }
    const auto endpoint = token_endpoint(login_, response.body);
    if (!endpoint.ok()) return answer_.tell(endpoint.error());
    endpoint_ = *endpoint;
    tried_other_ = false;
    ask(refresh_request(login_, endpoint_, secret_in_), &OidcSource::renewed);
  }

  void renewed(const http::Response& response) {
    if (!login_.client_secret.empty() && refuses_client(response.status, response.body) &&
        !std::exchange(tried_other_, true)) {
      secret_in_ = secret_in_ == SecretIn::header ? SecretIn::form : SecretIn::header;
      return ask(refresh_request(login_, endpoint_, secret_in_), &OidcSource::renewed);
    }
    const auto tokens = parse_tokens(response.status, response.body);
    if (!tokens.ok()) return answer_.tell(Error(tokens.error()).with_context(issuer()));
    login_.id_token = tokens->id_token;
    if (!tokens->refresh_token.empty()) login_.refresh_token = tokens->refresh_token;
    if (auto kept = keep_tokens(login_, {login_.id_token, login_.refresh_token}); !kept.ok()) {
      base::log_warn("the new tokens of " + login_.user +
                     " are not written to the kubeconfig: " + kept.error().render());
    }
    answer_.tell(Login{login_.id_token, "", "", token_expiry(login_.id_token)});
  }

  std::string issuer() const { return "OpenID Connect issuer " + login_.issuer; }

  loop::EventLoop& loop_;
  OidcLogin login_;
  std::unique_ptr<http::Transport> issuer_;
  std::string endpoint_;
  SecretIn secret_in_ = SecretIn::header;  // as it was taken last
  bool tried_other_ = false;
  LoginAnswer answer_{loop_};
  std::unique_ptr<http::Call> call_;
};

}  // namespace

Result<OidcLogin> read_oidc(const KubeconfigEntry& user) {
  const Json& provider = *user.value("auth-provider");
  const std::string name = base::string_at(provider, {"name"});
  if (name != "oidc") {
    return user.error("auth-provider \"" + name +
                      "\" is not known: only oidc is; others have become exec plugins");
  }
  const auto text = [&](const char* key) { return base::string_at(provider, {"config", key}); };
  OidcLogin out;
  out.issuer = text("idp-issuer-url");
  out.client_id = text("client-id");
  out.client_secret = text("client-secret");
  out.id_token = text("id-token");
  out.refresh_token = text("refresh-token");
  if (out.issuer.empty()) return user.error("auth-provider.config has no idp-issuer-url");
  if (!out.issuer.starts_with("https://")) {
    return user.error("auth-provider.config.idp-issuer-url is not https");
  }
  if (const auto host = out.issuer.substr(8, out.issuer.find('/', 8) - 8);
      host.find('@') != std::string::npos) {
    return user.error("auth-provider.config.idp-issuer-url holds a user name, which would be told");
  }
  if (out.client_id.empty()) return user.error("auth-provider.config has no client-id");
  if (const auto data = text("idp-certificate-authority-data"); !data.empty()) {
    auto decoded = core::decoded_bytes(base::trim(data));
    if (!decoded) {
      return user.error("auth-provider.config.idp-certificate-authority-data is not valid base64");
    }
    out.ca_pem = *std::move(decoded);
  } else if (const auto file = text("idp-certificate-authority"); !file.empty()) {
    KW_ASSIGN(out.ca_pem, base::read_file(user.resolve(file), kMaxAnswer)
                              .with_context("auth-provider.config.idp-certificate-authority"));
  }
  out.file = user.file();
  out.user = user.name();
  out.entry = base::dump_json(provider);
  return out;
}

std::optional<WallTime> token_expiry(std::string_view token) {
  const auto parts = base::split(token, '.');
  if (parts.size() != 3) return std::nullopt;
  const auto payload = base::base64_decode(parts[1]);
  if (!payload.ok()) return std::nullopt;
  const auto claims = base::parse_json(*payload, {kMaxAnswer, 32});
  if (!claims.ok()) return std::nullopt;
  const Json* expires = base::find(*claims, {"exp"});
  if (expires == nullptr || !expires->is_number()) return std::nullopt;
  const double seconds = expires->get<double>();
  if (!(seconds >= 0 && seconds <= static_cast<double>(kLastSecond))) return std::nullopt;
  return WallTime{std::chrono::seconds{static_cast<std::int64_t>(seconds)}};
}

Result<std::string> token_endpoint(const OidcLogin& login, std::string_view document) {
  const auto parsed = base::parse_json(document, {kMaxAnswer, 32});
  if (!parsed.ok()) return from_issuer(login, "its openid-configuration is not JSON");
  if (without_slash(base::string_at(*parsed, {"issuer"})) != without_slash(login.issuer)) {
    return from_issuer(login, "its openid-configuration is of another issuer");
  }
  auto endpoint = base::string_at(*parsed, {"token_endpoint"});
  if (!endpoint.starts_with("https://")) {
    return from_issuer(login, "its token_endpoint is missing or not https");
  }
  return endpoint;
}

http::Request refresh_request(const OidcLogin& login, const std::string& endpoint, SecretIn place) {
  http::Request request;
  request.method = "POST";
  request.url = endpoint;
  request.headers.set("Content-Type", "application/x-www-form-urlencoded");
  request.headers.set("Accept", "application/json");
  const bool by_header = !login.client_secret.empty() && place == SecretIn::header;
  // RFC 6749 section 2.3.1: both parts are form-encoded before they are joined.
  if (by_header) {
    request.headers.set("Authorization",
                        "Basic " + base::base64_encode(base::percent_encode(login.client_id) + ":" +
                                                       base::percent_encode(login.client_secret)));
  }
  std::vector<std::pair<std::string, std::string>> fields = {
      {"grant_type", "refresh_token"}, {"refresh_token", login.refresh_token}};
  if (!by_header) fields.emplace_back("client_id", login.client_id);
  if (!by_header && !login.client_secret.empty()) {
    fields.emplace_back("client_secret", login.client_secret);
  }
  request.body = form(fields);
  return request;
}

bool refuses_client(int status, std::string_view body) {
  if (status != 400 && status != 401) return false;
  const auto parsed = base::parse_json(body, {kMaxAnswer, 32});
  // Said of the refresh token, of a client that was taken.
  return !parsed.ok() || base::string_at(*parsed, {"error"}) != "invalid_grant";
}

Result<OidcTokens> parse_tokens(int status, std::string_view body) {
  const auto parsed = base::parse_json(body, {kMaxAnswer, 32});
  const std::string code = parsed.ok() ? base::string_at(*parsed, {"error"}) : "";
  if (status != 200) {
    return Error(ErrorKind::invalid, "the refresh token is answered " + std::to_string(status) +
                                         (code.empty() ? "" : ": " + code.substr(0, 100)));
  }
  if (!parsed.ok()) return Error(ErrorKind::invalid, "its tokens are not JSON");
  OidcTokens out;
  out.id_token = base::string_at(*parsed, {"id_token"});
  out.refresh_token = base::string_at(*parsed, {"refresh_token"});
  if (!token_expiry(out.id_token)) {
    return Error(ErrorKind::invalid, "it gave no ID token that says when it expires");
  }
  return out;
}

std::optional<OidcTokens> tokens_in(std::string_view kubeconfig, const std::string& user) {
  const auto documents = base::parse_yaml_values(kubeconfig);
  if (!documents.ok() || documents->size() != 1) return std::nullopt;
  const Json* config = provider_of(documents->front(), user);
  if (config == nullptr) return std::nullopt;
  return OidcTokens{base::string_at(*config, {"id-token"}),
                    base::string_at(*config, {"refresh-token"})};
}

Result<std::string> with_tokens(std::string_view kubeconfig, const std::string& user,
                                const OidcTokens& tokens) {
  KW_ASSIGN(std::vector<Json> documents, base::parse_yaml_values(kubeconfig));
  if (documents.size() != 1) return Error(ErrorKind::invalid, "it is not one document");
  Json* config = provider_of(documents.front(), user);
  if (config == nullptr) {
    return Error(ErrorKind::not_found,
                 "it has no user " + user + " with an auth-provider any more");
  }
  (*config)["id-token"] = tokens.id_token;
  (*config)["refresh-token"] = tokens.refresh_token;
  return base::dump_yaml(documents.front());
}

std::unique_ptr<LoginSource> make_oidc_source(loop::EventLoop& loop, OidcLogin login,
                                              std::unique_ptr<http::Transport> issuer) {
  return std::make_unique<OidcSource>(loop, std::move(login), std::move(issuer));
}

}  // namespace kubewatch::client
