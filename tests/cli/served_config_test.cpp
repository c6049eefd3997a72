// The kubeconfig of a server of ours: which files it may be written over.
#include "cli/served_config.hpp"

#include <stdlib.h>

#include <filesystem>

#include "base/files.hpp"
#include "support/catch.hpp"

namespace kubewatch::cli {

namespace {

struct Folder {
  Folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  std::string path = (std::filesystem::temp_directory_path() / "served-XXXXXX").string();
};

client::ClientConfig served() {
  client::ClientConfig out;
  out.server = "https://127.0.0.1:8443";
  out.token = "t";
  return out;
}

std::string one(const std::string& name) {
  return client::render_kubeconfig(served(), name);
}

}  // namespace

TEST_CASE("the kubeconfig of a server is written over one of ours, and never over another") {
  Folder folder;
  const std::string path = folder.path + "/config";
  // The user's own, which also leads to a server of ours.
  const std::string merged =
      "apiVersion: v1\nkind: Config\n"
      "clusters:\n- {name: kubewatch-reflect, cluster: {server: 'https://a'}}\n"
      "- {name: production, cluster: {server: 'https://b'}}\n"
      "users:\n- {name: kubewatch-reflect, user: {}}\n"
      "contexts:\n- {name: kubewatch-reflect, context: {cluster: kubewatch-reflect}}\n";
  const std::string other_user =
      "clusters: [{name: kubewatch-reflect}]\nusers: [{name: me}]\n"
      "contexts: [{name: kubewatch-reflect}]\n";
  for (const std::string& theirs :
       {merged, other_user, one("kubewatch-sandbox"), std::string("# kubewatch-reflect\n"),
        std::string("kubewatch-reflect: ["), one("kubewatch-reflect") + "---\n" + merged}) {
    INFO(theirs);
    REQUIRE(base::write_file_atomic(path, theirs, 0600).ok());
    {
      ServedConfig config("kubewatch-reflect", "kubewatch reflect");
      const auto written = config.write(served(), path);
      REQUIRE_FALSE(written.ok());
      CHECK(written.error().message().find("another file") != std::string::npos);
    }
    CHECK(base::read_file(path, 1U << 20U).value() == theirs);
  }
  for (const char* name : {"kubewatch-reflect", "kubewatch-sandbox"}) {
    REQUIRE(base::write_file_atomic(path, one(name), 0600).ok());
    {
      ServedConfig config(name, "kubewatch");
      auto changed = served();
      changed.token = "another";
      CHECK(config.write(changed, path).ok());
      CHECK(base::read_file(path, 1U << 20U)->find("another") != std::string::npos);
    }
    CHECK_FALSE(std::filesystem::exists(path));
  }
}

TEST_CASE("a path that cannot even be looked at is an error that names it") {
  Folder folder;
  const std::string loop = folder.path + "/loop";
  std::filesystem::create_symlink(loop, loop);
  for (const std::string& path : {folder.path + "/" + std::string(300, 'a'), loop}) {
    ServedConfig config("kubewatch-sandbox", "a sandbox");
    const auto written = config.write(served(), path);
    REQUIRE_FALSE(written.ok());
    CHECK(written.error().kind() == ErrorKind::invalid);
    CHECK(written.error().message().starts_with(path + ": "));
  }
}

TEST_CASE("the line that exports a kubeconfig is one word to a shell, whatever the path holds") {
  CHECK(export_line("/tmp/a-1/kube_config.yaml") == "export KUBECONFIG=/tmp/a-1/kube_config.yaml");
  CHECK(export_line("/home/my files/c") == "export KUBECONFIG='/home/my files/c'");
  CHECK(export_line("/tmp/$(id)/it's") == "export KUBECONFIG='/tmp/$(id)/it'\\''s'");
  CHECK(export_line("/tmp/~a") == "export KUBECONFIG='/tmp/~a'");
}

}  // namespace kubewatch::cli
