// The kinds of a server as completion last saw them, in a private file under kubectl's cache
// folder: a shell must not wait for discovery at each TAB. What stands in it is not trusted.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "client/discovery.hpp"

namespace kubewatch::cli {

// $KUBECACHEDIR, else ~/.kube/cache, then kubewatch/; "" without a home.
std::string completion_cache_file(const std::string& server);

struct CachedKinds {
  std::shared_ptr<const client::ResourceMap> map;
  bool fresh = false;  // younger than ten minutes
};
// Absent when there is none, or it is not ours, too large or broken.
std::optional<CachedKinds> read_cached_kinds(const std::string& file);
// Best effort: a cache that cannot be written is none.
void write_cached_kinds(const std::string& file, const client::ResourceMap& map);

}  // namespace kubewatch::cli
