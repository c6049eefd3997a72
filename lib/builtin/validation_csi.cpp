// Drivers of volumes, what they tell of nodes and space, and volumes that are attached by them.
#include <fmt/format.h>

#include <map>
#include <vector>

#include "builtin/go_values.hpp"
#include "builtin/validation_kinds.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

constexpr std::int64_t kLongestToken = std::int64_t{1} << 32U;  // seconds

}  // namespace

void check_csi_driver(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  spec["fsGroupPolicy"].one_of({"File", "None", "ReadWriteOnceWithFSType"});
  std::set<std::string> audiences;
  for (const auto& request : spec["tokenRequests"].items()) {
    const Field audience = request["audience"];
    if (!audiences.insert(audience.text()).second) {
      audience.duplicate();
      continue;
    }
    const Field seconds = request["expirationSeconds"];
    if (seconds.number_or(600) < 600) {
      seconds.invalid("may not specify a duration less than 10 minutes");
    }
    if (seconds.number_or(0) > kLongestToken) {
      seconds.invalid("may not specify a duration larger than 2^32 seconds");
    }
  }
  const Field modes = spec["volumeLifecycleModes"];
  for (const auto& mode : modes.items()) {
    mode.at(modes.path()).one_of({"Persistent", "Ephemeral"});
  }
  const Field period = spec["nodeAllocatableUpdatePeriodSeconds"];
  if (period.number_or(10) < 10) period.invalid("must be greater than or equal to 10 seconds");
  const Field in_secrets = spec["serviceAccountTokenInSecrets"];
  if (in_secrets.present() && spec["tokenRequests"].empty()) {
    in_secrets.invalid("serviceAccountTokenInSecrets is set but no tokenRequests are specified");
  }
  if (live == nullptr) return;
  const Field before = Field(*live, object.errors())["spec"];
  spec["attachRequired"].at("spec.attachedRequired").immutable(before["attachRequired"]);
  modes.immutable(before["volumeLifecycleModes"]);
}

namespace {

constexpr std::size_t kMostNodeId = 256;

void check_topology_keys(const Field& keys, const Field& driver) {
  std::set<std::string> seen;
  for (const auto& key : keys.items()) {
    const Field told = key.at(driver.path());
    if (key.empty()) told.required();
    if (!seen.insert(key.text()).second) told.duplicate();
    told.invalid_each(qualified_problems(key.text()));
  }
}

void check_node_driver(const Field& driver, std::set<std::string>& names) {
  const Field name = driver["name"];
  const Field node = driver["nodeID"];
  check_csi_driver_name(name);
  if (node.empty()) node.required();
  if (node.size() > kMostNodeId) {
    node.invalid(fmt::format("must be {} characters or less", kMostNodeId));
  }
  driver["allocatable"]["count"].not_negative();
  if (!names.insert(name.text()).second) name.duplicate();
  check_topology_keys(driver["topologyKeys"], driver);
}

// What a driver has said of a node stays, but for how many volumes fit.
void check_kept_driver(const Field& now, const Field& before, const Field& drivers) {
  if (!now.is_map() || !before.is_map()) return;
  const auto without_count = [](const Field& driver) {
    Json out = *driver.json();
    out.erase("allocatable");
    return out;
  };
  const Json kept = without_count(before);
  const Json given = without_count(now);
  if (same_value(&kept, &given)) return;
  const Field keys = now["topologyKeys"];
  drivers.invalid_as(
      fmt::format("{{\"Name\":{},\"NodeID\":{},\"TopologyKeys\":{},\"Allocatable\":null}}",
                  json_text(now["name"].text()), json_text(now["nodeID"].text()), keys.shown()),
      "field is immutable");
}

}  // namespace

void check_csi_node(const Field& object, const Json* live) {
  const Field drivers = object["spec"]["drivers"];
  std::set<std::string> names;
  for (const auto& driver : drivers.items()) check_node_driver(driver, names);
  if (live == nullptr) return;
  std::map<std::string, std::vector<Field>> by_name;
  for (const auto& driver : drivers.items()) by_name[driver["name"].text()].push_back(driver);
  for (const auto& old : Field(*live, object.errors())["spec"]["drivers"].items()) {
    const auto found = by_name.find(old["name"].text());
    if (found == by_name.end()) continue;
    for (const auto& driver : found->second) check_kept_driver(driver, old, drivers);
  }
}

void check_storage_capacity(const Field& object, const Json* live) {
  const Field topology = object["nodeTopology"];
  const Field name = object["storageClassName"];
  check_label_selector(topology);
  name.invalid_each(subdomain_problems(name.text()));
  check_not_negative_quantity(object["capacity"]);
  if (live == nullptr) return;
  const Field before(*live, object.errors());
  if (!same_optional(topology, before["nodeTopology"])) {
    topology.invalid_as(selector_text(topology), "field is immutable");
  }
  if (!same_field(name, before["storageClassName"])) name.invalid_text("field is immutable");
}

namespace {

constexpr std::size_t kMostMetadata = std::size_t{256} << 10U;
constexpr std::size_t kMostErrorMessage = 1024;

void check_attached_source(const Field& source) {
  const Field name = source["persistentVolumeName"];
  const Field volume = source["inlineVolumeSpec"];
  const char* one = "must specify exactly one of inlineVolumeSpec and persistentVolumeName";
  if (!name.present() && !volume.present()) return source.required(one);
  if (name.present() && volume.present()) return source.forbidden(one);
  if (volume.present()) return check_inline_volume(volume);
  if (name.empty()) name.required("must specify non empty persistentVolumeName");
}

// Of a message that is too long the server tells another limit than it has.
void check_volume_error(const Field& error) {
  if (error["message"].size() > kMostErrorMessage) error["message"].too_long(kMostMetadata);
  const Field code = error["errorCode"];
  if (code.number_or(0) < 0) code.invalid(range_sentence(0, INT32_MAX));
}

}  // namespace

void check_attachment(const Field& object, const Json* live) {
  const Field spec = object["spec"];
  check_csi_driver_name(spec["attacher"]);
  check_attached_source(spec["source"]);
  const Field node = spec["nodeName"];
  node.invalid_each(subdomain_problems(node.text()));
  const Field name = spec["source"]["persistentVolumeName"];
  if (name.present()) name.invalid_each(subdomain_problems(name.text()));
  if (live == nullptr) return;
  const Field before = Field(*live, object.errors())["spec"];
  const auto all = [](const Field& of) { return of.is_map() ? *of.json() : Json::object(); };
  constexpr const char* type = "VolumeAttachmentSpec";
  if (same_go_value(type, all(spec), all(before))) return;
  spec.invalid_as(go_value(type, all(spec)), "field is immutable");
}

void check_attachment_status(const Field& object, const Json* /*live*/) {
  const Field status = object["status"];
  const Field metadata = status["attachmentMetadata"];
  std::size_t total = 0;
  for (const auto& [key, value] : metadata.entries()) total += key.size() + value.size();
  if (total > kMostMetadata) metadata.too_long(kMostMetadata);
  check_volume_error(status["attachError"]);
  check_volume_error(status["detachError"]);
}

}  // namespace kubewatch::builtin
