// The status of a claim of devices (resource.k8s.io): what was allocated to it, who may use that,
// and what drivers tell of it.
#include <fmt/format.h>

#include <algorithm>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "builtin/device_checks.hpp"
#include "builtin/go_values.hpp"
#include "builtin/validation_kinds.hpp"
#include "builtin/validation_pods.hpp"

namespace kubewatch::builtin {

namespace {

constexpr std::size_t kMostUsers = 256;
constexpr std::size_t kMostResults = 32;
constexpr std::size_t kMostDeviceConditions = 8;
constexpr std::size_t kMostInterfaceName = 256;
constexpr std::size_t kMostHardwareAddress = 128;
constexpr std::size_t kMostInterfaceAddresses = 16;
constexpr std::size_t kUid = 36;  // characters

// A device, or the share of one; as it is shown.
std::string device_id(const Field& of) {
  return fmt::format("{{\"Driver\":{},\"Pool\":{},\"Device\":{},\"ShareID\":{}}}",
                     json_text(of["driver"].text()), json_text(of["pool"].text()),
                     json_text(of["device"].text()), json_text(of["shareID"].text()));
}

// Hexadecimal digits; with dashes where a UID has them if it is one with dashes.
bool is_plain_uid(const std::string& text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool dash = text.size() == kUid && (i == 8 || i == 13 || i == 18 || i == 23);
    if (dash ? text[i] != '-' : !base::is_hex_digit(text[i])) return false;
  }
  return true;
}

// What is wrong with it in one of the forms that are read; "" when it is in one of them.
std::string uid_problem(const std::string& text) {
  constexpr std::size_t without_dashes = 32;
  const std::string urn = "urn:uuid:";
  std::string plain = text;
  if (text.size() == kUid + urn.size()) {
    const std::string start = text.substr(0, urn.size());
    if (base::to_lower(start) != urn) return "invalid urn prefix: " + go_quoted(start);
    plain = text.substr(urn.size());
  } else if (text.size() == kUid + 2) {
    if (text.front() != '{' || text.back() != '}') return "invalid bracketed UUID format";
    plain = text.substr(1, kUid);
  } else if (text.size() != kUid && text.size() != without_dashes) {
    return fmt::format("invalid UUID length: {}", text.size());
  }
  return is_plain_uid(plain) ? "" : "invalid UUID format";
}

void check_share_id(const Field& id) {
  if (!id.present()) return;
  const std::string text = id.text();
  const std::string problem = uid_problem(text);
  if (!problem.empty()) return id.invalid("error validating uid: " + problem);
  if (text.size() == kUid && text == base::to_lower(text)) return;
  id.invalid(
      "uid must be in RFC 4122 normalized form, `xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with "
      "lowercase hexadecimal characters");
}

void check_user(const Field& user) {
  for (const char* key : {"resource", "name", "uid"}) {
    if (user[key].empty()) user[key].required();
  }
}

// An address with the length of its network: not that network itself.
void check_interface_address(const Field& address) {
  const std::string text = address.text();
  if (!is_cidr(text)) {
    return address.invalid_text(
        "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)");
  }
  const std::size_t slash = text.find('/');
  const std::string ip = canonical_ip(text.substr(0, slash));
  int bits = std::stoi(text.substr(slash + 1));
  constexpr int v4 = 32;
  constexpr int v6 = 128;
  if (ip.find(':') == std::string::npos && bits > v4) bits -= v6 - v4;  // of a mapped one
  const std::string form = fmt::format("{}/{}", ip, bits);
  if (text != form) address.invalid("must be in canonical form (" + go_quoted(form) + ")");
}

void check_network(const Field& network) {
  const Field name = network["interfaceName"];
  const Field hardware = network["hardwareAddress"];
  if (name.size() > kMostInterfaceName) name.too_long(kMostInterfaceName);
  if (hardware.size() > kMostHardwareAddress) hardware.too_long(kMostHardwareAddress);
  check_set(network["ips"], kMostInterfaceAddresses, "", check_interface_address);
}

void check_device_status(const Field& device, const std::set<std::string>& allocated) {
  check_csi_driver_name(device["driver"]);
  check_pool_name(device["pool"]);
  check_device_label(device["device"]);
  check_share_id(device["shareID"]);
  if (allocated.count(device_id(device)) == 0) {
    device.invalid_as(device_id(device), "must be an allocated device in the claim");
  }
  const Field conditions = device["conditions"];
  if (conditions.size() > kMostDeviceConditions) conditions.too_many(kMostDeviceConditions);
  check_conditions(conditions);
  if (device["data"].present()) check_json_object(device["data"]);
  check_network(device["networkData"]);
}

void check_result(const Field& result, const RequestNames& requests) {
  check_request_name(result["request"], requests);
  check_csi_driver_name(result["driver"]);
  check_pool_name(result["pool"]);
  check_device_label(result["device"]);
  check_binding_conditions(result);
  check_share_id(result["shareID"]);
}

void check_allocation(const Field& allocation, const RequestNames& requests) {
  const Field devices = allocation["devices"];
  check_list(devices["results"], kMostResults,
             [&requests](const Field& result) { check_result(result, requests); });
  // Of the class and of the claim.
  check_list(devices["config"], 2 * kMostConfigurations, [&requests](const Field& one) {
    one["source"].one_of_required({"FromClaim", "FromClass"});
    check_request_names(one["requests"], requests);
    check_configuration(one);
  });
  if (allocation["nodeSelector"].present()) check_node_selector(allocation["nodeSelector"]);
}

// While a claim is deleted nobody else may begin to use it.
void check_no_new_users(const Field& users, const Field& before) {
  const auto known = before.items();
  for (const auto& user : users.items()) {
    const auto same = [&user](const Field& one) { return same_field(one, user); };
    if (std::any_of(known.begin(), known.end(), same)) continue;
    return users.forbidden(
        "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are "
        "set");
  }
}

}  // namespace

void check_resource_claim_status(const Field& object, const Json* live) {
  const Json nothing = Json::object();
  const Field before = Field(live == nullptr ? nothing : *live, object.errors())["status"];
  const Field status = object["status"];
  const Field users = status["reservedFor"];
  const Field allocation = status["allocation"];
  check_set(users, kMostUsers, "uid", check_user);

  std::set<std::string> allocated;
  for (const auto& one : allocation["devices"]["results"].items()) allocated.insert(device_id(one));
  const Field devices = status["devices"];
  for (const auto& one : devices.items()) check_device_status(one, allocated);
  check_distinct(devices, device_id);

  if (!users.empty() && !allocation.present()) {
    users.forbidden("may not be specified when `allocated` is not set");
  } else if (object["metadata"]["deletionTimestamp"].present()) {
    check_no_new_users(users, before["reservedFor"]);
  }

  if (!allocation.present()) return;
  const Field earlier = before["allocation"];
  if (!earlier.present()) {
    return check_allocation(allocation, request_names(object["spec"]["devices"]));
  }
  constexpr const char* type = "AllocationResult";
  if (same_go_value(type, *allocation.json(), *earlier.json())) return;
  allocation.invalid_as(go_value(type, *allocation.json()), "field is immutable");
}

}  // namespace kubewatch::builtin
