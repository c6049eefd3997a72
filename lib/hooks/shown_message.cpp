// Masking, then cutting.
#include "hooks/shown_message.hpp"

#include <fmt/format.h>

#include "base/cut_text.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::size_t kMostShown = 4096;

}  // namespace

std::string shown_message(const SecretMask& mask, std::string_view text) {
  std::string out = mask.mask_message(text);
  const std::size_t size = out.size();
  if (size <= kMostShown) return out;
  return base::cut_text(std::move(out), kMostShown) +
         fmt::format("... (cut: it has {} bytes)", size);
}

}  // namespace kubewatch::hooks
