#include "hooks/secret_hash.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>

#include "base/json.hpp"
#include "base/random.hpp"
#include "base/strings.hpp"

namespace kubewatch::hooks {

namespace {

constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

std::uint64_t rotate(std::uint64_t x, int bits) {
  return (x << bits) | (x >> (64 - bits));
}

struct SipState {
  std::uint64_t a, b, c, d;
  void round() {
    a += b;
    b = rotate(b, 13) ^ a;
    a = rotate(a, 32);
    c += d;
    d = rotate(d, 16) ^ c;
    a += d;
    d = rotate(d, 21) ^ a;
    c += b;
    b = rotate(b, 17) ^ c;
    c = rotate(c, 32);
  }
  void take(std::uint64_t word) {
    d ^= word;
    round();
    round();
    a ^= word;
  }
};

}  // namespace

std::uint64_t sip_hash(const SecretHash::Key& key, std::string_view text) {
  SipState state{key[0] ^ 0x736f6d6570736575ULL, key[1] ^ 0x646f72616e646f6dULL,
                 key[0] ^ 0x6c7967656e657261ULL, key[1] ^ 0x7465646279746573ULL};
  std::size_t at = 0;
  for (; at + 8 <= text.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, text.data() + at, 8);
    state.take(word);
  }
  std::uint64_t last = static_cast<std::uint64_t>(text.size() & 0xFFU) << 56U;
  for (std::size_t i = 0; at + i < text.size(); ++i) {
    last |= static_cast<std::uint64_t>(static_cast<unsigned char>(text[at + i])) << (8 * i);
  }
  state.take(last);
  state.c ^= 0xFFU;
  for (int i = 0; i < 4; ++i) state.round();
  return state.a ^ state.b ^ state.c ^ state.d;
}

SecretHash SecretHash::make() {
  const std::string hex = base::secure_random_hex(16);
  Key key{};
  std::from_chars(hex.data(), hex.data() + 16, key[0], 16);
  std::from_chars(hex.data() + 16, hex.data() + 32, key[1], 16);
  return SecretHash(key);
}

std::string SecretHash::placeholder(std::string_view value) const {
  return fmt::format("secret-{:016x}", sip_hash(key_, value));
}

void SecretHash::hide(Json& object) const {
  if (object.is_array()) {
    for (Json& item : object) hide(item);
    return;
  }
  if (!object.is_object()) return;
  if (Json* items = base::find(object, {"items"})) hide(*items);
  if (base::string_at(object, {"kind"}) != "Secret") return;
  for (const char* key : {"data", "stringData"}) {
    Json* values = base::find(object, {key});
    if (values == nullptr || !values->is_object()) continue;
    for (Json& value : *values) {
      if (!value.is_string()) {
        value = "secret";
        continue;
      }
      // The same value gives the same placeholder, in data and in stringData.
      const auto& text = value.get_ref<const std::string&>();
      const bool encoded = std::string_view(key) == "data";
      const auto plain = encoded ? base::base64_decode(text) : Result<std::string>(text);
      const std::string hidden = placeholder(plain.ok() ? *plain : text);
      value = encoded ? base::base64_encode(hidden) : hidden;
    }
  }
  if (Json* annotations = base::find(object, {"metadata", "annotations"})) {
    const auto found = annotations->find(kLastApplied);
    if (found != annotations->end()) *found = "secret";
  }
}

}  // namespace kubewatch::hooks
