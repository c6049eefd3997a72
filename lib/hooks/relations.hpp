// Which objects one `watches` brings together, by its `map` or `refs`. An object on which the
// program fails keeps what it pointed at last, and is remembered: a list made of such an index may
// lack something. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "runtime/relation_index.hpp"

namespace kubewatch::hooks {

class Relations {
 public:
  // What `source` points at, or why that cannot be told.
  void set(const core::ObjectKey& source, const Result<std::vector<core::ObjectKey>>& targets);
  void forget(const core::ObjectKey& source) { set(source, std::vector<core::ObjectKey>{}); }
  std::vector<core::ObjectKey> targets_of(const core::ObjectKey& source) const {
    return index_.targets_of(source);
  }
  std::vector<core::ObjectKey> sources_of(const core::ObjectKey& target) const {
    return index_.sources_of(target);
  }
  // "" = the program did not fail on `source`.
  std::string failure_of(const core::ObjectKey& source) const;
  // That of the first object on which it fails; "" = on none.
  std::string any_failure() const;

 private:
  runtime::RelationIndex index_;
  std::map<core::ObjectKey, std::string> failures_;
};

}  // namespace kubewatch::hooks
