// The file of `watch --checkpoint`: what each source knew when the run before ended, so that the
// next one tells only what has changed since, deletions included. Holds objects: the owner's only.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "client/server_identity.hpp"

namespace kubewatch::cli::watch {

struct CheckpointPart {
  std::string bytes;              // as runtime::Reflector::save has it
  client::ServerIdentity server;  // that it was read from; files of before do not know, or not all
  bool operator==(const CheckpointPart&) const = default;
};
// The parts by what they are of: "CONTEXT|pods|shop|NAME", "CONTEXT|jobs.batch/v1|shop|" where that
// version was asked for.
using CheckpointParts = std::map<std::string, CheckpointPart>;

// What the sources know at the end of a run and nobody got.
struct Undelivered {
  bool stdout_broken = false;  // what was printed last is lost, and how much nobody can say
  std::size_t of_a_list = 0;   // the end was decided in its middle
  std::size_t commands = 0;    // events that --exec was not run for, or not to its end
};
// Why the checkpoint must stay as it was, so that the next run tells all of that; "" when it may be
// written.
std::string why_kept(const Undelivered& what);

// One text of all parts, and back. Errors: invalid (no checkpoint, cut short, damaged, of another
// version).
std::string pack_checkpoint(const CheckpointParts& parts);
Result<CheckpointParts> unpack_checkpoint(std::string_view bytes);

// No parts when there is no such file. Errors: invalid, forbidden, naming the file.
Result<CheckpointParts> read_checkpoint(const std::string& path);
// Beside it and renamed, 0600. Errors: of the system, naming the file.
Result<void> write_checkpoint(const std::string& path, const CheckpointParts& parts);

}  // namespace kubewatch::cli::watch
