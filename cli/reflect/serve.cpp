#include "cli/reflect/serve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "apiserver/convert.hpp"
#include "apiserver/request.hpp"
#include "base/json.hpp"
#include "core/resource_version.hpp"
#include "core/status.hpp"
#include "http/listen_address.hpp"

namespace kubewatch::cli {

namespace {

void refuse(http::Responder& to, int status, const char* reason, const std::string& message) {
  http::Headers headers;
  headers.set("Content-Type", "application/json");
  if (status == 503) headers.set("Retry-After", "1");
  to.respond(status, headers, base::dump_json(core::status_body(status, reason, message)));
}

bool is_stream(const http::ServerRequest& request) {
  auto query = apiserver::parse_query(request.query);
  return query.ok() && (query->flag("watch") || query->flag("follow"));
}

apiserver::ReadChange read_change(const runtime::StoreChange& change) {
  apiserver::ReadChange out;
  switch (change.type) {
    case runtime::ChangeType::added: out.type = apiserver::ReadEventType::added; break;
    case runtime::ChangeType::modified: out.type = apiserver::ReadEventType::modified; break;
    case runtime::ChangeType::deleted: out.type = apiserver::ReadEventType::deleted; break;
  }
  out.key = change.meta.key();
  out.version = core::version_number(change.meta.resource_version).value_or(0);
  out.labels = change.meta.labels;
  out.json = change.json;
  out.reduced = change.reduced;
  if (change.previous_meta) out.previous_labels = change.previous_meta->labels;
  out.previous_json = change.previous_json;
  return out;
}

}  // namespace

bool may_pass(const http::ServerRequest& request) {
  if (request.headers.has("Upgrade")) return false;
  const auto segments = apiserver::split_path(request.path);
  if (!segments.ok()) return false;
  // An object may be called as a tunnel is.
  const auto path = apiserver::parse_resource_path(*segments);
  if (path && path->subresource.empty()) return true;
  return std::none_of(segments->begin(), segments->end(), client::is_tunnel);
}

Result<std::unique_ptr<CacheServing>> CacheServing::start(client::Client& client,
                                                          const ReflectFlags& flags) {
  std::unique_ptr<CacheServing> out(new CacheServing());
  KW_ASSIGN(const auto where, http::parse_listen_address(flags.serve));
  KW_ASSIGN(out->passing_,
            client::PassThrough::make(client.loop(), client.config(),
                                      [](http::Responder& to, const Error& error) {
                                        refuse(to, 503, "ServiceUnavailable",
                                               "passed on, and not answered: " + error.render());
                                      }));
  apiserver::ReadServerOptions options;
  options.address = where.address;
  options.port = where.port;
  options.insecure_http = flags.insecure_http;
  options.names = flags.serve_names;
  options.forward_reads = flags.forward_reads;
  options.forward_writes = flags.forward_writes;
  options.forward = [self = out.get()](const http::ServerRequest& request,
                                       const std::shared_ptr<http::Responder>& to) {
    if (!may_pass(request)) {
      return refuse(*to, 403, "Forbidden",
                    "exec, attach, port-forward, proxy and tokens are not passed on: ask the API "
                    "server itself");
    }
    const std::string target = request.path + (request.query.empty() ? "" : "?" + request.query);
    if (!self->passing_->pass(request, {target, is_stream(request), ""}, to)) {
      refuse(*to, 503, "ServiceUnavailable", "too many requests are being passed on");
    }
  };
  options.fetch = [self = out.get(), &client](const std::string& target, const std::string& accept,
                                              apiserver::ReadServerOptions::Fetched done) {
    self->fetch(client, target, accept, std::move(done));
  };
  KW_ASSIGN(out->server_, apiserver::ReadServer::start(client.loop(), std::move(options)));
  return out;
}

void CacheServing::fetch(client::Client& client, const std::string& target,
                         const std::string& accept, apiserver::ReadServerOptions::Fetched done) {
  const std::uint64_t id = ++last_fetch_;
  fetching_[id] = client.raw(
      "GET", target,
      [this, id, done = std::move(done)](Result<http::Response> answer) {
        // The request may be destroyed inside its callback.
        const auto kept = fetching_.extract(id);
        done(std::move(answer));
      },
      accept);
}

apiserver::ResourcePtr CacheServing::resource_of(const core::ResourceType& type,
                                                 const Json* definition) const {
  if (auto known = registry_.find(type.gvk.group, type.gvk.version, type.plural)) {
    auto out = std::make_shared<apiserver::Resource>(*known);
    // Their table is made of the stored version, which the other one can be turned into.
    if (apiserver::is_autoscaler(*out)) return out;
    // Objects come as they are served, whatever group they are stored in.
    if (out->converted()) out->storage_id.clear();
    out->storage_gvk = out->type.gvk;
    return out;
  }
  if (definition != nullptr && base::find(*definition, {"spec", "versions"}) != nullptr) {
    for (const auto& one : apiserver::resources_of_crd(*definition).served) {
      if (one->type.gvk == type.gvk) return one;
    }
  }
  auto out = std::make_shared<apiserver::Resource>();
  out->type = type;
  out->list_kind = type.gvk.kind + "List";
  out->storage_id = type.qualified_plural();
  out->storage_gvk = type.gvk;
  out->custom = std::make_shared<apiserver::CustomVersion>();
  out->merge = schema::deduced_merge_schema();
  return out;
}

void CacheServing::find_resource(client::InFlight& requests, client::Client& client,
                                 const core::ResourceType& type, Found done) const {
  if (auto known = resource_of(type, nullptr); !known->custom) return done(std::move(known));
  core::ResourceType crds;
  crds.gvk = {"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};
  crds.plural = "customresourcedefinitions";
  crds.namespaced = false;
  requests.run<Result<Json>>(
      [this, type, done = std::move(done)](const Result<Json>& definition) {
        done(resource_of(type, definition.ok() ? &*definition : nullptr));
      },
      [&](auto answered) {
        return client.get(crds, {"", type.qualified_plural()}, std::move(answered));
      });
}

void CacheServing::add(CachedKind& kind, apiserver::ResourcePtr resource,
                       std::function<bool(const Error&)> failed) {
  const auto id = server_->add(kind, std::move(resource));
  ids_[&kind] = id;
  CachedKind::Told told;
  told.changed = [this, id](const runtime::StoreChange& change) {
    if (!change.initial) server_->changed(id, read_change(change), change.relisted);
  };
  told.synced = [this, id](bool gap) { server_->synced(id, gap); };
  told.moved = [this, id] { server_->moved(id); };
  told.failed = std::move(failed);
  kind.tell(std::move(told));
}

void CacheServing::go_on_as(const CachedKind& kind, apiserver::ResourcePtr resource) {
  server_->change_version(ids_.at(&kind), std::move(resource));
}

client::ClientConfig CacheServing::config(const std::string& namespace_) const {
  client::ClientConfig out;
  out.server = server_->url();
  out.ca_pem = server_->ca_pem();
  if (!out.ca_pem.empty()) out.token = server_->token();
  out.namespace_ = namespace_;
  out.source = "the cache server";
  return out;
}

}  // namespace kubewatch::cli
