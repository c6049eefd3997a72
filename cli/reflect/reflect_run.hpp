// One run of `kubewatch reflect` with a server or a recording: caches are opened, and then printed,
// served, verified, estimated or kept until it is stopped. What the flags may say together is the
// verb's.
#pragma once

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/reflect/flags.hpp"
#include "cli/reflect/query.hpp"
#include "cli/reflect/saved.hpp"

namespace kubewatch::cli {

// What --from names, as it was read; its caches point into the content.
struct SavedFile {
  std::string content;
  std::vector<SavedKind> kinds;
  void clear() {
    kinds.clear();
    content = std::string();
  }
};

// Blocks until it ends; prints what went wrong. The exit code. What was `saved` is cleared once the
// caches hold it.
int run_reflect(Context& context, ReflectFlags& flags, const ReflectQuery& query, SavedFile& saved);

}  // namespace kubewatch::cli
