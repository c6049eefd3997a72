// Which objects one `watches` brings together, by its `map` or `refs`. An object on which the
// program fails is remembered: a list made of such an index may lack something. Pure.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "runtime/relation_index.hpp"

namespace kubewatch::hooks {

class Relations {
 public:
  // What `source` points at, or why that cannot be told: then what it pointed at last stands.
  void set(const core::ObjectKey& source, const Result<std::vector<core::ObjectKey>>& targets,
           TimePoint now);
  void forget(const core::ObjectKey& source);
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
  // Of those on which it fails the one that was tried longest ago.
  std::optional<core::ObjectKey> tried_longest_ago() const;

 private:
  runtime::RelationIndex index_;
  struct Failure {
    std::string why;
    TimePoint tried;
  };
  std::map<core::ObjectKey, Failure> failures_;
};

}  // namespace kubewatch::hooks
