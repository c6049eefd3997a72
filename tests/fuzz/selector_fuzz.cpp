// A selector's canonical text reads back as itself and matches the same.
#include <cstdint>
#include <cstdlib>

#include "core/selector.hpp"

using kubewatch::core::FieldSelector;
using kubewatch::core::Labels;
using kubewatch::core::LabelSelector;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  if (const auto selector = LabelSelector::parse(text); selector.ok()) {
    const auto again = LabelSelector::parse(selector->str());
    if (!again.ok() || again->str() != selector->str()) std::abort();
    for (const Labels& labels : {Labels{}, Labels{{"a", "1"}}, Labels{{"a", "b"}, {"in", ""}}}) {
      if (again->matches(labels) != selector->matches(labels)) std::abort();
    }
  }
  if (const auto selector = FieldSelector::parse(text); selector.ok()) {
    const auto again = FieldSelector::parse(selector->str());
    if (!again.ok() || again->str() != selector->str()) std::abort();
  }
  return 0;
}
