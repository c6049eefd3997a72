// The words themselves: from the tree, the kubeconfig, the cache of kinds, and the server where it
// answers in time.
#include "cli/help/complete.hpp"

#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <set>

#include <CLI/CLI.hpp>

#include "base/strings.hpp"
#include "client/discovery_file.hpp"
#include "client/kubeconfig.hpp"
#include "core/meta.hpp"
#include "core/object_rules.hpp"

namespace kubewatch::cli {

namespace {

using What = CompletionPlace::What;
using Words = std::vector<std::pair<std::string, std::string>>;

constexpr Duration kBudget{300};
constexpr Duration kMaxBudget{60000};
// So long after the budget the process ends, whatever it is in: a resolver, a credential plugin.
constexpr Duration kGuard{80};
constexpr std::size_t kMaxCompletions = 1000;
constexpr Duration kOldKinds{std::chrono::hours{24 * 30}};

extern "C" void end_without_words(int) {
  constexpr char kNothing[] = ":4\n";
  if (::write(STDOUT_FILENO, kNothing, sizeof kNothing - 1) < 0) ::_exit(1);
  ::_exit(0);
}

// $KUBEWATCH_COMPLETION_TIMEOUT, for clusters that are far.
Duration budget_of_user() {
  const char* text = std::getenv("KUBEWATCH_COMPLETION_TIMEOUT");
  const auto given = base::parse_duration(text == nullptr ? "" : text);
  return given.ok() && given->count() > 0 ? std::min(*given, kMaxBudget) : kBudget;
}

class Guard {
 public:
  explicit Guard(Duration limit) {
    ::signal(SIGALRM, end_without_words);
    set(limit);
  }
  ~Guard() {
    set(Duration{0});
    ::signal(SIGALRM, SIG_DFL);
  }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

 private:
  static void set(Duration after) {
    struct itimerval timer {};
    timer.it_value.tv_sec = after.count() / 1000;
    timer.it_value.tv_usec = after.count() % 1000 * 1000;
    ::setitimer(ITIMER_REAL, &timer, nullptr);
  }
};

// Whether all of them could be read.
bool read_globals(const std::vector<std::string>& words, GlobalOptions& out) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  bind_global_flags(app, out);
  try {
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError&) {
    return false;
  }
  return true;
}

// The global flags among the words; the others, which may be wrong as yet, do not matter.
GlobalOptions globals_of(std::vector<std::string> words) {
  GlobalOptions out;
  // The word that is typed, and then the flag whose value it is.
  for (int i = 0; i < 2 && !words.empty(); ++i) {
    words.pop_back();
    out = {};
    if (read_globals(words, out)) break;
  }
  if (!out.namespaces.empty()) out.config.namespace_ = out.namespaces.back();
  if (!out.contexts.empty()) out.config.context = out.contexts.back();
  return out;
}

class Live {
 public:
  explicit Live(const GlobalOptions& global) : global_(global) {}

  bool open() {
    auto config = client::load_config(global_.config, client::ConfigEnvironment::from_process());
    if (!config.ok()) return false;
    // A key on the keyboard asks nobody anything, and may be given up on at any moment: no program
    // talks with a person, and no refresh token that is good once only is used up.
    if (config->exec) {
      if (config->exec->interactive == client::ExecPlugin::Interactive::always) return false;
      config->exec->interactive = client::ExecPlugin::Interactive::never;
    }
    if (config->oidc) config->oidc->refresh_token.clear();
    auto transport = client::make_transport(loop_, *config);
    if (!transport.ok()) return false;
    transport_ = std::move(transport).value();
    client_ = std::make_unique<client::Client>(loop_, *transport_, std::move(config).value());
    deadline_ = loop_.now() + budget_of_user();
    return true;
  }

  std::shared_ptr<const client::ResourceMap> kinds() {
    const client::DiscoveryFile file(client::cache_folder(global_.config.cache_dir),
                                     client_->config());
    if (auto kept = file.load(loop_.wall())) return kept;
    using Map = std::shared_ptr<const client::ResourceMap>;
    std::optional<Result<Map>> answer;
    const auto pending = client::discover((*client_), [&](Result<Map> map) { answer = map; });
    turn([&] { return answer.has_value(); });
    if (answer && answer->ok()) {
      file.save(***answer, loop_.wall());
      return **answer;
    }
    // A server that does not answer in time still has most of the kinds that it had.
    auto old = file.load(loop_.wall(), kOldKinds);
    return old ? old : std::make_shared<const client::ResourceMap>();
  }

  // Names alone are asked for, and no more than a screen can hold.
  Words names(const core::ResourceType& type, const std::string& namespace_) {
    core::ListParams params;
    params.content = core::Content::metadata;
    params.limit = kMaxCompletions;
    params.resource_version = "0";  // whatever the server has at hand
    Words out;
    bool done = false;
    const auto pending = client_->list_items(
        type, namespace_, params,
        [&](std::string_view item) {
          const auto meta = core::parse_meta(item);
          if (meta.ok() && is_offered_name(meta->name)) out.emplace_back(meta->name, "");
        },
        [&](Result<core::ListPage>) { done = true; });
    turn([&] { return done; });
    return out;
  }

  const std::string& own_namespace() const { return client_->config().namespace_; }

 private:
  template <class Condition>
  void turn(const Condition& met) {
    const auto left = deadline_ - loop_.now();
    if (left.count() > 0) loop_.run_until(met, left);
  }

  const GlobalOptions& global_;
  loop::EventLoop loop_;
  std::unique_ptr<http::Transport> transport_;
  std::unique_ptr<client::Client> client_;
  TimePoint deadline_{};
};

Words type_words(const client::ResourceMap& map, bool slash) {
  Words out;
  std::set<std::string> seen;
  client::ResourceMap::Filter filter;
  filter.verbs = {"list"};
  for (const auto& type : map.kinds(filter)) {
    const std::string word =
        seen.insert(type.plural).second ? type.plural : type.qualified_plural();
    if (!is_offered_name(word)) continue;
    out.emplace_back(word + (slash ? "/" : ""), type.gvk.api_version() + " " + type.gvk.kind);
  }
  return out;
}

Words config_words(What what, const GlobalOptions& global) {
  const auto environment = client::ConfigEnvironment::from_process();
  std::vector<std::string> files;
  if (!global.config.kubeconfig.empty()) {
    files = {global.config.kubeconfig};
  } else if (!environment.kubeconfig.empty()) {
    files = base::split(environment.kubeconfig, ':');
  } else {
    files = {environment.home + "/.kube/config"};
  }
  const auto loaded = client::load_kubeconfig(files, false);
  if (!loaded.ok()) return {};
  Words out;
  const auto& entries = what == What::contexts   ? loaded->contexts
                        : what == What::clusters ? loaded->clusters
                                                 : loaded->users;
  for (const auto& [name, entry] : entries) {
    if (name.starts_with('-')) continue;
    out.emplace_back(name,
                     name == loaded->current_context && what == What::contexts ? "current" : "");
  }
  return out;
}

Words live_words(const CompletionPlace& place, const GlobalOptions& global) {
  Live live(global);
  if (!live.open()) return {};
  if (place.what == What::namespaces) {
    core::ResourceType namespaces;
    namespaces.gvk = {"", "v1", "Namespace"};
    namespaces.plural = "namespaces";
    namespaces.namespaced = false;
    return live.names(namespaces, "");
  }
  const auto map = live.kinds();
  if (place.what == What::types) return type_words(*map, place.slash);
  const auto types = map->resolve(place.type.substr(0, place.type.find(',')));
  if (types.empty()) return {};
  return live.names(types.front(), types.front().namespaced ? live.own_namespace() : "");
}

Words words_of(const CompletionPlace& place, const GlobalOptions& global) {
  switch (place.what) {
    case What::nothing:
    case What::files: return {};
    case What::words: return place.words;
    case What::contexts:
    case What::clusters:
    case What::users: return config_words(place.what, global);
    default: return live_words(place, global);
  }
}

// Words that a shell or a terminal would take for something else are left out.
bool needs_no_quotes(const std::string& word) {
  return word.find_first_of(" \t\n\\\"'`$;&|<>(){}*?!~#") == std::string::npos &&
         base::escape_for_terminal(word) == word;
}

std::string first_line(const std::string& text) {
  std::string line = base::escape_for_terminal(text.substr(0, text.find('\n')));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

}  // namespace

bool is_offered_name(const std::string& name) {
  return !name.starts_with('-') && !name.empty() && core::check_path_segment(name).empty();
}

int run_complete(const std::vector<std::string>& words, std::ostream& out) {
  std::string text;
  int directive = kCompleteNoFiles;
  {
    const Guard guard(budget_of_user() + kGuard);
    const auto tree = build_tree();
    const auto place = completion_place(*tree, words);
    std::size_t count = 0;
    for (const auto& [word, help] : words_of(place, globals_of(words))) {
      if (!word.starts_with(place.part) || !needs_no_quotes(word)) continue;
      if (++count > kMaxCompletions) break;
      text += place.prefix + word + (help.empty() ? "" : "\t" + first_line(help)) + "\n";
      if (word.ends_with('=') || word.ends_with('/')) directive |= kCompleteNoSpace;
    }
    if (place.what == What::files || (place.or_files && count == 0)) directive = kCompleteDefault;
  }
  out << text << ":" << directive << "\n";
  out.flush();
  return 0;
}

}  // namespace kubewatch::cli
