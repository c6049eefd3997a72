// What one hook was given and what it answered, whole and unmasked: for dry runs, test cases and
// recordings. Whoever keeps or prints it masks the secrets (P6).
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "hooks/ownership.hpp"
#include "hooks/rule.hpp"
#include "hooks/secret_mask.hpp"
#include "loop/process.hpp"

namespace kubewatch::hooks {

// Valid during the call.
struct HookExchange {
  const std::string& id;
  const Rule& rule;
  const Owner& owner;
  std::string reason;
  std::string reason_object;  // "" = the object itself
  std::uint32_t attempt = 1;
  bool finalizing = false;
  const std::string& invocation;  // the document that was on stdin
  const loop::ProcessExit& exit;  // with stdout
  const SecretMask& mask;         // secrets that the hook was given
};
using OnExchange = std::function<void(const HookExchange&)>;

}  // namespace kubewatch::hooks
