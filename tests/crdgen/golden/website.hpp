// Website of demo.example.com/v1: written by kubewatch crd-gen, which overwrites changes.
// Every field is optional; what is not set is not written.
#pragma once

#include <cstdint>
#include <exception>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "client/read_field.hpp"
#include "client/resource.hpp"

namespace website_v1 {

// One server behind the site.
struct WebsiteSpecBackendsItem {
  std::optional<std::string> name;
  std::optional<std::int32_t> port;
  std::optional<std::int64_t> weight;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecBackendsItem& from) {
  out = kubewatch::Json::object();
  if (from.name) out["name"] = *from.name;
  if (from.port) out["port"] = *from.port;
  if (from.weight) out["weight"] = *from.weight;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecBackendsItem& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "name", into.name);
  kubewatch::client::read_field(in, "port", into.port);
  kubewatch::client::read_field(in, "weight", into.weight);
}

struct WebsiteSpecEnvItemValueFromConfigMapKeyRef {
  std::optional<std::string> key;
  std::optional<std::string> name;
  std::optional<bool> optional;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecEnvItemValueFromConfigMapKeyRef& from) {
  out = kubewatch::Json::object();
  if (from.key) out["key"] = *from.key;
  if (from.name) out["name"] = *from.name;
  if (from.optional) out["optional"] = *from.optional;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecEnvItemValueFromConfigMapKeyRef& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "key", into.key);
  kubewatch::client::read_field(in, "name", into.name);
  kubewatch::client::read_field(in, "optional", into.optional);
}

struct WebsiteSpecEnvItemValueFromFieldRef {
  std::optional<std::string> apiVersion;
  std::optional<std::string> fieldPath;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecEnvItemValueFromFieldRef& from) {
  out = kubewatch::Json::object();
  if (from.apiVersion) out["apiVersion"] = *from.apiVersion;
  if (from.fieldPath) out["fieldPath"] = *from.fieldPath;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecEnvItemValueFromFieldRef& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "apiVersion", into.apiVersion);
  kubewatch::client::read_field(in, "fieldPath", into.fieldPath);
}

struct WebsiteSpecEnvItemValueFromFileKeyRef {
  std::optional<std::string> key;
  std::optional<bool> optional;
  std::optional<std::string> path;
  std::optional<std::string> volumeName;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecEnvItemValueFromFileKeyRef& from) {
  out = kubewatch::Json::object();
  if (from.key) out["key"] = *from.key;
  if (from.optional) out["optional"] = *from.optional;
  if (from.path) out["path"] = *from.path;
  if (from.volumeName) out["volumeName"] = *from.volumeName;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecEnvItemValueFromFileKeyRef& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "key", into.key);
  kubewatch::client::read_field(in, "optional", into.optional);
  kubewatch::client::read_field(in, "path", into.path);
  kubewatch::client::read_field(in, "volumeName", into.volumeName);
}

struct WebsiteSpecEnvItemValueFromResourceFieldRef {
  std::optional<std::string> containerName;
  std::optional<kubewatch::Json> divisor;
  std::optional<std::string> resource;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecEnvItemValueFromResourceFieldRef& from) {
  out = kubewatch::Json::object();
  if (from.containerName) out["containerName"] = *from.containerName;
  if (from.divisor) out["divisor"] = *from.divisor;
  if (from.resource) out["resource"] = *from.resource;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecEnvItemValueFromResourceFieldRef& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "containerName", into.containerName);
  kubewatch::client::read_field(in, "divisor", into.divisor);
  kubewatch::client::read_field(in, "resource", into.resource);
}

struct WebsiteSpecEnvItemValueFromSecretKeyRef {
  std::optional<std::string> key;
  std::optional<std::string> name;
  std::optional<bool> optional;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecEnvItemValueFromSecretKeyRef& from) {
  out = kubewatch::Json::object();
  if (from.key) out["key"] = *from.key;
  if (from.name) out["name"] = *from.name;
  if (from.optional) out["optional"] = *from.optional;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecEnvItemValueFromSecretKeyRef& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "key", into.key);
  kubewatch::client::read_field(in, "name", into.name);
  kubewatch::client::read_field(in, "optional", into.optional);
}

struct WebsiteSpecEnvItemValueFrom {
  std::optional<WebsiteSpecEnvItemValueFromConfigMapKeyRef> configMapKeyRef;
  std::optional<WebsiteSpecEnvItemValueFromFieldRef> fieldRef;
  std::optional<WebsiteSpecEnvItemValueFromFileKeyRef> fileKeyRef;
  std::optional<WebsiteSpecEnvItemValueFromResourceFieldRef> resourceFieldRef;
  std::optional<WebsiteSpecEnvItemValueFromSecretKeyRef> secretKeyRef;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecEnvItemValueFrom& from) {
  out = kubewatch::Json::object();
  if (from.configMapKeyRef) out["configMapKeyRef"] = *from.configMapKeyRef;
  if (from.fieldRef) out["fieldRef"] = *from.fieldRef;
  if (from.fileKeyRef) out["fileKeyRef"] = *from.fileKeyRef;
  if (from.resourceFieldRef) out["resourceFieldRef"] = *from.resourceFieldRef;
  if (from.secretKeyRef) out["secretKeyRef"] = *from.secretKeyRef;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecEnvItemValueFrom& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "configMapKeyRef", into.configMapKeyRef);
  kubewatch::client::read_field(in, "fieldRef", into.fieldRef);
  kubewatch::client::read_field(in, "fileKeyRef", into.fileKeyRef);
  kubewatch::client::read_field(in, "resourceFieldRef", into.resourceFieldRef);
  kubewatch::client::read_field(in, "secretKeyRef", into.secretKeyRef);
}

struct WebsiteSpecEnvItem {
  std::optional<std::string> name;
  std::optional<std::string> value;
  std::optional<WebsiteSpecEnvItemValueFrom> valueFrom;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecEnvItem& from) {
  out = kubewatch::Json::object();
  if (from.name) out["name"] = *from.name;
  if (from.value) out["value"] = *from.value;
  if (from.valueFrom) out["valueFrom"] = *from.valueFrom;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecEnvItem& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "name", into.name);
  kubewatch::client::read_field(in, "value", into.value);
  kubewatch::client::read_field(in, "valueFrom", into.valueFrom);
}

struct WebsiteSpecResourcesClaimsItem {
  std::optional<std::string> name;
  std::optional<std::string> request;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecResourcesClaimsItem& from) {
  out = kubewatch::Json::object();
  if (from.name) out["name"] = *from.name;
  if (from.request) out["request"] = *from.request;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecResourcesClaimsItem& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "name", into.name);
  kubewatch::client::read_field(in, "request", into.request);
}

struct WebsiteSpecResources {
  std::optional<std::vector<WebsiteSpecResourcesClaimsItem>> claims;
  std::optional<std::map<std::string, kubewatch::Json>> limits;
  std::optional<std::map<std::string, kubewatch::Json>> requests;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecResources& from) {
  out = kubewatch::Json::object();
  if (from.claims) out["claims"] = *from.claims;
  if (from.limits) out["limits"] = *from.limits;
  if (from.requests) out["requests"] = *from.requests;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecResources& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "claims", into.claims);
  kubewatch::client::read_field(in, "limits", into.limits);
  kubewatch::client::read_field(in, "requests", into.requests);
}

struct WebsiteSpecSourceGit {
  std::optional<std::string> url;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecSourceGit& from) {
  out = kubewatch::Json::object();
  if (from.url) out["url"] = *from.url;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecSourceGit& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "url", into.url);
}

struct WebsiteSpecSource {
  std::optional<WebsiteSpecSourceGit> git;
  std::optional<std::string> image;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecSource& from) {
  out = kubewatch::Json::object();
  if (from.git) out["git"] = *from.git;
  if (from.image) out["image"] = *from.image;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecSource& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "git", into.git);
  kubewatch::client::read_field(in, "image", into.image);
}

struct WebsiteSpecTemplateMetadata {
  std::optional<std::map<std::string, std::string>> annotations;
  std::optional<std::vector<std::string>> finalizers;
  std::optional<std::map<std::string, std::string>> labels;
  std::optional<std::string> name;
  std::optional<std::string> namespace_;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecTemplateMetadata& from) {
  out = kubewatch::Json::object();
  if (from.annotations) out["annotations"] = *from.annotations;
  if (from.finalizers) out["finalizers"] = *from.finalizers;
  if (from.labels) out["labels"] = *from.labels;
  if (from.name) out["name"] = *from.name;
  if (from.namespace_) out["namespace"] = *from.namespace_;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecTemplateMetadata& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "annotations", into.annotations);
  kubewatch::client::read_field(in, "finalizers", into.finalizers);
  kubewatch::client::read_field(in, "labels", into.labels);
  kubewatch::client::read_field(in, "name", into.name);
  kubewatch::client::read_field(in, "namespace", into.namespace_);
}

struct WebsiteSpecTemplate {
  std::optional<WebsiteSpecTemplateMetadata> metadata;
  std::optional<kubewatch::Json> spec;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpecTemplate& from) {
  out = kubewatch::Json::object();
  if (from.metadata) out["metadata"] = *from.metadata;
  if (from.spec) out["spec"] = *from.spec;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpecTemplate& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "metadata", into.metadata);
  kubewatch::client::read_field(in, "spec", into.spec);
}

struct WebsiteSpec {
  std::optional<std::vector<WebsiteSpecBackendsItem>> backends;
  std::optional<std::vector<WebsiteSpecEnvItem>> env;
  std::optional<std::vector<std::string>> hosts;
  std::optional<std::map<std::string, std::string>> labels;
  std::optional<kubewatch::Json> legacy;
  std::optional<std::int64_t> minReplicas;
  std::optional<kubewatch::Json> port;
  std::optional<std::int64_t> replicas;
  std::optional<WebsiteSpecResources> resources;
  std::optional<kubewatch::Json> settings;
  std::optional<WebsiteSpecSource> source;
  std::optional<std::string> storageClass;
  std::optional<WebsiteSpecTemplate> template_;
  std::optional<std::string> tier;
};
inline void to_json(kubewatch::Json& out, const WebsiteSpec& from) {
  out = kubewatch::Json::object();
  if (from.backends) out["backends"] = *from.backends;
  if (from.env) out["env"] = *from.env;
  if (from.hosts) out["hosts"] = *from.hosts;
  if (from.labels) out["labels"] = *from.labels;
  if (from.legacy) out["legacy"] = *from.legacy;
  if (from.minReplicas) out["minReplicas"] = *from.minReplicas;
  if (from.port) out["port"] = *from.port;
  if (from.replicas) out["replicas"] = *from.replicas;
  if (from.resources) out["resources"] = *from.resources;
  if (from.settings) out["settings"] = *from.settings;
  if (from.source) out["source"] = *from.source;
  if (from.storageClass) out["storageClass"] = *from.storageClass;
  if (from.template_) out["template"] = *from.template_;
  if (from.tier) out["tier"] = *from.tier;
}
inline void from_json(const kubewatch::Json& in, WebsiteSpec& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "backends", into.backends);
  kubewatch::client::read_field(in, "env", into.env);
  kubewatch::client::read_field(in, "hosts", into.hosts);
  kubewatch::client::read_field(in, "labels", into.labels);
  kubewatch::client::read_field(in, "legacy", into.legacy);
  kubewatch::client::read_field(in, "minReplicas", into.minReplicas);
  kubewatch::client::read_field(in, "port", into.port);
  kubewatch::client::read_field(in, "replicas", into.replicas);
  kubewatch::client::read_field(in, "resources", into.resources);
  kubewatch::client::read_field(in, "settings", into.settings);
  kubewatch::client::read_field(in, "source", into.source);
  kubewatch::client::read_field(in, "storageClass", into.storageClass);
  kubewatch::client::read_field(in, "template", into.template_);
  kubewatch::client::read_field(in, "tier", into.tier);
}

struct WebsiteStatusConditionsItem {
  std::optional<std::string> lastTransitionTime;
  std::optional<std::string> message;
  std::optional<std::int64_t> observedGeneration;
  std::optional<std::string> reason;
  std::optional<std::string> status;
  std::optional<std::string> type;
};
inline void to_json(kubewatch::Json& out, const WebsiteStatusConditionsItem& from) {
  out = kubewatch::Json::object();
  if (from.lastTransitionTime) out["lastTransitionTime"] = *from.lastTransitionTime;
  if (from.message) out["message"] = *from.message;
  if (from.observedGeneration) out["observedGeneration"] = *from.observedGeneration;
  if (from.reason) out["reason"] = *from.reason;
  if (from.status) out["status"] = *from.status;
  if (from.type) out["type"] = *from.type;
}
inline void from_json(const kubewatch::Json& in, WebsiteStatusConditionsItem& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "lastTransitionTime", into.lastTransitionTime);
  kubewatch::client::read_field(in, "message", into.message);
  kubewatch::client::read_field(in, "observedGeneration", into.observedGeneration);
  kubewatch::client::read_field(in, "reason", into.reason);
  kubewatch::client::read_field(in, "status", into.status);
  kubewatch::client::read_field(in, "type", into.type);
}

struct WebsiteStatus {
  std::optional<std::vector<WebsiteStatusConditionsItem>> conditions;
  std::optional<std::string> phase;
  std::optional<std::int64_t> replicas;
  std::optional<std::string> selector;
};
inline void to_json(kubewatch::Json& out, const WebsiteStatus& from) {
  out = kubewatch::Json::object();
  if (from.conditions) out["conditions"] = *from.conditions;
  if (from.phase) out["phase"] = *from.phase;
  if (from.replicas) out["replicas"] = *from.replicas;
  if (from.selector) out["selector"] = *from.selector;
}
inline void from_json(const kubewatch::Json& in, WebsiteStatus& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "conditions", into.conditions);
  kubewatch::client::read_field(in, "phase", into.phase);
  kubewatch::client::read_field(in, "replicas", into.replicas);
  kubewatch::client::read_field(in, "selector", into.selector);
}

struct Website {
  static constexpr const char* kGroup = "demo.example.com";
  static constexpr const char* kVersion = "v1";
  static constexpr const char* kKind = "Website";
  static constexpr const char* kPlural = "websites";
  static constexpr kubewatch::client::Scope kScope = kubewatch::client::Scope::namespaced;

  std::optional<std::string> apiVersion;
  std::optional<std::string> kind;
  std::optional<kubewatch::Json> metadata;
  std::optional<WebsiteSpec> spec;
  std::optional<WebsiteStatus> status;

  kubewatch::Json to_json() const;
  // Errors: invalid, when a field has another type.
  kubewatch::Result<void> from_json(const kubewatch::Json& in);
};

inline kubewatch::Json Website::to_json() const {
  kubewatch::Json out = kubewatch::Json::object();
  if (this->apiVersion) out["apiVersion"] = *this->apiVersion;
  if (this->kind) out["kind"] = *this->kind;
  if (this->metadata) out["metadata"] = *this->metadata;
  if (this->spec) out["spec"] = *this->spec;
  if (this->status) out["status"] = *this->status;
  return out;
}

inline kubewatch::Result<void> Website::from_json(const kubewatch::Json& in) try {
  *this = {};
  if (!in.is_object()) throw std::invalid_argument("this is no object");
  kubewatch::client::read_field(in, "apiVersion", this->apiVersion);
  kubewatch::client::read_field(in, "kind", this->kind);
  kubewatch::client::read_field(in, "metadata", this->metadata);
  kubewatch::client::read_field(in, "spec", this->spec);
  kubewatch::client::read_field(in, "status", this->status);
  return {};
} catch (const std::exception& problem) {
  return kubewatch::Error(kubewatch::ErrorKind::invalid, std::string(kKind) + ": " + problem.what());
}

}  // namespace website_v1
