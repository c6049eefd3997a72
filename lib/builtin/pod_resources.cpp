#include "builtin/pod_resources.hpp"

#include <map>
#include <optional>

#include "base/quantity.hpp"
#include "builtin/checks.hpp"
#include "builtin/default_rules.hpp"

namespace kubewatch::builtin {

namespace {

using base::Quantity;
using Amounts = std::map<std::string, Quantity>;

bool is_cpu_or_memory(const std::string& name) {
  return name == "cpu" || name == "memory";
}

// What is no quantity is left out.
Amounts amounts_in(const Json* given) {
  Amounts out;
  if (given == nullptr || !given->is_object()) return out;
  for (const auto& [name, value] : given->items()) {
    const auto amount =
        Quantity::parse(value.is_string() ? value.get<std::string>() : base::dump_json(value));
    if (amount) out.emplace(name, *amount);
  }
  return out;
}

Amounts amounts_of(const Json& owner, const char* list) {
  return amounts_in(base::find(owner, {"resources", list}));
}

void add(Amounts& to, const Amounts& more) {
  for (const auto& [name, amount] : more) {
    const auto [at, is_new] = to.emplace(name, amount);
    if (!is_new) at->second = at->second.plus(amount);
  }
}

void raise(Amounts& to, const Amounts& more) {
  for (const auto& [name, amount] : more) {
    const auto [at, is_new] = to.emplace(name, amount);
    if (!is_new && at->second.compare(amount) < 0) at->second = amount;
  }
}

// What all containers take at most at one time: those of the Pod together, or while it starts one
// init container beside those that were started before and go on.
Amounts taken_together(const Json& spec, const char* list) {
  Amounts running;
  for (const Json& container : base::items_at(spec, {"containers"})) {
    add(running, amounts_of(container, list));
  }
  Amounts lasting;
  Amounts starting;
  for (const Json& container : base::items_at(spec, {"initContainers"})) {
    Amounts now = amounts_of(container, list);
    if (base::string_at(container, {"restartPolicy"}) == "Always") {
      add(running, now);
      add(lasting, now);
      now = lasting;
    } else {
      add(now, lasting);
    }
    raise(starting, now);
  }
  raise(running, starting);
  return running;
}

void request_limits(Json& container) {
  const auto resources = container.is_object() ? container.find("resources") : container.end();
  if (resources == container.end() || !resources->is_object()) return;
  const auto limits = resources->find("limits");
  if (limits == resources->end() || !limits->is_object() || limits->empty()) return;
  const Json wanted = *limits;
  Json& requests = (*resources)["requests"];
  if (requests.is_null()) requests = Json::object();
  if (!requests.is_object()) return;
  for (const auto& [name, value] : wanted.items()) {
    if (!requests.contains(name)) requests[name] = value;
  }
}

// Where nothing is given yet.
void give(Json& list, const std::string& name, const Amounts& amounts) {
  if (list.is_object() && list.contains(name)) return;
  if (const auto text = amounts.at(name).canonical()) list[name] = *text;
}

// Huge pages are not overcommitted: the Pod's limit is what its containers may take.
void limit_huge_pages(const Json& spec, Json& resources) {
  const Amounts taken = taken_together(spec, "limits");
  const Json* requests = base::find(resources, {"requests"});
  for (const auto& [name, amount] : taken) {
    if (!is_huge_page(name)) continue;
    if (requests != nullptr && requests->is_object() && requests->contains(name)) continue;
    give(resources["limits"], name, taken);
  }
}

void request_for_pod(const Json& spec, Json& resources) {
  const auto limits = resources.find("limits");
  if (limits == resources.end() || !limits->is_object() || limits->empty()) return;
  const Json limited = *limits;
  const Amounts taken = taken_together(spec, "requests");
  for (const auto& [name, amount] : taken) {
    if (is_cpu_or_memory(name)) give(resources["requests"], name, taken);
  }
  for (const auto& [name, value] : limited.items()) {
    if (!is_cpu_or_memory(name) && !is_huge_page(name)) continue;
    Json& requests = resources["requests"];
    if (!requests.is_object() || !requests.contains(name)) requests[name] = value;
  }
}

bool is_list_of_amounts(const Json& resources, const char* list) {
  return is_absent(resources, list) || resources.at(list).is_object();
}

bool says_something(const Json& resources, const char* list) {
  return !is_absent(resources, list) && !resources.at(list).empty();
}

// The positive ones that the class of service looks at.
Amounts counted(const Json& owner, const char* list) {
  Amounts out;
  for (const auto& [name, amount] : amounts_of(owner, list)) {
    if (is_cpu_or_memory(name) && amount.sign() > 0) out.emplace(name, amount);
  }
  return out;
}

bool equal(const Amounts& requests, const Amounts& limits) {
  if (requests.size() != limits.size()) return false;
  for (const auto& [name, amount] : requests) {
    const auto limit = limits.find(name);
    if (limit == limits.end() || limit->second.compare(amount) != 0) return false;
  }
  return true;
}

}  // namespace

void default_pod_resources(Json& spec) {
  for (const char* list : {"containers[]", "initContainers[]"}) {
    for_each_at(spec, list, request_limits);
  }
  const auto resources = spec.find("resources");
  if (resources == spec.end() || !resources->is_object()) return;
  if (!is_list_of_amounts(*resources, "limits") || !is_list_of_amounts(*resources, "requests")) {
    return;
  }
  if (!says_something(*resources, "limits") && !says_something(*resources, "requests")) return;
  const Json before = spec;
  limit_huge_pages(before, *resources);
  request_for_pod(before, *resources);
}

std::string qos_class(const Json& spec) {
  Amounts requests;
  Amounts limits;
  bool guaranteed = true;
  const auto count = [&](const Json& owner) {
    add(requests, counted(owner, "requests"));
    const Amounts limited = counted(owner, "limits");
    add(limits, limited);
    return limited.size() == 2;
  };
  const Json* resources = base::find(spec, {"resources"});
  if (resources != nullptr && resources->is_object()) {
    const bool both = count(spec);
    guaranteed = both || !says_something(*resources, "limits");
  } else {
    for (const char* list : {"containers", "initContainers"}) {
      for (const Json& container : base::items_at(spec, {list})) guaranteed &= count(container);
    }
  }
  if (requests.empty() && limits.empty()) return "BestEffort";
  return guaranteed && equal(requests, limits) ? "Guaranteed" : "Burstable";
}

std::map<std::string, Quantity> pod_requests(const Json& spec) {
  Amounts out = taken_together(spec, "requests");
  for (const auto& [name, amount] : amounts_of(spec, "requests")) {
    if (is_cpu_or_memory(name) || is_huge_page(name)) out.insert_or_assign(name, amount);
  }
  add(out, amounts_in(base::find(spec, {"overhead"})));
  return out;
}

}  // namespace kubewatch::builtin
