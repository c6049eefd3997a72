// Regular expressions as Go's regexp has them: RE2 syntax, time linear in the text. For patterns
// out of schemas and rules, which are not ours: size and memory are limited. Only user of re2.
// Unlike Go's of 1.25 and later: names of \p{...} are RE2's, upper and lower case as they are
// (\p{Greek}, not \p{greek}), and there is no \p{ASCII}, \p{Assigned}, \p{Letter}; of trees that
// are too high for Go only those of 1000 groups in each other are refused.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace kubewatch::base {

// Regexes of the same pattern share their program as long as it is among the last that were made.
// Safe to use from several threads.
class Regex {
 public:
  // Errors: invalid, worded as Go's regexp: "error parsing regexp: missing closing ): `(a`";
  // too_large when the pattern is longer than 64 KiB or its program needs more than 8 MiB.
  static Result<Regex> compile(std::string_view pattern);

  // Whether it matches anywhere in the text.
  bool search(std::string_view text) const;

  struct Match {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  // The leftmost match at or after `from`; absent when there is none.
  std::optional<Match> find(std::string_view text, std::size_t from = 0) const;

  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

 private:
  struct Program;
  class Recent;
  explicit Regex(std::shared_ptr<const Program> program);
  std::shared_ptr<const Program> program_;
};

}  // namespace kubewatch::base
