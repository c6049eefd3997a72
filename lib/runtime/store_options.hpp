// What a store keeps of its objects. Data, and the edits of its user.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "core/params.hpp"
#include "core/resource.hpp"

namespace kubewatch::runtime {

struct IngestLimits {
  std::size_t max_bytes = 16U << 20U;  // the largest event that client-go accepts
  std::size_t max_depth = 200;         // what the rest of the program parses
};

// "of shop/web only the metadata is kept: it is bigger than ..."
std::string why_reduced(const std::string& object);

// All pointers are RFC 6901.
struct StoreOptions {
  std::vector<std::string> strip;  // dropped before an object is kept
  // When not empty: only these and what identifies an object are kept (type, name, namespace, uid,
  // resourceVersion, generation, times of creation and deletion, labels, owners, finalizers).
  std::vector<std::string> project;
  // Edits what the two above left of an object, before it is kept: any function from JSON text to
  // JSON text. Name, namespace, uid and resourceVersion must stay; what is no such object any more
  // counts as broken, and the object is kept as metadata only.
  std::function<std::string(std::string json)> modify;
  // metadata.managedFields as they are. Without: who applied what when, but not which fields
  // (StoredObject::managers).
  bool keep_managed_fields = false;
  // metadata: apiVersion, kind and metadata only, under the type below, whatever the server sends.
  core::Content content = core::Content::full;
  core::Gvk type;        // added where list items lack their own
  bool previous = true;  // changes carry previous_meta and previous_json
  IngestLimits limits;
};

}  // namespace kubewatch::runtime
