// ControlRequests, the part that makes objects run: trigger, and retry of what is parked. Which of
// them a rule has, its driver decides.
#include "base/json.hpp"
#include "hooks/control_args.hpp"
#include "hooks/control_requests.hpp"
#include "hooks/driver.hpp"
#include "hooks/trigger_request.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMaxListedNames = 100;

// Of a request for many objects one for each that is chosen.
std::vector<TriggerRequest> chosen_requests(const Json& args, const TriggerRequest& request,
                                            const Driver& driver) {
  if (request.key || base::string_at(args, {"onlyNamespace"}).empty()) return {request};
  std::vector<TriggerRequest> out;
  if (!driver.rule().has_for) {
    // Its one run is in no namespace: whoever names the rule means it all the same.
    if (!base::string_at(args, {"controller"}).empty()) out.push_back(request);
    return out;
  }
  const RuleCaches& caches = driver.caches();
  const auto keys = request.selector ? caches.selected(*request.selector) : caches.known_keys();
  for (const core::ObjectKey& key : keys) {
    if (!is_chosen(args, key)) continue;
    TriggerRequest one;
    one.key = key;
    one.reason = request.reason;
    out.push_back(std::move(one));
  }
  return out;
}

// What was made to run: how many, and the first of them.
struct Triggered {
  std::size_t count = 0;
  Json names = Json::array();

  void add(Driver& driver, const std::vector<core::ObjectKey>& keys) {
    for (const core::ObjectKey& key : keys) {
      if (++count > kMaxListedNames) continue;
      names.push_back(driver.rule().name + ": " + object_text(driver, key));
    }
  }
  Json answer() { return {{"triggered", count}, {"objects", std::move(names)}}; }
};

Error not_the_leader(const std::string& of) {
  return Error(ErrorKind::unavailable, of + "this instance may not write now: another one leads, "
                                            "or the lead is not sure; ask that one");
}

}  // namespace

// Why a trigger has run nothing.
Error ControlRequests::nothing_runs(const Json& args, const TriggerRequest& request,
                                    const std::vector<Driver*>& drivers) {
  std::string what;
  bool elsewhere = false;
  if (request.key && !drivers.empty()) {
    Driver& driver = *drivers.front();
    const core::ObjectKey key = key_at(args, driver);
    const ExplainFacts facts = driver.facts_of(key);
    what = object_text(driver, key);
    elsewhere = facts.sharded && !facts.owns_shard;
  }
  if (const auto error = request.key ? ask_another(args) : std::nullopt) return *error;
  const std::string of = what.empty() ? "" : what + ": ";
  if (!client_.may_write().ok()) {
    return not_the_leader(of);
  }
  if (elsewhere) {
    return Error(ErrorKind::unavailable, of + "another instance leads its shard; ask that one");
  }
  if (!what.empty()) return selected_by_none(args, drivers);
  return Error(ErrorKind::not_found,
               "no object of the rules' selections matches; explain KIND/NAME says why");
}

Result<Json> ControlRequests::trigger(const Json& args) {
  const std::string kind = base::string_at(args, {"kind"});
  const std::string name = base::string_at(args, {"name"});
  const std::string selector = base::string_at(args, {"selector"});
  const bool all = flag_at(args, "all");
  if (int{!name.empty()} + int{!selector.empty()} + int{all} != 1) {
    return invalid_request("trigger needs one of KIND/NAME, a selector and all");
  }
  TriggerRequest request;
  request.all = all;
  request.reason = tidy_trigger_reason(base::string_at(args, {"reason"}));
  if (!name.empty()) request.key = {base::string_at(args, {"namespace"}), name};
  request.by_person = !name.empty();
  if (!selector.empty()) {
    KW_ASSIGN(request.selector, core::LabelSelector::parse(selector));
  }
  auto drivers = drivers_of(kind);
  if (!kind.empty() && drivers.empty() && shared_rules(kind, "").empty()) return no_such_kind(kind);
  if (const std::string controller = base::string_at(args, {"controller"}); !controller.empty()) {
    keep_named(drivers, controller);
    if (drivers.empty() && shared_rules(kind, controller).empty()) {
      return no_such_controller(controller, kind);
    }
  }
  Triggered triggered;
  for (Driver* driver : drivers) {
    for (const TriggerRequest& one : chosen_requests(args, request, *driver)) {
      triggered.add(*driver, driver->trigger(one, runtime::Reason::manual));
    }
  }
  if (triggered.count == 0) return nothing_runs(args, request, drivers);
  return triggered.answer();
}

Result<Json> ControlRequests::retry(const Json& args) {
  Triggered triggered;
  for (Driver* driver : engine_.drivers()) {
    TriggerRequest request;
    request.reason = "retry --parked";
    for (const core::ObjectKey& key : driver->queue().parked()) {
      if (!is_chosen(args, key)) continue;
      // A rule without `for` is one run for everything.
      request.all = !driver->rule().has_for;
      if (!request.all) request.key = key;
      triggered.add(*driver, driver->trigger(request, runtime::Reason::manual));
    }
  }
  // What is parked, the leader knows.
  if (triggered.count == 0 && !client_.may_write().ok()) return not_the_leader("");
  return triggered.answer();
}

}  // namespace kubewatch::hooks
