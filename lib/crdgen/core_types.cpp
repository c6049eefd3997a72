#include "crdgen/core_types.hpp"

#include <map>
#include <stdexcept>

#include "base/yaml_document.hpp"
#include "crdgen/type_expander.hpp"

namespace kubewatch::crdgen {

namespace {

constexpr std::string_view kTypes = R"(
Quantity: {raw: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true,
  pattern: '^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$'}}
IntOrString: {raw: {anyOf: [{type: integer}, {type: string}], x-kubernetes-int-or-string: true}}
Duration: string | format=duration
Time: string | format=date-time
MicroTime: string | format=date-time
metav1.Condition:
  fields:
    type: string | required maxLength=316 pattern='^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$'
    status: string | required enum=["True","False","Unknown"]
    observedGeneration: int64 | minimum=0
    lastTransitionTime: Time | required
    reason: string | required minLength=1 maxLength=1024 pattern='^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$'
    message: string | required maxLength=32768
Conditions: '[]metav1.Condition | listType=map listMapKeys=type'
metav1.LabelSelectorRequirement:
  fields:
    key: string | required
    operator: string | required
    values: '[]string | listType=atomic'
metav1.LabelSelector:
  mapType: atomic
  fields:
    matchLabels: map[string]string
    matchExpressions: '[]metav1.LabelSelectorRequirement | listType=atomic'
metav1.OwnerReference:
  mapType: atomic
  fields:
    apiVersion: string | required
    kind: string | required
    name: string | required
    uid: string | required
    controller: boolean
    blockOwnerDeletion: boolean
metav1.ObjectMeta: object | preserveUnknown
EmbeddedMetadata:
  fields:
    name: string
    namespace: string
    labels: map[string]string
    annotations: map[string]string
    finalizers: '[]string'
corev1.ObjectReference:
  mapType: atomic
  fields: {apiVersion: string, kind: string, name: string, namespace: string, uid: string, resourceVersion: string, fieldPath: string}
corev1.LocalObjectReference:
  mapType: atomic
  fields: {name: 'string | default=""'}
corev1.TypedLocalObjectReference:
  mapType: atomic
  fields: {apiGroup: string, kind: string | required, name: string | required}
corev1.SecretReference:
  mapType: atomic
  fields: {name: string, namespace: string}
corev1.SecretKeySelector:
  mapType: atomic
  fields: {key: string | required, name: 'string | default=""', optional: boolean}
corev1.ConfigMapKeySelector:
  mapType: atomic
  fields: {key: string | required, name: 'string | default=""', optional: boolean}
corev1.ObjectFieldSelector:
  mapType: atomic
  fields: {apiVersion: string, fieldPath: string | required}
corev1.ResourceFieldSelector:
  mapType: atomic
  fields: {containerName: string, divisor: Quantity, resource: string | required}
corev1.FileKeySelector:
  mapType: atomic
  fields: {key: string | required, optional: boolean | default=false, path: string | required, volumeName: string | required}
corev1.EnvVarSource:
  fields:
    configMapKeyRef: corev1.ConfigMapKeySelector
    secretKeyRef: corev1.SecretKeySelector
    fileKeyRef: corev1.FileKeySelector
    fieldRef: corev1.ObjectFieldSelector
    resourceFieldRef: corev1.ResourceFieldSelector
corev1.EnvVar:
  fields: {name: string | required, value: string, valueFrom: corev1.EnvVarSource}
corev1.EnvFromSource:
  fields:
    prefix: string
    configMapRef: {mapType: atomic, fields: {name: 'string | default=""', optional: boolean}}
    secretRef: {mapType: atomic, fields: {name: 'string | default=""', optional: boolean}}
corev1.ResourceList: map[string]Quantity
corev1.ResourceClaim:
  fields: {name: string | required, request: string}
corev1.ResourceRequirements:
  fields:
    claims: '[]corev1.ResourceClaim | listType=map listMapKeys=name'
    limits: corev1.ResourceList
    requests: corev1.ResourceList
corev1.Toleration:
  fields: {effect: string, key: string, operator: string, tolerationSeconds: int64, value: string}
corev1.ContainerPort:
  fields:
    containerPort: int32 | required minimum=1 maximum=65535
    hostIP: string
    hostPort: int32 | minimum=0 maximum=65535
    name: string
    protocol: string | default=TCP
corev1.VolumeMount:
  fields: {name: string | required, mountPath: string | required, subPath: string, subPathExpr: string, readOnly: boolean, recursiveReadOnly: string, mountPropagation: string}
corev1.PodSpec: object | preserveUnknown
corev1.Container: object | preserveUnknown
corev1.Volume: object | preserveUnknown
corev1.Affinity: object | preserveUnknown
corev1.PodTemplateSpec:
  fields: {metadata: EmbeddedMetadata, spec: corev1.PodSpec}
runtime.RawExtension: object | preserveUnknown
JSON: any
)";

// The texts are ours: what is wrong with them is a bug, found by the first test that asks.
std::map<std::string, Json> expand_all_types() {
  auto documents = base::parse_yaml(kTypes);
  if (!documents.ok()) throw std::logic_error("core types: " + documents.error().render());
  base::YamlDocument& document = documents->front();
  std::vector<Remark> problems;
  std::vector<Remark> notes;
  const Source source{"core types", kTypes, std::move(document.marks), problems, notes};
  const Node root(source, document.value);
  TypeExpander expander;
  for (const auto& [name, type] : document.value.items()) expander.define(name, root.child(name));
  std::map<std::string, Json> out;
  for (const auto& [name, type] : document.value.items()) {
    out[name] = expander.expand(root.child(name)).schema;
  }
  if (!problems.empty()) throw std::logic_error(problems.front().str());
  return out;
}

const std::map<std::string, Json>& all_types() {
  static const std::map<std::string, Json> types = expand_all_types();
  return types;
}

}  // namespace

const Json* core_type(const std::string& name) {
  // While the table itself is being expanded its types are the expander's own.
  const auto& types = all_types();
  const auto it = types.find(name);
  return it == types.end() ? nullptr : &it->second;
}

std::vector<std::string> core_type_names() {
  std::vector<std::string> out;
  for (const auto& [name, schema] : all_types()) out.push_back(name);
  return out;
}

std::string core_type_of(const Json& schema) {
  const bool structured = schema.contains("properties") || schema.contains("anyOf");
  if (!structured) return "";
  for (const auto& [name, known] : all_types()) {
    if (known == schema) return name;
  }
  return "";
}

}  // namespace kubewatch::crdgen
