// Reading what the kernel says, and saying why not.
#include "loop/cgroup_place.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/strings.hpp"

namespace kubewatch::loop {
namespace {

constexpr std::size_t kNamed = 3;  // processes in a message

Error no_cgroup(std::string why) {
  return Error(ErrorKind::unsupported, std::move(why));
}

// mountinfo writes what would break its lines as \040: a backslash and three octal digits.
std::string unescape(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto digits = text.substr(i, 4);
    if (text[i] != '\\' || digits.size() < 4 ||
        digits.find_first_not_of("01234567", 1) != std::string_view::npos) {
      out += text[i];
      continue;
    }
    out += static_cast<char>((digits[1] - '0') * 64 + (digits[2] - '0') * 8 + (digits[3] - '0'));
    i += 3;
  }
  return out;
}

struct Mount {
  std::string root;  // the folder of the hierarchy that is at `point`
  std::string point;
};

std::vector<Mount> cgroup2_mounts(std::string_view mountinfo) {
  std::vector<Mount> out;
  for (const std::string& line : base::split(mountinfo, '\n')) {
    const std::size_t rest = line.find(" - ");
    if (rest == std::string::npos || line.compare(rest + 3, 8, "cgroup2 ") != 0) continue;
    const auto words = base::split(line, ' ');
    if (words.size() > 4) out.push_back({unescape(words[3]), unescape(words[4])});
  }
  return out;
}

// Of `path` below `root`: "" for itself, "/x/y", or absent.
std::optional<std::string> below(const std::string& path, const std::string& root) {
  if (root == "/") return path == "/" ? "" : path;
  if (path == root) return "";
  if (path.rfind(root + "/", 0) != 0) return std::nullopt;
  return path.substr(root.size());
}

std::string path_in(std::string_view cgroup) {
  for (const std::string& line : base::split(cgroup, '\n')) {
    if (line.rfind("0::", 0) == 0) return line.substr(3);
  }
  return "";
}

std::string names_of(const std::vector<CgroupMember>& members) {
  std::vector<std::string> names;
  for (const CgroupMember& member : members) {
    if (names.size() == kNamed) break;
    names.push_back(member.pid == 0 ? "one that is not visible from here"
                                    : fmt::format("{} ({})", member.name, member.pid));
  }
  std::string out = base::join(names, ", ");
  if (members.size() > kNamed) out += fmt::format(" and {} more", members.size() - kNamed);
  return out;
}

// A folder of the unit's own making has no such name. Units of a user's systemd lie below a
// delegated folder as well, which is that systemd's to write to.
bool is_unit(const std::string& path) {
  const std::size_t dot = path.rfind('.');
  if (dot == std::string::npos || path.find('/', dot) != std::string::npos) return false;
  const std::string type = path.substr(dot);
  const auto kinds = {".service", ".scope", ".slice", ".socket", ".mount", ".swap"};
  return std::find(kinds.begin(), kinds.end(), type) != kinds.end();
}

// Errors: why not in this folder.
Result<CgroupPlace> judge(const CgroupFolder& folder, const CgroupFacts& facts, bool move) {
  const CgroupControllers controllers = controllers_in(folder.controllers);
  if (!controllers.any()) {
    return no_cgroup(fmt::format("{} has neither the memory nor the pids controller", folder.path));
  }
  if (!folder.type.empty() && folder.type != "domain") {
    return no_cgroup(fmt::format("{} is of the type \"{}\"", folder.path, folder.type));
  }
  if (!folder.writable) {
    return no_cgroup(folder.path +
                     " is not delegated: this user may not write there (systemd: Delegate=yes)");
  }
  // A root user may write everywhere. What systemd did not give away it goes on changing itself.
  if (facts.systemd && !folder.delegated) {
    return no_cgroup(folder.path + " is systemd's own, not delegated (Delegate=yes)");
  }
  std::vector<CgroupMember> others;
  std::copy_if(folder.members.begin(), folder.members.end(), std::back_inserter(others),
               [&](const CgroupMember& member) { return !move || !member.ours; });
  if (!others.empty()) {
    return no_cgroup(fmt::format("other processes are in {}: {}", folder.path, names_of(others)));
  }
  return CgroupPlace{folder.path, controllers, move};
}

}  // namespace

CgroupControllers controllers_in(std::string_view text) {
  const auto words = base::split(base::trim(text), ' ');
  const auto has = [&](const char* name) {
    return std::find(words.begin(), words.end(), name) != words.end();
  };
  return {has("memory"), has("pids")};
}

Result<OwnCgroup> find_own_cgroup(std::string_view cgroup, std::string_view mountinfo) {
  const std::string path = path_in(cgroup);
  if (path.empty()) return no_cgroup("this process is in no cgroup of version 2");
  const auto mounts = cgroup2_mounts(mountinfo);
  if (mounts.empty()) return no_cgroup("cgroup version 2 is not mounted");
  for (const Mount& mount : mounts) {
    const auto rest = below(path, mount.root);
    // "/../x": outside of what this namespace shows.
    if (!rest || (path + "/").find("/../") != std::string::npos) continue;
    return OwnCgroup{mount.point + *rest, rest->empty()};
  }
  return no_cgroup("the cgroup of this process, " + path + ", is not among what is mounted");
}

Result<CgroupPlace> choose_cgroup(const CgroupFacts& facts) {
  // The unit's own folder, and we are in one below it already (DelegateSubgroup=).
  const bool below_unit =
      !facts.own.delegated && !is_unit(facts.own.path) && facts.above && facts.above->delegated;
  auto place = below_unit ? judge(*facts.above, facts, false) : judge(facts.own, facts, true);
  if (place.ok() && !facts.clones_into) {
    return no_cgroup(
        "the kernel starts no processes in a cgroup (clone3 with CLONE_INTO_CGROUP: Linux 5.7, and "
        "no filter of system calls that forbids it)");
  }
  return place;
}

}  // namespace kubewatch::loop
