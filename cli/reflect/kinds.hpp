// The caches of one `reflect`: a reflector for each kind and namespace, what it told last, and how
// readers of the API see it. Owned by the verb.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/reflect/flags.hpp"
#include "client/client.hpp"
#include "core/read_backend.hpp"
#include "runtime/reflector.hpp"

namespace kubewatch::cli {

// A kind that was asked for, and the names that were given with it.
struct AskedKind {
  core::ResourceType type;
  std::vector<std::string> names;  // empty: all
  bool pinned = false;             // by TYPE.VERSION.GROUP
};

// What a cache is told as: "pods", "pods in shop", "pods/web in shop".
std::string cache_text(const std::string& type, const std::string& name,
                       const std::string& namespace_);

// What to cache of one kind.
struct KindPlan {
  core::ResourceType type;
  std::string namespace_;  // "" = all, or cluster-scoped
  std::string name;        // of one object, which `watch` selects; "" = all
  bool pinned = false;     // no other version of the type will do
  runtime::WatcherOptions watch;
  runtime::StoreOptions store;
  std::string text() const { return cache_text(type.qualified_plural(), name, namespace_); }
};

// The kinds that the flags mean, each once. Errors: invalid.
Result<std::vector<KindPlan>> plan_kinds(const ReflectFlags& flags,
                                         const std::vector<AskedKind>& asked,
                                         const std::string& default_namespace);

// A server answers for a kind out of one cache of a namespace. Errors: invalid, where there are
// two.
Result<void> check_served(const std::vector<KindPlan>& plans);

class CachedKind : public core::ReadBackend {
 public:
  struct Told {
    std::function<void(const runtime::StoreChange&)> changed;
    std::function<void(bool gap)> synced;
    std::function<void()> moved;  // after events and bookmarks
    // May be final: forbidden, unauthorized, not found. Whether the command ends of it, and tells
    // it then; else it is warned of.
    std::function<bool(const Error&)> failed;
  };
  // Both must outlive it. `changes`: each is told, with what was there before; that costs.
  CachedKind(client::Client& client, base::Random& random, KindPlan plan, bool changes = false);
  // Before start().
  void tell(Told told) { told_ = std::move(told); }
  void start();
  // Synced is then what was compared with the server; a loaded cache alone is not. One that was
  // saved outdated is not after start() either.
  void start_with_list();
  // The server has another version of the kind in the place of this one: that is read and compared.
  // Not from inside what is told.
  void go_on_as(const core::ResourceType& type);

  const KindPlan& plan() const { return plan_; }
  runtime::Reflector& reflector() { return *reflector_; }
  const runtime::Reflector& reflector() const { return *reflector_; }
  const runtime::Store& store() const { return reflector_->store(); }
  bool synced() const { return syncs_ >= needed_; }
  // Full states so far.
  std::uint64_t syncs() const { return syncs_; }
  // Since the server last said where it stands; absent before it did so to this process.
  std::optional<Duration> lag() const;
  // What was asked after the last failure has been on its way for longer than a connection takes to
  // be made or given up: the failure is not how it stands now.
  bool reached_since_failure() const;
  std::string name() const { return plan_.text(); }

  // --- core::ReadBackend ---
  const core::ResourceType& type() const override { return plan_.type; }
  const std::string& namespace_name() const override { return plan_.namespace_; }
  core::Content content() const override { return plan_.watch.content; }
  // What the server has undone, and what it had in another version, is not shown as what it has.
  bool ready() const override {
    return store().ready() && syncs_ > 0 && !reflector_->outdated() &&
           !store().of_another_version();
  }
  std::string resource_version() const override { return store().resource_version(); }
  core::ReadStatePtr state() const override;
  std::optional<std::string> json(const core::ObjectKey& key) const override;
  std::vector<core::ObjectKey> reduced() const override { return store().reduced(); }

 private:
  runtime::ReflectorCallbacks callbacks(bool changes);

  client::Client& client_;
  KindPlan plan_;
  Told told_;
  std::unique_ptr<runtime::Reflector> reflector_;
  std::uint64_t syncs_ = 0;
  std::uint64_t needed_ = 1;
  std::optional<TimePoint> asks_again_;  // after the last failure
};
using CachedKinds = std::vector<std::unique_ptr<CachedKind>>;

}  // namespace kubewatch::cli
