#include "crdgen/node.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kubewatch::crdgen {

namespace {

// The character at a mark; columns count characters, which are bytes in what is quoted here.
char character_at(std::string_view text, base::YamlMark mark) {
  std::size_t at = 0;
  for (std::size_t line = 1; line < mark.line; ++line) {
    at = text.find('\n', at);
    if (at == std::string_view::npos) return '\0';
    ++at;
  }
  at += mark.column - 1;
  return at < text.size() ? text[at] : '\0';
}

}  // namespace

Node Node::child(const std::string& key) const {
  Node out = *this;
  out.enter(key);
  return out;
}

Node Node::item(std::size_t index) const {
  Node out = *this;
  out.enter(index);
  return out;
}

std::vector<Node> Node::each() const {
  if (!value().is_array()) return {*this};
  std::vector<Node> out;
  for (std::size_t i = 0; i < value().size(); ++i) out.push_back(item(i));
  return out;
}

std::string Node::place() const {
  return fmt::format("{}:{}:{}", source_->file, mark().line, mark().column);
}

bool Node::problem(std::string_view message) const {
  source_->problems.push_back(remark(source_->file, mark(), message));
  return false;
}

bool Node::problem_at_key(std::string_view message) const {
  source_->problems.push_back(remark(source_->file, source_->marks.key_at(pointer()), message));
  return false;
}

bool Node::problem_inside(std::size_t offset, std::string_view message) const {
  base::YamlMark at = mark();
  const char first = character_at(source_->text, at);
  if (first == '\'' || first == '"') ++offset;
  // Of a block or an alias only the place where it begins is known.
  if (first != '|' && first != '>' && first != '*') at.column += offset;
  source_->problems.push_back(remark(source_->file, at, message));
  return false;
}

void Node::note(std::string_view message) const {
  source_->notes.push_back(remark(source_->file, mark(), message));
}

bool Node::only_keys(const std::vector<std::string>& known) const {
  if (!value().is_object()) {
    return problem(fmt::format("must be a mapping, not {}", type_name(value())));
  }
  for (const auto& [name, value] : value().items()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    child(name).problem_at_key("unknown key" + did_you_mean(name, known));
  }
  return true;
}

std::optional<std::string> Node::text(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  const Json& found = value().at(key);
  if (found.is_string()) return found.get<std::string>();
  child(key).problem(fmt::format("must be text, not {}", type_name(found)));
  return std::nullopt;
}

std::optional<bool> Node::flag(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  const Json& found = value().at(key);
  if (found.is_boolean()) return found.get<bool>();
  child(key).problem(fmt::format("must be true or false, not {}", type_name(found)));
  return std::nullopt;
}

std::optional<std::vector<std::string>> Node::texts(const std::string& key) const {
  if (!has(key)) return std::nullopt;
  const Node list = child(key);
  std::vector<std::string> out;
  if (list.value().is_string()) return std::vector<std::string>{list.value().get<std::string>()};
  if (!list.value().is_array()) {
    list.problem(fmt::format("must be a list of texts, not {}", type_name(list.value())));
    return std::nullopt;
  }
  for (std::size_t i = 0; i < list.value().size(); ++i) {
    if (list.value()[i].is_string()) {
      out.push_back(list.value()[i].get<std::string>());
    } else {
      list.item(i).problem(fmt::format("must be text, not {}", type_name(list.value()[i])));
    }
  }
  return out;
}

}  // namespace kubewatch::crdgen
