// Conditions on one object that can be waited for: kubectl wait's forms, evaluated here. Pure.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "runtime/condition.hpp"

namespace kubewatch::runtime {

class WaitCondition {
 public:
  // "condition=Type[=Status]", "delete", "create", "jsonpath={.a.b}[=value]" (kubectl's relaxed
  // forms too). Errors: invalid.
  static Result<WaitCondition> parse(std::string_view text);

  // `object` null: it does not exist. A condition whose observedGeneration is behind is not met.
  // Errors: invalid (the path leads to a list or an object).
  Result<bool> met(const Json* object) const;
  // What is seen instead, one line: "Ready is False (reason Crash: back-off)".
  std::string describe(const Json* object) const;
  // The same as a condition to combine and await: an error of met() is a failure.
  Condition condition() const;
  bool waits_for_deletion() const;
  bool waits_for_creation() const;
  const std::string& text() const { return text_; }

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
  std::string text_;
};

}  // namespace kubewatch::runtime
