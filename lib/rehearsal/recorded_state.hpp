// What the watches of a recording say of each object, entry by entry: which entries are a change
// that came from outside the recorded controller, and what it changes. Several streams tell of one
// object, in their own order; the newest counts. Where one stream has metadata and another whole
// objects, a state that the other will tell whole waits for it: nobody is to see half an object.
// A stream that selects tells of what leaves its selection as of what is deleted, in the same
// words: it is one or the other by all that the recording says of the object then and later.
// Pure.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "core/resource.hpp"
#include "core/selector.hpp"

namespace kubewatch::rehearsal {

struct RecordedChange {
  std::string group, version, plural;
  core::ObjectKey key;
  // The object as it was known before; absent: it is new.
  std::optional<Json> before;
  Json after;  // null: it is gone
  bool metadata_only = false;
  bool own_deletion = false;  // the recorded controller asked for it
  bool in_doubt = false;      // taken as gone: nothing tells that it did not only leave a selection
};

// {"spec": {"a": 2, "b": null}}: makes `before` to `after` as a merge patch, but for uid,
// resourceVersion, managedFields and creationTimestamp.
Json change_between(const Json& before, const Json& after);

class RecordedState {
 public:
  // A write of the recorded controller: the state with this version is its own.
  void note_own(const std::string& path, const std::string& version);
  void note_own_deletion(const std::string& path);
  // Before the first take(): every entry of the recording, in order. It tells which states come
  // whole, and what lived on.
  void expect(const Json& entry);
  // Any entry of a recording; those that say nothing of objects have no changes.
  std::vector<RecordedChange> take(const Json& entry);
  // Every object of this stream was told once.
  bool synced(int stream) const;

 private:
  struct Stream {
    int number = 0;
    std::string group, version, plural;
    core::LabelSelector labels;
    bool selects = false;
    bool can_be_left = false;
    bool listing = false;
    bool synced = false;
    std::set<core::ObjectKey> known;
    std::set<core::ObjectKey> listed;
  };
  struct Known {
    std::uint64_t version = 0;
    Json object;
    bool partial = false;  // of this version the metadata alone
  };
  using Id = std::pair<std::string, core::ObjectKey>;  // "deployments.apps"
  // The versions at which an object is told of, each with the stream; 0: the server was asked.
  using Life = std::set<std::pair<std::uint64_t, int>>;
  struct Expected {
    std::string kind;
    std::string version;
    bool selects = false;
  };
  using State = std::pair<Id, std::uint64_t>;
  struct Whole {
    std::string version;  // of the API
    Json object;
  };
  // Metadata of a state whose whole object is still to come.
  struct Held {
    Stream* stream;
    std::string type;
    Json object;
  };

  void open(const Json& entry);
  bool waits_for_whole(const Id& id, std::uint64_t version) const;
  const Json& whole_of(const Stream& stream, const Json& metadata) const;
  void hold_or_tell(Stream& stream, const std::string& type, const Json& object,
                    std::vector<RecordedChange>& out);
  void tell(Stream& stream, const std::string& type, const Json& object,
            std::vector<RecordedChange>& out);
  void take_object(Stream& stream, const Json& object, std::vector<RecordedChange>& out);
  void expect_life(const Id& id, const std::string& uid, std::uint64_t version, int by);
  const Life* life_of(const Id& id, const Json& object) const;
  bool lives_at(const Stream& stream, const Id& id, const Json& object,
                std::uint64_t version) const;
  bool has_left(const Stream& stream, const Id& id, const Json& last) const;
  void leave(Stream& stream, const core::ObjectKey& key, const std::string& version,
             std::vector<RecordedChange>& out);
  bool is_in_doubt(const Stream& stream, const Id& id, const Json& last) const;
  void remove(Stream& stream, const core::ObjectKey& key, std::vector<RecordedChange>& out);
  void end_list(Stream& stream, const std::string& version, std::vector<RecordedChange>& out);
  static Id id_of(const Stream& stream, const core::ObjectKey& key);

  std::map<int, Stream> streams_;
  std::map<Id, Known> objects_;
  std::map<Id, std::uint64_t> gone_;  // the version of the deletion; what is older comes late
  std::map<int, Expected> expected_streams_;
  std::map<Id, std::map<std::string, Life>> lives_;      // by uid
  std::set<std::pair<Id, std::string>> ends_;            // uids that are told to go
  std::map<Id, std::map<std::uint64_t, int>> expected_;  // whole states to come, and their stream
  std::map<Id, std::vector<Held>> held_;
  std::set<State> bare_;           // states of which the metadata is told first
  std::map<State, Whole> wholes_;  // what is told of them later
  std::set<std::pair<Id, std::string>> own_;
  std::map<Id, std::size_t> own_deletions_;  // that no event has shown yet
};

}  // namespace kubewatch::rehearsal
