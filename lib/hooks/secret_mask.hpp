// Takes secret values out of text that is about to be logged (P6): values of the Secrets in a
// hook's input or output and of environment values that come from files. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json_fwd.hpp"

namespace kubewatch::hooks {

// kubectl keeps the whole object there as it applied it last, with the values of then.
inline constexpr const char* kLastAppliedAnnotation =
    "kubectl.kubernetes.io/last-applied-configuration";

class SecretMask {
 public:
  // Values shorter than 6 bytes are too common to replace. Each line of a long value counts alone,
  // because logs come line by line.
  void add_value(std::string_view value);
  // Of a Secret: data (as written and decoded) and stringData, of now and as last applied. Other
  // objects add nothing.
  void add_object(const Json& object);
  // The same for raw JSON; only texts that name the kind Secret are parsed.
  void add_json(std::string_view object_json);

  // What the other one knows as well.
  void merge(const SecretMask& other);

  std::string mask(std::string_view text) const;
  // It knows more values than it can replace: mask() gives no text at all.
  bool overflowed() const { return overflowed_; }
  // It may overflow with one more object: what it is kept for is better begun anew.
  bool nearly_full() const;

 private:
  void insert(std::string_view value);
  void add_scalars(const Json& value, bool encoded);
  void add_data(const Json& secret);
  std::vector<std::string> values_;  // longest first
  bool overflowed_ = false;          // rather nothing than a secret
};

}  // namespace kubewatch::hooks
