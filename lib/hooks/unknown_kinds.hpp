// A kind that discovery told, and that an API server then does not know: behind a load balancer one
// server learns of a new CustomResourceDefinition seconds after another said it was established.
// For a while that is no failure for good. Pure.
#pragma once

#include <map>

#include "base/error.hpp"
#include "base/time.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

class UnknownKinds {
 public:
  // The request for this kind was answered as if there were none. True: within half a minute of
  // the first such answer, so another try is worth it.
  bool may_come(const core::Gvk& gvk, TimePoint now);
  // A 404 for a kind that may still come becomes an error that is worth another try; any other
  // error stays what it is.
  Error explain(Error error, const core::Gvk& gvk, TimePoint now);

 private:
  struct Seen {
    TimePoint first;
    TimePoint last;
  };
  std::map<core::Gvk, Seen> seen_;
};

}  // namespace kubewatch::hooks
