#include "cel/issues.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace kubewatch::cel {

namespace {

constexpr std::size_t kMaxIssues = 100;
constexpr std::size_t kMaxSnippet = 16384;

struct Place {
  std::size_t line = 1;
  std::size_t column = 0;      // code points
  std::size_t line_begin = 0;  // bytes
};

Place place_of(std::string_view source, std::uint32_t offset) {
  Place place;
  std::size_t at = 0;
  for (std::uint32_t i = 0; i < offset && at < source.size(); ++i) {
    const bool newline = source[at] == '\n';
    at += base::next_utf8(source, at).size;
    ++place.column;
    if (newline) place = {place.line + 1, 0, at};
  }
  return place;
}

// Dots up to the place and a caret below it; wide ones below characters beyond ASCII.
std::string pointer(std::string_view line, std::size_t column) {
  std::string out;
  std::size_t at = 0;
  for (std::size_t i = 0; i < column && at < line.size(); ++i) {
    const auto size = base::next_utf8(line, at).size;
    out += size > 1 ? "\xEF\xBC\x8E" : ".";
    at += size;
  }
  const bool wide = at < line.size() && base::next_utf8(line, at).size > 1;
  return out + (wide ? "\xEF\xBC\xBE" : "^");
}

}  // namespace

void Issues::add(std::uint32_t offset, std::string message) {
  for (const auto& issue : issues_) {
    if (issue.placed && issue.offset == offset && issue.message == message) return;
  }
  if (issues_.size() < kMaxIssues) issues_.push_back({true, offset, std::move(message)});
}

void Issues::add_general(std::string message) {
  if (issues_.size() < kMaxIssues) issues_.push_back({false, 0, std::move(message)});
}

std::string Issues::render(const Issue& issue) const {
  if (!issue.placed) return "ERROR: <input>:-1:0: " + issue.message;
  const auto place = place_of(source_, issue.offset);
  std::string out = "ERROR: <input>:" + std::to_string(place.line) + ":" +
                    std::to_string(place.column + 1) + ": " + issue.message;
  const auto end = source_.find('\n', place.line_begin);
  std::string line(source_.substr(place.line_begin, end == std::string_view::npos
                                                        ? std::string_view::npos
                                                        : end - place.line_begin));
  if (line.size() > kMaxSnippet) return out;
  std::replace(line.begin(), line.end(), '\t', ' ');
  return out + "\n | " + line + "\n | " + pointer(line, place.column);
}

std::string Issues::render() const {
  std::vector<Issue> sorted = issues_;
  std::stable_sort(sorted.begin(), sorted.end(), [](const Issue& left, const Issue& right) {
    if (left.placed != right.placed) return right.placed;
    return left.offset < right.offset;
  });
  std::string out;
  for (const auto& issue : sorted) {
    if (!out.empty()) out += "\n";
    out += render(issue);
  }
  return out;
}

}  // namespace kubewatch::cel
