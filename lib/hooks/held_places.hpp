// Where a server is asked for objects that a rule's finalizer holds: at one object, in one
// namespace, in those of the rule, or everywhere; and what follows when it refuses. Pure.
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

// What a person asked for.
struct HeldAsked {
  std::string name;             // "" = all objects
  std::string namespace_;       // "" = not named; with a name the one that the object is in
  bool all_namespaces = false;  // also those that the rule does not name
};

struct HeldPlace {
  std::string namespace_;  // "" = all of them, or a cluster-scoped kind
  std::string name;        // "" = what is there is listed
  bool operator==(const HeldPlace&) const = default;
};

class HeldPlaces {
 public:
  // `namespaces`: the rule's; empty: all.
  HeldPlaces(const core::ResourceType& type, std::vector<std::string> namespaces,
             const HeldAsked& asked);

  // The next to ask at; absent: there is none left.
  std::optional<HeldPlace> next();
  // The one that next() gave last could not be seen. Where all namespaces may not be listed, those
  // of the rule come next.
  void failed(const Error& error);
  // The server would not answer anything else either.
  bool cut_off() const { return cut_off_; }

 private:
  std::vector<std::string> namespaces_;
  std::deque<HeldPlace> left_;
  bool everywhere_ = false;  // all namespaces are asked at once
  bool cut_off_ = false;
};

}  // namespace kubewatch::hooks
