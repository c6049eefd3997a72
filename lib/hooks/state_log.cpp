#include "hooks/state_log.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/json.hpp"
#include "base/keyed_hash.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::string_view kStateMagic = "kubewatch-state 1\n";
constexpr std::size_t kChecksum = 8;
constexpr std::size_t kMaxLine = 16U << 10U;

struct Record {
  StateKey key;
  std::optional<HandledObject> handled;
};

std::optional<Record> parse_record(std::string_view json) {
  const auto value = base::parse_json(json, {kMaxLine, 4});
  if (!value.ok() || !value->is_object()) return std::nullopt;
  Record out;
  out.key.controller = base::string_at(*value, {"c"});
  out.key.object = {base::string_at(*value, {"ns"}), base::string_at(*value, {"n"})};
  if (out.key.controller.empty() || out.key.object.name.empty()) return std::nullopt;
  if (base::find(*value, {"gone"}) != nullptr) return out;
  HandledObject handled;
  handled.uid = base::string_at(*value, {"uid"});
  handled.hash = base::string_at(*value, {"h"});
  handled.parked = base::find(*value, {"parked"}) != nullptr;
  handled.due = base::int_at(*value, {"due"}).value_or(0);
  handled.ran = base::int_at(*value, {"ran"}).value_or(0);
  handled.why = base::string_at(*value, {"why"});
  handled.kind = base::string_at(*value, {"k"});
  out.handled = std::move(handled);
  return out;
}

// "" when the line counts.
std::string apply_line(std::string_view line, LoadedState& out) {
  if (line.size() <= kChecksum + 1 || line[kChecksum] != ' ') return "it is no record";
  if (line.size() > kMaxLine) return "it is too long";
  const std::string_view json = line.substr(kChecksum + 1);
  if (fmt::format("{:08x}", base::crc32(json)) != line.substr(0, kChecksum)) {
    return "its checksum is wrong";
  }
  auto record = parse_record(json);
  if (!record) return "it is no record";
  ++out.lines;
  if (record->handled) {
    out.objects[record->key] = *std::move(record->handled);
  } else {
    out.objects.erase(record->key);
  }
  return "";
}

}  // namespace

HandledObject to_be_handled(std::string kind, std::string uid, std::int64_t ran) {
  HandledObject out;
  out.kind = std::move(kind);
  out.uid = std::move(uid);
  out.ran = ran;
  return out;
}

std::string state_header() {
  return std::string(kStateMagic);
}

std::string state_line(const StateKey& key, const std::optional<HandledObject>& handled) {
  Json record = {{"c", key.controller}, {"ns", key.object.namespace_}, {"n", key.object.name}};
  if (handled) {
    record["uid"] = handled->uid;
    record["h"] = handled->hash;
    if (handled->parked) record["parked"] = true;
    if (handled->due != 0) record["due"] = handled->due;
    if (handled->ran != 0) record["ran"] = handled->ran;
    if (!handled->why.empty()) record["why"] = handled->why;
    if (!handled->kind.empty()) record["k"] = handled->kind;
  } else {
    record["gone"] = true;
  }
  const std::string json = base::dump_json(record);
  return fmt::format("{:08x} {}\n", base::crc32(json), json);
}

std::string state_text(const HandledObjects& objects) {
  std::string out = state_header();
  for (const auto& [key, handled] : objects) out += state_line(key, handled);
  return out;
}

Result<LoadedState> load_state(std::string_view text) {
  if (!text.starts_with(kStateMagic)) {
    return Error(ErrorKind::invalid, kStateMagic.starts_with(text)
                                         ? "its first line is cut off"
                                         : "it is no state file of this version of kubewatch");
  }
  LoadedState out;
  out.valid = kStateMagic.size();
  for (std::size_t number = 2; out.valid < text.size(); ++number) {
    const auto end = text.find('\n', out.valid);
    const std::string_view line = text.substr(out.valid, end - out.valid);
    std::string wrong = end == std::string_view::npos ? "it is cut off" : apply_line(line, out);
    if (!wrong.empty()) {
      out.damage = fmt::format("line {}: {}; {} bytes from there on are dropped", number, wrong,
                               text.size() - out.valid);
      return out;
    }
    out.valid = end + 1;
  }
  return out;
}

}  // namespace kubewatch::hooks
