// ControlRequests, the part about shards that narrow what is watched: of those that are led
// elsewhere there is no driver here, and nothing is known of their objects but what the plan tells.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "hooks/control_requests.hpp"
#include "hooks/driver.hpp"
#include "hooks/kind_words.hpp"

namespace kubewatch::hooks {

core::ObjectKey ControlRequests::named_key(const Json& args) {
  return {base::string_at(args, {"namespace"}), base::string_at(args, {"name"})};
}

Explanation ControlRequests::elsewhere() const {
  const auto trouble = engine_.lead_trouble();
  return other_shard(trouble ? trouble->why : "");
}

std::vector<const Rule*> ControlRequests::shared_rules(const std::string& kind,
                                                       const std::string& controller) const {
  std::vector<const Rule*> out;
  const auto shared = engine_.shared_out();
  if (!shared) return out;
  for (const Rule& rule : shared->rules) {
    if (!controller.empty() && rule.name != controller) continue;
    // What kinds its group has is known where one of its shards is led.
    const bool named = rule.for_.every_kind || names_kind(kind, rule.for_.gvk);
    if (kind.empty() || (rule.has_for && named)) out.push_back(&rule);
  }
  return out;
}

std::optional<Explanation> ControlRequests::out_of_shards(const Rule& rule,
                                                          const core::ObjectKey& key) const {
  const auto shared = engine_.shared_out();
  if (!shared) return std::nullopt;
  if (!rule.has_for) {
    return shared->led.count(0) > 0 ? std::nullopt : std::optional(elsewhere());
  }
  if (shared->plan.by == ShardPlan::By::label) {
    return shared->led.empty() ? std::optional(elsewhere()) : std::nullopt;
  }
  if (auto outside = outside_namespaces(rule.for_, key.namespace_); !outside.empty()) {
    return not_selected(std::move(outside));
  }
  core::ObjectMeta meta;
  meta.namespace_ = key.namespace_;
  const auto shard = shard_of(shared->plan, meta);
  // Of a kind without namespaces its driver knows.
  if (!shard && key.namespace_.empty() && !shared->led.empty()) return std::nullopt;
  if (!shard) {
    return not_selected(fmt::format("namespace {} is in none of the shards", key.namespace_));
  }
  return shared->led.count(*shard) > 0 ? std::nullopt : std::optional(elsewhere());
}

std::optional<Explanation> ControlRequests::labelled_elsewhere(const Json& live) const {
  const auto shared = engine_.shared_out();
  if (!shared || shared->plan.by != ShardPlan::By::label) return std::nullopt;
  const auto shard = shard_of(shared->plan, core::meta_of(live));
  if (!shard || shared->led.count(*shard) > 0) return std::nullopt;
  return elsewhere();
}

Json ControlRequests::told_of(const Rule& rule, const core::ObjectKey& key,
                              const Explanation& explanation) {
  Json out = to_json(explanation);
  out["controller"] = rule.name;
  out["object"] = rule.has_for ? rule.for_.gvk.kind + " " + key.str() : "<none>";
  out["file"] = fmt::format("{}:{}", rule.file, rule.line);
  return out;
}

// Of a label that nobody sees here the instance that leads its shard knows.
std::optional<Error> ControlRequests::ask_another(const Json& args) const {
  const core::ObjectKey key = named_key(args);
  const auto rules =
      shared_rules(base::string_at(args, {"kind"}), base::string_at(args, {"controller"}));
  const auto shared = engine_.shared_out();
  if (rules.empty() || !shared) return std::nullopt;
  const std::string of =
      key.name.empty() ? "" : rules.front()->for_.gvk.kind + " " + key.str() + ": ";
  // No shard of the rules is led here, and which one is asked for nobody says.
  const Error ask_that_one(ErrorKind::unavailable,
                           of + "another instance leads its shard; ask that one");
  if (key.name.empty()) return ask_that_one;
  for (const Rule* rule : rules) {
    const auto why = out_of_shards(*rule, key);
    if (why && why->state != "not-selected") return ask_that_one;
  }
  if (shared->plan.by != ShardPlan::By::label || shared->led.size() >= shared->plan.count) {
    return std::nullopt;
  }
  return Error(ErrorKind::unavailable,
               of + "it is in none of the shards that this instance leads; where it is in another, "
                    "ask the one that leads that");
}

}  // namespace kubewatch::hooks
