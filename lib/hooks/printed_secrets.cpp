// Whole documents first, then a look for what can be told apart in the broken ones.
#include "hooks/printed_secrets.hpp"

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/ascii.hpp"
#include "base/json.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

// A worker's: what it prints stands in its documents, and the rest are words of ours.
bool is_answer(const Json& value) {
  return (value.contains("id") || value.contains("documents")) && !value.contains("data");
}

enum class Role { document, patch, deletion, inner };  // what is to stand there

Role role_below(const std::string& key) {
  if (key == "items" || key == "create" || key == "documents") return Role::document;
  if (key == "patches") return Role::patch;
  return key == "delete" ? Role::deletion : Role::inner;
}

// A wrong kind makes its values no less secret to who wrote it, nor does a missing one where a
// whole object is to stand; elsewhere `data` may be anything.
bool is_secret(const Json& value, Role role) {
  const std::string kind = base::string_at(value, {"kind"});
  const bool whole = role == Role::document || role == Role::patch;
  return (whole && kind.empty() && !is_answer(value)) || value.contains("stringData") ||
         (kind.size() == 6 && (kind[0] == 'S' || kind[0] == 's') && kind.ends_with("ecret"));
}

void erase_words(Json& value, std::initializer_list<const char*> keys) {
  if (!value.is_object()) return;
  for (const char* key : keys) {
    const auto word = value.find(key);
    if (word != value.end() && word->is_string()) value.erase(word);
  }
}

// Within other objects the kind alone says little: certificateRefs, issuerRef and an event's
// regarding have it as well as a manifest in a template, and hold no value.
bool only_names(const Json& value, Role role) {
  if (role != Role::inner) return role != Role::document;
  return !value.contains("metadata") && !value.contains("data") && !value.contains("stringData");
}

// Of what names a Secret: an item of `delete` or `patches`, or a field of another object. A message
// about it has to say which one it is, and of a patch only what it puts into the Secret is one of
// its values.
void mask_reference(Json item, SecretMask& mask) {
  erase_words(item, {"name", "namespace", "subresource", "group", "sectionName", "apiGroup", "uid",
                     "resourceVersion", "fieldPath", "key"});
  if (Json* patch = base::find(item, {"patch"})) {
    mask_patch(*patch, mask);
    erase_words(*patch, {"apiVersion", "kind", "type"});
    if (Json* metadata = base::find(*patch, {"metadata"})) {
      erase_words(*metadata, {"name", "namespace"});
    }
    if (patch->is_array()) {
      for (Json& operation : *patch) erase_words(operation, {"op", "path", "from"});
    }
  }
  mask.add_object(item);
}

// Where a Secret stands does not matter: who prints one in a wrong place is told so by an error,
// and its values must not be in it. Documents that are texts within texts are followed so deep.
constexpr int kDeepestText = 3;

void mask_text(std::string_view text, SecretMask& mask, int depth);

void mask_value(const Json& value, Role role, SecretMask& mask, int depth) {
  if (value.is_string()) return mask_text(value.get_ref<const std::string&>(), mask, depth);
  if (value.is_array()) {
    for (const Json& inner : value) mask_value(inner, role, mask, depth);
  }
  if (!value.is_object()) return;
  if (is_secret(value, role)) {
    Json secret = value;
    secret["kind"] = "Secret";
    only_names(value, role) ? mask_reference(std::move(secret), mask) : mask.add_object(secret);
  }
  const bool secrets = base::string_at(value, {"kind"}) == "SecretList";
  for (const auto& [key, inner] : value.items()) {
    if (!secrets || key != "items" || !inner.is_array()) {
      mask_value(inner, role_below(key), mask, depth);
      continue;
    }
    for (Json one : inner) {
      if (one.is_object()) one["kind"] = "Secret";
      mask_value(one, Role::document, mask, depth);
    }
  }
}

bool is_word(char c) {
  return base::is_alphanumeric(c) || c == '_' || c == '-' || c == '.';
}

// Looks through a text that no reader takes. What it adds too much hides too much, nothing else.
// Each byte is looked at a bounded number of times.
class Scan {
 public:
  Scan(std::string_view text, SecretMask& mask) : text_(text), mask_(mask) {}

  void run() {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t word = text_.find("ata", at);
      if (word == std::string_view::npos) return;
      at = word + 3;
      if (const std::size_t begin = key_at(word); begin != std::string_view::npos) {
        at = entries(begin, at);
      }
    }
  }

 private:
  // Where the key `data` or `stringData` begins that has its "ata" there.
  std::size_t key_at(std::size_t ata) const {
    for (const std::string_view key : {"stringData", "data"}) {
      const std::size_t before = key.size() - 3;
      if (ata < before || text_.substr(ata - before, key.size()) != key) continue;
      const std::size_t begin = ata - before;
      const bool apart = begin == 0 || (!is_word(text_[begin - 1]) && text_[begin - 1] != '/');
      if (apart) return begin;
    }
    return std::string_view::npos;
  }

  // `at`: behind the key. Gives where to go on.
  std::size_t entries(std::size_t key, std::size_t at) {
    if (at < text_.size() && (text_[at] == '"' || text_[at] == '\'')) ++at;
    at = skip(at, " \t");
    if (at >= text_.size() || text_[at] != ':') return at;
    at = skip(at + 1, " \t");
    const std::size_t value = text_.find_first_not_of(kBlanks, at);
    if (value != std::string_view::npos && (text_[value] == '{' || text_[value] == '[')) {
      return flow(value);
    }
    const std::size_t end = end_of_line(at);
    add_text(text_.substr(at, end - at));
    return block(end, key - start_of_line(key));
  }

  // {a: b, "c": 'd'}, over lines, whether it is closed or not.
  std::size_t flow(std::size_t at) {
    std::size_t depth = 0;
    while (at < text_.size()) {
      const char c = text_[at];
      if (c == '{' || c == '[') ++depth;
      if ((c == '}' || c == ']') && --depth == 0) return at + 1;
      if (std::string_view("{}[],:").find(c) != std::string_view::npos ||
          kBlanks.find(c) != std::string_view::npos) {
        ++at;
        continue;
      }
      const std::size_t end = c == '"' || c == '\'' ? end_of_quoted(at) : end_of_plain(at);
      const std::size_t next = skip(end, kBlanks);
      const bool key = next < text_.size() && text_[next] == ':';
      if (!key) add_text(text_.substr(at, end - at));
      at = end;
    }
    return at;
  }

  std::size_t end_of_quoted(std::size_t at) const {
    const char quote = text_[at];
    for (++at; at < text_.size() && text_[at] != quote; ++at) {
      if (text_[at] == '\\' && quote == '"') ++at;
    }
    return std::min(at + 1, text_.size());
  }

  std::size_t end_of_plain(std::size_t at) const {
    while (at < text_.size() && std::string_view(",{}[]\n").find(text_[at]) == std::string::npos) {
      if (text_[at] == ':' && (at + 1 == text_.size() || text_[at + 1] == ' ')) break;
      ++at;
    }
    return at;
  }

  // The lines below that are indented deeper than the key.
  std::size_t block(std::size_t at, std::size_t indent) {
    while (at < text_.size()) {
      const std::size_t begin = at + 1;  // behind the newline
      if (begin >= text_.size()) return begin;
      const std::size_t end = end_of_line(begin);
      const std::string_view line = text_.substr(begin, end - begin);
      const std::size_t deep = line.find_first_not_of(" \t\r");
      if (deep != std::string_view::npos) {
        if (deep <= indent) return begin;
        add_line(base::trim(line));
      }
      at = end;
    }
    return at;
  }

  // "key: value", or a line of a text.
  void add_line(std::string_view line) {
    add(line);
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos) add_text(line.substr(colon + 2));
  }

  // As it stands, and without what YAML puts around a value.
  void add_text(std::string_view text) {
    text = base::trim(text);
    if (text.empty()) return;
    add(text);
    if (const std::size_t comment = text.find(" #"); comment != std::string_view::npos) {
      add_text(text.substr(0, comment));
    }
    if (text.front() == '"') {
      const auto decoded = base::parse_json(text);
      if (decoded.ok() && decoded->is_string()) add(decoded->get<std::string>());
    }
    if (std::string_view("\"'").find(text.front()) != std::string_view::npos) {
      const bool closed = text.size() > 1 && text.back() == text.front();
      return add(text.substr(1, text.size() - (closed ? 2 : 1)));
    }
    if (std::string_view("!&*").find(text.front()) == std::string_view::npos) return;
    const std::size_t blank = text.find(' ');
    if (blank == std::string_view::npos) return add(text.substr(1));
    add(base::trim(text.substr(blank)));
  }

  void add(std::string_view value) {
    const Json entry = {{"", std::string(value)}};
    mask_.add_object({{"kind", "Secret"}, {"data", entry}, {"stringData", entry}});
  }

  std::size_t skip(std::size_t at, std::string_view what) const {
    return std::min(text_.find_first_not_of(what, at), text_.size());
  }
  std::size_t end_of_line(std::size_t at) const {
    return std::min(text_.find('\n', at), text_.size());
  }
  std::size_t start_of_line(std::size_t at) const {
    const std::size_t newline = text_.substr(0, at).rfind('\n');
    return newline == std::string_view::npos ? 0 : newline + 1;
  }

  std::string_view text_;
  SecretMask& mask_;
};

// At lines that begin with ---.
std::vector<std::string_view> split_documents(std::string_view text) {
  std::vector<std::string_view> out;
  std::size_t begin = 0;
  for (std::size_t line = 0; line < text.size();) {
    const std::string_view rest = text.substr(line);
    const bool marker = rest.starts_with("---") &&
                        (rest.size() == 3 || kBlanks.find(rest[3]) != std::string_view::npos);
    if (marker) {
      out.push_back(text.substr(begin, line - begin));
      begin = line;
    }
    const std::size_t newline = rest.find('\n');
    line = newline == std::string_view::npos ? text.size() : line + newline + 1;
  }
  out.push_back(text.substr(begin));
  return out;
}

bool read_whole(std::string_view text, SecretMask& mask, int depth) {
  const auto documents = base::parse_yaml_values(text);
  if (!documents.ok()) return false;
  for (const Json& document : *documents) mask_value(document, Role::document, mask, depth);
  return true;
}

void mask_text(std::string_view text, SecretMask& mask, int depth) {
  const bool may_be_one = text.find(':') != text.npos &&
                          (text.find("data") != text.npos || text.find("Data") != text.npos);
  if (!may_be_one) return;
  if (depth >= kDeepestText || !read_whole(text, mask, depth + 1)) Scan(text, mask).run();
}

// Whoever was ended may have written half a line, or have kept everything in a buffer.
bool shows_an_end(std::string_view text) {
  const std::string_view trimmed = base::trim(text);
  if (trimmed.empty()) return false;
  return text.back() == '\n' || trimmed.back() == '}' || trimmed.back() == ']';
}

}  // namespace

void mask_patch(const Json& patch, SecretMask& mask) {
  if (patch.is_object()) {
    Json secret = patch;
    secret["kind"] = "Secret";
    return mask.add_object(secret);
  }
  if (!patch.is_array()) return;
  for (const Json& operation : patch) {
    const Json* value = base::find(operation, {"value"});
    if (value == nullptr) continue;
    const Json data = value->is_object() ? *value : Json{{"value", *value}};
    mask.add_object({{"kind", "Secret"}, {"data", data}, {"stringData", data}});
  }
}

bool names_secret(std::string_view text) {
  return text.find("ecret") != text.npos || text.find("stringData") != text.npos;
}

void mask_quoted(std::string_view words, SecretMask& mask) {
  std::string json;
  for (std::size_t at = 0; at < words.size(); ++at) {
    const bool escapes = words[at] == '\\' && words.substr(at + 1, 1) == "\"";
    if (!escapes) json += words[at];
  }
  Scan(json, mask).run();
}

bool mask_printed(std::string_view text, bool cut, SecretMask& mask) {
  if (read_whole(text, mask, 0)) return !cut || shows_an_end(text);
  for (const std::string_view document : split_documents(text)) {
    if (!read_whole(document, mask, 0)) Scan(document, mask).run();
  }
  return false;
}

}  // namespace kubewatch::hooks
