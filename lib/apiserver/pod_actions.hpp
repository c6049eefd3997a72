// What is asked of one Pod by creating something that is not kept: its eviction, under the
// disruption budgets that select it, and its binding to a Node. Not the plain deletion: that is
// deleter's; nor what needs a kubelet (exec, log), which nobody answers here.
#pragma once

#include "apiserver/storage.hpp"
#include "apiserver/writer.hpp"
#include "base/json.hpp"

namespace kubewatch::apiserver {

// As what their bodies are read.
inline const core::Gvk kEviction = {"policy", "v1", "Eviction"};
inline const core::Gvk kBinding = {"", "v1", "Binding"};

// By `body` (policy/v1 Eviction): the Pod is marked as a DisruptionTarget and deleted with the
// options in it. A budget that allows it has one disruption less afterwards. Rules: API-initiated
// eviction, kubernetes.io/docs/concepts/scheduling-eviction/api-eviction.
// Errors: not_found, bad_request, forbidden, 429 with the budget as its cause, 500 where several
// budgets select the Pod.
// `budgets`: the resource PodDisruptionBudget.
Result<void> evict_pod(Storage& storage, Writer& writer, const WriteContext& context,
                       const ResourcePtr& budgets, const Json& body);

// To the Node that `body` (v1 Binding) names, whether there is one or not; the Pod is that of the
// body where the context names none.
// Errors: not_found, bad_request, conflict (it has a Node, is dying, or is held by a gate).
Result<void> bind_pod(Storage& storage, const WriteContext& asked, const Json& body);

}  // namespace kubewatch::apiserver
