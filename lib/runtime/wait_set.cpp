#include "runtime/wait_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/json.hpp"
#include "client/discovery.hpp"
#include "client/in_flight.hpp"
#include "core/selector.hpp"
#include "runtime/give_up.hpp"
#include "runtime/served_kind.hpp"

namespace kubewatch::runtime {

namespace {

// So many names of one kind and namespace are watched as one collection: each watch is a
// connection.
constexpr std::size_t kNamesInOne = 5;
// A whole selection may be deleted at once: so many of its objects are asked for at a time.
constexpr std::size_t kQuestions = 8;
// What a watch missed comes in one go once it is open again; its first event proves no more than
// that it is.
constexpr Duration kCatchUp{250};

// Whoever stands before the server, and a version that is served no more, answer 404 as well.
bool names_the_object(const Error& error, const std::string& name) {
  return error.is_not_found() && error.status() != nullptr &&
         error.status()->message.find('"' + name + "\" not found") != std::string::npos;
}

Error no_such_kind(const WaitTarget& target) {
  const core::Gvk& gvk = target.type.gvk;
  return {
      ErrorKind::not_found,
      target.word.empty()
          ? fmt::format("no matches for kind \"{}\" in version \"{}\"", gvk.kind, gvk.api_version())
          : fmt::format("the server doesn't have a resource type \"{}\"", target.word)};
}

bool same(const WaitTarget& a, const WaitTarget& b) {
  const auto tie = [](const WaitTarget& t) {
    return std::tie(t.type.gvk, t.namespace_, t.name, t.label_selector, t.field_selector);
  };
  return tie(a) == tie(b);
}

}  // namespace

struct WaitSet::Impl {
  // One object of a selector's target.
  struct Chosen {
    std::size_t target;
    core::ObjectKey key;
    auto operator<=>(const Chosen&) const = default;
  };
  // One reflector, for one target or for many names; or for an object that left a selection.
  struct Watch {
    std::vector<std::size_t> targets;
    std::string uid;                               // of what left a selection; "" of others
    std::map<core::ObjectKey, std::size_t> names;  // empty: one target, by selectors
    std::string what;
    bool synced = false;
    bool ending = false;
    bool changed = false;   // in this turn
    bool all_gone = false;  // its kind: the failing watch has no more to tell
    TimePoint listed_at = TimePoint::min();
    TimePoint caught_up_at = TimePoint::min();  // what it missed has come by then
    GiveUp give_up;
    std::optional<Error> error;
    std::unique_ptr<Reflector> reflector;
    bool asks_for_kind = false;
    bool found_no_kind = false;  // once: discovery is not changed all at once
    bool no_kind = false;        // twice; `error` says so
    client::PendingPtr discovery;
    loop::Timer again;
    bool follows() const { return !uid.empty(); }
  };
  struct Question {
    std::string uid;
    bool asked = false;
  };

  client::Client& client;
  WaitJudge judge;
  const WatcherOptions options;
  base::Random& random;
  Callbacks callbacks;
  std::vector<std::unique_ptr<Watch>> watches;
  std::vector<std::unique_ptr<Watch>> retired;  // they end outside their own callbacks
  std::set<std::size_t> watched;                // targets
  std::map<Chosen, Question> questions;
  client::InFlight asking;
  std::size_t asked = 0;
  std::optional<Error> hopeless;
  loop::Timer soon;
  loop::Timer later;
  std::shared_ptr<char> alive = std::make_shared<char>();

  Impl(client::Client& the_client, WaitGoal goal, WatcherOptions the_options,
       base::Random& the_random, Callbacks the_callbacks)
      : client(the_client),
        judge(std::move(goal)),
        options(std::move(the_options)),
        random(the_random),
        callbacks(std::move(the_callbacks)) {}

  void changed() {
    if (soon) return;
    soon = client.loop().after(Duration{0}, [this] { tell(); });
  }
  void came() {
    if (callbacks.on_state) callbacks.on_state();
    changed();
  }
  void tell() {
    soon.reset();
    retired.clear();
    for (const auto& watch : watches) watch->changed = false;
    if (callbacks.on_change) callbacks.on_change();
  }

  std::optional<std::size_t> target_of(const Watch& watch, const core::ObjectKey& key) const {
    if (watch.names.empty()) return watch.targets.front();
    const auto found = watch.names.find(key);
    if (found == watch.names.end()) return std::nullopt;
    return found->second;
  }

  void on_change(Watch& watch, const StoreChange& change) {
    const auto target = target_of(watch, change.meta.key());
    if (!target || watch.ending) return;
    watch.changed = true;
    if (watch.follows()) return on_followed(watch, {*target, change.meta.key()}, change);
    if (change.type == ChangeType::deleted) {
      lacks({*target, change.meta.key()});
    } else if (const auto object = base::parse_json(change.json); object.ok()) {
      judge.seen(*target, *object, client.loop().wall(), change.reduced);
      if (judge.may_only_have_left(*target)) chosen_again({*target, change.meta.key()});
    }
    // The changes of a list come before on_synced, in the same turn: they are one.
    if (watch.synced && !change.relisted) came();
  }

  void on_synced(Watch& watch, bool gap) {
    if (watch.ending) return;
    watch.listed_at = client.loop().now();
    // One in the place of another knows nothing of what was between them.
    const bool took_over = !watch.synced && judge.is_synced(watch.targets.front());
    if ((gap || took_over) && watch.changed) judge.missed();
    if (watch.follows()) {
      watch.synced = true;
      const Chosen one = followed_by(watch);
      if (!watch.reflector->store().contains(one.key, watch.uid)) is_gone(one, watch.uid);
      return came();
    }
    if (!std::exchange(watch.synced, true)) {
      // A watch that another one came before (of another version) does not know what that had seen.
      for (const std::size_t target : watch.targets) {
        for (const auto& key : judge.inside(target)) {
          if (!watch.reflector->store().contains(key)) lacks({target, key});
        }
      }
    }
    for (const std::size_t target : watch.targets) {
      judge.synced(target);
      look_for_written(watch, target);
    }
    came();
  }

  // What was written and is gone again before the watch has told of it never comes.
  void look_for_written(const Watch& watch, std::size_t target) {
    const WaitTarget& of = judge.target(target);
    const Store& store = watch.reflector->store();
    if (!of.by_name() || watch.follows() || store.contains({of.namespace_, of.name})) return;
    judge.absent(target, store.resource_version());
  }
  void expect(std::size_t target, const Json& written) {
    judge.expect(target, base::string_at(written, {"metadata", "uid"}),
                 base::string_at(written, {"metadata", "resourceVersion"}));
    // The watch may be ahead of the answer.
    for (const auto& watch : watches) {
      const auto& of = watch->targets;
      if (watch->synced && !watch->ending && std::find(of.begin(), of.end(), target) != of.end()) {
        look_for_written(*watch, target);
      }
    }
  }

  // A watch does not have it any more.
  void lacks(const Chosen& one) {
    const std::string uid = judge.uid_of(one.target, one.key);
    if (uid.empty() || !judge.may_only_have_left(one.target)) {
      return judge.gone(one.target, one.key);
    }
    judge.left(one.target, one.key);
    questions[one] = {uid, false};
    ask();
  }

  void ask() {
    for (auto& [one, question] : questions) {
      if (asked >= kQuestions) return;
      if (std::exchange(question.asked, true)) continue;
      ++asked;
      asking.run<Result<Json>>(
          [this, one = one, uid = question.uid](const Result<Json>& answer) {
            --asked;
            on_answer(one, uid, answer);
            ask();
          },
          [&, of = one](auto done) {
            return client.get(judge.target(of.target).type, of.key, std::move(done));
          });
    }
  }

  void on_answer(const Chosen& one, const std::string& uid, const Result<Json>& answer) {
    const auto found = questions.find(one);
    if (found == questions.end() || found->second.uid != uid) return;  // it was seen meanwhile
    questions.erase(found);
    if (!answer.ok() && !names_the_object(answer.error(), one.key.name)) {
      // Who may not get it may list it; what cannot be answered now is asked for until it is.
      return follow(one, uid);
    }
    const bool exists = answer.ok() && base::string_at(*answer, {"metadata", "uid"}) == uid;
    if (!exists) {
      is_gone(one, uid);
    } else if (judge.outside(one.target, one.key)) {
      follow(one, uid);
    }
    came();
  }

  void follow(const Chosen& one, const std::string& uid) {
    auto owned = std::make_unique<Watch>();
    owned->targets = {one.target};
    owned->names[one.key] = one.target;
    owned->uid = uid;
    owned->what = judge.target(one.target).type.qualified_plural() + "/" + one.key.name;
    begin(std::move(owned), one.key.namespace_, "", core::with_name("", one.key.name));
  }
  static Chosen followed_by(const Watch& watch) {
    return {watch.targets.front(), watch.names.begin()->first};
  }

  void on_followed(Watch& watch, const Chosen& one, const StoreChange& change) {
    if (change.type == ChangeType::deleted || change.meta.uid != watch.uid) {
      is_gone(one, watch.uid);
    } else if (const auto object = base::parse_json(change.json); object.ok()) {
      judge.seen(one.target, *object, client.loop().wall(), change.reduced);
      if (!judge.outside(one.target, one.key)) end_following(one);
    }
    if (watch.synced) came();
  }

  void is_gone(const Chosen& one, const std::string& uid) {
    // Another object with its name may be a member by now.
    if (judge.uid_of(one.target, one.key) == uid) {
      judge.gone(one.target, one.key);
    }
    end_following(one);
  }
  // The selection has it, so that its own watch tells more.
  void chosen_again(const Chosen& one) {
    questions.erase(one);
    end_following(one);
  }
  void end_following(const Chosen& one) {
    for (const auto& watch : watches) {
      if (watch->follows() && followed_by(*watch) == one) retire(*watch, [](const Watch&) {});
    }
  }

  void on_works(Watch& watch) {
    watch.give_up.works();
    watch.all_gone = watch.no_kind = false;
    const TimePoint now = client.loop().now();
    if (watch.listed_at == now) return;  // that has told all there is
    watch.caught_up_at = now + kCatchUp;
    changed();
  }

  // Up to when all that was told is how the objects are: what a failing watch saw last may be old.
  TimePoint confirmed() const {
    const TimePoint now = client.loop().now();
    TimePoint out = now;
    for (const auto& watch : watches) {
      const bool works = watch->synced && !watch->reflector->failing_since();
      if (watch->all_gone || (works && watch->caught_up_at <= now)) continue;
      out = std::min(out, watch->listed_at);
    }
    return out;
  }

  void on_failure(Watch& watch, WatcherFailure where, const Error& error, Duration retry_in) {
    // That there is no such kind says more than the 404 which comes of it.
    if (!watch.no_kind || !error.is_not_found()) watch.error.emplace(error);
    if (watch.targets.size() > 1 && error.is_forbidden()) return split(watch);
    if (error.is_not_found()) look_for_kind(watch);
    if (watch.give_up.failed(error, retry_in, watch.synced || watch.follows())) {
      if (!hopeless) hopeless.emplace(error);
      return changed();
    }
    if (callbacks.on_failure) {
      callbacks.on_failure(watch.what, watch.reflector->stats(), where, error, retry_in);
    }
  }

  // Whatever stands before the server may answer 404 as well: the kind is gone when the server has
  // it no more, in any version.
  void look_for_kind(Watch& watch) {
    if (std::exchange(watch.asks_for_kind, true)) return;
    watch.discovery = client::discover(client, [this, &watch](auto map) {
      watch.asks_for_kind = false;
      // The next failure asks again.
      if (!map.ok() || !watch.reflector->failing_since()) return;
      using State = ServedKind::State;
      const ServedKind kind = served_kind(**map, watch.reflector->type());
      const bool gone = kind.state == State::gone;
      if (!gone) watch.no_kind = false;
      if (kind.state == State::another || kind.state == State::moved) {
        go_on_with(watch, *kind.type);
      }
      if (std::exchange(watch.found_no_kind, gone) && gone) {
        has_no_kind(watch);
      } else if (gone) {
        // One version goes before the next one comes: a single look is no proof.
        watch.again =
            client.loop().after(options.backoff.initial, [this, &watch] { look_for_kind(watch); });
      }
    });
  }

  // An upgrade took the version away; the objects are the same in every one. Or the definition was
  // made anew, and they are others.
  void go_on_with(Watch& watch, const core::ResourceType& type) {
    const core::ResourceType& before = watch.reflector->type();
    const bool version = type.gvk.version != before.gvk.version;
    const bool content = version && judge.goal().asks_for_content();
    for (const std::size_t target : watch.targets) {
      // Its fields may mean something else there.
      if (content && judge.target(target).pinned) return;
    }
    if (type.namespaced && !before.namespaced) {
      // To look into a wrong one would find nothing there, and take it for deleted.
      if (!hopeless) {
        hopeless.emplace(ErrorKind::unsupported, type.qualified_plural() +
                                                     " are in namespaces now, and none was asked "
                                                     "for");
      }
      return changed();
    }
    retire(watch, [this, type, version](const Watch& old) {
      if (!version && callbacks.on_moved) callbacks.on_moved(old.what, type);
      if (version && callbacks.on_version) {
        callbacks.on_version(old.what, old.reflector->type().gvk, type.gvk);
      }
      for (const std::size_t target : old.targets) judge.retype(target, type);
      if (old.follows()) return follow(followed_by(old), old.uid);
      begin(old.targets);
    });
  }

  void has_no_kind(Watch& watch) {
    const WaitTarget& first = judge.target(watch.targets.front());
    watch.no_kind = true;
    watch.error.emplace(no_such_kind(first));
    if (!judge.goal().awaits_deletion()) return changed();
    if (first.word.empty() || judge.is_synced(watch.targets.front())) return all_gone(watch);
    if (!hopeless) hopeless.emplace(*watch.error);
    changed();
  }

  // The kind itself is gone, and all objects with it.
  void all_gone(Watch& watch) {
    for (const auto& object : judge.report()) {
      if (const auto target = target_of(watch, object.key)) judge.gone(*target, object.key);
    }
    watch.synced = watch.all_gone = true;
    for (const std::size_t target : watch.targets) judge.synced(target);
    came();
  }

  // Who may not read the collection may still read each by its name.
  void split(Watch& watch) {
    retire(watch, [this](const Watch& old) {
      for (const std::size_t target : old.targets) begin({target});
    });
  }

  // Ends a watch, not from inside its own callbacks; `then` may begin what comes in its place.
  void retire(Watch& watch, std::function<void(const Watch&)> then) {
    if (std::exchange(watch.ending, true)) return;
    client.loop().post(
        [this, at = &watch, weak = std::weak_ptr<char>(alive), then = std::move(then)] {
          if (weak.expired()) return;
          const auto found = std::find_if(watches.begin(), watches.end(),
                                          [&](const auto& one) { return one.get() == at; });
          if (found == watches.end()) return;
          retired.push_back(std::move(*found));
          watches.erase(found);
          then(*at);
          changed();
        });
  }

  void begin(std::vector<std::size_t> targets) {
    auto owned = std::make_unique<Watch>();
    Watch& watch = *owned;
    const WaitTarget& first = judge.target(targets.front());
    std::string fields = first.field_selector;
    watch.what = targets.size() > 1 ? first.type.qualified_plural() : first.str();
    if (first.by_name()) {
      for (const std::size_t target : targets) {
        const WaitTarget& one = judge.target(target);
        watch.names[{one.namespace_, one.name}] = target;
      }
      if (targets.size() == 1) fields = core::with_name("", first.name);
    }
    watch.targets = std::move(targets);
    begin(std::move(owned), first.namespace_, first.label_selector, std::move(fields));
  }

  void begin(std::unique_ptr<Watch> owned, const std::string& namespace_, std::string labels,
             std::string fields) {
    Watch& watch = *owned;
    WatcherOptions with = options;
    with.label_selector = std::move(labels);
    with.field_selector = std::move(fields);
    const bool one_object = watch.names.size() == 1;
    // One object: the choice of strategy is not worth a question to the server.
    if (one_object && with.strategy == ListStrategy::automatic) {
      with.strategy = ListStrategy::unpaged;
    }
    // What a cache does not have yet may have left a selection elsewhere.
    if (watch.follows()) with.semantics = ListSemantics::recent;
    ReflectorCallbacks told;
    told.want_previous = false;
    told.log_failures = false;
    told.on_change = [this, &watch](const StoreChange& change) { on_change(watch, change); };
    told.on_synced = [this, &watch](bool gap) { on_synced(watch, gap); };
    told.on_works = [this, &watch] { on_works(watch); };
    told.on_failure = [this, &watch](WatcherFailure where, const Error& error, Duration retry_in) {
      on_failure(watch, where, error, retry_in);
    };
    watch.reflector =
        std::make_unique<Reflector>(client, judge.target(watch.targets.front()).type, namespace_,
                                    std::move(with), StoreOptions{}, random, std::move(told));
    watches.push_back(std::move(owned));
    watch.reflector->start();
  }

  void start() {
    std::map<std::pair<core::Gvk, std::string>, std::vector<std::size_t>> named;
    for (std::size_t i = 0; i < judge.targets(); ++i) {
      if (!watched.insert(i).second) continue;
      const WaitTarget& target = judge.target(i);
      if (target.by_name()) {
        named[{target.type.gvk, target.namespace_}].push_back(i);
      } else {
        begin({i});
      }
    }
    for (auto& [kind, targets] : named) {
      if (targets.size() >= kNamesInOne) {
        begin(std::move(targets));
      } else {
        for (const std::size_t target : targets) begin({target});
      }
    }
  }

  std::optional<Json> read(std::size_t target, const core::ObjectKey& key) const {
    for (const auto& watch : watches) {
      const auto& of = watch->targets;
      if (std::find(of.begin(), of.end(), target) == of.end()) continue;
      const auto stored = watch->reflector->store().get(key);
      if (!stored) continue;
      auto object = base::parse_json(stored->json);
      if (object.ok()) return std::move(object).value();
    }
    return std::nullopt;
  }

  // What time alone has changed is judged again; then a timer for what it will.
  void look_at_the_clock() {
    const WallTime wall = client.loop().wall();
    const TimePoint now = client.loop().now();
    std::optional<Duration> next;
    const auto sooner = [&](Duration in) {
      if (!next || in < *next) next = std::max(in, Duration{1});
    };
    for (const auto& due : judge.due()) {
      if (due.at <= wall) {
        if (const auto object = read(due.target, due.key)) {
          judge.seen(due.target, *object, wall);
        }
      } else {
        sooner(std::chrono::ceil<Duration>(due.at - wall));
      }
    }
    if (const auto ends = judge.hold_ends(); ends && *ends > now) sooner(*ends - now);
    for (const auto& watch : watches) {
      if (watch->caught_up_at > now) sooner(watch->caught_up_at - now);
    }
    later.reset();
    if (next) later = client.loop().after(*next, [this] { changed(); });
  }
};

WaitSet::WaitSet(client::Client& client, WaitGoal goal, WatcherOptions options,
                 base::Random& random, Callbacks callbacks)
    : impl_(std::make_unique<Impl>(client, std::move(goal), std::move(options), random,
                                   std::move(callbacks))) {}

WaitSet::~WaitSet() = default;

std::size_t WaitSet::add(WaitTarget target) {
  for (std::size_t i = 0; i < impl_->judge.targets(); ++i) {
    if (same(impl_->judge.target(i), target)) return i;
  }
  return impl_->judge.add(std::move(target));
}

void WaitSet::start() {
  impl_->start();
}

bool WaitSet::synced() const {
  for (std::size_t i = 0; i < impl_->judge.targets(); ++i) {
    if (!impl_->judge.is_synced(i)) return false;
  }
  return true;
}

void WaitSet::expect(std::size_t target, const Json& written) {
  impl_->expect(target, written);
}

WaitOutcome WaitSet::outcome(bool lists_suffice) {
  impl_->look_at_the_clock();
  const bool was_holding = impl_->judge.hold_ends().has_value();
  const TimePoint now = impl_->client.loop().now();
  const WaitOutcome out = impl_->judge.decide(now, lists_suffice ? now : impl_->confirmed());
  if (out == WaitOutcome::pending && !was_holding) impl_->look_at_the_clock();
  return out;
}

const Error* WaitSet::hopeless() const {
  return impl_->hopeless ? &*impl_->hopeless : nullptr;
}

const Error* WaitSet::failure() const {
  for (const auto& watch : impl_->watches) {
    if (watch->error && watch->reflector->failing_since()) return &*watch->error;
  }
  return nullptr;
}

const WaitJudge& WaitSet::judge() const {
  return impl_->judge;
}

std::optional<Json> WaitSet::object(const WaitedObject& of) const {
  for (const auto& watch : impl_->watches) {
    if (watch->reflector->type().gvk != of.type.gvk) continue;
    const auto target = impl_->target_of(*watch, of.key);
    if (!target) continue;
    if (auto object = impl_->read(*target, of.key)) return object;
  }
  return std::nullopt;
}

}  // namespace kubewatch::runtime
