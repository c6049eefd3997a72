// Folders that are watched, and those for which no watch is left, over the real inotify.
#include "loop/file_watch.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "support/catch.hpp"
#include "support/few_watches.hpp"
#include "support/limit.hpp"

using namespace kubewatch;
using namespace kubewatch::loop;

namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "kw-watch-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path;
};

}  // namespace

TEST_CASE("a file that comes in a folder that is followed is told") {
  const Folder folder;
  EventLoop loop;
  int changes = 0;
  auto watch = FileWatch::open(loop, [&] { ++changes; });
  REQUIRE(watch.ok());
  REQUIRE((*watch)->follow({folder.path + "/rules/a.yaml"}).ok());  // neither is there yet
  fs::create_directory(folder.path + "/rules");
  REQUIRE(loop.run_until([&] { return changes > 0; }, kLimit));
  changes = 0;
  REQUIRE((*watch)->follow({folder.path + "/rules/a.yaml"}).ok());
  std::ofstream(folder.path + "/rules/a.yaml") << "x";
  CHECK(loop.run_until([&] { return changes > 0; }, kLimit));
}

TEST_CASE("a folder for which no inotify watch is left is an error, and the others are followed") {
  const Folder folder;
  fs::create_directory(folder.path + "/rules");
  const auto said = test::with_few_watches(1, [&]() -> std::string {
    EventLoop loop;
    int changes = 0;
    auto watch = FileWatch::open(loop, [&] { ++changes; });
    if (!watch.ok()) return watch.error().render();
    // The folder and the one around it: one watch too many.
    const auto followed = (*watch)->follow({folder.path + "/rules"});
    if (followed.ok()) return "no error";
    if (followed.error().kind() != ErrorKind::unavailable) return "another kind";
    if (!test::allow_watches(10)) return "no more watches";
    const auto again = (*watch)->follow({folder.path + "/rules"});
    if (!again.ok()) return again.error().render();
    std::ofstream(folder.path + "/rules/a.yaml") << "x";
    if (!loop.run_until([&] { return changes > 0; }, kLimit)) return "nothing told";
    return followed.error().message();
  });
  if (!said) {
    WARN("no user namespaces here");
    return;
  }
  CHECK(*said == "cannot watch " + folder.path +
                     "/rules: all inotify watches of this user are taken "
                     "(sysctl fs.inotify.max_user_watches)");
}
