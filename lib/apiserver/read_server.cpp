// Binds the kinds of read_kind to HTTP: who may come in, which kind a path means, waiting, streams,
// what is passed on.
#include "apiserver/read_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <map>
#include <utility>

#include "apiserver/api_target.hpp"
#include "apiserver/passed_documents.hpp"
#include "apiserver/read_streams.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/strings.hpp"
#include "core/impersonation.hpp"
#include "core/selector.hpp"
#include "http/bearer.hpp"
#include "http/listen_address.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr Duration kTick{250};
constexpr Duration kDiscoverySettles{30000};
constexpr std::size_t kSmallList = 256;          // objects that are answered in one piece
constexpr std::size_t kMostInOne = 64U << 20U;   // bytes of YAML or indented JSON
constexpr std::size_t kMostWaiting = 1000;       // requests for a newer state
constexpr std::size_t kLooksPerTurn = 1000;      // into objects, for selections by fields
constexpr std::size_t kMostAsked = 64;           // documents that are being asked for
constexpr std::int64_t kLeastWatchMs = 1800000;  // as the real server's min-request-timeout

bool is_address(const std::string& name) {
  return name.find(':') != std::string::npos ||
         name.find_first_not_of("0123456789.") == std::string::npos;
}

http::Headers json_headers(const std::string& type = "application/json") {
  http::Headers out;
  out.set("Content-Type", type);
  out.set("Cache-Control", "no-cache, private");
  return out;
}

Error unavailable(const std::string& message) {
  return api_error(503, "ServiceUnavailable", message, Json{{"retryAfterSeconds", 1}});
}

template <class One, class Wanted>
std::list<One> take_if(std::list<One>& from, const Wanted& wanted) {
  std::list<One> out;
  for (auto it = from.begin(); it != from.end();) {
    const auto next = std::next(it);
    if (wanted(*it)) out.splice(out.end(), from, it);
    it = next;
  }
  return out;
}

void let_go(http::Responder& responder) {
  responder.on_gone({});
  responder.on_drained({});
}

void answer_with(http::Responder& to, const http::Response& document) {
  http::Headers headers = json_headers(std::string(document.headers.get("Content-Type")));
  for (const char* name : {"ETag", "Vary", "X-From-Cache"}) {
    if (document.headers.has(name)) headers.set(name, std::string(document.headers.get(name)));
  }
  to.respond(document.status, headers, document.body);
}

class Server final : public ReadServer {
 public:
  Server(loop::EventLoop& loop, ReadServerOptions options)
      : loop_(loop),
        options_(std::move(options)),
        token_(base::secure_random_hex(32)),
        random_(base::Random::from_system()) {}
  ~Server() override {
    tick_.reset();
    searches_.clear();
    watches_.clear();
    lists_.clear();
    server_.reset();
  }

  Result<void> listen();

  KindId add(const core::ReadBackend& backend, ResourcePtr resource) override {
    kinds_.push_back(std::make_unique<Kind>(backend, std::move(resource), options_.history));
    return kinds_.size() - 1;
  }
  void change_version(KindId id, ResourcePtr resource) override;
  void changed(KindId id, ReadChange change, bool relisted) override;
  void synced(KindId id, bool gap) override;
  void moved(KindId id) override;

  std::string url() const override;
  std::string ca_pem() const override { return ca_pem_; }
  std::string token() const override { return token_; }
  ReadCounters counters() const override {
    ReadCounters out = counters_;
    out.watches_open = watches_.size();
    return out;
  }

 private:
  using To = std::shared_ptr<http::Responder>;
  // A request that came in, and what it turned out to mean.
  struct Call {
    http::ServerRequest request;
    ResourcePath path;
    Query query;
    To to;
    bool waited = false;
  };
  using CallPtr = std::shared_ptr<Call>;
  struct Kind {
    Kind(const core::ReadBackend& backend, ResourcePtr resource, ReadHistoryLimits limits)
        : kind(backend, std::move(resource), limits) {}
    ReadKind kind;
    VersionWaiters<CallPtr> waiters;
    std::uint64_t sent = 0;          // events before this place were sent to all who keep up
    bool of_version_before = false;  // the backend's objects, until it is synced
    bool ready() const { return kind.backend().ready() && !of_version_before; }
  };
  struct Watching {
    Kind* kind;
    std::unique_ptr<OpenWatch> watch;
  };
  // A list that is not answered before its objects are found.
  struct Search {
    CallPtr call;
    Kind* kind;
    ListSlice slice;
    Representation as;
  };

  bool is_allowed(const http::ServerRequest& request) const;
  void on_request(http::ServerRequest request, To to);
  bool answer_health(const http::ServerRequest& request, const To& to) const;
  void pass_document(const http::ServerRequest& request, const To& to);
  void on_document(const std::string& key, const std::string& target, TimePoint asked,
                   const Result<http::Response>& got);
  void route(CallPtr call);
  void not_cached(const CallPtr& call);
  void dispatch(const CallPtr& call, Kind& kind);
  Result<void> get(const CallPtr& call, Kind& kind, const Representation& as);
  Result<void> list(const CallPtr& call, Kind& kind, const Representation& as);
  Result<void> send_list(const CallPtr& call, Kind& kind, ListSlice slice,
                         const Representation& as);
  Result<void> watch(const CallPtr& call, Kind& kind, const Representation& as);
  Result<void> wait(const CallPtr& call, Kind& kind, const NotYet& not_yet);
  void pass_on(const http::ServerRequest& request, const To& to);
  void refuse(const To& to, const Error& error);
  void pump_all(Kind& kind);
  void pump(std::list<std::unique_ptr<ListStream>>::iterator stream);
  ReadTurn turn_of(const Kind& kind, bool at_once = false) {
    return {loop_.wall(), kind.sent, at_once, &looks_};
  }
  void go_on_if_used();
  void go_on();
  void sweep_later();
  void sweep();
  void schedule_tick();
  void tick();

  loop::EventLoop& loop_;
  ReadServerOptions options_;
  std::string token_;
  std::string ca_pem_;
  base::Random random_;
  PassedDocuments documents_;
  std::map<std::string, std::vector<To>> asking_;  // who waits for a document, by its key
  std::vector<std::unique_ptr<Kind>> kinds_;
  std::list<Search> searches_;
  std::list<std::unique_ptr<ListStream>> lists_;
  std::list<Watching> watches_;
  std::size_t looks_ = kLooksPerTurn;  // left in this turn of the loop, of all readers
  bool going_on_ = false;
  ReadCounters counters_;
  bool sweeping_ = false;
  bool pumped_ = false;  // in this turn of the loop
  loop::Timer tick_;
  std::shared_ptr<char> alive_ = std::make_shared<char>();  // posted calls ask for it
  std::unique_ptr<http::Server> server_;                    // goes first: it calls us
};

Result<void> Server::listen() {
  http::ServerOptions server;
  server.address = options_.address;
  server.port = options_.port;
  server.hosts = options_.names;
  if (!http::is_loopback_host(options_.address)) server.hosts.push_back(options_.address);
  if (!options_.insecure_http) {
    std::vector<std::string> names = {"localhost"};
    std::vector<std::string> addresses = {"127.0.0.1", "::1"};
    for (const auto& host : server.hosts) (is_address(host) ? addresses : names).push_back(host);
    KW_ASSIGN(auto made, http::generate_certificate(names, addresses));
    server.tls = http::ServerTls{made.certificate_pem, made.key_pem};
    ca_pem_ = made.ca_pem;
  }
  KW_ASSIGN(server_, http::Server::listen(loop_, std::move(server),
                                          [this](http::ServerRequest request, To to) {
                                            on_request(std::move(request), std::move(to));
                                          }));
  schedule_tick();
  return {};
}

std::string Server::url() const {
  // Whoever listens everywhere is reached here, and by the names that were given.
  std::string host = options_.address;
  if (host == "0.0.0.0" || host == "::")
    host = options_.names.empty() ? "127.0.0.1" : options_.names[0];
  const bool v6 = host.find(':') != std::string::npos;
  return fmt::format("{}://{}{}{}:{}", options_.insecure_http ? "http" : "https", v6 ? "[" : "",
                     host, v6 ? "]" : "", server_->port());
}

bool Server::is_allowed(const http::ServerRequest& request) const {
  return options_.insecure_http || http::same_secret(http::bearer_token(request.headers), token_);
}

void Server::refuse(const To& to, const Error& error) {
  ++counters_.refused;
  const ApiResponse answer = status_response(status_json(error), status_code(error));
  http::Headers headers = answer.headers;
  headers.set("Content-Type", answer.content_type);
  to->respond(answer.status, headers, answer.body);
}

bool Server::answer_health(const http::ServerRequest& request, const To& to) const {
  const std::string& path = request.path;
  if (path != "/healthz" && path != "/livez" && path != "/readyz") return false;
  std::string missing;
  if (path == "/readyz") {
    for (const auto& one : kinds_) {
      if (!one->ready()) missing += "not complete yet: " + one->kind.name() + "\n";
    }
  }
  http::Headers headers = json_headers("text/plain; charset=utf-8");
  if (!missing.empty()) headers.set("Retry-After", "1");
  to->respond(missing.empty() ? 200 : 503, headers, missing.empty() ? "ok" : missing);
  return true;
}

void Server::on_request(http::ServerRequest request, To to) {
  ++counters_.requests;
  base::vlog(8, "cache server request", {{"method", request.method}, {"path", request.path}});
  const bool reading = request.method == "GET" || request.method == "HEAD";
  if (reading && answer_health(request, to)) return;
  if (!is_allowed(request)) {
    return refuse(to, unauthorized());
  }
  if (core::asks_for_impersonation(request.headers.all())) {
    return refuse(to, api_error(403, "Forbidden",
                                "this is a cache that acts as its owner only: impersonation "
                                "(--as, --as-group, --as-uid) goes to the API server itself",
                                std::nullopt));
  }
  auto segments = split_path(request.path);
  if (!segments.ok()) return refuse(to, segments.error());
  const auto path = parse_resource_path(*segments);
  if (request.method != "GET") {
    const bool review = request.method == "POST" && path && path->group == "authorization.k8s.io" &&
                        options_.forward_reads;
    if (options_.forward_writes || review) return pass_on(request, to);
    return refuse(to, api_error(405, "MethodNotAllowed",
                                "this is a cache that answers reads; it passes writes on only when "
                                "it is started with --forward-writes",
                                std::nullopt));
  }
  if (!path) {
    if (is_passed_document(request.path)) return pass_document(request, to);
    if (options_.forward_reads) return pass_on(request, to);
    return refuse(to, api_error(404, "NotFound", "the cache server has no page " + request.path,
                                std::nullopt));
  }
  auto query = Query::parse(request.query);
  if (!query.ok()) return refuse(to, query.error());
  auto call = std::make_shared<Call>();
  call->request = std::move(request);
  call->path = *path;
  call->query = std::move(*query);
  call->to = std::move(to);
  route(std::move(call));
}

// Readers that start together ask for the same ones: each is asked for once at a time.
void Server::pass_document(const http::ServerRequest& request, const To& to) {
  const std::string target = request.path + (request.query.empty() ? "" : "?" + request.query);
  const std::string accept(request.headers.get("Accept"));
  const std::string key = target + " " + accept;
  if (const auto* kept = documents_.fresh(key, loop_.now())) return answer_with(*to, *kept);
  if (!options_.fetch) return refuse(to, unavailable("there is no server to ask for " + target));
  if (const auto same = asking_.find(key); same != asking_.end()) {
    return same->second.push_back(to);
  }
  if (asking_.size() >= kMostAsked) {
    // As where the server does not answer, which is why they are so many.
    if (const auto* old = documents_.any(key)) return answer_with(*to, *old);
    return refuse(to, unavailable("too many documents are being asked for"));
  }
  asking_[key] = {to};
  options_.fetch(target, accept.empty() ? "application/json" : accept,
                 [this, there = std::weak_ptr(alive_), key, target,
                  asked = loop_.now()](const Result<http::Response>& got) {
                   if (!there.expired()) on_document(key, target, asked, got);
                 });
}

void Server::on_document(const std::string& key, const std::string& target, TimePoint asked,
                         const Result<http::Response>& got) {
  const auto waiting = asking_.extract(key);
  // A 401 is about this process, not about the reader, who was let in.
  const bool refused = got.ok() && got->status == 401;
  const bool answered = got.ok() && got->status < 500 && !refused;
  if (answered) documents_.keep(key, *got, asked);
  // An old one is better than none: kinds rarely change.
  const http::Response* document = answered ? &*got : documents_.any(key);
  const std::string why = refused    ? "it does not accept the login of this cache (HTTP 401)"
                          : got.ok() ? fmt::format("HTTP {}", got->status)
                                     : got.error().render();
  for (const To& to : waiting.mapped()) {
    if (document != nullptr) {
      answer_with(*to, *document);
    } else {
      refuse(to, unavailable(fmt::format("{} is the server's to answer, and it does not: {}",
                                         target, why)));
    }
  }
}

void Server::pass_on(const http::ServerRequest& request, const To& to) {
  if (!options_.forward) return refuse(to, unavailable("there is no server to pass this on to"));
  ++counters_.forwarded;
  options_.forward(request, to);
}

void Server::route(CallPtr call) {
  const ResourcePath& path = call->path;
  for (const auto& one : kinds_) {
    const bool own = path.subresource.empty() ||
                     (path.subresource == "status" && one->kind.resource().has_status());
    const core::ResourceType& type = one->kind.backend().type();
    const bool same = type.gvk.group == path.group && type.gvk.version == path.version &&
                      type.plural == path.resource;
    if (!own || !same || !one->kind.covers(path.namespace_)) continue;
    const bool misplaced =
        type.namespaced ? path.namespace_.empty() && !path.name.empty() : !path.namespace_.empty();
    if (misplaced) return refuse(call->to, no_such_resource());
    return dispatch(call, *one);
  }
  not_cached(call);
}

void Server::not_cached(const CallPtr& call) {
  if (options_.forward_reads) return pass_on(call->request, call->to);
  std::vector<std::string> names;
  for (const auto& one : kinds_) names.push_back(one->kind.name());
  const ResourcePath& path = call->path;
  std::string wanted = path.resource + (path.group.empty() ? "" : "." + path.group);
  if (!path.subresource.empty()) wanted += "/" + path.subresource;
  wanted += " of version " + path.version;
  if (!path.namespace_.empty()) wanted += fmt::format(" in namespace \"{}\"", path.namespace_);
  // kubectl looks for the namespace of an object that it did not find, and would tell of a 404 for
  // it instead of the object.
  const bool place = path.group.empty() && path.resource == "namespaces" && !path.name.empty();
  refuse(call->to,
         api_error(place ? 405 : 404, place ? "MethodNotAllowed" : "NotFound",
                   fmt::format("the cache holds {} and not {}; it passes other reads on only when "
                               "it is started with --forward-reads",
                               base::join(names, ", "), wanted),
                   std::nullopt));
}

void Server::dispatch(const CallPtr& call, Kind& kind) {
  if (!kind.ready()) {
    return refuse(call->to, unavailable(fmt::format("the cache of {} is not complete yet",
                                                    kind.kind.name())));
  }
  const bool watching = call->path.watch || call->query.flag("watch");
  const bool one = !call->path.name.empty();
  const Endpoint endpoint = watching ? Endpoint::watch : one ? Endpoint::object : Endpoint::list;
  ApiRequest asked;
  asked.method = call->request.method;
  asked.headers = call->request.headers;
  auto as = representation_of(asked, kind.kind.resource(), call->query, endpoint);
  if (!as.ok()) return refuse(call->to, as.error());
  const bool metadata = kind.kind.backend().content() == core::Content::metadata;
  if (metadata && (as->format == Format::object || as->include == IncludeObject::object)) {
    return refuse(call->to,
                  not_acceptable(fmt::format("the cache holds only the metadata of {}: ask for "
                                             "PartialObjectMetadata or a table",
                                             kind.kind.name())));
  }
  if (as->format != Format::partial) {
    // What lacks its content is the API server's to tell, and so is a selection that may hold it.
    const auto reduced = kind.kind.backend().reduced();
    const core::ObjectKey key{call->path.namespace_, call->path.name};
    const bool concerned = one && !watching
                               ? std::find(reduced.begin(), reduced.end(), key) != reduced.end()
                               : !reduced.empty();
    if (concerned && options_.forward_reads) return pass_on(call->request, call->to);
    if (concerned) {
      return refuse(call->to,
                    not_acceptable(fmt::format(
                        "of {} {} the cache could keep only the metadata; ask for "
                        "PartialObjectMetadata, or start it with --forward-reads",
                        kind.kind.resource().type.qualified_plural(), reduced.front().str())));
    }
  }
  const auto done = watching ? watch(call, kind, *as)
                    : one    ? get(call, kind, *as)
                             : list(call, kind, *as);
  if (!done.ok()) refuse(call->to, done.error());
}

Result<void> Server::wait(const CallPtr& call, Kind& kind, const NotYet& not_yet) {
  if (call->waited || kind.waiters.size() >= kMostWaiting) {
    return version_too_large(not_yet.version, kind.kind.version());
  }
  kind.waiters.add(not_yet.version, loop_.now() + options_.version_wait, call);
  return {};
}

Result<void> Server::get(const CallPtr& call, Kind& kind, const Representation& as) {
  const std::string version = call->query.get("resourceVersion");
  if (!version.empty()) {
    const auto wanted = parse_version(version);
    if (!wanted.ok()) return bad_request("invalid resource version: " + wanted.error().message());
    if (const auto not_yet = kind.kind.not_yet(*wanted)) return wait(call, kind, *not_yet);
  }
  const auto json = kind.kind.backend().json({call->path.namespace_, call->path.name});
  if (!json) return not_found(kind.kind.resource().subject(call->path.name));
  ++counters_.objects_sent;
  const ApiResponse answer = text_response(as, kind.kind.text().object(as, *json, loop_.wall()));
  call->to->respond(200, json_headers(answer.content_type), answer.body);
  return {};
}

Result<void> Server::list(const CallPtr& call, Kind& kind, const Representation& as) {
  KW_ASSIGN(const ListOptions options,
            parse_list_options(kind.kind.resource(), call->query, false));
  std::optional<NotYet> not_yet;
  KW_ASSIGN(ListSlice slice, kind.kind.list(call->path.namespace_, options, loop_.now(), not_yet));
  if (not_yet) return wait(call, kind, *not_yet);
  if (as.yaml || as.pretty) slice.search_all();
  const bool found = kind.kind.search(slice, looks_, loop_.now());
  go_on_if_used();
  if (found) return send_list(call, kind, std::move(slice), as);
  searches_.push_back({call, &kind, std::move(slice), as});
  return {};
}

Result<void> Server::send_list(const CallPtr& call, Kind& kind, ListSlice slice,
                               const Representation& as) {
  const bool shaped = as.yaml || as.pretty;
  if (shaped || slice.to - slice.from <= kSmallList) {
    std::uint64_t sent = 0;
    auto text = ListStream::whole(kind.kind, slice, as, loop_.wall(), kMostInOne, sent);
    if (text) {
      counters_.objects_sent += sent;
      const ApiResponse answer = text_response(as, std::move(*text));
      call->to->respond(200, json_headers(answer.content_type), answer.body);
      return {};
    }
    if (shaped) {
      return not_acceptable(
          "the list is too long to be indented or put into YAML at once: ask for pages (limit), or "
          "for plain JSON");
    }
  }
  call->to->begin(200, json_headers());
  lists_.push_back(std::make_unique<ListStream>(kind.kind, std::move(slice), as, loop_.wall(),
                                                call->to, loop_.now()));
  const auto at = std::prev(lists_.end());
  // In a turn of its own: it may be over at once.
  (*at)->responder().on_drained([this, at] { pump(at); });
  (*at)->responder().on_gone([this] { sweep_later(); });
  pump(at);
  return {};
}

void Server::pump(std::list<std::unique_ptr<ListStream>>::iterator stream) {
  const bool more = (*stream)->pump(looks_);
  go_on_if_used();
  if (more) return;
  let_go((*stream)->responder());
  counters_.objects_sent += (*stream)->sent();
  lists_.erase(stream);
}

Result<void> Server::watch(const CallPtr& call, Kind& kind, const Representation& as) {
  KW_ASSIGN(const ListOptions options, parse_list_options(kind.kind.resource(), call->query, true));
  ReadWatchSpec spec;
  spec.namespace_ = call->path.namespace_;
  spec.labels = options.labels;
  spec.fields = options.fields;
  if (!call->path.name.empty()) {
    KW_ASSIGN(spec.fields,
              core::FieldSelector::parse(core::with_name(options.fields.str(), call->path.name)));
  }
  spec.as = as;
  spec.bookmarks = options.bookmarks;
  spec.timeout = options.timeout.value_or(
      Duration(kLeastWatchMs + static_cast<std::int64_t>(random_.below(kLeastWatchMs))));
  std::optional<NotYet> not_yet;
  auto made = kind.kind.watch(spec, options, loop_.now(), not_yet);
  if (not_yet) {
    if (!call->waited) return wait(call, kind, *not_yet);
    made = std::make_unique<ReadWatch>(spec, kind.kind.text());
    made->start_with_error(version_too_large(not_yet->version, kind.kind.version()));
  }
  ++counters_.watches;
  call->to->begin(200, json_headers());
  watches_.push_back({&kind, std::make_unique<OpenWatch>(std::move(made), call->to, loop_.now(),
                                                         options_.bookmark_interval)});
  Watching& open = watches_.back();
  open.watch->responder().on_gone([this] { sweep_later(); });
  open.watch->responder().on_drained([this, &open] {
    if (!open.watch->pump(open.kind->kind.history(), turn_of(*open.kind))) sweep_later();
    go_on_if_used();
  });
  if (!open.watch->pump(kind.kind.history(), turn_of(kind))) sweep_later();
  go_on_if_used();
  return {};
}

// ---------------------------------------------------------------- what the caches tell

void Server::change_version(KindId id, ResourcePtr resource) {
  const auto& backend = kinds_[id]->kind.backend();
  const auto before = std::exchange(
      kinds_[id], std::make_unique<Kind>(backend, std::move(resource), options_.history));
  kinds_[id]->of_version_before = true;
  const auto watches =
      take_if(watches_, [&](const Watching& one) { return one.kind == before.get(); });
  for (const Watching& one : watches) let_go(one.watch->responder());
  const auto lists =
      take_if(lists_, [&](const auto& one) { return &one->kind() == &before->kind; });
  for (const auto& one : lists) {
    let_go(one->responder());
    one->responder().abort();  // half of it is not all of it
  }
  const auto searches =
      take_if(searches_, [&](const Search& one) { return one.kind == before.get(); });
  for (const Search& one : searches) not_cached(one.call);
  for (const auto& call : before->waiters.take_expired(TimePoint::max())) not_cached(call);
}

void Server::changed(KindId id, ReadChange change, bool relisted) {
  Kind& kind = *kinds_[id];
  if (!relisted) return kind.kind.history().add(std::move(change));
  // Of another version all objects are told, and nobody goes on from before it.
  if (!kind.of_version_before) kind.kind.history().note_relisted(std::move(change));
}

void Server::synced(KindId id, bool gap) {
  Kind& kind = *kinds_[id];
  const std::uint64_t version = kind.kind.version();
  ReadHistory& history = kind.kind.history();
  // The kind may have been away, and what was said of it meanwhile is kept; where it came back the
  // server says so a little later than it serves it.
  documents_.doubt_until(loop_.now() + (gap ? kDiscoverySettles : Duration{0}));
  // The first state; or the server's data went back in time: nothing goes on from before.
  const bool other_version = std::exchange(kind.of_version_before, false);
  std::list<Search> searches;
  if (!gap || other_version || !history.goes_on_at(version)) {
    kind.kind.start_over(version);
    // No page may go on in what is no past any more.
    searches = take_if(searches_, [&](const Search& one) { return one.kind == &kind; });
  } else {
    history.add_relisted(version);
  }
  moved(id);
  for (const Search& one : searches) dispatch(one.call, kind);
}

void Server::moved(KindId id) {
  Kind& kind = *kinds_[id];
  if (!kind.ready() || kind.kind.history().relisting()) return;
  kind.kind.history().advance(kind.kind.version());
  pump_all(kind);
  for (auto& call : kind.waiters.take_reached(kind.kind.version())) dispatch(call, kind);
}

void Server::pump_all(Kind& kind) {
  ReadHistory& history = kind.kind.history();
  bool ended = false;
  const bool first = !std::exchange(pumped_, true);
  if (first) {
    loop_.post([this, there = std::weak_ptr(alive_)] {
      if (!there.expired()) pumped_ = false;
    });
  }
  const ReadTurn turn = turn_of(kind, first);
  for (Watching& open : watches_) {
    if (open.kind == &kind && !open.watch->pump(history, turn)) ended = true;
  }
  // Who is still behind makes its own lines and keeps none: the history stays small.
  for (auto at = std::max(kind.sent, history.first()); at < history.end(); ++at) {
    history.at(at)->lines.clear();
  }
  kind.sent = history.end();
  if (ended) sweep_later();
  go_on_if_used();
}

// Selections by fields look into object after object, and may find nothing for long: they go on
// turn by turn, the longest waiting one first, so that others are served in between.
void Server::go_on_if_used() {
  if (looks_ == kLooksPerTurn || std::exchange(going_on_, true)) return;
  loop_.post([this, there = std::weak_ptr(alive_)] {
    if (!there.expired()) go_on();
  });
}

void Server::go_on() {
  going_on_ = false;
  looks_ = kLooksPerTurn;
  for (auto it = searches_.begin(); it != searches_.end() && looks_ > 0;) {
    const auto next = std::next(it);
    const bool gone = it->call->to->gone();
    if (gone || it->kind->kind.search(it->slice, looks_, loop_.now())) {
      Search over = std::move(*it);
      searches_.erase(it);
      const auto sent =
          gone ? Result<void>() : send_list(over.call, *over.kind, std::move(over.slice), over.as);
      if (!sent.ok()) refuse(over.call->to, sent.error());
    }
    it = next;
  }
  for (auto it = lists_.begin(); it != lists_.end() && looks_ > 0;) {
    const auto next = std::next(it);
    if ((*it)->starved()) pump(it);
    it = next;
  }
  for (Watching& open : watches_) {
    if (looks_ == 0) break;
    if (!open.watch->starved()) continue;
    if (!open.watch->pump(open.kind->kind.history(), turn_of(*open.kind))) sweep_later();
  }
  go_on_if_used();
}

// ---------------------------------------------------------------- time

void Server::sweep_later() {
  if (std::exchange(sweeping_, true)) return;
  loop_.post([this, there = std::weak_ptr(alive_)] {
    if (!there.expired()) sweep();
  });
}

void Server::sweep() {
  sweeping_ = false;
  // The answers go only after the lists are in order again: ending one may call back.
  const auto ended = take_if(watches_, [](const Watching& one) { return one.watch->over(); });
  for (const Watching& one : ended) {
    let_go(one.watch->responder());
    if (one.watch->dropped()) ++counters_.watches_dropped;
  }
  const auto lost = take_if(lists_, [&](const auto& one) { return one->over(loop_.now()); });
  for (const auto& one : lost) let_go(one->responder());
}

void Server::schedule_tick() {
  tick_ = loop_.after(kTick, [this] {
    tick();
    schedule_tick();
  });
}

void Server::tick() {
  for (Watching& open : watches_) {
    (void)open.watch->tick(open.kind->kind.history(), loop_.now(), turn_of(*open.kind));
  }
  go_on_if_used();
  sweep();
  for (const auto& kind : kinds_) {
    kind->kind.expire(loop_.now());
    for (auto& call : kind->waiters.take_expired(loop_.now())) {
      call->waited = true;
      dispatch(call, *kind);
    }
  }
}

}  // namespace

Result<std::unique_ptr<ReadServer>> ReadServer::start(loop::EventLoop& loop,
                                                      ReadServerOptions options) {
  if (options.insecure_http && !http::is_loopback_host(options.address)) {
    return Error(ErrorKind::invalid,
                 fmt::format("plain HTTP is for loopback addresses only, not for {}: leave out the "
                             "option to serve TLS",
                             options.address));
  }
  auto server = std::make_unique<Server>(loop, std::move(options));
  KW_TRY(server->listen().with_context("cannot serve the cache"));
  return std::unique_ptr<ReadServer>(std::move(server));
}

}  // namespace kubewatch::apiserver
