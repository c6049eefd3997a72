// Which fields a JSONPath reads, told without a value. What it finds in one is json_path.cpp.
#include "core/json_path.hpp"
#include "core/json_path_steps.hpp"

namespace kubewatch::core {

namespace {

class PathReading {
 public:
  PathReading(const PathRead& root, std::vector<PathRead>& out) : root_(root), out_(out) {}

  std::optional<PathRead> follow(const PathSteps& steps, PathRead at) {
    for (const PathStep& step : steps) {
      if (const auto* field = std::get_if<PathField>(&step.what)) {
        if (field->parts.empty()) at.emplace_back(field->name);
        at.insert(at.end(), field->parts.begin(), field->parts.end());
      } else if (const auto* all = std::get_if<PathUnion>(&step.what)) {
        for (const JsonPath& part : all->parts) follow(part.steps(), at);
        return std::nullopt;
      } else if (std::holds_alternative<PathRecursive>(step.what)) {
        out_.push_back(std::move(at));
        return std::nullopt;
      } else {
        at.emplace_back();
        if (const auto* filter = std::get_if<PathFilter>(&step.what)) {
          condition(filter->condition, at);
        }
      }
    }
    out_.push_back(at);
    return at;
  }

 private:
  // `item`: what is filtered.
  void condition(const PathCondition& what, const PathRead& item) {
    for (const PathCondition& part : what.parts) condition(part, item);
    if (!what.parts.empty()) return;
    operand(what.left, item);
    if (what.op != PathCondition::Op::exists) operand(what.right, item);
  }
  void operand(const PathOperand& what, const PathRead& item) {
    if (what.from == PathOperand::From::literal) return;
    follow(what.path.steps(), what.from == PathOperand::From::root ? root_ : item);
  }

  const PathRead& root_;
  std::vector<PathRead>& out_;
};

}  // namespace

std::optional<PathRead> add_reads(const PathSteps& steps, const PathRead& from,
                                  std::vector<PathRead>& into) {
  return PathReading(from, into).follow(steps, from);
}

std::vector<PathRead> JsonPath::reads() const {
  std::vector<PathRead> out;
  add_reads(steps(), {}, out);
  return out;
}

}  // namespace kubewatch::core
