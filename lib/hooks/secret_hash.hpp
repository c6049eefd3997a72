// Placeholders for secret values in diffs and recordings (P6): equal for equal values, and of no
// use without the key, which is made for each process and never shown. Pure but for the key.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_fwd.hpp"

namespace kubewatch::hooks {

class SecretHash {
 public:
  using Key = std::array<std::uint64_t, 2>;
  // From the system.
  static Key new_key();
  // Of 32 hexadecimal digits.
  static Key key_of(std::string_view hex);
  explicit SecretHash(Key key) : key_(key) {}
  static SecretHash make() { return SecretHash(new_key()); }

  // "secret-1f0c9a5de2b47788", "<masked 1f0c9a5de2b47788>".
  std::string placeholder(std::string_view value) const;
  std::string masked(std::string_view value) const;
  // For programs, data stays valid base64; for people it reads "<masked 1f0c9a5de2b47788>".
  enum class Reader { program, person };
  // Of a Secret: every value of data and stringData, and of the annotation that kubectl apply keeps
  // it in. Other objects stay as they are, lists are gone through.
  void hide(Json& object, Reader reader = Reader::program) const;

 private:
  Key key_;
};

// SipHash-2-4.
std::uint64_t sip_hash(const SecretHash::Key& key, std::string_view text);

}  // namespace kubewatch::hooks
