// What a server refuses of a manifest whatever its schema says: names, labels, annotations, the
// data of ConfigMaps and Secrets. Pure.
#pragma once

#include "base/json_fwd.hpp"
#include "base/result.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

// to_ask: the name is none that most kinds may have, and only the server knows this kind's rule.
enum class FieldsVerdict { fits, to_ask };

// Errors: invalid, naming the field; no value is shown. Precondition: it has a metadata.name.
Result<FieldsVerdict> check_fields(const core::Gvk& gvk, const Json& manifest);
// Labels and annotations alone, of a manifest's metadata or of what a patch makes of it.
Result<void> check_text_maps(const Json& metadata);

}  // namespace kubewatch::hooks
