#include "http/gunzip.hpp"

#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>

namespace kubewatch::http {

namespace {

constexpr std::size_t kPiece = 128U << 10U;
constexpr std::size_t kSlice = std::numeric_limits<std::uint32_t>::max() / 2;

constexpr std::size_t kMaxHead = 64U << 10U;
constexpr std::size_t kFixedHead = 10;
constexpr unsigned kHeadSum = 2;
constexpr unsigned kExtra = 4;
constexpr unsigned kName = 8;
constexpr unsigned kComment = 16;
constexpr unsigned kReserved = 0xE0;

Error not_gzip(int code) {
  const bool sum = code == ISAL_INCORRECT_CHECKSUM;
  return Error(ErrorKind::unreachable,
               std::string("is not valid gzip: ") + (sum ? "wrong checksum" : "bad format"));
}

// The bytes before the packed ones (RFC 1952, 2.3), 0 while they have not all come.
Result<std::size_t> head_size(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  constexpr std::string_view kStart = "\x1f\x8b\x08";
  if (bytes.substr(0, kStart.size()) != kStart.substr(0, bytes.size())) {
    return not_gzip(ISAL_INVALID_WRAPPER);
  }
  if (bytes.size() < kFixedHead) return std::size_t{0};
  const unsigned flags = at(3);
  if ((flags & kReserved) != 0) return not_gzip(ISAL_INVALID_WRAPPER);
  std::size_t size = kFixedHead;
  if ((flags & kExtra) != 0) {
    if (bytes.size() < size + 2) return std::size_t{0};
    size += 2 + at(size) + 256U * at(size + 1);
  }
  for (const unsigned text : {kName, kComment}) {
    if ((flags & text) == 0) continue;
    const std::size_t end = bytes.find('\0', size);
    if (end == std::string_view::npos) return std::size_t{0};
    size = end + 1;
  }
  if ((flags & kHeadSum) != 0) size += 2;
  return size <= bytes.size() ? size : 0;
}

}  // namespace

struct Gunzip::State {
  inflate_state stream;
};

Gunzip::Gunzip() : state_(std::make_unique<State>()) {
  isal_inflate_init(&state_->stream);
  state_->stream.crc_flag = ISAL_GZIP_NO_HDR_VER;
}

Gunzip::~Gunzip() = default;

// ISA-L goes wrong on a head that comes in pieces, so it is read here.
Result<void> Gunzip::feed(std::string_view bytes,
                          const std::function<bool(std::string_view)>& out) {
  if (in_body_) return unpack(bytes, out);
  head_ += bytes;
  KW_ASSIGN(const std::size_t size, head_size(head_));
  if (size == 0 && head_.size() > kMaxHead) return not_gzip(ISAL_INVALID_WRAPPER);
  if (size == 0) return {};
  in_body_ = true;
  const std::string held = std::exchange(head_, {});
  return unpack(std::string_view(held).substr(size), out);
}

Result<void> Gunzip::unpack(std::string_view bytes,
                            const std::function<bool(std::string_view)>& out) {
  // Shared by all streams: a piece is handed on before another is made.
  static std::array<char, kPiece> piece;
  inflate_state& stream = state_->stream;
  while (!bytes.empty()) {
    if (whole_) return Error(ErrorKind::unreachable, "goes on behind the end of its gzip");
    const std::size_t take = std::min(bytes.size(), kSlice);
    stream.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data()));
    stream.avail_in = static_cast<std::uint32_t>(take);
    std::size_t made = 0;
    do {
      stream.next_out = reinterpret_cast<std::uint8_t*>(piece.data());
      stream.avail_out = kPiece;
      const int code = isal_inflate(&stream);
      if (code < 0) return not_gzip(code);
      made = kPiece - stream.avail_out;
      whole_ = stream.block_state == ISAL_BLOCK_FINISH;
      const std::string_view now(piece.data(), made);
      if (made > 0 && !out(now)) return {};
      // A full piece: there may be more of what was taken in.
    } while (!whole_ && made == kPiece);
    if (!whole_ && stream.avail_in > 0) return not_gzip(ISAL_INVALID_BLOCK);
    bytes.remove_prefix(take - stream.avail_in);
  }
  return {};
}

}  // namespace kubewatch::http
