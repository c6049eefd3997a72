// Environment variables of containers, and what their values and the files of the downward API are
// taken from.
#include <fmt/format.h>

#include "base/strings.hpp"
#include "builtin/validation_pods.hpp"
#include "core/object_rules.hpp"

namespace kubewatch::builtin {

namespace {

const Values& env_paths() {
  static const Values paths = {"metadata.name",
                               "metadata.namespace",
                               "metadata.uid",
                               "spec.nodeName",
                               "spec.serviceAccountName",
                               "status.hostIP",
                               "status.hostIPs",
                               "status.podIP",
                               "status.podIPs"};
  return paths;
}

const Values& file_paths() {
  static const Values paths = {"metadata.annotations", "metadata.labels", "metadata.name",
                               "metadata.namespace", "metadata.uid"};
  return paths;
}

// What a path of a Pod may be at all, in env and files.
bool is_known_path(const std::string& path) {
  return is_one(path, env_paths()) || is_one(path, file_paths()) || path == "spec.restartPolicy" ||
         path == "spec.schedulerName" || path == "status.phase" || path == "spec.host";
}

// "metadata.labels['a']" as its two parts.
std::optional<std::pair<std::string, std::string>> subscripted(const std::string& path) {
  const std::size_t open = path.find("['");
  const bool quoted = open != std::string::npos && path.size() >= open + 4;
  if (!quoted || open == 0 || !path.ends_with("']")) return std::nullopt;
  return std::pair{path.substr(0, open), path.substr(open + 2, path.size() - open - 4)};
}

void check_subscript(const Field& ref, const std::string& path, const std::string& key) {
  const std::string name = path == "metadata.annotations" ? base::to_lower(key) : key;
  for (const auto& problem : qualified_problems(name)) ref.invalid_as(go_quoted(name), problem);
}

void check_field_ref(const Field& ref, const Values& supported) {
  const Field version = ref["apiVersion"];
  const Field path = ref["fieldPath"];
  if (path.empty()) return path.required();
  const std::string text = path.text();
  const auto refuse = [&](const std::string& why) {
    path.invalid("error converting fieldPath: " + why);
  };
  if (!version.empty() && !version.is("v1")) {
    return refuse(fmt::format("unsupported pod version: {}", version.text()));
  }
  if (const auto parts = subscripted(text)) {
    if (parts->first != "metadata.annotations" && parts->first != "metadata.labels") {
      return refuse("field label does not support subscript: " + text);
    }
    return check_subscript(ref, parts->first, parts->second);
  }
  if (!is_known_path(text)) return refuse("field label not supported: " + text);
  // What clients of old call the node.
  const std::string known = text == "spec.host" ? "spec.nodeName" : text;
  if (is_one(known, supported)) return;
  path.errors().push_back(field_not_supported(path.path(), go_quoted(known), supported));
}

const Values& resource_paths() {
  static const Values paths = {"limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
                               "requests.cpu", "requests.ephemeral-storage", "requests.memory"};
  return paths;
}

bool names_huge_pages(const std::string& resource) {
  return resource.starts_with("limits.hugepages-") || resource.starts_with("requests.hugepages-");
}

void check_divisor(const Field& ref) {
  const Field divisor = ref["divisor"];
  const auto quantity = divisor.quantity();
  if (!quantity || quantity->sign() == 0) return;
  static const Values sizes = {"1",   "1k",  "1M",  "1G",  "1T",  "1P", "1E",
                               "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};
  const std::string text = quantity_text(*quantity);
  const std::string resource = ref["resource"].text();
  const std::string kind = names_huge_pages(resource)      ? "the hugepages"
                           : resource.ends_with(".cpu")    ? "the cpu"
                           : resource.ends_with(".memory") ? "the memory"
                           : resource.ends_with(".ephemeral-storage")
                               ? "the local ephemeral storage"
                               : "";
  if (kind.empty()) return;
  const bool cpu = kind == "the cpu";
  if (is_one(text, cpu ? Values{"1m", "1"} : sizes)) return;
  divisor.invalid_as(go_quoted(resource),
                     fmt::format("only divisor's values {} are supported with {} resource",
                                 cpu ? "1m and 1" : base::join(sizes, ", "), kind));
}

void check_resource_ref(const Field& ref, bool file) {
  const Field resource = ref["resource"];
  if (file && ref["containerName"].empty()) {
    ref["containerName"].required();
  } else if (resource.empty()) {
    resource.required();
  } else if (!names_huge_pages(resource.text())) {
    resource.one_of(resource_paths());
  }
  check_divisor(ref);
}

void check_key_ref(const Field& ref) {
  const Field name = ref["name"];
  name.invalid_each(subdomain_problems(name.text()));
  const Field key = ref["key"];
  if (key.empty()) return key.required();
  key.invalid_each(core::data_key_problems(key.text()));
}

void check_file_ref(const Field& ref) {
  const Field key = ref["key"];
  if (key.empty()) key.required();
  if (!key.empty()) key.invalid_each(env_name_problems(key.text()));
  const Field volume = ref["volumeName"];
  if (volume.empty()) volume.required();
  if (!volume.empty()) volume.invalid_each(label_problems(volume.text()));
  const Field path = ref["path"];
  if (path.empty()) return path.required();
  check_no_backsteps(path);
}

void check_value_from(const Field& variable) {
  const Field from = variable["valueFrom"];
  if (!from.present()) return;
  int sources = 0;
  const auto given = [&](const char* key) {
    const bool there = from[key].present();
    sources += there ? 1 : 0;
    return there;
  };
  if (given("fieldRef")) check_field_ref(from["fieldRef"], env_paths());
  if (given("resourceFieldRef")) check_resource_ref(from["resourceFieldRef"], false);
  if (given("configMapKeyRef")) check_key_ref(from["configMapKeyRef"]);
  if (given("secretKeyRef")) check_key_ref(from["secretKeyRef"]);
  if (given("fileKeyRef")) check_file_ref(from["fileKeyRef"]);
  if (sources == 0) {
    from.invalid_as("\"\"",
                    "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, "
                    "`secretKeyRef` or `fileKeyRef`");
  } else if (!variable["value"].empty()) {
    from.invalid_as("\"\"", "may not be specified when `value` is not empty");
  } else if (sources > 1) {
    from.invalid_as("\"\"", "may not have more than one field specified at a time");
  }
}

}  // namespace

void check_env(const Field& env) {
  for (const auto& variable : env.items()) {
    const Field name = variable["name"];
    if (name.empty()) {
      name.required();
    } else {
      name.invalid_each(env_name_problems(name.text()));
    }
    check_value_from(variable);
  }
}

void check_env_from(const Field& env_from) {
  for (const auto& one : env_from.items()) {
    const Field prefix = one["prefix"];
    if (!prefix.empty()) prefix.invalid_each(env_name_problems(prefix.text()));
    int sources = 0;
    for (const char* key : {"configMapRef", "secretRef"}) {
      const Field ref = one[key];
      if (!ref.present()) continue;
      ++sources;
      const Field name = ref["name"];
      if (name.empty()) {
        name.required();
      } else {
        name.invalid_each(subdomain_problems(name.text()));
      }
    }
    if (sources == 0) {
      env_from.invalid_as("\"\"", "must specify one of: `configMapRef` or `secretRef`");
    } else if (sources > 1) {
      env_from.invalid_as("\"\"", "may not have more than one field specified at a time");
    }
  }
}

void check_downward_file(const Field& file, const Field& told) {
  const auto child = [&](const char* key) { return file[key].at(told.path() + "." + key); };
  const Field path = child("path");
  if (path.empty()) path.required();
  check_local_path(path);
  const Field field = child("fieldRef");
  const Field resource = child("resourceFieldRef");
  if (field.present()) {
    check_field_ref(field, file_paths());
    if (resource.present()) {
      told.invalid_as("\"resource\"",
                      "fieldRef and resourceFieldRef can not be specified simultaneously");
    }
  } else if (resource.present()) {
    check_resource_ref(resource, true);
  } else {
    told.required("one of fieldRef and resourceFieldRef is required");
  }
  const Field mode = child("mode");
  if (mode.number_or(0) < 0 || mode.number_or(0) > 0777) {
    mode.invalid("must be a number between 0 and 0777 (octal), both inclusive");
  }
}

}  // namespace kubewatch::builtin
