// libyaml's events as C++ values; owns the parser and the current event. Private to base.
#pragma once

#include <yaml.h>

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "base/yaml.hpp"

namespace kubewatch::base {

class YamlEventSource {
 public:
  // `text` must outlive this object and be valid UTF-8.
  explicit YamlEventSource(std::string_view text);
  YamlEventSource(const YamlEventSource&) = delete;
  YamlEventSource& operator=(const YamlEventSource&) = delete;
  ~YamlEventSource();

  // The next event, valid until the next call. Errors: invalid, "LINE:COLUMN: what".
  Result<const yaml_event_t*> next();

 private:
  Error parser_error() const;

  std::string_view text_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool has_event_ = false;
};

YamlMark mark_of(const yaml_mark_t& mark);
// The mark of a byte offset.
YamlMark mark_at(std::string_view text, std::size_t offset);

// The marks of offsets that grow: all of them cost one walk through the text.
class YamlMarkWalk {
 public:
  explicit YamlMarkWalk(std::string_view text) : text_(text) {}
  // `offset` is not in front of the last one.
  YamlMark at(std::size_t offset);

 private:
  std::string_view text_;
  std::size_t at_ = 0;
  YamlMark mark_;
};

Error yaml_error(ErrorKind kind, YamlMark mark, std::string_view what);

}  // namespace kubewatch::base
