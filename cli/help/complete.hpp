// kubewatch __complete WORD...: what may stand in place of the last word. The shells' scripts call
// it; it answers as cobra programs do: "WORD\tDESCRIPTION" lines, then ":DIRECTIVE". It never
// fails, says nothing on stderr and ends within its budget, server or no server.
#pragma once

#include <iosfwd>
#include <string>
#include <utility>
#include <vector>

#include "cli/app.hpp"

namespace kubewatch::cli {

// Bits of the directive: what the shell is to do with the words.
enum CompletionDirective : int {
  kCompleteDefault = 0,  // files too, when no word fits
  kCompleteNoSpace = 2,
  kCompleteNoFiles = 4,
};

// What is asked for, by the words alone.
struct CompletionPlace {
  enum class What {
    nothing,
    files,
    words,  // those in `words`
    types,
    names,  // of `type`
    namespaces,
    contexts,
    clusters,
    users,
  };
  What what = What::nothing;
  std::vector<std::pair<std::string, std::string>> words;  // with their descriptions
  std::string type;
  std::string prefix;     // of every answer: what stands before the part that is completed, "pods,"
  std::string part;       // how the answer begins after the prefix
  bool slash = false;     // types are followed by "/NAME"
  bool or_files = false;  // where no word fits
};

// `words`: those behind the program's name, the last one incomplete, perhaps "". Pure.
CompletionPlace completion_place(const CommandTree& tree, const std::vector<std::string>& words);

// What a server calls something, offered only where no shell or command would take it for a flag,
// a folder or a path.
bool is_offered_name(const std::string& name);

// Prints the answer; returns 0.
int run_complete(const std::vector<std::string>& words, std::ostream& out);

}  // namespace kubewatch::cli
