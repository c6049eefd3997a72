#include "hooks/state_store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>

#include "base/files.hpp"
#include "base/log.hpp"
#include "base/random.hpp"
#include "base/strings.hpp"
#include "loop/unix_socket.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::string_view kLog = "handled.log";
constexpr std::string_view kKey = "key";
constexpr std::string_view kLock = "lock";
// Of which API server it is: a hash of its URL and its authority, then the URL for people, then a
// hash of a known text, which tells another key from another server.
constexpr std::string_view kServer = "server";
constexpr const char* kKeyText = "key";
// Holds the boot id while a process uses the folder; gone after a clean end.
constexpr std::string_view kSession = "session";

constexpr std::string_view kFresh =
    ": it starts fresh, and what was deleted meanwhile is not known";

std::string make_key() {
  return base::secure_random_hex(base::KeyedHash::kKeyBytes / 2);
}

Result<std::string> read_or_make_key(const std::string& path) {
  auto key = base::read_file(path, 1024);
  if (key.ok() && key->size() >= base::KeyedHash::kKeyBytes) return key;
  if (!key.ok() && !key.error().is_not_found()) return key;
  const std::string made = make_key();
  KW_TRY(base::write_file_atomic(path, made, 0600));
  return made;
}

std::string server_text(const StateScope& scope) {
  return scope.server + "\n" + scope.authority;
}

Error state_error(const std::string& what, const std::string& path) {
  const int code = errno;
  return Error(ErrorKind::unavailable, fmt::format("{} {}: {}", what, path, std::strerror(code)))
      .as_no_room(code);
}

enum class Place { same, other, unknown };

// Whether the path still leads to what was opened there. A file system that does not answer says
// nothing: whether the file can still be written to, it says to the write.
Place place_of(const std::string& path, int fd) {
  struct stat there {};
  struct stat ours {};
  if (::fstat(fd, &ours) != 0) return Place::unknown;
  if (::stat(path.c_str(), &there) != 0) {
    return errno == ENOENT || errno == ENOTDIR ? Place::other : Place::unknown;
  }
  const bool same = there.st_dev == ours.st_dev && there.st_ino == ours.st_ino;
  return same ? Place::same : Place::other;
}

}  // namespace

std::string current_boot_id() {
  auto id = base::read_file("/proc/sys/kernel/random/boot_id", 1024);
  return id.ok() ? std::string(base::trim(*id)) : "";
}

Result<std::unique_ptr<StateStore>> StateStore::open(const std::string& folder,
                                                     const StateScope& scope, StateLimits limits) {
  // Of a key that nobody else has: what is not kept needs no other.
  std::unique_ptr<StateStore> self(new StateStore(folder, limits, base::KeyedHash(make_key())));
  auto begun = self->begin(scope);
  if (begun.ok()) return self;
  if (!begun.error().is_no_room()) return std::move(begun).error();
  self->go_without(begun.error());
  return self;
}

Result<void> StateStore::begin(const StateScope& scope) {
  KW_TRY(loop::make_private_folder(folder_));
  // Before anything is made there: of two that begin together one alone makes the key.
  KW_TRY(take_lock());
  KW_ASSIGN(const std::string key, read_or_make_key(path(kKey)));
  hash_ = base::KeyedHash(key);
  KW_TRY(load(scope));
  return base::write_file_atomic(path(kSession), scope.boot_id, 0600);
}

// What is there will not hear of what happens from now on, so it must not be believed later.
void StateStore::go_without(const Error& error) {
  broken_ = true;
  objects_.clear();
  notice_.clear();
  std::string what =
      "the state over restarts cannot be kept: everything runs, at the next start again, and what "
      "was deleted meanwhile is not known";
  const std::string log = path(kLog);
  if (::unlink(log.c_str()) != 0 && ::access(log.c_str(), F_OK) == 0) {
    what +=
        "; what was kept before cannot be taken away, remove it before the folder is used again";
  }
  base::log_error(what, {{"folder", folder_}, {"error", error.render()}});
}

Result<void> StateStore::take_lock() {
  lock_ = loop::Fd(::open(path(kLock).c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock_) return state_error("cannot open", path(kLock));
  if (::flock(lock_.get(), LOCK_EX | LOCK_NB) == 0) return {};
  return Error(ErrorKind::already_exists,
               "another process uses the state folder " + folder_ + "; give each its own");
}

// Why nothing of it may be believed, "" = it may.
std::string StateStore::why_strange(const StateScope& scope) const {
  const auto was = base::read_file(path(kServer), 8192);
  if (!was.ok() && was.error().is_not_found()) return "";  // a new folder
  auto lines = base::split(was.ok() ? *was : "", '\n');
  lines.resize(std::max<std::size_t>(lines.size(), 3));
  if (lines[0] == hash(server_text(scope))) return "";
  if (!lines[2].empty() && lines[2] != hash(kKeyText)) {
    return path(kKey) +
           " is damaged or was replaced: it is not the key that the state was written with";
  }
  if (lines[1] == scope.server) {
    return fmt::format("{} is of {} with another certificate authority, or its files are damaged",
                       folder_, scope.server);
  }
  return fmt::format("{} is of another API server ({}; this one is {})", folder_,
                     lines[1].empty() ? "unknown" : base::escape_for_terminal(lines[1]),
                     scope.server);
}

Result<void> StateStore::load(const StateScope& scope) {
  const std::string strange = why_strange(scope);
  if (!strange.empty()) {
    notice_ = strange + std::string(kFresh);
    KW_TRY(rewrite());  // before the folder says that it is of this server
  }
  KW_TRY(base::write_file_atomic(
      path(kServer), hash(server_text(scope)) + "\n" + scope.server + "\n" + hash(kKeyText) + "\n",
      0600));
  if (!strange.empty()) return {};
  const std::string& boot_id = scope.boot_id;
  const auto session = base::read_file(path(kSession), 1024);
  const bool clean = !session.ok() && session.error().is_not_found();
  if (!clean && (boot_id.empty() || !session.ok() || *session != boot_id)) {
    notice_ = "the machine went down while the state was in use" + std::string(kFresh);
    return rewrite();
  }
  const auto text = base::read_file(path(kLog), limits_.bytes);
  if (!text.ok()) {
    if (!text.error().is_not_found()) notice_ = text.error().message() + std::string(kFresh);
    return rewrite();
  }
  auto loaded = load_state(*text);
  if (!loaded.ok()) {
    notice_ = fmt::format("{}: {}{}", path(kLog), loaded.error().message(), kFresh);
    return rewrite();
  }
  objects_ = std::move(loaded->objects);
  if (!loaded->damage.empty()) {
    notice_ = fmt::format("{}: {}, and what was deleted meanwhile is not known of their objects",
                          path(kLog), loaded->damage);
  }
  return rewrite();
}

// The whole log anew, beside the old one and renamed over it.
Result<void> StateStore::rewrite() {
  const std::string text = state_text(objects_);
  KW_TRY(base::write_file_atomic(path(kLog), text, 0600));
  log_ = loop::Fd(::open(path(kLog).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW));
  if (!log_) return state_error("cannot open", path(kLog));
  lines_ = objects_.size();
  bytes_ = text.size();
  return {};
}

const HandledObject* StateStore::find(const StateKey& key) const {
  const auto it = objects_.find(key);
  return it == objects_.end() ? nullptr : &it->second;
}

void StateStore::set(const StateKey& key, HandledObject handled) {
  if (broken_) return;
  const auto it = objects_.find(key);
  if (it != objects_.end() && it->second == handled) return;
  if (it == objects_.end() && objects_.size() >= limits_.objects) {
    if (std::exchange(full_, true)) return;
    return base::log_warn(
        "the state over restarts holds no further objects: the next start runs those anew, and "
        "their deletions meanwhile are not told",
        {{"objects", std::to_string(limits_.objects)},
         {"first", key.controller + " " + key.object.str()}});
  }
  append(state_line(key, handled));
  objects_[key] = std::move(handled);
}

void StateStore::forget(const StateKey& key) {
  if (objects_.erase(key) == 0 || broken_) return;
  append(state_line(key, std::nullopt));
}

// Without the lock's file another process may have been let in, and what is there be its own.
bool StateStore::is_ours() const {
  return place_of(path(kLock), lock_.get()) == Place::same &&
         place_of(path(kLog), log_.get()) == Place::same;
}

bool StateStore::is_lost() const {
  return place_of(path(kLock), lock_.get()) == Place::other ||
         place_of(path(kLog), log_.get()) == Place::other;
}

void StateStore::append(const std::string& line) {
  if (is_lost()) {
    return give_up(Error(ErrorKind::unavailable,
                         "the files of " + folder_ + " were removed or replaced meanwhile"));
  }
  const bool grown = lines_ > 2 * objects_.size() + limits_.slack_lines;
  if (grown || bytes_ + line.size() > limits_.bytes) {
    if (auto written = rewrite(); !written.ok()) return give_up(written.error());
  }
  if (bytes_ + line.size() > limits_.bytes) {
    return give_up(Error(ErrorKind::too_large, path(kLog) + " has reached its limit"));
  }
  // A full disk takes the part that fits first, and says why only to the next write.
  for (std::string_view rest = line; !rest.empty();) {
    const ssize_t count = ::write(log_.get(), rest.data(), rest.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return give_up(state_error("cannot write", path(kLog)));
    rest.remove_prefix(static_cast<std::size_t>(count));
  }
  ++lines_;
  bytes_ += line.size();
}

// An old line must not speak for an object that has changed since: rather nothing.
void StateStore::give_up(const Error& error) {
  broken_ = true;
  objects_.clear();
  base::log_error("the state over restarts is not kept any more: the next start runs everything",
                  {{"error", error.render()}});
  const bool emptied = log_ && ::ftruncate(log_.get(), 0) == 0;
  if (!emptied && is_ours()) ::unlink(path(kLog).c_str());
}

std::vector<std::pair<core::ObjectKey, HandledObject>> StateStore::of_controller(
    const std::string& name) const {
  std::vector<std::pair<core::ObjectKey, HandledObject>> out;
  for (auto it = objects_.lower_bound({name, {}});
       it != objects_.end() && it->first.controller == name; ++it) {
    out.emplace_back(it->first.object, it->second);
  }
  return out;
}

void StateStore::keep_only(const std::vector<std::string>& controllers) {
  const std::set<std::string> kept(controllers.begin(), controllers.end());
  std::vector<StateKey> gone;
  for (const auto& [key, handled] : objects_) {
    if (!kept.contains(key.controller)) gone.push_back(key);
  }
  for (const StateKey& key : gone) forget(key);
}

StateStore::~StateStore() {
  if (log_ && !broken_ && is_ours()) close_cleanly();
}

void StateStore::close_cleanly() {
  if (::fdatasync(log_.get()) == 0) ::unlink(path(kSession).c_str());
}

}  // namespace kubewatch::hooks
