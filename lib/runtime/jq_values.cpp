#include "runtime/jq_values.hpp"

#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::runtime {

namespace {

Result<std::vector<Json>> outputs_of(const jq::Program& program, const std::string& json) {
  KW_ASSIGN(const Json object, base::parse_json(json));
  return program.run(object);
}

}  // namespace

Predicate predicates::jq(kubewatch::jq::Program program) {
  return text(
      [program = std::move(program)](const std::string& json) -> std::optional<std::string> {
        const auto outputs = outputs_of(program, json);
        if (!outputs.ok()) return std::nullopt;
        std::string all;
        // JSON on one line has no line break of its own, so that two outputs are never one.
        for (const Json& one : *outputs) all += base::dump_json(one) + "\n";
        return all;
      });
}

IndexKeys index_by_jq(jq::Program program) {
  return [program = std::move(program)](const std::string& json) {
    std::vector<std::string> keys;
    const auto outputs = outputs_of(program, json);
    if (!outputs.ok()) return keys;
    for (const Json& one : *outputs) {
      if (one.is_string()) {
        keys.push_back(one.get<std::string>());
      } else if (one.is_primitive() && !one.is_null()) {
        keys.push_back(base::dump_json(one));
      }
    }
    return keys;
  };
}

}  // namespace kubewatch::runtime
