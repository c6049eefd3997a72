#include "core/json_cut.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/json.hpp"
#include "base/strings.hpp"
#include "core/json_scan.hpp"

namespace kubewatch::core {

namespace {

void append_compact(std::string& out, std::string_view value, bool spaced) {
  if (!spaced) {
    out.append(value);
    return;
  }
  bool in_string = false;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    if (in_string && c == '\\' && i + 1 < value.size()) {
      out.push_back(c);
      out.push_back(value[++i]);
      continue;
    }
    if (c == '"') in_string = !in_string;
    if (in_string || !is_json_space(c)) out.push_back(c);
  }
}

// The key as a reader sees it; escapes in keys are legal but hardly ever seen.
std::string resolve_key(std::string_view raw) {
  if (raw.find('\\') == std::string_view::npos) return std::string(raw);
  auto parsed = base::parse_json(fmt::format("\"{}\"", raw));
  if (!parsed.ok() || !parsed->is_string()) return std::string(raw);
  return parsed->get<std::string>();
}

std::string pointer_token(const std::string& text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1')) {
      out.push_back(text[++i] == '0' ? '~' : '/');
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

// Writes one object without what the tree of nodes drops. It recurses as deep as the pointers are
// long, never as deep as the data.
class Cutting {
 public:
  Cutting(const std::vector<JsonCutter::Node>& nodes, std::string_view text, JsonCutResult& out)
      : nodes_(nodes), text_(text), out_(out) {}

  // False when the text is no object.
  bool run() {
    if (text_.peek() != '{' || !members(0, 1, nodes_[0].keep)) return false;
    return text_.peek() == '\0';
  }
  std::size_t position() const { return text_.position(); }
  std::size_t deepest() const { return deepest_; }

 private:
  // `all`: members that no pointer names stay. The same for arrays, whose keys are indexes.
  bool members(std::size_t node, std::size_t depth, bool all) {
    note_depth(depth);
    const bool array = text_.peek() == '[';
    if (!text_.accept(array ? '[' : '{')) return false;
    const char end = array ? ']' : '}';
    out_.json.push_back(array ? '[' : '{');
    bool wrote = false;
    for (std::size_t index = 0; text_.peek() != end; ++index) {
      if (index > 0 && !text_.accept(',')) return false;
      std::string_view literal;
      if (!array) {
        literal = text_.take_string();
        if (literal.empty() || !text_.accept(':')) return false;
      }
      const auto child =
          array ? child_of(node, std::to_string(index)) : child_of_key(node, literal);
      if (!member(child, literal, depth, all, wrote)) return false;
    }
    text_.accept(end);
    out_.json.push_back(end);
    return true;
  }

  bool member(std::optional<std::size_t> child, std::string_view literal, std::size_t depth,
              bool all, bool& wrote) {
    const JsonCutter::Node* known = child ? &nodes_[*child] : nullptr;
    const bool stays = known == nullptr ? all : !known->drop && (all || wanted(*known));
    if (!stays) {
      // How deep it is does not matter: nobody is going to read it.
      const JsonCursor::Value value = text_.take_value();
      if (known != nullptr && known->note) out_.noted = value.text;
      return !value.text.empty();
    }
    if (depth == 1) note_type(literal);
    if (wrote) out_.json.push_back(',');
    wrote = true;
    if (!literal.empty()) out_.json.append(literal).push_back(':');
    const char c = text_.peek();
    if (known != nullptr && !known->children.empty() && (c == '{' || c == '[')) {
      return members(*child, depth + 1, all || known->keep);
    }
    const JsonCursor::Value value = take_value(depth);
    if (known != nullptr && known->note) out_.noted = value.text;
    append_compact(out_.json, value.text, value.spaced);
    return !value.text.empty();
  }

  // Something at or below this node is asked for by name.
  bool wanted(const JsonCutter::Node& node) const {
    if (node.keep) return true;
    for (const auto& child : node.children) {
      if (wanted(nodes_[child.second])) return true;
    }
    return false;
  }

  JsonCursor::Value take_value(std::size_t depth) {
    const JsonCursor::Value value = text_.take_value();
    note_depth(depth + value.deepest);
    return value;
  }
  void note_depth(std::size_t depth) { deepest_ = std::max(deepest_, depth); }
  void note_type(std::string_view literal) {
    out_.has_api_version = out_.has_api_version || literal == "\"apiVersion\"";
    out_.has_kind = out_.has_kind || literal == "\"kind\"";
  }

  std::optional<std::size_t> child_of_key(std::size_t node, std::string_view literal) const {
    if (nodes_[node].children.empty()) return std::nullopt;
    const std::string_view raw = literal.substr(1, literal.size() - 2);
    if (raw.find('\\') == std::string_view::npos) return child_of(node, raw);
    return child_of(node, resolve_key(raw));
  }
  std::optional<std::size_t> child_of(std::size_t node, std::string_view key) const {
    for (const auto& [token, index] : nodes_[node].children) {
      if (token == key) return index;
    }
    return std::nullopt;
  }

  const std::vector<JsonCutter::Node>& nodes_;
  JsonCursor text_;
  JsonCutResult& out_;
  std::size_t deepest_ = 0;
};

constexpr std::size_t kMaxPointerTokens = 32;

Error broken_at(std::size_t position) {
  return Error(ErrorKind::invalid, fmt::format("not a JSON object, broken at byte {}", position));
}

}  // namespace

Result<void> for_each_member(std::string_view object,
                             const std::function<void(const JsonMember&)>& on_member) {
  JsonCursor text(object);
  if (!text.accept('{')) return broken_at(text.position());
  for (bool first = true; text.peek() != '}'; first = false) {
    if (!first && !text.accept(',')) return broken_at(text.position());
    const std::string_view key = text.take_string();
    if (key.empty() || !text.accept(':')) return broken_at(text.position());
    const std::string_view value = text.take_value().text;
    if (value.empty()) return broken_at(text.position());
    on_member({key.substr(1, key.size() - 2), value});
  }
  return {};
}

JsonCutter::JsonCutter(const JsonCutRules& rules) : nodes_(1) {
  const auto mark = [this](const std::string& pointer, bool Node::*flag) {
    if (Node* node = node_at(pointer); node != nullptr) node->*flag = true;
  };
  for (const auto& pointer : rules.drop) mark(pointer, &Node::drop);
  for (const auto& pointer : rules.keep) mark(pointer, &Node::keep);
  mark(rules.note, &Node::note);
  nodes_[0].keep = rules.keep.empty();
}

JsonCutter::Node* JsonCutter::node_at(std::string_view pointer) {
  if (pointer.size() < 2 || pointer[0] != '/') return nullptr;
  const auto tokens = base::split(pointer.substr(1), '/');
  if (tokens.size() > kMaxPointerTokens) return nullptr;
  std::size_t at = 0;
  for (const auto& raw : tokens) {
    const std::string token = pointer_token(raw);
    std::optional<std::size_t> next;
    for (const auto& [known, index] : nodes_[at].children) {
      if (known == token) next = index;
    }
    if (!next) {
      next = nodes_.size();
      nodes_[at].children.emplace_back(token, *next);
      nodes_.emplace_back();
    }
    at = *next;
  }
  return &nodes_[at];
}

Result<JsonCutResult> JsonCutter::cut(std::string_view object, std::size_t max_depth) const {
  JsonCutResult out;
  out.json.reserve(object.size());
  Cutting cutting(nodes_, object, out);
  const bool whole = cutting.run();
  if (cutting.deepest() > max_depth) {
    return Error(ErrorKind::too_large, fmt::format("nested deeper than {} levels", max_depth));
  }
  if (!whole) return broken_at(cutting.position());
  return out;
}

}  // namespace kubewatch::core
