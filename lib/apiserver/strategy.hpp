// What each kind of object demands of its writes beyond the common rules: which part of it an
// endpoint may set, what the server fills in, what may not change. Objects in served form; pure.
#pragma once

#include <string>

#include "apiserver/request.hpp"
#include "apiserver/resource.hpp"
#include "base/json.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "schema/field_set.hpp"

namespace kubewatch::apiserver {

// Kind-specific reading of a body: a Secret's stringData. Errors: bad_request.
Result<void> normalise_kind(const Resource& resource, Json& object);

// A new object, named by now: status emptied where it has an endpoint of its own, a Namespace's
// label, finalizer and phase, a CRD's derived names.
void prepare_create(const Resource& resource, Json& object);
// A new CertificateSigningRequest says by whom it was made, and nobody says so of another.
void tell_caller(const Resource& resource, const Caller& caller, Json& object);

// An update through the main endpoint ("") keeps the live status; one through "status" keeps all
// the rest.
void prepare_update(const Resource& resource, const Json& live, Json& object,
                    const std::string& subresource);

// What an endpoint of one part of a Pod keeps of the live one. As there, only when it is known who
// owns what: whoever writes more there owns it without its being written.
void keep_rest(const Resource& resource, const Json& live, Json& object,
               const std::string& subresource);

// Times that a write through that endpoint leaves out and the server fills in, which belong to
// nobody.
void fill_times(const Resource& resource, const Json& live, Json& object,
                const std::string& subresource, WallTime now);

// The part of an autoscaler that an endpoint does not write stays as it is stored, to the order of
// its metrics: a version in which it is served may not tell it whole.
void keep_other_part(const Resource& resource, const Json& live, Json& stored,
                     const std::string& subresource);

// The fields that an endpoint does not write, for managedFields.
schema::FieldSet ignored_fields(const Resource& resource, const Json& object,
                                const std::string& subresource);

// Kind-specific rules on top of metadata. `live` is null for a create. `tolerated`:
// schema::CompiledSchema.
void validate_kind(const Resource& resource, const Json* live, const Json& object,
                   const std::string& subresource, FieldErrors& errors,
                   FieldErrors* tolerated = nullptr);

// Kinds whose metadata.generation grows; of PriorityClasses it stays 1.
bool counts_changes(const Resource& resource);
// The map of metadata whose changes count for metadata.generation as well; "" = none.
std::string counted_metadata(const Resource& resource);

}  // namespace kubewatch::apiserver
