// Patches between texts: what is made of two of them brings the second back, and bytes that are no
// patch are refused or give what they say, never more and never from beyond the base.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "runtime/text_patch.hpp"

using namespace kubewatch::runtime;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t half = bytes.size() * data[0] / 255;
  const std::string_view base = bytes.substr(0, half);
  const std::string_view text = bytes.substr(half);
  std::string out;
  if (!apply_patch(base, make_patch(base, text), text.size(), out) || out != text) std::abort();
  const std::size_t wanted = data[1] * std::size_t{16};
  if (apply_patch(base, text, wanted, out) && out.size() != wanted) std::abort();
  return 0;
}
