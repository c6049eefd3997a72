// Whether the server refused a write because something cannot be changed once it is there: what
// `apply.onImmutable: recreate` goes by. Status has no reason of its own for that, only words.
// Pure.
#pragma once

#include "base/result.hpp"

namespace kubewatch::hooks {

// Of a 422; other refusals are none.
bool is_immutable_refusal(const Error& error);

}  // namespace kubewatch::hooks
