#include "base/yaml_parser.hpp"

#include <fmt/format.h>

#include <new>

#include "base/utf8.hpp"

namespace kubewatch::base {

YamlMark mark_of(const yaml_mark_t& mark) {
  return {mark.line + 1, mark.column + 1};
}

YamlMark YamlMarkWalk::at(std::size_t offset) {
  while (at_ < offset && at_ < text_.size()) {
    const Utf8Char c = next_utf8(text_, at_);
    if (c.code == U'\n' && c.valid) {
      ++mark_.line;
      mark_.column = 1;
    } else {
      ++mark_.column;
    }
    at_ += c.size;
  }
  return mark_;
}

YamlMark mark_at(std::string_view text, std::size_t offset) {
  return YamlMarkWalk(text).at(offset);
}

Error yaml_error(ErrorKind kind, YamlMark mark, std::string_view what) {
  return Error(kind, fmt::format("{}:{}: {}", mark.line, mark.column, what));
}

namespace {

// libyaml says of it that it "cannot start any token".
bool is_indented_by_tab(std::string_view text, YamlMark at) {
  for (std::size_t i = 1; i < at.line; ++i) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) return false;
    text.remove_prefix(end + 1);
  }
  const std::string_view before = text.substr(0, at.column);
  return before.find_first_not_of(" \t") == std::string_view::npos &&
         before.find('\t') != std::string_view::npos;
}

}  // namespace

YamlEventSource::YamlEventSource(std::string_view text) : text_(text) {
  if (yaml_parser_initialize(&parser_) == 0) throw std::bad_alloc();
  yaml_parser_set_encoding(&parser_, YAML_UTF8_ENCODING);
  yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                               text.size());
}

YamlEventSource::~YamlEventSource() {
  if (has_event_) yaml_event_delete(&event_);
  yaml_parser_delete(&parser_);
}

Result<const yaml_event_t*> YamlEventSource::next() {
  if (has_event_) yaml_event_delete(&event_);
  has_event_ = yaml_parser_parse(&parser_, &event_) != 0;
  if (!has_event_) return parser_error();
  return static_cast<const yaml_event_t*>(&event_);
}

Error YamlEventSource::parser_error() const {
  if (parser_.error == YAML_MEMORY_ERROR) throw std::bad_alloc();
  const std::string what = parser_.problem != nullptr ? parser_.problem : "not valid YAML";
  if (parser_.error == YAML_READER_ERROR) {
    return yaml_error(ErrorKind::invalid, mark_at(text_, parser_.problem_offset), what);
  }
  const YamlMark at = mark_of(parser_.problem_mark);
  if (parser_.error == YAML_SCANNER_ERROR && is_indented_by_tab(text_, at)) {
    return yaml_error(ErrorKind::invalid, at, "a tab: YAML is indented by blanks alone");
  }
  if (parser_.context == nullptr) {
    return yaml_error(ErrorKind::invalid, at, what);
  }
  const YamlMark from = mark_of(parser_.context_mark);
  return yaml_error(
      ErrorKind::invalid, at,
      fmt::format("{} {} that began at {}:{}", what, parser_.context, from.line, from.column));
}

}  // namespace kubewatch::base
