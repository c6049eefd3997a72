// The state folder: kept over restarts, private, one process at a time, and nothing of it trusted
// after the machine went down.
#include "hooks/state_store.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/files.hpp"
#include "base/log.hpp"
#include "hooks/rule_folder.hpp"
#include "support/catch.hpp"

namespace kubewatch::hooks {

namespace {

const StateKey kA{"website", {"shop", "a"}};
const StateKey kB{"website", {"shop", "b"}};

const StateScope kScope{"boot-1", "https://10.0.0.1:6443", "authority"};

std::unique_ptr<StateStore> open(const std::string& folder, const StateScope& scope = kScope,
                                 StateLimits limits = {}) {
  auto store = StateStore::open(folder, scope, limits);
  INFO((store.ok() ? "" : store.error().render()));
  REQUIRE(store.ok());
  return std::move(*store);
}

// No file may grow beyond it: a full disk.
class FileLimit {
 public:
  explicit FileLimit(rlim_t bytes) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    REQUIRE(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
    const struct rlimit full { bytes, before_.rlim_max };
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &full) == 0);
  }
  ~FileLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  void (*handler_)(int);
  struct rlimit before_ {};
};

unsigned mode_of(const std::string& path) {
  struct stat info {};
  REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 0777;
}

}  // namespace

TEST_CASE("what was handled is known after a restart") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  std::string hash;
  {
    auto store = open(path);
    hash = store->hash("inputs");
    store->set(kA, {"uid-a", hash, false, 0, 0, ""});
    store->set(kB, {"uid-b", "x", true, 7, 0, ""});
    store->forget(kB);
  }
  auto store = open(path);
  CHECK(store->notice() == "");
  CHECK(store->hash("inputs") == hash);
  REQUIRE(store->find(kA) != nullptr);
  CHECK(store->find(kA)->hash == hash);
  CHECK(store->find(kB) == nullptr);
  CHECK(store->of_controller("website").size() == 1);
  store->keep_only({"other"});
  CHECK(store->size() == 0);
}

TEST_CASE("the state folder and its files are private, and an open folder is refused") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  auto store = open(path);
  store->set(kA, {"uid-a", "h", false, 0, 0, ""});
  CHECK(mode_of(path) == 0700);
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    INFO(entry.path().string());
    CHECK(mode_of(entry.path().string()) == 0600);
  }
  store.reset();
  ::chmod(path.c_str(), 0755);
  CHECK_FALSE(StateStore::open(path, kScope).ok());
}

TEST_CASE("a key that was damaged is told as that and not as another server") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  open(path)->set(kA, {"uid-a", "h", false, 0, 0, ""});
  std::string key;
  SECTION("of full length") {
    key = std::string(64, 'x');
  }
  SECTION("cut") {
    key = "x";
  }
  REQUIRE(base::write_file_atomic(path + "/key", key, 0600).ok());
  {
    auto store = open(path);
    INFO(store->notice());
    CHECK(store->notice().find("/key is damaged or was replaced") != std::string::npos);
    CHECK(store->notice().find("API server") == std::string::npos);
    CHECK(store->find(kA) == nullptr);
    store->set(kB, {"uid-b", "h", false, 0, 0, ""});
  }
  auto store = open(path);
  CHECK(store->notice().empty());
  CHECK(store->find(kB) != nullptr);
}

TEST_CASE("a log that was damaged starts fresh, and what that means for deletions is said") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  open(path)->set(kA, {"uid-a", "h", false, 0, 0, ""});
  REQUIRE(base::write_file_atomic(path + "/handled.log", "nonsense\n", 0600).ok());
  const auto store = open(path);
  INFO(store->notice());
  CHECK(store->notice().starts_with(path + "/handled.log: "));
  CHECK(
      store->notice().ends_with(": it starts fresh, and what was deleted meanwhile is not known"));
  CHECK(store->size() == 0);
}

TEST_CASE("of two processes that begin with a new state folder one alone makes its key") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  auto first = open(path);
  std::filesystem::remove(path + "/key");
  CHECK_FALSE(StateStore::open(path, kScope).ok());
  CHECK_FALSE(std::filesystem::exists(path + "/key"));
}

TEST_CASE("two processes cannot use one state folder") {
  const test::RuleFolder folder;
  auto store = open(folder.file("state"));
  const auto second = StateStore::open(folder.file("state"), kScope);
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().message().find("another process") != std::string::npos);
}

TEST_CASE("a state is of one API server: with another one it starts fresh and says so") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  open(path)->set(kA, {"uid-a", "h", false, 0, 0, ""});
  CHECK(open(path)->find(kA) != nullptr);
  StateScope other = kScope;
  std::string why;
  SECTION("at another address") {
    other.server = "https://10.0.0.2:6443";
    why = "of another API server (https://10.0.0.1:6443; this one is https://10.0.0.2:6443)";
  }
  SECTION("rebuilt at the same address") {
    other.authority = "another";
    why = "of https://10.0.0.1:6443 with another certificate authority";
  }
  {
    auto store = open(path, other);
    CHECK(store->find(kA) == nullptr);
    CHECK(store->of_controller("website").empty());
    INFO(store->notice());
    CHECK(store->notice().find(why) != std::string::npos);
    store->set(kB, {"uid-b", "h", false, 0, 0, ""});
  }
  CHECK(open(path, other)->notice().empty());
  // Nor does it come back.
  CHECK(open(path)->size() == 0);
}

TEST_CASE("after a crash of the process the log counts, after one of the machine it does not") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  {
    auto store = open(path);
    store->set(kA, {"uid-a", "h", false, 0, 0, ""});
  }
  // As a process that was killed leaves it.
  folder.write("state/session", "boot-1");
  {
    auto store = open(path);
    CHECK(store->find(kA) != nullptr);
  }
  folder.write("state/session", "boot-1");
  auto store = open(path, {"boot-2", kScope.server, kScope.authority});
  CHECK(store->find(kA) == nullptr);
  CHECK(store->notice().find("fresh") != std::string::npos);
}

TEST_CASE("a state folder whose log is cut off at any byte opens, and never with a wrong record") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  {
    auto store = open(path);
    store->set(kA, {"uid-a", "h", false, 0, 0, ""});
    store->set(kB, {"uid-b", "h", false, 0, 0, ""});
  }
  const std::string log = *base::read_file(path + "/handled.log", 1U << 20U);
  for (std::size_t size = 0; size <= log.size(); ++size) {
    INFO(size);
    folder.write("state/handled.log", log.substr(0, size));
    auto store = open(path);
    CHECK(store->notice().empty() ==
          (size == log.size() || (load_state(log.substr(0, size)).ok() &&
                                  load_state(log.substr(0, size))->damage.empty())));
    for (const auto& [key, handled] : store->of_controller("website")) {
      CHECK(handled.hash == "h");
    }
    // And it can be written again.
    store->set(kA, {"uid-a", "new", false, 0, 0, ""});
    store.reset();
    CHECK(open(path)->find(kA)->hash == "new");
  }
}

TEST_CASE("a log of replaced records is rewritten, and its objects are bounded") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  auto store = open(path, kScope, {2, 1U << 20U, 10});
  for (int i = 0; i < 1000; ++i) store->set(kA, {"uid-a", std::to_string(i), false, 0, 0, ""});
  CHECK(std::filesystem::file_size(path + "/handled.log") < 4000);
  store->set(kB, {"uid-b", "h", false, 0, 0, ""});
  store->set({"website", {"shop", "c"}}, {"uid-c", "h", false, 0, 0, ""});
  CHECK(store->size() == 2);
  store.reset();
  CHECK(open(path)->find(kA)->hash == "999");
}

TEST_CASE("a state that cannot be written any more leaves nothing that could be wrong") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  {
    auto store = open(path, kScope, {1000, 600, 1000});
    store->set(kA, {"uid-a", "old", false, 0, 0, ""});
    for (int i = 0; i < 20; ++i) {
      store->set({"website", {"shop", "x" + std::to_string(i)}}, {"uid", "h", false, 0, 0, ""});
    }
    CHECK(store->find(kA) == nullptr);
  }
  CHECK(open(path)->size() == 0);
}

TEST_CASE("where the files of a state go while it is in use, that is told and nothing is kept") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  auto store = open(path);
  store->set(kA, {"uid-a", "h", false, 0, 0, ""});
  std::vector<std::string> logged;
  base::capture_log(&logged);
  std::unique_ptr<StateStore> other;
  SECTION("the folder") {
    std::filesystem::remove_all(path);
    store->set(kB, {"uid-b", "h", false, 0, 0, ""});
    CHECK_FALSE(std::filesystem::exists(path));
  }
  SECTION("the folder, and another process uses it") {
    std::filesystem::remove_all(path);
    other = open(path);
    other->set(kB, {"uid-other", "h", false, 0, 0, ""});
    store->forget(kA);
  }
  SECTION("the lock alone") {
    std::filesystem::remove(path + "/lock");
    store->set(kB, {"uid-b", "h", false, 0, 0, ""});
  }
  base::capture_log(nullptr);
  REQUIRE(logged.size() == 1);
  CHECK(logged[0].find("the state over restarts is not kept any more") != std::string::npos);
  CHECK(logged[0].find(path + " were removed or replaced") != std::string::npos);
  CHECK(store->find(kA) == nullptr);
  store.reset();
  if (other == nullptr) return;
  // What that one has stays as it is.
  CHECK(std::filesystem::exists(path + "/session"));
  other.reset();
  other = open(path);
  CHECK(other->notice().empty());
  REQUIRE(other->find(kB) != nullptr);
  CHECK(other->find(kB)->uid == "uid-other");
}

TEST_CASE("a state that cannot be looked at for a while is not taken for one that is gone") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  auto store = open(path);
  std::vector<std::string> logged;
  base::capture_log(&logged);
  std::filesystem::rename(path, path + ".away");
  std::filesystem::create_symlink(path, path);  // leads nowhere: no answer whether it is there
  store->set(kA, {"uid-a", "h", false, 0, 0, ""});
  std::filesystem::remove(path);
  std::filesystem::rename(path + ".away", path);
  base::capture_log(nullptr);
  CHECK(logged.empty());
  store.reset();
  store = open(path);
  CHECK(store->notice().empty());
  CHECK(store->find(kA) != nullptr);
}

TEST_CASE("that no further object is recorded is said once, with the first of them") {
  const test::RuleFolder folder;
  std::vector<std::string> log;
  base::capture_log(&log);
  StateLimits limits;
  limits.objects = 1;
  auto store = open(folder.file("state"), {"boot", "server", ""}, limits);
  for (const StateKey& key : {kA, kB, kB}) store->set(key, {"uid", "h", false, 0, 0, ""});
  base::capture_log(nullptr);
  CHECK(store->size() == 1);
  REQUIRE(log.size() == 1);
  CHECK(log[0].find("holds no further objects") != std::string::npos);
  CHECK(log[0].find(kB.object.str()) != std::string::npos);
}

TEST_CASE("a full disk keeps nobody from starting: nothing is kept, and that is told") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  const bool used = GENERATE(false, true);
  if (used) open(path)->set(kA, {"uid-a", "old", false, 0, 0, ""});
  std::vector<std::string> log;
  {
    const FileLimit full(0);
    base::capture_log(&log);
    auto store = open(path);
    store->set(kB, {"uid-b", "h", false, 0, 0, ""});
    base::capture_log(nullptr);
    CHECK(store->notice().empty());
    CHECK(store->size() == 0);
    CHECK(store->find(kA) == nullptr);
    CHECK(store->of_controller("website").empty());
    CHECK(store->hash("a") == store->hash("a"));
  }
  REQUIRE(log.size() == 1);
  INFO(log[0]);
  CHECK(log[0].find("the state over restarts cannot be kept: everything runs") !=
        std::string::npos);
  CHECK(log[0].find(path) != std::string::npos);
  CHECK(log[0].find("File too large") != std::string::npos);
  // What was known before has not heard of this run.
  CHECK(open(path)->size() == 0);
}

TEST_CASE("a full disk ends what is kept, and the file and the reason are named") {
  const test::RuleFolder folder;
  const std::string path = folder.file("state");
  std::vector<std::string> log;
  {
    auto store = open(path);
    store->set(kA, {"uid-a", "old", false, 0, 0, ""});
    // The line that does not fit is cut first, and refused then.
    const FileLimit full(1000);
    base::capture_log(&log);
    for (int i = 0; i < 20; ++i) {
      store->set({"website", {"shop", "x" + std::to_string(i)}}, {"uid", "h", false, 0, 0, ""});
    }
    base::capture_log(nullptr);
    CHECK(store->find(kA) == nullptr);
  }
  REQUIRE(log.size() == 1);
  INFO(log[0]);
  CHECK(log[0].find("the state over restarts is not kept any more") != std::string::npos);
  CHECK(log[0].find(path + "/handled.log: File too large") != std::string::npos);
  CHECK(open(path)->size() == 0);
}

}  // namespace kubewatch::hooks
