#include "hooks/recording_format.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/keyed_hash.hpp"
#include "base/strings.hpp"
#include "runtime/block_codec.hpp"

namespace kubewatch::hooks {

namespace {

constexpr std::string_view kFamily = "kubewatch-recording ";
constexpr std::size_t kBlockHeader = 12;  // packed size, unpacked size, checksum

void put(std::string& out, std::uint32_t value) {
  for (unsigned shift = 0; shift < 32; shift += 8) {
    out += static_cast<char>((value >> shift) & 0xffU);
  }
}

std::uint32_t get(std::string_view bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    out |= static_cast<std::uint32_t>(static_cast<unsigned char>(bytes[at + i])) << (8 * i);
  }
  return out;
}

// The sizes are under the checksum as well.
std::uint32_t checksum(std::string_view sizes, std::string_view packed) {
  return base::crc32(std::string(sizes) + std::string(packed));
}

// "" when the block counts; `out` and `size` say what it holds and how long it is.
std::string read_block(std::string_view rest, std::size_t room, std::string& out,
                       std::size_t& size) {
  if (rest.size() < kBlockHeader) return "a block is cut off";
  const std::size_t packed = get(rest, 0);
  const std::size_t text = get(rest, 4);
  if (text > kMaxRecordedBlock || packed > kMaxRecordedBlock) return "a block is damaged";
  if (rest.size() - kBlockHeader < packed) return "a block is cut off";
  const std::string_view bytes = rest.substr(kBlockHeader, packed);
  if (checksum(rest.substr(0, 8), bytes) != get(rest, 8)) return "a checksum is wrong";
  if (text > room) return "it holds more than can be read";
  auto lines = runtime::decompress_block(bytes, text);
  if (!lines.ok() || lines->size() != text) return "a block is damaged";
  if (!lines->ends_with('\n')) return "a block does not end with a line";
  // A line costs more than its bytes: few bytes packed can be very many empty ones.
  if (lines->starts_with('\n') || lines->find("\n\n") != std::string::npos) {
    return "a block has an empty line";
  }
  out = std::move(*lines);
  size = kBlockHeader + packed;
  return "";
}

}  // namespace

std::string recording_block(std::string_view lines) {
  const std::string packed = runtime::compress_block(lines);
  if (packed.empty()) return "";
  std::string out;
  put(out, static_cast<std::uint32_t>(packed.size()));
  put(out, static_cast<std::uint32_t>(lines.size()));
  put(out, checksum(out, packed));
  return out + packed;
}

Result<LoadedRecording> load_recording(std::string_view bytes) {
  if (!bytes.starts_with(kRecordingMagic)) {
    const bool cut = kRecordingMagic.starts_with(bytes);
    const bool other = !cut && bytes.starts_with(kFamily);
    return Error(ErrorKind::invalid, cut     ? "its first line is cut off: nothing was recorded"
                                     : other ? "it was made by another version of kubewatch"
                                             : "it is no recording of kubewatch");
  }
  LoadedRecording out;
  out.valid = kRecordingMagic.size();
  std::size_t held = 0;
  while (out.valid < bytes.size()) {
    std::string text;
    std::size_t size = 0;
    out.damage = read_block(bytes.substr(out.valid), kMaxRecordedText - held, text, size);
    if (!out.damage.empty()) return out;
    const auto count = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    if (out.lines.size() + count > kMaxRecordedLines) {
      out.damage = "it holds more lines than can be read";
      return out;
    }
    held += text.size();
    text.pop_back();
    for (auto& line : base::split(text, '\n')) out.lines.push_back(std::move(line));
    out.valid += size;
  }
  return out;
}

}  // namespace kubewatch::hooks
