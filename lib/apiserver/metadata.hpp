// metadata of objects on their way in: shape, names, labels, finalizers, owner references, and what
// an update may not change. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "apiserver/resource.hpp"
#include "base/result.hpp"

namespace kubewatch::apiserver {

// How the garbage collector is told of a deletion's policy.
inline constexpr const char kOrphanFinalizer[] = "orphan";
inline constexpr const char kForegroundFinalizer[] = "foregroundDeletion";

// Drops nulls, empty maps and lists, fields that ObjectMeta lacks (their names are added to
// `unknown`, as many as can be told), and the namespace of what has none; nulls inside of maps and
// lists become empty values. Errors: bad_request when a field has the wrong JSON type.
Result<void> normalise_metadata(const Resource& resource, Json& object,
                                std::vector<std::string>& unknown);

// The object of a write is the one of the URL. Errors: bad_request.
Result<void> check_url_name(const Json& object, const std::string& on_url);
// The number in metadata.resourceVersion; 0 = none. Errors: internal, when it is no number.
Result<std::uint64_t> version_of(const Json& object);
// Owner references that are there twice. The warning names where they come from.
enum class Owners { as_sent, patched };
void drop_repeated_owners(Owners owners, Json& object, std::vector<std::string>& warnings);

// Whether the rules of a kind ask for the metadata of a new object as well; else what all kinds are
// asked for is looked at only where they are kept.
bool looks_at_metadata(const Resource& resource);
// Of a new object: names, generation, labels, annotations, finalizers, owner references.
void validate_metadata(const Resource& resource, const Json& object, FieldErrors& errors);
// It was deleted, and waits for its finalizers or for what it holds.
bool is_dying(const Json& object);
bool has_finalizer(const Json& object, const char* name);
// With the last one goes the list.
void drop_finalizer(Json& object, const char* name);
// Finalizers of a custom object that it did not have before and that are unwise, as Warning headers
// have it. `live`: null for a new object.
std::vector<std::string> finalizer_warnings(const Json* live, const Json& object);
// What an update cannot set is as it was: times, generation, resourceVersion; the uid where it
// names none.
void keep_server_metadata(const Json& before, Json& after);
// Of an object that is there: the same, and what changed that may not: uid, the marks of a
// deletion, new finalizers on a dying object. Most of it is told twice or more, as the real server
// looks at it for all kinds and then for the kind.
void validate_metadata_update(const Resource& resource, const Json& before, const Json& after,
                              const std::string& subresource, FieldErrors& errors);

// As JSON, in the order of the server's own type.
std::string metadata_text(const Json& metadata);

}  // namespace kubewatch::apiserver
