// jq source text to tokens, strings with interpolation included. Knows no grammar.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::jq {

enum class TokenKind {
  end,
  number,
  name,          // identifiers and keywords
  field,         // ".name", text without the dot
  format,        // "@base64", text without the at sign
  op,            // punctuation, text as written
  string_begin,  // then any number of string_text and interpolations, then string_end
  string_text,   // decoded
  interpolation_begin,
  interpolation_end,
  string_end,
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string text;
  std::size_t at = 0;  // byte offset
};

// The last token is `end`. Errors: invalid, "character N: what".
Result<std::vector<Token>> tokenize(std::string_view text);

// "character N: what", counting characters from 1.
Error error_at(ErrorKind kind, std::string_view text, std::size_t offset, std::string_view what);

// Refuses what a rule must not use: input, env, halt, modules and so on. Errors: invalid, naming
// it.
Result<void> refuse_forbidden(std::string_view text, const std::vector<Token>& tokens);

}  // namespace kubewatch::jq
