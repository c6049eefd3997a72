#include "core/json_cut.hpp"

#include <fmt/format.h>

#include <cstring>
#include <optional>

#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::core {

namespace {

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

// Walks over text, one value at a time. Failing leaves `failed` set and the position at the end.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool failed() const { return failed_; }
  std::size_t position() const { return at_; }
  std::size_t deepest() const { return deepest_; }

  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  // After white space; '\0' at the end.
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char wanted) {
    if (peek() != wanted) return fail();
    ++at_;
    return true;
  }
  bool fail() {
    failed_ = true;
    return false;
  }

  // The raw text between the quotes.
  std::string_view string() {
    if (!take('"')) return {};
    const std::size_t begin = at_;
    if (!skip_string_rest()) return {};
    return text_.substr(begin, at_ - begin - 1);
  }

  // One value of any kind. `spaced`: white space outside strings was seen.
  std::string_view value(std::size_t depth, bool& spaced) {
    spaced = false;
    const char c = peek();
    const std::size_t begin = at_;
    if (c == '"') {
      ++at_;
      if (!skip_string_rest()) return {};
    } else if (c == '{' || c == '[') {
      if (!skip_container(depth, spaced)) return {};
    } else {
      skip_scalar();
      if (at_ == begin) fail();
    }
    return text_.substr(begin, at_ - begin);
  }

  void note_depth(std::size_t depth) {
    if (depth > deepest_) deepest_ = depth;
  }

 private:
  // The position is behind the opening quote; afterwards behind the closing one.
  bool skip_string_rest() {
    const std::size_t begin = at_;
    while (at_ < text_.size()) {
      const void* found = std::memchr(text_.data() + at_, '"', text_.size() - at_);
      if (found == nullptr) break;
      const auto quote = static_cast<std::size_t>(static_cast<const char*>(found) - text_.data());
      std::size_t slashes = 0;
      while (quote - slashes > begin && text_[quote - slashes - 1] == '\\') ++slashes;
      at_ = quote + 1;
      if (slashes % 2 == 0) return true;
    }
    at_ = text_.size();
    return fail();
  }

  bool skip_container(std::size_t depth, bool& spaced) {
    const std::size_t outside = depth;
    while (at_ < text_.size()) {
      const char c = text_[at_++];
      if (c == '"') {
        if (!skip_string_rest()) return false;
      } else if (c == '{' || c == '[') {
        note_depth(++depth);
      } else if (c == '}' || c == ']') {
        if (--depth == outside) return true;
      } else if (is_space(c)) {
        spaced = true;
      }
    }
    return fail();
  }

  void skip_scalar() {
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == ',' || c == '}' || c == ']' || c == ':' || c == '"' || is_space(c)) return;
      ++at_;
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
  std::size_t deepest_ = 0;
  bool failed_ = false;
};

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
    if (in_string || !is_space(c)) out.push_back(c);
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

// Writes one object without the members that the tree of nodes names. It recurses as deep as the
// pointers are long, never as deep as the data.
class Cutting {
 public:
  Cutting(const std::vector<JsonCutter::Node>& nodes, std::string_view text, JsonCutResult& out)
      : nodes_(nodes), scan_(text), out_(out) {}

  void run() {
    object(0, 1);
    if (scan_.peek() != '\0') scan_.fail();
  }
  const Scanner& scanner() const { return scan_; }

 private:
  void object(std::size_t node, std::size_t depth) {
    scan_.note_depth(depth);
    if (!scan_.take('{')) return;
    out_.json.push_back('{');
    bool wrote = false;
    for (bool first = true; scan_.peek() != '}'; first = false) {
      if (!first && !scan_.take(',')) return;
      const std::string_view key = scan_.string();
      if (scan_.failed() || !scan_.take(':')) return;
      if (depth == 1) {
        out_.has_api_version = out_.has_api_version || key == "apiVersion";
        out_.has_kind = out_.has_kind || key == "kind";
      }
      const auto child = child_of(node, key);
      if (child && nodes_[*child].cut) {
        bool spaced = false;
        scan_.value(depth, spaced);
      } else {
        if (wrote) out_.json.push_back(',');
        wrote = true;
        out_.json.append("\"").append(key).append("\":");
        value(child, depth);
      }
      if (scan_.failed()) return;
    }
    scan_.take('}');
    out_.json.push_back('}');
  }

  void array(std::size_t node, std::size_t depth) {
    scan_.note_depth(depth);
    if (!scan_.take('[')) return;
    out_.json.push_back('[');
    bool wrote = false;
    std::size_t index = 0;
    for (; scan_.peek() != ']'; ++index) {
      if (index > 0 && !scan_.take(',')) return;
      const auto child = child_of(node, std::to_string(index));
      if (child && nodes_[*child].cut) {
        bool spaced = false;
        scan_.value(depth, spaced);
      } else {
        if (wrote) out_.json.push_back(',');
        wrote = true;
        value(child, depth);
      }
      if (scan_.failed()) return;
    }
    scan_.take(']');
    out_.json.push_back(']');
  }

  void value(std::optional<std::size_t> node, std::size_t depth) {
    const char c = scan_.peek();
    if (node && c == '{') return object(*node, depth + 1);
    if (node && c == '[') return array(*node, depth + 1);
    bool spaced = false;
    const std::string_view raw = scan_.value(depth, spaced);
    if (!scan_.failed()) append_compact(out_.json, raw, spaced);
  }

  std::optional<std::size_t> child_of(std::size_t node, std::string_view raw_key) const {
    const auto& children = nodes_[node].children;
    if (children.empty()) return std::nullopt;
    const bool escaped = raw_key.find('\\') != std::string_view::npos;
    const std::string resolved = escaped ? resolve_key(raw_key) : std::string();
    const std::string_view key = escaped ? std::string_view(resolved) : raw_key;
    for (const auto& [token, index] : children) {
      if (token == key) return index;
    }
    return std::nullopt;
  }

  const std::vector<JsonCutter::Node>& nodes_;
  Scanner scan_;
  JsonCutResult& out_;
};

constexpr std::size_t kMaxPointerTokens = 32;

}  // namespace

Result<void> for_each_member(std::string_view object,
                             const std::function<void(const JsonMember&)>& on_member) {
  Scanner scan(object);
  const auto broken = [&] {
    return Error(ErrorKind::invalid,
                 fmt::format("not a JSON object, broken at byte {}", scan.position()));
  };
  if (!scan.take('{')) return broken();
  for (bool first = true; scan.peek() != '}'; first = false) {
    if (!first && !scan.take(',')) return broken();
    const std::string_view key = scan.string();
    if (scan.failed() || !scan.take(':')) return broken();
    bool spaced = false;
    const std::string_view value = scan.value(1, spaced);
    if (scan.failed()) return broken();
    on_member({key, value});
  }
  return {};
}

JsonCutter::JsonCutter(const std::vector<std::string>& pointers) : nodes_(1) {
  for (const auto& pointer : pointers) {
    if (pointer.size() < 2 || pointer[0] != '/') continue;
    const auto tokens = base::split(std::string_view(pointer).substr(1), '/');
    if (tokens.size() > kMaxPointerTokens) continue;
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
    nodes_[at].cut = true;
  }
}

Result<JsonCutResult> JsonCutter::cut(std::string_view object, std::size_t max_depth) const {
  JsonCutResult out;
  out.json.reserve(object.size());
  Cutting cutting(nodes_, object, out);
  cutting.run();
  const Scanner& scan = cutting.scanner();
  if (scan.deepest() > max_depth) {
    return Error(ErrorKind::too_large, fmt::format("nested deeper than {} levels", max_depth));
  }
  if (scan.failed()) {
    return Error(ErrorKind::invalid,
                 fmt::format("not a JSON object, broken at byte {}", scan.position()));
  }
  return out;
}

}  // namespace kubewatch::core
