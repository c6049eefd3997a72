// The part of warnings.hpp that is about volumes of Pods: plugins that are gone, and files that lie
// in each other's way.
#include <fmt/format.h>

#include <array>
#include <map>
#include <set>
#include <string_view>

#include "builtin/warnings.hpp"
#include "schema/go_words.hpp"

namespace kubewatch::builtin {

namespace {

using base::string_at;
using Warnings = std::vector<std::string>;

struct File {
  std::string path;
  std::string source;  // "" where there is one only
};

std::string shown(const File& file) {
  const std::string path = schema::go_quoted(file.path);
  return file.source.empty() ? path : fmt::format("{} ({})", path, file.source);
}

// Those of one volume. A file is in the way of another one at its path, below it or above it.
class VolumeFiles {
 public:
  // `volume`: how each sentence begins.
  VolumeFiles(std::string volume, Warnings& warnings)
      : volume_(std::move(volume)), warnings_(&warnings) {}

  void add(std::string path, const std::string& source) {
    while (path.ends_with('/')) path.pop_back();
    if (path.empty() || warnings_->size() > kMostWarnings) return;
    const File file{std::move(path), source};
    for (const std::size_t other : in_the_way_of(file.path)) {
      warnings_->push_back(fmt::format("{}: overlapping paths: {} with {}", volume_, shown(file),
                                       shown(files_[other])));
    }
    by_path_.emplace(file.path + "/", files_.size());
    files_.push_back(file);
  }

  void add_all(const Json& items, const std::string& source) {
    for (const Json& item : items) add(string_at(item, {"path"}), source);
  }

 private:
  // In their order. Thousands of files may have nothing in common.
  std::set<std::size_t> in_the_way_of(const std::string& path) const {
    std::set<std::size_t> out;
    const std::string folder = path + "/";
    for (auto it = by_path_.lower_bound(folder); it != by_path_.end(); ++it) {
      if (!it->first.starts_with(folder)) break;
      out.insert(it->second);
    }
    for (std::size_t end = path.find('/'); end != std::string::npos;
         end = path.find('/', end + 1)) {
      const auto [first, last] = by_path_.equal_range(path.substr(0, end + 1));
      for (auto it = first; it != last; ++it) out.insert(it->second);
    }
    return out;
  }

  std::string volume_;
  Warnings* warnings_;
  std::vector<File> files_;
  std::multimap<std::string, std::size_t> by_path_;  // each path ends in a slash
};

// The first of its kinds that says where its files are.
void add_projection(const Json& source, VolumeFiles& files) {
  const auto listed = [&](const char* kind) {
    const Json* items = base::find(source, {kind, "items"});
    return items != nullptr && !items->is_null();
  };
  const auto named = [&](const char* kind, const char* word) {
    return fmt::format("{} {}", word, schema::go_quoted(string_at(source, {kind, "name"})));
  };
  if (listed("configMap")) {
    files.add_all(base::items_at(source, {"configMap", "items"}), named("configMap", "ConfigMap"));
  } else if (listed("secret")) {
    files.add_all(base::items_at(source, {"secret", "items"}), named("secret", "Secret"));
  } else if (listed("downwardAPI")) {
    files.add_all(base::items_at(source, {"downwardAPI", "items"}), "DownwardAPI");
  } else {
    files.add(string_at(source, {"serviceAccountToken", "path"}), "ServiceAccountToken");
  }
}

void warn_of_projected(const std::string& name, const Json& projected, Warnings& warnings) {
  VolumeFiles files(fmt::format("volume {} (Projected)", name), warnings);
  for (const Json& source : base::items_at(projected, {"sources"})) {
    if (!source.is_object()) continue;
    if (source.empty()) {
      warnings.push_back(fmt::format("volume {} (Projected) has no sources provided", name));
    } else {
      add_projection(source, files);
    }
  }
}

void warn_of_overlaps(const Json& volume, Warnings& warnings) {
  const std::string name = schema::go_quoted(string_at(volume, {"name"}));
  const auto of_one_source = [&](const char* kind, const std::string& told) {
    VolumeFiles files(fmt::format("volume {} ({})", name, told), warnings);
    files.add_all(base::items_at(volume, {kind, "items"}), "");
  };
  const auto named = [&](const char* word, const char* kind, const char* key) {
    return fmt::format("{} {}", word, schema::go_quoted(string_at(volume, {kind, key})));
  };
  of_one_source("configMap", named("ConfigMap", "configMap", "name"));
  of_one_source("secret", named("Secret", "secret", "secretName"));
  of_one_source("downwardAPI", "DownwardAPI");
  if (const Json* projected = base::find(volume, {"projected"})) {
    warn_of_projected(name, *projected, warnings);
  }
}

struct OldPlugin {
  const char* source;
  const char* told;
  const char* advice;
};

void warn_of_plugins(const std::string& path, const Json& volume, Warnings& warnings) {
  static const std::array<OldPlugin, 9> old = {{
      {"photonPersistentDisk", "photonPersistentDisk",
       "deprecated in v1.11, non-functional in v1.16+"},
      {"gitRepo", "gitRepo", "deprecated in v1.11, and disabled by default in v1.33+"},
      {"scaleIO", "scaleIO", "deprecated in v1.16, non-functional in v1.22+"},
      {"flocker", "flocker", "deprecated in v1.22, non-functional in v1.25+"},
      {"storageos", "storageOS", "deprecated in v1.22, non-functional in v1.25+"},
      {"quobyte", "quobyte", "deprecated in v1.22, non-functional in v1.25+"},
      {"glusterfs", "glusterfs", "deprecated in v1.25, non-functional in v1.26+"},
      {"cephfs", "cephfs", "deprecated in v1.28, non-functional in v1.31+"},
      {"rbd", "rbd", "deprecated in v1.28, non-functional in v1.31+"},
  }};
  for (const OldPlugin& plugin : old) {
    const Json* source = base::find(volume, {plugin.source});
    if (source == nullptr || source->is_null()) continue;
    warnings.push_back(fmt::format("{}.{}: {}", path, plugin.told, plugin.advice));
  }
  const Json* claim = base::find(volume, {"ephemeral", "volumeClaimTemplate", "spec"});
  if (claim == nullptr) return;
  warn_of_claim_spec(path + ".ephemeral.volumeClaimTemplate.spec", *claim, warnings);
}

}  // namespace

void warn_of_volumes(const std::string& spec_path, const Json& spec, Warnings& warnings) {
  const Json& volumes = base::items_at(spec, {"volumes"});
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    if (!volumes[i].is_object()) continue;
    warn_of_plugins(fmt::format("{}.volumes[{}]", spec_path, i), volumes[i], warnings);
  }
  for (const Json& volume : volumes) {
    if (volume.is_object()) warn_of_overlaps(volume, warnings);
  }
}

}  // namespace kubewatch::builtin
