#include "base/json_stream.hpp"

#include <fmt/format.h>

#include <set>
#include <string>

namespace kubewatch::base {

namespace {

// The end of the object or array that begins at `begin`; 0 when it does not end.
std::size_t end_of_document(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
}

// Says whether an object of the text has a key twice: the parser itself keeps the last one
// silently.
bool has_duplicate_keys(std::string_view text) {
  std::vector<std::set<std::string>> open;
  bool duplicate = false;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key) {
      duplicate = !open.back().insert(parsed.get<std::string>()).second || duplicate;
    }
    return true;
  };
  // Precondition: the text parses, so nothing is thrown here.
  const Json parsed = Json::parse(text.begin(), text.end(), watch);
  return duplicate && !parsed.is_discarded();
}

}  // namespace

Result<std::vector<JsonAt>> parse_json_stream(std::string_view text, const YamlLimits& limits) {
  std::vector<JsonAt> out;
  constexpr std::string_view kSpace = " \t\r\n";
  std::size_t at = text.find_first_not_of(kSpace);
  while (at != std::string_view::npos) {
    if (text[at] != '{' && text[at] != '[') return Error(ErrorKind::invalid, "not a JSON stream");
    const std::size_t end = end_of_document(text, at);
    if (end == 0) return Error(ErrorKind::invalid, "a JSON document does not end");
    if (out.size() >= limits.max_documents) {
      return Error(ErrorKind::too_large,
                   fmt::format("1:1: more than {} documents", limits.max_documents));
    }
    const std::string_view document = text.substr(at, end - at);
    KW_ASSIGN(Json value, parse_json(document, {limits.max_bytes, limits.max_depth}));
    if (has_duplicate_keys(document)) return Error(ErrorKind::invalid, "a key appears twice");
    out.push_back({std::move(value), at});
    at = text.find_first_not_of(kSpace, end);
  }
  return out;
}

}  // namespace kubewatch::base
