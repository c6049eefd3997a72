// One event of a watch stream, and the splitter that finds them in bytes cut at any place (P4).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "core/json_scan.hpp"

namespace kubewatch::core {

enum class WatchEventType { added, modified, deleted, bookmark, error, unknown };

// `object` points into the caller's buffer: valid during the callback only.
struct WatchEvent {
  WatchEventType type = WatchEventType::unknown;
  std::string_view type_name;  // as sent
  std::string_view object;     // one JSON object
};

// {"type": ..., "object": {...}} -> WatchEvent. Errors: invalid.
Result<WatchEvent> parse_watch_event(std::string_view document);

// Splits a byte stream into top-level JSON objects and arrays, in any framing (lines, none,
// whitespace), with O(bytes) work however it is chunked. Finds ends only: whoever parses a document
// finds what is wrong in it.
class JsonSplitter {
 public:
  explicit JsonSplitter(std::size_t max_document = 64U << 20U) : max_document_(max_document) {}
  // Calls `on_document` for each complete value; the view is valid during the call. Errors:
  // too_large, invalid (garbage between values); after an error the stream cannot go on.
  Result<void> feed(std::string_view bytes,
                    const std::function<void(std::string_view)>& on_document);
  // Bytes of an unfinished document.
  std::size_t pending() const { return buffer_.size(); }

 private:
  Result<void> take(std::string_view part, bool complete,
                    const std::function<void(std::string_view)>& on_document);

  std::size_t max_document_;
  std::string buffer_;  // the part of a document that came in earlier chunks; never scanned again
  JsonValueEnd end_;
  bool failed_ = false;
};

}  // namespace kubewatch::core
