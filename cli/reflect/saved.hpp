// Several caches in one file: what each was a cache of, then its bytes, which are compressed as the
// caches are. Whoever reads a file trusts nothing in it.
//
//   "kubewatch-reflect\n" headerSize:u32 header checksum parts...
//
// The header is JSON: {"version": 2, "server", "serverMark", "kinds": [{..., "bytes": N}]}, and has
// its checksum behind it (cli/checked_text), which files of version 1 lack; who knows that one
// alone must be able to read the version. Numbers are little endian; the parts have checksums of
// their own (runtime/store_file).
#pragma once

#include <string>
#include <vector>

#include "cli/reflect/kinds.hpp"
#include "client/server_identity.hpp"

namespace kubewatch::cli {

// Whether --snapshot may write there: nothing, an empty file or an older snapshot. Errors: invalid.
Result<void> check_snapshot_file(const std::string& path);

struct SavedKind {
  KindPlan plan;
  client::ServerIdentity server;  // that it was read from
  std::string_view bytes;
};

// Without those that never had a full state. Errors: those of Reflector::save and of writing the
// file.
Result<void> write_saved(const std::string& path, const client::ServerIdentity& server,
                         const CachedKinds& kinds);
// Why what was saved from one server is of no use on `server`; "" when it is, and for old files,
// which do not say where they are from.
std::string why_foreign(const std::vector<SavedKind>& saved, const client::ServerIdentity& server);
// Refers to `content`. Errors: invalid.
Result<std::vector<SavedKind>> parse_saved(std::string_view content);
// The whole file. Errors: as base::read_file.
Result<std::string> read_saved(const std::string& path);

}  // namespace kubewatch::cli
