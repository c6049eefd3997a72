// Why the server cannot read an object of a built-in kind as its own Go type, in the words of Go's
// two readers. Not whether its values are allowed, and no times: validation.hpp, schema/times.hpp.
// Pure.
#pragma once

#include <optional>
#include <string>

#include "base/json_fwd.hpp"

namespace kubewatch::builtin {

// Of a body, and of what a merge or JSON patch makes: "json: cannot unmarshal string into Go struct
// field DeploymentSpec.spec.replicas of type int32". Its own metadata is not looked at.
std::optional<std::string> why_undecoded(const Json& object);

// Of what a strategic merge patch or an apply makes, metadata included: "cannot restore struct
// from: string". Whole numbers are not too large here, and 2.0 is one.
std::optional<std::string> why_unconverted(const Json& object);

}  // namespace kubewatch::builtin
