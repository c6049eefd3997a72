// One walk over blocks, compiled once for each way to classify their bytes.
#include "core/json_blocks.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kubewatch::core {

namespace {

#define KW_INLINE inline __attribute__((always_inline))

// Bit i is about byte i.
struct Block {
  std::uint64_t quotes = 0;
  std::uint64_t backslashes = 0;
  std::uint64_t opens = 0;   // { and [
  std::uint64_t closes = 0;  // } and ]
  std::uint64_t spaces = 0;  // and control characters, which JSON does not allow there anyway
};

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

KW_INLINE Block classify_portably(const char* bytes) {
  Block out;
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

// Bits of the bytes that a backslash escapes. `carry`: the first byte is escaped by the block
// before; afterwards the same for the next block.
std::uint64_t escaped_bits(std::uint64_t backslashes, bool& carry) {
  std::uint64_t escaped = carry ? 1 : 0;
  carry = false;
  while (backslashes != 0) {
    const std::uint64_t one = backslashes & (~backslashes + 1);
    backslashes ^= one;
    if ((one & escaped) != 0) continue;  // itself escaped: means nothing
    if ((one >> 63U) != 0) {
      carry = true;
    } else {
      escaped |= one << 1U;
    }
  }
  return escaped;
}

// Bit i of the result: an odd number of bits up to and with i are set.
KW_INLINE std::uint64_t odd_up_to(std::uint64_t bits) {
  for (unsigned shift = 1; shift < 64; shift *= 2) bits ^= bits << shift;
  return bits;
}

// std::popcount is a call where the processor is not known to have the instruction.
KW_INLINE std::size_t count_bits(std::uint64_t bits) {
  bits -= (bits >> 1U) & 0x5555555555555555U;
  bits = (bits & 0x3333333333333333U) + ((bits >> 2U) & 0x3333333333333333U);
  bits = (bits + (bits >> 4U)) & 0x0f0f0f0f0f0f0f0fU;
  return (bits * 0x0101010101010101U) >> 56U;
}

KW_INLINE std::size_t walk(JsonBrackets& state, std::uint64_t opens, std::uint64_t closes) {
  for (std::uint64_t left = opens | closes; left != 0; left &= left - 1) {
    const auto at = static_cast<std::size_t>(std::countr_zero(left));
    if (((opens >> at) & 1U) != 0) {
      state.deepest = std::max(state.deepest, ++state.depth);
    } else if (--state.depth == 0) {
      return at + 1;
    }
  }
  return JsonBrackets::kGoesOn;
}

// Only the last block of a piece is shorter than kJsonBlock.
KW_INLINE std::size_t take(JsonBrackets& state, const Block& found, std::size_t size) {
  std::uint64_t quotes = found.quotes;
  if (found.backslashes != 0 || state.escaped) {
    bool carry = state.escaped;
    const std::uint64_t escaped = escaped_bits(found.backslashes, carry);
    quotes &= ~escaped;
    // In a short block the byte behind its end is the first of the next piece.
    state.escaped = size == kJsonBlock ? carry : ((escaped >> size) & 1U) != 0;
  }
  // From an opening quote to the byte before its closing one.
  std::uint64_t inside = odd_up_to(quotes);
  if (state.in_string) inside = ~inside;
  state.in_string = (inside >> 63U) != 0;
  if ((found.spaces & ~inside) != 0) state.spaced = true;
  const std::uint64_t opens = found.opens & ~inside;
  const std::uint64_t closes = found.closes & ~inside;
  if ((opens | closes) == 0) return JsonBrackets::kGoesOn;
  const std::size_t opened = count_bits(opens), closed = count_bits(closes);
  // Neither the end nor a new depth can be in here: most blocks.
  if (state.depth > closed && state.depth + opened <= state.deepest) {
    state.depth = state.depth + opened - closed;
    return JsonBrackets::kGoesOn;
  }
  return walk(state, opens, closes);
}

// A function that walks over a piece. No template: what a function for an instruction set inlines
// must not stand in one that is for all processors.
#define KW_FEED(name, classify)                                                        \
  std::size_t name(JsonBrackets& state, std::string_view bytes) {                      \
    std::size_t at = 0;                                                                \
    for (; bytes.size() - at >= kJsonBlock; at += kJsonBlock) {                        \
      const std::size_t length = take(state, classify(bytes.data() + at), kJsonBlock); \
      if (length != JsonBrackets::kGoesOn) return at + length;                         \
    }                                                                                  \
    const std::size_t rest = bytes.size() - at;                                        \
    if (rest == 0) return JsonBrackets::kGoesOn;                                       \
    char padded[kJsonBlock];                                                           \
    pad(padded, bytes.substr(at));                                                     \
    const std::size_t length = take(state, classify(padded), rest);                    \
    return length == JsonBrackets::kGoesOn ? length : at + length;                     \
  }

KW_INLINE void pad(char (&padded)[kJsonBlock], std::string_view rest) {
  // Anything that is no bracket, quote, backslash or space: a value that ends here ends before it.
  std::memset(padded, 'x', sizeof(padded));
  std::memcpy(padded, rest.data(), rest.size());
}

KW_FEED(feed_plain, classify_portably)

#if defined(__x86_64__)

KW_INLINE __m128i load(const char* bytes) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
}

KW_INLINE std::uint64_t bits(__m128i equal) {
  return static_cast<std::uint32_t>(_mm_movemask_epi8(equal));
}

KW_INLINE Block classify_sse2(const char* bytes) {
  const __m128i quote = _mm_set1_epi8('"');
  const __m128i backslash = _mm_set1_epi8('\\');
  const __m128i space = _mm_set1_epi8(' ');  // also the bit in which [ and {, ] and } differ
  const __m128i open = _mm_set1_epi8('{');
  const __m128i close = _mm_set1_epi8('}');
  Block out;
  for (unsigned shift = 0; shift < kJsonBlock; shift += 16) {
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

#define KW_AVX2 __attribute__((target("avx2")))

KW_AVX2 KW_INLINE std::uint64_t wide_bits(__m256i equal) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(equal));
}

KW_AVX2 KW_INLINE Block classify_avx2(const char* bytes) {
  const __m256i quote = _mm256_set1_epi8('"');
  const __m256i backslash = _mm256_set1_epi8('\\');
  const __m256i space = _mm256_set1_epi8(' ');
  const __m256i open = _mm256_set1_epi8('{');
  const __m256i close = _mm256_set1_epi8('}');
  Block out;
  for (unsigned shift = 0; shift < kJsonBlock; shift += 32) {
    const __m256i text = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + shift));
    const __m256i folded = _mm256_or_si256(text, space);
    out.quotes |= wide_bits(_mm256_cmpeq_epi8(text, quote)) << shift;
    out.backslashes |= wide_bits(_mm256_cmpeq_epi8(text, backslash)) << shift;
    out.opens |= wide_bits(_mm256_cmpeq_epi8(folded, open)) << shift;
    out.closes |= wide_bits(_mm256_cmpeq_epi8(folded, close)) << shift;
    out.spaces |= wide_bits(_mm256_cmpeq_epi8(_mm256_min_epu8(text, space), text)) << shift;
  }
  return out;
}

KW_FEED(feed_sse2, classify_sse2)
KW_AVX2 KW_FEED(feed_avx2, classify_avx2)

    const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0;

#endif

}  // namespace

std::size_t JsonBrackets::feed_portably(std::string_view bytes) {
  return feed_plain(*this, bytes);
}

#if defined(__x86_64__)

std::size_t JsonBrackets::feed_commonly(std::string_view bytes) {
  return feed_sse2(*this, bytes);
}

std::size_t JsonBrackets::feed(std::string_view bytes) {
  return kHasAvx2 ? feed_avx2(*this, bytes) : feed_commonly(bytes);
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

std::size_t JsonBrackets::feed_commonly(std::string_view bytes) {
  return feed_portably(bytes);
}

std::size_t JsonBrackets::feed(std::string_view bytes) {
  return feed_portably(bytes);
}

const char* find_quote_or_backslash(const char* at, const char* end) {
  while (at != end && *at != '"' && *at != '\\') ++at;
  return at;
}

#endif

}  // namespace kubewatch::core
