// Folders made, entered, left and removed.
#include "loop/cgroup_tree.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <utility>

#include "base/log.hpp"
#include "base/strings.hpp"
#include "loop/cgroup_facts.hpp"
#include "loop/cgroup_files.hpp"

namespace kubewatch::loop {
namespace {

constexpr std::string_view kPrefix = "kubewatch.";
constexpr int kMaxNames = 100;  // of one process number
constexpr int kMaxMoves = 16;   // of moving what forks meanwhile
constexpr int kDeathSteps = 100;
constexpr long kDeathStepNs = 10'000'000;

// Its own names only: "kubewatch.12", "kubewatch.12-1".
bool is_ours(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  return name.starts_with(kPrefix) && name.size() > kPrefix.size() &&
         name.find_first_not_of("0123456789-", kPrefix.size()) == std::string::npos;
}

bool is_inside(const std::string& path, const std::string& folder) {
  return path == folder || path.starts_with(folder + "/");
}

Fd lock_of(const std::string& path) {
  Fd out(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (out && ::flock(out.get(), LOCK_EX | LOCK_NB) != 0) out.reset();
  return out;
}

bool exists(const std::string& path) {
  struct stat facts {};
  return ::stat(path.c_str(), &facts) == 0;
}

Error cannot_make(const std::string& path, int number) {
  return Error(ErrorKind::unavailable,
               "cannot make the cgroup " + path + ": " + std::strerror(number));
}

std::string switches(const CgroupControllers& controllers, char sign) {
  std::vector<std::string> words;
  if (controllers.memory) words.push_back(sign + std::string("memory"));
  if (controllers.pids) words.push_back(sign + std::string("pids"));
  return base::join(words, " ");
}

// Those of `controllers` that are not on in the text of a cgroup.subtree_control.
CgroupControllers not_in(const std::string& text, CgroupControllers controllers) {
  const CgroupControllers on = controllers_in(text);
  return {controllers.memory && !on.memory, controllers.pids && !on.pids};
}

}  // namespace

CgroupFolders CgroupFolders::real() {
  return {[](const std::string& path) { return ::mkdir(path.c_str(), 0755) == 0 ? 0 : errno; },
          [](const std::string& path) { return ::rmdir(path.c_str()) == 0 ? 0 : errno; }};
}

Result<std::shared_ptr<CgroupTree>> CgroupTree::open() {
  KW_ASSIGN(const CgroupFacts facts, read_cgroup_facts());
  KW_ASSIGN(const CgroupPlace place, choose_cgroup(facts));
  return open(place, CgroupFolders::real());
}

Result<std::shared_ptr<CgroupTree>> CgroupTree::open(const CgroupPlace& place,
                                                     CgroupFolders folders) {
  std::shared_ptr<CgroupTree> out(new CgroupTree(place, std::move(folders)));
  out->remove_abandoned();
  if (auto entered = out->enter(); !entered.ok()) {
    out->leave();
    return std::move(entered).error();
  }
  return out;
}

CgroupTree::~CgroupTree() {
  leave();
}

Result<void> CgroupTree::enter() {
  before_ = read_cgroup_file(place_.path + "/cgroup.subtree_control");
  KW_TRY(make_own_folder());
  if (place_.move) {
    const std::string self = path_ + "/self";
    if (const int number = folders_.make(self); number != 0) return cannot_make(self, number);
    KW_TRY(move_in(self));
  }
  KW_TRY(distribute(place_.path));
  return distribute(path_);
}

Result<void> CgroupTree::make_own_folder() {
  const std::string name = fmt::format("{}/{}{}", place_.path, kPrefix, ::getpid());
  int number = EEXIST;
  for (int i = 0; number == EEXIST && i < kMaxNames; ++i) {
    const std::string path = i == 0 ? name : fmt::format("{}-{}", name, i);
    number = folders_.make(path);
    if (number == 0) path_ = path;
  }
  if (number != 0) return cannot_make(name, number);
  lock_ = lock_of(path_);
  if (!lock_) return Error(ErrorKind::unavailable, "cannot lock the cgroup " + path_);
  return {};
}

// What children fork meanwhile is met in the next round. Whoever came since we looked is not ours
// to move: with it in there, the place cannot be distributed, and we are told so.
Result<void> CgroupTree::move_in(const std::string& self) const {
  for (int i = 0; i < kMaxMoves; ++i) {
    bool any = false;
    for (const pid_t pid : parse_pids(read_cgroup_file(place_.path + "/cgroup.procs"))) {
      if (!is_of_ours(pid)) continue;
      any = true;
      auto moved = write_cgroup_file(self + "/cgroup.procs", std::to_string(pid));
      if (!moved.ok() && pid == ::getpid()) return moved;
    }
    if (!any) break;
  }
  return {};
}

// The guardian too, which is nobody's child.
void CgroupTree::move_out(const std::string& self) const {
  for (int i = 0; i < kMaxMoves; ++i) {
    const auto members = parse_pids(read_cgroup_file(self + "/cgroup.procs"));
    if (members.empty()) return;
    for (const pid_t pid : members) {
      static_cast<void>(write_cgroup_file(place_.path + "/cgroup.procs", std::to_string(pid)));
    }
  }
}

// One at a time tells which it was.
Result<void> CgroupTree::distribute(const std::string& path) const {
  const auto missing =
      not_in(read_cgroup_file(path + "/cgroup.subtree_control"), place_.controllers);
  if (!missing.any()) return {};
  return write_cgroup_file(path + "/cgroup.subtree_control", switches(missing, '+'));
}

// A folder that another is making, and has not locked yet, may be taken for abandoned: that one is
// told so when it goes on.
void CgroupTree::remove_abandoned() const {
  const auto own = find_own_cgroup(read_cgroup_file("/proc/self/cgroup"),
                                   read_cgroup_file("/proc/self/mountinfo"));
  for (const std::string& folder : folders_in(place_.path)) {
    if (!is_ours(folder) || (own.ok() && is_inside(own->path, folder))) continue;
    const Fd lock = lock_of(folder);
    if (!lock) continue;
    if (remove_patiently(folder)) {
      base::log_info("removed what an earlier process left in its cgroup", {{"cgroup", folder}});
    } else {
      base::log_warn("cannot remove what an earlier process left in its cgroup",
                     {{"cgroup", folder}});
    }
  }
}

// Once; what is killed may not have died yet.
bool CgroupTree::remove_all(const std::string& path) const {
  for (const std::string& folder : folders_in(path)) remove_all(folder);
  const int number = folders_.remove(path);
  return number == 0 || number == ENOENT;
}

bool CgroupTree::remove_patiently(const std::string& path) const {
  for (int i = 0; i < kDeathSteps; ++i) {
    kill_cgroup(path);
    if (remove_all(path)) return true;
    const timespec step{0, kDeathStepNs};
    ::nanosleep(&step, nullptr);
  }
  return false;
}

Result<std::shared_ptr<Cgroup>> CgroupTree::make(const CgroupLimits& limits) {
  const std::string path = fmt::format("{}/run.{}", path_, ++made_);
  if (const int number = folders_.make(path); number != 0) return cannot_make(path, number);
  auto opened = Cgroup::open(
      path, limits, [self = shared_from_this()](const std::string& gone) { self->retire(gone); });
  if (!opened.ok()) remove_all(path);
  return opened;
}

void CgroupTree::retire(const std::string& path) {
  if (path_.empty() || remove_all(path)) return;
  waiting_.push_back(path);
  if (waiting_.size() == 1 && on_waiting_) on_waiting_();
}

bool CgroupTree::sweep() {
  std::erase_if(waiting_, [this](const std::string& path) {
    kill_cgroup(path);
    return remove_all(path);
  });
  return waiting_.empty();
}

// By paths alone: the guardian, which has no other descriptors left, ends here too.
void CgroupTree::leave() {
  const std::string path = std::exchange(path_, {});
  waiting_.clear();
  // Whoever comes next may have made itself at home in the place: what is not ours is left alone.
  if (path.empty() || !exists(path)) return;
  const std::string self = path + "/self";
  for (const std::string& folder : folders_in(path)) {
    if (folder != self) remove_patiently(folder);
  }
  // The order that the kernel wants: below before above, and both before anybody is there again.
  static_cast<void>(
      write_cgroup_file(path + "/cgroup.subtree_control", switches(place_.controllers, '-')));
  const auto ours = not_in(before_, place_.controllers);
  if (ours.any()) {
    static_cast<void>(
        write_cgroup_file(place_.path + "/cgroup.subtree_control", switches(ours, '-')));
  }
  if (place_.move) move_out(self);
  remove_all(path);
  lock_.reset();
}

}  // namespace kubewatch::loop
