#include "cli/argv.hpp"

#include <fmt/format.h>

#include <optional>

#include <CLI/CLI.hpp>

#include "cli/app.hpp"

namespace kubewatch::cli {

namespace {

// "-AR=false": the letters before the last are flags, and the value is the last one's.
struct Cluster {
  std::string letters;
  std::string value;
  std::string last() const { return {'-', letters.back()}; }
};

// Absent for what has no such value: "-nx=y" is "x=y" of -n.
std::optional<Cluster> cluster_of(const std::string& word, const ShortFlags& flags) {
  const auto equals = word.find('=');
  if (equals == std::string::npos || equals < 2 || word[0] != '-' || word[1] == '-') return {};
  for (std::size_t i = 1; i + 1 < equals; ++i) {
    if (flags.count({'-', word[i]}) == 0) return {};
  }
  return Cluster{word.substr(1, equals - 1), word.substr(equals + 1)};
}

}  // namespace

ShortFlags short_flags_of(const CLI::App& app) {
  ShortFlags out;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 0 || option->get_lnames().empty()) continue;
    for (const auto& name : option->get_snames()) {
      out["-" + name] = "--" + option->get_lnames().front();
    }
  }
  for (const CLI::App* one : subcommands_of(app)) out.merge(short_flags_of(*one));
  return out;
}

std::string invalid_argument(const std::vector<std::string>& words, const ShortFlags& flags) {
  for (const std::string& word : words) {
    if (word == "--") break;
    const auto cluster = cluster_of(word, flags);
    if (!cluster || !cluster->value.empty()) continue;
    const auto flag = flags.find(cluster->last());
    if (flag == flags.end()) continue;
    return fmt::format("invalid argument \"\" for \"{}, {}\": true or false", flag->first,
                       flag->second);
  }
  return "";
}

std::vector<std::string> normalise_argv(const std::vector<std::string>& words,
                                        const ShortFlags& flags) {
  std::vector<std::string> out;
  bool literal = false;
  for (std::string word : words) {
    if (literal || word == "--") {
      literal = true;
      out.push_back(std::move(word));
      continue;
    }
    if (const auto cluster = cluster_of(word, flags)) {
      for (std::size_t i = 0; i + 1 < cluster->letters.size(); ++i) {
        out.push_back({'-', cluster->letters[i]});
      }
      const auto flag = flags.find(cluster->last());
      if (flag == flags.end()) {
        out.push_back(cluster->last());
        out.push_back(cluster->value);
        continue;
      }
      word = flag->second + "=" + cluster->value;
    }
    if (word == "--force-conflicts=") {
      // CLI11 takes it for the flag alone, which forces everything: a path that is none is refused.
      out.push_back("--force-conflicts=.");
    } else if (word.size() > 3 && word.starts_with("--") && word.find('=') + 1 == word.size()) {
      // CLI11 would take the next word for the value: a flag that is swallowed, --dry-run among
      // them.
      out.push_back(word.substr(0, word.size() - 1));
      out.emplace_back();
    } else {
      out.push_back(std::move(word));
    }
  }
  return out;
}

}  // namespace kubewatch::cli
