// Small types of the server's own that requests carry (DeleteOptions, Scale), read as its decoder
// reads them: a value of another type is refused in its words, members that a type lacks are told.
// Pure. Not the kinds that are stored: typing.hpp.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::apiserver {

enum class GoKind { text, boolean, int32, int64, text_list, structure };

struct GoStruct;
struct GoField {
  const char* name;
  GoKind kind;
  const char* type;  // as Go names it: "v1.DeletionPropagation"
  const GoStruct* below = nullptr;
};
struct GoStruct {
  const char* name;  // without its package
  std::vector<GoField> fields;
};

// "json: cannot unmarshal string into Go struct field ScaleSpec.spec.replicas of type int32" of the
// first value that does not fit. `value` is an object; null fits everywhere.
std::optional<std::string> why_misread(const GoStruct& type, const Json& value);

// Takes away what the type lacks; the paths of it are added to `unknown`.
void drop_unknown(const GoStruct& type, Json& value, std::vector<std::string>& unknown);

}  // namespace kubewatch::apiserver
