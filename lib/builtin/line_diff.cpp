#include "builtin/line_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/strings.hpp"

namespace kubewatch::builtin {

namespace {

using Lines = std::vector<std::string>;

struct Block {
  std::size_t a = 0, b = 0, size = 0;
};

// A stretch of both sides, the same or not.
struct Step {
  bool equal = false;
  std::size_t a1 = 0, a2 = 0, b1 = 0, b2 = 0;
};

constexpr std::size_t kContext = 3;
// Of texts this long, lines that are there often begin no block: the server's library leaves them
// out to be fast, and what it shows depends on it.
constexpr std::size_t kLongText = 200;
// Of texts longer than this together only the first and the last difference are looked for: the
// rest takes time that grows with their square, and nobody reads it.
constexpr std::size_t kMostLines = 4000;
const std::vector<std::size_t> kNowhere;

class Matcher {
 public:
  Matcher(const Lines& a, const Lines& b) : a_(a), b_(b) {
    for (std::size_t j = 0; j < b.size(); ++j) places_[b[j]].push_back(j);
    if (b.size() >= kLongText) {
      const std::size_t often = b.size() / 100 + 1;
      std::erase_if(places_, [&](const auto& line) { return line.second.size() > often; });
    }
    for (const std::string& line : a) {
      const auto found = places_.find(line);
      places_of_.push_back(found == places_.end() ? nullptr : &found->second);
    }
  }

  std::vector<Block> blocks() {
    collect(0, a_.size(), 0, b_.size());
    return blocks_;
  }

 private:
  Block longest(std::size_t a1, std::size_t a2, std::size_t b1, std::size_t b2) const {
    Block best{a1, b1, 0};
    // Of the block that ends before line j of b; those of the line of a before are read.
    std::vector<std::size_t> lengths(b2 + 1);
    std::vector<std::size_t> next(b2 + 1);
    const std::vector<std::size_t>* last = nullptr;
    for (std::size_t i = a1; i < a2; ++i) {
      const std::vector<std::size_t>* places = places_of_[i];
      for (std::size_t j : places == nullptr ? kNowhere : *places) {
        if (j < b1 || j >= b2) continue;
        const std::size_t size = lengths[j] + 1;
        next[j + 1] = size;
        if (size > best.size) best = {i + 1 - size, j + 1 - size, size};
      }
      for (const std::size_t j : last == nullptr ? kNowhere : *last) {
        if (j < b2) lengths[j + 1] = 0;
      }
      std::swap(lengths, next);
      last = places;
    }
    while (best.a > a1 && best.b > b1 && a_[best.a - 1] == b_[best.b - 1]) {
      best = {best.a - 1, best.b - 1, best.size + 1};
    }
    while (best.a + best.size < a2 && best.b + best.size < b2 &&
           a_[best.a + best.size] == b_[best.b + best.size]) {
      ++best.size;
    }
    return best;
  }

  void collect(std::size_t a1, std::size_t a2, std::size_t b1, std::size_t b2) {
    const Block block = longest(a1, a2, b1, b2);
    if (block.size == 0) return;
    if (a1 < block.a && b1 < block.b) collect(a1, block.a, b1, block.b);
    blocks_.push_back(block);
    const std::size_t a = block.a + block.size;
    const std::size_t b = block.b + block.size;
    if (a < a2 && b < b2) collect(a, a2, b, b2);
  }

  const Lines& a_;
  const Lines& b_;
  std::map<std::string, std::vector<std::size_t>> places_;  // of the lines of b
  std::vector<const std::vector<std::size_t>*> places_of_;  // of a line of a in b; null: nowhere
  std::vector<Block> blocks_;
};

// What is the same at both ends, and all between as one difference.
std::vector<Step> ends_of(const Lines& a, const Lines& b) {
  const std::size_t most = std::min(a.size(), b.size());
  std::size_t head = 0;
  while (head < most && a[head] == b[head]) ++head;
  std::size_t tail = 0;
  while (tail < most - head && a[a.size() - 1 - tail] == b[b.size() - 1 - tail]) ++tail;
  std::vector<Step> steps;
  if (head > 0) steps.push_back({true, 0, head, 0, head});
  steps.push_back({false, head, a.size() - tail, head, b.size() - tail});
  if (tail > 0) steps.push_back({true, a.size() - tail, a.size(), b.size() - tail, b.size()});
  return steps;
}

std::vector<Step> steps_of(const Lines& a, const Lines& b) {
  if (a.size() + b.size() > kMostLines) return ends_of(a, b);
  std::vector<Step> steps;
  std::size_t i = 0;
  std::size_t j = 0;
  auto blocks = Matcher(a, b).blocks();
  blocks.push_back({a.size(), b.size(), 0});
  for (const Block& block : blocks) {
    if (i < block.a || j < block.b) steps.push_back({false, i, block.a, j, block.b});
    i = block.a + block.size;
    j = block.b + block.size;
    if (block.size == 0) continue;
    // Neighbours are one.
    if (!steps.empty() && steps.back().equal) {
      steps.back().a2 = i;
      steps.back().b2 = j;
    } else {
      steps.push_back({true, block.a, i, block.b, j});
    }
  }
  return steps;
}

// Steps that are shown together.
std::vector<std::vector<Step>> hunks_of(std::vector<Step> steps) {
  if (!steps.empty() && steps.front().equal) {
    Step& first = steps.front();
    first.a1 = std::max(first.a1, first.a2 - std::min(first.a2, kContext));
    first.b1 = std::max(first.b1, first.b2 - std::min(first.b2, kContext));
  }
  if (!steps.empty() && steps.back().equal) {
    Step& last = steps.back();
    last.a2 = std::min(last.a2, last.a1 + kContext);
    last.b2 = std::min(last.b2, last.b1 + kContext);
  }
  std::vector<std::vector<Step>> hunks(1);
  for (Step step : steps) {
    if (step.equal && step.a2 - step.a1 > 2 * kContext) {
      hunks.back().push_back({true, step.a1, step.a1 + kContext, step.b1, step.b1 + kContext});
      hunks.emplace_back();
      step.a1 = step.a2 - kContext;
      step.b1 = step.b2 - kContext;
    }
    hunks.back().push_back(step);
  }
  return hunks;
}

std::string range_text(std::size_t first, std::size_t end) {
  const std::size_t length = end - first;
  if (length == 1) return std::to_string(first + 1);
  return fmt::format("{},{}", length == 0 ? first : first + 1, length);
}

}  // namespace

std::string line_diff(const std::string& before, const std::string& after) {
  if (before == after) return "";
  const Lines a = base::split(before, '\n');
  const Lines b = base::split(after, '\n');
  std::string out;
  for (const auto& hunk : hunks_of(steps_of(a, b))) {
    const Step& first = hunk.front();
    const Step& last = hunk.back();
    if (hunk.size() == 1 && first.equal) continue;
    out += fmt::format("@@ -{} +{} @@\n", range_text(first.a1, last.a2),
                       range_text(first.b1, last.b2));
    for (const Step& step : hunk) {
      for (std::size_t i = step.a1; i < step.a2; ++i) {
        out += (step.equal ? " " : "-") + a[i] + "\n";
      }
      for (std::size_t j = step.b1; !step.equal && j < step.b2; ++j) out += "+" + b[j] + "\n";
    }
  }
  return out;
}

}  // namespace kubewatch::builtin
