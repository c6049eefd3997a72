// Folders and files of our cgroups, on plain folders: what is written where, in which order things
// go, and what is left alone. What the kernel makes of it is tests/cgroup.
#include "loop/cgroup_tree.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <filesystem>

#include "process_fixture.hpp"

using namespace kubewatch;
using namespace kubewatch::loop;

namespace fs = std::filesystem;

namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// A hierarchy whose files keep what was written last.
struct Hierarchy {
  Hierarchy() { give_files(dir.path); }

  CgroupFolders folders() {
    return {[this](const std::string& path) {
              if (path == refused) return EAGAIN;
              if (::mkdir(path.c_str(), 0755) != 0) return errno;
              give_files(path);
              return 0;
            },
            [this](const std::string& path) {
              if (path == busy) return EBUSY;
              removed.push_back(path);
              std::error_code error;
              fs::remove_all(path, error);
              return 0;
            }};
  }
  Result<std::shared_ptr<CgroupTree>> open(bool move = true) {
    return CgroupTree::open({dir.path, {true, true}, move}, folders());
  }
  void give_files(const std::string& path) const {
    for (const char* name : {"cgroup.procs", "cgroup.subtree_control", "cgroup.kill", "memory.max",
                             "memory.oom.group", "pids.max"}) {
      std::ofstream(path + "/" + name) << "";
    }
  }

  TempDir dir;
  std::string refused;
  std::string busy;
  std::vector<std::string> removed;
};

}  // namespace

TEST_CASE("we leave the place that was delegated, and distribute its controllers to children") {
  Hierarchy at;
  std::ofstream(at.dir.path + "/cgroup.procs") << getpid() << "\n";
  auto tree = at.open();
  REQUIRE(tree.ok());
  const std::string ours = (*tree)->path();
  CHECK(ours == at.dir.path + "/kubewatch." + std::to_string(getpid()));
  CHECK(read(ours + "/self/cgroup.procs") == std::to_string(getpid()));
  CHECK(read(at.dir.path + "/cgroup.subtree_control") == "+memory +pids");
  CHECK(read(ours + "/cgroup.subtree_control") == "+memory +pids");
}

TEST_CASE("where systemd has put us below our unit nobody is moved") {
  Hierarchy at;
  auto tree = at.open(false);
  REQUIRE(tree.ok());
  CHECK_FALSE(fs::exists((*tree)->path() + "/self"));
  CHECK(read(at.dir.path + "/cgroup.subtree_control") == "+memory +pids");
}

TEST_CASE("at the end the place is as it was") {
  Hierarchy at;
  {
    auto tree = at.open();
    REQUIRE(tree.ok());
    // The kernel lists who was moved.
    std::ofstream((*tree)->path() + "/self/cgroup.procs") << getpid() << "\n";
  }
  CHECK(read(at.dir.path + "/cgroup.procs") == std::to_string(getpid()));
  CHECK(read(at.dir.path + "/cgroup.subtree_control") == "-memory -pids");
  CHECK(fs::directory_iterator(at.dir.path) != fs::directory_iterator());
  for (const auto& entry : fs::directory_iterator(at.dir.path)) CHECK_FALSE(entry.is_directory());
}

TEST_CASE("controllers that were on before we came stay on") {
  Hierarchy at;
  std::ofstream(at.dir.path + "/cgroup.subtree_control") << "cpu memory pids\n";
  { REQUIRE(at.open(false).ok()); }
  CHECK(read(at.dir.path + "/cgroup.subtree_control") == "cpu memory pids\n");
}

TEST_CASE("a child's folder gets its limits, and only those") {
  Hierarchy at;
  auto tree = at.open();
  REQUIRE(tree.ok());
  auto both = (*tree)->make({64U << 20U, 6});
  REQUIRE(both.ok());
  const std::string path = (*both)->path();
  CHECK(path == (*tree)->path() + "/run.1");
  CHECK(read(path + "/memory.max") == "67108864");
  CHECK(read(path + "/memory.oom.group") == "1");
  CHECK(read(path + "/pids.max") == "6");
  CHECK_FALSE(fs::exists(path + "/memory.swap.max"));  // a kernel without swap does not have it
  auto processes = (*tree)->make({std::nullopt, 3});
  REQUIRE(processes.ok());
  CHECK(read((*processes)->path() + "/memory.max").empty());
  CHECK(read((*processes)->path() + "/pids.max") == "3");
  both->reset();
  CHECK(read((*tree)->path() + "/cgroup.kill").empty());
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("a limit that cannot be set is an error that names its file, and no folder is left") {
  Hierarchy at;
  auto tree = at.open();
  REQUIRE(tree.ok());
  CgroupFolders bare = at.folders();
  at.refused = (*tree)->path() + "/run.1";
  const auto refused = (*tree)->make({1U << 20U, std::nullopt});
  REQUIRE_FALSE(refused.ok());
  CHECK(has(refused.error().render(), "cannot make the cgroup " + at.refused));

  Hierarchy without;
  CgroupFolders folders = without.folders();
  folders.make = [make = folders.make](const std::string& path) {
    const int number = make(path);
    fs::remove(path + "/memory.max");
    return number;
  };
  auto other = CgroupTree::open({without.dir.path, {true, true}, true}, folders);
  REQUIRE(other.ok());
  const auto failed = (*other)->make({1U << 20U, std::nullopt});
  REQUIRE_FALSE(failed.ok());
  CHECK(has(failed.error().render(), (*other)->path() + "/run.1/memory.max"));
  CHECK_FALSE(fs::exists((*other)->path() + "/run.1"));
}

TEST_CASE("what cannot be entered is left as it was, with the reason") {
  Hierarchy at;
  at.refused = at.dir.path + "/kubewatch." + std::to_string(getpid()) + "/self";
  const auto tree = at.open();
  REQUIRE_FALSE(tree.ok());
  CHECK(has(tree.error().render(), at.refused));
  CHECK_FALSE(fs::exists(at.dir.path + "/kubewatch." + std::to_string(getpid())));
  CHECK_FALSE(has(read(at.dir.path + "/cgroup.subtree_control"), "+"));
}

TEST_CASE("a folder that is busy waits for a later look") {
  Hierarchy at;
  auto tree = at.open();
  REQUIRE(tree.ok());
  int told = 0;
  (*tree)->on_waiting([&] { ++told; });
  auto one = (*tree)->make({1U << 20U, std::nullopt});
  auto two = (*tree)->make({1U << 20U, std::nullopt});
  REQUIRE(one.ok());
  REQUIRE(two.ok());
  at.busy = (*one)->path();
  two->reset();
  CHECK(told == 0);
  one->reset();
  CHECK(told == 1);
  CHECK_FALSE((*tree)->sweep());
  CHECK(fs::exists(at.busy));
  CHECK(read(at.busy + "/cgroup.kill") == "1");
  const std::string path = std::exchange(at.busy, "");
  CHECK((*tree)->sweep());
  CHECK_FALSE(fs::exists(path));
}

TEST_CASE("what an ended process left is removed at the next start, what a living one has is not") {
  Hierarchy at;
  for (const char* name :
       {"kubewatch.77", "kubewatch.77/run.3", "kubewatch.78", "kubewatch.79x", "other.77"}) {
    fs::create_directory(at.dir.path + "/" + name);
    at.give_files(at.dir.path + "/" + name);
  }
  const Fd lock(::open((at.dir.path + "/kubewatch.78").c_str(), O_RDONLY | O_DIRECTORY));
  REQUIRE(::flock(lock.get(), LOCK_EX | LOCK_NB) == 0);
  const auto tree = at.open();
  REQUIRE(tree.ok());
  CHECK_FALSE(fs::exists(at.dir.path + "/kubewatch.77"));
  CHECK(fs::exists(at.dir.path + "/kubewatch.78"));
  CHECK(fs::exists(at.dir.path + "/kubewatch.79x"));
  CHECK(fs::exists(at.dir.path + "/other.77"));
  // From below: a folder that has folders cannot go.
  REQUIRE(at.removed.size() >= 2);
  CHECK(at.removed[0] == at.dir.path + "/kubewatch.77/run.3");
  CHECK(at.removed[1] == at.dir.path + "/kubewatch.77");
}

TEST_CASE("lines of a key and a number are read by their key") {
  const std::string text = "low 0\nmax 12\noom 1\noom_kill 2\noom_group_kill x\n";
  CHECK(parse_flat_key(text, "oom") == std::optional<std::uint64_t>(1));
  CHECK(parse_flat_key(text, "oom_kill") == std::optional<std::uint64_t>(2));
  CHECK(parse_flat_key(text, "max") == std::optional<std::uint64_t>(12));
  CHECK_FALSE(parse_flat_key(text, "oom_group_kill"));
  CHECK_FALSE(parse_flat_key(text, "oo"));
  CHECK_FALSE(parse_flat_key("", "oom"));
}

TEST_CASE("what a cgroup says of its limits is read from its files") {
  Hierarchy at;
  auto tree = at.open();
  REQUIRE(tree.ok());
  auto group = (*tree)->make({1U << 20U, 4});
  REQUIRE(group.ok());
  const std::string path = (*group)->path();
  CHECK_FALSE((*group)->usage().memory_refused);
  CHECK_FALSE((*group)->usage().process_refused);
  std::ofstream(path + "/cpu.stat") << "usage_usec 1500000\nuser_usec 1\n";
  // Ended because a cgroup above it had no memory left.
  std::ofstream(path + "/memory.events") << "max 0\noom 0\noom_kill 1\n";
  std::ofstream(path + "/pids.events") << "max 0\n";
  CHECK((*group)->usage().cpu == std::chrono::milliseconds(1500));
  CHECK_FALSE((*group)->usage().memory_refused);
  CHECK_FALSE((*group)->usage().process_refused);
  std::ofstream(path + "/memory.events") << "max 3\noom 1\noom_kill 1\n";
  std::ofstream(path + "/pids.events") << "max 2\n";
  CHECK((*group)->usage().memory_refused);
  CHECK((*group)->usage().process_refused);
}

TEST_CASE("a child that cannot be born in its cgroup is refused, and runs nowhere else") {
  Hierarchy at;
  auto tree = at.open();
  REQUIRE(tree.ok());
  auto group = (*tree)->make({1U << 20U, 4});
  REQUIRE(group.ok());
  EventLoop loop;
  ProcessOptions options = shell("echo ran > " + at.dir.path + "/ran");
  options.ahead = true;
  options.cgroup = *group;  // a plain folder: the kernel refuses it
  const auto started = Process::start(loop, std::move(options), nullptr, nullptr);
  REQUIRE_FALSE(started.ok());
  CHECK(started.error().kind() == ErrorKind::unavailable);
  CHECK(has(started.error().render(), "cannot start /bin/sh in its cgroup"));
  CHECK_FALSE(fs::exists(at.dir.path + "/ran"));
}
