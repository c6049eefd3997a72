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

class Matcher {
 public:
  Matcher(const Lines& a, const Lines& b) : a_(a), b_(b) {
    for (std::size_t j = 0; j < b.size(); ++j) places_[b[j]].push_back(j);
    if (b.size() < kLongText) return;
    const std::size_t often = b.size() / 100 + 1;
    std::erase_if(places_, [&](const auto& line) { return line.second.size() > often; });
  }

  std::vector<Block> blocks() {
    collect(0, a_.size(), 0, b_.size());
    return blocks_;
  }

 private:
  Block longest(std::size_t a1, std::size_t a2, std::size_t b1, std::size_t b2) const {
    Block best{a1, b1, 0};
    std::map<std::size_t, std::size_t> lengths;  // of the block that ends with a line of b
    for (std::size_t i = a1; i < a2; ++i) {
      std::map<std::size_t, std::size_t> next;
      const auto found = places_.find(a_[i]);
      if (found != places_.end()) {
        for (const std::size_t j : found->second) {
          if (j < b1 || j >= b2) continue;
          const auto before = j == 0 ? lengths.end() : lengths.find(j - 1);
          const std::size_t size = before == lengths.end() ? 1 : before->second + 1;
          next[j] = size;
          if (size > best.size) best = {i + 1 - size, j + 1 - size, size};
        }
      }
      lengths = std::move(next);
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
  std::map<std::string, std::vector<std::size_t>> places_;
  std::vector<Block> blocks_;
};

std::vector<Step> steps_of(const Lines& a, const Lines& b) {
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
