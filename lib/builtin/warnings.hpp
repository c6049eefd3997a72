// What the server says of objects of built-in kinds that it takes and that are unwise: names that
// make poor hostnames, deprecated fields, things said twice. Pure. What is refused:
// validation.hpp; what holds for metadata of all kinds: apiserver/metadata.hpp.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace kubewatch::builtin {

// No answer has room for more: each is a byte at least (apiserver/api_target.cpp).
inline constexpr std::size_t kMostWarnings = 4096;

// Of a valid object, as Warning headers have it, in the server's order. `live`: as it was before;
// null for a create. Not of subresources.
std::vector<std::string> warnings_of(const std::string& storage_id, const Json* live,
                                     const Json& object);

// Of a Pod (path "") or a template of Pods ("spec.template").
void warn_of_pod(const std::string& path, const Json& pod, std::vector<std::string>& warnings);
// Of the spec of a PersistentVolumeClaim at that path.
void warn_of_claim_spec(const std::string& path, const Json& spec,
                        std::vector<std::string>& warnings);
// Of volumes of a Pod whose spec is at that path.
void warn_of_volumes(const std::string& spec_path, const Json& spec,
                     std::vector<std::string>& warnings);
// Of what is right and has another text: an IPv6 address or a range of them.
void warn_of_address(const std::string& path, const std::string& address,
                     std::vector<std::string>& warnings);
// The same of each text in a list.
void warn_of_addresses(const std::string& path, const Json* list,
                       std::vector<std::string>& warnings);
// What to use instead of a label of nodes; "" where it is not deprecated.
std::string node_label_advice(const std::string& label);

}  // namespace kubewatch::builtin
