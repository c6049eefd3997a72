#include "base/find_program.hpp"

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "support/catch.hpp"

namespace kubewatch::base {

namespace fs = std::filesystem;

TEST_CASE("a program is looked for in the absolute folders of PATH alone") {
  std::string name = (fs::temp_directory_path() / "kubewatch-find.XXXXXX").string();
  REQUIRE(::mkdtemp(name.data()) != nullptr);
  const fs::path folder = name;
  fs::create_directories(folder / "first" / "tool");  // a folder is no program
  fs::create_directories(folder / "second");
  for (const fs::path& file : {folder / "tool", folder / "second" / "tool"}) {
    std::ofstream(file) << "#!/bin/sh\n";
    fs::permissions(file, fs::perms::owner_all);
  }
  std::ofstream(folder / "first" / "text") << "no program\n";
  const char* before = ::getenv("PATH");
  const std::string path = before == nullptr ? "" : before;
  const fs::path here = fs::current_path();
  fs::current_path(folder);
  ::setenv("PATH", ":.:second:", 1);
  CHECK(find_program("tool").empty());
  const std::string first = (folder / "first").string();
  const std::string second = (folder / "second").string();
  ::setenv("PATH", (".:" + first + ":" + second).c_str(), 1);
  CHECK(find_program("tool") == second + "/tool");
  CHECK(find_program("text").empty());
  ::unsetenv("PATH");
  CHECK(search_path() == kDefaultPath);
  fs::current_path(here);
  ::setenv("PATH", path.c_str(), 1);
  fs::remove_all(folder);
}

}  // namespace kubewatch::base
