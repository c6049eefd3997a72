// Conditions on one object that can be waited for: kubectl wait's forms and ready, rollout and
// jq=..., evaluated here. Pure (a jq program that we do not evaluate ourselves runs in its helper).
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "runtime/condition.hpp"
#include "runtime/kstatus.hpp"

namespace kubewatch::runtime {

// What one condition says of one object.
struct Judgement {
  enum class State {
    met,
    not_met,
    failed,  // waiting longer is pointless: the object itself says that it failed
    // The condition cannot be asked of this object: a path to a list, or whose filter compares a
    // number with a text; a jq error.
    invalid,
  };
  State state = State::not_met;
  std::string current;  // what is seen, one line
  std::string wanted;   // what would meet it
  std::string rule;     // what judged it: "status.conditions", "Deployment: readyReplicas"
  // Time alone changes the answer then.
  std::optional<WallTime> changes_at;
};

class WaitCondition {
 public:
  // "condition=Type[=Status]", "delete", "create", "ready", "rollout", "jsonpath={.a.b}[=value]"
  // (kubectl's relaxed forms too), "jq=PROGRAM" (met when its first output is true). Errors:
  // invalid.
  static Result<WaitCondition> parse(std::string_view text);

  // `object` null: it does not exist.
  Judgement judge(const Json* object, WallTime now, const KStatusOptions& kstatus = {}) const;

  // The same without time, for conditions that do not depend on it. condition= and jsonpath= are
  // not met by what a status says of an older generation; a jsonpath is, of an object that is being
  // deleted. Errors: invalid (the path leads to a list or an object, or its filter compares two
  // types).
  Result<bool> met(const Json* object) const;
  // What is seen instead, one line: "Ready is False (reason Crash: back-off)".
  std::string describe(const Json* object) const;
  // The same as a condition to combine and await: an error of met() is a failure.
  Condition condition() const;
  bool waits_for_deletion() const;
  bool waits_for_creation() const;
  const std::string& text() const { return text_; }
  // Of jsonpath=: the path alone, as it is given; "" of others.
  std::string path() const;

 private:
  struct Impl;
  std::shared_ptr<const Impl> impl_;
  std::string text_;
};

}  // namespace kubewatch::runtime
