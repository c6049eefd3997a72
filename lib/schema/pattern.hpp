// Regular expressions as the API server reads them (Go's regexp, whose engine RE2 is too): linear
// time, no look-arounds. The only user of libre2.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kubewatch::schema {

class Pattern {
 public:
  // Errors: invalid, in the words of Go: "error parsing regexp: missing closing ): `(`".
  static Result<Pattern> compile(const std::string& text);
  Pattern(Pattern&&) noexcept;
  Pattern& operator=(Pattern&&) noexcept;
  ~Pattern();

  // Anywhere in the text, as long as the pattern has no anchors.
  bool matches(std::string_view text) const;

 private:
  struct Impl;
  explicit Pattern(std::unique_ptr<const Impl> impl);
  std::unique_ptr<const Impl> impl_;
};

}  // namespace kubewatch::schema
