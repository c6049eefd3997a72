#include "runtime/reflector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/memory.hpp"
#include "client/rewinds.hpp"
#include "core/status.hpp"
#include "runtime/change_feed.hpp"
#include "runtime/overloaded.hpp"
#include "runtime/store_ingest.hpp"

namespace kubewatch::runtime {

namespace {

// Compressing in slices keeps the loop's turns short: a slice is a few milliseconds.
constexpr std::size_t kCompactSlice = 200;
constexpr Duration kCompactDelay{20};
// Fewer than a slice wait for more: a small cache would be woken again for each of its events.
constexpr Duration kCompactFewDelay{2000};
constexpr Duration kWorks{3000};                // a watch that was not cut for so long
constexpr std::size_t kToldPerTurn = 200;       // to one subscriber
constexpr std::uint64_t kNamedUnparsable = 10;  // the first ones are logged, then every 1000th

// One subscriber. It lives while its Subscription does; the reflector looks whether it is there.
struct Subscriber : std::enable_shared_from_this<Subscriber> {
  SubscriberCallbacks callbacks;
  ChangeFeed feed;
  loop::EventLoop& loop;
  const Store* store;  // null once the reflector is gone
  loop::Timer timer;
  bool paused = false;
  bool ended = false;

  Subscriber(SubscriberCallbacks the_callbacks, loop::EventLoop& the_loop, const Store& the_store)
      : callbacks(std::move(the_callbacks)), loop(the_loop), store(&the_store) {}

  // In a turn of its own: nobody waits for it, and it may do what it likes.
  void tell_later() {
    if (timer || paused || ended || store == nullptr || feed.empty()) return;
    timer = loop.after(Duration{0}, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->tell();
    });
  }
  void tell() {
    timer.reset();
    for (std::size_t told = 0; told < kToldPerTurn && !paused && !ended && store != nullptr;
         ++told) {
      const auto item = feed.next([this](const core::ObjectKey& key) { return store->get(key); });
      if (!item) return;
      if (const auto* synced = std::get_if<FeedSynced>(&*item)) {
        if (callbacks.on_synced) callbacks.on_synced(synced->gap);
      } else if (callbacks.on_change) {
        callbacks.on_change(std::get<StoreChange>(*item));
      }
    }
    tell_later();
  }
};

class OpenSubscription : public Subscription {
 public:
  explicit OpenSubscription(std::shared_ptr<Subscriber> subscriber)
      : subscriber_(std::move(subscriber)) {}
  ~OpenSubscription() override { subscriber_->ended = true; }
  void pause() override { subscriber_->paused = true; }
  void resume() override {
    subscriber_->paused = false;
    subscriber_->tell_later();
  }
  std::size_t pending() const override { return subscriber_->feed.pending(); }

 private:
  std::shared_ptr<Subscriber> subscriber_;
};

}  // namespace

struct Reflector::Impl {
  client::Client& client;
  core::ResourceType type;
  std::string namespace_;
  ReflectorCallbacks callbacks;
  Store store;
  const WatcherOptions options;
  Watcher watcher;
  ReflectorStats stats;
  std::optional<std::string> last_failure;
  TimePoint failing_since{};  // with last_failure
  std::optional<TimePoint> watching_since;
  std::optional<TimePoint> heard;
  std::uint64_t watches = 0;
  std::uint64_t named_unparsable = 0;
  bool told_nameless = false;
  std::array<bool, kWatcherFailures> logged{};  // in this series of failures

  // What the actions of the input at hand refer to; null where it could not be read.
  PreparedObject* object = nullptr;

  std::vector<std::weak_ptr<Subscriber>> subscribers;
  std::vector<std::function<void()>> on_ready;
  bool told = false;              // a full state
  bool synced = false;            // all have been told one
  bool answered = false;          // since start()
  bool told_outdated = false;     // since the last one
  bool give_back_memory = false;  // when compaction is done
  client::PendingPtr request;
  loop::Timer timer;
  loop::Timer compaction;
  loop::Timer proof;  // that a watch which failed works again
  std::shared_ptr<client::Rewinds::Listener> rewinds;

  Impl(client::Client& the_client, core::ResourceType the_type, std::string the_namespace,
       WatcherOptions the_options, StoreOptions store_options, base::Random& random,
       ReflectorCallbacks the_callbacks)
      : client(the_client),
        type(std::move(the_type)),
        namespace_(std::move(the_namespace)),
        callbacks(std::move(the_callbacks)),
        store(std::move(store_options)),
        options(the_options),
        watcher(std::move(the_options), random),
        rewinds(client.rewinds().listen(type.qualified_plural(),
                                        [this] { run(watcher.on_rewound_elsewhere(now())); })) {}

  TimePoint now() const { return client.loop().now(); }
  // A watch that is answered and cut again and again works as little as one that is refused.
  bool fails() const {
    const bool works =
        watching_since && (watcher.failures() == 0 || now() - *watching_since >= kWorks);
    return last_failure && !works;
  }
  // Of what was loaded an equal resourceVersion proves nothing.
  bool must_compare() const { return store.of_another_version() || store.of_undone_past(); }
  ChangeSink sink();
  template <class Do>
  void each_subscriber(const Do& what);
  void told_all(bool gap);

  void run(const WatcherActions& actions);
  void ask_and_start();
  void execute(const StartList& action);
  void execute(const StartWatch& action);
  void execute(const EmitInitDone& action);
  void execute(const EmitFailure& action);
  void on_list_item(std::string_view item);
  void on_list_end(Result<core::ListPage> page);
  void on_event(const core::WatchEvent& event);
  void note_answer(const Error* error = nullptr) const;
  void log_once(const EmitFailure& failure);
  void name_unparsable();
  // Of a list or a streaming list.
  void note_nameless();
  void tell_if_works();
  void prove_later();
  void compact_later();
  std::string about() const;
};

template <class Do>
void Reflector::Impl::each_subscriber(const Do& what) {
  std::erase_if(subscribers, [](const auto& weak) {
    const auto subscriber = weak.lock();
    return subscriber == nullptr || subscriber->ended;
  });
  for (const auto& weak : subscribers) {
    if (const auto subscriber = weak.lock()) what(*subscriber);
  }
}

ChangeSink Reflector::Impl::sink() {
  if (!callbacks.on_change && subscribers.empty()) return nullptr;
  return [this](StoreChange&& change) {
    each_subscriber([&](Subscriber& subscriber) {
      subscriber.feed.note(change);
      subscriber.tell_later();
    });
    if (callbacks.on_change) callbacks.on_change(change);
  };
}

void Reflector::Impl::told_all(bool gap) {
  give_back_memory = true;
  each_subscriber([&](Subscriber& subscriber) {
    subscriber.feed.note_synced(gap);
    subscriber.tell_later();
  });
  if (callbacks.on_synced) callbacks.on_synced(gap);
  synced = true;
  for (const auto& waiting : std::exchange(on_ready, {})) waiting();
}

// The driver: each action is one call.
void Reflector::Impl::run(const WatcherActions& actions) {
  // What is over stays over: the next watch begins with no failure.
  tell_if_works();
  const bool was_outdated = std::exchange(told_outdated, watcher.outdated());
  if (told_outdated) store.note_undone_past();
  if (told_outdated && !was_outdated && callbacks.on_outdated) callbacks.on_outdated();
  for (const auto& action : actions) {
    std::visit(Overloaded{
                   [this](const StartList& a) { execute(a); },
                   [this](const StartWatch& a) { execute(a); },
                   [this](const StopRequest&) { request.reset(); },
                   [this](const SetTimer& a) {
                     timer = client.loop().after(std::max(Duration{0}, a.at - now()), [this] {
                       run(watcher.on_timer(now(), client.awaits_login()));
                     });
                   },
                   [this](const EmitInit& a) { store.begin_init(a.rewound); },
                   [this](const EmitInitApply&) {
                     if (object != nullptr && !store.init_apply(*object)) {
                       watcher.on_repeated_item();
                     }
                   },
                   [this](const EmitInitDone& a) { execute(a); },
                   [this](const EmitApply&) {
                     heard = now();
                     store.apply(std::move(*object), sink());
                   },
                   [this](const EmitDelete&) {
                     heard = now();
                     store.remove(*object, sink());
                   },
                   [this](const EmitBookmark& a) {
                     heard = now();
                     store.bookmark(a.resource_version);
                     if (callbacks.on_bookmark) callbacks.on_bookmark(a.resource_version);
                   },
                   [this](const EmitRewound&) { client.rewinds().seen(rewinds); },
                   [this](const EmitFailure& a) { execute(a); },
               },
               action);
  }
  if (watcher.failures() == 0) logged = {};
  if (watcher.state() != WatcherState::watching) {
    watching_since.reset();
  } else if (!watching_since) {
    watching_since = now();
    answered = true;
  }
  prove_later();
  compact_later();
}

void Reflector::Impl::tell_if_works() {
  if (!last_failure || fails()) return;
  last_failure.reset();
  if (callbacks.on_works) callbacks.on_works();
}

// Of an idle watch nothing else comes.
void Reflector::Impl::prove_later() {
  if (proof || !last_failure || !watching_since) return;
  const Duration left = std::max(Duration{0}, *watching_since + kWorks - now());
  proof = client.loop().after(left, [this] {
    proof.reset();
    tell_if_works();
    prove_later();
  });
}

// A server that does not tell is taken for a new one.
void Reflector::Impl::ask_and_start() {
  request = client.server_version([this](std::optional<core::ServerVersion> version) {
    if (version) watcher.know_server(*version);
    run(watcher.start(now(), store.ready() ? store.resource_version() : ""));
  });
}

void Reflector::Impl::execute(const StartList& action) {
  request = client.list_items(
      type, namespace_, action.params, [this](std::string_view item) { on_list_item(item); },
      [this](Result<core::ListPage> page) { on_list_end(std::move(page)); });
}

void Reflector::Impl::execute(const StartWatch& action) {
  if (++watches > 1) ++stats.reconnects;
  client::WatchHandlers handlers;
  handlers.on_open = [this] {
    note_answer();
    run(watcher.on_watch_open(now()));
  };
  handlers.on_event = [this](const core::WatchEvent& event) { on_event(event); };
  handlers.on_end = [this](Result<void> result) {
    std::optional<Error> error;
    if (!result.ok()) error = std::move(result).error();
    if (error) note_answer(&*error);
    run(watcher.on_watch_end(now(), error));
  };
  request = client.watch(type, namespace_, action.params, std::move(handlers));
}

void Reflector::Impl::execute(const EmitInitDone& action) {
  const bool failed = std::exchange(last_failure, std::nullopt).has_value();
  answered = true;
  heard = now();
  told = true;  // who subscribes while it is told, or when it is ready, is told what is there
  store.finish_init(action.resource_version, sink());
  told_all(action.gap);
  if (failed && callbacks.on_works) callbacks.on_works();
}

void Reflector::Impl::execute(const EmitFailure& action) {
  ++stats.failures[static_cast<std::size_t>(action.where)];
  if (!fails()) failing_since = now();
  watching_since.reset();
  last_failure = fmt::format("{}: {}", to_string(action.where), action.error.render());
  log_once(action);
  if (callbacks.on_failure) callbacks.on_failure(action.where, action.error, action.retry_in);
}

void Reflector::Impl::note_answer(const Error* error) const {
  if (!callbacks.on_answer) return;
  if (error == nullptr || error->status() != nullptr) callbacks.on_answer();
}

// The first of each class must not pass unseen; the hundredth must not fill the log.
void Reflector::Impl::log_once(const EmitFailure& failure) {
  bool& seen = logged.at(static_cast<std::size_t>(failure.where));
  if (!callbacks.log_failures || std::exchange(seen, true)) return;
  base::log_warn("a watch failed, trying again",
                 {{"kind", type.gvk.kind},
                  {"namespace", namespace_.empty() ? "(all)" : namespace_},
                  {"at", std::string(to_string(failure.where))},
                  {"error", failure.error.render()},
                  {"in", base::format_duration(failure.retry_in)}});
}

void Reflector::Impl::on_list_item(std::string_view item) {
  if (!watcher.lists()) return;
  auto prepared = store.prepare(item);
  name_unparsable();  // counted by the store; the list goes on
  object = prepared.ok() ? &*prepared : nullptr;
  run(watcher.on_list_item());
  if (object == nullptr) note_nameless();
  object = nullptr;
}

void Reflector::Impl::on_list_end(Result<core::ListPage> page) {
  note_answer(page.ok() ? nullptr : &page.error());
  if (!page.ok()) return run(watcher.on_list_error(now(), page.error()));
  run(watcher.on_page(now(), *page));
}

void Reflector::Impl::on_event(const core::WatchEvent& event) {
  note_answer();
  ++stats.events;
  EventFacts facts;
  facts.type = event.type;
  std::optional<PreparedObject> prepared;
  switch (event.type) {
    case core::WatchEventType::error:
      facts.error = core::error_from_status_json(event.object);
      break;
    case core::WatchEventType::bookmark:
      if (auto meta = core::parse_meta(event.object); meta.ok()) {
        facts.resource_version = meta->resource_version;
        facts.initial_events_end = core::ends_initial_events(*meta);
      }
      break;
    case core::WatchEventType::unknown: break;
    default:
      if (auto result = store.prepare(event.object); result.ok()) {
        prepared = std::move(*result);
        facts.resource_version = prepared->meta.resource_version;
      } else {
        facts.broken = true;
      }
      name_unparsable();
  }
  object = prepared ? &*prepared : nullptr;
  run(watcher.on_event(now(), facts));
  object = nullptr;
  // Its objects are ADDED. After the run: the stream may have been opened by this very event.
  const bool listed =
      watcher.state() == WatcherState::initial_watch && event.type == core::WatchEventType::added;
  if (facts.broken && listed) note_nameless();
}

void Reflector::Impl::note_nameless() {
  store.init_unreadable();
  if (std::exchange(told_nameless, true)) return;
  base::log_warn(
      "an object cannot be kept, nor even be named: what is deleted while nobody watches is not "
      "noticed before a list without such an object",
      {{"type", type.qualified_plural()}});
}

void Reflector::Impl::name_unparsable() {
  const StoreStats::Unparsable& seen = store.unparsable();
  if (seen.count == named_unparsable) return;
  named_unparsable = seen.count;
  if (seen.count > kNamedUnparsable && seen.count % 1000 != 0) return;
  base::log_warn("an object cannot be kept as it is", {{"type", type.qualified_plural()},
                                                       {"object", seen.last},
                                                       {"so_far", std::to_string(seen.count)}});
}

void Reflector::Impl::compact_later() {
  if (compaction) return;
  const std::size_t left = store.compact_some(0);
  if (left == 0) {
    // What a list left behind in the allocator would stay with us for ever.
    if (std::exchange(give_back_memory, false)) base::give_back_memory();
    return;
  }
  const Duration delay = left < kCompactSlice ? kCompactFewDelay : kCompactDelay;
  compaction = client.loop().after(delay, [this] {
    compaction.reset();
    store.compact_some(kCompactSlice);
    compact_later();
  });
}

std::string Reflector::Impl::about() const {
  return fmt::format("{} in namespace \"{}\", labels \"{}\", fields \"{}\"",
                     type.qualified_plural(), namespace_, options.label_selector,
                     options.field_selector);
}

Reflector::Reflector(client::Client& client, core::ResourceType type, std::string namespace_,
                     WatcherOptions options, StoreOptions store, base::Random& random,
                     ReflectorCallbacks callbacks) {
  store.type = type.gvk;
  store.content = options.content;
  store.previous = callbacks.want_previous;
  impl_ = std::make_unique<Impl>(client, std::move(type), std::move(namespace_), std::move(options),
                                 std::move(store), random, std::move(callbacks));
}

Reflector::~Reflector() {
  impl_->each_subscriber([](Subscriber& subscriber) { subscriber.store = nullptr; });
}

void Reflector::start() {
  Impl& impl = *impl_;
  if (!impl.store.ready() && impl.watcher.wants_server_version()) return impl.ask_and_start();
  if (!impl.store.ready()) return impl.run(impl.watcher.start(impl.now()));
  impl.told = true;
  impl.store.tell_all(impl.sink());
  impl.told_all(false);
  const std::string& version = impl.store.resource_version();
  impl.run(impl.must_compare() ? impl.watcher.list_anew(impl.now(), version)
                               : impl.watcher.resume(impl.now(), version));
}

void Reflector::start_with_list() {
  Impl& impl = *impl_;
  if (!impl.store.ready()) return start();
  impl.told = true;
  impl.store.tell_all(impl.sink());
  impl.told_all(false);
  const std::string& version = impl.store.resource_version();
  if (impl.must_compare()) return impl.run(impl.watcher.list_anew(impl.now(), version));
  if (impl.watcher.wants_server_version()) return impl.ask_and_start();
  impl.run(impl.watcher.start(impl.now(), version));
}

void Reflector::go_on_as(core::ResourceType type) {
  impl_->type = std::move(type);
  impl_->store.retype(impl_->type.gvk);
  impl_->run(impl_->watcher.list_anew(impl_->now(), ""));
}

void Reflector::on_server_silent(TimePoint since) {
  impl_->run(impl_->watcher.on_server_silent(impl_->now(), since));
}

std::unique_ptr<Subscription> Reflector::subscribe(SubscriberCallbacks callbacks) {
  auto subscriber =
      std::make_shared<Subscriber>(std::move(callbacks), impl_->client.loop(), impl_->store);
  // A loaded cache is told by start().
  if (impl_->store.ready() && impl_->told) subscriber->feed.begin(impl_->store.keys());
  subscriber->tell_later();
  impl_->subscribers.push_back(subscriber);
  return std::make_unique<OpenSubscription>(std::move(subscriber));
}

void Reflector::add_index(const std::string& name, IndexKeys keys_of) {
  impl_->store.add_index(name, std::move(keys_of));
}

void Reflector::when_ready(std::function<void()> callback) {
  if (impl_->synced) return callback();
  impl_->on_ready.push_back(std::move(callback));
}

Result<void> Reflector::save(const std::function<Result<void>(std::string_view)>& sink) const {
  return impl_->store.save(impl_->about(), sink);
}

Result<void> Reflector::load(std::string_view bytes) {
  return impl_->store.load(impl_->about(), bytes);
}
const Store& Reflector::store() const {
  return impl_->store;
}
const core::ResourceType& Reflector::type() const {
  return impl_->type;
}
const std::string& Reflector::namespace_name() const {
  return impl_->namespace_;
}
std::optional<TimePoint> Reflector::failing_since() const {
  return impl_->fails() ? std::optional(impl_->failing_since) : std::nullopt;
}

std::optional<TimePoint> Reflector::heard() const {
  return impl_->heard;
}

bool Reflector::answered() const {
  return impl_->answered;
}

bool Reflector::outdated() const {
  return impl_->watcher.outdated() || impl_->store.of_undone_past();
}
std::optional<std::string> Reflector::last_failure() const {
  return impl_->fails() ? impl_->last_failure : std::nullopt;
}

ReflectorStats Reflector::stats() const {
  ReflectorStats stats = impl_->stats;
  stats.skipped_events = impl_->watcher.skipped_events();
  return stats;
}

}  // namespace kubewatch::runtime
