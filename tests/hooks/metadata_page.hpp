// A page of a list that was asked for as metadata alone.
#pragma once

#include <string>

namespace kubewatch::test {

inline std::string metadata_page(const std::string& items, const std::string& next = "") {
  return R"({"kind":"PartialObjectMetadataList","apiVersion":"meta.k8s.io/v1","metadata":)"
         R"({"resourceVersion":"5","continue":")" +
         next + R"("},"items":[)" + items + "]}";
}

}  // namespace kubewatch::test
