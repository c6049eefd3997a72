// What the line-rate server answers: LIST, WATCH and streaming lists of Pods from a corpus, and the
// levers of the benchmark. No sockets: an answer is put into an Output.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "bench/corpus.hpp"
#include "bench/line_output.hpp"

namespace kubewatch::bench {

struct LineRequest {
  std::string method;
  std::string path;
  std::map<std::string, std::string> query;
  bool metadata_only = false;  // Accept asks for PartialObjectMetadata
};
// From a request's head. A target that cannot be read becomes a path that is not found.
LineRequest parse_request(std::string_view head);

// A watch that got everything up to now and waits for updates.
struct OpenWatch {
  Output* output = nullptr;
  bool metadata_only = false;
};

class LineApi {
 public:
  // `corpus` must outlive it and every Output it has filled.
  explicit LineApi(Corpus& corpus) : corpus_(corpus) {}

  // True: the answer goes on as a watch until gone() ends it or the client leaves.
  bool answer(const LineRequest& request, Output& out);

  // An update of the next object for each open watch.
  template <class Watches>
  void update(const Watches& watches, std::uint64_t sent) {
    const std::size_t index = next_object();
    corpus_.touch(index, ++version_, sent);
    for (const OpenWatch& watch : watches) send_event(watch, index);
  }
  // Ends a watch as a server does whose history no longer reaches back.
  void end_as_gone(Output& out) const;

  // Levers, set by POST /bench/gone?changed=PERCENT and /bench/updates?count=N&rate=PER_SECOND.
  bool take_gone();
  std::uint64_t updates_wanted = 0;
  double updates_per_second = 0;

 private:
  void list(const LineRequest& request, Output& out);
  bool watch(const LineRequest& request, Output& out);
  void stream_all(bool metadata_only, Output& out);
  void control(const LineRequest& request, Output& out);
  void change(double percent);
  void send_event(const OpenWatch& watch, std::size_t index) const;
  std::size_t next_object();
  std::uint64_t number(const LineRequest& request, const char* key) const;

  Corpus& corpus_;
  std::uint64_t version_ = 2 * Corpus::kFirstVersion;
  std::uint64_t touched_ = 0;
  std::uint64_t full_states_ = 0;  // lists and streaming lists asked for
  bool gone_ = false;
};

}  // namespace kubewatch::bench
