// Following the kinds of groups.
#include "hooks/kind_families.hpp"

#include <algorithm>

#include "base/log.hpp"
#include "hooks/rule_kinds.hpp"

namespace kubewatch::hooks {
namespace {

constexpr Duration kRegularly{60000};
// A definition is told first, then established, and then discovery has it.
const std::vector<Duration> kAfterChange = {Duration{200}, Duration{1000}, Duration{5000}};

}  // namespace

KindFamilies::KindFamilies(loop::EventLoop& loop, StreamPool& pool, std::function<void()> ask)
    : loop_(loop), pool_(pool), ask_(std::move(ask)) {}

void KindFamilies::add(Rule rule, std::optional<std::size_t> shard) {
  families_.push_back({std::move(rule), shard, {}});
  if (!regular_) ask_regularly();
}

void KindFamilies::remove(const std::string& name) {
  std::erase_if(families_, [&](const Family& family) { return family.rule.name == name; });
}

void KindFamilies::remove_shard(std::size_t shard) {
  std::erase_if(families_, [&](const Family& family) { return family.shard == shard; });
}

void KindFamilies::stop() {
  stopped_ = true;
  soon_.reset();
  regular_.reset();
}

void KindFamilies::ask_regularly() {
  regular_ = loop_.after(kRegularly, [this] {
    ask_regularly();
    ask_();
  });
}

void KindFamilies::ask_after(std::vector<Duration> delays) {
  if (delays.empty() || stopped_) return;
  const Duration first = delays.front();
  delays.erase(delays.begin());
  soon_ = loop_.after(first, [this, delays = std::move(delays)]() mutable {
    ask_();
    ask_after(std::move(delays));
  });
}

KindFamilies::Change KindFamilies::look(const client::ResourceMap& resources,
                                        const std::set<std::string>& running) {
  Change change;
  if (stopped_ || families_.empty()) return change;
  watch_definitions(resources);
  std::set<std::string> names = running;
  for (Family& family : families_) look_at(family, resources, names, change);
  return change;
}

void KindFamilies::look_at(Family& family, const client::ResourceMap& resources,
                           std::set<std::string>& running, Change& change) {
  const auto kinds = kinds_of_group(resources, family.rule.for_);
  if (!kinds) return;
  std::set<std::string> wanted;
  for (const core::Gvk& gvk : *kinds) {
    StreamRule stream = family.rule.for_;
    stream.gvk = gvk;
    Rule rule = rule_of_kind(family.rule, std::move(stream));
    wanted.insert(rule.name);
    if (family.made.count(rule.name) > 0) continue;
    // One of another rule, or of a kind that went and whose last runs have not ended.
    if (family.shard ? false : !running.insert(rule.name).second) {
      base::log_warn("a controller of this name is there already; this one waits",
                     {{"controller", rule.name}, {"kind", gvk.str()}});
      continue;
    }
    family.made.insert(rule.name);
    change.start.push_back({std::move(rule), family.shard});
  }
  for (auto it = family.made.begin(); it != family.made.end();) {
    if (wanted.count(*it) > 0) {
      ++it;
      continue;
    }
    change.end.push_back(*it);
    it = family.made.erase(it);
  }
}

// Where CRDs may not be watched, the regular look is what is left.
void KindFamilies::watch_definitions(const client::ResourceMap& resources) {
  if (definitions_) return;
  const auto* type = resources.find_kind("apiextensions.k8s.io", "CustomResourceDefinition");
  if (type == nullptr) return;
  StreamSpec spec;
  spec.type = *type;
  spec.list.content = core::Content::metadata;
  spec.needed = false;  // the regular look does as well
  definitions_.emplace();
  definitions_->open(
      pool_, spec, {},
      {[this](const runtime::StoreChange& change) { on_definition(change.meta.name); }, [] {}});
}

// "websites.demo.kubewatch.dev"
void KindFamilies::on_definition(const std::string& name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string::npos) return;
  const std::string group = name.substr(dot + 1);
  const bool ours = std::any_of(families_.begin(), families_.end(), [&](const Family& family) {
    return family.rule.for_.gvk.group == group;
  });
  if (ours) ask_after(kAfterChange);
}

}  // namespace kubewatch::hooks
