// What must not stand in a recording (P6): values of Secrets become keyed hashes, equal for equal
// values; where such a value stands elsewhere, and where a value stands that a hook got from a
// file, it becomes ***. A replay hides in the same way what its hooks print: placeholders that it
// was given stay what they are. Pure.
#pragma once

#include <string>

#include "base/json.hpp"
#include "hooks/secret_hash.hpp"
#include "hooks/secret_mask.hpp"

namespace kubewatch::hooks {

class RecordMask {
 public:
  explicit RecordMask(SecretHash hash, bool keep_placeholders = false)
      : hash_(hash), keep_placeholders_(keep_placeholders) {}

  void learn(const SecretMask& secrets) { mask_.merge(secrets); }
  // Of a Secret: its values are known from now on.
  void learn(const Json& object) { mask_.add_object(object); }
  // The same of the body of an entry of write_entry(), which need not say that it is a Secret.
  void learn_write(const Json& entry);
  // More than can be hidden: nothing may be recorded any more.
  bool overflowed() const { return mask_.overflowed(); }

  // An object. Names, kinds, labels and owners stay.
  void hide(Json& object) const;
  // An entry of write_entry(): the body of a patch of a Secret does not say that it is one.
  void hide_write(Json& entry) const;
  std::string hide(const std::string& text) const { return mask_.mask(text); }

 private:
  void hide_secret(Json& secret) const;
  void hide_values(Json& value) const;
  void hide_operation(Json& operation) const;
  std::string hidden(const std::string& plain) const;

  SecretHash hash_;
  bool keep_placeholders_;
  SecretMask mask_;
};

// "secret-1f0c9a5de2b47788".
bool is_placeholder(std::string_view text);

}  // namespace kubewatch::hooks
