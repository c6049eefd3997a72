// kubewatch as a program of a case: the command, a controller, and its answers over the control
// socket.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "e2e/program.hpp"
#include "e2e/world.hpp"

namespace kubewatch::e2e {

// `kubewatch WORDS` with the server of the case, or with another kubeconfig. `before`: words in
// front of it, as `/bin/sh -c 'ulimit ...; exec "$@"' sh`.
inline ProgramOptions kubewatch_command(World& w, std::vector<std::string> words,
                                        const std::string& kubeconfig,
                                        const std::vector<std::string>& before = {}) {
  words.insert(words.begin(), KUBEWATCH_BINARY);
  words.insert(words.begin(), before.begin(), before.end());
  return {std::move(words), {"FOLDER=" + w.folder(), "KUBECONFIG=" + kubeconfig}, {}};
}

inline ProgramOptions kubewatch_command(World& w, std::vector<std::string> words) {
  return kubewatch_command(w, std::move(words), w.kubeconfig());
}

// One that ends by itself. It has a home, where it may keep what a later one finds.
inline Ran kubewatch(World& w, std::vector<std::string> words) {
  ProgramOptions options = kubewatch_command(w, std::move(words));
  options.environment.push_back("HOME=" + w.folder());
  return Program(w.loop(), std::move(options)).ran();
}

inline std::unique_ptr<Program> controller(World& w, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"run-controller", "-f", w.folder() + "/rules.yaml", "--socket",
                                    w.folder() + "/c.sock"};
  words.insert(words.end(), more.begin(), more.end());
  return std::make_unique<Program>(w.loop(), kubewatch_command(w, std::move(words)));
}

// A subcommand's answer; null when it failed.
inline Json ask(World& w, std::vector<std::string> words) {
  words.insert(words.begin(), "run-controller");
  words.insert(words.end(), {"--socket", w.folder() + "/c.sock", "-n", w.ns(), "-o", "json"});
  const Ran ran = Program(w.loop(), kubewatch_command(w, std::move(words))).ran();
  if (ran.code != 0) return nullptr;
  auto answer = base::parse_json(ran.out);
  return answer.ok() ? *answer : Json(nullptr);
}

}  // namespace kubewatch::e2e
