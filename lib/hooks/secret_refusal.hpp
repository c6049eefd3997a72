// What a server says when it refuses to write a Secret: kube-apiserver quotes the whole object
// where a patch leaves one that it cannot read, values included that no hook was given (P6). Pure.
#pragma once

#include "base/result.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

// The refusal as it may be shown, to be asked for before anything is added to it. Of a Secret what
// the server quotes is left out, and so is what admission says for itself; its own words stay. Of
// any other kind, and without an answer of a server, the error as it is. Kind and Status are kept,
// the Status whole: it is to decide by, and not to be shown.
Error without_secret_values(Error error, const core::Gvk& gvk);

}  // namespace kubewatch::hooks
