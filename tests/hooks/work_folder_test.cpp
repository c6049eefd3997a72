// The private folder of an engine, and what becomes of those that were left.
#include "hooks/work_folder.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include "client/temp_dir.hpp"
#include "support/catch.hpp"
#include "support/nobody.hpp"

using namespace kubewatch;
using hooks::WorkFolder;

namespace fs = std::filesystem;

TEST_CASE("a private folder is for its owner alone and goes with it") {
  const test::TempDir base;
  std::string path;
  {
    auto made = WorkFolder::make(base.path());
    REQUIRE(made.ok());
    const WorkFolder folder = *std::move(made);
    path = folder.path();
    std::ofstream(path + "/kubeconfig") << "token";
    struct stat facts {};
    REQUIRE(stat(path.c_str(), &facts) == 0);
    CHECK((facts.st_mode & 0777U) == 0700);
  }
  CHECK_FALSE(fs::exists(path));
  CHECK_FALSE(WorkFolder::make(base.path() + "/none").ok());
}

TEST_CASE("a private folder goes with what a hook has closed in it") {
  const test::TempDir base;
  fs::permissions(base.path(), fs::perms::all);
  std::optional<test::AsNobody> nobody(std::in_place);
  const auto close_in = [](const std::string& path) {
    fs::create_directories(path + "/rule/home-1/mod");
    std::ofstream(path + "/rule/home-1/mod/token") << "secret";
    fs::permissions(path + "/rule/home-1/mod", fs::perms::none);
  };
  std::string path;
  const std::string left = base.path() + "/kubewatch-work-left";
  {
    auto made = WorkFolder::make(base.path());
    REQUIRE(made.ok());
    const WorkFolder folder = *std::move(made);
    path = folder.path();
    close_in(path);
    close_in(left);
    std::ofstream(left + "/.lock") << "";
    CHECK(WorkFolder::make(base.path()).ok());
  }
  nobody.reset();
  CHECK_FALSE(fs::exists(path));
  CHECK_FALSE(fs::exists(left));
}

TEST_CASE("the folder of one that was killed is removed by the next, that of a living one is not") {
  const test::TempDir base;
  const auto living = WorkFolder::make(base.path());
  REQUIRE(living.ok());
  const std::string left = base.path() + "/kubewatch-work-left";
  fs::create_directories(left + "/run");
  std::ofstream(left + "/.lock") << "";
  std::ofstream(left + "/run/binding-context.json") << "secret";
  const std::string beginning = base.path() + "/kubewatch-work-beginning";
  fs::create_directories(beginning);  // no lock yet
  const std::string other = base.path() + "/kubewatch-other";
  fs::create_directories(other);
  std::ofstream(other + "/.lock") << "";
  fs::create_directory_symlink(other, base.path() + "/kubewatch-work-link");
  const auto next = WorkFolder::make(base.path());
  REQUIRE(next.ok());
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(living->path() + "/.lock"));
  CHECK(fs::exists(beginning));
  CHECK(fs::exists(other + "/.lock"));
}
