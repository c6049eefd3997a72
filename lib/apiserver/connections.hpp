// What becomes of requests that a cluster passes on to a kubelet, a Pod or what is behind a
// Service: logs, exec, attach, portforward, proxy. There is nobody to pass them on to, and they are
// refused as a kube-apiserver refuses them where it cannot; nothing is ever connected. No I/O.
#pragma once

#include <string>

#include "apiserver/request.hpp"
#include "apiserver/resource.hpp"
#include "apiserver/storage.hpp"

namespace kubewatch::apiserver {

// Of a resource that has it.
bool is_connection(const std::string& subresource);

// The answer about a Pod that no node has yet: no logs. Errors: of everything else, as the server
// words them, and unavailable (503) where it would have passed the request on.
Result<ApiResponse> answer_connection(const Storage& storage, const Resource& resource,
                                      const ResourcePath& path, const Query& query,
                                      const std::string& method);

}  // namespace kubewatch::apiserver
