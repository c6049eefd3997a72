// Store changes for tests of what listens to them.
#pragma once

#include <string>

#include "runtime/store.hpp"

namespace kubewatch::test {

inline core::ObjectMeta meta_named(const std::string& name, int version = 1) {
  core::ObjectMeta meta;
  meta.namespace_ = "shop";
  meta.name = name;
  meta.uid = "uid-" + name;
  meta.resource_version = std::to_string(version);
  return meta;
}

inline runtime::StoreChange change_of(core::ObjectMeta meta,
                                      runtime::ChangeType type = runtime::ChangeType::modified,
                                      std::string json = "{}") {
  runtime::StoreChange change;
  change.type = type;
  change.meta = std::move(meta);
  change.json = std::move(json);
  return change;
}

}  // namespace kubewatch::test
