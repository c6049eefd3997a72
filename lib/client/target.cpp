#include "client/target.hpp"

#include <memory>
#include <utility>

#include "core/object_rules.hpp"

namespace kubewatch::client {
namespace {

// A name that the path cannot carry: an empty one would make an object's URL the collection's.
Result<void> check_segment(const std::string& what, const std::string& name) {
  if (name.empty()) return Error(ErrorKind::invalid, "the " + what + " is missing");
  if (!core::check_path_segment(name).empty()) {
    return Error(ErrorKind::invalid,
                 "the " + what + " \"" + name + "\" may not be . or .. or hold / or %");
  }
  return {};
}

struct Refused : Pending {
  std::shared_ptr<std::function<void(Error)>> done;
};

}  // namespace

Result<void> check_namespace(const core::ResourceType& type, const std::string& namespace_) {
  return type.namespaced ? check_segment("namespace", namespace_) : Result<void>{};
}

Result<void> check_target(const core::ResourceType& type, const core::ObjectKey& key) {
  KW_TRY(check_namespace(type, key.namespace_));
  return check_segment("name", key.name);
}

PendingPtr refuse(loop::EventLoop& loop, Error error, std::function<void(Error)> done) {
  auto pending = std::make_unique<Refused>();
  pending->done = std::make_shared<std::function<void(Error)>>(std::move(done));
  loop.post([weak = std::weak_ptr(pending->done), error = std::move(error)] {
    if (const auto callback = weak.lock()) (*callback)(error);
  });
  return pending;
}

}  // namespace kubewatch::client
