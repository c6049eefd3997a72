// A recording as the server it was taken from: discovery, lists, single objects, and what its
// watches told, in the recorded order. Commands that only read run on it without a cluster. Not the
// replay of rules, whose writes must be answered (replay.hpp). Pure.
//
// What a stream had listed first is its state from the beginning; later entries are steps. A second
// list of the recorded stream means that it had lost its place: the step is a loss, and who lists
// again gets the new state. Single objects that were read and written (apply-ssa) are marked: there
// the next reading is the step from one state to the other.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "base/result.hpp"
#include "core/resource.hpp"
#include "core/selector.hpp"
#include "hooks/recorded_request.hpp"

namespace kubewatch::rehearsal {

using hooks::ApiTarget;

class RecordedServer {
 public:
  // Errors: invalid (no recording).
  static Result<RecordedServer> load(std::string_view bytes);

  struct Answer {
    int status = 200;
    std::string body;
  };
  // Of anything but a watch. What a recording cannot answer is refused: writes, selectors that were
  // not recorded and that only a server could evaluate.
  Answer answer(const std::string& method, const std::string& url) const;

  // What a watch is of. Errors: not_found (nothing of it was recorded); forbidden (it was recorded
  // by single names, and is asked for as a whole).
  struct Interest {
    int stream = 0;
    std::string namespace_;
    core::LabelSelector labels;
    core::FieldSelector fields;
  };
  Result<Interest> interest_of(const ApiTarget& target) const;

  // The next step that counts for a stream of `streams`; others are taken in on the way.
  struct Step {
    int stream = 0;
    bool lost = false;  // the place is gone: 410
    std::string type;   // ADDED, MODIFIED, DELETED, BOOKMARK
    Json object;
    std::optional<Json> before;  // the state of the same object before
  };
  std::optional<Step> next(const std::set<int>& streams);
  bool at_end() const { return cursor_ == lines_.size(); }

  // The line of a watch whose interest has it: what leaves a selection is DELETED. "" = none of it.
  static std::string event_line(const Step& step, const Interest& interest);
  // Why the recording ends before its end; "" = it is whole.
  const std::string& damage() const { return damage_; }

 private:
  struct Stream {
    ApiTarget target;  // with the selectors as its query
    std::string labels, fields;
    std::string version;
    std::map<core::ObjectKey, Json> objects;
    std::map<core::ObjectKey, Json> listing;  // of a list that is not whole yet
    bool listing_open = false;
    bool synced = false;
    bool single = false;  // one object, read now and then
  };

  void first_pass();
  void infer_types();
  void note_kind(const Json& object, const ApiTarget& target);
  std::optional<Step> take(const Json& entry);
  std::optional<Step> end_list(int number, Stream& stream);
  void open(const Json& entry);
  Json discovery(bool core) const;
  Answer list(const ApiTarget& target) const;
  Answer object(const ApiTarget& target) const;

  std::vector<std::string> lines_;
  std::vector<bool> told_;  // lines that the first states are made of
  std::size_t cursor_ = 0;
  std::string damage_;
  std::map<int, Stream> streams_;
  std::map<std::string, core::ResourceType> types_;  // by "deployments.apps/v1"
  std::map<std::string, Json> definitions_;          // of custom kinds, by name
};

}  // namespace kubewatch::rehearsal
