// Label and field selectors: kubectl's text form, the object form of manifests, and matching. No
// I/O.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"

namespace kubewatch::core {

// `greater` and `less` compare integers and exist in text only.
enum class SelectorOperator { in, not_in, exists, not_exists, greater, less };

struct LabelRequirement {
  std::string key;
  SelectorOperator op = SelectorOperator::exists;
  std::vector<std::string> values;
};

using Labels = std::vector<std::pair<std::string, std::string>>;

class LabelSelector {
 public:
  // "a=b,c!=d,e in (x,y),f notin (z),g,!h"; "" matches everything. Errors: invalid, in words of
  // what and where.
  static Result<LabelSelector> parse(std::string_view text);
  // {matchLabels, matchExpressions}; null and {} match everything. Errors: invalid.
  static Result<LabelSelector> from_json(const Json& value);
  bool matches(const Labels& labels) const;
  bool empty() const { return requirements_.empty(); }
  // Canonical text, keys sorted: what goes over the wire.
  std::string str() const;
  const std::vector<LabelRequirement>& requirements() const { return requirements_; }

 private:
  std::vector<LabelRequirement> requirements_;
};

struct FieldRequirement {
  std::string path;  // "metadata.name"
  bool equal = true;
  std::string value;
};

class FieldSelector {
 public:
  // "a.b=c,d!=e", with \ escapes. Errors: invalid.
  static Result<FieldSelector> parse(std::string_view text);
  // Against the object's value at the dotted path ("" when absent).
  bool matches(const Json& object) const;
  bool empty() const { return requirements_.empty(); }
  std::string str() const;
  // The same of objects that have their fields elsewhere or show them otherwise: `change` says
  // where and how, of each requirement.
  FieldSelector with_each(const std::function<void(FieldRequirement&)>& change) const;
  const std::vector<FieldRequirement>& requirements() const { return requirements_; }

 private:
  std::vector<FieldRequirement> requirements_;
};

// A field selector that chooses one object, whatever is in its name, besides what `fields` choose;
// `name` "" changes nothing.
std::string with_name(const std::string& fields, const std::string& name);

}  // namespace kubewatch::core
