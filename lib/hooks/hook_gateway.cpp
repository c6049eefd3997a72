#include "hooks/hook_gateway.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "hooks/caches.hpp"
#include "hooks/private_file.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostRequests = 64;           // passed on at once
constexpr std::size_t kMaxBacklog = 32U << 20U;     // bytes that a hook has not taken yet
constexpr std::size_t kMaxCachedList = 64U << 20U;  // a bigger one is the server's, page by page
constexpr Duration kIdleWatch{600000};

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
  KW_ASSIGN(out->forwarder_, client::Forwarder::make(client.loop(), client.config()));
  KW_ASSIGN(auto made,
            http::generate_certificate({"localhost"}, {"127.0.0.1"}, client.loop().wall()));
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
  std::erase_if(passing_, [&](const auto& entry) { return entry.second.home == home; });
}

std::vector<std::string> HookGateway::secrets() const {
  std::vector<std::string> out;
  for (const auto& [home, token] : tokens_) out.push_back(token);
  return out;
}

const std::string* HookGateway::home_of(const http::ServerRequest& request) const {
  constexpr std::string_view kBearer = "Bearer ";
  std::string_view given = request.headers.get("Authorization");
  if (!given.starts_with(kBearer)) return nullptr;
  given.remove_prefix(kBearer.size());
  const std::string* found = nullptr;
  for (const auto& [home, token] : tokens_) {
    if (same_secret(given, token)) found = &home;
  }
  return found;
}

void HookGateway::handle(const http::ServerRequest& request,
                         const std::shared_ptr<http::Responder>& to) {
  const std::string* home = home_of(request);
  if (home == nullptr) return refuse(*to, 401, "no token of a hook that runs now");
  const GatewayPlan plan =
      plan_gateway_request(request, caches_.writable_kinds(), rule_.apply.field_manager);
  if (plan.how == GatewayPlan::How::refuse) return refuse(*to, plan.status, plan.message);
  if (plan.how == GatewayPlan::How::cache && answer_from_cache(plan, *to)) return;
  if (plan.write) {
    if (const auto may = client_.may_write(); !may.ok()) {
      return refuse(*to, 503, may.error().render());
    }
  }
  if (passing_.size() >= kMostRequests) return refuse(*to, 503, "too many requests at once");
  pass_on(plan, request, *home, to);
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

void HookGateway::pass_on(const GatewayPlan& plan, const http::ServerRequest& request,
                          const std::string& home, const std::shared_ptr<http::Responder>& to) {
  http::Request out;
  out.method = request.method;
  out.url = plan.target;
  for (const char* name : {"Accept", "Content-Type"}) {
    if (request.headers.has(name)) out.headers.set(name, std::string(request.headers.get(name)));
  }
  out.body = request.body;
  out.streaming = plan.streaming;
  if (plan.streaming) out.idle_timeout = kIdleWatch;
  const std::uint64_t id = ++last_;
  Passing& passing = passing_[id];
  passing.home = home;
  passing.responder = to;
  http::CallHandlers handlers;
  handlers.on_head = [this, id](const http::ResponseHead& head) { on_head(id, head); };
  handlers.on_data = [this, id](std::string_view bytes) { on_data(id, bytes); };
  handlers.on_done = [this, id](const Result<void>& how) { on_done(id, how); };
  passing.call = forwarder_->start(std::move(out), std::move(handlers));
}

void HookGateway::on_head(std::uint64_t id, const http::ResponseHead& head) {
  const auto it = passing_.find(id);
  if (it == passing_.end()) return;
  Passing& passing = it->second;
  if (passing.responder->gone()) {
    passing_.erase(it);
    return;
  }
  http::Headers headers;
  for (const char* name : {"Content-Type", "Retry-After", "Warning"}) {
    if (head.headers.has(name)) headers.add(name, std::string(head.headers.get(name)));
  }
  passing.begun = true;
  passing.responder->on_gone([this, id] {
    client_.loop().post([this, id, there = std::weak_ptr(alive_)] {
      if (!there.expired()) passing_.erase(id);
    });
  });
  passing.responder->begin(head.status, headers);
}

void HookGateway::on_data(std::uint64_t id, std::string_view bytes) {
  const auto it = passing_.find(id);
  if (it == passing_.end()) return;
  it->second.responder->send(bytes);
  // It reads slower than the server sends: it may ask again.
  if (it->second.responder->backlog() > kMaxBacklog) passing_.erase(it);
}

void HookGateway::on_done(std::uint64_t id, const Result<void>& how) {
  auto node = passing_.extract(id);
  if (node.empty()) return;
  if (!how.ok() && !node.mapped().begun) {
    refuse(*node.mapped().responder, 503, how.error().render());
  }
}

}  // namespace kubewatch::hooks
