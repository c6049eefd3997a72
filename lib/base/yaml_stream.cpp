#include "base/yaml_stream.hpp"

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "base/yaml_builder.hpp"
#include "base/yaml_parser.hpp"

namespace kubewatch::base {

namespace {

// They say nothing, but each costs time.
constexpr std::size_t kMaxEmptyDocuments = 100'000;

}  // namespace

Result<void> check_yaml_text(std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.max_bytes) {
    return yaml_error(
        ErrorKind::too_large, {},
        fmt::format("{} bytes, more than the limit of {}", text.size(), limits.max_bytes));
  }
  if (text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff")) {
    return yaml_error(ErrorKind::invalid, {},
                      "it is UTF-16, not UTF-8: iconv -f UTF-16 -t UTF-8 makes it so");
  }
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Char c = next_utf8(text, at);
    if (!c.valid) return yaml_error(ErrorKind::invalid, mark_at(text, at), "not valid UTF-8");
    at += c.size;
  }
  // libyaml compares every %TAG line with all earlier ones.
  constexpr std::size_t kMaxTagLines = 1000;
  std::size_t tag_lines = 0;
  for (std::size_t at = text.find("%TAG"); at != std::string_view::npos;
       at = text.find("%TAG", at + 1)) {
    if ((at == 0 || text[at - 1] == '\n' || text[at - 1] == '\r') && ++tag_lines > kMaxTagLines) {
      return yaml_error(ErrorKind::too_large, mark_at(text, at), "too many %TAG lines");
    }
  }
  return {};
}

Result<std::vector<YamlDocument>> read_yaml_stream(std::string_view text, const YamlLimits& limits,
                                                   bool with_marks, bool& scanner_failed) {
  YamlEventSource events(text);
  YamlBuilder builder(limits, with_marks);
  std::vector<YamlDocument> documents;
  std::size_t empty = 0;
  YamlMark began;
  while (true) {
    auto event = events.next();
    if (!event.ok()) {
      scanner_failed = true;
      return std::move(event).error();
    }
    if ((*event)->type == YAML_STREAM_END_EVENT) return documents;
    if ((*event)->type == YAML_DOCUMENT_START_EVENT) began = mark_of((*event)->start_mark);
    if ((*event)->type == YAML_DOCUMENT_END_EVENT) {
      auto document = builder.take_document();
      if (!document && ++empty > kMaxEmptyDocuments) {
        return yaml_error(ErrorKind::too_large, began,
                          fmt::format("more than {} empty documents", kMaxEmptyDocuments));
      }
      if (document && documents.size() == limits.max_documents) {
        return yaml_error(
            ErrorKind::too_large, began,
            fmt::format("more than {} {}", limits.max_documents, limits.documents_are));
      }
      if (document) documents.push_back(*std::move(document));
      continue;
    }
    KW_TRY(builder.add(**event));
  }
}

Result<Json> read_first_yaml_document(std::string_view text, const YamlLimits& limits,
                                      std::vector<YamlRepeat>& repeated) {
  YamlEventSource events(text);
  YamlBuilder builder(limits, false);
  builder.keep_last(&repeated);
  while (true) {
    KW_ASSIGN(const auto event, events.next());
    if (event->type == YAML_STREAM_END_EVENT || event->type == YAML_DOCUMENT_END_EVENT) {
      auto document = builder.take_document();
      return document ? std::move(document->value) : Json();
    }
    KW_TRY(builder.add(*event));
  }
}

}  // namespace kubewatch::base
