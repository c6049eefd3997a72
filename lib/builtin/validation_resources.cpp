// Requests and limits of containers and Pods.
#include <fmt/format.h>

#include "base/strings.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

void check_huge_page_amount(const std::string& name, const Field& amount) {
  const auto quantity = amount.quantity();
  const auto page = base::Quantity::parse(name.substr(std::string_view("hugepages-").size()));
  const auto whole = quantity ? quantity->as_int64() : std::nullopt;
  const auto size = page ? page->as_int64() : std::nullopt;
  if (!quantity || (whole && size && *size > 0 && *whole % *size == 0)) return;
  const std::string text = quantity_text(*quantity);
  amount.invalid_as(go_quoted(text),
                    fmt::format("{} is not positive integer multiple of {}", text, name));
}

void check_against_limit(const std::string& name, const Field& amount, const Field& requests,
                         const Field& limits) {
  const Field limit = limits[name];
  if (!limit.present()) {
    if (!may_overcommit(name))
      limits.required("Limit must be set for non overcommitable resources");
    return;
  }
  const auto wanted = amount.quantity();
  const auto most = limit.quantity();
  if (!wanted || !most) return;
  const int order = wanted->compare(*most);
  const bool equal = !may_overcommit(name);
  if (order == 0 || (order < 0 && !equal)) return;
  requests.invalid_as(
      go_quoted(quantity_text(*wanted)),
      fmt::format("must be {} to {} limit of {}", equal ? "equal" : "less than or equal", name,
                  quantity_text(*most)));
}

void check_claims(const Field& claims, const std::set<std::string>& known) {
  std::set<std::string> seen;
  for (const auto& claim : claims.items()) {
    const std::string name = claim["name"].text();
    if (name.empty()) {
      claim.required();
      continue;
    }
    const std::string request = claim["request"].text();
    if (!request.empty()) claim["request"].invalid_each(label_problems(request));
    const std::string key = request.empty() ? name : name + "/" + request;
    if (seen.count(name) != 0 || !seen.insert(key).second) {
      claim.errors().push_back(field_duplicate(claim.path(), go_quoted(key)));
    }
    if (known.count(name) != 0) continue;
    const Values names(known.begin(), known.end());
    claim["name"]
        .at(claim.path())
        .not_found("must be one of the names in pod.spec.resourceClaims" +
                   (names.empty() ? " which is empty" : ": " + base::join(names, ", ")));
  }
}

}  // namespace

void check_pod_resource_name(const Field& place, const std::string& resource) {
  const std::size_t told = place.errors().size();
  check_resource_name(place, resource);
  if (place.errors().size() != told) return;
  if (resource == "cpu" || resource == "memory" || is_huge_page(resource)) return;
  place.errors().push_back(
      field_not_supported(place.path(), json_text(resource), {"cpu", "hugepages-", "memory"}));
}

void check_resources(const Field& resources, const std::set<std::string>& claims,
                     ResourceNameRule* check_name) {
  bool compute = false;
  bool huge = false;
  const Field limits = resources["limits"];
  const Field requests = resources["requests"];
  for (const Field* list : {&limits, &requests}) {
    for (const auto& [name, amount] : list->entries()) {
      check_name(amount, name);
      check_resource_amount(name, amount);
      if (list == &requests) check_against_limit(name, amount, requests, limits);
      if (is_huge_page(name)) check_huge_page_amount(name, amount);
      huge = huge || is_huge_page(name);
      compute = compute || name == "cpu" || name == "memory";
    }
  }
  if (huge && !compute) resources.forbidden("HugePages require cpu or memory");
  check_claims(resources["claims"], claims);
}

}  // namespace kubewatch::builtin
