// Completions and man pages, the latter made from the command tree and the pages; committed under
// completions/ and man/, where a test keeps them from going stale. Pure.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "cli/app.hpp"

namespace kubewatch::cli {

// `shell`: bash, zsh or fish. The scripts know nothing: they ask `kubewatch __complete` at each
// TAB.
std::string completion_script(const std::string& shell);

// A page of the manual that is no command's, from cli/topics/NAME.md.
struct Topic {
  std::string name;
  int section;
  std::string summary;
  std::string (*more)() = nullptr;       // further sections, in man(7) macros; null: none
  std::string (*more_text)() = nullptr;  // the same as text
};
const std::vector<Topic>& topics();

// What exit codes mean, the same for all commands: the end of each page and of each help.
extern const char* const kExitStatus;

// File name -> roff, one page per command and kubewatch.1.
std::map<std::string, std::string> man_pages(const CommandTree& tree);

}  // namespace kubewatch::cli
