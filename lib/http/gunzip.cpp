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
  begin_member();
}

Gunzip::~Gunzip() = default;

void Gunzip::begin_member() {
  isal_inflate_init(&state_->stream);
  state_->stream.crc_flag = ISAL_GZIP_NO_HDR_VER;
  in_body_ = whole_ = false;
}

// Member by member: what follows the end of one is the head of the next.
Result<void> Gunzip::feed(std::string_view bytes,
                          const std::function<bool(std::string_view)>& out) {
  // ISA-L goes wrong on a head that comes in pieces, so it is read here.
  while (!bytes.empty()) {
    if (whole_) begin_member();
    if (in_body_) {
      KW_ASSIGN(bytes, unpack(bytes, out));
      continue;
    }
    const std::size_t had = head_.size();
    head_ += bytes.substr(0, kMaxHead + 1 - had);
    KW_ASSIGN(const std::size_t size, head_size(head_));
    if (size == 0 && head_.size() > kMaxHead) return not_gzip(ISAL_INVALID_WRAPPER);
    if (size == 0) return {};
    in_body_ = true;
    head_.clear();
    bytes.remove_prefix(size - had);
  }
  return {};
}

Result<std::string_view> Gunzip::unpack(std::string_view bytes,
                                        const std::function<bool(std::string_view)>& out) {
  // Shared by all streams: a piece is handed on before another is made.
  static std::array<char, kPiece> piece;
  inflate_state& stream = state_->stream;
  while (!bytes.empty() && !whole_) {
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
      if (made > 0 && !out(now)) return std::string_view();
      // A full piece: there may be more of what was taken in.
    } while (!whole_ && made == kPiece);
    if (!whole_ && stream.avail_in > 0) return not_gzip(ISAL_INVALID_BLOCK);
    bytes.remove_prefix(take - stream.avail_in);
  }
  return bytes;
}

}  // namespace kubewatch::http
