// kubectl as somebody else's view of a server: where it is, and what it answers. Not a way for
// cases to prepare what they test: that is World.
#pragma once

#include <stdlib.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "e2e/program.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

class Kubectl {
 public:
  Kubectl(World& w, std::string kubeconfig) : w_(w), kubeconfig_(std::move(kubeconfig)) {
    path_ = found();
    const char* required = ::getenv("KUBEWATCH_E2E_REQUIRE");
    if (path_.empty() && required != nullptr && w.server().name() != "sandbox") {
      FAIL(
          "no kubectl: neither in KUBEBUILDER_ASSETS nor built by tests/kube-apiserver/build.sh "
          "nor in PATH");
    }
  }

  bool there() const { return !path_.empty(); }
  // Says in the report that the case, which is to end then, did not run.
  bool missing() const {
    if (!there()) WARN("no kubectl here: this case did not run");
    return !there();
  }

  Ran run(std::vector<std::string> words) {
    words.insert(words.begin(), {path_, "--kubeconfig", kubeconfig_});
    return program(std::move(words));
  }

  // As `get KIND -n NAMESPACE -l SELECTOR`.
  std::vector<Json> list(const std::string& kind, const std::string& selector,
                         const std::string& namespace_) {
    std::vector<std::string> words = {"get", kind, "-n", namespace_, "-o", "json"};
    if (!selector.empty()) words.insert(words.end(), {"-l", selector});
    const Ran answer = run(words);
    INFO(answer.err);
    REQUIRE(answer.code == 0);
    const auto list = base::parse_json(answer.out);
    REQUIRE(list.ok());
    return (*list)["items"].get<std::vector<Json>>();
  }

 private:
  // The one of the real server's version before any other.
  std::string found() {
    std::vector<std::string> folders;
    if (const char* assets = ::getenv("KUBEBUILDER_ASSETS"); assets != nullptr) {
      folders.emplace_back(assets);
    }
    if (const Ran built = program({KUBEWATCH_ASSETS_SCRIPT, "--where"}); built.code == 0) {
      folders.emplace_back(base::trim(built.out));
    }
    for (const auto& folder : base::split(::getenv("PATH"), ':')) folders.emplace_back(folder);
    for (const auto& folder : folders) {
      const std::string path = folder + "/kubectl";
      if (::access(path.c_str(), X_OK) == 0) return path;
    }
    return "";
  }

  Ran program(std::vector<std::string> argv) {
    ProgramOptions options;
    options.argv = std::move(argv);
    options.environment = {"HOME=" + home()};
    if (const char* cache = ::getenv("XDG_CACHE_HOME"); cache != nullptr) {
      options.environment.push_back("XDG_CACHE_HOME=" + std::string(cache));
    }
    return Program(w_.loop(), std::move(options)).ran();
  }

  static std::string home() {
    const char* home = ::getenv("HOME");
    return home == nullptr ? "/" : home;
  }

  World& w_;
  std::string kubeconfig_, path_;
};

}  // namespace kubewatch::e2e
