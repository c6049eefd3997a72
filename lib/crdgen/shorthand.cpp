#include "crdgen/shorthand.hpp"

#include <fmt/format.h>

#include <cmath>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "base/yaml.hpp"
#include "base/yaml_scalar.hpp"

namespace kubewatch::crdgen {

namespace {

constexpr std::size_t kMaxNesting = 16;

bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_name_char(char c) {
  return base::is_alphanumeric(c) || c == '_' || c == '.' || c == '-';
}

class Parser {
 public:
  Parser(std::string_view text, const ReportAt& report) : text_(text), report_(report) {}

  bool parse(FieldText& into) {
    into.type = either(0);
    skip_space();
    if (ok_ && at_ < text_.size()) {
      if (text_[at_] == '|') {
        ++at_;
        markers(into.markers);
      } else {
        problem(at_, fmt::format("unexpected {}: markers stand after \" | \"", rest()));
      }
    }
    return ok_;
  }

 private:
  std::string rest() const {
    std::size_t end = at_;
    while (end < text_.size() && !is_space(text_[end])) ++end;
    return "\"" +
           base::escape_for_terminal(text_.substr(at_, std::min<std::size_t>(end - at_, 40))) +
           "\"";
  }
  void problem(std::size_t at, const std::string& message) {
    report_(at, message);
    ok_ = false;
  }
  void skip_space() {
    while (at_ < text_.size() && is_space(text_[at_])) ++at_;
  }
  bool take(std::string_view word) {
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }
  bool take_or() {
    skip_space();
    if (text_.substr(at_, 2) != "or" || at_ + 2 >= text_.size() || !is_space(text_[at_ + 2])) {
      return false;
    }
    at_ += 2;
    return true;
  }

  TypeText either(std::size_t depth) {
    TypeText first = one(depth);
    if (!ok_ || !take_or()) return first;
    TypeText out{TypeText::Form::either, "", {std::move(first)}, at_};
    out.at = out.parts.front().at;
    do {
      out.parts.push_back(one(depth));
    } while (ok_ && take_or());
    return out;
  }

  TypeText one(std::size_t depth) {
    skip_space();
    TypeText out;
    out.at = at_;
    if (depth > kMaxNesting) {
      problem(at_, "lists and maps are nested too deep: name the inner type");
      return out;
    }
    if (take("[]")) {
      out.form = TypeText::Form::list;
      out.parts.push_back(one(depth + 1));
    } else if (take("map[string]")) {
      out.form = TypeText::Form::map;
      out.parts.push_back(one(depth + 1));
    } else if (take("map[")) {
      problem(out.at, "keys of maps are strings: write map[string]T");
    } else if (take("(")) {
      out = either(depth + 1);
      skip_space();
      if (ok_ && !take(")")) problem(at_, "a \")\" is missing");
    } else {
      while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
      out.name = std::string(text_.substr(out.at, at_ - out.at));
      if (out.name.empty())
        problem(at_, at_ == text_.size() ? "a type is missing" : "expected a type, not " + rest());
    }
    return out;
  }

  void markers(std::vector<Marker>& into) {
    while (true) {
      skip_space();
      if (at_ >= text_.size()) return;
      Marker marker;
      marker.at = at_;
      while (at_ < text_.size() && is_name_char(text_[at_])) ++at_;
      marker.name = std::string(text_.substr(marker.at, at_ - marker.at));
      if (marker.name.empty()) {
        problem(at_, "expected a marker, not " + rest());
        return;
      }
      if (take("=") && !value(marker.value)) return;
      into.push_back(std::move(marker));
    }
  }

  // From the opening bracket or quote to its end; npos when it has none.
  std::size_t end_of_flow() const {
    std::vector<char> open;
    for (std::size_t i = at_; i < text_.size(); ++i) {
      const char c = text_[i];
      const bool in_quotes = !open.empty() && (open.back() == '"' || open.back() == '\'');
      if (in_quotes) {
        if (c == '\\' && open.back() == '"') {
          ++i;
        } else if (c == open.back()) {
          open.pop_back();
        }
      } else if (c == '"' || c == '\'') {
        open.push_back(c);
      } else if (c == '[' || c == '{') {
        open.push_back(c);
      } else if (c == ']' || c == '}') {
        if (open.empty()) return std::string_view::npos;
        open.pop_back();
      }
      if (open.empty()) return i + 1;
    }
    return std::string_view::npos;
  }

  bool value(Json& into) {
    const std::size_t start = at_;
    if (start < text_.size() &&
        std::string_view("\"'[{").find(text_[start]) != std::string_view::npos) {
      const std::size_t end = end_of_flow();
      if (end == std::string_view::npos) {
        problem(start, "this value does not end");
        return false;
      }
      at_ = end;
      auto parsed = base::parse_yaml_values(text_.substr(start, end - start));
      if (!parsed.ok() || parsed->size() != 1) {
        problem(start, "cannot read this value: " +
                           (parsed.ok() ? "it is empty" : parsed.error().message()));
        return false;
      }
      into = std::move(parsed->front());
      return true;
    }
    while (at_ < text_.size() && !is_space(text_[at_])) ++at_;
    if (at_ == start) {
      problem(start, "a value is missing after \"=\"; write \"\" for an empty text");
      return false;
    }
    into = base::resolve_plain_scalar(text_.substr(start, at_ - start));
    if (into.is_number_float() && !std::isfinite(into.get<double>())) {
      problem(start, fmt::format("{} is a number that JSON does not have",
                                 text_.substr(start, at_ - start)));
      return false;
    }
    return true;
  }

  std::string_view text_;
  const ReportAt& report_;
  std::size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace

bool parse_field_text(std::string_view text, FieldText& into, const ReportAt& report) {
  return Parser(text, report).parse(into);
}

std::string marker_value(const Json& value) {
  if (!value.is_string()) return base::dump_json(value);
  const auto& text = value.get_ref<const std::string&>();
  const bool bare = !text.empty() &&
                    text.find_first_of(" \t\r\n\"'[]{}|#,:&*!%@`\\") == std::string::npos &&
                    base::resolve_plain_scalar(text).is_string();
  return bare ? text : base::dump_json(value);
}

}  // namespace kubewatch::crdgen
