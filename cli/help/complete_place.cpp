// Which kind of word is asked for: walks the words along the command tree. Pure.
#include <algorithm>
#include <string_view>
#include <utility>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "cli/app.hpp"
#include "cli/help/complete.hpp"
#include "cli/help/docs.hpp"
#include "cli/help/option_type.hpp"

namespace kubewatch::cli {

namespace {

using What = CompletionPlace::What;

CompletionPlace subcommands_place(const CLI::App& app, const std::string& last) {
  CompletionPlace place;
  place.what = What::words;
  place.part = last;
  for (const CLI::App* one : subcommands_of(app)) {
    place.words.emplace_back(one->get_name(), one->get_description());
  }
  return place;
}

// Of the command or, as global flags are, of one above it.
const CLI::Option* flag_of(const CLI::App* app, const std::string& name) {
  for (; app != nullptr; app = app->get_parent()) {
    if (const auto* option = app->get_option_no_throw(name)) return option;
  }
  return nullptr;
}

bool takes_value(const CLI::Option* option) {
  return option != nullptr && option->get_items_expected_max() > 0;
}

// By its type, or the positional's name; PATHs lead into objects.
bool takes_file(const CLI::Option& option) {
  const auto among = [](const std::vector<std::string>& words, const char* all) {
    return std::any_of(words.begin(), words.end(), [all](const std::string& word) {
      return std::string_view(all).find(" " + word + " ") != std::string_view::npos;
    });
  };
  return among(base::split(argument_of(option), '|'), " FILE DIR FOLDER ") ||
         (option.get_positional() && among({option.get_name(true)}, " FILE CRD OLD NEW OBJECT "));
}

CompletionPlace words_place(const std::vector<std::string>& words, std::string prefix,
                            std::string part) {
  CompletionPlace place;
  place.what = What::words;
  for (const auto& word : words) place.words.emplace_back(word, "");
  place.prefix = std::move(prefix);
  place.part = std::move(part);
  return place;
}

CompletionPlace value_place(const CLI::Option& option, std::string prefix, std::string part) {
  const auto members = choices_of(option);
  if (!members.empty()) return words_place(members, std::move(prefix), std::move(part));
  CompletionPlace place;
  if (option.check_lname("namespace")) {
    place.what = What::namespaces;
    if (const auto comma = part.rfind(','); comma != std::string::npos) {
      prefix += part.substr(0, comma + 1);
      part.erase(0, comma + 1);
    }
  } else if (option.check_lname("context")) {
    place.what = What::contexts;
  } else if (option.check_lname("cluster")) {
    place.what = What::clusters;
  } else if (option.check_lname("user")) {
    place.what = What::users;
  } else if (option.check_lname("output")) {
    // Its help is the list of its words.
    std::vector<std::string> words;
    for (const auto& word : base::split(option.get_description(), ',')) {
      words.emplace_back(base::trim(word));
    }
    return words_place(words, std::move(prefix), std::move(part));
  } else if (option.check_lname("for") || option.check_lname("fail-if")) {
    return words_place({"ready", "rollout", "create", "delete", "condition=", "jsonpath=", "jq="},
                       std::move(prefix), std::move(part));
  } else if (takes_file(option)) {
    place.what = What::files;
  }
  place.prefix = std::move(prefix);
  place.part = std::move(part);
  return place;
}

CompletionPlace flags_place(const CLI::App* app, const std::string& part) {
  CompletionPlace place;
  place.what = What::words;
  place.part = part;
  for (; app != nullptr; app = app->get_parent()) {
    for (const CLI::Option* option : app->get_options()) {
      // Hidden ones have no group.
      if (!option->nonpositional() || option->get_group().empty()) continue;
      for (const auto& name : option->get_lnames()) {
        place.words.emplace_back("--" + name, option->get_description());
      }
      if (part != "-") continue;
      for (const auto& name : option->get_snames()) {
        place.words.emplace_back("-" + name, option->get_description());
      }
    }
  }
  return place;
}

bool is_types(const CLI::Option& positional) {
  const std::string name = positional.get_name(true);
  return name.find("TYPE") != std::string::npos || name.find("TARGET") != std::string::npos ||
         name.find("RESOURCE") != std::string::npos;
}

CompletionPlace resource_place(const std::vector<std::string>& before, const std::string& last) {
  CompletionPlace place;
  place.part = last;
  const auto cut = [&place](std::size_t at) {
    place.prefix = place.part.substr(0, at + 1);
    place.part.erase(0, at + 1);
  };
  if (const auto slash = last.find('/'); slash != std::string::npos) {
    place.what = What::names;
    place.type = last.substr(0, slash);
    cut(slash);
    return place;
  }
  const bool combined = !before.empty() && before.front().find('/') != std::string::npos;
  if (!before.empty() && !combined) {
    place.what = What::names;
    place.type = before.front();
    return place;
  }
  place.what = What::types;
  place.slash = combined;
  if (const auto comma = last.rfind(','); comma != std::string::npos) cut(comma);
  return place;
}

CompletionPlace positional_place(const CLI::App& app, const std::vector<std::string>& before,
                                 const std::string& last) {
  if (before.empty() && !subcommands_of(app).empty()) {
    CompletionPlace place = subcommands_place(app, last);
    const auto options = app.get_options();
    place.or_files = std::any_of(options.begin(), options.end(), [](const CLI::Option* option) {
      return option->get_positional() && takes_file(*option);
    });
    return place;
  }
  for (const CLI::Option* option : app.get_options()) {
    if (!option->get_positional()) continue;
    if (is_types(*option)) return resource_place(before, last);
    return value_place(*option, "", last);
  }
  return {};
}

// What there is help of below the commands that were named: their subcommands; at first topics too.
CompletionPlace help_place(const CLI::App& top, const std::vector<std::string>& before,
                           const std::string& last) {
  const CLI::App* app = &top;
  for (const std::string& word : before) {
    app = subcommand_of(*app, word);
    if (app == nullptr) return {};
  }
  CompletionPlace place = subcommands_place(*app, last);
  if (!before.empty()) return place;
  for (const Topic& topic : topics()) place.words.emplace_back(topic.name, topic.summary);
  return place;
}

}  // namespace

CompletionPlace completion_place(const CommandTree& tree, const std::vector<std::string>& words) {
  const CLI::App* app = tree.app.get();
  const CLI::Option* pending = nullptr;
  std::vector<std::string> before;
  bool literal = false;
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& word = words[i];
    if (pending != nullptr) {
      pending = nullptr;
    } else if (literal || word.size() < 2 || word[0] != '-') {
      const CLI::App* inner = before.empty() && !literal ? subcommand_of(*app, word) : nullptr;
      if (inner != nullptr) {
        app = inner;
      } else {
        before.push_back(word);
      }
    } else if (word == "--") {
      literal = true;
    } else if (word.find('=') == std::string::npos && (word[1] == '-' || word.size() == 2)) {
      const auto* option = flag_of(app, word);
      if (takes_value(option)) pending = option;
    }
  }
  const std::string last = words.empty() ? "" : words.back();
  if (pending != nullptr) return value_place(*pending, "", last);
  if (!literal && last.starts_with('-')) {
    const auto equals = last.find('=');
    if (equals == std::string::npos) return flags_place(app, last);
    const auto* option = flag_of(app, last.substr(0, equals));
    if (!takes_value(option)) return {};
    return value_place(*option, last.substr(0, equals + 1), last.substr(equals + 1));
  }
  const bool help = app->get_parent() == tree.app.get() && app->get_name() == "help";
  return help ? help_place(*tree.app, before, last) : positional_place(*app, before, last);
}

}  // namespace kubewatch::cli
