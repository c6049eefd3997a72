#include "base/document_place.hpp"

#include <fmt/format.h>

#include "base/document_words.hpp"
#include "base/json.hpp"
#include "base/json_pointer.hpp"
#include "base/strings.hpp"

namespace kubewatch::base {

namespace {

// Messages may quote all of a selector or program.
constexpr std::size_t kRemarkCharacters = 1000;

}  // namespace

std::string Remark::str() const {
  const std::string name = escape_for_terminal(file);
  if (line == 0) return fmt::format("{}: {}", name, message);
  return fmt::format("{}:{}:{}: {}", name, line, column, message);
}

bool DocumentPlace::has(std::string_view key) const {
  return value_->is_object() && value_->contains(std::string(key));
}

void DocumentPlace::enter(const std::string& key, std::string_view shown) {
  value_ = &value_->at(key);
  const std::string name = shortened(shown.empty() ? key : shown);
  path_ = path_.empty() ? name : path_ + "." + name;
  pointer_ += "/" + escape_pointer(key);
}

void DocumentPlace::enter(std::size_t index) {
  value_ = &value_->at(index);
  path_ += fmt::format("[{}]", index);
  pointer_ += fmt::format("/{}", index);
}

Remark DocumentPlace::remark(const std::string& file, YamlMark mark,
                             std::string_view message) const {
  std::string line = shortened(message, kRemarkCharacters);
  if (!path_.empty()) line = fmt::format("{}: {}", path_, line);
  return {file, mark.line, mark.column, std::move(line)};
}

}  // namespace kubewatch::base
