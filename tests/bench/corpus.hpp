// The objects of the benchmarks: Pods of generated Deployments, the same for the same seed, as the
// bytes that a server would send. Lives in one block of memory so that a list is sent from it as it
// is. Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace kubewatch::bench {

// realistic: words that repeat, ids and times that do not. hostile: every free string (names of
// apps, images, containers, environment, labels, paths, nodes) random for each Deployment. small: 1
// KB each.
enum class CorpusKind { realistic, hostile, small };
// Errors: invalid.
Result<CorpusKind> corpus_kind(std::string_view name);

struct PodName {
  std::string namespace_;
  std::string name;
};

class Corpus {
 public:
  Corpus(CorpusKind kind, std::size_t count);

  std::size_t size() const { return items_.size(); }
  // JSON without apiVersion and kind, as an item of a list. Valid while the corpus lives.
  std::string_view item(std::size_t index) const;
  // Its metadata with the braces.
  std::string_view metadata(std::size_t index) const;
  // Items [first, last) with commas between them.
  std::string_view items(std::size_t first, std::size_t last) const;
  const PodName& name(std::size_t index) const { return items_[index].name; }
  // A new resourceVersion (10 digits) and the time it was sent, in nanoseconds since 1970, written
  // into the object in place.
  void touch(std::size_t index, std::uint64_t resource_version, std::uint64_t sent);

  static constexpr std::uint64_t kFirstVersion = 1000000000;

 private:
  struct Item {
    std::size_t begin = 0;
    std::uint32_t size = 0;
    std::uint32_t metadata_size = 0;
    std::uint32_t version_at = 0;
    std::uint32_t sent_at = 0;
    PodName name;
  };
  void add(std::string_view deployment_text, std::string_view name_text, std::string_view ns);

  std::string bytes_;
  std::vector<Item> items_;
};

}  // namespace kubewatch::bench
