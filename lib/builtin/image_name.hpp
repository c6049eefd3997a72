// The tag of a container image's name, as the defaults of pull policies need it. Pure; knows no
// registry.
#pragma once

#include <string_view>

namespace kubewatch::builtin {

// Tagged "latest", or with neither tag nor digest. A text that is no image name is neither.
bool is_latest_image(std::string_view image);

}  // namespace kubewatch::builtin
