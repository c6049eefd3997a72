// Where a Secret holds what is secret, for whoever hides it in a copy that is shown or kept: the
// values of data and stringData, and the annotation in which kubectl apply keeps the whole object.
// Pure.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "base/json_fwd.hpp"
#include "core/resource.hpp"

namespace kubewatch::hooks {

// The kind, in whatever version.
bool is_secret(const core::Gvk& gvk);

struct SecretMap {
  std::string_view key;
  bool encoded;  // its values are base64
};
inline constexpr std::array<SecretMap, 2> kSecretMaps = {{{"data", true}, {"stringData", false}}};

using SecretVisit = std::function<void(Json& value, bool encoded)>;
// Every value in the maps of a Secret, whatever it is: a patch has nulls there, and who is no API
// server may send anything. What stands in place of a map, and is not null, is such a value itself.
void for_each_secret_value(Json& secret, const SecretVisit& visit);

// What a value of a Secret means: decoded where it is base64, as it stands where it is not. The
// same value gives the same text, in data and in stringData.
std::string secret_meaning(const std::string& value, bool encoded);

// A map of annotations: of kubectl's nothing is left but that it was there.
void hide_last_applied(Json& annotations);

}  // namespace kubewatch::hooks
