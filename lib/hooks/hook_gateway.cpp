#include "hooks/hook_gateway.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "core/impersonation.hpp"
#include "core/status.hpp"
#include "hooks/caches.hpp"
#include "hooks/private_file.hpp"
#include "http/bearer.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostKeptAnswer = 1U << 20U;  // of the answer to a write, to be looked at
constexpr std::size_t kMaxCachedList = 64U << 20U;  // a bigger one is the server's, page by page
// What may be passed on at once, and who is answered from a cache or waits with its next request.
constexpr std::size_t kMostConnections =
    client::PassThrough::kMostRequests + client::PassThrough::kMostStreams + 64;

http::Headers json_headers() {
  http::Headers out;
  out.add("Content-Type", "application/json");
  out.add("X-Content-Type-Options", "nosniff");
  return out;
}

// As the API server words it: kubectl prints the message.
void refuse(http::Responder& to, int status, const std::string& message,
            const std::string& allow = "") {
  const Json body = {{"apiVersion", "v1"},
                     {"kind", "Status"},
                     {"status", "Failure"},
                     {"message", "kubewatch: " + message},
                     {"reason", core::reason_of_code(status)},
                     {"code", status}};
  http::Headers headers = json_headers();
  if (!allow.empty()) headers.add("Allow", allow);
  to.respond(status, headers, base::dump_json(body));
}

// The state of a list as it is sent: items are copied as they are stored.
std::string list_document(const core::ResourceType& type, const std::string& version,
                          const std::vector<std::string>& items) {
  const Json head = {{"resourceVersion", version}};
  std::string out = R"({"kind":)" + base::json_quoted(type.gvk.kind + "List") +
                    R"(,"apiVersion":)" + base::json_quoted(type.gvk.api_version()) +
                    R"(,"metadata":)" + base::dump_json(head) + R"(,"items":[)";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    out += items[i];
  }
  return out + "]}";
}

// It holds what the path names as the server has it, but for what is stripped.
bool answers(const RuleCaches::CachedKind& kind, const core::ApiPath& path) {
  const core::Gvk& gvk = kind.type.gvk;
  return gvk.group == path.group && gvk.version == path.version &&
         kind.type.plural == path.plural && kind.stream.list.content == core::Content::full;
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
                                                       const RuleCaches& caches,
                                                       PatchMemory& memory) {
  std::unique_ptr<HookGateway> out(new HookGateway(client, rule, caches, memory));
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
  options.max_connections = kMostConnections;
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
  const std::string token = base::secure_random_hex(32);
  homes_[home] = {token, nullptr};
  client::ClientConfig config;
  config.server = fmt::format("https://127.0.0.1:{}", port());
  config.namespace_ = client_.config().namespace_;
  config.ca_pem = ca_pem_;
  config.token = token;
  const std::string path = home + "/kubeconfig";
  if (auto written = write_private(path, client::render_kubeconfig(config, "kubewatch"));
      !written.ok()) {
    homes_.erase(home);
    return std::move(written).error();
  }
  return HookEnvironment{{"KUBECONFIG=" + path}, {token}};
}

void HookGateway::serve(const std::string& home, GatewayGuestPtr guest) {
  if (const auto it = homes_.find(home); it != homes_.end()) it->second.guest = std::move(guest);
}

void HookGateway::revoke(const std::string& home) {
  if (homes_.erase(home) == 0) return;
  passing_->end(home);
}

std::vector<std::string> HookGateway::secrets() const {
  std::vector<std::string> out;
  for (const auto& [path, home] : homes_) out.push_back(home.token);
  return out;
}

const std::string* HookGateway::home_of(const http::ServerRequest& request) const {
  const std::string_view given = http::bearer_token(request.headers);
  const std::string* found = nullptr;
  for (const auto& [path, home] : homes_) {
    if (http::same_secret(given, home.token)) found = &path;
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
  if (plan.how == GatewayPlan::How::refuse) {
    return refuse(*to, plan.status, plan.message, plan.allow);
  }
  if (plan.how == GatewayPlan::How::cache && answer_from_cache(plan, *to)) return;
  if (plan.replaces && reads_stripped(plan.path)) {
    return refuse(*to, 405,
                  fmt::format("PUT would delete what the rule's `strip` keeps out of its cache of "
                              "{}: use PATCH or kubectl apply --server-side, or strip: [] there",
                              plan.path.plural),
                  plan.path.subresource.empty() ? "GET, PATCH, DELETE" : "GET, PATCH");
  }
  if (plan.write) {
    if (const auto may = client_.may_write(); !may.ok()) {
      return refuse(*to, 503, may.error().render());
    }
  }
  pass(request, plan, *home, to);
}

// The answer goes on as it comes; what is looked at is a copy.
void HookGateway::pass(const http::ServerRequest& request, const GatewayPlan& plan,
                       const std::string& home, const std::shared_ptr<http::Responder>& to) {
  client::PassThrough::Order order{plan.target, plan.streaming, home};
  // A write ends by the time that the lead does, answered or not.
  order.admit = [this] { return client_.may_write(); };
  auto write = gateway_write(request, plan, caches_.writable_kinds());
  const GatewayGuestPtr guest = homes_.at(home).guest;
  if (guest != nullptr) order.scope = guest->requests();
  std::optional<ChildId> begun;
  if (write) {
    if (guest != nullptr) guest->learn_sent(*write, request.body);
    if (guest != nullptr && !write->dry_run && !write->key.name.empty()) begun = write->id();
    write->version_before = cached_version(plan);
    order.keep = kMostKeptAnswer;
    order.ended = [this, guest, target = plan.target,
                   write = *std::move(write)](const client::PassThrough::Ended& ended) {
      on_written(write, target, guest, ended);
    };
  }
  if (!passing_->pass(request, std::move(order), to)) {
    return refuse(*to, 503, "too many requests at once");
  }
  if (begun) memory_.begin(guest->owner_uid(), *begun);
}

void HookGateway::on_written(const GatewayWrite& write, const std::string& target,
                             const GatewayGuestPtr& guest,
                             const client::PassThrough::Ended& ended) {
  const std::string what = write.what();
  const std::string url = client_.config().server + target;
  client_.observers().tell(guest != nullptr ? guest->requests() : nullptr,
                           {what, write.method, url, ended.status, ended.error, ended.took});
  if (guest == nullptr) return;
  guest->learn_answer(write, ended.status, ended.body);
  if (write.dry_run) return;
  const GatewayEffect effect =
      gateway_effect(write, ended.status, ended.content_type, ended.body, memory_);
  if (write.key.name.empty()) {
    memory_.left(guest->owner_uid(), child_id(write.type.gvk, effect.key), effect.version);
  } else {
    memory_.end(guest->owner_uid(), write.id(), effect.version);
  }
  guest->note(write, effect);
}

// Of the object that a write names; "" = no cache has it.
std::string HookGateway::cached_version(const GatewayPlan& plan) const {
  if (plan.path.name.empty()) return "";
  const core::ObjectKey key{plan.path.namespace_, plan.path.name};
  for (const RuleCaches::CachedKind& kind : caches_.cached_kinds()) {
    if (kind.type.gvk.group != plan.path.group || kind.type.plural != plan.path.plural) continue;
    if (const auto meta = kind.group.get_meta(key)) return meta->resource_version;
  }
  return "";
}

// Its objects may come from a cache, without what the rule drops. managedFields that are not sent
// the server keeps, and of a custom kind the status endpoint takes the status alone.
bool HookGateway::reads_stripped(const core::ApiPath& path) const {
  const auto cached = caches_.cached_kinds();
  return std::any_of(cached.begin(), cached.end(), [&](const RuleCaches::CachedKind& kind) {
    const bool status_alone =
        path.subresource == "status" && schema::builtin_merge_schema(kind.type.gvk) == nullptr;
    const auto& strip = kind.stream.strip;
    return answers(kind, path) && std::any_of(strip.begin(), strip.end(), [&](const auto& pointer) {
             if (status_alone) return pointer == "/status" || pointer.starts_with("/status/");
             return pointer != "/metadata/managedFields";
           });
  });
}

// Only what is there whole. What is not there may be so in the cache alone: the server is asked.
bool HookGateway::answer_from_cache(const GatewayPlan& plan, http::Responder& to) const {
  for (const RuleCaches::CachedKind& kind : caches_.cached_kinds()) {
    if (!answers(kind, plan.path) || !kind.group.ready()) continue;
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
