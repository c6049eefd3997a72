// A request from outside to run objects of a rule: a line of a trigger program or file, the body of
// an HTTP trigger, or what `run-controller trigger` asks for. Only what it says; who carries it out
// is the driver's business. Pure.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/resource.hpp"
#include "core/selector.hpp"

namespace kubewatch::hooks {

// A longer line is refused; a longer reason is cut.
inline constexpr std::size_t kMaxTriggerBytes = 16U << 10U;
inline constexpr std::size_t kMaxTriggerReason = 256;

// Exactly one of key, selector and all is set.
struct TriggerRequest {
  std::optional<core::ObjectKey> key;           // namespace "": a cluster-scoped object
  std::optional<core::LabelSelector> selector;  // of the objects' labels
  bool all = false;
  bool by_person = false;  // who names an object means it, paused or not, whatever the filter says
  std::string reason;      // in words, for logs and the hook; without control characters
  std::string source;      // the program, file or path that it came by, for logs
};

// {"name","namespace"?,"reason"?} | {"selector","reason"?} | {"all":true,"reason"?}; other members
// are refused. Errors: invalid, too_large.
Result<TriggerRequest> read_trigger_request(std::string_view line);

// Which objects, in words, of one that names none: two that say the same ask for the same.
std::string objects_of(const TriggerRequest& wide);

// Of a reason that came from outside: without control characters, at most kMaxTriggerReason bytes,
// cut between characters.
std::string tidy_trigger_reason(std::string_view text);

}  // namespace kubewatch::hooks
