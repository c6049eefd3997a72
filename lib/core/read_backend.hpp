// What a read-only API server answers from: the cache of one kind in all or one namespace, as its
// owner offers it. Declared here so that lib/apiserver knows nothing of the store, nor the store of
// it. No I/O.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/params.hpp"
#include "core/resource.hpp"
#include "core/selector.hpp"

namespace kubewatch::core {

// All objects at one resourceVersion, whatever happens to the cache later. Give it up soon: what
// changes while it lives is kept for it.
class ReadState {
 public:
  virtual ~ReadState() = default;
  virtual const std::string& resource_version() const = 0;
  // By namespace, then name. namespace_: absent = all.
  virtual std::vector<ObjectKey> select(const LabelSelector& labels,
                                        const std::optional<std::string>& namespace_) const = 0;
  // The object's compact JSON without managedFields; absent when there is no such object.
  virtual std::optional<std::string> json(const ObjectKey& key) const = 0;
};
using ReadStatePtr = std::shared_ptr<const ReadState>;

class ReadBackend {
 public:
  virtual ~ReadBackend() = default;
  virtual const ResourceType& type() const = 0;
  virtual const std::string& namespace_name() const = 0;  // "" = all, or cluster-scoped
  // metadata: no more than that is here of each object.
  virtual Content content() const = 0;
  virtual bool ready() const = 0;
  // Of the newest state; "" until ready.
  virtual std::string resource_version() const = 0;
  virtual ReadStatePtr state() const = 0;  // null until ready
  virtual std::optional<std::string> json(const ObjectKey& key) const = 0;
  // Objects of which only metadata is here though the cache is to have all of it (too big, too
  // deep), in order. Costs nothing where there are none.
  virtual std::vector<ObjectKey> reduced() const = 0;
};

}  // namespace kubewatch::core
