#include "cli/served_config.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "base/ascii.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/yaml.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMaxKubeconfig = 1U << 20U;

// Nothing in it but one cluster, one user and one context, all of that name: what write() writes.
bool is_all_of(const std::string& content, const std::string& name) {
  const auto documents = base::parse_yaml_values(content);
  if (!documents.ok() || documents->size() != 1) return false;
  const Json& config = documents->front();
  for (const char* key : {"clusters", "users", "contexts"}) {
    const Json* list = base::find(config, {key});
    if (list == nullptr || !list->is_array() || list->size() != 1) return false;
    const Json* named = base::find(list->front(), {"name"});
    if (named == nullptr || *named != name) return false;
  }
  return true;
}

}  // namespace

ServedConfig::~ServedConfig() {
  std::error_code ignored;
  const auto left =
      path_.empty() ? Result<std::string>(std::string()) : base::read_file(path_, kMaxKubeconfig);
  if (!path_.empty() && left.ok() && *left == content_) std::filesystem::remove(path_, ignored);
  if (!own_folder_.empty()) std::filesystem::remove(own_folder_, ignored);
}

Result<std::string> ServedConfig::write(const client::ClientConfig& config, std::string path) {
  if (path.empty()) {
    const char* tmp = ::getenv("TMPDIR");
    const std::string root = tmp != nullptr ? tmp : "/tmp";
    own_folder_ = fmt::format("{}/{}-XXXXXX", root, context_);
    if (::mkdtemp(own_folder_.data()) == nullptr) {
      own_folder_.clear();
      return Error(ErrorKind::unavailable, "cannot make a folder for the kubeconfig in " + root);
    }
    path = own_folder_ + "/kubeconfig";
  }
  // Everywhere else --kubeconfig names a file that is read: never write over somebody's own.
  const auto present = base::read_file(path, kMaxKubeconfig);
  const bool ours = present.ok() && is_all_of(*present, context_);
  std::error_code unknown;
  const bool there = std::filesystem::exists(path, unknown);
  if (unknown) return Error(ErrorKind::invalid, fmt::format("{}: {}", path, unknown.message()));
  if (!ours && there) {
    return Error(ErrorKind::invalid, fmt::format("{} exists and was not written by {}; name "
                                                 "another file",
                                                 path, what_));
  }
  content_ = client::render_kubeconfig(config, context_);
  KW_TRY(base::write_file_atomic(path, content_, 0600));
  std::error_code error;
  const auto absolute = std::filesystem::absolute(path, error);
  path_ = error ? path : absolute.string();
  return path_;
}

std::string export_line(const std::string& path) {
  const bool plain = std::all_of(path.begin(), path.end(), [](char c) {
    return base::is_alphanumeric(c) || c == '_' || c == '.' || c == '/' || c == '-';
  });
  if (plain) return "export KUBECONFIG=" + path;
  std::string quoted;
  for (const char c : path) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return "export KUBECONFIG='" + quoted + "'";
}

}  // namespace kubewatch::cli
