#include "builtin/volume_sources.hpp"

#include <map>

#include "base/regex.hpp"
#include "base/strings.hpp"

namespace kubewatch::builtin {

namespace {

// 0 is no partition, whatever the words say.
void check_partition(const Field& source) {
  const Field partition = source["partition"];
  const std::int64_t value = partition.number_or(0);
  if (value < 0 || value > 255) partition.invalid(range_sentence(1, 255));
}

void check_absolute(const Field& source) {
  const Field path = source["path"];
  if (!path.text().starts_with("/")) path.invalid_text("must be an absolute path");
}

void check_flocker(const Field& source) {
  const Field name = source["datasetName"];
  const bool by_id = !source["datasetUUID"].empty();
  if (name.empty() && !by_id) source.required("one of datasetName and datasetUUID is required");
  if (!name.empty() && by_id) {
    source.invalid_as("\"resource\"",
                      "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (name.text().find('/') != std::string::npos) name.invalid("must not contain '/'");
}

void check_named_secret(const Field& source) {
  const Field ref = source["secretRef"];
  if (ref.present() && ref["name"].empty()) ref["name"].required();
}

// As Go splits one: "a:1", "[::1]:1"; either side may be empty.
bool is_host_port(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return false;
  std::size_t after = 0;  // the brackets
  if (text.front() == '[') {
    const std::size_t end = text.find(']');
    if (end == std::string::npos || end + 1 != colon) return false;
    after = end + 1;
  } else if (text.find(':') != colon) {
    return false;
  }
  return text.find('[', after == 0 ? 0 : 1) == std::string::npos &&
         text.find(']', after) == std::string::npos;
}

void check_quobyte(const Field& source) {
  constexpr const char* pairs = "must be a host:port pair or multiple pairs separated by commas";
  constexpr std::size_t most = 64;
  const Field registry = source["registry"];
  const Field tenant = source["tenant"];
  if (registry.empty()) {
    registry.required(pairs);
  } else if (tenant.size() > most) {
    tenant.required("must be a UUID and may not exceed a length of 64 characters");
  } else {
    for (const auto& pair : base::split(registry.text(), ',')) {
      if (!is_host_port(pair)) registry.invalid(pairs);
    }
  }
  if (source["volume"].empty()) source["volume"].required();
}

void check_fibre_channel(const Field& source) {
  const Field names = source["targetWWNs"];
  const Field ids = source["wwids"];
  if (names.empty() && ids.empty()) {
    names.required("must specify either targetWWNs or wwids, but not both");
  }
  if (names.empty()) return;
  if (!ids.empty()) names.invalid("targetWWNs and wwids can not be specified simultaneously");
  const Field lun = source["lun"];
  if (!lun.present()) lun.required("lun is required if targetWWNs is specified");
  lun.in_range(0, 255);
}

void check_flex_options(const Field& source) {
  for (const auto& [key, option] : source["options"].entries()) {
    const std::string space = "." + base::to_lower(key.substr(0, key.find('/')));
    if (!space.ends_with(".kubernetes.io") && !space.ends_with(".k8s.io")) continue;
    option.invalid_as(go_quoted(key), "kubernetes.io and k8s.io namespaces are reserved");
  }
}

void check_azure_disk(const Field& source) {
  const Field uri = source["diskURI"];
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

void check_storage_os(const Field& source) {
  for (const char* key : {"volumeName", "volumeNamespace"}) {
    const Field name = source[key];
    if (!name.empty()) name.invalid_each(label_problems(name.text()));
  }
  check_named_secret(source);
}

struct SharedSource {
  Values required = {};
  void (*more)(const Field& source) = nullptr;
};

const std::map<std::string, SharedSource>& shared_sources() {
  static const std::map<std::string, SharedSource> all = {
      {"gcePersistentDisk", {{"pdName"}, check_partition}},
      {"awsElasticBlockStore", {{"volumeID"}, check_partition}},
      {"nfs", {{"server", "path"}, check_absolute}},
      {"glusterfs", {{"endpoints", "path"}, nullptr}},
      {"flocker", {{}, check_flocker}},
      {"persistentVolumeClaim", {{"claimName"}, nullptr}},
      {"rbd", {{"monitors", "image"}, nullptr}},
      {"cinder", {{"volumeID"}, check_named_secret}},
      {"cephfs", {{"monitors"}, nullptr}},
      {"quobyte", {{}, check_quobyte}},
      {"fc", {{}, check_fibre_channel}},
      {"flexVolume", {{"driver"}, check_flex_options}},
      {"azureFile", {{"secretName", "shareName"}, nullptr}},
      {"vsphereVolume", {{"volumePath"}, nullptr}},
      {"photonPersistentDisk", {{"pdID"}, nullptr}},
      {"portworxVolume", {{"volumeID"}, nullptr}},
      {"azureDisk", {{"diskName", "diskURI"}, check_azure_disk}},
      {"storageos", {{"volumeName"}, check_storage_os}},
      {"scaleIO", {{"gateway", "system", "volumeName"}, nullptr}},
  };
  return all;
}

bool has_shape(const std::string& text, const char* pattern) {
  const auto shape = base::Regex::compile(pattern);
  return shape.ok() && shape->search(text);
}

}  // namespace

bool is_long_iscsi_name(const Field& source, const std::string& volume) {
  return source["initiatorName"].present() &&
         volume.size() + 1 + source["targetPortal"].size() > kMostIscsiName;
}

void check_iscsi_name(const Field& name, const char* no_form) {
  const std::string text = name.text();
  const std::string start = text.substr(0, 3);
  // The first pattern is open at its beginning in the server as well.
  const char* pattern = start == "iqn"   ? R"(iqn\.\d{4}-\d{2}\.([[:alnum:].-]+)(:[^,;*&$|\s]+)$)"
                        : start == "eui" ? R"(^eui.[[:alnum:]]{16}$)"
                        : start == "naa" ? R"(^naa.[[:alnum:]]{32}$)"
                                         : nullptr;
  if (pattern == nullptr) return name.invalid_text(no_form);
  if (!has_shape(text, pattern)) name.invalid("must be valid format");
}

void check_iscsi_secret(const Field& source) {
  const bool authenticated =
      source["chapAuthDiscovery"].is_true() || source["chapAuthSession"].is_true();
  if (authenticated && !source["secretRef"].present()) source["secretRef"].required();
}

void check_shared_source(const std::string& kind, const Field& source) {
  const auto found = shared_sources().find(kind);
  if (found == shared_sources().end()) return;
  for (const auto& key : found->second.required) {
    if (source[key].empty()) source[key].required();
  }
  if (found->second.more != nullptr) found->second.more(source);
}

}  // namespace kubewatch::builtin
