// Creates, updates, patches and applies: from a body to a stored object, with all that the API
// server does on the way (admission, defaults, status separation, managedFields, validation,
// conflicts). No HTTP, no clock.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/registry.hpp"
#include "apiserver/request.hpp"
#include "apiserver/service_ips.hpp"
#include "apiserver/storage.hpp"
#include "base/random.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "core/params.hpp"

namespace kubewatch::apiserver {

// The field manager of what the server itself writes.
inline constexpr const char kApiServer[] = "kube-apiserver";
// The field manager of what the real server leaves to kube-controller-manager.
inline constexpr const char kControllerManager[] = "kube-controller-manager";

enum class FieldValidation { ignore, warn, strict };

// One write as the URL and its options have it.
struct WriteContext {
  ResourcePtr resource;
  std::string namespace_;
  std::string name;  // "" for create
  // "", "status", "finalize", "approval", those of a Pod's parts; scale is handled by its caller
  std::string subresource;
  std::string manager;
  Caller caller;
  bool dry_run = false;
  bool force = false;         // apply
  bool owners_known = false;  // changed(): managedFields are right already
  // What a cluster saved keeps its uid, age and generation, which others refer to, and who asked
  // for it. It was admitted there: that is not asked anew, nor how its status became what it is.
  bool saved = false;
  FieldValidation validation = FieldValidation::warn;
  std::vector<std::string> faults;  // of the body's text, as sentences: fields that it says twice
  // Of a create or update in JSON, while the request lives: in its order faults are told.
  std::string_view text;
  // Where warnings go, also those of a request that fails later. Copies share it.
  std::shared_ptr<std::vector<std::string>> warnings = std::make_shared<std::vector<std::string>>();
  WallTime now;
};

struct Written {
  ObjectPtr object;
  bool created = false;
};

class Writer {
 public:
  Writer(Storage& storage, Registry& registry, base::Random& random)
      : storage_(storage), registry_(registry), random_(random) {}

  // Every change of the storage, also those that others make: it says what Services hold.
  void on_event(const std::string& storage_id, const EventPtr& event);

  Result<Written> create(const WriteContext& context, Json body);
  Result<Written> update(const WriteContext& context, Json body);
  // `body` is the parsed patch: operations, or a merge or strategic patch.
  Result<Written> patch(const WriteContext& context, core::PatchType type, const Json& sent);
  Result<Written> apply(const WriteContext& context, Json configuration);

  // For the server's own controllers: changes the served form of an object that exists; nothing is
  // written when `change` returns false or the object is gone.
  using Change = std::function<bool(Json& object)>;
  Result<void> change(const WriteContext& context, const Change& change);
  // The same, and what was written; null where nothing was.
  Result<ObjectPtr> changed(const WriteContext& context, const Change& change);

  // In served form, ready to be changed. Errors: not_found.
  Result<ObjectPtr> live(const WriteContext& context) const;

 private:
  // `applied`: what server-side apply made, and no body that a client sent.
  Result<Json> decode(const WriteContext& context, Json body, bool applied = false);
  Result<void> admit_create(const WriteContext& context, const Json& object) const;
  Result<void> fill_new(const WriteContext& context, Json& object);
  // `tracked`: managedFields are right already.
  Result<void> check_version(const WriteContext& context, const Object& live,
                             const Json& object) const;
  // What the object says as it was sent, and its typed form does not any more.
  struct AsSent {
    bool shares_labels = false;  // builtin/defaults.hpp
    bool overhead = false;       // pod_admission.hpp
    Json empties = nullptr;      // of what is applied: see check_kind
  };
  static AsSent as_sent(const Resource& resource, const Json& sent);
  Result<Written> commit_create(const WriteContext& context, Json object, bool tracked,
                                const AsSent& sent);
  Result<Written> commit_update(const WriteContext& context, const ObjectPtr& live, Json object,
                                bool tracked, Json empties = nullptr);
  // Lists and maps with nothing in them are not written (or as null), and yet the defaults and the
  // rules of a kind see them: `empties` is what leads to them in the object, null where there are
  // none.
  static bool knows_empties(const Resource& resource);
  static Json take_empties(const Resource& resource, const Json& sent, const Json& written);
  static void leave_out(const Resource& resource, Json& object, Json& empties);
  static void check_kind(const WriteContext& context, const Json* live, const Json& object,
                         const Json& empties, FieldErrors& errors,
                         FieldErrors* tolerated = nullptr);
  // Of a custom kind, or null.
  ObjectPtr definition_of(const Resource& resource) const;
  Result<Json> track(const WriteContext& context, const Json* live, const Json& object);
  // What an object of a built-in kind gets beyond its defaults; `live` is null for a new one.
  Result<void> complete(const WriteContext& context, const Json* live, Json& object);
  // Devices are had as an administrator in namespaces that say so.
  void check_admin_access(const WriteContext& context, const Json* live, const Json& object,
                          schema::FieldErrors& errors) const;
  // Makes it fit, in stored form. `live`: what it replaces, null for a new object; `applied`: by
  // server-side apply. Errors: internal, of one that is too large to be kept.
  Result<void> fit(const WriteContext& context, const Object* live, bool applied,
                   Json& stored) const;
  // `shown`: Storage::put.
  ObjectPtr store(const WriteContext& context, Json stored, std::optional<Json> shown = {});

  Storage& storage_;
  Registry& registry_;
  base::Random& random_;
  ServiceHoldings held_;
};

// What a patch makes of an object, before anybody looks at it. Errors: bad_request, invalid,
// too_large, internal_error.
Result<Json> patched(const Resource& resource, core::PatchType type, const Json& live,
                     const Json& patch);
// What is applied is an object of that kind, and owns nothing yet. Errors: bad_request.
Result<void> check_configuration(const core::Gvk& gvk, const Json& configuration);
// An applied configuration as it was sent: "(shop/web; apps/v1, Kind=Deployment)".
std::string told_object(const Json& configuration);
// What a refusal tells of the patch; only made where one is.
using ShownPatch = std::function<std::string()>;
// A patch may not make an object of another kind of it. Errors: invalid, bad_request.
Result<void> check_patched_type(const WriteContext& context, const Json& object,
                                const ShownPatch& shown);
// What comes out of a patch and is no object of its kind is the patch's fault: 422, and not 400.
// `shown`: the patched object, or the patch itself where it is strategic.
Error as_patch_error(const Error& error, const std::string& shown);
// How such a patch is told.
std::string shown_patch(core::PatchType type, const Json& patch, const Json& result);

// Whoever names a uid means that object alone. `live`: its uid, "" where there is none. Errors:
// conflict.
Result<void> check_uid(const WriteContext& context, const std::string& live, const Json& object);

// What is said of fields that the text has twice (context.faults) or that its kind lacks. Errors:
// bad_request, where the client wants none of it.
Result<std::vector<std::string>> field_warnings(const WriteContext& context,
                                                const std::vector<std::string>& unknown);

// Of a valid object, written or left as it is. `live`: null for a create.
void tell_warnings(const WriteContext& context, const Json* live, const Json& object);

// A Status object as an Error, for those that lib/schema words.
Error error_from_status(const Json& status);

}  // namespace kubewatch::apiserver
