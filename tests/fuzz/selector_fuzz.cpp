// A selector's canonical text reads back as itself and matches the same; the object form of a
// selector is the text form of the same requirements.
#include <cstdint>
#include <cstdlib>

#include "base/json.hpp"
#include "core/selector.hpp"

using kubewatch::core::FieldSelector;
using kubewatch::core::Labels;
using kubewatch::core::LabelSelector;

namespace {

void check(const LabelSelector& selector) {
  const auto again = LabelSelector::parse(selector.str());
  if (!again.ok() || again->str() != selector.str()) std::abort();
  if (again->empty() != selector.empty()) std::abort();
  Labels own;  // labels that meet the equalities, so that matching goes deep
  for (const auto& requirement : selector.requirements()) {
    own.emplace_back(requirement.key, requirement.values.empty() ? "" : requirement.values[0]);
  }
  for (const Labels& labels : {Labels{}, Labels{{"a", "1"}}, Labels{{"a", "b"}, {"in", ""}}, own}) {
    if (again->matches(labels) != selector.matches(labels)) std::abort();
  }
}

void check(const FieldSelector& selector) {
  const auto again = FieldSelector::parse(selector.str());
  if (!again.ok() || again->str() != selector.str()) std::abort();
  static const auto kObject = kubewatch::base::parse_json(
      R"({"metadata": {"name": "web", "namespace": ""}, "spec": {"nodeName": "n", "unschedulable": true},
          "status": {"phase": "Running", "replicas": 3}, "list": [1]})");
  if (again->matches(*kObject) != selector.matches(*kObject)) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto selector = LabelSelector::parse(text); selector.ok()) check(*selector);
  if (const auto selector = FieldSelector::parse(text); selector.ok()) check(*selector);
  if (text.empty() || text.front() != '{') return 0;
  if (const auto value = kubewatch::base::parse_json(text); value.ok()) {
    if (const auto selector = LabelSelector::from_json(*value); selector.ok()) check(*selector);
  }
  return 0;
}
