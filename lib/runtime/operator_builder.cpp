// ControllerBuilder: collects, checks, builds.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/operator_parts.hpp"

namespace kubewatch::runtime {
namespace {

using Role = WatchedKind::Role;

// Each object is to be in one of them.
Result<void> check_shared(const WatchedKind& kind) {
  std::set<std::string> namespaces;
  for (const auto& watch : kind.options.shared) {
    if (watch == nullptr) {
      return Error(ErrorKind::invalid, "a shared watch of " + kind.type.gvk.str() + " is null");
    }
    if (watch->type().gvk != kind.type.gvk) {
      return Error(ErrorKind::invalid, fmt::format("{} is to be watched by a shared watch of {}",
                                                   kind.type.gvk.str(), watch->type().gvk.str()));
    }
    namespaces.insert(watch->namespace_name());
  }
  const std::size_t count = kind.options.shared.size();
  if (namespaces.size() < count || (count > 1 && namespaces.count("") > 0)) {
    return Error(ErrorKind::invalid, "the shared watches of " + kind.type.gvk.str() +
                                         " overlap: one for all namespaces, or one for each");
  }
  return {};
}

// An object of a namespace that stands twice would be told twice.
Result<void> check_namespaces(const WatchedKind& kind) {
  std::set<std::string> seen;
  for (const std::string& name : kind.options.namespaces) {
    const std::string of = "namespaces to watch " + kind.type.gvk.str() + " in: ";
    if (name.empty()) {
      return Error(ErrorKind::invalid, of + "one is empty; name none where all are meant");
    }
    if (auto wrong = core::check_dns_label(name); !wrong.empty()) {
      return Error(ErrorKind::invalid, of + '"' + name + "\": " + wrong);
    }
    if (!seen.insert(name).second) {
      return Error(ErrorKind::invalid, of + '"' + name + "\" stands there twice");
    }
  }
  return {};
}

Result<void> check(const WatchedKind& kind) {
  const std::string name = kind.type.gvk.str();
  if (kind.type.gvk.version.empty() || kind.type.gvk.kind.empty() || kind.type.plural.empty()) {
    return Error(
        ErrorKind::invalid,
        fmt::format("a kind to watch needs a version, a kind and a plural, not \"{}\" with "
                    "the plural \"{}\"",
                    name, kind.type.plural));
  }
  // Types written by hand say nothing of verbs; discovery does.
  if (!kind.type.verbs.empty() && (!kind.type.has_verb("list") || !kind.type.has_verb("watch"))) {
    return Error(ErrorKind::invalid, name + " cannot be listed and watched");
  }
  if (!kind.type.namespaced && !kind.options.namespaces.empty()) {
    return Error(ErrorKind::invalid,
                 name + " is cluster-scoped, but namespaces are given to watch it in");
  }
  KW_TRY(check_namespaces(kind));
  KW_TRY(check_shared(kind));
  const bool maps = kind.role == Role::mapped || kind.role == Role::referenced;
  if (maps && !kind.map) {
    return Error(ErrorKind::invalid, "watching " + name + " needs a function to keys");
  }
  return {};
}

Result<void> check(const OperatorParts& parts) {
  const auto own = std::count_if(parts.kinds.begin(), parts.kinds.end(),
                                 [](const auto& kind) { return kind.role == Role::self; });
  if (own != 1) {
    return Error(
        ErrorKind::invalid,
        fmt::format("a controller is for exactly one kind, not for {}: call for_ once", own));
  }
  for (const WatchedKind& kind : parts.kinds) KW_TRY(check(kind));
  if (!parts.reconcile) return Error(ErrorKind::invalid, "a controller needs a reconcile function");
  return {};
}

}  // namespace

ControllerBuilder::ControllerBuilder(loop::EventLoop& loop, client::Client& client,
                                     base::Random& random)
    : parts_(std::make_unique<OperatorParts>(loop, client, random)) {}

ControllerBuilder::~ControllerBuilder() = default;

ControllerBuilder& ControllerBuilder::for_(core::ResourceType type, KindOptions options) {
  parts_->kinds.push_back({Role::self, std::move(type), std::move(options), {}, {}});
  return *this;
}

ControllerBuilder& ControllerBuilder::owns(core::ResourceType type, KindOptions options,
                                           OwnerKind references) {
  options.list.content = core::Content::metadata;
  return owns_whole(std::move(type), std::move(options), references);
}

ControllerBuilder& ControllerBuilder::owns_whole(core::ResourceType type, KindOptions options,
                                                 OwnerKind references) {
  parts_->kinds.push_back({Role::owned, std::move(type), std::move(options), references, {}});
  return *this;
}

ControllerBuilder& ControllerBuilder::watches(core::ResourceType type, KeyMapper map,
                                              KindOptions options) {
  parts_->kinds.push_back({Role::mapped, std::move(type), std::move(options), {}, std::move(map)});
  return *this;
}

ControllerBuilder& ControllerBuilder::watches_referenced(core::ResourceType type,
                                                         KeyMapper references,
                                                         KindOptions options) {
  parts_->kinds.push_back(
      {Role::referenced, std::move(type), std::move(options), {}, std::move(references)});
  return *this;
}

ControllerBuilder& ControllerBuilder::reconcile_on(const TriggerSource& source) {
  parts_->triggers.push_back(source);
  return *this;
}

ControllerBuilder& ControllerBuilder::reconcile_all_on(const TriggerSource& source) {
  parts_->all_triggers.push_back(source);
  return *this;
}

ControllerBuilder& ControllerBuilder::predicates(Predicate predicate, PredicateOptions options) {
  parts_->predicate = std::move(predicate);
  parts_->predicate_options = options;
  return *this;
}

ControllerBuilder& ControllerBuilder::debounce(Duration window) {
  parts_->debounce = window;
  return *this;
}

ControllerBuilder& ControllerBuilder::concurrency(std::size_t limit) {
  parts_->queue.concurrency = limit;
  return *this;
}

ControllerBuilder& ControllerBuilder::slots(RunSlots& slots) {
  parts_->slots = &slots;
  return *this;
}

ControllerBuilder& ControllerBuilder::retry(base::BackoffPolicy policy,
                                            std::uint32_t max_attempts) {
  parts_->queue.retry = policy;
  parts_->queue.max_attempts = max_attempts;
  return *this;
}

ControllerBuilder& ControllerBuilder::hold_until_synced(bool all) {
  parts_->hold_for_all = all;
  return *this;
}

ControllerBuilder& ControllerBuilder::standby(Duration hand_over) {
  parts_->standby = true;
  parts_->hand_over = hand_over;
  return *this;
}

ControllerBuilder& ControllerBuilder::error_policy(ErrorPolicy policy) {
  parts_->error_policy = std::move(policy);
  return *this;
}

ControllerBuilder& ControllerBuilder::on_delete(
    std::function<void(const core::ObjectKey&, ReconcileDone)> task) {
  parts_->on_delete = std::move(task);
  return *this;
}

ControllerBuilder& ControllerBuilder::on_result(
    std::function<void(const core::ObjectKey&, const Result<RunOutcome>&)> callback) {
  parts_->on_result = std::move(callback);
  return *this;
}

ControllerBuilder& ControllerBuilder::flush_on_shutdown(ShutdownSequence::Step step) {
  parts_->flush = std::move(step);
  return *this;
}

ControllerBuilder& ControllerBuilder::release_on_shutdown(ShutdownSequence::Step step) {
  parts_->release = std::move(step);
  return *this;
}

Result<std::unique_ptr<Operator>> ControllerBuilder::build(ReconcileFunction reconcile) {
  if (used_) {
    return Error(ErrorKind::invalid,
                 "this builder has built its controller and is used up: make another one");
  }
  parts_->reconcile = std::move(reconcile);
  KW_TRY(check(*parts_));
  used_ = true;
  // Whoever still tells it something tells nobody.
  auto spent = std::make_unique<OperatorParts>(parts_->loop, parts_->client, parts_->random);
  return std::make_unique<Operator>(std::exchange(parts_, std::move(spent)));
}

}  // namespace kubewatch::runtime
