// Creates, updates, patches and applies: from a body to a stored object, with all that the API
// server does on the way (admission, defaults, status separation, managedFields, validation,
// conflicts). No HTTP, no clock.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "apiserver/registry.hpp"
#include "apiserver/storage.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "core/params.hpp"

namespace kubewatch::apiserver {

enum class FieldValidation { ignore, warn, strict };

// One write as the URL and its options have it.
struct WriteContext {
  ResourcePtr resource;
  std::string namespace_;
  std::string name;         // "" for create
  std::string subresource;  // "", "status", "finalize"; scale is handled by its caller
  std::string manager;
  bool dry_run = false;
  bool force = false;        // apply
  std::string told_version;  // schema::ApplyRequest
  FieldValidation validation = FieldValidation::warn;
  std::vector<std::string> duplicates;  // of the body, as duplicate_fields() has them
  WallTime now;
};

struct Written {
  ObjectPtr object;
  bool created = false;
  std::vector<std::string> warnings;
};

class Writer {
 public:
  Writer(Storage& storage, Registry& registry, base::Random& random)
      : storage_(storage), registry_(registry), random_(random) {}

  Result<Written> create(const WriteContext& context, Json body);
  Result<Written> update(const WriteContext& context, Json body);
  // `body` is the parsed patch: operations, or a merge or strategic patch.
  Result<Written> patch(const WriteContext& context, core::PatchType type, const Json& body);
  Result<Written> apply(const WriteContext& context, Json configuration);

  // For the server's own controllers: changes the served form of an object that exists; nothing is
  // written when `change` returns false or the object is gone.
  using Change = std::function<bool(Json& object)>;
  Result<void> change(const WriteContext& context, const Change& change);

  // In served form, ready to be changed. Errors: not_found.
  Result<ObjectPtr> live(const WriteContext& context) const;

 private:
  Result<Json> decode(const WriteContext& context, Json body, std::vector<std::string>& warnings);
  Result<void> admit_create(const WriteContext& context, const std::string& name) const;
  Result<void> fill_new(const WriteContext& context, Json& object);
  // `tracked`: managedFields are right already.
  Result<void> check_version(const WriteContext& context, const Object& live,
                             const std::string& version) const;
  Result<Written> commit_create(const WriteContext& context, Json object, bool tracked);
  Result<Written> commit_update(const WriteContext& context, const ObjectPtr& live, Json object,
                                bool tracked);
  Result<Json> track(const WriteContext& context, const Json* live, const Json& object);
  ObjectPtr store(const WriteContext& context, Json object);

  Storage& storage_;
  Registry& registry_;
  base::Random& random_;
};

// A Status object as an Error, for those that lib/schema words.
Error error_from_status(const Json& status);

}  // namespace kubewatch::apiserver
