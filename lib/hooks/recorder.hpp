// Writes a recording: what the caches are told, what is written, and how each run ended, as lines
// of a RecordingFile. Entries wait in memory and are hidden when they are written, by all that is
// known then of secrets: the first ones when every stream that was asked for has been listed once
// (or there is no more room), later ones after half a second. Once the file is full or cannot be
// written it says so and does nothing any more; the command goes on. Entries, one JSON object
// each, by their member "t":
//   start  v, time, key, controllers, complete   the first one; key: of the hashes of secrets
//   types  types                                 what discovery said of kinds that are watched
//   kind   name, crd                             a CustomResourceDefinition; null: not to be had
//   open   s, path, labels?, fields?, how, rv, object?
//                                                a list or watch of stream s is answered; object:
//                                                true: it is a reading of one object (on_object)
//   item   s, o                                  an object of a list
//   page   s, rv, more                           the end of an answer to a list
//   event  s, type, o                            of a watch
//   still  s, rv, namespace?, name, uid, o?      what the server said when it was asked for an
//                                                object that stream s had told as DELETED at rv,
//                                                which may only have left its selection; no o:
//                                                it is gone. Older recordings have none
//   write  verb, path, manager?, body?, code, rv a write and its answer; rv: made by it
//   run    id, controller, object, name, namespace?, reason, reasonObject?, attempt, outcome,
//          message?, exit?, ms, digest?, writes?
//   end    why, idle                             of an orderly end: "done", "full"
// All have "at", milliseconds since the start.
#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/list_splitter.hpp"
#include "core/resource.hpp"
#include "core/watch_event.hpp"
#include "hooks/engine.hpp"
#include "hooks/record_mask.hpp"
#include "hooks/recorded_request.hpp"
#include "hooks/recording_file.hpp"

namespace kubewatch::hooks {

// What waits for the first lists to be whole; then it is written with what is known.
inline constexpr std::size_t kMostWaiting = 32U << 20U;

struct RecorderOptions {
  std::vector<std::string> controllers;
  // Everything that is watched is also run: false with --state, shards, a standby.
  bool complete = true;
  std::size_t most_waiting = kMostWaiting;
};

class Recorder {
 public:
  // `loop` must outlive it.
  Recorder(loop::EventLoop& loop, std::unique_ptr<RecordingFile> file, RecorderOptions options);

  bool ended() const { return file_->ended(); }

  // A list, or a watch with initial events, was asked for; it is refused for good.
  void expect(const ApiTarget& target, bool metadata);
  void refused(const ApiTarget& target, bool metadata);
  // What was read. `stream` as open() numbered it; metadata: of the objects nothing else is read.
  int open(const ApiTarget& target, RequestUse use, bool metadata);
  void on_item(int stream, std::string_view object);
  void on_page(int stream, const core::ListPage& page);
  void on_event(int stream, const core::WatchEvent& event);
  // One object as it is now, of a read or of the answer to a write; "" = it is not there. The
  // recording has it as a list of that name, marked, so that whoever reads recordings understands
  // it and does not take the next reading for a watch that was lost.
  void on_object(const ApiTarget& target, std::string_view object);
  // A reading of one object: kept as on_object() does where it is the first that is heard of it, by
  // watches and writes as well. So a replay has what nobody watches as it was before it was patched
  // or deleted.
  void on_found(const ApiTarget& target, std::string_view object);
  // What the server has of an object that a stream told as deleted (`last`: with the version of
  // that); "" = it is gone.
  void on_still(int stream, const core::ObjectMeta& last, std::string_view object);
  // Values of a Secret that will be written: hidden wherever they come.
  void learn(const Json& object) { mask_.learn(object); }
  // Kinds that will be watched, so that their words are known without a server.
  void on_types(const std::vector<core::ResourceType>& types);
  // `crd` null: the server did not give it.
  void on_kind(const std::string& name, Json crd);
  // The last version of an object that was read; "" = none. A write that changes nothing answers
  // with it, whoever made it.
  std::string version_of(const ApiTarget& target) const;
  // `before`: version_of() when the write began. An answer of that version is not the write's own;
  // one that another made and that was not read yet cannot be told from it.
  void on_written(Json entry, int code, std::string_view answer, const std::string& before = "");
  // The engine's callbacks.
  void on_exchange(const HookExchange& exchange);
  void on_run(const RunRecord& run);
  // The orderly end; idle: nothing was left to do. Why what was told is not all in the file, and no
  // line of it says so: a disk that is full; "" = it is, or one does.
  std::string end(bool idle);

 private:
  // Not hidden yet. `object`: as it was read, of an entry with "o"; "" = none.
  struct Waiting {
    Json entry;
    std::string object;
  };
  void add(Json entry, std::string object = {}, std::size_t size = 0);
  void object(Json entry, int stream, std::string_view json);
  void note_version(int stream, std::string_view object, bool gone);
  bool is_first(const ApiTarget& target);
  void listed(int stream);
  bool may_write() const;
  void flush_later();
  void write_out();
  void write(Waiting waiting);
  void warn_once();
  void start(const RecorderOptions& options, const SecretHash::Key& key);
  int open_stream(const std::string& id, const ApiTarget& target, const char* how,
                  bool single = false);

  loop::EventLoop& loop_;
  std::unique_ptr<RecordingFile> file_;
  TimePoint started_;
  SecretHash::Key key_;
  RecordMask mask_;
  std::size_t most_waiting_;
  std::map<std::string, int> streams_;
  std::map<int, std::string> resources_;                   // of streams: "deployments.apps"
  std::unordered_map<std::string, std::string> versions_;  // by resource, namespace and name
  std::unordered_set<std::string> met_;                    // written, read, or known and gone
  std::set<std::string> unlisted_;              // streams that were asked for, not told whole
  std::set<std::string> listed_;                // that were told whole, until something is written
  std::set<int> secrets_;                       // the streams of Secrets
  std::map<std::string, std::string> digests_;  // of runs that have not ended
  std::vector<Waiting> waiting_;
  std::size_t waiting_bytes_ = 0;
  bool begun_ = false;  // something was written
  bool told_ = false;
  loop::Timer flush_;
};

}  // namespace kubewatch::hooks
