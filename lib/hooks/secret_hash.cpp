#include "hooks/secret_hash.hpp"

#include <fmt/format.h>

#include <charconv>

#include "base/json.hpp"
#include "base/keyed_hash.hpp"
#include "base/random.hpp"
#include "base/strings.hpp"
#include "hooks/secret_parts.hpp"

namespace kubewatch::hooks {

std::uint64_t sip_hash(const SecretHash::Key& key, std::string_view text) {
  return base::siphash24(key[0], key[1], text);
}

SecretHash::Key SecretHash::new_key() {
  return key_of(base::secure_random_hex(16));
}

SecretHash::Key SecretHash::key_of(std::string_view hex) {
  Key key{};
  std::from_chars(hex.data(), hex.data() + 16, key[0], 16);
  std::from_chars(hex.data() + 16, hex.data() + 32, key[1], 16);
  return key;
}

std::string SecretHash::placeholder(std::string_view value) const {
  return fmt::format("secret-{:016x}", sip_hash(key_, value));
}

std::string SecretHash::masked(std::string_view value) const {
  return fmt::format("<masked {:016x}>", sip_hash(key_, value));
}

void SecretHash::hide(Json& object, Reader reader) const {
  if (object.is_array()) {
    for (Json& item : object) hide(item, reader);
    return;
  }
  if (!object.is_object()) return;
  if (Json* items = base::find(object, {"items"})) hide(*items, reader);
  if (base::string_at(object, {"kind"}) != "Secret") return;
  for_each_secret_value(object, [&](Json& value, bool encoded) {
    if (!value.is_string()) {
      value = "secret";
      return;
    }
    const std::string hashed = secret_meaning(value.get_ref<const std::string&>(), encoded);
    if (reader == Reader::person) {
      value = masked(hashed);
    } else {
      value = encoded ? base::base64_encode(placeholder(hashed)) : placeholder(hashed);
    }
  });
  if (Json* annotations = base::find(object, {"metadata", "annotations"})) {
    hide_last_applied(*annotations);
  }
}

}  // namespace kubewatch::hooks
