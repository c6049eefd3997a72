// Binds one Reflector to many listeners. What is told, and when, is the Reflector's.
#include "runtime/shared_watch.hpp"

namespace kubewatch::runtime {

std::string watch_name(const core::ResourceType& type, const std::string& namespace_,
                       const WatcherOptions& options) {
  std::string name = type.qualified_plural();
  if (!namespace_.empty()) name += " in namespace " + namespace_;
  if (!options.label_selector.empty()) name += " with " + options.label_selector;
  if (!options.field_selector.empty()) name += " with " + options.field_selector;
  return name;
}

// Holds the watch, so that it lives as long as somebody listens.
class SharedWatch::Source : public ChangeSource {
 public:
  explicit Source(std::shared_ptr<SharedWatch> watch) : watch_(std::move(watch)) {}
  void start(SourceEvents events) override { listener_ = watch_->listen(std::move(events)); }

 private:
  std::shared_ptr<SharedWatch> watch_;
  std::shared_ptr<Listener> listener_;
};

std::shared_ptr<SharedWatch> SharedWatch::open(client::Client& client, base::Random& random,
                                               core::ResourceType type, std::string namespace_,
                                               WatcherOptions options, StoreOptions store) {
  return std::shared_ptr<SharedWatch>(new SharedWatch(client, random, std::move(type),
                                                      std::move(namespace_), std::move(options),
                                                      std::move(store)));
}

SharedWatch::SharedWatch(client::Client& client, base::Random& random, core::ResourceType type,
                         std::string namespace_, WatcherOptions options, StoreOptions store)
    : loop_(client.loop()),
      name_(watch_name(type, namespace_, options)),
      content_(options.content),
      reflector_(client, std::move(type), std::move(namespace_), std::move(options),
                 std::move(store), random, callbacks()) {}

ReflectorCallbacks SharedWatch::callbacks() {
  ReflectorCallbacks out;
  out.on_change = [this](const StoreChange& change) {
    each([&](const SourceEvents& events) {
      events.on_change(change);
      events.on_sign(change.initial ? StreamSign::init : StreamSign::alive);
    });
  };
  out.on_synced = [this](bool) {
    each([](const SourceEvents& events) { events.on_sign(StreamSign::synced); });
  };
  out.on_bookmark = [this](const std::string&) {
    each([](const SourceEvents& events) { events.on_sign(StreamSign::alive); });
  };
  out.on_failure = [this](WatcherFailure, const Error& error, Duration retry_in) {
    failure_.emplace(error, retry_in);
    each([&](const SourceEvents& events) { events.on_failing(error, retry_in); });
  };
  out.on_works = [this] {
    each([](const SourceEvents& events) { events.on_sign(StreamSign::alive); });
  };
  out.on_outdated = [this] {
    each([](const SourceEvents& events) { events.on_sign(StreamSign::outdated); });
  };
  out.log_failures = false;  // whoever has the streams logs what their health says
  return out;
}

std::unique_ptr<ChangeSource> SharedWatch::source() {
  return std::make_unique<Source>(shared_from_this());
}

std::shared_ptr<SharedWatch::Listener> SharedWatch::listen(SourceEvents events) {
  auto listener = std::make_shared<Listener>(Listener{std::move(events), false});
  std::erase_if(listeners_, [](const auto& weak) { return weak.expired(); });
  listeners_.push_back(listener);
  if (!std::exchange(started_, true)) {
    listener->told = true;  // there is nothing yet
    reflector_.start();
    return listener;
  }
  // In a turn of its own: it may be asked for in the middle of what others are told.
  loop_.post([weak = weak_from_this(), late = std::weak_ptr<Listener>(listener)] {
    const auto self = weak.lock();
    const auto one = late.lock();
    if (self && one) self->tell_what_is_there(*one);
  });
  return listener;
}

void SharedWatch::tell_what_is_there(Listener& listener) {
  listener.told = true;
  if (store().ready()) {
    store().tell_all([&](const StoreChange& change) {
      listener.events.on_change(change);
      listener.events.on_sign(StreamSign::init);
    });
    listener.events.on_sign(StreamSign::synced);
    if (reflector_.outdated()) listener.events.on_sign(StreamSign::outdated);
  }
  if (failure_ && reflector_.last_failure()) {
    listener.events.on_failing(failure_->first, failure_->second);
  }
}

// One may come or go while others are told: who comes is told in a turn of its own.
void SharedWatch::each(const std::function<void(const SourceEvents&)>& tell) {
  const auto listeners = listeners_;
  for (const auto& weak : listeners) {
    const auto listener = weak.lock();
    if (listener && listener->told) tell(listener->events);
  }
}

}  // namespace kubewatch::runtime
