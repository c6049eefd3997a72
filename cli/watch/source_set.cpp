#include "cli/watch/source_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/backoff.hpp"
#include "base/strings.hpp"
#include "cli/resource_args.hpp"
#include "cli/stream_flags.hpp"
#include "client/discovery.hpp"
#include "client/retry.hpp"
#include "core/meta.hpp"
#include "core/selector.hpp"
#include "runtime/served_kind.hpp"

namespace kubewatch::cli::watch {

namespace {

constexpr Duration kLookAgain{2000};
// Objects of a kind and namespace that have a watch, and so a connection, each; of more the whole
// kind is watched, where that is allowed, and the others are passed over.
constexpr std::size_t kMostAlone = 16;
// And where it is not allowed: beyond it that refusal stands.
constexpr std::size_t kMostSplit = 500;

// As CheckpointParts has it.
std::string part_of(const SourceInfo& info, const std::set<std::string>& names, bool version) {
  return info.context + "|" + info.type.qualified_plural() +
         (version ? "/" + info.type.gvk.version : "") + "|" + info.namespace_ + "|" +
         base::join({names.begin(), names.end()}, ",");
}

// Objects of a kind that are named one after the other are synced together.
void add_wanted(Wanted one, std::vector<Wanted>& to) {
  const auto same = std::find_if(to.begin(), to.end(), [&](const Wanted& other) {
    return other.type == one.type && other.namespace_ == one.namespace_ && !one.names.empty();
  });
  Wanted& into = same == to.end() ? to.emplace_back() : *same;
  into.type = std::move(one.type);
  into.namespace_ = std::move(one.namespace_);
  into.text = std::move(one.text);
  for (std::string& name : one.names) {
    const bool known = std::find(into.names.begin(), into.names.end(), name) != into.names.end();
    if (!known) into.names.push_back(std::move(name));
  }
}

}  // namespace

Result<std::vector<Wanted>> wanted_of(const std::vector<std::string>& words) {
  KW_ASSIGN(auto parsed, parse_resource_words(words));
  std::vector<Wanted> out;
  for (auto& one : parsed) add_wanted({std::move(one.type), std::move(one.names), ""}, out);
  return out;
}

Result<std::vector<Wanted>> wanted_of(const std::vector<Manifest>& manifests,
                                      const std::string& asked) {
  std::vector<Wanted> out;
  for (const Manifest& manifest : manifests) {
    auto gvk = core::gvk_of(manifest.object);
    if (!gvk.ok()) return std::move(gvk).error().with_context(manifest.source);
    std::string name = base::string_at(manifest.object, {"metadata", "name"});
    KW_TRY(check_name(name).with_context(manifest.source));
    // Whether the kind has namespaces is not known yet, and does not matter here.
    KW_ASSIGN(auto namespace_, namespace_of(manifest, true, asked, ""));
    add_wanted({gvk->kind + "." + gvk->version + "." + gvk->group,
                {std::move(name)},
                std::move(namespace_),
                fmt::format("kind \"{}\" in version \"{}\" of {}", gvk->kind, gvk->api_version(),
                            manifest.source)},
               out);
  }
  return out;
}

Lookup look_up(const client::ResourceMap& map, const std::vector<Wanted>& wanted) {
  Lookup out;
  for (const Wanted& one : wanted) {
    const auto types = map.resolve(one.type);
    if (types.empty()) out.missing.push_back(one);
    for (const core::ResourceType& type : types) {
      if (type.has_verb("watch")) {
        out.found.emplace_back(one, type);
      } else if (types.size() == 1) {  // a category has what cannot be watched, too
        out.refused.emplace_back(
            ErrorKind::invalid,
            type.qualified_plural() + " cannot be watched: the server does not offer it");
      }
    }
  }
  return out;
}

struct SourceSet::Server {
  std::string context;
  Session* session;
  std::vector<Wanted> missing;
  std::set<core::Gvk> types;
  std::map<std::string, std::set<core::Gvk>> versions;  // that are watched, by qualified plural
  client::PendingPtr request;
  loop::Timer timer;
  // Why it has told nothing yet of what it has; absent once it has.
  std::optional<Error> away;
  bool refuses = false;  // and will not: it cannot be talked to, or has it not so
  base::Backoff backoff{base::BackoffPolicy()};
};

struct SourceSet::Source {
  SourceInfo info;
  std::set<std::string> names;  // empty: all
  std::string part;             // of the checkpoint
  bool resumed = false;
  bool synced = false;
  bool begun = false;
  bool refused = false;  // never listed, and may not be
  bool pinned = false;   // its version was asked for
  bool told_version = false;
  Server* server = nullptr;
  std::unique_ptr<runtime::Reflector> reflector;
  client::PendingPtr discovery;
  bool discovers = false;
  loop::Timer next_turn;
};

SourceSet::SourceSet(std::vector<std::pair<std::string, Session*>> sessions,
                     std::vector<Wanted> wanted, SourceOptions options, SourceCallbacks callbacks)
    : options_(std::move(options)), callbacks_(std::move(callbacks)) {
  for (auto& [context, session] : sessions) {
    auto server = std::make_unique<Server>();
    server->context = context;
    server->session = session;
    server->missing = wanted;
    server->away.emplace(ErrorKind::timeout, session->client().no_answer());
    server->backoff = base::Backoff(options_.stream.backoff);
    servers_.push_back(std::move(server));
  }
}

SourceSet::~SourceSet() = default;

void SourceSet::start() {
  for (auto& server : servers_) {
    std::vector<std::string> words;
    for (const Wanted& wanted : server->missing) words.push_back(wanted.type);
    const auto known = server->session->known(words);
    known != nullptr ? first_look(*server, *known) : ask_first(*server, Duration{0});
  }
}

void SourceSet::ask_first(Server& server, Duration after) {
  server.timer = server.session->loop().after(after, [this, &server] {
    discover(server, server.request, server.timer, [this, &server](const Discovered& answer) {
      if (!answer.ok()) return is_away(server, answer.error());
      server.session->keep(*answer);
      first_look(server, **answer);
    });
  });
}

// Of a server that has not what was asked for nothing is watched; the others go on.
void SourceSet::first_look(Server& server, const client::ResourceMap& map) {
  std::vector<Wanted> wanted = server.missing;
  const std::size_t before = sources_.size();
  server.away.reset();
  server.refuses = false;
  const auto looked = look(server, map);
  if (looked.ok()) return begin_all(before);
  server.missing = std::move(wanted);
  server.away = looked.error();
  server.refuses = true;
  for (std::size_t i = before; i < sources_.size(); ++i) sources_[i]->refused = true;
  const Error told = in_context(server.context, looked.error());
  if (all_refused()) return callbacks_.on_nothing_left(told);
  callbacks_.on_note(told.render());
}

// One that refuses, or cannot be talked to as it is configured, is asked again as well while there
// are others, as a kind is that may not be read.
void SourceSet::is_away(Server& server, const Error& error) {
  const bool first = server.backoff.failures() == 0;
  server.away = error;
  server.refuses = !client::may_come_back(error);
  const Error told = in_context(server.context, error);
  if (all_refused()) return callbacks_.on_nothing_left(told);
  if (first) callbacks_.on_note(told.render() + "; asking again until it answers");
  ask_first(server, client::pause_before_next(error, server.backoff, server.session->random()));
}

Error SourceSet::in_context(const std::string& context, Error error) {
  return context.empty() ? error : std::move(error).with_context("context " + context);
}

void SourceSet::note_versions(Server& server, const Lookup& seen) {
  for (const auto& [wanted, type] : seen.found) {
    server.versions[type.qualified_plural()].insert(type.gvk);
  }
}

// The first time: what cannot be watched is an error.
Result<void> SourceSet::look(Server& server, const client::ResourceMap& map) {
  Lookup seen = look_up(map, server.missing);
  if (!seen.refused.empty()) return std::move(seen.refused.front());
  server.missing.clear();
  for (auto& wanted : seen.missing) {
    const Error missing = wanted.text.empty()
                              ? server.session->missing_type(map, wanted.type)
                              : Error(ErrorKind::not_found, "no matches for " + wanted.text);
    if (!options_.wait_for_types) return missing;
    callbacks_.on_note(missing.message() + ": waiting for it");
    server.missing.push_back(std::move(wanted));
  }
  note_versions(server, seen);
  for (const auto& [wanted, type] : seen.found) KW_TRY(add(server, wanted, type));
  if (!server.missing.empty()) look_again(server);
  return {};
}

void SourceSet::begin_all(std::size_t first) {
  if (first < sources_.size()) callbacks_.on_types();
  for (std::size_t i = first; i < sources_.size(); ++i) begin(*sources_[i]);
}

// Later the others go on, whatever is wrong with one.
void SourceSet::look_later(Server& server, const client::ResourceMap& map) {
  Lookup seen = look_up(map, server.missing);
  server.missing.clear();
  for (auto& wanted : seen.missing) server.missing.push_back(std::move(wanted));
  note_versions(server, seen);
  const std::size_t before = sources_.size();
  for (const auto& [wanted, type] : seen.found) {
    callbacks_.on_note(type.qualified_plural() + " is there now");
    auto added = add(server, wanted, type);
    if (!added.ok()) seen.refused.push_back(std::move(added).error());
  }
  begin_all(before);
  if (!seen.refused.empty() && all_refused()) {
    return callbacks_.on_nothing_left(seen.refused.front());
  }
  for (const Error& error : seen.refused) callbacks_.on_note(error.render());
  if (!server.missing.empty()) look_again(server);
}

// The answer is told in a turn of its own, in which the request can go.
void SourceSet::discover(Server& server, client::PendingPtr& request, loop::Timer& turn,
                         std::function<void(const Discovered&)> then) {
  request = client::discover(server.session->client(), [&server, &request, &turn,
                                                        then = std::move(then)](auto answer) {
    turn = server.session->loop().after(Duration{0}, [&request, then, answer = std::move(answer)] {
      request.reset();
      then(answer);
    });
  });
}

void SourceSet::look_again(Server& server) {
  server.timer = server.session->loop().after(kLookAgain, [this, &server] {
    discover(server, server.request, server.timer, [this, &server](const Discovered& answer) {
      if (!answer.ok()) return look_again(server);
      look_later(server, **answer);
    });
  });
}

Result<void> SourceSet::add(Server& server, const Wanted& wanted, const core::ResourceType& type) {
  if (wanted.names.empty() && !server.types.insert(type.gvk).second) return {};
  std::vector<std::string> namespaces = options_.namespaces;
  if (options_.all_namespaces) namespaces = {""};
  if (!wanted.namespace_.empty()) namespaces = {wanted.namespace_};
  if (!type.namespaced) namespaces = {""};
  if (namespaces.empty()) namespaces = {server.session->client().config().namespace_};
  for (const std::string& namespace_ : namespaces) {
    const SourceInfo info{server.context, type, namespace_, ++groups_};
    const bool pinned = names_version(wanted.type, type.gvk);
    if (wanted.names.empty() || wanted.names.size() > kMostAlone) {
      KW_TRY(add_one(server, info, {wanted.names.begin(), wanted.names.end()}, pinned));
      continue;
    }
    for (const std::string& name : wanted.names) KW_TRY(add_one(server, info, {name}, pinned));
  }
  return {};
}

// `names`: one object by a watch of its own, many out of a watch of the whole kind.
Result<void> SourceSet::add_one(Server& server, SourceInfo info, std::set<std::string> names,
                                bool pinned) {
  // The same may be asked for by two words; and in two versions, which are told apart.
  if (!watched_.insert(part_of(info, names, true)).second) return {};
  auto source = std::make_unique<Source>();
  source->part = part_of(info, names, pinned);
  const std::string of_any_version = part_of(info, names, false);
  runtime::WatcherOptions stream = options_.stream;
  if (names.size() == 1) {
    stream.field_selector = core::with_name(stream.field_selector, *names.begin());
  }
  source->info = std::move(info);
  source->names = std::move(names);
  source->pinned = pinned;
  source->server = &server;
  source->reflector = std::make_unique<runtime::Reflector>(
      server.session->client(), source->info.type, source->info.namespace_, stream, options_.store,
      server.session->random(), callbacks_of(*source));
  auto loaded = options_.loaded.find(source->part);
  // The run before may have asked for no version; of two it says nothing of which it had.
  const bool alone = server.versions[source->info.type.qualified_plural()].size() == 1;
  if (loaded == options_.loaded.end() && alone) loaded = options_.loaded.find(of_any_version);
  const bool found = loaded != options_.loaded.end();
  const auto here = client::identity_of(server.session->client().config());
  if (const auto other = found ? client::why_other(loaded->second.server, here) : "";
      !other.empty()) {
    note_foreign(other);
  } else if (found) {
    auto read = source->reflector->load(loaded->second.bytes);
    if (!read.ok()) return std::move(read).error().with_context("--checkpoint");
    source->resumed = true;
    options_.loaded.erase(loaded);  // the cache holds it now, and is saved in its place
  }
  sources_.push_back(std::move(source));
  return {};
}

void SourceSet::note_foreign(const std::string& other) {
  if (!foreign_.insert(other).second) return;
  callbacks_.on_note("the checkpoint is of " + other + ": nothing of it is used, all is told anew");
}

void SourceSet::begin(Source& source) {
  callbacks_.prepare(*source.server->session, source.info.type,
                     [&source, alive = std::weak_ptr<char>(alive_)] {
                       if (alive.expired() || std::exchange(source.begun, true)) return;
                       source.reflector->start();
                     });
}

runtime::ReflectorCallbacks SourceSet::callbacks_of(Source& source) {
  runtime::ReflectorCallbacks out;
  out.want_previous = options_.want_previous;
  out.log_failures = false;  // warn_of_failure says more
  out.on_change = [this, &source](const runtime::StoreChange& change) {
    if (source.names.size() > 1 && source.names.count(change.meta.name) == 0) return;
    callbacks_.on_change(source.info, change, source.resumed);
  };
  out.on_synced = [this, &source](bool gap) {
    source.server->session->note_answered();
    synced(source, gap);
  };
  out.on_failure = [this, &source](runtime::WatcherFailure where, const Error& error,
                                   Duration retry) {
    const bool hopeless = source.server->session->is_hopeless(error);
    // Where it goes another way at once that one may work.
    source.refused = where == runtime::WatcherFailure::initial_list && !source.synced &&
                     ((retry > Duration::zero() && is_refusal(error)) || hopeless);
    const bool by_name =
        source.refused && source.names.size() > 1 && error.is_forbidden() && !source.discovers;
    if (by_name && source.names.size() <= kMostSplit) return split(source);
    Error told = hopeless ? in_context(source.info.context, error) : error;
    if (by_name) {
      told.add_context(fmt::format("more than {} names are not watched one by one", kMostSplit));
    }
    if (all_refused()) return callbacks_.on_nothing_left(told);
    warn_of_failure(source.info.type.gvk.kind, source.reflector->stats(), where, told, retry);
    if (error.is_not_found()) look_for_version(source);
    callbacks_.on_failure(source.info, where, told);
  };
  return out;
}

// Not inside its own callbacks.
void SourceSet::take_out(Source& source, std::function<void(std::unique_ptr<Source>)> then) {
  source.server->session->loop().post(
      [this, &source, then = std::move(then), alive = std::weak_ptr<char>(alive_)] {
        if (alive.expired()) return;
        const auto found = std::find_if(sources_.begin(), sources_.end(),
                                        [&](const auto& one) { return one.get() == &source; });
        if (found == sources_.end()) return;
        auto taken = std::move(*found);
        sources_.erase(found);
        then(std::move(taken));
      });
}

// Who may not read the kind may still read each object by its name.
void SourceSet::split(Source& source) {
  source.refused = false;
  take_out(source, [this](std::unique_ptr<Source> whole) {
    callbacks_.on_note(fmt::format("{} may not be listed, watched one by one: {} watches",
                                   whole->info.type.qualified_plural(), whole->names.size()));
    const std::size_t before = sources_.size();
    for (const std::string& name : whole->names) {
      const auto added = add_one(*whole->server, whole->info, {name}, whole->pinned);
      if (!added.ok()) callbacks_.on_note(added.error().render());
    }
    for (std::size_t i = before; i < sources_.size(); ++i) {
      sources_[i]->begun = true;  // the kind is prepared
      sources_[i]->reflector->start();
    }
  });
}

// An upgrade may have taken the version away, and somebody made the definition anew, before this
// command or under it: the kept discovery of an earlier one does not know.
void SourceSet::look_for_version(Source& source) {
  if (std::exchange(source.discovers, true)) return;
  discover(*source.server, source.discovery, source.next_turn,
           [this, &source](const Discovered& answer) {
             source.discovers = false;
             // The next failure asks again.
             if (!answer.ok() || !source.reflector->failing_since()) return;
             using State = runtime::ServedKind::State;
             const auto served = runtime::served_kind(**answer, source.info.type);
             if (served.state == State::another) go_on_as(source, *served.type);
             if (served.state == State::moved) watch_anew(source, *served.type);
           });
}

// Its definition was made anew, with another scope or plural: its objects are elsewhere, and in
// other namespaces.
void SourceSet::watch_anew(Source& source, const core::ResourceType& type) {
  take_out(source, [this, type](std::unique_ptr<Source> old) {
    // It may become again what it was.
    watched_.erase(part_of(old->info, old->names, true));
    callbacks_.on_note(type.qualified_plural() + " is another kind now: it is watched anew");
    callbacks_.on_version(type);
    Wanted wanted;
    wanted.type = old->pinned ? type.plural + "." + type.gvk.version + "." + type.gvk.group
                              : type.qualified_plural();
    wanted.names = {old->names.begin(), old->names.end()};
    if (type.namespaced) wanted.namespace_ = old->info.namespace_;
    old->server->types.erase(type.gvk);
    const std::size_t before = sources_.size();
    const auto added = add(*old->server, wanted, type);
    if (!added.ok()) callbacks_.on_note(added.error().render());
    begin_all(before);
  });
}

void SourceSet::go_on_as(Source& source, const core::ResourceType& type) {
  const bool first = !std::exchange(source.told_version, source.pinned);
  if (first) {
    callbacks_.on_note(served_as_text(type, source.info.type.gvk.version, source.pinned));
  }
  if (source.pinned) return;
  source.server->types.insert(type.gvk);
  source.info.type = type;
  watched_.insert(part_of(source.info, source.names, true));
  callbacks_.on_version(type);
  source.discovers = true;  // what fails until then is of the version before
  callbacks_.prepare(*source.server->session, type,
                     [&source, type, alive = std::weak_ptr<char>(alive_)] {
                       if (alive.expired()) return;
                       source.discovers = false;
                       source.reflector->go_on_as(type);
                     });
}

// Nothing of what was asked may be read, and none of it was before: as kubectl, no watch then. One
// that was refused among others is asked for again, and said.
bool SourceSet::all_refused() const {
  return std::all_of(sources_.begin(), sources_.end(),
                     [](const auto& source) { return source->refused; }) &&
         std::all_of(servers_.begin(), servers_.end(),
                     [](const auto& server) { return server->refuses || server->missing.empty(); });
}

void SourceSet::note_missing(const Source& source) const {
  std::set<std::string> missing = source.names;
  if (missing.empty()) return;
  for (const auto& key : source.reflector->store().keys()) missing.erase(key.name);
  for (const std::string& name : missing) {
    callbacks_.on_note(fmt::format("{} \"{}\" does not exist yet: waiting for it",
                                   source.info.type.qualified_plural(), name));
  }
}

// Objects that are named one by one have a watch each, and are synced together.
void SourceSet::synced(Source& source, bool gap) {
  if (gap) return callbacks_.on_synced(source.info, true, source.resumed);
  source.synced = true;
  source.refused = false;
  note_missing(source);
  for (const auto& other : sources_) {
    if (other->info.group == source.info.group && !other->synced) return;
  }
  callbacks_.on_synced(source.info, false, source.resumed);
}

std::map<std::string, SourceStats> SourceSet::stats() const {
  std::map<std::string, SourceStats> out;
  for (const auto& source : sources_) {
    const std::string context = source->info.context.empty() ? "" : source->info.context + "/";
    SourceStats& one = out[context + source->info.type.qualified_plural()];
    const auto stats = source->reflector->stats();
    one.objects += source->reflector->store().size();
    one.events += stats.events;
    one.reconnects += stats.reconnects;
    const auto relists = source->reflector->store().stats().relists;
    one.relists += relists;
    for (std::size_t i = 0; i < stats.failures.size(); ++i) one.failures[i] += stats.failures[i];
  }
  return out;
}

std::vector<std::string> SourceSet::unread() const {
  std::vector<std::string> out;
  for (const auto& server : servers_) {
    const std::string context = server->context.empty() ? "" : " in context " + server->context;
    const client::Client& client = server->session->client();
    const std::string why = !server->away           ? ""
                            : client.awaits_login() ? " (" + client.no_answer() + ")"
                                                    : " (" + server->away->render() + ")";
    for (const Wanted& wanted : server->missing) out.push_back(wanted.shown() + context + why);
  }
  for (const auto& source : sources_) {
    // A checkpoint that was loaded says nothing of the server.
    const bool read = source->reflector->answered();
    if (read && !source->reflector->failing_since()) continue;
    std::string name = source->info.type.qualified_plural();
    if (source->names.size() == 1) name += "/" + *source->names.begin();
    if (!source->info.namespace_.empty()) name += " in " + source->info.namespace_;
    if (!source->info.context.empty()) name += " in context " + source->info.context;
    if (read) name += ", which the server no longer tells of";
    const auto why = source->reflector->last_failure();
    out.push_back(why ? fmt::format("{} ({})", name, *why) : std::move(name));
  }
  return out;
}

Result<CheckpointParts> SourceSet::save() const {
  CheckpointParts out = options_.loaded;
  for (const auto& source : sources_) {
    if (!source->reflector->store().ready()) continue;
    std::string bytes;
    KW_TRY(source->reflector->save([&](std::string_view piece) -> Result<void> {
      bytes += piece;
      return {};
    }));
    out[source->part] = {std::move(bytes),
                         client::identity_of(source->server->session->client().config())};
  }
  return out;
}

std::vector<core::ResourceType> SourceSet::types() const {
  std::vector<core::ResourceType> out;
  for (const auto& source : sources_) {
    const bool known = std::any_of(out.begin(), out.end(), [&](const auto& type) {
      return type.gvk == source->info.type.gvk;
    });
    if (!known) out.push_back(source->info.type);
  }
  return out;
}

}  // namespace kubewatch::cli::watch
