// How many bytes the files may have that say where the API server is and who we are there: the same
// when they are read for the first time and again. Internal to lib/client.
#pragma once

#include <cstddef>

namespace kubewatch::client {

inline constexpr std::size_t kMaxKubeconfig = 4U << 20U;
inline constexpr std::size_t kMaxCredentialFile = 1U << 20U;  // a CA, a certificate, a key, a token

}  // namespace kubewatch::client
