// Requests become calls of Api in the next turn of the loop; watches are fed from its hub.
#include "rehearsal/local_server.hpp"

#include <fmt/format.h>

#include <limits>

#include "base/json.hpp"
#include "base/yaml.hpp"
#include "base/yaml_body.hpp"
#include "core/status.hpp"
#include "hooks/recorded_request.hpp"

namespace kubewatch::rehearsal {

using apiserver::ApiRequest;
using apiserver::ApiResponse;

namespace {

constexpr Duration kNoBookmarks = std::chrono::hours(24 * 365);
constexpr std::size_t kHistory = 100'000;

apiserver::ApiOptions api_options() {
  apiserver::ApiOptions options;
  options.history = kHistory;
  options.history_bytes = std::numeric_limits<std::size_t>::max();  // it lives for one rehearsal
  options.bookmark_interval = kNoBookmarks;
  options.address = "rehearsal.invalid:443";
  return options;
}

std::string verb_of(const ApiRequest& request, const apiserver::ResourcePath& path, bool watch) {
  if (request.method == "GET") {
    if (watch) return "watch";
    return path.name.empty() ? "list" : "get";
  }
  if (request.method == "DELETE" && path.name.empty()) return "deletecollection";
  return hooks::verb_of(request.method, request.headers.get("Content-Type"));
}

bool is_write(const std::string& verb) {
  return verb != "get" && verb != "list" && verb != "watch" && !verb.empty();
}

// What a watch is of, however often it is opened.
std::string watch_name(const ApiRequest& request) {
  const auto query = apiserver::parse_query(request.query);
  if (!query.ok()) return request.path;
  return request.path + "?" + query->get("labelSelector") + "&" + query->get("fieldSelector");
}

bool same_apart_from_owners(const apiserver::Object& before, const apiserver::Object& after) {
  if (before.version() == after.version()) return false;
  const auto content = [](const apiserver::Object& object) {
    Json out = object.json();
    for (const char* key : {"managedFields", "resourceVersion"}) out["metadata"].erase(key);
    return out;
  };
  return content(before) == content(after);
}

// Path and query of an absolute URL.
std::string target_of(const std::string& url) {
  const std::size_t scheme = url.find("://");
  const std::size_t path = url.find('/', scheme == std::string::npos ? 0 : scheme + 3);
  return path == std::string::npos ? "/" : url.substr(path);
}

http::ResponseHead head_of(const ApiResponse& response) {
  http::ResponseHead head{response.status, response.headers};
  head.headers.set("Content-Type", response.content_type);
  return head;
}

}  // namespace

std::string ApiWrite::str() const {
  return fmt::format("{} {}{} {}: {}", verb, gvk.kind, subresource.empty() ? "" : "/" + subresource,
                     key.str(), effect);
}

ApiResponse staged_failure(int code) {
  ApiResponse response;
  response.status = code;
  response.body = base::dump_json(
      core::status_body(code, core::reason_of_code(code), "this failure is part of the test case"));
  return response;
}

struct LocalServer::CallState {
  http::Request request;
  http::CallHandlers handlers;
  apiserver::Caller caller;
  bool hook = false;
  bool canceled = false;
  bool scheduled = false;  // a delivery of `buffer`
  bool ended = false;
  std::string buffer;
  std::string watch_path;  // set once it is an open watch
};

class LocalServer::LocalCall : public http::Call {
 public:
  LocalCall(LocalServer& server, std::shared_ptr<CallState> state)
      : server_(server), alive_(server.alive_), state_(std::move(state)) {}
  ~LocalCall() override {
    state_->canceled = true;
    if (state_->watch_path.empty() || alive_.expired()) return;
    server_.post([&server = server_] { server.api_.watches().sweep(); });
  }

 private:
  LocalServer& server_;
  std::weak_ptr<char> alive_;
  std::shared_ptr<CallState> state_;
};

class LocalServer::Sink : public apiserver::WatchSink {
 public:
  Sink(LocalServer& server, std::shared_ptr<CallState> state)
      : server_(server), alive_(server.alive_), state_(std::move(state)) {}
  ~Sink() override {
    if (!alive_.expired()) server_.end_stream(state_);
  }
  void send(std::string_view bytes) override {
    state_->buffer += bytes;
    server_.deliver(state_);
  }
  std::size_t backlog() const override { return 0; }
  bool gone() const override { return state_->canceled; }

 private:
  LocalServer& server_;
  std::weak_ptr<char> alive_;
  std::shared_ptr<CallState> state_;
};

// What a request means, as far as the list of writes and faults care.
struct LocalServer::Parsed {
  std::string verb;  // "": no resource
  apiserver::ResourcePtr resource;
  apiserver::ResourcePath path;
  std::string manager;
  std::string name;
  bool is_event() const { return resource != nullptr && resource->type.gvk.kind == "Event"; }
};

LocalServer::LocalServer(loop::EventLoop& loop) : loop_(loop), api_(api_options(), loop.wall()) {
  api_.on_change([this] { schedule_work(); });
}

LocalServer::~LocalServer() {
  alive_.reset();
  api_.on_change({});
}

void LocalServer::post(std::function<void()> callback) {
  ++in_flight_;
  loop_.post([this, alive = std::weak_ptr<char>(alive_), callback = std::move(callback)] {
    if (alive.expired()) return;
    --in_flight_;
    ++activity_;
    callback();
  });
}

void LocalServer::schedule_work() {
  if (work_pending_) return;
  work_pending_ = true;
  loop_.post([this, alive = std::weak_ptr<char>(alive_)] {
    if (alive.expired()) return;
    work_pending_ = false;
    ++activity_;
    if (api_.step(loop_.wall())) schedule_work();
    api_.watches().pump(loop_.wall());
  });
}

void LocalServer::finish_work() {
  while (api_.step(loop_.wall())) {
  }
}

std::unique_ptr<http::Call> LocalServer::start(http::Request request, http::CallHandlers handlers) {
  return start_for(std::nullopt, std::move(request), std::move(handlers));
}

std::unique_ptr<http::Call> LocalServer::start_for_hook(http::Request request,
                                                        apiserver::Caller caller,
                                                        http::CallHandlers handlers) {
  return start_for(std::move(caller), std::move(request), std::move(handlers));
}

std::unique_ptr<http::Call> LocalServer::start_for(std::optional<apiserver::Caller> hook,
                                                   http::Request request,
                                                   http::CallHandlers handlers) {
  auto state = std::make_shared<CallState>();
  state->request = std::move(request);
  state->handlers = std::move(handlers);
  state->hook = hook.has_value();
  if (hook) state->caller = std::move(*hook);
  post([this, state] { serve(state); });
  return std::make_unique<LocalCall>(*this, state);
}

LocalServer::Parsed LocalServer::parse(const ApiRequest& request) const {
  Parsed out;
  const auto segments = apiserver::split_path(request.path);
  if (!segments.ok()) return out;
  const auto path = apiserver::parse_resource_path(*segments);
  if (!path) return out;
  out.path = *path;
  out.resource = api_.registry().find(path->group, path->version, path->plural);
  if (out.resource == nullptr) return out;
  if (path->group == "authorization.k8s.io" || path->group == "authentication.k8s.io") return out;
  if (path->subresource == "token") return out;  // changes nothing, either
  const auto query = apiserver::parse_query(request.query);
  const bool watch = path->watch || (query.ok() && query->flag("watch"));
  out.verb = verb_of(request, *path, watch);
  if (query.ok()) out.manager = query->get("fieldManager");
  out.name = path->name;
  if (out.verb == "create") {
    const auto body = base::parse_json(request.body);
    if (body.ok()) out.name = base::string_at(*body, {"metadata", "name"});
  }
  return out;
}

std::optional<int> LocalServer::fault_of(const Parsed& parsed) {
  if (parsed.verb.empty()) return std::nullopt;
  const auto matches = [](const std::string& wanted, const std::string& is) {
    return wanted.empty() || wanted == is;
  };
  for (Fault& fault : faults_) {
    if (fault.times == 0) continue;
    const bool verb = matches(fault.verb, parsed.verb) ||
                      (fault.verb == "write" && is_write(parsed.verb) && !parsed.is_event());
    if (!verb || !matches(fault.kind, parsed.resource->type.gvk.kind)) continue;
    if (!matches(fault.name, parsed.name) || !matches(fault.namespace_, parsed.path.namespace_)) {
      continue;
    }
    if (!matches(fault.subresource, parsed.path.subresource)) continue;
    --fault.times;
    return fault.code;
  }
  return std::nullopt;
}

void LocalServer::pretend(const apiserver::Resource& resource, const core::ObjectKey& key,
                          Json object) {
  pretended_[{resource.storage_id, apiserver::object_key(key.namespace_, key.name)}] =
      std::move(object);
}

apiserver::Reply LocalServer::answer(const ApiRequest& request, const Parsed& parsed, bool hook) {
  const bool reads = parsed.verb == "get" && parsed.path.subresource.empty();
  const bool asked = reads || parsed.verb == "patch" || parsed.verb == "delete";
  if (hook || !asked || pretended_.empty()) return api_.handle(request, loop_.wall());
  const std::string& storage = parsed.resource->storage_id;
  const std::string key = apiserver::object_key(
      parsed.resource->type.namespaced ? parsed.path.namespace_ : "", parsed.name);
  const auto object = pretended_.find({storage, key});
  if (object == pretended_.end() || api_.storage().get(storage, key) != nullptr) {
    return api_.handle(request, loop_.wall());
  }
  ApiResponse response;
  response.status = 200;
  response.body = base::dump_json(object->second);
  if (parsed.verb == "delete") pretended_.erase(object);
  return {std::move(response), nullptr};
}

// Whatever is written is kept in writes(), with what it did.
apiserver::Reply LocalServer::carry_out(const ApiRequest& request, const Parsed& parsed,
                                        std::optional<int> fault, bool hook) {
  const bool listed = is_write(parsed.verb) && !parsed.is_event();
  if (!listed) {
    if (fault) return {*fault == 0 ? ApiResponse{0, "", {}, ""} : staged_failure(*fault), nullptr};
    return answer(request, parsed, hook);
  }
  const std::string key = apiserver::object_key(
      parsed.resource->type.namespaced ? parsed.path.namespace_ : "", parsed.name);
  const auto live = [&] { return api_.storage().get(parsed.resource->storage_id, key); };
  const bool interrupted = !hook && interruption_ && interruption_->write == client_writes_;
  if (!hook) ++client_writes_;
  if (interrupted && !interruption_->done) fault = 500;
  const auto before = live();
  apiserver::Reply reply;
  if (fault) {
    reply.response = *fault == 0 ? ApiResponse{0, "", {}, ""} : staged_failure(*fault);
  } else {
    reply = answer(request, parsed, hook);
  }
  const auto after = live();
  const bool both = before != nullptr && after != nullptr;
  ApiWrite write;
  write.verb = parsed.verb;
  write.gvk = parsed.resource->type.gvk;
  write.key = {parsed.resource->type.namespaced ? parsed.path.namespace_ : "", parsed.name};
  write.subresource = parsed.path.subresource;
  write.manager = parsed.manager;
  write.code = reply.response.status;
  write.target = request.query.empty() ? request.path : request.path + "?" + request.query;
  write.content_type = request.headers.get("Content-Type");
  write.body = request.body;
  write.ownership = both && same_apart_from_owners(*before, *after);
  write.by_hook = hook;
  if (reply.response.status == 0 || reply.response.status >= 300) {
    write.effect = "failed";
  } else if (parsed.verb == "delete" || parsed.verb == "deletecollection") {
    const bool same =
        before != nullptr && after != nullptr && after->version() == before->version();
    write.effect = same ? "unchanged" : "deleted";
  } else if (before == nullptr) {
    write.effect = after == nullptr ? "unchanged" : "created";  // a dry run makes nothing
  } else {
    const bool same = after != nullptr && after->version() == before->version();
    write.effect = same ? "unchanged" : "configured";
  }
  writes_.push_back(std::move(write));
  if (interrupted && interruption_->done) reply.response = ApiResponse{0, "", {}, ""};
  return reply;
}

void LocalServer::serve(const std::shared_ptr<CallState>& state) {
  if (state->canceled) return;
  const std::string target = target_of(state->request.url);
  const auto mark = target.find('?');
  ApiRequest request{state->request.method,
                     target.substr(0, mark),
                     mark == std::string::npos ? "" : target.substr(mark + 1),
                     state->request.headers,
                     state->request.body,
                     state->caller};
  const Parsed parsed = parse(request);
  const auto fault = fault_of(parsed);
  auto reply = carry_out(request, parsed, fault, state->hook);
  if (reply.response.status == 0) {
    if (parsed.verb == "watch") note_lost(*state, watch_name(request));
    return lose(state);
  }
  if (!reply.watch) {
    if (parsed.verb == "watch" && fault) note_lost(*state, watch_name(request));
    return respond(state, reply.response);
  }
  state->watch_path = watch_name(request);
  if (!state->hook) lost_watches_.erase(state->watch_path);
  stream(state, std::move(reply));
}

void LocalServer::respond(const std::shared_ptr<CallState>& state, const ApiResponse& response) {
  if (state->handlers.on_head) state->handlers.on_head(head_of(response));
  if (!state->canceled && state->handlers.on_data && !response.body.empty()) {
    state->handlers.on_data(response.body);
  }
  if (!state->canceled) state->handlers.on_done({});
}

void LocalServer::lose(const std::shared_ptr<CallState>& state) {
  state->handlers.on_done(
      Error(ErrorKind::unreachable, "the connection was lost: this is part of the test case"));
}

void LocalServer::stream(const std::shared_ptr<CallState>& state, apiserver::Reply reply) {
  if (state->handlers.on_head) state->handlers.on_head(head_of(reply.response));
  if (state->canceled) return;
  api_.watches().attach(std::move(reply.watch), std::make_unique<Sink>(*this, state), loop_.now(),
                        loop_.wall());
  api_.watches().pump(loop_.wall());
}

void LocalServer::deliver(const std::shared_ptr<CallState>& state) {
  if (state->scheduled) return;
  state->scheduled = true;
  post([state] {
    state->scheduled = false;
    const std::string bytes = std::exchange(state->buffer, {});
    if (!state->canceled && !bytes.empty() && state->handlers.on_data) {
      state->handlers.on_data(bytes);
    }
  });
}

// The engine opens its watches again; whether a hook does is its own affair.
void LocalServer::note_lost(const CallState& state, const std::string& watch) {
  if (!state.hook) lost_watches_.insert(watch);
}

// The server ended a watch that its client still wants.
void LocalServer::end_stream(const std::shared_ptr<CallState>& state) {
  if (state->ended || state->canceled) return;
  state->ended = true;
  note_lost(*state, state->watch_path);
  post([state] {
    if (!state->canceled) state->handlers.on_done({});
  });
}

Result<Json> LocalServer::ask(const std::string& method, const std::string& path,
                              const std::string& query, const Json& body,
                              const std::string& content_type) {
  // Whichever of the two it is read as.
  ApiRequest request{method, path, query, {}, body.is_null() ? "" : base::dump_json_for_yaml(body)};
  request.headers.set("Content-Type", content_type);
  const auto reply = api_.handle(request, loop_.wall());
  ++activity_;
  if (reply.response.status >= 300) {
    return core::error_from_response(reply.response.status, reply.response.body, {});
  }
  return base::parse_json(reply.response.body);
}

void LocalServer::compact() {
  api_.storage().compact();
  api_.watches().drop_all();
}

}  // namespace kubewatch::rehearsal
