// Deletes: preconditions, propagation policy as finalizers, of dying objects too, namespaces and
// CRDs that are emptied first. What follows from a deletion is the garbage collector's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "apiserver/request.hpp"
#include "apiserver/storage.hpp"
#include "apiserver/writer.hpp"

namespace kubewatch::apiserver {

struct DeleteOptions {
  std::string uid;  // preconditions
  std::string resource_version;
  std::string propagation;  // "" | Background | Foreground | Orphan
  bool dry_run = false;
};
// From the body, where there is one, else from the query. Errors: bad_request, invalid_options.
Result<DeleteOptions> parse_delete_options(const std::string& body, const Query& query);

struct Deleted {
  ObjectPtr object;        // as it was, or as it is while it dies
  bool by_status = false;  // it is gone, and its kind is not answered with the object
};

// Errors: not_found, conflict (preconditions), forbidden (namespaces that must stay).
Result<Deleted> delete_object(Storage& storage, const WriteContext& context,
                              const DeleteOptions& options);

// What the server says of a deletion with these options before it looks for the object; mostly
// nothing.
std::vector<std::string> delete_warnings(const Resource& resource, const DeleteOptions& options);

// The Status of a finished deletion.
Json deleted_status(const Resource& resource, const Object& object);

}  // namespace kubewatch::apiserver
