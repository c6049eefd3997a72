// Notice of demo.example.com/v1: written by kubewatch crd-gen, which overwrites changes.
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

namespace notice_v1 {

struct NoticeSpec {
  std::optional<std::string> text;
};
inline void to_json(kubewatch::Json& out, const NoticeSpec& from) {
  out = kubewatch::Json::object();
  if (from.text) out["text"] = *from.text;
}
inline void from_json(const kubewatch::Json& in, NoticeSpec& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "text", into.text);
}

struct NoticeStatus {
  std::optional<std::string> configMap;
  std::optional<std::string> file;
};
inline void to_json(kubewatch::Json& out, const NoticeStatus& from) {
  out = kubewatch::Json::object();
  if (from.configMap) out["configMap"] = *from.configMap;
  if (from.file) out["file"] = *from.file;
}
inline void from_json(const kubewatch::Json& in, NoticeStatus& into) {
  if (!in.is_object()) throw std::invalid_argument("must be an object");
  into = {};
  kubewatch::client::read_field(in, "configMap", into.configMap);
  kubewatch::client::read_field(in, "file", into.file);
}

struct Notice {
  static constexpr const char* kGroup = "demo.example.com";
  static constexpr const char* kVersion = "v1";
  static constexpr const char* kKind = "Notice";
  static constexpr const char* kPlural = "notices";
  static constexpr kubewatch::client::Scope kScope = kubewatch::client::Scope::namespaced;

  std::optional<std::string> apiVersion;
  std::optional<std::string> kind;
  std::optional<kubewatch::Json> metadata;
  std::optional<NoticeSpec> spec;
  std::optional<NoticeStatus> status;

  kubewatch::Json to_json() const;
  // Errors: invalid, when a field has another type.
  kubewatch::Result<void> from_json(const kubewatch::Json& in);
};

inline kubewatch::Json Notice::to_json() const {
  kubewatch::Json out = kubewatch::Json::object();
  if (this->apiVersion) out["apiVersion"] = *this->apiVersion;
  if (this->kind) out["kind"] = *this->kind;
  if (this->metadata) out["metadata"] = *this->metadata;
  if (this->spec) out["spec"] = *this->spec;
  if (this->status) out["status"] = *this->status;
  return out;
}

inline kubewatch::Result<void> Notice::from_json(const kubewatch::Json& in) try {
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

}  // namespace notice_v1
