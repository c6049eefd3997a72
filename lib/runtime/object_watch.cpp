#include "runtime/object_watch.hpp"

#include <cassert>

#include "client/target.hpp"
#include "core/selector.hpp"

namespace kubewatch::runtime {

namespace {

WatcherOptions only(WatcherOptions options, const std::string& name) {
  options.field_selector = core::with_name("", name);
  return options;
}

}  // namespace

ObjectWatch::ObjectWatch(client::Client& client, const core::ResourceType& type,
                         const core::ObjectKey& key, WatcherOptions options, base::Random& random,
                         Callbacks callbacks)
    : callbacks_(std::move(callbacks)),
      reflector_(client, type, key.namespace_, only(std::move(options), key.name),
                 /*strip=*/{}, random, reflector_callbacks()) {
  assert(client::check_target(type, key).ok());
}

ReflectorCallbacks ObjectWatch::reflector_callbacks() {
  ReflectorCallbacks out;
  out.want_previous = false;
  out.on_change = [this](const StoreChange& change) { on_change(change); };
  out.on_synced = [this](bool) {
    synced_ = true;
    if (callbacks_.on_change) callbacks_.on_change();
  };
  out.log_failures = !callbacks_.on_failure;
  out.on_failure = [this](WatcherFailure where, const Error& error, Duration retry_in) {
    failure_.emplace(error);
    if (callbacks_.on_failure) callbacks_.on_failure(where, error, retry_in);
  };
  out.on_works = [this] {
    if (callbacks_.on_works) callbacks_.on_works();
  };
  return out;
}

void ObjectWatch::on_change(const StoreChange& change) {
  if (change.type == ChangeType::deleted) {
    object_.reset();
    reduced_ = false;
  } else if (auto parsed = base::parse_json(change.json); parsed.ok()) {
    object_ = std::move(parsed).value();
    reduced_ = change.reduced;
    seen_ = true;
  }
  // The changes of a list come before on_synced, in the same turn: they are one.
  if (synced_ && !change.relisted && callbacks_.on_change) callbacks_.on_change();
}

}  // namespace kubewatch::runtime
