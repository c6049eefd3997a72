// Volumes of Pods: one source each, and what each source demands.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/strings.hpp"
#include "builtin/validation_pods.hpp"
#include "builtin/volume_sources.hpp"
#include "core/resource.hpp"

namespace kubewatch::builtin {

namespace {

constexpr const char* kOneType = "may not specify more than 1 volume type";

void check_mode(const Field& mode) {
  const std::int64_t value = mode.number_or(0);
  if (value >= 0 && value <= 0777) return;
  mode.invalid("must be a number between 0 and 0777 (octal), both inclusive");
}

void require(const Field& field) {
  if (field.empty()) field.required();
}

void check_key_paths(const Field& items) {
  for (const auto& item : items.items()) {
    require(item["key"]);
    require(item["path"]);
    check_local_path(item["path"]);
    check_mode(item["mode"]);
  }
}

void check_secret(const Field& source) {
  require(source["secretName"]);
  check_mode(source["defaultMode"]);
  check_key_paths(source["items"]);
}

void check_config_map(const Field& source) {
  require(source["name"]);
  check_mode(source["defaultMode"]);
  check_key_paths(source["items"]);
}

void check_git_repo(const Field& source) {
  require(source["repository"]);
  check_descending_path(source["directory"]);
}

void check_iscsi(const Field& source) {
  constexpr const char* no_form = "must be valid format starting with iqn, eui, or naa";
  require(source["targetPortal"]);
  require(source["iqn"]);
  if (!source["iqn"].empty()) check_iscsi_name(source["iqn"], no_form);
  source["lun"].in_range(0, 255);
  check_iscsi_secret(source);
  const Field initiator = source["initiatorName"].at(source.path() + ".initiatorname");
  if (initiator.present()) check_iscsi_name(initiator, no_form);
}

void check_downward(const Field& source) {
  check_mode(source["defaultMode"]);
  for (const auto& file : source["items"].items()) check_downward_file(file, source);
}

void check_csi(const Field& source) {
  check_csi_driver_name(source["driver"]);
  const Field ref = source["nodePublishSecretRef"];
  if (!ref.present()) return;
  const Field name = ref["name"];
  if (name.empty()) return name.required();
  name.at(source.path() + ".name").invalid_each(subdomain_problems(name.text()));
}

void check_ephemeral(const Field& source) {
  const Field tmpl = source["volumeClaimTemplate"];
  if (!tmpl.present()) return tmpl.required();
  check_template_metadata(tmpl["metadata"]);
  check_claim_spec(tmpl["spec"]);
}

constexpr std::int64_t kLeastTokenSeconds = 600;
constexpr std::int64_t kMostTokenSeconds = std::int64_t{1} << 32U;

void check_token(const Field& token, const Field& volume) {
  const Field seconds = token["expirationSeconds"];
  const std::int64_t value = seconds.number_or(kLeastTokenSeconds);
  if (value < kLeastTokenSeconds) {
    seconds.invalid("may not specify a duration less than 10 minutes");
  }
  if (value > kMostTokenSeconds) {
    seconds.invalid("may not specify a duration larger than 2^32 seconds");
  }
  const Field path = token["path"].at(volume.path() + ".path");
  if (path.empty()) return path.required();
  check_local_path(path);
}

// Files of all sources are in one folder.
class ProjectedPaths {
 public:
  explicit ProjectedPaths(const Field& volume) : volume_(volume) {}

  void add(const std::string& path, const std::string& shown) {
    if (path.empty() || paths_.insert(path).second) return;
    volume_.invalid_as(go_quoted(shown), "conflicting duplicate paths");
  }

 private:
  const Field& volume_;
  std::set<std::string> paths_;
};

void check_projected(const Field& volume) {
  check_mode(volume["defaultMode"]);
  ProjectedPaths paths(volume);
  for (const auto& source : volume["sources"].items()) {
    for (const char* key : {"secret", "configMap"}) {
      const Field from = source[key];
      if (!from.present()) continue;
      require(from["name"]);
      for (const auto& item : from["items"].items()) {
        paths.add(item["path"].text(), from["name"].text());
      }
      check_key_paths(from["items"]);
    }
    const Field downward = source["downwardAPI"];
    for (const auto& file : downward["items"].items()) {
      check_downward_file(file, downward);
      paths.add(file["path"].text(), file["path"].text());
    }
    const Field token = source["serviceAccountToken"];
    if (token.present()) check_token(token, volume);
    if (source.size() > 1) {
      source.forbidden("may not specify more than 1 volume type per source");
    }
  }
}

struct PodVolumeSource {
  const char* key;
  const char* told;                    // what stands in the place of its own faults
  const char* twice;                   // and in that of one too many
  void (*check)(const Field& source);  // null: check_shared_source
};

// In the order in which the server looks.
const std::vector<PodVolumeSource>& pod_volume_sources() {
  static const std::vector<PodVolumeSource> all = {
      {"hostPath", "hostPath", "hostPath", check_host_path},
      {"gitRepo", "gitRepo", "gitRepo", check_git_repo},
      {"gcePersistentDisk", "persistentDisk", "gcePersistentDisk", nullptr},
      {"awsElasticBlockStore", "awsElasticBlockStore", "awsElasticBlockStore", nullptr},
      {"secret", "secret", "secret", check_secret},
      {"nfs", "nfs", "nfs", nullptr},
      {"iscsi", "iscsi", "iscsi", check_iscsi},
      {"glusterfs", "glusterfs", "glusterfs", nullptr},
      {"flocker", "flocker", "flocker", nullptr},
      {"persistentVolumeClaim", "persistentVolumeClaim", "persistentVolumeClaim", nullptr},
      {"rbd", "rbd", "rbd", nullptr},
      {"cinder", "cinder", "cinder", nullptr},
      {"cephfs", "cephfs", "cephFS", nullptr},
      {"quobyte", "quobyte", "quobyte", nullptr},
      {"downwardAPI", "downwardAPI", "downwarAPI", check_downward},
      {"fc", "fc", "fc", nullptr},
      {"flexVolume", "flexVolume", "flexVolume", nullptr},
      {"configMap", "configMap", "configMap", check_config_map},
      {"azureFile", "azureFile", "azureFile", nullptr},
      {"vsphereVolume", "vsphereVolume", "vsphereVolume", nullptr},
      {"photonPersistentDisk", "photonPersistentDisk", "photonPersistentDisk", nullptr},
      {"portworxVolume", "portworxVolume", "portworxVolume", nullptr},
      {"azureDisk", "azureDisk", "azureDisk", nullptr},
      {"storageos", "storageos", "storageos", nullptr},
      {"projected", "projected", "projected", check_projected},
      {"scaleIO", "scaleIO", "scaleIO", nullptr},
      {"csi", "csi", "csi", check_csi},
      {"ephemeral", "ephemeral", "ephemeral", check_ephemeral},
  };
  return all;
}

void check_image(const Field& image, bool is_pod) {
  if (is_pod) require(image["reference"]);
  image["pullPolicy"].one_of_required({"Always", "IfNotPresent", "Never"});
}

void check_claim_name(const Field& volume, const std::string& pod) {
  const std::string claim = pod + "-" + volume["name"].text();
  if (pod.empty() || volume["name"].empty()) return;
  for (const auto& problem : subdomain_problems(claim)) {
    volume["name"].invalid(fmt::format("PVC name \"{}\": {}", claim, problem));
  }
}

void check_source(const Field& volume, const PodSurroundings& around) {
  const Field empty_dir = volume["emptyDir"];
  bool found = empty_dir.present();
  const auto size = empty_dir["sizeLimit"].quantity();
  if (size && size->sign() < 0) {
    empty_dir["sizeLimit"].forbidden("SizeLimit field must be a valid resource quantity");
  }
  const auto is_next = [&](const char* key, const char* twice) {
    if (!volume[key].present()) return false;
    if (found) volume[key].at(volume.path() + "." + twice).forbidden(kOneType);
    return !std::exchange(found, true);
  };
  for (const auto& source : pod_volume_sources()) {
    const std::string kind = source.key;
    if (is_next(source.key, source.twice)) {
      const Field given = volume[kind].at(volume.path() + "." + source.told);
      if (source.check != nullptr) {
        source.check(given);
      } else {
        check_shared_source(kind, given);
      }
      if (kind == "ephemeral") check_claim_name(volume, around.name);
    }
    if (kind == "iscsi" && is_long_iscsi_name(volume[kind], volume["name"].text())) {
      volume["name"].invalid_text(kLongIscsiName);
    }
  }
  if (is_next("image", "image")) check_image(volume["image"], around.is_pod);
  if (!found) volume.required("must specify a volume type");
}

}  // namespace

void check_host_path(const Field& source) {
  const Field path = source["path"];
  if (path.empty()) return path.required();
  check_no_backsteps(path);
  source["type"].one_of({"", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File",
                         "FileOrCreate", "Socket"});
}

void check_csi_driver_name(const Field& name) {
  if (name.empty()) return name.required();
  constexpr std::size_t most = 63;
  if (name.size() > most) name.too_long(most);
  name.invalid_each(subdomain_problems(base::to_lower(name.text())));
}

void check_volumes(const Field& spec, const PodSurroundings& around, ContainerSurroundings& out) {
  std::set<std::string> made;
  for (const auto& volume : spec["volumes"].items()) {
    const bool makes = !around.name.empty() && volume["ephemeral"].present();
    if (makes) made.insert(around.name + "-" + volume["name"].text());
  }
  for (const auto& volume : spec["volumes"].items()) {
    const std::size_t before = volume.errors().size();
    check_source(volume, around);
    const Field name = volume["name"];
    if (name.empty()) {
      name.required();
    } else {
      name.invalid_each(label_problems(name.text()));
    }
    if (out.volumes.count(name.text()) != 0) name.duplicate();
    if (volume.errors().size() == before) {
      out.volumes.insert(name.text());
      const bool claim = volume["persistentVolumeClaim"].present() || volume["ephemeral"].present();
      if (claim) out.claims.insert(name.text());
    }
    const Field claim = volume["persistentVolumeClaim"]["claimName"];
    if (made.count(claim.text()) != 0) {
      claim.invalid("must not reference a PVC that gets created for an ephemeral volume");
    }
  }
}

}  // namespace kubewatch::builtin
