// Volumes of Pods: one source each, and what each source demands.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "base/strings.hpp"
#include "builtin/validation_pods.hpp"
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

void check_nfs(const Field& source) {
  require(source["server"]);
  const Field path = source["path"];
  require(path);
  if (!path.text().starts_with("/")) path.invalid_text("must be an absolute path");
}

void check_git_repo(const Field& source) {
  require(source["repository"]);
  check_descending_path(source["directory"]);
}

void check_iscsi(const Field& source) {
  require(source["targetPortal"]);
  const Field iqn = source["iqn"];
  if (iqn.empty()) {
    iqn.required();
  } else if (const std::string start = iqn.text().substr(0, 3);
             start != "iqn" && start != "eui" && start != "naa") {
    iqn.invalid("must be valid format starting with iqn, eui, or naa");
  }
  source["lun"].in_range(0, 255);
  const bool authenticated =
      source["chapAuthDiscovery"].is_true() || source["chapAuthSession"].is_true();
  if (authenticated && !source["secretRef"].present()) source["secretRef"].required();
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
  check_annotations(tmpl["metadata"]["annotations"]);
  check_labels(tmpl["metadata"]["labels"]);
  for (const char* key : {"name", "generateName", "namespace", "uid", "resourceVersion",
                          "ownerReferences", "finalizers"}) {
    const Field field = tmpl["metadata"][key];
    if (!field.empty()) field.forbidden("cannot be set");
  }
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

void check_azure_disk(const Field& source) {
  require(source["diskName"]);
  const Field uri = source["diskURI"];
  require(uri);
  source["cachingMode"].one_of({"None", "ReadOnly", "ReadWrite"});
  const Field kind = source["kind"];
  kind.one_of({"Dedicated", "Managed", "Shared"});
  const bool managed = kind.is("Managed");
  if (uri.text().starts_with(managed ? "/subscriptions/" : "https://")) return;
  uri.not_supported({managed ? "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/"
                               "microsoft.compute/disks/{disk-id}"
                             : "https://{account-name}.blob.core.windows.net/{container-name}/"
                               "{disk-name}.vhd"});
}

void check_fibre_channel(const Field& source) {
  const Field names = source["targetWWNs"];
  const Field ids = source["wwids"];
  if (names.empty() == ids.empty()) {
    if (!names.empty()) {
      names.invalid("targetWWNs and wwids can not be specified simultaneously");
    } else {
      names.required("must specify either targetWWNs or wwids, but not both");
    }
  }
  if (names.empty()) return;
  if (!source["lun"].present()) {
    source["lun"].required("lun is required if targetWWNs is specified");
  }
  source["lun"].in_range(0, 255);
}

void check_quobyte(const Field& source) {
  if (source["registry"].empty()) {
    source["registry"].required("must be a host:port pair or multiple pairs separated by commas");
  }
  require(source["volume"]);
}

// Files of all sources are in one folder.
class ProjectedPaths {
 public:
  explicit ProjectedPaths(const Field& volume) : volume_(volume) {}

  void add(const std::string& path, const std::string& shown) {
    if (path.empty() || paths_.insert(path).second) return;
    volume_.invalid_as(quoted_text(shown), "conflicting duplicate paths");
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
  void (*check)(const Field& source);  // null: check_simple_source
};

// In the order in which the server looks.
const std::vector<PodVolumeSource>& pod_volume_sources() {
  static const std::vector<PodVolumeSource> all = {
      {"hostPath", "hostPath", "hostPath", check_host_path},
      {"gitRepo", "gitRepo", "gitRepo", check_git_repo},
      {"gcePersistentDisk", "persistentDisk", "gcePersistentDisk", nullptr},
      {"awsElasticBlockStore", "awsElasticBlockStore", "awsElasticBlockStore", nullptr},
      {"secret", "secret", "secret", check_secret},
      {"nfs", "nfs", "nfs", check_nfs},
      {"iscsi", "iscsi", "iscsi", check_iscsi},
      {"glusterfs", "glusterfs", "glusterfs", nullptr},
      {"flocker", "flocker", "flocker", nullptr},
      {"persistentVolumeClaim", "persistentVolumeClaim", "persistentVolumeClaim", nullptr},
      {"rbd", "rbd", "rbd", nullptr},
      {"cinder", "cinder", "cinder", nullptr},
      {"cephfs", "cephfs", "cephFS", nullptr},
      {"quobyte", "quobyte", "quobyte", check_quobyte},
      {"downwardAPI", "downwardAPI", "downwarAPI", check_downward},
      {"fc", "fc", "fc", check_fibre_channel},
      {"flexVolume", "flexVolume", "flexVolume", nullptr},
      {"configMap", "configMap", "configMap", check_config_map},
      {"azureFile", "azureFile", "azureFile", nullptr},
      {"vsphereVolume", "vsphereVolume", "vsphereVolume", nullptr},
      {"photonPersistentDisk", "photonPersistentDisk", "photonPersistentDisk", nullptr},
      {"portworxVolume", "portworxVolume", "portworxVolume", nullptr},
      {"azureDisk", "azureDisk", "azureDisk", check_azure_disk},
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
    if (!is_next(source.key, source.twice)) continue;
    const Field given = volume[source.key].at(volume.path() + "." + source.told);
    if (source.check != nullptr) {
      source.check(given);
    } else {
      check_simple_source(source.key, given);
    }
    if (std::string_view(source.key) == "ephemeral") check_claim_name(volume, around.name);
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

bool check_simple_source(const std::string& kind, const Field& source) {
  static const std::map<std::string, Values> required = {
      {"gcePersistentDisk", {"pdName"}},
      {"awsElasticBlockStore", {"volumeID"}},
      {"glusterfs", {"endpoints", "path"}},
      {"flocker", {}},
      {"persistentVolumeClaim", {"claimName"}},
      {"rbd", {"monitors", "image"}},
      {"cinder", {"volumeID"}},
      {"cephfs", {"monitors"}},
      {"flexVolume", {"driver"}},
      {"azureFile", {"secretName", "shareName"}},
      {"vsphereVolume", {"volumePath"}},
      {"photonPersistentDisk", {"pdID"}},
      {"portworxVolume", {"volumeID"}},
      {"storageos", {"volumeName"}},
      {"scaleIO", {"gateway", "system", "volumeName"}},
  };
  const auto found = required.find(kind);
  if (found == required.end()) return false;
  for (const auto& key : found->second) require(source[key]);
  return true;
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
