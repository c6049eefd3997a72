// Deletes: preconditions, propagation policy as finalizers, of dying objects too, namespaces and
// CRDs that are emptied first. What follows from a deletion is the garbage collector's.
#pragma once

#include <string>
#include <vector>

#include "apiserver/delete_options.hpp"
#include "apiserver/storage.hpp"
#include "apiserver/writer.hpp"

namespace kubewatch::apiserver {

struct Deleted {
  ObjectPtr object;        // as it was, or as it is while it dies
  bool by_status = false;  // it is gone, and its kind is not answered with the object
  bool gone = false;       // nothing was waited for; of a dry run: nothing would be
};

// Errors: not_found, conflict (preconditions), forbidden (namespaces that must stay).
Result<Deleted> delete_object(Storage& storage, const WriteContext& context,
                              const DeleteOptions& options);

// Of a kind, those whose keys begin with `prefix`, as `manager`. What waits for its finalizers, or
// may not be deleted, is left.
void delete_all(Storage& storage, const ResourcePtr& resource, const std::string& prefix,
                const std::string& manager, const DeleteOptions& options, WallTime now);

// What the server says of a deletion with these options before it looks for the object; mostly
// nothing.
std::vector<std::string> delete_warnings(const Resource& resource, const DeleteOptions& options);

// The Status of a finished deletion.
Json deleted_status(const Resource& resource, const Object& object);

}  // namespace kubewatch::apiserver
