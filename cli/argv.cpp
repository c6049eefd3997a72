#include "cli/argv.hpp"

namespace kubewatch::cli {

std::vector<std::string> normalise_argv(const std::vector<std::string>& words) {
  std::vector<std::string> out;
  bool literal = false;
  for (const auto& word : words) {
    if (literal || word == "--") {
      literal = true;
      out.push_back(word);
      continue;
    }
    const bool short_with_equals =
        word.size() >= 3 && word[0] == '-' && word[1] != '-' && word[2] == '=';
    if (short_with_equals) {
      out.push_back(word.substr(0, 2));
      out.push_back(word.substr(3));
    } else if (word == "--force-conflicts=") {
      // CLI11 takes it for the flag alone, which forces everything: a path that is none is refused.
      out.push_back("--force-conflicts=.");
    } else if (word.size() > 3 && word.starts_with("--") && word.find('=') + 1 == word.size()) {
      // CLI11 would take the next word for the value: a flag that is swallowed, --dry-run among
      // them.
      out.push_back(word.substr(0, word.size() - 1));
      out.emplace_back();
    } else {
      out.push_back(word);
    }
  }
  return out;
}

}  // namespace kubewatch::cli
