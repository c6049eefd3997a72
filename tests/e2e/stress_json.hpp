// One text for an object, however it was read: as the server sent it, byte for byte, but for what a
// cache drops (metadata.managedFields) and what list items of built-in kinds lack (apiVersion,
// kind). Independent of lib/: it is what lib/ is compared with.
#pragma once

#include <string>
#include <string_view>

namespace kubewatch::e2e {

std::string without_managed_fields_and_type(std::string_view object);

}  // namespace kubewatch::e2e
