// An expression in tokens.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "cel/issues.hpp"

namespace kubewatch::cel {

struct Token {
  enum class Kind { end, symbol, ident, escaped_ident, integer, uinteger, real, string, bytes };
  Kind kind = Kind::end;
  std::uint32_t offset = 0;  // code points
  std::string_view text;

  bool is(std::string_view symbol) const { return kind == Kind::symbol && text == symbol; }
};

// The last one is the end. What is no token is reported and passed over.
std::vector<Token> tokenize(std::string_view source, Issues& issues);

// What a string or bytes literal stands for: quotes, prefixes and escapes taken away.
// Errors: invalid.
Result<std::string> unquote(std::string_view literal, bool bytes);

}  // namespace kubewatch::cel
