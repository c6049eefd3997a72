// The bytes of a recording: a first line that names format and version, then blocks of a header
// (sizes, checksum) and compressed lines, one JSON object each. What was cut off or damaged ends
// what counts: all blocks before it can be read. What the lines mean is recorder's business. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::hooks {

inline constexpr std::string_view kRecordingMagic = "kubewatch-recording 1\n";
// Of one entry; what is longer is not recorded.
inline constexpr std::size_t kMaxRecordedLine = 8U << 20U;
// Lines of one block, unpacked.
inline constexpr std::size_t kMaxRecordedBlock = 16U << 20U;
// A whole recording, packed, and unpacked.
inline constexpr std::size_t kMaxRecording = 512U << 20U;
inline constexpr std::size_t kMaxRecordedText = std::size_t{2} << 30U;
inline constexpr std::size_t kMaxRecordedLines = 4'000'000;

// Precondition: whole lines, none of them empty, at most kMaxRecordedBlock bytes. "" when there is
// no memory for it.
std::string recording_block(std::string_view lines);

struct LoadedRecording {
  std::vector<std::string> lines;
  std::uint64_t valid = 0;  // bytes that count
  std::string damage;       // what was wrong with the rest; "" = nothing
};
// Errors: invalid (no recording, or of another version): nothing of it can be used.
Result<LoadedRecording> load_recording(std::string_view bytes);

}  // namespace kubewatch::hooks
