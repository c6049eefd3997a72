// Kubeconfig files as data: reading, checking their shape, merging by kubectl's rules (the first
// file that names an entry wins it whole). What the entries mean is config.cpp. Internal to
// lib/client.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"
#include "base/result.hpp"

namespace kubewatch::client {

// One named entry of clusters, users or contexts. Its errors name file, position and name:
// `/home/me/.kube/config: users[2] "dev": client-certificate-data is not valid base64`.
class KubeconfigEntry {
 public:
  KubeconfigEntry() = default;
  KubeconfigEntry(std::string file, std::string list, std::size_t index, std::string name,
                  std::shared_ptr<const Json> body);

  // "" and false when absent or null. Errors: invalid (wrong type).
  Result<std::string> text(std::string_view key) const;
  Result<bool> flag(std::string_view key) const;
  Result<std::vector<std::string>> texts(std::string_view key) const;
  // {"scopes": ["a", "b"]} as pairs.
  Result<std::vector<std::pair<std::string, std::string>>> text_lists(std::string_view key) const;
  // KEY-data (base64), else the content of the file that KEY names, else "".
  Result<std::string> content(std::string_view key) const;
  // The file that content() reads; "" when the value stands in the kubeconfig, or there is none.
  std::string content_file(std::string_view key) const;
  bool has(std::string_view key) const;
  // The value at a key as it stands there; null when absent.
  const Json* value(std::string_view key) const { return field(key); }
  // A path of this file made absolute against the file's folder.
  std::string resolve(const std::string& path) const;
  Error error(const std::string& what) const;

  const std::string& file() const { return file_; }
  const std::string& name() const { return name_; }

 private:
  const Json* field(std::string_view key) const;

  std::string file_;
  std::string where_;
  std::string name_;
  std::shared_ptr<const Json> body_;
};

struct Kubeconfig {
  std::string current_context;
  std::vector<std::string> files;  // those that exist
  std::map<std::string, KubeconfigEntry> clusters;
  std::map<std::string, KubeconfigEntry> users;
  std::map<std::string, KubeconfigEntry> contexts;
  // Files or not: as client-go's IsConfigEmpty.
  bool empty() const {
    return current_context.empty() && clusters.empty() && users.empty() && contexts.empty();
  }
};

// Adds the documents of one file to what earlier files gave. Errors: invalid, too_large.
Result<void> merge_kubeconfig(const std::string& file, std::string_view content, Kubeconfig& into);

// Missing files are skipped unless `must_exist`. Errors name file and key: invalid, not_found,
// forbidden, too_large.
Result<Kubeconfig> load_kubeconfig(const std::vector<std::string>& files, bool must_exist);

}  // namespace kubewatch::client
