#include "runtime/wait_set.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "base/json.hpp"
#include "client/discovery.hpp"
#include "core/selector.hpp"
#include "runtime/give_up.hpp"

namespace kubewatch::runtime {

namespace {

// So many names of one kind and namespace are watched as one collection: each watch is a
// connection.
constexpr std::size_t kNamesInOne = 5;

bool same(const WaitTarget& a, const WaitTarget& b) {
  const auto tie = [](const WaitTarget& t) {
    return std::tie(t.type.gvk, t.namespace_, t.name, t.label_selector, t.field_selector);
  };
  return tie(a) == tie(b);
}

}  // namespace

struct WaitSet::Impl {
  // One reflector, for one target or for many names.
  struct Watch {
    std::vector<std::size_t> targets;
    std::map<core::ObjectKey, std::size_t> names;  // empty: one target, by selectors
    std::string what;
    bool synced = false;
    GiveUp give_up;
    std::optional<Error> error;
    std::unique_ptr<Reflector> reflector;
    bool asks_for_kind = false;
    client::PendingPtr discovery;
  };

  client::Client& client;
  WaitJudge judge;
  const WatcherOptions options;
  base::Random& random;
  Callbacks callbacks;
  std::vector<std::unique_ptr<Watch>> watches;
  std::vector<std::unique_ptr<Watch>> retired;  // they end outside their own callbacks
  std::set<std::size_t> watched;                // targets
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
    if (callbacks.on_change) callbacks.on_change();
  }

  Watch* watch_of(std::size_t target) const {
    for (const auto& watch : watches) {
      const auto& of = watch->targets;
      if (std::find(of.begin(), of.end(), target) != of.end()) return watch.get();
    }
    return nullptr;
  }

  std::optional<std::size_t> target_of(const Watch& watch, const core::ObjectKey& key) const {
    if (watch.names.empty()) return watch.targets.front();
    const auto found = watch.names.find(key);
    if (found == watch.names.end()) return std::nullopt;
    return found->second;
  }

  void on_change(Watch& watch, const StoreChange& change) {
    const auto target = target_of(watch, change.meta.key());
    if (!target) return;
    const TimePoint now = client.loop().now();
    if (change.type == ChangeType::deleted) {
      judge.gone(*target, change.meta.key(), now);
    } else if (const auto object = base::parse_json(change.json); object.ok()) {
      judge.seen(*target, *object, now, client.loop().wall(), change.reduced);
    }
    // The changes of a list come before on_synced, in the same turn: they are one.
    if (watch.synced) came();
  }

  void on_synced(Watch& watch) {
    watch.synced = true;
    for (const std::size_t target : watch.targets) judge.synced(target);
    came();
  }

  void on_failure(Watch& watch, WatcherFailure where, const Error& error, Duration retry_in) {
    watch.error.emplace(error);
    if (watch.targets.size() > 1 && error.is_forbidden()) return split(watch);
    if (error.is_not_found() && judge.goal().awaits_deletion()) look_for_kind(watch);
    if (watch.give_up.failed(error, retry_in, watch.synced)) {
      if (!hopeless) hopeless.emplace(error);
      return changed();
    }
    if (callbacks.on_failure) {
      callbacks.on_failure(watch.what, watch.reflector->stats(), where, error, retry_in);
    }
  }

  // Whatever stands before the server may answer 404 as well: the kind is gone when the server has
  // it no more.
  void look_for_kind(Watch& watch) {
    if (std::exchange(watch.asks_for_kind, true)) return;
    watch.discovery = client::discover(client, [this, &watch](auto map) {
      watch.asks_for_kind = false;
      if (!map.ok()) return;  // the next failure asks again
      const core::Gvk& gvk = watch.reflector->type().gvk;
      const auto kind = (*map)->pinned(gvk);
      // Half of discovery may be answered by something else, too.
      const auto& all = (*map)->all();
      const bool told = std::any_of(all.begin(), all.end(), [&](const auto& type) {
        return type.gvk.group.empty() == gvk.group.empty();
      });
      if (told && !kind.ok() && kind.error().is_not_found()) all_gone(watch);
    });
  }

  // The kind itself is gone, and all objects with it.
  void all_gone(Watch& watch) {
    const TimePoint now = client.loop().now();
    for (const auto& object : judge.report()) {
      if (const auto target = target_of(watch, object.key)) judge.gone(*target, object.key, now);
    }
    on_synced(watch);
  }

  // Who may not read the collection may still read each by its name.
  void split(Watch& watch) {
    client.loop().post([this, at = &watch, weak = std::weak_ptr<char>(alive)] {
      if (weak.expired()) return;
      const auto found = std::find_if(watches.begin(), watches.end(),
                                      [&](const auto& one) { return one.get() == at; });
      if (found == watches.end()) return;
      const std::vector<std::size_t> targets = (*found)->targets;
      retired.push_back(std::move(*found));
      watches.erase(found);
      for (const std::size_t target : targets) begin({target});
      changed();
    });
  }

  void begin(std::vector<std::size_t> targets) {
    auto owned = std::make_unique<Watch>();
    Watch& watch = *owned;
    const WaitTarget& first = judge.target(targets.front());
    WatcherOptions with = options;
    with.label_selector = first.label_selector;
    with.field_selector = first.field_selector;
    watch.what = targets.size() > 1 ? first.type.qualified_plural() : first.str();
    if (first.by_name()) {
      for (const std::size_t target : targets) {
        const WaitTarget& one = judge.target(target);
        watch.names[{one.namespace_, one.name}] = target;
      }
      if (targets.size() == 1) {
        with.field_selector = core::with_name("", first.name);
        // One object: the choice of strategy is not worth a question to the server.
        if (with.strategy == ListStrategy::automatic) with.strategy = ListStrategy::unpaged;
      }
    }
    watch.targets = std::move(targets);
    ReflectorCallbacks told;
    told.want_previous = false;
    told.log_failures = false;
    told.on_change = [this, &watch](const StoreChange& change) { on_change(watch, change); };
    told.on_synced = [this, &watch](bool) { on_synced(watch); };
    told.on_works = [&watch] { watch.give_up.works(); };
    told.on_failure = [this, &watch](WatcherFailure where, const Error& error, Duration retry_in) {
      on_failure(watch, where, error, retry_in);
    };
    watch.reflector =
        std::make_unique<Reflector>(client, first.type, first.namespace_, std::move(with),
                                    StoreOptions{}, random, std::move(told));
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
    const Watch* watch = watch_of(target);
    if (watch == nullptr) return std::nullopt;
    const auto stored = watch->reflector->store().get(key);
    if (!stored) return std::nullopt;
    auto object = base::parse_json(stored->json);
    if (!object.ok()) return std::nullopt;
    return std::move(object).value();
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
          judge.seen(due.target, *object, now, wall);
        }
      } else {
        sooner(std::chrono::ceil<Duration>(due.at - wall));
      }
    }
    if (const auto ends = judge.hold_ends(); ends && *ends > now) sooner(*ends - now);
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
  impl_->judge.expect(target, base::string_at(written, {"metadata", "uid"}),
                      base::string_at(written, {"metadata", "resourceVersion"}));
}

WaitOutcome WaitSet::outcome() {
  impl_->look_at_the_clock();
  const bool was_holding = impl_->judge.hold_ends().has_value();
  const WaitOutcome out = impl_->judge.decide(impl_->client.loop().now());
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
