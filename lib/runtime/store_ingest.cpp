#include "runtime/store_ingest.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/json.hpp"
#include "base/utf8.hpp"
#include "core/json_scan.hpp"
#include "runtime/store_record.hpp"

namespace kubewatch::runtime {

namespace {

constexpr const char* kManagedFields = "/metadata/managedFields";
constexpr std::size_t kMaxMetadata = 1U << 20U;
constexpr std::size_t kMaxListed = 256U << 10U;  // of labels, owners or finalizers

// What the runtime itself reads of every object.
constexpr const char* kIdentity[] = {
    "/apiVersion",
    "/kind",
    "/metadata/name",
    "/metadata/namespace",
    "/metadata/uid",
    "/metadata/resourceVersion",
    "/metadata/generation",
    "/metadata/creationTimestamp",
    "/metadata/deletionTimestamp",
    "/metadata/labels",
    "/metadata/ownerReferences",
    "/metadata/finalizers",
};

core::JsonCutRules rules_of(const StoreOptions& options) {
  core::JsonCutRules rules;
  rules.drop = options.strip;
  if (!options.keep_managed_fields) {
    rules.drop.emplace_back(kManagedFields);
    rules.note = kManagedFields;
  }
  if (!options.project.empty()) {
    rules.keep = options.project;
    rules.keep.insert(rules.keep.end(), std::begin(kIdentity), std::end(kIdentity));
    if (options.keep_managed_fields) rules.keep.emplace_back(kManagedFields);
  }
  if (options.content == core::Content::metadata) {
    if (rules.keep.empty()) rules.keep = {"/apiVersion", "/kind", "/metadata"};
    // They name the wire form, PartialObjectMetadata, and not the object's type.
    rules.drop.insert(rules.drop.end(), {"/apiVersion", "/kind"});
  }
  return rules;
}

// As JSON that is surely valid: the text was cut out without having been validated. "" when it is
// not.
void append_string(std::string& out, const char* before, std::string_view literal) {
  out.append(before);
  const bool plain = std::all_of(literal.begin(), literal.end(),
                                 [](char c) { return c >= ' ' && c <= '~' && c != '\\'; });
  if (literal.size() >= 2 && plain) {
    out.append(literal);
    return;
  }
  if (literal.empty()) {  // most managers have no subresource
    out.append("\"\"");
    return;
  }
  const auto text = core::decode_json_string(literal);
  out.append(base::dump_json(text.ok() ? *text : std::string()));
}

}  // namespace

std::string compact_managers(std::string_view managed_fields_json) {
  core::JsonCursor text(managed_fields_json);
  std::string out;
  if (!text.accept('[')) return out;
  out.reserve(256);  // of three managers
  while (text.peek() == '{') {
    std::string_view manager, operation, subresource, time;
    const auto read = text.each_field([&](std::string_view key, std::string_view value) {
      if (value.empty() || value.front() != '"') return Result<void>();
      if (key == "manager") manager = value;
      if (key == "operation") operation = value;
      if (key == "subresource") subresource = value;
      if (key == "time") time = value;
      return Result<void>();
    });
    if (!read.ok()) break;
    append_string(out, out.empty() ? "[[" : ",[", manager);
    append_string(out, ",", operation);
    append_string(out, ",", subresource);
    append_string(out, ",", time);
    out.push_back(']');
    text.accept(',');
  }
  if (!out.empty()) out.push_back(']');
  return out;
}

std::vector<FieldManager> parse_managers(std::string_view compact) {
  std::vector<FieldManager> out;
  const auto parsed = base::parse_json(compact);
  if (!parsed.ok() || !parsed->is_array()) return out;
  for (const Json& entry : *parsed) {
    if (!entry.is_array() || entry.size() != 4) continue;
    // A saved cache may hold anything.
    if (!std::all_of(entry.begin(), entry.end(), [](const Json& e) { return e.is_string(); })) {
      continue;
    }
    out.push_back({entry[0].get<std::string>(), entry[1].get<std::string>(),
                   entry[2].get<std::string>(), entry[3].get<std::string>()});
  }
  return out;
}

namespace {

// What is no UTF-8 becomes U+FFFD.
std::string with_replaced_bytes(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const base::Utf8Char next = base::next_utf8(text, at);
    next.valid ? static_cast<void>(out.append(text.substr(at, next.size)))
               : base::append_utf8(out, U'\uFFFD');
    at += next.size;
  }
  return out;
}

void append_member(std::string& object, std::string_view key, std::string_view value) {
  object.append(object.size() > 1 ? ",\"" : "\"").append(key).append("\":").append(value);
}

// What the runtime reads of it, where it can be read: one odd label is no reason to lose the name.
std::string readable_identity(std::string_view metadata) {
  static constexpr std::string_view kRead[] = {"name",
                                               "namespace",
                                               "uid",
                                               "resourceVersion",
                                               "generation",
                                               "creationTimestamp",
                                               "finalizers",
                                               "labels",
                                               "deletionTimestamp",
                                               "ownerReferences"};
  std::string out = "{";
  (void)core::for_each_member(metadata, [&](const core::JsonMember& member) {
    if (std::find(std::begin(kRead), std::end(kRead), member.key) == std::end(kRead)) return;
    const bool list = member.value.front() == '[' || member.value.front() == '{';
    if (member.value.size() > (list ? kMaxListed : Record::kMaxIdentity)) return;
    std::string alone = "{";
    append_member(alone, member.key, member.value);
    if (core::parse_meta("{\"metadata\":" + alone + "}}").ok()) {
      append_member(out, member.key, member.value);
    }
  });
  return out + "}";
}

std::string without_bulk(std::string_view metadata) {
  std::string out = "{";
  (void)core::for_each_member(metadata, [&](const core::JsonMember& member) {
    if (member.key == "managedFields" || member.key == "annotations") return;
    append_member(out, member.key, member.value);
  });
  return out + "}";
}

// The object as metadata, then as less and less of it. An error behind the metadata is what this
// is for.
std::vector<std::string> lesser_forms(std::string_view object_json) {
  std::string type = "{";
  std::string_view metadata = "{}";
  (void)core::for_each_member(object_json, [&](const core::JsonMember& member) {
    if (member.key == "metadata") metadata = member.value;
    if (member.key != "apiVersion" && member.key != "kind") return;
    if (member.value.size() <= Record::kMaxIdentity) append_member(type, member.key, member.value);
  });
  std::vector<std::string> out;
  for (const std::string& form :
       {std::string(metadata), without_bulk(metadata), readable_identity(metadata)}) {
    append_member(out.emplace_back(type), "metadata", form);
    out.back().push_back('}');
  }
  return out;
}

}  // namespace

Ingest::Ingest(const StoreOptions& options)
    : cutter_(rules_of(options)), limits_(options.limits), modify_(options.modify) {
  if (options.type.kind.empty()) return;
  api_version_member_ =
      fmt::format("\"apiVersion\":{},", base::dump_json(options.type.api_version()));
  kind_member_ = fmt::format("\"kind\":{},", base::dump_json(options.type.kind));
}

bool Ingest::names(const core::ObjectMeta& meta) {
  return !meta.name.empty() && meta.name.size() <= Record::kMaxIdentity &&
         meta.uid.size() <= Record::kMaxIdentity &&
         meta.resource_version.size() <= Record::kMaxIdentity;
}

Result<PreparedObject> Ingest::prepare(std::string_view object_json) const {
  if (object_json.size() > limits_.max_bytes) {
    return metadata_only(object_json, fmt::format("{} bytes, more than the limit of {}",
                                                  object_json.size(), limits_.max_bytes));
  }
  auto prepared = whole(object_json);
  if (prepared.ok() && modify_) prepared = modified(std::move(*prepared));
  if (prepared.ok()) return prepared;
  auto reduced = metadata_only(object_json, prepared.error().message());
  if (reduced.ok()) return reduced;
  return prepared;
}

Result<PreparedObject> Ingest::whole(std::string_view object_json) const {
  KW_ASSIGN(auto cut, cutter_.cut(object_json, limits_.max_depth));
  return finish(std::move(cut));
}

Result<PreparedObject> Ingest::modified(PreparedObject before) const {
  const std::string text = modify_(std::move(before.json));
  auto after = whole(text);
  if (!after.ok()) {
    return Error(ErrorKind::invalid, "what modify made of it: " + after.error().message());
  }
  const core::ObjectMeta& is = after->meta;
  const core::ObjectMeta& was = before.meta;
  if (is.key() != was.key() || is.uid != was.uid || is.resource_version != was.resource_version) {
    return Error(ErrorKind::invalid, "modify changed its name, namespace, uid or resourceVersion");
  }
  after->managers = std::move(before.managers);
  return after;
}

Result<PreparedObject> Ingest::metadata_only(std::string_view object_json, std::string why) const {
  Result<PreparedObject> prepared = Error(ErrorKind::invalid, "an object without metadata");
  for (const std::string& less : lesser_forms(object_json)) {
    prepared = whole(less);
    // An object that stands in a list must not pass for one that is gone, whatever its bytes are.
    if (!prepared.ok()) prepared = whole(with_replaced_bytes(less));
    if (prepared.ok() && prepared->json.size() <= kMaxMetadata) break;
  }
  if (!prepared.ok()) return std::move(prepared).error();
  // But its name is its own.
  const core::ObjectMeta& meta = prepared->meta;
  for (const std::string* own : {&meta.name, &meta.namespace_, &meta.uid}) {
    if (own->find("\xef\xbf\xbd") != std::string::npos) {
      return Error(ErrorKind::invalid, "an object whose name is not valid UTF-8");
    }
  }
  prepared->reduced = std::move(why);
  return prepared;
}

Result<PreparedObject> Ingest::finish(core::JsonCutResult cut) const {
  PreparedObject out;
  std::string missing;
  if (!cut.has_api_version) missing += api_version_member_;
  if (!cut.has_kind) missing += kind_member_;
  out.json = std::move(cut.json);
  if (!missing.empty()) {
    if (out.json.size() == 2) missing.pop_back();  // "{}": no comma
    out.json.insert(1, missing);
  }
  KW_ASSIGN(out.meta, core::parse_meta(out.json));
  if (!names(out.meta)) {
    return Error(ErrorKind::invalid,
                 out.meta.name.empty()
                     ? "an object without metadata.name"
                     : "an object whose name, uid or resourceVersion is too long");
  }
  if (!cut.noted.empty()) out.managers = compact_managers(cut.noted);
  return out;
}

}  // namespace kubewatch::runtime
