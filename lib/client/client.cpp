// The typed verbs: each builds one request and reads one answer.
#include "client/client.hpp"

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/yaml_body.hpp"
#include "client/apply_result.hpp"
#include "client/exec_plugin.hpp"
#include "client/exec_source.hpp"
#include "client/list_call.hpp"
#include "client/login_transport.hpp"
#include "client/login_words.hpp"
#include "client/oidc.hpp"
#include "client/rewinds.hpp"
#include "client/sender.hpp"
#include "client/shared_login.hpp"
#include "client/target.hpp"
#include "client/tls_files.hpp"
#include "core/meta.hpp"
#include "core/url.hpp"

namespace kubewatch::client {
namespace {

using core::ObjectKey;
using core::ResourceType;

constexpr const char* kUserAgent = "kubewatch/" KUBEWATCH_VERSION;
constexpr Duration kWatchSlack{15000};
// When the server chooses how long a watch lives, it takes at most an hour.
constexpr Duration kWatchWithoutTimeout{3600000};

std::string in_namespace(const ResourceType& type, const std::string& namespace_, bool collection) {
  if (!type.namespaced) return "";
  if (!namespace_.empty()) return " in namespace \"" + namespace_ + "\"";
  return collection ? " in all namespaces" : "";
}

std::string describe(const std::string& verb, const ResourceType& type, const ObjectKey& key,
                     const std::string& subresource = "") {
  return verb + " " + type.qualified_plural() + (subresource.empty() ? "" : "/" + subresource) +
         " \"" + key.name + "\"" + in_namespace(type, key.namespace_, false);
}

std::string describe_all(const std::string& verb, const ResourceType& type,
                         const std::string& namespace_) {
  return verb + " " + type.qualified_plural() + in_namespace(type, namespace_, true);
}

std::string with_query(std::string path, const std::string& query) {
  return query.empty() ? path : std::move(path) + "?" + query;
}

Operation operation(const ResourceType& type, std::string what, std::string method,
                    std::string path_and_query, const std::string& subresource = "") {
  Operation out;
  out.what = std::move(what);
  out.log_body = may_log_body(type.plural, subresource);
  out.request.method = std::move(method);
  out.request.url = std::move(path_and_query);
  return out;
}

void set_body(Operation& target, std::string body, std::string_view content_type) {
  target.request.body = std::move(body);
  target.request.headers.set("Content-Type", std::string(content_type));
}

Result<Json> object_of(const http::Response& response, const std::string& what) {
  auto object = base::parse_json(response.body);
  if (!object.ok()) {
    return unreadable_answer(object.error())
        .with_context("the server's answer cannot be read")
        .with_context(what);
  }
  if (!object->is_object()) {
    return Error(ErrorKind::unavailable, "the answer is not an object").with_context(what);
  }
  return object;
}

// Of what was asked for: a Status, or another object, under a 200 is no success.
Result<Json> object_of(const http::Response& response, const std::string& what,
                       const std::string& name) {
  KW_ASSIGN(Json object, object_of(response, what));
  const std::string found = base::string_at(object, {"metadata", "name"});
  if (base::string_at(object, {"kind"}) == "Status" && found.empty()) {
    const std::string message = base::string_at(object, {"message"});
    return Error(ErrorKind::unavailable,
                 "the server answered with a Status where an object is "
                 "expected" +
                     (message.empty() ? "" : ": " + message))
        .with_context(what);
  }
  if (!name.empty() && found != name) {
    return Error(ErrorKind::unavailable,
                 found.empty() ? "the server's answer is no object: it has no name"
                               : "the server answered with another object, \"" + found + "\"")
        .with_context(what);
  }
  return object;
}

// Old servers answer with a Status instead of the list of what they deleted.
Result<ListResult> deleted_of(const http::Response& response, const std::string& what) {
  const auto status = base::parse_json(response.body);
  if (status.ok() && base::string_at(*status, {"kind"}) == "Status") return ListResult{};
  ListResult out;
  core::ListSplitter splitter;
  auto fed =
      splitter.feed(response.body, [&](std::string_view item) { out.items.emplace_back(item); });
  if (!fed.ok()) return unreadable_answer(std::move(fed).error()).with_context(what);
  auto page = splitter.finish();
  if (!page.ok()) return unreadable_answer(std::move(page).error()).with_context(what);
  out.page = std::move(page).value();
  return out;
}

}  // namespace

struct Client::Impl {
  http::Transport& transport;
  Sender sender;
  std::shared_ptr<Rewinds> rewinds;
  std::optional<core::ServerVersion> server_version{};

  // `read` makes the object of the answer.
  PendingPtr object_call(Operation request, ObjectCallback done,
                         std::function<Result<Json>(const http::Response&)> read) {
    return sender.send(std::move(request), [read = std::move(read), done = std::move(done)](
                                               Result<http::Response> response) {
      done(response.ok() ? read(*response) : Result<Json>(std::move(response).error()));
    });
  }
  // Whatever the server has to say: deletions and some subresources are answered with a Status.
  PendingPtr any_call(Operation request, ObjectCallback done) {
    const std::string what = request.what;
    return object_call(std::move(request), std::move(done),
                       [what](const http::Response& answer) { return object_of(answer, what); });
  }
  // name: "" where the server gives it.
  PendingPtr named_call(Operation request, const std::string& name, ObjectCallback done) {
    const std::string what = request.what;
    return object_call(
        std::move(request), std::move(done),
        [what, name](const http::Response& answer) { return object_of(answer, what, name); });
  }

  // What follows from the answer belongs to the scope that asked.
  ListCallback observed(const Operation& request, ListCallback done) {
    RequestObservers& observers = sender.observers();
    if (observers.current == nullptr) return done;
    return [this, &observers, scope = observers.current, what = request.what,
            url = request.request.url, started = sender.loop().now(),
            done = std::move(done)](Result<core::ListPage> page) {
      RequestFacts facts{what, "GET", url};
      facts.error = page.ok() ? nullptr : &page.error();
      if (page.ok()) facts.status = 200;
      facts.took = sender.loop().now() - started;
      scope->on_request(facts);
      const RequestScope inside(observers, scope);
      done(std::move(page));
    };
  }

  template <class Callback>
  PendingPtr refuse(Result<void> checked, const std::string& what, Callback done) {
    return client::refuse(sender.loop(), std::move(checked).error().with_context(what),
                          std::move(done));
  }
};

Client::Client(loop::EventLoop& loop, http::Transport& transport, ClientConfig config,
               std::shared_ptr<Rewinds> rewinds)
    : impl_(new Impl{transport, Sender(loop, transport, std::move(config)),
                     rewinds ? std::move(rewinds) : std::make_shared<Rewinds>(loop)}) {}

Client::~Client() = default;

std::vector<std::string> Client::login_secrets() const {
  return impl_->transport.secrets();
}

bool Client::awaits_login() const {
  return impl_->transport.awaits_login();
}

std::string Client::no_answer() const {
  return why_no_answer(config(), awaits_login());
}

const ClientConfig& Client::config() const {
  return impl_->sender.config();
}
loop::EventLoop& Client::loop() const {
  return impl_->sender.loop();
}

void Client::set_write_gate(WriteGate* gate) {
  impl_->sender.set_write_gate(gate);
}
void Client::show_all_warnings() {
  impl_->sender.show_all_warnings();
}
RequestObservers& Client::observers() {
  return impl_->sender.observers();
}
Rewinds& Client::rewinds() const {
  return *impl_->rewinds;
}

Result<Duration> Client::may_write() const {
  return impl_->sender.may_write();
}

PendingPtr Client::get(const ResourceType& type, const ObjectKey& key, ObjectCallback done) {
  const std::string what = describe("get", type, key);
  if (auto checked = check_target(type, key); !checked.ok()) {
    return impl_->refuse(std::move(checked), what, std::move(done));
  }
  return impl_->named_call(operation(type, what, "GET", core::object_path(type, key)), key.name,
                           std::move(done));
}

PendingPtr Client::list_items(const ResourceType& type, const std::string& namespace_,
                              const core::ListParams& params, ItemCallback on_item,
                              ListCallback done) {
  const std::string what = describe_all("list", type, namespace_);
  if (auto checked = params.validate(); !checked.ok()) {
    return impl_->refuse(std::move(checked), what, std::move(done));
  }
  Operation request = operation(
      type, what, "GET", with_query(core::collection_path(type, namespace_), params.query()));
  request.request.headers.set("Accept", std::string(core::accept_list(params.content)));
  auto observed = impl_->observed(request, std::move(done));
  return start_list(impl_->sender, impl_->transport, std::move(request), std::move(on_item),
                    std::move(observed));
}

PendingPtr Client::list(const ResourceType& type, const std::string& namespace_,
                        const core::ListParams& params,
                        std::function<void(Result<ListResult>)> done) {
  auto items = std::make_shared<std::vector<std::string>>();
  return list_items(
      type, namespace_, params, [items](std::string_view item) { items->emplace_back(item); },
      [items, done = std::move(done)](Result<core::ListPage> page) {
        if (!page.ok()) return done(std::move(page).error());
        done(ListResult{std::move(page).value(), std::move(*items)});
      });
}

PendingPtr Client::watch(const ResourceType& type, const std::string& namespace_,
                         const core::WatchParams& params, WatchHandlers handlers) {
  Operation request =
      operation(type, describe_all("watch", type, namespace_), "GET",
                with_query(core::collection_path(type, namespace_), params.query()));
  if (auto checked = params.validate(); !checked.ok()) {
    return refuse(loop(), std::move(checked).error().with_context(request.what),
                  [on_end = std::move(handlers.on_end)](Error error) {
                    if (on_end) on_end(std::move(error));
                  });
  }
  request.request.headers.set("Accept", std::string(core::accept_watch(params.content)));
  request.request.streaming = true;
  request.request.idle_timeout =
      (params.timeout.count() > 0 ? params.timeout : kWatchWithoutTimeout) + kWatchSlack;
  return impl_->sender.watch(std::move(request), std::move(handlers));
}

PendingPtr Client::create(const ResourceType& type, const std::string& namespace_,
                          const Json& object, const core::WriteParams& params,
                          ObjectCallback done) {
  std::string name = base::string_at(object, {"metadata", "name"});
  if (name.empty()) name = base::string_at(object, {"metadata", "generateName"}) + "*";
  const std::string what = describe("create", type, {namespace_, name});
  if (auto checked = check_namespace(type, namespace_); !checked.ok()) {
    return impl_->refuse(std::move(checked), what, std::move(done));
  }
  Operation request = operation(
      type, what, "POST", with_query(core::collection_path(type, namespace_), params.query()));
  set_body(request, base::dump_json(object), "application/json");
  return impl_->named_call(std::move(request), base::string_at(object, {"metadata", "name"}),
                           std::move(done));
}

PendingPtr Client::create_below(const ResourceType& type, const ObjectKey& key,
                                const std::string& subresource, const Json& object,
                                ObjectCallback done) {
  const std::string what = describe("create", type, key, subresource);
  if (auto checked = check_target(type, key); !checked.ok()) {
    return impl_->refuse(std::move(checked), what, std::move(done));
  }
  Operation request =
      operation(type, what, "POST", core::object_path(type, key, subresource), subresource);
  set_body(request, base::dump_json(object), "application/json");
  return impl_->any_call(std::move(request), std::move(done));
}

PendingPtr Client::update(const ResourceType& type, const Json& object,
                          const core::WriteParams& params, ObjectCallback done,
                          const std::string& subresource) {
  const ObjectKey key = core::meta_of(object).key();
  const std::string what = describe("update", type, key, subresource);
  if (auto checked = check_target(type, key); !checked.ok()) {
    return impl_->refuse(std::move(checked), what, std::move(done));
  }
  Operation request =
      operation(type, what, "PUT",
                with_query(core::object_path(type, key, subresource), params.query()), subresource);
  set_body(request, base::dump_json(object), "application/json");
  return impl_->named_call(std::move(request), key.name, std::move(done));
}

PendingPtr Client::patch(const ResourceType& type, const ObjectKey& key, const Json& patch,
                         const core::PatchParams& params,
                         std::function<void(Result<ApplyResult>)> done,
                         const std::string& subresource) {
  const char* verb = params.type == core::PatchType::apply ? "apply" : "patch";
  const std::string what = describe(verb, type, key, subresource);
  Result<void> checked = check_target(type, key);
  if (checked.ok()) checked = params.validate();
  if (!checked.ok()) return impl_->refuse(std::move(checked), what, std::move(done));
  core::PatchParams sent = params;
  // An apply is held against the schema in any case, and an unknown field refused. All that Strict
  // or Warn, the server's default, add is a second parsing of the body, as YAML, for keys that
  // stand in it twice (kube-apiserver 1.36, applyPatcher): a ninth of its work, and our body has
  // none.
  if (params.type == core::PatchType::apply && sent.field_validation.empty()) {
    sent.field_validation = "Ignore";
  }
  Operation request =
      operation(type, what, "PATCH",
                with_query(core::object_path(type, key, subresource), sent.query()), subresource);
  // An apply is read as YAML, which would change U+0085 to a space and refuse U+007F.
  set_body(request,
           params.type == core::PatchType::apply ? base::dump_json_for_yaml(patch)
                                                 : base::dump_json(patch),
           core::content_type(params.type));
  return impl_->sender.send(std::move(request), [what, name = key.name, done = std::move(done)](
                                                    Result<http::Response> response) {
    if (!response.ok()) return done(std::move(response).error());
    auto object = object_of(*response, what, name);
    if (!object.ok()) return done(std::move(object).error());
    done(ApplyResult{std::move(object).value(), response->status == 201});
  });
}

PendingPtr Client::remove(const ResourceType& type, const ObjectKey& key,
                          const core::DeleteParams& params, ObjectCallback done) {
  const std::string what = describe("delete", type, key);
  if (auto checked = check_target(type, key); !checked.ok()) {
    return impl_->refuse(std::move(checked), what, std::move(done));
  }
  Operation request =
      operation(type, what, "DELETE", with_query(core::object_path(type, key), params.query()));
  set_body(request, params.body(), "application/json");
  return impl_->any_call(std::move(request), std::move(done));
}

PendingPtr Client::remove_collection(const ResourceType& type, const std::string& namespace_,
                                     const core::ListParams& selection,
                                     const core::DeleteParams& params,
                                     std::function<void(Result<ListResult>)> done) {
  const std::string what = describe_all("delete all", type, namespace_);
  Result<void> checked = check_namespace(type, namespace_);
  if (checked.ok()) checked = selection.validate();
  if (!checked.ok()) return impl_->refuse(std::move(checked), what, std::move(done));
  Operation request = operation(
      type, what, "DELETE", with_query(core::collection_path(type, namespace_), selection.query()));
  set_body(request, params.body(), "application/json");
  return impl_->sender.send(std::move(request),
                            [what, done = std::move(done)](Result<http::Response> response) {
                              if (!response.ok()) return done(std::move(response).error());
                              done(deleted_of(*response, what));
                            });
}

PendingPtr Client::raw(const std::string& method, const std::string& path_and_query,
                       std::function<void(Result<http::Response>)> done,
                       const std::string& accept) {
  Operation request;
  request.what = method + " " + path_and_query;
  request.map_status = false;
  request.request.method = method;
  request.request.url = path_and_query;
  request.request.headers.set("Accept", accept);
  // Discovery and the version come before all else: nothing else would say that the server is mute.
  if (config().request_timeout == Duration{0}) impl_->sender.limit_silence(request.request);
  return impl_->sender.send(std::move(request), std::move(done));
}

namespace {

class KnownAlready : public Pending {
 public:
  explicit KnownAlready(loop::Timer timer) : timer_(std::move(timer)) {}

 private:
  loop::Timer timer_;
};

}  // namespace

PendingPtr Client::server_version(std::function<void(std::optional<core::ServerVersion>)> done) {
  if (impl_->server_version) {
    return std::make_unique<KnownAlready>(loop().after(
        Duration{0}, [known = impl_->server_version, done = std::move(done)] { done(known); }));
  }
  return raw("GET", "/version",
             [impl = impl_.get(), done = std::move(done)](const Result<http::Response>& response) {
               if (response.ok() && response->status == 200) {
                 impl->server_version = core::parse_server_version(response->body);
               }
               done(impl->server_version);
             });
}

namespace {

// Who logs in and, of a program, with what it is told, but not what an identity provider gave so
// far: that changes.
std::string login_key(const ClientConfig& config) {
  Json key;
  if (config.exec) {
    const ExecPlugin& plugin = *config.exec;
    key = {plugin.command, plugin.arguments, plugin.environment,
           static_cast<int>(plugin.interactive), exec_info(plugin, config, false)};
  } else {
    const OidcLogin& login = *config.oidc;
    key = {login.file,
           login.user,
           login.issuer,
           login.client_id,
           login.client_secret,
           login.ca_pem,
           login.refresh_token.empty()};
  }
  return base::dump_json(key);
}

Result<std::unique_ptr<LoginSource>> make_login_source(loop::EventLoop& loop,
                                                       const ClientConfig& config) {
  if (config.exec) return make_exec_source(loop, config);
  // The identity provider is another server, with a proxy and an authority of its own.
  http::TransportOptions options;
  options.tls.ca_pem = config.oidc->ca_pem;
  options.user_agent = kUserAgent;
  const auto environment = ConfigEnvironment::from_process();
  options.proxy = environment.https_proxy;
  options.no_proxy = environment.no_proxy;
  KW_ASSIGN(auto issuer,
            http::make_curl_transport(loop, std::move(options)).with_context(config.source));
  return make_oidc_source(loop, *config.oidc, std::move(issuer));
}

}  // namespace

Result<std::unique_ptr<http::Transport>> make_transport(loop::EventLoop& loop,
                                                        const ClientConfig& config) {
  http::TransportOptions options;
  options.tls = tls_options_of(config);
  options.user_agent = kUserAgent;
  options.proxy = config.proxy_url;
  options.compress = !config.disable_compression;
  KW_ASSIGN(auto transport,
            http::make_curl_transport(loop, std::move(options)).with_context(config.source));
  if (!config.exec && !config.oidc) return transport;
  if (!sends_credentials(config)) {
    base::log_warn("nobody is logged in to " + config.server +
                   ": it is neither https nor this machine");
    return transport;
  }
  KW_ASSIGN(auto source, share_login_source(loop, login_key(config), [&loop, &config] {
              return make_login_source(loop, config);
            }));
  return make_login_transport(loop, std::move(transport), std::move(source),
                              tls_options_of(config));
}

}  // namespace kubewatch::client
