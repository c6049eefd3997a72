// Filtering.
#include "compat/object_filter.hpp"

#include "base/json.hpp"
#include "hooks/evaluate.hpp"

namespace kubewatch::compat {

ObjectFilter::ObjectFilter(std::optional<jq::Program> program,
                           std::function<void(const std::string&)> problem)
    : program_(std::move(program)), problem_(std::move(problem)) {}

// One output is the result, several are a list of them, none is null.
ObjectFilter::Outcome ObjectFilter::run(const core::ObjectKey& key, const std::string& json) const {
  auto outputs = [&]() -> Result<std::vector<Json>> {
    KW_ASSIGN(const Json object, base::parse_json(json));
    return program_->run(object);
  }();
  if (!outputs.ok()) {
    problem_("jqFilter fails on " + key.str() + ": " +
             hooks::shown_failure(gvk_, json, outputs.error()));
    return {"null", true};
  }
  if (outputs->empty()) return {"null", false};
  if (outputs->size() == 1) return {base::dump_json(outputs->front()), false};
  return {base::dump_json(Json(*outputs)), false};
}

bool ObjectFilter::take(const core::ObjectKey& key, const std::string& json) {
  if (!program_) return true;
  Outcome now = run(key, json);
  const auto it = results_.find(key);
  const bool same =
      it != results_.end() && !now.failed && !it->second.failed && it->second.text == now.text;
  if (!same) results_[key] = std::move(now);
  return !same;
}

std::optional<std::string> ObjectFilter::result(const core::ObjectKey& key) const {
  if (!program_) return std::nullopt;
  const auto it = results_.find(key);
  return it == results_.end() ? "null" : it->second.text;
}

}  // namespace kubewatch::compat
