#include "hooks/hook_gateway.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "core/impersonation.hpp"
#include "hooks/caches.hpp"
#include "hooks/private_file.hpp"
#include "http/bearer.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxCachedList = 64U << 20U;  // a bigger one is the server's, page by page

http::Headers json_headers() {
  http::Headers out;
  out.add("Content-Type", "application/json");
  out.add("X-Content-Type-Options", "nosniff");
  return out;
}

// As the API server words it: kubectl prints the message.
void refuse(http::Responder& to, int status, const std::string& message) {
  const char* reason = status == 401   ? "Unauthorized"
                       : status == 404 ? "NotFound"
                       : status == 403 ? "Forbidden"
                                       : "ServiceUnavailable";
  const Json body = {{"apiVersion", "v1"},  {"kind", "Status"},
                     {"status", "Failure"}, {"message", "kubewatch: " + message},
                     {"reason", reason},    {"code", status}};
  to.respond(status, json_headers(), base::dump_json(body));
}

// The state of a list as it is sent: items are copied as they are stored.
std::string list_document(const core::ResourceType& type, const std::string& version,
                          const std::vector<std::string>& items) {
  const Json head = {{"resourceVersion", version}};
  std::string out = R"({"kind":)" + base::dump_json(Json(type.gvk.kind + "List")) +
                    R"(,"apiVersion":)" + base::dump_json(Json(type.gvk.api_version())) +
                    R"(,"metadata":)" + base::dump_json(head) + R"(,"items":[)";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    out += items[i];
  }
  return out + "]}";
}

// All objects of the kind that the request means; absent: they are not all here.
std::optional<std::vector<std::string>> cached_items(const RuleCaches::CachedKind& kind,
                                                     const GatewayPlan& plan) {
  const auto selector = core::LabelSelector::parse(plan.label_selector);
  if (!selector.ok() || !kind.all || !kind.group.covers(plan.path.namespace_)) return std::nullopt;
  std::vector<std::string> out;
  std::size_t bytes = 0;
  for (const core::ObjectKey& key : kind.group.keys()) {
    if (!plan.path.namespace_.empty() && key.namespace_ != plan.path.namespace_) continue;
    auto object = kind.group.get(key);
    if (!object || !selector->matches(object->meta.labels)) continue;
    bytes += object->json.size();
    if (object->reduced || bytes > kMaxCachedList) return std::nullopt;
    out.push_back(std::move(object->json));
  }
  return out;
}

}  // namespace

Result<std::unique_ptr<HookGateway>> HookGateway::open(client::Client& client, const Rule& rule,
                                                       const RuleCaches& caches) {
  std::unique_ptr<HookGateway> out(new HookGateway(client, rule, caches));
  KW_ASSIGN(out->passing_, client::PassThrough::make(client.loop(), client.config(),
                                                     [](http::Responder& to, const Error& error) {
                                                       refuse(to, 503, error.render());
                                                     }));
  KW_ASSIGN(auto made, http::generate_certificate({"localhost"}, {"127.0.0.1"}));
  out->ca_pem_ = std::move(made.ca_pem);
  http::ServerOptions options;
  options.tls = http::ServerTls{std::move(made.certificate_pem), std::move(made.key_pem)};
  options.max_header_bytes = 16U << 10U;
  options.max_body_bytes = 3U << 20U;
  KW_ASSIGN(out->server_,
            http::Server::listen(client.loop(), std::move(options),
                                 [self = out.get()](const http::ServerRequest& request,
                                                    const std::shared_ptr<http::Responder>& to) {
                                   self->handle(request, to);
                                 }));
  return out;
}

HookGateway::~HookGateway() = default;

Result<HookEnvironment> HookGateway::let_in(const std::string& home) {
  std::string& token = tokens_[home];
  token = base::secure_random_hex(32);
  client::ClientConfig config;
  config.server = fmt::format("https://127.0.0.1:{}", port());
  config.namespace_ = client_.config().namespace_;
  config.ca_pem = ca_pem_;
  config.token = token;
  const std::string path = home + "/kubeconfig";
  if (auto written = write_private(path, client::render_kubeconfig(config, "kubewatch"));
      !written.ok()) {
    tokens_.erase(home);
    return std::move(written).error();
  }
  return HookEnvironment{{"KUBECONFIG=" + path}, {token}};
}

void HookGateway::revoke(const std::string& home) {
  if (tokens_.erase(home) == 0) return;
  passing_->end(home);
}

std::vector<std::string> HookGateway::secrets() const {
  std::vector<std::string> out;
  for (const auto& [home, token] : tokens_) out.push_back(token);
  return out;
}

const std::string* HookGateway::home_of(const http::ServerRequest& request) const {
  const std::string_view given = http::bearer_token(request.headers);
  const std::string* found = nullptr;
  for (const auto& [home, token] : tokens_) {
    if (http::same_secret(given, token)) found = &home;
  }
  return found;
}

void HookGateway::handle(const http::ServerRequest& request,
                         const std::shared_ptr<http::Responder>& to) {
  const std::string* home = home_of(request);
  if (home == nullptr) return refuse(*to, 401, "no token of a hook that runs now");
  if (core::asks_for_impersonation(request.headers.all())) {
    return refuse(*to, 403,
                  "with `credentials: cache` a hook acts as its controller only: impersonation "
                  "(--as, --as-group, --as-uid) needs `credentials: kubeconfig`");
  }
  const GatewayPlan plan =
      plan_gateway_request(request, caches_.writable_kinds(), rule_.apply.field_manager,
                           rule_.reconcile.credentials.read_only);
  if (plan.how == GatewayPlan::How::refuse) return refuse(*to, plan.status, plan.message);
  if (plan.how == GatewayPlan::How::cache && answer_from_cache(plan, *to)) return;
  if (plan.write) {
    if (const auto may = client_.may_write(); !may.ok()) {
      return refuse(*to, 503, may.error().render());
    }
  }
  if (!passing_->pass(request, {plan.target, plan.streaming, *home}, to)) {
    refuse(*to, 503, "too many requests at once");
  }
}

// Only what is there whole. What is not there may be so in the cache alone: the server is asked.
bool HookGateway::answer_from_cache(const GatewayPlan& plan, http::Responder& to) const {
  for (const RuleCaches::CachedKind& kind : caches_.cached_kinds()) {
    const core::Gvk& gvk = kind.type.gvk;
    const bool same = gvk.group == plan.path.group && gvk.version == plan.path.version &&
                      kind.type.plural == plan.path.plural;
    if (!same || kind.stream.list.content != core::Content::full || !kind.group.ready()) continue;
    if (!plan.path.name.empty()) {
      const auto object = kind.group.get({plan.path.namespace_, plan.path.name});
      if (!object || object->reduced) continue;
      to.respond(200, json_headers(), object->json);
      return true;
    }
    const auto items = cached_items(kind, plan);
    if (!items) continue;
    to.respond(200, json_headers(),
               list_document(kind.type, kind.group.resource_version(), *items));
    return true;
  }
  return false;
}

}  // namespace kubewatch::hooks
