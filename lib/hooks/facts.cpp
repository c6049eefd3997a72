#include "hooks/facts.hpp"

namespace kubewatch::hooks {

std::string name_of(const WatchFacts& watch) {
  return watch.namespace_.empty() ? watch.resource
                                  : watch.resource + " in namespace " + watch.namespace_;
}

std::string how_long_failing(const WatchFacts& watch) {
  return "the watch of " + name_of(watch) + " has failed for " +
         base::format_duration(*watch.failing_for);
}

}  // namespace kubewatch::hooks
