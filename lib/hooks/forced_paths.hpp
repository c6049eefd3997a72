// Which conflicts of field managers a rule takes over (apply.force with paths). Pure.
#pragma once

#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "core/status.hpp"

namespace kubewatch::hooks {

// The keys from the object down: {"spec", "template", "a/b"}.
using ForcedPath = std::vector<std::string>;

// What it returns was a 409 of field managers.
bool is_field_conflict(const Error& error);
// Those of its causes that are not at or below these paths. The server tells a conflict's place as
// one text in which keys with dots look like steps (".data.b.c"), so it is looked up in what was
// `applied`, and what may be another place is not within.
std::vector<core::StatusCause> conflicts_outside(const Error& error, const Json& applied,
                                                 const std::vector<ForcedPath>& paths);
// It is a conflict, and none of it is outside.
bool conflicts_are_within(const Error& error, const Json& applied,
                          const std::vector<ForcedPath>& paths);

}  // namespace kubewatch::hooks
