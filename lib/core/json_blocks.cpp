#include "core/json_blocks.hpp"

#include <array>
#include <bit>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace kubewatch::core {

namespace {

enum : std::uint8_t { kQuote = 1, kBackslash = 2, kOpen = 4, kClose = 8, kSpace = 16 };

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (std::size_t i = 0; i <= ' '; ++i) classes[i] = kSpace;
  classes['"'] = kQuote;
  classes['\\'] = kBackslash;
  classes['{'] = classes['['] = kOpen;
  classes['}'] = classes[']'] = kClose;
  return classes;
}
constexpr auto kClasses = make_classes();

}  // namespace

JsonBlock classify_json_block_portably(const char* bytes) {
  JsonBlock out;
  for (std::size_t i = 0; i < kJsonBlock; ++i) {
    const std::uint64_t c = kClasses[static_cast<unsigned char>(bytes[i])];
    out.quotes |= (c & 1U) << i;
    out.backslashes |= ((c >> 1U) & 1U) << i;
    out.opens |= ((c >> 2U) & 1U) << i;
    out.closes |= ((c >> 3U) & 1U) << i;
    out.spaces |= ((c >> 4U) & 1U) << i;
  }
  return out;
}

#if defined(__SSE2__)

namespace {

std::uint64_t bits(__m128i equal) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(equal));
}

__m128i load(const char* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

}  // namespace

JsonBlock classify_json_block(const char* bytes) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i space = _mm_set1_epi8(' ');  // also the bit in which [ and {, ] and } differ
  const __m128i open = _mm_set1_epi8('{');
  const __m128i close = _mm_set1_epi8('}');
  JsonBlock out;
  for (unsigned part = 0; part < 4; ++part) {
    const unsigned shift = part * 16;
    const __m128i text = load(bytes + shift);
    const __m128i folded = _mm_or_si128(text, space);
    out.quotes |= bits(_mm_cmpeq_epi8(text, quote)) << shift;
    out.backslashes |= bits(_mm_cmpeq_epi8(text, backslash)) << shift;
    out.opens |= bits(_mm_cmpeq_epi8(folded, open)) << shift;
    out.closes |= bits(_mm_cmpeq_epi8(folded, close)) << shift;
    out.spaces |= bits(_mm_cmpeq_epi8(_mm_min_epu8(text, space), text)) << shift;
  }
  return out;
}

const char* find_quote_or_backslash(const char* at, const char* end) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  for (; end - at >= 16; at += 16) {
    const __m128i text = load(at);
    const std::uint64_t found =
        bits(_mm_or_si128(_mm_cmpeq_epi8(text, quote), _mm_cmpeq_epi8(text, backslash)));
    if (found != 0) return at + std::countr_zero(found);
  }
  while (at != end && *at != '"' && *at != '\\') ++at;
  return at;
}

#else

JsonBlock classify_json_block(const char* bytes) {
  return classify_json_block_portably(bytes);
}

const char* find_quote_or_backslash(const char* at, const char* end) {
  while (at != end && *at != '"' && *at != '\\') ++at;
  return at;
}

#endif

}  // namespace kubewatch::core
