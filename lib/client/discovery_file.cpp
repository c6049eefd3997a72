#include "client/discovery_file.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "base/ascii.hpp"
#include "base/environment.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "client/server_identity.hpp"

namespace kubewatch::client {
namespace {

constexpr const char* kKind = "kubewatch.dev/v1 Discovery";
constexpr std::size_t kMaxBytes = 16U << 20U;

std::string file_name(const ClientConfig& config) {
  std::string name;
  for (const char c : config.server.substr(
           std::min<std::size_t>(config.server.find("://") + 3, config.server.size()))) {
    const bool plain = base::is_alphanumeric(c) || c == '.' || c == '-';
    name += plain ? c : '_';
  }
  return name.substr(0, 100) + "-" + identity_of(config).mark + ".json";
}

// Whoever may write it may tell us what the server's kinds are.
bool is_private(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
         status.st_uid == ::geteuid() && (status.st_mode & 022U) == 0;
}

Json gvk_json(const core::Gvk& gvk) {
  return Json::array({gvk.group, gvk.version, gvk.kind});
}

Result<core::Gvk> read_gvk(const Json& value) {
  if (!value.is_array() || value.size() != 3) return Error(ErrorKind::invalid, "no kind");
  for (const Json& part : value) {
    if (!part.is_string()) return Error(ErrorKind::invalid, "no kind");
  }
  return core::Gvk{value[0].get<std::string>(), value[1].get<std::string>(),
                   value[2].get<std::string>()};
}

Result<core::ResourceType> read_type(const Json& value) {
  core::ResourceType out;
  const Json* gvk = base::find(value, {"kind"});
  const Json* namespaced = base::find(value, {"namespaced"});
  out.plural = base::string_at(value, {"plural"});
  if (gvk == nullptr || namespaced == nullptr || !namespaced->is_boolean() || out.plural.empty() ||
      out.plural.find('/') != std::string::npos) {
    return Error(ErrorKind::invalid, "an entry is broken");
  }
  KW_ASSIGN(out.gvk, read_gvk(*gvk));
  out.singular = base::string_at(value, {"singular"});
  out.namespaced = namespaced->get<bool>();
  out.short_names = base::strings_at(value, {"shortNames"});
  out.categories = base::strings_at(value, {"categories"});
  out.verbs = base::strings_at(value, {"verbs"});
  for (const Json& entry : base::items_at(value, {"subresources"})) {
    const Json* kind = base::find(entry, {"kind"});
    if (kind == nullptr) return Error(ErrorKind::invalid, "an entry is broken");
    KW_ASSIGN(core::Gvk of, read_gvk(*kind));
    out.subresources.push_back(
        {base::string_at(entry, {"name"}), std::move(of), base::strings_at(entry, {"verbs"})});
  }
  return out;
}

}  // namespace

std::string cache_folder(const std::string& flag) {
  if (!flag.empty()) return flag;
  if (auto folder = base::from_environment("KUBECACHEDIR"); !folder.empty()) return folder;
  const std::string home = base::from_environment("HOME");
  return home.empty() ? "" : home + "/.kube/cache";
}

std::string render_discovery(const ResourceMap& map, const std::string& server, WallTime taken_at) {
  Json types = Json::array();
  for (const auto& type : map.all()) {
    Json subresources = Json::array();
    for (const auto& subresource : type.subresources) {
      subresources.push_back({{"name", subresource.name},
                              {"kind", gvk_json(subresource.kind)},
                              {"verbs", subresource.verbs}});
    }
    types.push_back({{"kind", gvk_json(type.gvk)},
                     {"plural", type.plural},
                     {"singular", type.singular},
                     {"namespaced", type.namespaced},
                     {"shortNames", type.short_names},
                     {"categories", type.categories},
                     {"verbs", type.verbs},
                     {"subresources", std::move(subresources)}});
  }
  return base::dump_json(Json{{"file", kKind},
                              {"server", server},
                              {"takenAt", base::format_rfc3339(taken_at)},
                              {"types", std::move(types)}});
}

Result<std::shared_ptr<const ResourceMap>> parse_discovery(std::string_view text,
                                                           const std::string& server, WallTime now,
                                                           Duration max_age) {
  KW_ASSIGN(const Json document, base::parse_json(text, {kMaxBytes, 16}));
  const Json* types = base::find(document, {"types"});
  if (base::string_at(document, {"file"}) != kKind || types == nullptr || !types->is_array()) {
    return Error(ErrorKind::invalid, "it is no discovery file");
  }
  if (base::string_at(document, {"server"}) != server) {
    return Error(ErrorKind::invalid, "it is another server's");
  }
  KW_ASSIGN(const WallTime taken_at, base::parse_rfc3339(base::string_at(document, {"takenAt"})));
  // The time is written in whole seconds.
  if (now - taken_at > max_age || taken_at - now > std::chrono::seconds(1)) {
    return Error(ErrorKind::invalid, "it is too old");
  }
  // Of a server that did not say what it has.
  if (types->empty()) return Error(ErrorKind::invalid, "it names no kinds");
  auto out = std::make_shared<ResourceMap>();
  for (const Json& entry : *types) {
    KW_ASSIGN(core::ResourceType type, read_type(entry));
    out->add(std::move(type));
  }
  return std::shared_ptr<const ResourceMap>(std::move(out));
}

DiscoveryFile::DiscoveryFile(const std::string& folder, const ClientConfig& config)
    : server_(config.server),
      path_(folder.empty() ? "" : folder + "/kubewatch/" + file_name(config)) {}

std::shared_ptr<const ResourceMap> DiscoveryFile::load(WallTime now, Duration max_age) const {
  if (path_.empty() || !is_private(path_)) return nullptr;
  const auto text = base::read_regular_file(path_, kMaxBytes);
  if (!text.ok()) return nullptr;
  auto map = parse_discovery(*text, server_, now, max_age);
  if (map.ok()) return std::move(map).value();
  base::vlog(4, "discovery is asked for anew: " + path_ + ": " + map.error().render());
  return nullptr;
}

void DiscoveryFile::save(const ResourceMap& map, WallTime now) const {
  if (path_.empty() || !map.failed_groups.empty() || map.all().empty()) return;
  const auto folder = std::filesystem::path(path_).parent_path();
  std::error_code failed;
  if (std::filesystem::create_directories(folder, failed)) {
    std::filesystem::permissions(folder, std::filesystem::perms::owner_all, failed);
  }
  const auto written = base::write_file_atomic(path_, render_discovery(map, server_, now), 0600);
  if (!written.ok()) base::vlog(4, "discovery is not kept: " + written.error().render());
}

}  // namespace kubewatch::client
