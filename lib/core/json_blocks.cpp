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

bool is_punctuation(char c) {
  return c == ',' || c == ':' ||
         (kClasses[static_cast<unsigned char>(c)] & (kQuote | kOpen | kClose)) != 0;
}

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

// The quotes that begin or end a string. Only the last block of a piece is shorter than kJsonBlock.
KW_INLINE std::uint64_t real_quotes(JsonBrackets& state, const Block& found, std::size_t size) {
  if (found.backslashes == 0 && !state.escaped) return found.quotes;
  bool carry = state.escaped;
  const std::uint64_t escaped = escaped_bits(found.backslashes, carry);
  // In a short block the byte behind its end is the first of the next piece.
  state.escaped = size == kJsonBlock ? carry : ((escaped >> size) & 1U) != 0;
  return found.quotes & ~escaped;
}

// What is outside of strings. `odd`: of the quotes, so from an opening one to the byte before its
// closing one, if this block begins outside.
KW_INLINE void leave_strings(JsonBrackets& state, Block& found, std::uint64_t odd) {
  const std::uint64_t outside = state.in_string ? odd : ~odd;
  state.in_string = (outside >> 63U) == 0;
  if ((found.spaces & outside) != 0) state.spaced = true;
  found.opens &= outside;
  found.closes &= outside;
}

KW_INLINE void pad(char (&padded)[kJsonBlock], std::string_view rest) {
  // Anything that is no bracket, quote, backslash or space: a value that ends here ends before it.
  std::memset(padded, 'x', sizeof(padded));
  std::memcpy(padded, rest.data(), rest.size());
}

// A function that walks over a piece. No template: what a function for an instruction set inlines
// must not stand in one that is for all processors.
#define KW_FEED(name, classify, odd_up_to, count_bits)                                       \
  std::size_t name(JsonBrackets& kept, std::string_view bytes) {                             \
    JsonBrackets state = kept; /* in registers */                                            \
    std::size_t length = JsonBrackets::kGoesOn;                                              \
    char padded[kJsonBlock];                                                                 \
    for (std::size_t at = 0; at < bytes.size(); at += kJsonBlock) {                          \
      const char* block = bytes.data() + at;                                                 \
      const std::size_t size = std::min(bytes.size() - at, kJsonBlock);                      \
      if (size < kJsonBlock) {                                                               \
        pad(padded, {block, size});                                                          \
        block = padded;                                                                      \
      }                                                                                      \
      Block found = classify(block);                                                         \
      leave_strings(state, found, odd_up_to(real_quotes(state, found, size)));               \
      if ((found.opens | found.closes) == 0) continue;                                       \
      const std::size_t opened = count_bits(found.opens), closed = count_bits(found.closes); \
      /* Neither the end nor a new depth can be in here: most blocks. */                     \
      if (state.depth > closed && state.depth + opened <= state.deepest) {                   \
        state.depth = state.depth + opened - closed;                                         \
        continue;                                                                            \
      }                                                                                      \
      length = walk(state, found.opens, found.closes);                                       \
      if (length == JsonBrackets::kGoesOn) continue;                                         \
      length += at;                                                                          \
      break;                                                                                 \
    }                                                                                        \
    kept = state;                                                                            \
    return length;                                                                           \
  }

KW_FEED(feed_plain, classify_portably, odd_up_to, count_bits)

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

const bool kHasAvx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("bmi") != 0 &&
                      __builtin_cpu_supports("pclmul") != 0 &&
                      __builtin_cpu_supports("popcnt") != 0;

// Every processor with AVX2 has the others, too; they are asked for all the same.
#define KW_AVX2 __attribute__((target("avx2,bmi,pclmul,popcnt")))

// Of the two halves of a block.
KW_AVX2 KW_INLINE std::uint64_t wide_bits(__m256i low, __m256i high) {
  return static_cast<std::uint32_t>(_mm256_movemask_epi8(low)) |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(high))) << 32U;
}

KW_AVX2 KW_INLINE std::uint64_t wide_equal(__m256i low, __m256i high, char c) {
  const __m256i sought = _mm256_set1_epi8(c);
  return wide_bits(_mm256_cmpeq_epi8(low, sought), _mm256_cmpeq_epi8(high, sought));
}

KW_AVX2 KW_INLINE Block classify_avx2(const char* bytes) {
  const __m256i space = _mm256_set1_epi8(' ');
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32));
  const __m256i folded_low = _mm256_or_si256(low, space);
  const __m256i folded_high = _mm256_or_si256(high, space);
  Block out;
  out.quotes = wide_equal(low, high, '"');
  out.backslashes = wide_equal(low, high, '\\');
  out.opens = wide_equal(folded_low, folded_high, '{');
  out.closes = wide_equal(folded_low, folded_high, '}');
  out.spaces = wide_bits(_mm256_cmpeq_epi8(_mm256_min_epu8(low, space), low),
                         _mm256_cmpeq_epi8(_mm256_min_epu8(high, space), high));
  return out;
}

// A product without carries by all ones.
KW_AVX2 KW_INLINE std::uint64_t odd_by_product(std::uint64_t bits) {
  const __m128i product = _mm_clmulepi64_si128(_mm_set_epi64x(0, static_cast<std::int64_t>(bits)),
                                               _mm_set1_epi8('\xff'), 0);
  return static_cast<std::uint64_t>(_mm_cvtsi128_si64(product));
}

KW_AVX2 KW_INLINE std::size_t count_at_once(std::uint64_t bits) {
  return static_cast<std::size_t>(_mm_popcnt_u64(bits));
}

KW_FEED(feed_sse2, classify_sse2, odd_up_to, count_bits)
KW_AVX2 KW_FEED(feed_avx2, classify_avx2, odd_by_product, count_at_once)

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

std::size_t find_json_punctuation(std::string_view text, std::size_t from) {
  const __m128i space = _mm_set1_epi8(' ');  // the bit in which [ and {, ] and } differ
  std::size_t at = from;
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i bytes = load(text.data() + at);
    const __m128i folded = _mm_or_si128(bytes, space);
    const auto is = [](__m128i among, char c) { return _mm_cmpeq_epi8(among, _mm_set1_epi8(c)); };
    const __m128i brackets = _mm_or_si128(is(folded, '{'), is(folded, '}'));
    const __m128i marks = _mm_or_si128(is(bytes, ','), is(bytes, ':'));
    const std::uint64_t found = bits(_mm_or_si128(_mm_or_si128(brackets, marks), is(bytes, '"')));
    if (found != 0) return at + static_cast<std::size_t>(std::countr_zero(found));
  }
  while (at < text.size() && !is_punctuation(text[at])) ++at;
  return at;
}

#else

std::size_t find_json_punctuation(std::string_view text, std::size_t from) {
  std::size_t at = from;
  while (at < text.size() && !is_punctuation(text[at])) ++at;
  return at;
}

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
