#include "cli/reflect/kinds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "core/selector.hpp"

namespace kubewatch::cli {

namespace {

// Each has a watch, and so a connection, of its own.
constexpr std::size_t kMostCaches = 256;
// Above http::Request::connect_timeout.
constexpr Duration kConnected{11000};

class SnapshotState : public core::ReadState {
 public:
  explicit SnapshotState(std::unique_ptr<runtime::StoreSnapshot> snapshot)
      : snapshot_(std::move(snapshot)) {}
  const std::string& resource_version() const override { return snapshot_->resource_version(); }
  std::vector<core::ObjectKey> select(const core::LabelSelector& labels,
                                      const std::optional<std::string>& namespace_) const override {
    return snapshot_->select(labels, namespace_);
  }
  std::optional<std::string> json(const core::ObjectKey& key) const override {
    auto object = snapshot_->get(key);
    if (!object) return std::nullopt;
    return std::move(object->json);
  }

 private:
  std::unique_ptr<runtime::StoreSnapshot> snapshot_;
};

}  // namespace

std::string cache_text(const std::string& type, const std::string& name,
                       const std::string& namespace_) {
  return type + (name.empty() ? "" : "/" + name) + (namespace_.empty() ? "" : " in " + namespace_);
}

Result<std::vector<KindPlan>> plan_kinds(const ReflectFlags& flags,
                                         const std::vector<AskedKind>& asked,
                                         const std::string& default_namespace) {
  std::vector<KindPlan> out;
  KW_ASSIGN(const auto store, flags.store_options());
  for (const AskedKind& one : asked) {
    const core::ResourceType& type = one.type;
    std::vector<std::string> places = flags.namespaces;
    if (places.empty()) places = {default_namespace};
    if (!type.namespaced || flags.selection.all_namespaces) places = {""};
    for (const auto& place : places) {
      for (const auto& name : one.names.empty() ? std::vector<std::string>{""} : one.names) {
        KindPlan plan{type, place, name, one.pinned, flags.watcher_options(), store};
        plan.watch.field_selector = core::with_name(plan.watch.field_selector, name);
        const bool known = std::any_of(out.begin(), out.end(), [&](const KindPlan& other) {
          return other.type.gvk == type.gvk && other.namespace_ == place && other.name == name;
        });
        if (!known) out.push_back(std::move(plan));
      }
    }
  }
  if (out.size() > kMostCaches) {
    return Error(ErrorKind::invalid,
                 fmt::format("{} caches are more than the {} that are kept at once: cache whole "
                             "kinds instead of single objects",
                             out.size(), kMostCaches));
  }
  return out;
}

Result<void> check_served(const std::vector<KindPlan>& plans) {
  std::set<std::pair<core::Gvk, std::string>> seen;
  for (const auto& plan : plans) {
    if (seen.insert({plan.type.gvk, plan.namespace_}).second) continue;
    return Error(
        ErrorKind::invalid,
        fmt::format("--serve holds one cache of a kind: name one of the {}, or all of them",
                    plan.type.qualified_plural()));
  }
  return {};
}

CachedKind::CachedKind(client::Client& client, base::Random& random, KindPlan plan, bool changes)
    : client_(client), plan_(std::move(plan)) {
  reflector_ = std::make_unique<runtime::Reflector>(
      client, plan_.type, plan_.namespace_, plan_.watch, plan_.store, random, callbacks(changes));
}

runtime::ReflectorCallbacks CachedKind::callbacks(bool changes) {
  runtime::ReflectorCallbacks out;
  out.log_failures = false;  // warn_of_failure says more
  out.want_previous = changes;
  if (changes) {
    out.on_change = [this](const runtime::StoreChange& change) {
      if (told_.changed) told_.changed(change);
      if (told_.moved && !change.initial && !change.relisted) told_.moved();
    };
  }
  out.on_bookmark = [this](const std::string&) {
    if (told_.moved) told_.moved();
  };
  out.on_synced = [this](bool gap) {
    ++syncs_;
    if (told_.synced) told_.synced(gap);
  };
  out.on_failure = [this](runtime::WatcherFailure where, const Error& error, Duration retry) {
    asks_again_ = client_.loop().now() + retry;
    // Where it goes another way at once that one may work.
    const bool ends = told_.failed && retry > Duration::zero() && told_.failed(error);
    if (!ends) warn_of_failure(plan_.type.gvk.kind, reflector_->stats(), where, error, retry);
  };
  return out;
}

void CachedKind::start() {
  if (reflector_->outdated() || store().of_another_version()) needed_ = 2;
  reflector_->start();
}

void CachedKind::start_with_list() {
  if (store().ready()) needed_ = 2;
  reflector_->start_with_list();
}

void CachedKind::go_on_as(const core::ResourceType& type) {
  plan_.type = type;
  reflector_->go_on_as(type);
}

std::optional<Duration> CachedKind::lag() const {
  const auto heard = reflector_->heard();
  if (!heard || syncs_ == 0) return std::nullopt;
  return client_.loop().now() - *heard;
}

bool CachedKind::reached_since_failure() const {
  return asks_again_ && client_.loop().now() - *asks_again_ >= kConnected;
}

core::ReadStatePtr CachedKind::state() const {
  auto snapshot = store().snapshot();
  if (!snapshot) return nullptr;
  return std::make_shared<SnapshotState>(std::move(snapshot));
}

std::optional<std::string> CachedKind::json(const core::ObjectKey& key) const {
  auto object = store().get(key);
  if (!object) return std::nullopt;
  return std::move(object->json);
}

}  // namespace kubewatch::cli
