// The kubeconfig of a server that a command runs: written for its owner alone, never over a file
// that somebody else wrote, and taken away at the end if it is still ours.
#pragma once

#include <string>

#include "base/result.hpp"
#include "client/config.hpp"

namespace kubewatch::cli {

class ServedConfig {
 public:
  // `context`: the name in the file, by which a file of ours is known again; `what` for messages.
  ServedConfig(std::string context, std::string what)
      : context_(std::move(context)), what_(std::move(what)) {}
  ~ServedConfig();
  ServedConfig(const ServedConfig&) = delete;
  ServedConfig& operator=(const ServedConfig&) = delete;

  // To `path`, or where that is "" into a folder of its own. The absolute path. Errors: invalid (a
  // file that is not ours is there); those of writing.
  Result<std::string> write(const client::ClientConfig& config, std::string path);

 private:
  std::string context_;
  std::string what_;
  std::string path_;
  std::string own_folder_;
  std::string content_;
};

// The line by which a shell's commands use that kubeconfig, whatever is in its path.
std::string export_line(const std::string& path);

}  // namespace kubewatch::cli
