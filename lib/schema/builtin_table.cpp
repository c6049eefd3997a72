// The merge schema of built-in kinds, read lazily from the text that tests/schema/builtin_schema.py
// made. A definition becomes a node when a kind first needs it; nodes live as long as the program,
// so that recursive definitions need no owners.
#include "schema/builtin_table.hpp"

#include <memory>
#include <string_view>
#include <unordered_map>

#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::schema {
namespace {

constexpr std::string_view kTable =
#include "schema/builtin_schema.inc"
    ;

MergeNodePtr borrowed(const MergeNode* node) {
  return MergeNodePtr(MergeNodePtr(), node);
}

class Table {
 public:
  Table();
  const MergeNode* kind(const std::string& name);
  const MergeNode* definition(std::string_view name);

 private:
  MergeNode* make() { return owned_.emplace_back(std::make_unique<MergeNode>()).get(); }
  const MergeNode* copy_as(MergeNode::Kind kind, std::string_view marked);
  const MergeNode* type(std::string_view text);
  const MergeNode* scalar(MergeNode::Scalar scalar, bool anything = false);
  const MergeNode* collection(MergeNode::Kind kind, std::string_view element);
  const MergeNode* keyed_list(std::string_view text);
  void read_field(std::string_view text, MergeNode& out);
  void read_keys(std::string_view keys, MergeNode& out);

  std::unordered_map<std::string_view, std::string_view> kinds_;  // "v1 Pod" -> definition
  std::unordered_map<std::string_view, std::string_view>
      definitions_;  // name -> the rest of its line
  std::unordered_map<std::string, const MergeNode*> nodes_;
  std::vector<std::unique_ptr<MergeNode>> owned_;
};

Table::Table() {
  std::string_view rest = kTable;
  while (!rest.empty()) {
    std::string_view line = base::take_until(rest, '\n');
    if (line.empty()) continue;
    if (line.front() == '=') {
      const std::size_t last = line.rfind(' ');
      kinds_[line.substr(1, last - 1)] = line.substr(last + 1);
    } else {
      const std::string_view name = base::take_until(line, ' ');
      definitions_[name] = line;
    }
  }
}

const MergeNode* Table::kind(const std::string& name) {
  const auto found = kinds_.find(name);
  return found == kinds_.end() ? nullptr : definition(found->second);
}

const MergeNode* Table::definition(std::string_view name) {
  if (const auto known = nodes_.find(std::string(name)); known != nodes_.end())
    return known->second;
  auto found = definitions_.find(name);
  const bool atomic = found == definitions_.end();
  if (atomic) found = definitions_.find(std::string(name) + "!");
  if (found == definitions_.end()) return nullptr;
  std::string_view line = found->second;
  if (!line.empty() && line.front() == ':') {
    return nodes_[std::string(name)] = type(line.substr(1));
  }
  MergeNode* node = make();
  nodes_[std::string(name)] = node;  // before its fields: definitions may contain themselves
  node->kind = atomic ? MergeNode::Kind::map_atomic : MergeNode::Kind::map;
  node->is_struct = true;
  node->typed = true;
  node->go_type = name.substr(name.rfind('.') + 1);
  while (!line.empty()) read_field(base::take_until(line, ' '), *node);
  return node;
}

// Of "!NAME" or "+NAME": a field may have its type owned otherwise than other fields do.
const MergeNode* Table::copy_as(MergeNode::Kind kind, std::string_view marked) {
  const std::string key(marked);
  if (const auto known = nodes_.find(key); known != nodes_.end()) return known->second;
  MergeNode* node = make();
  *node = *definition(marked.substr(1));
  node->kind = kind;
  return nodes_[key] = node;
}

void Table::read_field(std::string_view text, MergeNode& out) {
  std::string_view name = base::take_until(text, ':');
  const char mark = name.back();
  if (mark == '*' || mark == '~') name.remove_suffix(1);
  const std::string key(name);
  if (text.front() == '{') {
    std::string_view rule = base::take_until(text, '}').substr(1);
    const std::string merge_key(base::take_until(rule, ';'));
    out.patch[key] = {merge_key, std::string(rule)};
  }
  const MergeNode* node = type(text);
  out.fields[key] = borrowed(node);
  if (mark == '~') out.implied[key] = Json();
  if (mark != '*') return;
  switch (text.front()) {
    case 's': out.implied[key] = ""; break;
    case 'n':
    case 'j':
    case 'k': out.implied[key] = 0; break;
    case 'b': out.implied[key] = false; break;
    case '@': out.implied[key] = Json::object(); break;
    default: out.implied[key] = Json();
  }
}

const MergeNode* Table::scalar(MergeNode::Scalar scalar, bool anything) {
  MergeNode* node = make();
  node->kind = MergeNode::Kind::scalar;
  node->scalar = scalar;
  node->anything = anything;
  return node;
}

const MergeNode* Table::collection(MergeNode::Kind kind, std::string_view element) {
  MergeNode* node = make();
  node->kind = kind;
  node->element = borrowed(type(element));
  return node;
}

const MergeNode* Table::keyed_list(std::string_view text) {
  std::string_view keys = base::take_until(text, ']').substr(1);
  MergeNode* node = make();
  node->kind = MergeNode::Kind::list_map;
  node->element = borrowed(type(text));
  read_keys(keys, *node);
  return node;
}

bool is_number(MergeNode::Scalar scalar) {
  using Scalar = MergeNode::Scalar;
  return scalar == Scalar::numeric || scalar == Scalar::int32 || scalar == Scalar::int64;
}

// "name=,protocol=TCP": a default is a number where the item's field is one.
void Table::read_keys(std::string_view keys, MergeNode& out) {
  while (!keys.empty()) {
    std::string_view key = base::take_until(keys, ',');
    const bool has_default = key.find('=') != std::string_view::npos;
    const std::string name(base::take_until(key, '='));
    out.keys.push_back(name);
    if (!has_default) continue;
    const MergeNode* field = out.element->child(name);
    const bool number = field != nullptr && is_number(field->scalar);
    out.key_defaults[name] = number ? Json(std::stol(std::string(key))) : Json(std::string(key));
  }
}

const MergeNode* Table::type(std::string_view text) {
  using Kind = MergeNode::Kind;
  using Scalar = MergeNode::Scalar;
  const char tag = text.front();
  const std::string_view rest = text.substr(1);
  if (tag == '@') {
    if (rest.front() == '!') return copy_as(Kind::map_atomic, rest);
    return rest.front() == '+' ? copy_as(Kind::map, rest) : definition(rest);
  }
  const std::string key = "type " + std::string(text);
  if (const auto known = nodes_.find(key); known != nodes_.end()) return known->second;
  const MergeNode* node = nullptr;
  switch (tag) {
    case 's': node = scalar(Scalar::string); break;
    case 'n': node = scalar(Scalar::numeric); break;
    case 'j': node = scalar(Scalar::int32); break;
    case 'k': node = scalar(Scalar::int64); break;
    case 'b': node = scalar(Scalar::boolean); break;
    case 'u': node = scalar(Scalar::any); break;
    case 'q': node = scalar(Scalar::quantity); break;
    case 'i': node = scalar(Scalar::int_or_string); break;
    case 't': node = scalar(Scalar::time); break;
    case 'm': node = scalar(Scalar::micro_time); break;
    case 'x': node = scalar(Scalar::any, true); break;
    case 'M': node = collection(Kind::map, rest); break;
    case 'A': node = collection(Kind::map_atomic, rest); break;
    case 'L': node = collection(Kind::list_atomic, rest); break;
    case 'S': node = collection(Kind::list_set, rest); break;
    case 'K': node = keyed_list(rest); break;
    default: node = make();
  }
  return nodes_[key] = node;
}

Table& table() {
  static Table the_table;
  return the_table;
}

}  // namespace

MergeNodePtr builtin_merge_schema(const core::Gvk& gvk) {
  const MergeNode* node = table().kind(gvk.api_version() + " " + gvk.kind);
  return node == nullptr ? nullptr : borrowed(node);
}

MergeNodePtr builtin_definition(const std::string& name) {
  const MergeNode* node = table().definition(name);
  return node == nullptr ? nullptr : borrowed(node);
}

}  // namespace kubewatch::schema
