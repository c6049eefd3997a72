// What an API server demands of names, metadata and the simple fields of objects, for whoever plays
// one and for whoever looks before it writes. Texts are those of kube-apiserver; "" when valid.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/resource.hpp"

namespace kubewatch::core {

// Its size in bytes, keys and values together.
inline constexpr std::size_t kMaxAnnotations = 256U << 10U;

// A name, or what the server makes one of by adding to it.
enum class NamePart { whole, prefix };

// Of what may stand in a URL: the only rule for names of RBAC kinds and a few others.
std::string check_path_segment(std::string_view name);
// What the kind demands of a name; of a kind that is not known here what most demand.
std::string check_object_name(const Gvk& gvk, std::string_view name);
// All that is wrong, in the server's order.
std::vector<std::string> object_name_problems(const Gvk& gvk, std::string_view name,
                                              NamePart part = NamePart::whole);
std::string check_annotation_key(std::string_view key);
// All that is wrong with a key in the data of a ConfigMap or Secret, in the server's order.
std::vector<std::string> data_key_problems(std::string_view key);

// As Go's encoding/base64 reads a []byte, which is what the real server does: line breaks are
// passed over, padding must be there, bits that are left over do not count. The error is the place
// that Go names.
std::variant<std::string, std::size_t> decode_bytes(std::string_view text);
// The same for who need not say where it is wrong.
std::optional<std::string> decoded_bytes(std::string_view text);

}  // namespace kubewatch::core
