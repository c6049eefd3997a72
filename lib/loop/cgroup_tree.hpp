// The cgroups (v2) of this process: a folder of ours below one that was delegated to us, and in it
// one for each child that has limits. Whether and where is cgroup_place; one child's is cgroup.
//
//   PLACE/                     what was delegated; may be left by us (CgroupPlace::move)
//   PLACE/kubewatch.PID/       ours, held by a lock that ends with us
//   PLACE/kubewatch.PID/self   we, our helpers and the guardian, if we had to leave PLACE
//   PLACE/kubewatch.PID/run.N  a child
//
// Sources: cgroup-v2.rst, "Enabling and Disabling", "No Internal Process Constraint".
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "loop/cgroup.hpp"
#include "loop/cgroup_place.hpp"
#include "loop/memfd.hpp"

namespace kubewatch::loop {

// mkdir and rmdir: 0, or errno. In a hierarchy control files come and go with their folder; tests
// with plain folders do that themselves.
struct CgroupFolders {
  std::function<int(const std::string& path)> make;
  std::function<int(const std::string& path)> remove;
  static CgroupFolders real();
};

class CgroupTree : public std::enable_shared_from_this<CgroupTree> {
 public:
  // Where we are, if that was delegated to us. Early: before threads and before whatever is not our
  // child but belongs to us (the guardian). First removes, with all that is in them, folders like
  // ours whose owners are gone. Errors: unsupported, unavailable, with why not; all is as it was
  // then.
  static Result<std::shared_ptr<CgroupTree>> open();
  static Result<std::shared_ptr<CgroupTree>> open(const CgroupPlace& place, CgroupFolders folders);
  // As leave().
  ~CgroupTree();
  CgroupTree(const CgroupTree&) = delete;
  CgroupTree& operator=(const CgroupTree&) = delete;

  const std::string& path() const { return path_; }
  const CgroupControllers& controllers() const { return place_.controllers; }

  // For one child. What controllers() does not have must not be limited. Keeps this alive. Errors:
  // unavailable, naming the folder or file.
  Result<std::shared_ptr<Cgroup>> make(const CgroupLimits& limits);

  // Folders that could not be removed yet, because what was killed in them had not died. One look:
  // kills again, removes; true when none is left.
  bool sweep();
  // When the first of them waits; null: nobody calls sweep().
  void on_waiting(std::function<void()> call) { on_waiting_ = std::move(call); }

  // Everything in it is killed, we are where we were, the folders are gone: at our end, or the
  // guardian's work after it. Waits up to a second for what was killed. Twice does nothing.
  void leave();

 private:
  CgroupTree(CgroupPlace place, CgroupFolders folders)
      : place_(std::move(place)), folders_(std::move(folders)) {}
  Result<void> enter();
  Result<void> make_own_folder();
  Result<void> move_in(const std::string& self) const;
  void move_out(const std::string& self) const;
  Result<void> distribute(const std::string& path) const;
  void remove_abandoned() const;
  bool remove_all(const std::string& path) const;
  bool remove_patiently(const std::string& path) const;
  void retire(const std::string& path);

  CgroupPlace place_;
  CgroupFolders folders_;
  std::string path_;    // of kubewatch.PID; "" = not there
  std::string before_;  // cgroup.subtree_control of the place, as we found it
  Fd lock_;
  std::uint64_t made_ = 0;
  std::vector<std::string> waiting_;
  std::function<void()> on_waiting_;
};

}  // namespace kubewatch::loop
