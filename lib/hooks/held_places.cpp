#include "hooks/held_places.hpp"

#include <utility>

namespace kubewatch::hooks {
namespace {

// Somebody who is not known, or a server that is not there, is so for every request.
bool is_of_one_request(const Error& error) {
  return error.status() != nullptr && !error.is_unauthorized();
}

}  // namespace

HeldPlaces::HeldPlaces(const core::ResourceType& type, std::vector<std::string> namespaces,
                       const HeldAsked& asked)
    : namespaces_(std::move(namespaces)) {
  if (!type.namespaced) {
    // Who names a namespace does not mean what is in none.
    const bool chosen = !asked.name.empty() || asked.namespace_.empty() || asked.all_namespaces;
    if (chosen) left_.push_back({"", asked.name});
  } else if (!asked.name.empty() || (!asked.namespace_.empty() && !asked.all_namespaces)) {
    left_.push_back({asked.namespace_, asked.name});
  } else if (namespaces_.empty() || asked.all_namespaces) {
    left_.push_back({"", ""});
    everywhere_ = true;
  } else {
    for (const std::string& namespace_ : namespaces_) left_.push_back({namespace_, ""});
  }
}

std::optional<HeldPlace> HeldPlaces::next() {
  if (left_.empty()) return std::nullopt;
  HeldPlace out = std::move(left_.front());
  left_.pop_front();
  return out;
}

void HeldPlaces::failed(const Error& error) {
  if (!is_of_one_request(error)) {
    cut_off_ = true;
    left_.clear();
    return;
  }
  if (!everywhere_ || !error.is_forbidden()) return;
  everywhere_ = false;
  for (const std::string& namespace_ : namespaces_) left_.push_back({namespace_, ""});
}

}  // namespace kubewatch::hooks
