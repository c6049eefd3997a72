// A temporary folder with hooks for rule file tests; gone when the test ends.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace kubewatch::test {

class RuleFolder {
 public:
  RuleFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kw-rules-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  RuleFolder(const RuleFolder&) = delete;
  RuleFolder& operator=(const RuleFolder&) = delete;
  ~RuleFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + "/" + name; }

  std::string write(const std::string& name, std::string_view text) const {
    std::ofstream(file(name), std::ios::binary) << text;
    return file(name);
  }
  std::string script(const std::string& name) const {
    write(name, "#!/bin/sh\n");
    std::filesystem::permissions(file(name), std::filesystem::perms(0755));
    return file(name);
  }

 private:
  std::string path_;
};

}  // namespace kubewatch::test
