// Runs jq programs over stored objects.
#include "hooks/evaluate.hpp"

#include "base/json.hpp"
#include "hooks/secret_mask.hpp"
#include "hooks/shown_message.hpp"

namespace kubewatch::hooks {

namespace {

// Evaluation blocks the loop: a program that needs longer for one object is broken.
const jq::Limits kLimits{Duration{250}};

}  // namespace

Result<std::vector<Json>> evaluate(const jq::Program& program, const Json& input) {
  return program.run(input, kLimits);
}

Result<std::vector<Json>> evaluate_text(const jq::Program& program, const std::string& json) {
  KW_ASSIGN(const Json input, base::parse_json(json));
  return evaluate(program, input);
}

Result<bool> passes(const std::optional<jq::Program>& filter, const std::string& json) {
  if (!filter) return true;
  KW_ASSIGN(const Json input, base::parse_json(json));
  return filter->test(input, kLimits).with_context("filter");
}

std::string shown_failure(const core::Gvk& gvk, const std::string& json, const Error& error) {
  if (gvk == core::Gvk{"", "v1", "Secret"}) {
    return "the error is not shown, as it may quote the Secret";
  }
  SecretMask mask;
  mask.add_json(json);
  return shown_message(mask, error.render());
}

bool is_of_shard(const StreamRule& stream, const core::ObjectMeta& meta) {
  if (stream.shard_selector.empty()) return true;
  const auto shard = core::LabelSelector::parse(stream.shard_selector);
  return !shard.ok() || shard->matches(meta.labels);
}

}  // namespace kubewatch::hooks
