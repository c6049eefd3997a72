#include "model/cluster.hpp"

#include <fmt/format.h>

namespace kubewatch::model {

namespace {

constexpr std::size_t kHuge = 70000;  // longer than any chunk of the simulated network
constexpr std::size_t kTooDeep = 230;

}  // namespace

std::string kind_name(std::size_t kind) {
  return fmt::format("Thing{}", kind);
}

std::string to_json(std::size_t kind, const SimObject& object, bool with_type) {
  std::string extra;
  if (object.shape == Shape::huge) extra = ",\"pad\":\"" + std::string(kHuge, 'x') + "\"";
  if (object.shape == Shape::deep) {
    extra = ",\"deep\":" + std::string(kTooDeep, '[') + std::string(kTooDeep, ']');
  }
  const std::string type =
      with_type ? fmt::format(R"("apiVersion":"v1","kind":"{}",)", kind_name(kind)) : "";
  return fmt::format(
      R"({{{}"metadata":{{"name":"{}","namespace":"{}","uid":"{}","resourceVersion":"{}",)"
      R"("labels":{{"sel":"{}","parity":"p{}"}},"managedFields":[{{"manager":"x"}}],)"
      R"("ownerReferences":[{{"apiVersion":"v1","kind":"Owner","name":"o","uid":"own{}"}}]}},)"
      R"("data":{{"value":"{}"{}}}}})",
      type, object.name, object.namespace_, object.uid, object.revision,
      object.selected ? "yes" : "no", object.value % 2, object.value % 3, object.value, extra);
}

Cluster::Cluster(std::size_t kinds, base::Random& random) : random_(random), states_(kinds) {
  for (auto& states : states_) states[0] = {};
}

SimState Cluster::state_at(const View& view, std::uint64_t revision) const {
  SimState out;
  const auto& states = states_.at(view.kind);
  for (const auto& [key, object] : std::prev(states.upper_bound(revision))->second) {
    if (view.matches(object)) out.emplace(key, object);
  }
  return out;
}

std::optional<SimEvent> Cluster::next_event(const View& view, std::uint64_t after,
                                            std::uint64_t upto) const {
  for (auto it = changes_.upper_bound(after); it != changes_.end() && it->first <= upto; ++it) {
    const Change& change = it->second;
    if (change.kind != view.kind) continue;
    const bool was = change.before && view.matches(*change.before);
    const bool is = change.after && view.matches(*change.after);
    if (!was && !is) continue;
    SimEvent event;
    event.revision = it->first;
    event.object = is ? *change.after : *change.before;
    event.object.revision = it->first;
    event.type = !was ? core::WatchEventType::added
                 : is ? core::WatchEventType::modified
                      : core::WatchEventType::deleted;
    return event;
  }
  return std::nullopt;
}

void Cluster::record(std::size_t kind, const SimKey& key, std::optional<SimObject> after) {
  SimState next = states_[kind].rbegin()->second;
  // Other collections move the revision as well.
  revision_ += 1 + random_.below(3);
  Change change{kind, std::nullopt, std::nullopt};
  if (const auto it = next.find(key); it != next.end()) change.before = it->second;
  if (after) {
    after->revision = revision_;
    next[key] = *after;
  } else {
    next.erase(key);
  }
  change.after = std::move(after);
  changes_[revision_] = std::move(change);
  states_[kind][revision_] = std::move(next);
}

void Cluster::write(std::size_t kind, bool shapes) {
  const SimKey key{random_.below(3) == 0 ? "blog" : "shop", fmt::format("o{}", random_.below(5))};
  const SimState& now = states_[kind].rbegin()->second;
  const auto it = now.find(key);
  SimObject object;
  if (it != now.end()) {
    object = it->second;
  } else {
    object = {key.first, key.second, fmt::format("uid-{}", ++uids_), 0, 0, false, Shape::plain};
  }
  object.value = ++values_;
  if (it == now.end() || random_.below(3) == 0) object.selected = random_.below(2) == 0;
  object.shape = Shape::plain;
  if (shapes && random_.below(25) == 0) object.shape = Shape::huge;
  if (shapes && random_.below(25) == 0) object.shape = Shape::deep;
  if (it == now.end() || random_.below(3) != 0) return record(kind, key, object);
  record(kind, key, std::nullopt);
  if (random_.below(2) == 0) return;
  object.uid = fmt::format("uid-{}", ++uids_);  // the same name again
  record(kind, key, object);
}

void Cluster::compact_to(std::uint64_t revision) {
  compacted_ = std::max(compacted_, std::min(revision, revision_));
}

void Cluster::restore(std::uint64_t to, bool bump) {
  const std::uint64_t before = revision_;
  ++epoch_;
  changes_.erase(changes_.upper_bound(to), changes_.end());
  for (auto& states : states_) states.erase(states.upper_bound(to), states.end());
  revision_ = bump ? before + 1000 : to;
  if (bump) {
    compacted_ = revision_;
  } else {
    compacted_ = std::min(compacted_, revision_);
  }
}

}  // namespace kubewatch::model
