#include "apiserver/object.hpp"

#include "core/resource_version.hpp"

namespace kubewatch::apiserver {

std::string object_key(const std::string& namespace_, const std::string& name) {
  return namespace_.empty() ? name : namespace_ + "/" + name;
}

std::string key_prefix(const std::string& namespace_) {
  return namespace_.empty() ? "" : namespace_ + "/";
}

Object::Object(Json json) : json_(std::move(json)) {
  name_ = base::string_at(json_, {"metadata", "name"});
  namespace__ = base::string_at(json_, {"metadata", "namespace"});
  uid_ = base::string_at(json_, {"metadata", "uid"});
  key_ = object_key(namespace__, name_);
  const std::string version = base::string_at(json_, {"metadata", "resourceVersion"});
  version_ = core::version_number(version).value_or(0);
  if (const Json* labels = base::find(json_, {"metadata", "labels"});
      labels && labels->is_object()) {
    for (const auto& [label, value] : labels->items()) {
      if (value.is_string()) labels_.emplace_back(label, value.get<std::string>());
    }
  }
}

const std::string& Object::body() const {
  if (!body_.empty()) return body_;
  std::string text = "{";
  for (const auto& [key, value] : json().items()) {
    if (key == "apiVersion" || key == "kind") continue;
    if (text.size() > 1) text += ',';
    text += base::json_quoted(key);
    text += ':';
    text += base::dump_json(value);
  }
  body_ = text + "}";
  return body_;
}

const std::string& Object::metadata_body() const {
  if (metadata_body_.empty()) {
    metadata_body_ = "{\"metadata\":" + base::dump_json(json().at("metadata")) + "}";
  }
  return metadata_body_;
}

void Object::shrink() const {
  metadata_body_ = std::string();
  if (shrunk_) return;
  body();
  Json type = Json::object();
  for (const char* name : {"apiVersion", "kind"}) {
    if (const auto at = json_.find(name); at != json_.end()) type[name] = std::move(*at);
  }
  json_ = std::move(type);
  body_.shrink_to_fit();
  shrunk_ = true;
}

void Object::expand() const {
  // Our own text, of what was within all limits when it came.
  Json whole = Json::parse(body_);
  whole.update(json_);
  json_ = std::move(whole);
  shrunk_ = false;
}

}  // namespace kubewatch::apiserver
