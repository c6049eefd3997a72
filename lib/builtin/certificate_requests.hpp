// CertificateSigningRequests: which endpoint writes what of them, and their rules. Nobody signs
// one, the request itself is not read, and of certificates no more than their PEM. Pure; null is
// absent.
#pragma once

#include <string>

#include "base/json.hpp"
#include "schema/field_error.hpp"

namespace kubewatch::builtin {

inline constexpr const char* kCertificateRequests =
    "certificatesigningrequests.certificates.k8s.io";

// An update has of the live object what its endpoint does not write: "" its spec and status,
// "status" its spec and the conditions Approved and Denied as they are, "approval" all but the
// conditions.
void prepare_request(const Json& live, Json& object, const std::string& subresource);
// Conditions without times get them; the one of a transition stays while the status does.
void fill_condition_times(const Json& live, Json& object, const std::string& now);
// `live` is null for a create.
void check_certificate_request(const Json* live, const Json& object, const std::string& subresource,
                               schema::FieldErrors& errors);

}  // namespace kubewatch::builtin
