// A stored object: immutable, shared by the store, the history, lists and watches. Holds the built
// value and, made on first use, the text that every answer is put together from; of an object that
// only history has, the text alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/json.hpp"
#include "core/selector.hpp"

namespace kubewatch::apiserver {

class Object {
 public:
  // `json` has metadata.resourceVersion set.
  explicit Object(Json json);

  // Valid until shrink().
  const Json& json() const {
    if (shrunk_) expand();
    return json_;
  }
  // At hand while it is shrunk as well.
  std::string api_version() const { return base::string_at(json_, {"apiVersion"}); }
  const std::string& key() const { return key_; }  // "shop/web", "web"
  const std::string& name() const { return name_; }
  const std::string& namespace_() const { return namespace__; }
  const std::string& uid() const { return uid_; }
  std::uint64_t version() const { return version_; }
  const core::Labels& labels() const { return labels_; }

  // The compact text without apiVersion and kind: `{"metadata":{...},...}`. Which of those two go
  // in front is the business of whoever answers.
  const std::string& body() const;
  // Only metadata: `{"metadata":{...}}`.
  const std::string& metadata_body() const;

  // Keeps the text and lets go of the value, which takes many times as much and is built again when
  // it is asked for.
  void shrink() const;
  bool is_shrunk() const { return shrunk_; }

 private:
  void expand() const;

  mutable Json json_;  // apiVersion and kind alone while it is shrunk
  mutable bool shrunk_ = false;
  std::string key_;
  std::string name_;
  std::string namespace__;
  std::string uid_;
  std::uint64_t version_ = 0;
  core::Labels labels_;
  mutable std::string body_;
  mutable std::string metadata_body_;
};
using ObjectPtr = std::shared_ptr<const Object>;

// A look at an object that history may have shrunk: it is shrunk again in the end, or who looks
// back once would leave all of history built. Null is nothing to look at.
class Glance {
 public:
  explicit Glance(const Object* object)
      : shrunk_(object != nullptr && object->is_shrunk() ? object : nullptr) {}
  ~Glance() {
    if (shrunk_ != nullptr) shrunk_->shrink();
  }
  Glance(const Glance&) = delete;
  Glance& operator=(const Glance&) = delete;

 private:
  const Object* shrunk_;
};

std::string object_key(const std::string& namespace_, const std::string& name);
// What the keys of a namespace begin with: "shop/", or "" for all.
std::string key_prefix(const std::string& namespace_);

}  // namespace kubewatch::apiserver
