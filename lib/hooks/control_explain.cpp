// ControlRequests, the part that explains: why an object runs or does not. Asks the server for what
// is in no cache, one driver after the other. What the reasons are is explain's business.
#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "hooks/control_args.hpp"
#include "hooks/control_requests.hpp"
#include "hooks/driver.hpp"

namespace kubewatch::hooks {

struct ControlRequests::Explaining {
  ControlReplyPtr reply;
  Json args;
  std::vector<std::string> controllers;  // whom to ask still; drivers may go meanwhile
  std::size_t at = 0;
  Json rules = Json::array();
};

Json ControlRequests::explained(Driver& driver, const core::ObjectKey& key, const Json* live,
                                const std::string& live_error) {
  ExplainFacts facts = driver.facts_of(key);
  facts.live = live;
  facts.live_error = live_error;
  if (const auto trouble = engine_.lead_trouble()) facts.lead_trouble = trouble->why;
  if (const auto last = history_.last(driver.rule().name, key)) {
    const auto ago = std::chrono::duration_cast<Duration>(client_.loop().wall() - last->ended);
    facts.last = LastRun{last->record.outcome, last->record.message, ago, false};
  }
  return told_of(driver.rule(), key, kubewatch::hooks::explain(driver.rule(), facts));
}

void ControlRequests::explain(const Json& args, const ControlReplyPtr& reply) {
  const std::string kind = base::string_at(args, {"kind"});
  const std::string controller = base::string_at(args, {"controller"});
  if (kind.empty() ? controller.empty() : base::string_at(args, {"name"}).empty()) {
    return reply->fail(
        invalid_request("explain needs kind and name, or the controller of a rule without "
                        "`for`"));
  }
  auto work = std::make_shared<Explaining>();
  work->reply = reply;
  work->args = args;
  std::vector<const Rule*> rules;
  for (Driver* driver : drivers_of(kind)) rules.push_back(&driver->rule());
  for (const Rule* rule : shared_rules(kind, "")) rules.push_back(rule);
  if (!kind.empty() && rules.empty()) return reply->fail(no_such_kind(kind));
  for (const Rule* rule : rules) {
    if (!controller.empty() && rule->name != controller) continue;
    if (kind.empty() && rule->has_for) {
      return reply->fail(invalid_request(fmt::format("{} is for objects of the kind {}: name one",
                                                     rule->name, rule->for_.gvk.kind)));
    }
    auto& names = work->controllers;
    const bool is_new = std::find(names.begin(), names.end(), rule->name) == names.end();
    if (is_new) names.push_back(rule->name);
  }
  if (work->controllers.empty()) return reply->fail(no_such_controller(controller, kind));
  explain_live(work);
}

// One answer for each rule: of the shard that has the object, or what keeps it out of each.
Json ControlRequests::explained_by(const std::vector<Driver*>& drivers, const core::ObjectKey& key,
                                   const Json* live, const std::string& live_error) {
  Json out;
  std::vector<std::string> texts;
  for (Driver* driver : drivers) {
    Json one = explained(*driver, key, live, live_error);
    if (base::string_at(one, {"state"}) != "not-selected") return one;
    const std::string text = base::string_at(one, {"text"});
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(text);
    if (out.is_null()) out = std::move(one);
  }
  out["text"] = base::join(texts, "; ");
  return out;
}

void ControlRequests::explain_live(const std::shared_ptr<Explaining>& work) {
  while (work->at < work->controllers.size()) {
    const std::string name = work->controllers[work->at++];
    const auto drivers = drivers_named(name);
    const auto shared = shared_rules("", name);
    if (drivers.empty() && shared.empty()) continue;
    const core::ObjectKey key =
        drivers.empty() ? named_key(work->args) : key_at(work->args, *drivers.front());
    if (const auto told = shared.empty() ? std::nullopt : out_of_shards(*shared.front(), key)) {
      work->rules.push_back(told_of(*shared.front(), key, *told));
      continue;
    }
    if (drivers.empty()) continue;
    const auto first = [&](const auto& wanted) {
      return std::find_if(drivers.begin(), drivers.end(),
                          [&](Driver* one) { return wanted(one->facts_of(key)); });
    };
    auto known = first([](const ExplainFacts& facts) { return facts.is_known(); });
    if (known == drivers.end()) {
      known = first([](const ExplainFacts& facts) { return !facts.started; });
    }
    if (known != drivers.end()) {
      work->rules.push_back(explained(**known, key, nullptr, ""));
      continue;
    }
    return requests_.run<Result<Json>>(
        [this, work, name, key](Result<Json> answer) {
          const bool missing = !answer.ok() && answer.error().is_not_found();
          const std::string error = answer.ok() || missing ? "" : answer.error().render();
          const auto asked = drivers_named(name);
          const auto away = answer.ok() ? labelled_elsewhere(*answer) : std::nullopt;
          if (away && !asked.empty()) {
            work->rules.push_back(told_of(asked.front()->rule(), key, *away));
          } else if (!asked.empty()) {
            work->rules.push_back(
                explained_by(asked, key, answer.ok() ? &*answer : nullptr, error));
          }
          explain_live(work);
        },
        [&](client::ObjectCallback done) {
          return client_.get(drivers.front()->owner_type(), key, std::move(done));
        });
  }
  work->reply->result({{"rules", work->rules}});
}

}  // namespace kubewatch::hooks
