// The states that lists in pages go on in: a continue token names the resourceVersion of the first
// page, and all pages are of that one state while it is kept. Bounded in number and time; who comes
// too late starts anew. No I/O; time is an argument.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/time.hpp"
#include "core/read_backend.hpp"

namespace kubewatch::apiserver {

using Keys = std::vector<core::ObjectKey>;
using KeysPtr = std::shared_ptr<const Keys>;

// One list: what it selects from, and its objects in the order in which the API lists them.
struct Listing {
  core::ReadStatePtr state;
  KeysPtr keys;
};

class ReadPages {
 public:
  explicit ReadPages(std::size_t most = 16, Duration keep = Duration{300000})
      : most_(most), keep_(keep) {}

  // `selection`: what the list selects with; the same text for all of its pages.
  void keep(std::uint64_t version, const std::string& selection, Listing listing, TimePoint now);
  // Null keys when it is not kept any more. A use counts as new.
  Listing find(std::uint64_t version, const std::string& selection, TimePoint now);
  void expire(TimePoint now);
  void clear() { kept_.clear(); }
  std::size_t size() const { return kept_.size(); }

 private:
  struct Kept {
    std::uint64_t version = 0;
    std::string selection;
    Listing listing;
    TimePoint used{};
  };
  std::size_t most_;
  Duration keep_;
  std::vector<Kept> kept_;  // used longest ago first
};

// The API orders objects by "namespace/name" as one text, which is not the order of the pairs: '-'
// and '.' come before '/'.
Keys in_api_order(Keys keys);
// The place of the first key that is not before `start` ("shop/web") in that order.
std::size_t place_of(const Keys& keys, const std::string& start);

}  // namespace kubewatch::apiserver
