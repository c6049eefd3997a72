// execve says ENOENT for a missing file and for a missing interpreter alike; the file tells which
// it was.
#include "loop/exec_error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "loop/memfd.hpp"

namespace kubewatch::loop {

namespace {

std::string resolved(const std::string& path, const std::string& directory) {
  if (directory.empty() || path.rfind('/', 0) == 0) return path;
  return directory + "/" + path;
}

// "/usr/bin/foo" of "#!/usr/bin/foo -x", or "".
std::string interpreter_of(const std::string& path) {
  const Fd file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  std::array<char, 256> head{};
  const ssize_t size = file ? read(file.get(), head.data(), head.size()) : -1;
  if (size < 3) return {};
  std::string_view line(head.data(), static_cast<std::size_t>(size));
  line = line.substr(0, line.find('\n'));
  if (line.rfind("#!", 0) != 0) return {};
  line.remove_prefix(2);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  return std::string(line.substr(0, line.find_first_of(" \t")));
}

Error not_found(const std::string& path, const std::string& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) {
    return Error(ErrorKind::not_found, "cannot run " + path + ": no such file");
  }
  const std::string interpreter = interpreter_of(file);
  if (interpreter.empty()) {
    return Error(ErrorKind::invalid,
                 "cannot run " + path + ": the program loader that it asks for was not found");
  }
  std::string message =
      "cannot run " + path + ": its interpreter " + interpreter + " was not found";
  if (interpreter.back() == '\r') {
    message = "cannot run " + path + ": its #! line ends in a carriage return (DOS line ends)";
  }
  return Error(ErrorKind::invalid, std::move(message));
}

Error no_access(const std::string& path, const std::string& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) {
    return Error(ErrorKind::forbidden, "cannot run " + path + ": permission denied on its folder");
  }
  if (S_ISDIR(info.st_mode)) {
    return Error(ErrorKind::forbidden, "cannot run " + path + ": it is a folder");
  }
  if (access(file.c_str(), X_OK) != 0) {
    return Error(ErrorKind::forbidden, "cannot run " + path + ": it is not executable (chmod +x)");
  }
  return Error(ErrorKind::forbidden,
               "cannot run " + path +
                   ": permission denied (is its interpreter executable, is the "
                   "file system mounted noexec?)");
}

}  // namespace

Error explain_exec(const std::string& path, const std::string& directory, int number) {
  const std::string file = resolved(path, directory);
  switch (number) {
    case ENOENT: return not_found(path, file);
    case EACCES:
    case EPERM: return no_access(path, file);
    case ENOTDIR: return Error(ErrorKind::not_found, "cannot run " + path + ": no such file");
    case ENOEXEC:
      return Error(ErrorKind::invalid,
                   "cannot run " + path + ": exec format error: is the #! line missing?");
    case E2BIG:
      return Error(ErrorKind::invalid,
                   "cannot run " + path + ": its arguments and environment are too large");
    case ETXTBSY:
      return Error(ErrorKind::unavailable, "cannot run " + path + ": the file is open for writing");
    case EAGAIN:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
      return Error(ErrorKind::unavailable, "cannot run " + path + ": " + std::strerror(number));
    default: return Error(ErrorKind::invalid, "cannot run " + path + ": " + std::strerror(number));
  }
}

Error explain_chdir(const std::string& directory, int number) {
  const ErrorKind kind = number == ENOENT || number == ENOTDIR ? ErrorKind::not_found
                         : number == EACCES                    ? ErrorKind::forbidden
                                                               : ErrorKind::invalid;
  return Error(kind, "cannot enter the folder " + directory + ": " + std::strerror(number));
}

}  // namespace kubewatch::loop
