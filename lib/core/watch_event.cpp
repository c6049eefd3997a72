// Framing: documents out of a byte stream, events and list items out of documents.
#include "core/watch_event.hpp"

#include <vector>

#include "core/json_scan.hpp"

namespace kubewatch::core {
namespace {

// After a document of megabytes the buffer is given back.
constexpr std::size_t kKeptBuffer = 1U << 20U;

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

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

Result<void> read_string_or_null(std::string_view value, std::string& out) {
  out.clear();
  if (value == "null") return {};
  KW_ASSIGN(out, decode_json_string(value));
  return {};
}

Result<void> read_list_metadata(std::string_view value, ListPage& page) {
  page.resource_version.clear();
  page.continue_token.clear();
  if (value == "null") return {};
  return JsonCursor(value).each_field(
      [&](std::string_view key, std::string_view field) -> Result<void> {
        if (key == "resourceVersion") return read_string_or_null(field, page.resource_version);
        if (key == "continue") return read_string_or_null(field, page.continue_token);
        return {};
      });
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

std::size_t JsonSplitter::scan(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (in_string_) {
      if (escaped_) {
        escaped_ = false;
      } else if (c == '\\') {
        escaped_ = true;
      } else if (c == '"') {
        in_string_ = false;
      }
    } else if (c == '"') {
      in_string_ = true;
    } else if (c == '{' || c == '[') {
      ++depth_;
    } else if ((c == '}' || c == ']') && --depth_ == 0) {
      return i + 1;
    }
  }
  return std::string_view::npos;
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
    buffer_.clear();
    if (buffer_.capacity() > kKeptBuffer) buffer_ = std::string();
  }
  return {};
}

Result<void> JsonSplitter::feed(std::string_view bytes,
                                const std::function<void(std::string_view)>& on_document) {
  if (failed_) return Error(ErrorKind::invalid, "the stream is already broken");
  while (!bytes.empty()) {
    if (depth_ == 0) {
      if (is_space(bytes.front())) {
        bytes.remove_prefix(1);
        continue;
      }
      if (bytes.front() != '{' && bytes.front() != '[') {
        failed_ = true;
        return Error(ErrorKind::invalid, "the stream holds something else than JSON objects");
      }
    }
    const std::size_t length = scan(bytes);
    const bool complete = length != std::string_view::npos;
    if (auto taken = take(bytes.substr(0, length), complete, on_document); !taken.ok()) {
      failed_ = true;
      return taken;
    }
    if (!complete) return {};
    bytes.remove_prefix(length);
  }
  return {};
}

Result<ListPage> parse_list(std::string_view body,
                            const std::function<void(std::string_view)>& on_item) {
  ListPage page;
  std::vector<std::string_view> items;
  bool has_items = false;
  JsonCursor cursor(body);
  const auto on_field = [&](std::string_view key, std::string_view value) -> Result<void> {
    if (key == "apiVersion") return read_string_or_null(value, page.api_version);
    if (key == "kind") return read_string_or_null(value, page.kind);
    if (key == "metadata") return read_list_metadata(value, page);
    if (key != "items") return {};
    has_items = true;
    items.clear();
    if (value == "null") return {};
    return JsonCursor(value).each_element([&](std::string_view item) -> Result<void> {
      items.push_back(item);
      return {};
    });
  };
  KW_TRY(cursor.each_field(on_field));
  KW_TRY(cursor.expect_end());
  if (!has_items && !page.kind.ends_with("List")) {
    return Error(ErrorKind::invalid, "the server answered with " +
                                         (page.kind.empty() ? "something" : "a " + page.kind) +
                                         " where a list is expected");
  }
  for (std::string_view item : items) on_item(item);
  return page;
}

}  // namespace kubewatch::core
