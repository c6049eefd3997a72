// Finding hooks and asking them for their configuration.
#include "compat/hook_file.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::compat;

namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = "/tmp/kubewatch-test-XXXXXX";
    REQUIRE(mkdtemp(pattern.data()) != nullptr);
    path = pattern;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  void file(const std::string& name, const std::string& text, bool executable = true) const {
    const std::filesystem::path at = path + "/" + name;
    std::filesystem::create_directories(at.parent_path());
    std::ofstream(at) << text;
    chmod(at.c_str(), executable ? 0755 : 0644);
  }
  std::string path;
};

// By name; errors as text.
std::map<std::string, std::string> ask_all(const Folder& folder) {
  std::vector<std::string> skipped;
  const auto files = find_hooks(folder.path, skipped);
  REQUIRE(files.ok());
  loop::EventLoop loop;
  std::map<std::string, std::string> out;
  HookLoader loader(loop, *files, whole_environment(),
                    [&](std::size_t place, Result<HookConfig> config) {
                      out[files->at(place).name] = config.ok() ? "fine" : config.error().render();
                    });
  loader.start();
  REQUIRE(loop.run_until([&] { return out.size() == files->size(); }, Duration{30000}));
  return out;
}

}  // namespace

TEST_CASE("hooks are the executables below a folder, in the order of their paths") {
  const Folder folder;
  folder.file("20-b.sh", "#!/bin/sh\n");
  folder.file("10-a/hook", "#!/bin/sh\n");
  folder.file("lib/functions.sh", "#!/bin/sh\n");
  folder.file("10-a/lib/more.sh", "#!/bin/sh\n");
  folder.file(".git/hook", "#!/bin/sh\n");
  folder.file("README.md", "text", false);
  for (const char* data : {"values.yaml", "10-a/x.json", "NOTES.md", "list.txt", ".hidden.sh"}) {
    folder.file(data, "#!/bin/sh\n");
  }
  folder.file("forgot.sh", "#!/bin/sh\n", false);
  std::vector<std::string> skipped;
  const auto found = find_hooks(folder.path, skipped);
  REQUIRE(found.ok());
  REQUIRE(found->size() == 2);
  CHECK(found->at(0).name == "10-a/hook");
  CHECK(found->at(1).name == "20-b.sh");
  CHECK(skipped == std::vector<std::string>{"forgot.sh"});
  CHECK(find_hooks(folder.path + "/none", skipped).error().is_not_found());
  CHECK_FALSE(find_hooks(folder.path + "/20-b.sh", skipped).ok());
}

TEST_CASE("a hook that cannot say its configuration is named and the others are loaded") {
  const Folder folder;
  folder.file("a-fine.sh",
              "#!/bin/sh\ntest \"$1\" = --config || exit 9\necho '{\"configVersion\":\"v1\","
              "\"onStartup\":1}'\n");
  folder.file("b-fails.sh", "#!/bin/sh\necho 'no jq here' >&2\nexit 3\n");
  folder.file("c-wrong.sh", "#!/bin/sh\necho 'configVersion: v1'\necho 'kuberntes: []'\n");
  folder.file("d-unclosed.sh", "#!/bin/sh\nprintf '{\"configVersion\":'\n");
  folder.file("e-floods.sh", "#!/bin/sh\nyes\n");
  folder.file("f-no-interpreter.sh", "#!/no/such/interpreter\n");
  auto answers = ask_all(folder);
  CHECK(answers["a-fine.sh"] == "fine");
  CHECK(answers["b-fails.sh"].find("exit code 3: no jq here") != std::string::npos);
  CHECK(answers["c-wrong.sh"].find("kuberntes: unknown field, did you mean kubernetes?") !=
        std::string::npos);
  CHECK(answers["d-unclosed.sh"] != "fine");
  CHECK(answers["e-floods.sh"].find("1 MiB") != std::string::npos);
  CHECK(answers["f-no-interpreter.sh"] != "fine");
}
