// Reads the protobuf bodies that client-go's typed clients (and so `kubectl create namespace`) send
// for built-in kinds, into the JSON the rest works on. Never writes protobuf: answers are JSON.
#pragma once

#include <string_view>

#include "base/json_fwd.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

bool is_protobuf(std::string_view body);

// The whole body: magic, envelope with apiVersion and kind, message. Errors: invalid (cut off, too
// deep, a kind that the table lacks).
Result<Json> decode_protobuf(std::string_view body);

}  // namespace kubewatch::apiserver
