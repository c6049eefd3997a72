// Any bytes as a recording: what is read of it are whole lines, it says where they end, and reading
// just so much again gives the same without damage.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "hooks/recording_format.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using kubewatch::hooks::load_recording;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto loaded = load_recording(bytes);
  if (!loaded.ok()) return 0;
  if (loaded->valid > size || loaded->damage.empty() != (loaded->valid == size)) std::abort();
  const auto again = load_recording(bytes.substr(0, loaded->valid));
  if (!again.ok() || !again->damage.empty() || again->lines != loaded->lines) std::abort();
  for (const auto& line : loaded->lines) {
    if (line.find('\n') != std::string_view::npos) std::abort();
  }
  return 0;
}
