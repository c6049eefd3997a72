// Who may live in a folder after whom.
#include "hooks/hook_homes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <utility>

#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

using namespace kubewatch;
using namespace kubewatch::hooks;

TEST_CASE("a home that was left as it was is given to the next hook") {
  const test::RuleFolder folder;
  HookHomes homes({folder.path()}, folder.file("work"));
  const std::string first = *homes.take();
  CHECK(std::filesystem::is_empty(first));
  CHECK((std::filesystem::status(first).permissions() & std::filesystem::perms::mask) ==
        std::filesystem::perms::owner_all);
  const std::string second = *homes.take();
  CHECK(second != first);
  homes.give_back(first);
  CHECK(*homes.take() == first);
}

namespace {

// Until the kernel's clock of files, which ticks every few milliseconds, has gone on.
void wait_for_another_time(const std::string& home) {
  const auto changed = [](const std::string& path) {
    struct stat status {};
    ::stat(path.c_str(), &status);
    return std::pair(status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
  };
  const std::string beside = home + ".beside";
  do {
    std::ofstream(beside) << "x";
  } while (changed(beside) == changed(home));
  std::filesystem::remove(beside);
}

}  // namespace

TEST_CASE("nothing of a hook is left in the home of the next") {
  const test::RuleFolder folder;
  HookHomes homes({folder.path()}, folder.file("work"));
  using Change = void (*)(const std::string&);
  const Change changes[] = {
      [](const std::string& home) { std::ofstream(home + "/secret") << "s3cret"; },
      [](const std::string& home) {
        std::ofstream(home + "/gone") << "x";
        std::filesystem::remove(home + "/gone");
      },
      [](const std::string& home) { std::filesystem::create_directories(home + "/a/b"); },
      [](const std::string& home) { ::chmod(home.c_str(), 0755); },
      [](const std::string& home) {
        std::ofstream(home + "/secret") << "s3cret";
        wait_for_another_time(home);
        const timespec forged[2] = {{1, 0}, {1, 0}};
        ::utimensat(AT_FDCWD, home.c_str(), forged, 0);
      },
      [](const std::string& home) {
        std::filesystem::create_directories(home + "/closed/below");
        ::chmod((home + "/closed").c_str(), 0500);
      },
      [](const std::string& home) { std::filesystem::remove(home); },
      [](const std::string& home) {
        std::filesystem::remove(home);
        std::filesystem::create_directory_symlink("/", home);
      }};
  for (const Change change : changes) {
    const std::string home = *homes.take();
    change(home);
    homes.give_back(home);
    CHECK_FALSE(std::filesystem::exists(std::filesystem::symlink_status(home)));
    const std::string next = *homes.take();
    CHECK(next != home);
    CHECK(std::filesystem::is_empty(next));
    homes.give_back(next);
    CHECK(*homes.take() == next);
  }
}

TEST_CASE(
    "private folders that were cleaned away are made again, and one that cannot be is named") {
  const test::RuleFolder folder;
  HookHomes homes({folder.file("root"), folder.file("root/rule")}, folder.file("root/rule/work"));
  const std::string first = *homes.take();
  homes.give_back(first);
  std::filesystem::remove_all(folder.file("root"));
  const auto second = homes.take();
  REQUIRE(second.ok());
  CHECK(std::filesystem::is_directory(*second));
  CHECK(std::filesystem::is_directory(folder.file("root/rule/work")));
  std::filesystem::remove_all(folder.file("root"));
  folder.write("root", "a file");
  const auto none = homes.take();
  REQUIRE_FALSE(none.ok());
  CHECK(none.error().render().find("/root") != std::string::npos);
}

TEST_CASE("a folder that is there already is no home for anybody") {
  const test::RuleFolder folder;
  std::filesystem::create_directories(folder.file("home-1/left"));
  HookHomes homes({folder.path()}, folder.file("work"));
  CHECK(*homes.take() == folder.file("home-2"));
}
