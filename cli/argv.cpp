#include "cli/argv.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include <CLI/CLI.hpp>

#include "cli/app.hpp"

namespace kubewatch::cli {

namespace {

bool is_flag(const CLI::Option* option) {
  return option != nullptr && option->get_items_expected_max() == 0 &&
         !option->get_lnames().empty();
}

bool takes_next(const CLI::Option* option) {
  return option != nullptr && option->get_items_expected_min() > 0;
}

// "-AR=false": the letters before the last are flags, and the value is the last one's.
struct Cluster {
  std::string letters;
  std::string value;
  std::string last() const { return {'-', letters.back()}; }
};

// Goes along the words as CLI11 does: what a name means, the command says that was named before it,
// or one above it.
class Walk {
 public:
  explicit Walk(const CLI::App& app) : command_(&app) {}

  // Whether the word, whatever it looks like, is no flag: it is the value of the option before it,
  // as pflag has it, or stands after "--". Of each word, once.
  bool passes(const std::string& word) {
    if (literal_ || std::exchange(value_, false)) return true;
    if (word == "--") return literal_ = true;
    if (const CLI::App* sub = subcommand_of(*command_, word)) command_ = sub;
    value_ = wants_value(word);
    return false;
  }

  const CLI::Option* find(const std::string& name) const {
    for (const CLI::App* at = command_; at != nullptr; at = at->get_parent()) {
      if (const CLI::Option* option = at->get_option_no_throw(name)) return option;
    }
    return nullptr;
  }

  // Absent for what has no such value: "-nx=y" is "x=y" of -n.
  std::optional<Cluster> cluster_of(const std::string& word) const {
    const auto equals = word.find('=');
    if (equals == std::string::npos || equals < 2 || word[0] != '-' || word[1] == '-') return {};
    for (std::size_t i = 1; i + 1 < equals; ++i) {
      if (!is_flag(find({'-', word[i]}))) return {};
    }
    return Cluster{word.substr(1, equals - 1), word.substr(equals + 1)};
  }

 private:
  // "--namespace", "-n", "-An", but not "-nshop".
  bool wants_value(const std::string& word) const {
    if (word.starts_with("--")) return takes_next(find(word));
    if (!word.starts_with('-')) return false;
    for (std::size_t i = 1; i < word.size(); ++i) {
      const CLI::Option* option = find({'-', word[i]});
      if (!is_flag(option)) return i + 1 == word.size() && takes_next(option);
    }
    return false;
  }

  const CLI::App* command_;
  bool value_ = false;
  bool literal_ = false;
};

std::string long_name(const CLI::Option& flag) {
  return "--" + flag.get_lnames().front();
}

}  // namespace

std::string invalid_argument(const std::vector<std::string>& words, const CLI::App& app) {
  Walk walk(app);
  for (const std::string& word : words) {
    if (walk.passes(word)) continue;
    const auto cluster = walk.cluster_of(word);
    if (!cluster || !cluster->value.empty()) continue;
    const CLI::Option* last = walk.find(cluster->last());
    if (!is_flag(last)) continue;
    return fmt::format("invalid argument \"\" for \"{}, {}\": true or false", cluster->last(),
                       long_name(*last));
  }
  return "";
}

std::vector<std::string> normalise_argv(const std::vector<std::string>& words,
                                        const CLI::App& app) {
  std::vector<std::string> out;
  Walk walk(app);
  for (std::string word : words) {
    if (walk.passes(word)) {
      out.push_back(std::move(word));
      continue;
    }
    if (const auto cluster = walk.cluster_of(word)) {
      for (std::size_t i = 0; i + 1 < cluster->letters.size(); ++i) {
        out.push_back({'-', cluster->letters[i]});
      }
      const CLI::Option* last = walk.find(cluster->last());
      if (!is_flag(last)) {
        out.push_back(cluster->last());
        out.push_back(cluster->value);
        continue;
      }
      word = long_name(*last) + "=" + cluster->value;
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
