#include "runtime/needed_paths.hpp"

#include <algorithm>
#include <array>

namespace kubewatch::runtime {

bool is_needed(std::string_view pointer) {
  constexpr std::array<std::string_view, 14> kNeeded = {"",
                                                        "/apiVersion",
                                                        "/kind",
                                                        "/metadata",
                                                        "/metadata/name",
                                                        "/metadata/namespace",
                                                        "/metadata/uid",
                                                        "/metadata/resourceVersion",
                                                        "/metadata/generation",
                                                        "/metadata/labels",
                                                        "/metadata/finalizers",
                                                        "/metadata/ownerReferences",
                                                        "/metadata/deletionTimestamp",
                                                        "/metadata/creationTimestamp"};
  return std::find(kNeeded.begin(), kNeeded.end(), pointer) != kNeeded.end();
}

}  // namespace kubewatch::runtime
