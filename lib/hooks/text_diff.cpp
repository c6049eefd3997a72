// The longest common subsequence of lines, by dynamic programming on what is between equal ends.
#include "hooks/text_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kubewatch::hooks {

namespace {

constexpr std::size_t kMaxCells = 4'000'000;

using Lines = std::vector<std::string_view>;

Lines lines_of(std::string_view text) {
  Lines out;
  while (!text.empty()) {
    const auto end = text.find('\n');
    out.push_back(text.substr(0, end));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return out;
}

struct Edit {
  char sign;  // ' ', '-', '+'
  std::string_view line;
};

void replace_all(const Lines& a, const Lines& b, std::vector<Edit>& out) {
  for (const auto line : a) out.push_back({'-', line});
  for (const auto line : b) out.push_back({'+', line});
}

void diff_middle(const Lines& a, const Lines& b, std::vector<Edit>& out) {
  if (a.size() * b.size() > kMaxCells) return replace_all(a, b, out);
  const std::size_t width = b.size() + 1;
  std::vector<std::uint32_t> common((a.size() + 1) * width, 0);  // of the rests from (i, j)
  for (std::size_t i = a.size(); i-- > 0;) {
    for (std::size_t j = b.size(); j-- > 0;) {
      common[i * width + j] =
          a[i] == b[j] ? common[(i + 1) * width + j + 1] + 1
                       : std::max(common[(i + 1) * width + j], common[i * width + j + 1]);
    }
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      out.push_back({' ', a[i++]});
      ++j;
    } else if (j == b.size() ||
               (i < a.size() && common[(i + 1) * width + j] >= common[i * width + j + 1])) {
      out.push_back({'-', a[i++]});
    } else {
      out.push_back({'+', b[j++]});
    }
  }
}

std::vector<Edit> edits_of(const Lines& a, const Lines& b) {
  std::size_t head = 0;
  while (head < a.size() && head < b.size() && a[head] == b[head]) ++head;
  std::size_t tail = 0;
  while (tail < a.size() - head && tail < b.size() - head &&
         a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) {
    ++tail;
  }
  std::vector<Edit> out;
  for (std::size_t i = 0; i < head; ++i) out.push_back({' ', a[i]});
  const auto middle = [&](const Lines& all) {
    return Lines(all.begin() + static_cast<std::ptrdiff_t>(head),
                 all.end() - static_cast<std::ptrdiff_t>(tail));
  };
  diff_middle(middle(a), middle(b), out);
  for (std::size_t i = a.size() - tail; i < a.size(); ++i) out.push_back({' ', a[i]});
  return out;
}

}  // namespace

std::string unified_diff(std::string_view before, std::string_view after, std::size_t context) {
  const auto edits = edits_of(lines_of(before), lines_of(after));
  std::string out;
  std::size_t old_line = 1;
  std::size_t new_line = 1;
  for (std::size_t i = 0; i < edits.size();) {
    if (edits[i].sign == ' ') {
      ++i;
      ++old_line;
      ++new_line;
      continue;
    }
    // A hunk: from some lines before this change until `context` equal lines on both sides follow.
    const std::size_t lead = std::min(context, std::min(old_line, new_line) - 1);
    const std::size_t begin = i - std::min(lead, i);
    std::size_t end = i;
    for (std::size_t last = i; end < edits.size(); ++end) {
      if (edits[end].sign != ' ') last = end;
      if (end - last > 2 * context) break;
    }
    while (end > i && edits[end - 1].sign == ' ') --end;
    const std::size_t stop = std::min(edits.size(), end + context);
    std::string body;
    std::size_t removed = 0;
    std::size_t added = 0;
    for (std::size_t k = begin; k < stop; ++k) {
      body += fmt::format("{}{}\n", edits[k].sign, edits[k].line);
      removed += edits[k].sign != '+' ? 1 : 0;
      added += edits[k].sign != '-' ? 1 : 0;
    }
    const std::size_t before_hunk = i - begin;
    const std::size_t old_at = old_line - before_hunk;
    const std::size_t new_at = new_line - before_hunk;
    out += fmt::format("@@ -{},{} +{},{} @@\n", removed == 0 ? old_at - 1 : old_at, removed,
                       added == 0 ? new_at - 1 : new_at, added) +
           body;
    old_line = old_at + removed;
    new_line = new_at + added;
    i = stop;
  }
  return out;
}

}  // namespace kubewatch::hooks
