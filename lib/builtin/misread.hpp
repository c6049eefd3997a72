// Why the server cannot read an object of a built-in kind as its own Go type, in the words of Go's
// two readers. Not whether its values are allowed, and no times: validation.hpp, schema/times.hpp.
// Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json_fwd.hpp"
#include "builtin/wire_types.hpp"

namespace kubewatch::builtin {

// Of a body, and of what a merge or JSON patch makes: "json: cannot unmarshal string into Go struct
// field DeploymentSpec.spec.replicas of type int32". Its own metadata is not looked at.
std::optional<std::string> why_undecoded(const Json& object);

// The same of what is no object of a kind of its own, or names none: DeleteOptions.
std::optional<std::string> why_undecoded(const WireType& type, const Json& object);

// Takes away what the type lacks; the paths of it ("spec.x", "spec.list[0].y") are added to
// `unknown`, as many as can be told. Nor is its own metadata looked at.
void drop_unknown(const WireType& type, Json& object, std::vector<std::string>& unknown);
// By its apiVersion and kind.
void drop_unknown(Json& object, std::vector<std::string>& unknown);

// Of what a strategic merge patch or an apply makes, metadata included: "cannot restore struct
// from: string". Whole numbers are not too large here, and 2.0 is one.
std::optional<std::string> why_unconverted(const Json& object);

}  // namespace kubewatch::builtin
