#include "hooks/list_files.hpp"

#include <optional>
#include <utility>

#include "base/random.hpp"

namespace kubewatch::hooks {

ListFiles::ListFiles() : hash_(base::secure_random_hex(base::KeyedHash::kKeyBytes / 2)) {}

Result<ListFilePtr> ListFiles::of(const std::vector<std::string>& objects) {
  std::size_t size = 8;
  for (const std::string& object : objects) size += object.size() + 2;
  std::string content = "[";
  content.reserve(size);
  for (const std::string& object : objects) {
    content += content.size() > 1 ? ",\n" : "\n";
    content += object;
  }
  content += "\n]\n";
  std::erase_if(open_, [](const auto& one) { return one.second.expired(); });
  std::string key = hash_.hex(content);
  if (const auto it = open_.find(key); it != open_.end()) return it->second.lock();
  KW_ASSIGN(loop::Fd memory, loop::sealed_input(content));
  std::optional<std::string> path = loop::path_for_children(memory);
  if (!path) {
    return Error(ErrorKind::unavailable,
                 "`lists: files` needs a kubewatch binary that has no capabilities of its own: the "
                 "kernel keeps hooks from opening what such a one has open");
  }
  auto file = std::make_shared<const ListFile>(ListFile{std::move(memory), *std::move(path)});
  open_.emplace(std::move(key), file);
  return file;
}

}  // namespace kubewatch::hooks
