#include "cli/completion_cache.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <ctime>
#include <filesystem>

#include "base/json.hpp"
#include "base/keyed_hash.hpp"
#include "base/strings.hpp"

namespace kubewatch::cli {

namespace {

constexpr std::size_t kMaxBytes = 4U << 20U;
constexpr std::time_t kFreshSeconds = 600;

Json to_json(const core::ResourceType& type) {
  return {
      {"group", type.gvk.group},   {"version", type.gvk.version},   {"kind", type.gvk.kind},
      {"plural", type.plural},     {"singular", type.singular},     {"namespaced", type.namespaced},
      {"short", type.short_names}, {"categories", type.categories}, {"verbs", type.verbs}};
}

std::vector<std::string> texts(const Json& value, const char* key) {
  std::vector<std::string> out;
  const Json* list = base::find(value, {key});
  if (list == nullptr || !list->is_array()) return out;
  for (const auto& one : *list) {
    if (one.is_string()) out.push_back(one.get<std::string>());
  }
  return out;
}

core::ResourceType from_json(const Json& value) {
  core::ResourceType out;
  out.gvk = {base::string_at(value, {"group"}), base::string_at(value, {"version"}),
             base::string_at(value, {"kind"})};
  out.plural = base::string_at(value, {"plural"});
  out.singular = base::string_at(value, {"singular"});
  const Json* namespaced = base::find(value, {"namespaced"});
  out.namespaced = namespaced == nullptr || *namespaced != false;
  out.short_names = texts(value, "short");
  out.categories = texts(value, "categories");
  out.verbs = texts(value, "verbs");
  return out;
}

}  // namespace

std::string completion_cache_file(const std::string& server) {
  const char* cache = std::getenv("KUBECACHEDIR");
  const char* home = std::getenv("HOME");
  std::string folder;
  if (cache != nullptr && *cache == '/') {
    folder = cache;
  } else if (home != nullptr && *home == '/') {
    folder = std::string(home) + "/.kube/cache";
  } else {
    return "";
  }
  return fmt::format("{}/kubewatch/kinds-{:016x}.json", folder,
                     base::siphash24(0x6b756265, 0x77617463, server));
}

std::optional<CachedKinds> read_cached_kinds(const std::string& file) {
  struct stat status {};
  if (file.empty() || ::lstat(file.c_str(), &status) != 0) return std::nullopt;
  // Ours alone: what others may write would put words of theirs on our command line.
  if (!S_ISREG(status.st_mode) || status.st_uid != ::geteuid() || (status.st_mode & 022U) != 0) {
    return std::nullopt;
  }
  const auto text = base::read_file(file, kMaxBytes);
  if (!text.ok()) return std::nullopt;
  const auto value = base::parse_json(*text);
  if (!value.ok() || !value->is_array()) return std::nullopt;
  auto map = std::make_shared<client::ResourceMap>();
  for (const auto& one : *value) {
    auto type = from_json(one);
    if (!type.plural.empty() && !type.gvk.kind.empty()) map->add(std::move(type));
  }
  const std::time_t age = std::time(nullptr) - status.st_mtime;
  return CachedKinds{std::move(map), age >= 0 && age < kFreshSeconds};
}

void write_cached_kinds(const std::string& file, const client::ResourceMap& map) {
  if (file.empty()) return;
  Json out = Json::array();
  for (const auto& type : map.all()) out.push_back(to_json(type));
  const auto folder = std::filesystem::path(file).parent_path();
  std::error_code error;
  std::filesystem::create_directories(folder.parent_path(), error);
  if (std::filesystem::create_directory(folder, error)) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, error);
  }
  (void)base::write_file_atomic(file, base::dump_json(out), 0600).ok();
}

}  // namespace kubewatch::cli
