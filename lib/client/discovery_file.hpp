// The last discovery of a server, kept in a file, so that a command need not ask again what kinds
// there are: kubectl's discovery cache in spirit, with a shorter life. The file is private, and is
// believed only when it is ours, whole, of this server and young; in doubt there is none.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"
#include "client/config.hpp"
#include "client/discovery.hpp"

namespace kubewatch::client {

// `flag` (--cache-dir), else $KUBECACHEDIR, else ~/.kube/cache; "" where there is no home.
std::string cache_folder(const std::string& flag);

// What stands in the file. Pure.
std::string render_discovery(const ResourceMap& map, const std::string& server, WallTime taken_at);
// Errors: invalid (no such file of ours, another server's, older than `max_age` or from the
// future, without a kind).
Result<std::shared_ptr<const ResourceMap>> parse_discovery(std::string_view text,
                                                           const std::string& server, WallTime now,
                                                           Duration max_age);

class DiscoveryFile {
 public:
  // `folder` "": nothing is ever kept.
  DiscoveryFile(const std::string& folder, const ClientConfig& config);

  // CRDs come and go; a kind that is missing is looked for anew before it is said to be missing.
  static constexpr Duration kMaxAge{600000};
  // Null when there is none that may be believed.
  std::shared_ptr<const ResourceMap> load(WallTime now, Duration max_age = kMaxAge) const;
  // Does nothing where groups failed, whose kinds would be missing, or there is no kind. A folder
  // that cannot be written is no error: it is a cache.
  void save(const ResourceMap& map, WallTime now) const;
  const std::string& path() const { return path_; }

 private:
  std::string server_;
  std::string path_;
};

}  // namespace kubewatch::client
