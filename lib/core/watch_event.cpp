// Framing: documents out of a byte stream, events out of documents.
#include "core/watch_event.hpp"

#include "core/json_scan.hpp"
#include "core/kept_buffer.hpp"

namespace kubewatch::core {
namespace {

WatchEventType type_of(std::string_view name) {
  if (name == "ADDED") return WatchEventType::added;
  if (name == "MODIFIED") return WatchEventType::modified;
  if (name == "DELETED") return WatchEventType::deleted;
  if (name == "BOOKMARK") return WatchEventType::bookmark;
  if (name == "ERROR") return WatchEventType::error;
  return WatchEventType::unknown;
}

std::string_view without_quotes(std::string_view literal) {
  return literal.substr(1, literal.size() - 2);
}

}  // namespace

Result<WatchEvent> parse_watch_event(std::string_view document) {
  WatchEvent event;
  JsonCursor cursor(document);
  KW_TRY(cursor.each_field([&](std::string_view key, std::string_view value) -> Result<void> {
    if (key == "object") event.object = value;
    if (key != "type") return {};
    if (value.size() < 2 || value.front() != '"') {
      return Error(ErrorKind::invalid, "the type of a watch event is not a string");
    }
    event.type_name = without_quotes(value);
    return {};
  }));
  KW_TRY(cursor.expect_end());
  if (event.type_name.empty()) return Error(ErrorKind::invalid, "a watch event has no type");
  if (event.object.empty() || event.object.front() != '{') {
    return Error(ErrorKind::invalid, "a watch event has no object");
  }
  event.type = type_of(event.type_name);
  return event;
}

Result<void> JsonSplitter::take(std::string_view part, bool complete,
                                const std::function<void(std::string_view)>& on_document) {
  if (part.size() > max_document_ - buffer_.size()) {
    return Error(ErrorKind::too_large, "a document in the stream is larger than the limit of " +
                                           std::to_string(max_document_) + " bytes");
  }
  if (!complete) {
    buffer_.append(part);
  } else if (buffer_.empty()) {
    on_document(part);
  } else {
    buffer_.append(part);
    on_document(buffer_);
    empty_buffer(buffer_);
  }
  return {};
}

Result<void> JsonSplitter::feed(std::string_view bytes,
                                const std::function<void(std::string_view)>& on_document) {
  if (failed_) return Error(ErrorKind::invalid, "the stream is already broken");
  while (!bytes.empty()) {
    if (!end_.begun()) {
      if (is_json_space(bytes.front())) {
        bytes.remove_prefix(1);
        continue;
      }
      if (bytes.front() != '{' && bytes.front() != '[') {
        failed_ = true;
        return Error(ErrorKind::invalid, "the stream holds something else than JSON objects");
      }
    }
    const std::size_t length = end_.feed(bytes);
    const bool complete = length != JsonValueEnd::kGoesOn;
    if (complete) end_.reset();
    if (auto taken = take(bytes.substr(0, length), complete, on_document); !taken.ok()) {
      failed_ = true;
      return taken;
    }
    if (!complete) return {};
    bytes.remove_prefix(length);
  }
  return {};
}

}  // namespace kubewatch::core
