// Which objects a list holds and at which resourceVersion: paging, consistency, selectors. Pure.
#pragma once

#include <string>
#include <vector>

#include "apiserver/encode.hpp"
#include "apiserver/list_options.hpp"
#include "apiserver/storage.hpp"

namespace kubewatch::apiserver {

struct ListResult {
  std::vector<ObjectPtr> items;
  ListMeta meta;
};

// `prefix` of keys: "shop/" or "". Errors: expired (with a token to go on inconsistently),
// version_too_large, bad_request (a token that is none).
Result<ListResult> list_objects(const Storage& storage, const Resource& resource,
                                const std::string& prefix, const ListOptions& options);

}  // namespace kubewatch::apiserver
