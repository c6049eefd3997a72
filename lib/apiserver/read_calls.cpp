#include "apiserver/read_calls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/selector.hpp"

namespace kubewatch::apiserver {

namespace {

constexpr std::size_t kSmallList = 256;         // objects that are answered in one piece
constexpr std::size_t kMostInOne = 64U << 20U;  // bytes of YAML or indented JSON
constexpr std::size_t kMostWaiting = 1000;      // requests for a newer state

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

}  // namespace

http::Headers json_headers(const std::string& type) {
  http::Headers out;
  out.set("Content-Type", type);
  out.set("Cache-Control", "no-cache, private");
  return out;
}

Error unavailable(const std::string& message) {
  return api_error(503, "ServiceUnavailable", message, Json{{"retryAfterSeconds", 1}});
}

ReadCalls::ReadCalls(loop::EventLoop& loop, HistoryLimits history, Duration bookmark_interval,
                     Duration version_wait, Otherwise otherwise)
    : loop_(loop),
      history_(history),
      bookmark_interval_(bookmark_interval),
      version_wait_(version_wait),
      otherwise_(std::move(otherwise)),
      random_(base::Random::from_system()) {}

void ReadCalls::close() {
  searches_.clear();
  watches_.clear();
  lists_.clear();
}

ReadServer::KindId ReadCalls::add(const core::ReadBackend& backend, ResourcePtr resource) {
  kinds_.push_back(std::make_unique<Kind>(backend, std::move(resource), history_));
  return kinds_.size() - 1;
}

std::vector<std::string> ReadCalls::names() const {
  std::vector<std::string> out;
  for (const auto& one : kinds_) out.push_back(one->kind.name());
  return out;
}

std::vector<std::string> ReadCalls::not_ready() const {
  std::vector<std::string> out;
  for (const auto& one : kinds_) {
    if (!one->ready()) out.push_back(one->kind.name());
  }
  return out;
}

ReadCounters ReadCalls::counters() const {
  ReadCounters out = counters_;
  out.watches_open = watches_.size();
  return out;
}

bool ReadCalls::answer(const ReadCallPtr& call) {
  const ResourcePath& path = call->path;
  for (const auto& one : kinds_) {
    const bool own = path.subresource.empty() ||
                     (path.subresource == "status" && one->kind.resource().has_status());
    const core::ResourceType& type = one->kind.backend().type();
    const bool same = type.gvk.group == path.group && type.gvk.version == path.version &&
                      type.plural == path.plural;
    if (!own || !same || !one->kind.covers(path.namespace_)) continue;
    const bool misplaced =
        type.namespaced ? path.namespace_.empty() && !path.name.empty() : !path.namespace_.empty();
    if (misplaced) {
      otherwise_.refuse(call->to, no_such_resource());
    } else {
      dispatch(call, *one);
    }
    return true;
  }
  return false;
}

void ReadCalls::dispatch(const ReadCallPtr& call, Kind& kind) {
  if (!kind.ready()) {
    return otherwise_.refuse(
        call->to,
        unavailable(fmt::format("the cache of {} is not complete yet", kind.kind.name())));
  }
  const bool watching = call->path.watch || call->query.flag("watch");
  const bool one = !call->path.name.empty();
  const Endpoint endpoint = watching ? Endpoint::watch : one ? Endpoint::object : Endpoint::list;
  ApiRequest asked;
  asked.method = call->request.method;
  asked.headers = call->request.headers;
  auto as = representation_of(asked, kind.kind.resource(), call->query, endpoint);
  if (!as.ok()) return otherwise_.refuse(call->to, as.error());
  const bool metadata = kind.kind.backend().content() == core::Content::metadata;
  if (metadata && (as->format == Format::object || as->include == IncludeObject::object)) {
    return otherwise_.refuse(
        call->to, not_acceptable(fmt::format("the cache holds only the metadata of {}: ask for "
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
    if (concerned && otherwise_.pass_on(call)) return;
    if (concerned) {
      return otherwise_.refuse(
          call->to, not_acceptable(fmt::format(
                        "of {} {} the cache could keep only the metadata; ask for "
                        "PartialObjectMetadata, or start it with --forward-reads",
                        kind.kind.resource().type.qualified_plural(), reduced.front().str())));
    }
  }
  const auto done = watching ? watch(call, kind, *as)
                    : one    ? get(call, kind, *as)
                             : list(call, kind, *as);
  if (!done.ok()) otherwise_.refuse(call->to, done.error());
}

Result<void> ReadCalls::wait(const ReadCallPtr& call, Kind& kind, const NotYet& not_yet) {
  if (call->waited || kind.waiters.size() >= kMostWaiting) {
    return version_too_large(not_yet.version, kind.kind.version());
  }
  kind.waiters.add(not_yet.version, loop_.now() + version_wait_, call);
  return {};
}

Result<void> ReadCalls::get(const ReadCallPtr& call, Kind& kind, const Representation& as) {
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

Result<void> ReadCalls::list(const ReadCallPtr& call, Kind& kind, const Representation& as) {
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

Result<void> ReadCalls::send_list(const ReadCallPtr& call, Kind& kind, ListSlice slice,
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

void ReadCalls::pump(std::list<std::unique_ptr<ListStream>>::iterator stream) {
  const bool more = (*stream)->pump(looks_);
  go_on_if_used();
  if (more) return;
  let_go((*stream)->responder());
  counters_.objects_sent += (*stream)->sent();
  lists_.erase(stream);
}

Result<void> ReadCalls::watch(const ReadCallPtr& call, Kind& kind, const Representation& as) {
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
  spec.timeout = watch_time(options, random_);
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
                                                         bookmark_interval_)});
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

void ReadCalls::change_version(ReadServer::KindId id, ResourcePtr resource) {
  const auto& backend = kinds_[id]->kind.backend();
  const auto before =
      std::exchange(kinds_[id], std::make_unique<Kind>(backend, std::move(resource), history_));
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
  for (const Search& one : searches) otherwise_.not_held(one.call);
  for (const auto& call : before->waiters.take_expired(TimePoint::max())) otherwise_.not_held(call);
}

void ReadCalls::changed(ReadServer::KindId id, ReadChange change, bool relisted) {
  Kind& kind = *kinds_[id];
  if (!relisted) return kind.kind.history().add(std::move(change));
  // Of another version all objects are told, and nobody goes on from before it.
  if (!kind.of_version_before) kind.kind.history().note_relisted(std::move(change));
}

void ReadCalls::synced(ReadServer::KindId id, bool gap) {
  Kind& kind = *kinds_[id];
  const std::uint64_t version = kind.kind.version();
  ReadHistory& history = kind.kind.history();
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

void ReadCalls::moved(ReadServer::KindId id) {
  Kind& kind = *kinds_[id];
  if (!kind.ready() || kind.kind.history().relisting()) return;
  kind.kind.history().advance(kind.kind.version());
  pump_all(kind);
  for (auto& call : kind.waiters.take_reached(kind.kind.version())) dispatch(call, kind);
}

void ReadCalls::pump_all(Kind& kind) {
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
void ReadCalls::go_on_if_used() {
  if (looks_ == kLooksPerTurn || std::exchange(going_on_, true)) return;
  loop_.post([this, there = std::weak_ptr(alive_)] {
    if (!there.expired()) go_on();
  });
}

void ReadCalls::go_on() {
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
      if (!sent.ok()) otherwise_.refuse(over.call->to, sent.error());
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

void ReadCalls::sweep_later() {
  if (std::exchange(sweeping_, true)) return;
  loop_.post([this, there = std::weak_ptr(alive_)] {
    if (!there.expired()) sweep();
  });
}

void ReadCalls::sweep() {
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

void ReadCalls::tick() {
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

}  // namespace kubewatch::apiserver
