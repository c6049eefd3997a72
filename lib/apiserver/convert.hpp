// Between the version an object is stored in and the version it is served in. Strategy None for
// CRDs: apiVersion changes, fields that the other version does not have go, and what is stored has
// the defaults of the version that it is stored in, of its status as well, as far as they make no
// object of it that is far too large (CompiledSchema). Events are served in two API groups with
// different field names, autoscalers in two versions of different form.
#pragma once

#include <string>

#include "apiserver/resource.hpp"
#include "base/json.hpp"
#include "core/selector.hpp"

namespace kubewatch::apiserver {

// Whether an object that was stored with that apiVersion is served otherwise. A custom one stays in
// the version that it was stored in when a later definition stores another.
bool is_converted(const Resource& resource, const std::string& stored_version);
Json to_served(const Resource& resource, Json stored);
Json to_stored(const Resource& resource, Json served);
// Its versions say the same in different fields: who owns what is told version by version.
bool is_autoscaler(const Resource& resource);
// A selector of served objects, as one of stored ones.
core::FieldSelector to_stored(const Resource& resource, const core::FieldSelector& served);

}  // namespace kubewatch::apiserver
