#include "cli/watch/checkpoint.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "cli/checked_text.hpp"

namespace kubewatch::cli::watch {

namespace {

constexpr std::string_view kCheckpointMagic = "kubewatch-checkpoint 2\n";
constexpr std::string_view kFirstMagic = "kubewatch-checkpoint 1\n";
constexpr std::size_t kMostBytes = std::size_t{4} << 30U;

Error bad_checkpoint(const std::string& how) {
  return {ErrorKind::invalid,
          "the checkpoint " + how + "; remove the file to begin with the present state"};
}

}  // namespace

std::string why_kept(const Undelivered& what) {
  if (what.stdout_broken) return "what was printed last did not get out";
  if (what.commands > 0) return fmt::format("--exec is not done with {} events", what.commands);
  if (what.of_a_list > 0) {
    return fmt::format("{} changes of a list were not shown any more", what.of_a_list);
  }
  return "";
}

// A line of JSON with the sizes and its checksum, which files of version 1 lack, then the parts one
// behind the other; what they hold is checked by who reads them, each has its own checksum.
std::string pack_checkpoint(const CheckpointParts& parts) {
  Json head = Json::array();
  for (const auto& [name, part] : parts) {
    head.push_back({{"of", name},
                    {"size", part.bytes.size()},
                    {"server", part.server.url},
                    {"serverMark", part.server.mark}});
  }
  std::string out(kCheckpointMagic);
  out += with_checksum(base::dump_json(head)) + "\n";
  for (const auto& [name, part] : parts) out += part.bytes;
  return out;
}

Result<CheckpointParts> unpack_checkpoint(std::string_view bytes) {
  const bool has_checksum = bytes.starts_with(kCheckpointMagic);
  if (!has_checksum && !bytes.starts_with(kFirstMagic)) {
    return bad_checkpoint("is none, or of another version");
  }
  bytes.remove_prefix(kCheckpointMagic.size());
  const auto line = bytes.find('\n');
  if (line == std::string_view::npos) return bad_checkpoint("is cut short");
  const auto text = has_checksum ? checked_text(bytes.substr(0, line)) : bytes.substr(0, line);
  if (!text) return bad_checkpoint("is damaged");
  auto head = base::parse_json(*text);
  if (!head.ok() || !head->is_array()) return bad_checkpoint("is damaged");
  bytes.remove_prefix(line + 1);
  CheckpointParts out;
  for (const Json& one : *head) {
    const auto size = base::int_at(one, {"size"});
    if (!size || *size < 0) return bad_checkpoint("is damaged");
    if (static_cast<std::size_t>(*size) > bytes.size()) return bad_checkpoint("is cut short");
    out[base::string_at(one, {"of"})] = {
        std::string(bytes.substr(0, static_cast<std::size_t>(*size))),
        {base::string_at(one, {"server"}), base::string_at(one, {"serverMark"})}};
    bytes.remove_prefix(static_cast<std::size_t>(*size));
  }
  if (!bytes.empty()) return bad_checkpoint("is damaged");
  return out;
}

Result<CheckpointParts> read_checkpoint(const std::string& path) {
  auto bytes = base::read_file(path, kMostBytes);
  if (!bytes.ok() && bytes.error().is_not_found()) return CheckpointParts{};
  if (!bytes.ok()) return std::move(bytes).error().with_context("--checkpoint");
  auto parts = unpack_checkpoint(*bytes);
  if (!parts.ok()) return std::move(parts).error().with_context("--checkpoint " + path);
  return parts;
}

Result<void> write_checkpoint(const std::string& path, const CheckpointParts& parts) {
  auto written = base::write_file_atomic(path, pack_checkpoint(parts), 0600);
  if (!written.ok()) return std::move(written).error().with_context("--checkpoint");
  return {};
}

}  // namespace kubewatch::cli::watch
