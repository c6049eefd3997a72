#include "cel/words.hpp"

#include <algorithm>
#include <array>

namespace kubewatch::cel {

bool is_keyword(std::string_view word) {
  return word == "true" || word == "false" || word == "null" || word == "in";
}

bool is_reserved_word(std::string_view word) {
  static constexpr std::array<std::string_view, 17> kWords = {
      "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
      "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};
  return std::find(kWords.begin(), kWords.end(), word) != kWords.end();
}

}  // namespace kubewatch::cel
