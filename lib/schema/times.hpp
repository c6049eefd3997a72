// metav1.Time and metav1.MicroTime of built-in kinds, read as the server's own types read them.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "schema/merge_schema.hpp"

namespace kubewatch::schema {

bool is_time(const MergeNode& node);

// The time as the server writes it: in UTC, of whole seconds, or of microseconds where it is a
// MicroTime, and null where it is the zero of Go. Errors: invalid, in the words of time.Parse.
Result<Json> written_time(MergeNode::Scalar kind, std::string_view text);

// Who reads the object: bodies and patched JSON are decoded, what is applied and strategic patches
// are converted, which knows of no fields.
enum class TimeReader { decoder, converter };

// Why the first time in an object cannot be read, in the words of the server, which reads no
// further then; absent when all can.
std::optional<std::string> why_no_times(const MergeNode& node, const Json& object,
                                        TimeReader reader);

}  // namespace kubewatch::schema
