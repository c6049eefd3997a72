// A session of a terminal command for a server in this process, which its transport is yet to be
// wrapped into. Time is skipped.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/files.hpp"
#include "cli/session.hpp"
#include "rehearsal/local_server.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

struct LocalSession {
  LocalSession() {
    REQUIRE(::mkdtemp(folder.data()) != nullptr);
    client::ConfigOverrides flags;
    flags.kubeconfig = folder + "/config";
    flags.cache_dir = folder + "/cache";
    flags.server = rehearsal::LocalServer::kUrl;
    REQUIRE(base::write_file_atomic(flags.kubeconfig, "{apiVersion: v1, kind: Config}", 0600).ok());
    auto opened = Session::open(flags, &loop);
    REQUIRE(opened.ok());
    session = std::move(*opened);
  }
  ~LocalSession() {
    session.reset();
    std::error_code ignored;
    std::filesystem::remove_all(folder, ignored);
  }
  LocalSession(const LocalSession&) = delete;
  LocalSession& operator=(const LocalSession&) = delete;

  std::string folder = (std::filesystem::temp_directory_path() / "session-XXXXXX").string();
  loop::EventLoop loop{loop::VirtualClock{}};
  std::unique_ptr<Session> session;
};

}  // namespace kubewatch::cli
