#include "schema/field_path.hpp"

#include <optional>

namespace kubewatch::schema {

namespace {

// Splits at '.', '[' and ']', which are tokens of their own; quoted text is one token.
class Tokens {
 public:
  explicit Tokens(std::string_view text) : text_(text) {}

  std::optional<std::string> next() {
    if (text_.empty()) return std::nullopt;
    std::size_t end = 0;
    if (text_[0] == '\'') {
      end = 1;
      while (end < text_.size() && (text_[end] != '\'' || text_[end - 1] == '\\')) ++end;
      end = std::min(end + 1, text_.size());
    } else {
      end = std::min(text_.find_first_of(".[]"), text_.size());
      if (end == 0) end = 1;
    }
    std::string token(text_.substr(0, end));
    text_.remove_prefix(end);
    return token;
  }

 private:
  std::string_view text_;
};

Error wrong(const std::string& why) {
  return Error(ErrorKind::invalid, why);
}

Result<std::string> unquoted(const std::string& token) {
  if (token.size() < 2 || token.front() != '\'' || token.back() != '\'') {
    return wrong("expected single quoted string but got " + token);
  }
  std::string out;
  for (std::size_t i = 1; i + 1 < token.size(); ++i) {
    if (token[i] != '\\') {
      out += token[i];
      continue;
    }
    ++i;
    if (token[i] != '\\' && token[i] != '\'') {
      return wrong("invalid string literal: unsupported escape sequence \\" +
                   std::string(1, token[i]));
    }
    out += token[i];
  }
  return out;
}

Result<void> step(const std::string& name, FoundField& at) {
  const Structural& schema = *at.schema;
  if (!schema.properties.empty()) {
    const auto it = schema.properties.find(name);
    if (it == schema.properties.end()) return wrong("does not refer to a valid field");
    at.path += (at.path.empty() ? "" : ".") + name;
    at.schema = it->second.get();
  } else if (schema.additional_properties) {
    at.path += "[" + name + "]";
    at.schema = schema.additional_properties.get();
  } else {
    return wrong("does not refer to a valid field");
  }
  if (at.root.empty()) at.root = name;
  return {};
}

}  // namespace

Result<FoundField> find_field(std::string_view path, const Structural& schema,
                              bool allow_brackets) {
  FoundField at;
  at.schema = &schema;
  Tokens tokens(path);
  const Error cut_off = wrong("unexpected end of JSON path");
  while (const auto token = tokens.next()) {
    if (*token == "[") {
      if (!allow_brackets) return wrong("array notation is not allowed");
      const auto name = tokens.next();
      if (!name) return cut_off;
      KW_ASSIGN(const std::string key, unquoted(*name));
      KW_TRY(step(key, at));
      const auto close = tokens.next();
      if (!close) return cut_off;
      if (*close != "]") return wrong("expected ] but got " + *close);
    } else if (*token == ".") {
      const auto name = tokens.next();
      if (!name) return cut_off;
      KW_TRY(step(*name, at));
    } else {
      return wrong("expected [ or . but got: " + *token);
    }
  }
  return at;
}

}  // namespace kubewatch::schema
