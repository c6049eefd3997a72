// Finding and asking.
#include "compat/hook_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/strings.hpp"

extern char** environ;  // NOLINT: POSIX

namespace kubewatch::compat {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kAtOnce = 4;
constexpr std::size_t kMaxHooks = 10'000;
constexpr int kMaxDepth = 30;
constexpr Duration kConfigTimeout{30000};
constexpr std::size_t kMaxConfig = 1U << 20U;

bool executable(const fs::directory_entry& entry) {
  std::error_code error;
  const auto permissions = entry.status(error).permissions();
  if (error) return false;
  using fs::perms;
  return (permissions & (perms::owner_exec | perms::group_exec | perms::others_exec)) !=
         perms::none;
}

bool is_script(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  char first[2] = {};
  return file.read(first, 2) && first[0] == '#' && first[1] == '!';
}

bool skips(const std::string& folder) {
  return folder == "lib" || folder.starts_with('.');
}

// Data beside hooks, which on some file systems is executable all the same.
bool is_no_hook(const fs::path& path) {
  const std::string extension = path.extension().string();
  return path.filename().string().starts_with('.') || extension == ".yaml" ||
         extension == ".json" || extension == ".md" || extension == ".txt";
}

}  // namespace

Result<std::vector<HookFile>> find_hooks(const std::string& folder,
                                         std::vector<std::string>& skipped) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return Error(ErrorKind::not_found, folder + ": " + error.message());
  if (!fs::is_directory(root, error)) {
    return Error(ErrorKind::invalid, folder + " is no folder");
  }
  std::vector<HookFile> out;
  fs::recursive_directory_iterator it(root, error);
  if (error) return Error(ErrorKind::forbidden, folder + ": " + error.message());
  for (; it != fs::recursive_directory_iterator(); it.increment(error)) {
    if (error) return Error(ErrorKind::forbidden, folder + ": " + error.message());
    const std::string name = it->path().filename().string();
    if (it->is_directory(error)) {
      if (skips(name) || it.depth() >= kMaxDepth) it.disable_recursion_pending();
      continue;
    }
    if (!it->is_regular_file(error) || is_no_hook(it->path())) continue;
    HookFile file{it->path().lexically_relative(root).string(), it->path().string()};
    if (executable(*it)) {
      out.push_back(std::move(file));
    } else if (is_script(it->path())) {
      skipped.push_back(std::move(file.name));
    }
    if (out.size() > kMaxHooks) {
      return Error(ErrorKind::too_large, fmt::format("{}: more than {} hooks", folder, kMaxHooks));
    }
  }
  std::sort(out.begin(), out.end(),
            [](const HookFile& a, const HookFile& b) { return a.name < b.name; });
  std::sort(skipped.begin(), skipped.end());
  return out;
}

std::vector<std::string> whole_environment() {
  std::vector<std::string> out;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    out.emplace_back(*entry);
  }
  return out;
}

HookLoader::HookLoader(loop::EventLoop& loop, std::vector<HookFile> files,
                       std::vector<std::string> environment, OnConfig on_config)
    : loop_(loop),
      files_(std::move(files)),
      environment_(std::move(environment)),
      on_config_(std::move(on_config)),
      asked_(files_.size()) {}

void HookLoader::start() {
  fill();
}

void HookLoader::fill() {
  while (running_ < kAtOnce && next_ < files_.size()) ask(next_++);
}

void HookLoader::ask(std::size_t place) {
  loop::ProcessOptions options;
  options.argv = {files_[place].path, "--config"};
  options.environment = environment_;
  options.directory = fs::path(files_[place].path).parent_path().string();
  options.max_stdout = kMaxConfig;
  options.timeout = kConfigTimeout;
  auto process = loop::Process::start(
      loop_, std::move(options),
      [this, place](std::string_view line) {
        if (!base::trim(line).empty()) asked_[place].last_line = std::string(line.substr(0, 300));
      },
      [this, place](const loop::ProcessExit& exit) { answered(place, exit); });
  ++running_;
  if (process.ok()) {
    asked_[place].process = *std::move(process);
    return;
  }
  loop_.post(
      [this, place, error = std::move(process.error()), alive = std::weak_ptr<char>(alive_)] {
        if (alive.expired()) return;
        --running_;
        on_config_(place, error);
        if (!alive.expired()) fill();
      });
}

void HookLoader::answered(std::size_t place, const loop::ProcessExit& exit) {
  const auto result = [&]() -> Result<HookConfig> {
    if (exit.timed_out) {
      return Error(ErrorKind::timeout, "--config did not end within 30s");
    }
    if (exit.output_overflow) {
      return Error(ErrorKind::too_large, "--config printed more than 1 MiB");
    }
    if (exit.code != 0) {
      const std::string how = exit.code ? fmt::format("exit code {}", *exit.code)
                                        : fmt::format("signal {}", exit.signal.value_or(0));
      return Error(ErrorKind::invalid, fmt::format("--config ended with {}{}{}", how,
                                                   asked_[place].last_line.empty() ? "" : ": ",
                                                   asked_[place].last_line));
    }
    return parse_hook_config(exit.out);
  };
  const std::weak_ptr<char> alive = alive_;
  --running_;
  on_config_(place, result());
  if (!alive.expired()) fill();
}

}  // namespace kubewatch::compat
