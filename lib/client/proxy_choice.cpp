#include "client/proxy_choice.hpp"

#include <string>
#include <string_view>
#include <utility>

#include "client/url_scheme.hpp"
#include "http/checks.hpp"
#include "http/listen_address.hpp"
#include "http/no_proxy.hpp"

namespace kubewatch::client {
namespace {

constexpr unsigned long kMostPort = 65535;

// The environment's proxy for this server, "" = none. Decided here, by the server's own host, so
// that a kubeconfig that we write leads the same way, and tls-server-name has no say in it.
Result<std::string> proxy_of_environment(const std::string& server, const ConfigEnvironment& env) {
  KW_ASSIGN(const http::Endpoint endpoint, http::parse_endpoint(server));
  if (http::is_loopback_host(host_of_url(server)) ||
      http::named_by_no_proxy(env.no_proxy, endpoint.host, endpoint.port)) {
    return std::string();
  }
  const std::string& proxy = endpoint.scheme == "https" ? env.https_proxy : env.http_proxy;
  const bool bare = !proxy.empty() && proxy.find("://") == std::string::npos;
  return bare ? "http://" + proxy : proxy;
}

// What is wrong with a proxy's URL; "" when nothing is. Its text is not quoted: it may hold a
// password.
std::string problem_of_proxy(const std::string& url) {
  for (const std::string_view scheme : {"http://", "https://", "socks5://"}) {
    if (!url.starts_with(scheme)) continue;
    const auto endpoint = http::parse_endpoint("http://" + url.substr(scheme.size()));
    const std::string port = endpoint.ok() ? endpoint->port : "";
    const bool is_port = !port.empty() && std::stoul(port) > 0 && std::stoul(port) <= kMostPort;
    if (host_of_url(url).empty()) return "has no host";
    return is_port ? "" : "has a port that is no number from 1 to 65535";
  }
  return "has none of the schemes http, https, socks5";
}

}  // namespace

Result<void> choose_proxy(const ConfigOverrides& flags, const ConfigEnvironment& env,
                          ClientConfig& out) {
  std::string who = out.source + ": proxy-url";
  if (!flags.proxy_url.empty()) {
    out.proxy_url = flags.proxy_url;
    who = "--proxy-url";
  }
  if (out.proxy_url.empty()) {
    auto proxy = proxy_of_environment(out.server, env);
    if (!proxy.ok()) return std::move(proxy).error().with_context(out.source);
    out.proxy_url = std::move(proxy).value();
    const bool tls = out.server.starts_with("https://");
    who = std::string("the environment's ") + (tls ? "HTTPS_PROXY" : "HTTP_PROXY");
  }
  if (out.proxy_url.empty()) return {};
  out.proxy_url = with_lower_scheme(std::move(out.proxy_url));
  // The same in Go, and client-go knows this one alone.
  constexpr std::string_view kSocks = "socks5h://";
  if (out.proxy_url.starts_with(kSocks)) out.proxy_url.replace(0, kSocks.size(), "socks5://");
  const std::string problem = problem_of_proxy(out.proxy_url);
  if (problem.empty()) return {};
  return Error(ErrorKind::invalid, who + " " + problem);
}

}  // namespace kubewatch::client
