// A place in a document that a person wrote: its value, how messages name it and where its marks
// are found, and what is said of it. Who reads what, and where remarks go to, is its users'
// business.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/json_fwd.hpp"
#include "base/yaml.hpp"

namespace kubewatch::base {

// Something to say about a place in a file.
struct Remark {
  std::string file;
  std::size_t line = 0;  // 0: the file as a whole
  std::size_t column = 0;
  std::string message;
  std::string str() const;  // "rules.yaml:12:7: message"
};

// A cheap handle; the document must outlive it.
class DocumentPlace {
 public:
  explicit DocumentPlace(const Json& document) : value_(&document) {}

  const Json& value() const { return *value_; }
  // "spec.owns[0].kind"; "" for the document.
  const std::string& path() const { return path_; }
  bool has(std::string_view key) const;

 protected:
  // Preconditions: has(key); index < size. Messages call the child `shown` where it is given.
  void enter(const std::string& key, std::string_view shown = {});
  void enter(std::size_t index);
  // The key of the marks.
  const std::string& pointer() const { return pointer_; }
  // "PATH: message", shortened.
  Remark remark(const std::string& file, YamlMark mark, std::string_view message) const;

 private:
  const Json* value_;
  std::string path_;
  std::string pointer_;
};

}  // namespace kubewatch::base
