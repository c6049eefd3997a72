// What is wrong with an expression, shown as cel-go shows it: a line with the place, the line of
// the source, and a caret under it. Users compare these with the API server's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kubewatch::cel {

class Issues {
 public:
  explicit Issues(std::string_view source) : source_(source) {}
  void add(std::uint32_t offset, std::string message);
  // One that has no place.
  void add_general(std::string message);
  bool empty() const { return issues_.empty(); }
  std::size_t size() const { return issues_.size(); }
  // All of them, in the order of their places, joined by newlines.
  std::string render() const;

 private:
  struct Issue {
    bool placed = false;
    std::uint32_t offset = 0;
    std::string message;
  };
  std::string render(const Issue& issue) const;

  std::string_view source_;
  std::vector<Issue> issues_;
};

}  // namespace kubewatch::cel
