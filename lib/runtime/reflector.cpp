#include "runtime/reflector.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "core/status.hpp"
#include "runtime/store_ingest.hpp"

namespace kubewatch::runtime {

namespace {

constexpr const char* kInitialEventsEnd = "k8s.io/initial-events-end";
// Compressing in slices keeps the loop's turns short: a slice is a few milliseconds.
constexpr std::size_t kCompactSlice = 200;
constexpr Duration kCompactDelay{20};
constexpr std::uint64_t kNamedUnparsable = 10;  // the first ones are logged, then every 1000th

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace

struct Reflector::Impl {
  client::Client& client;
  core::ResourceType type;
  std::string namespace_;
  ReflectorCallbacks callbacks;
  Store store;
  Watcher watcher;
  ReflectorStats stats;
  std::optional<std::string> last_failure;
  std::uint64_t watches = 0;
  std::uint64_t named_unparsable = 0;
  std::array<bool, kWatcherFailures> logged{};  // in this series of failures

  // What the actions of the input at hand refer to; null where it could not be read.
  const PreparedObject* object = nullptr;

  client::PendingPtr request;
  loop::Timer timer;
  loop::Timer compaction;

  Impl(client::Client& the_client, core::ResourceType the_type, std::string the_namespace,
       WatcherOptions options, StoreOptions store_options, base::Random& random,
       ReflectorCallbacks the_callbacks)
      : client(the_client),
        type(std::move(the_type)),
        namespace_(std::move(the_namespace)),
        callbacks(std::move(the_callbacks)),
        store(std::move(store_options)),
        watcher(std::move(options), random) {}

  TimePoint now() const { return client.loop().now(); }
  ChangeSink sink() {
    if (!callbacks.on_change) return nullptr;
    return [this](StoreChange&& change) { callbacks.on_change(change); };
  }

  void run(const WatcherActions& actions);
  void execute(const StartList& action);
  void execute(const StartWatch& action);
  void execute(const EmitInitDone& action);
  void execute(const EmitFailure& action);
  void on_list_item(std::string_view item);
  void on_list_end(Result<core::ListPage> page);
  void on_event(const core::WatchEvent& event);
  void log_once(const EmitFailure& failure);
  void name_unparsable();
  void compact_later();
};

// The driver: each action is one call.
void Reflector::Impl::run(const WatcherActions& actions) {
  for (const auto& action : actions) {
    std::visit(Overloaded{
                   [this](const StartList& a) { execute(a); },
                   [this](const StartWatch& a) { execute(a); },
                   [this](const StopRequest&) { request.reset(); },
                   [this](const SetTimer& a) {
                     timer = client.loop().after(std::max(Duration{0}, a.at - now()),
                                                 [this] { run(watcher.on_timer(now())); });
                   },
                   [this](const EmitInit& a) { store.begin_init(a.rewound); },
                   [this](const EmitInitApply&) {
                     if (object != nullptr) store.init_apply(*object);
                   },
                   [this](const EmitInitDone& a) { execute(a); },
                   [this](const EmitApply&) { store.apply(*object, sink()); },
                   [this](const EmitDelete&) { store.remove(*object, sink()); },
                   [this](const EmitBookmark& a) {
                     store.bookmark(a.resource_version);
                     if (callbacks.on_bookmark) callbacks.on_bookmark(a.resource_version);
                   },
                   [this](const EmitFailure& a) { execute(a); },
               },
               action);
  }
  if (watcher.state() == WatcherState::watching) last_failure.reset();
  if (watcher.failures() == 0) logged = {};
  compact_later();
}

void Reflector::Impl::execute(const StartList& action) {
  request = client.list_items(
      type, namespace_, action.params, [this](std::string_view item) { on_list_item(item); },
      [this](Result<core::ListPage> page) { on_list_end(std::move(page)); });
}

void Reflector::Impl::execute(const StartWatch& action) {
  if (++watches > 1) ++stats.reconnects;
  client::WatchHandlers handlers;
  handlers.on_open = [this] { run(watcher.on_watch_open(now())); };
  handlers.on_event = [this](const core::WatchEvent& event) { on_event(event); };
  handlers.on_end = [this](Result<void> result) {
    std::optional<Error> error;
    if (!result.ok()) error = std::move(result).error();
    run(watcher.on_watch_end(now(), error));
  };
  request = client.watch(type, namespace_, action.params, std::move(handlers));
}

void Reflector::Impl::execute(const EmitInitDone& action) {
  store.finish_init(action.resource_version, sink());
  if (callbacks.on_synced) callbacks.on_synced(action.gap);
}

void Reflector::Impl::execute(const EmitFailure& action) {
  ++stats.failures[static_cast<std::size_t>(action.where)];
  last_failure = fmt::format("{}: {}", to_string(action.where), action.error.render());
  log_once(action);
  if (callbacks.on_failure) callbacks.on_failure(action.where, action.error, action.retry_in);
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
  auto prepared = store.prepare(item);
  name_unparsable();  // counted by the store; the list goes on
  object = prepared.ok() ? &*prepared : nullptr;
  run(watcher.on_list_item());
  object = nullptr;
}

void Reflector::Impl::on_list_end(Result<core::ListPage> page) {
  if (!page.ok()) return run(watcher.on_list_error(now(), page.error()));
  run(watcher.on_page(now(), *page));
}

void Reflector::Impl::on_event(const core::WatchEvent& event) {
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
        const std::string* end = meta->annotation(kInitialEventsEnd);
        facts.initial_events_end = end != nullptr && *end == "true";
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
}

void Reflector::Impl::name_unparsable() {
  const StoreStats::Unparsable& seen = store.unparsable();
  if (seen.count == named_unparsable) return;
  named_unparsable = seen.count;
  if (seen.count > kNamedUnparsable && seen.count % 1000 != 0) return;
  base::log_warn("an object cannot be kept as it is", {{"type", type.qualified_plural()},
                                                       {"object", seen.last},
                                                       {"so far", std::to_string(seen.count)}});
}

void Reflector::Impl::compact_later() {
  if (compaction || !store.compact_some(0)) return;
  compaction = client.loop().after(kCompactDelay, [this] {
    compaction.reset();
    store.compact_some(kCompactSlice);
    compact_later();
  });
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

Reflector::~Reflector() = default;

void Reflector::start() {
  impl_->run(impl_->watcher.start(impl_->now()));
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
std::optional<std::string> Reflector::last_failure() const {
  return impl_->last_failure;
}

ReflectorStats Reflector::stats() const {
  ReflectorStats stats = impl_->stats;
  stats.skipped_events = impl_->watcher.skipped_events();
  return stats;
}

}  // namespace kubewatch::runtime
