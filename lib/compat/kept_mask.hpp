// A mask of the Secrets of one binding, made once and again only after one of them changed: parsing
// all of them for every run is what makes runs slow. Pure.
#pragma once

#include <functional>

#include "hooks/secret_mask.hpp"

namespace kubewatch::compat {

class KeptMask {
 public:
  using Build = std::function<void(hooks::SecretMask&)>;
  // What it was made from is another now.
  void changed() { fresh_ = false; }
  // `keep`: changed() will be called when anything changes; else it is made anew each time.
  const hooks::SecretMask& get(bool keep, const Build& build) {
    if (!fresh_) {
      mask_ = {};
      build(mask_);
    }
    fresh_ = keep;
    return mask_;
  }

 private:
  hooks::SecretMask mask_;
  bool fresh_ = false;
};

}  // namespace kubewatch::compat
