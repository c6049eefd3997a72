// NDJSON: the envelope is written around the object's own text, which is not parsed for it. And the
// same as YAML, for which it is.
#include <utility>

#include "base/yaml.hpp"
#include "cli/printers/object_printer.hpp"
#include "cli/watch/field_changes.hpp"
#include "cli/watch/views.hpp"
#include "cli/watch/writers.hpp"

namespace kubewatch::cli::watch {

namespace {

constexpr const char* kHead = R"({"apiVersion":"kubewatch.dev/v1","kind":"WatchEvent","type":")";

void append_member(const char* name, const Json& value, std::string& out) {
  out += ",\"";
  out += name;
  out += "\":";
  out += base::dump_json(value);
}

void append_mark(const char* type, const SourceInfo& source, std::string& out) {
  out += kHead;
  out += type;
  out += '"';
  if (!source.context.empty()) append_member("context", source.context, out);
  Json about = {{"apiVersion", source.type.gvk.api_version()}, {"kind", source.type.gvk.kind}};
  if (!source.namespace_.empty()) about["namespace"] = source.namespace_;
  append_member("source", about, out);
}

// What names an object, for who wanted some of its fields only.
Json identity_of(const Event& event) {
  const core::ObjectMeta& meta = event.change().meta;
  Json out = {{"apiVersion", event.source().type.gvk.api_version()},
              {"kind", event.source().type.gvk.kind},
              {"metadata", {{"name", meta.name}}}};
  Json& metadata = out["metadata"];
  if (!meta.namespace_.empty()) metadata["namespace"] = meta.namespace_;
  if (!meta.uid.empty()) metadata["uid"] = meta.uid;
  if (!meta.resource_version.empty()) metadata["resourceVersion"] = meta.resource_version;
  return out;
}

}  // namespace

JsonView::JsonView(ViewOptions options)
    : options_(std::move(options)),
      cutter_({{"/metadata/managedFields"}, {}, ""}),
      secrets_(hooks::SecretHash::make()) {}

void JsonView::append_object(const Event& event, std::string& out) const {
  out += ",\"object\":";
  if (!options_.fields.empty()) {
    out += base::dump_json(identity_of(event));
  } else if (options_.diff && !options_.show_managed_fields) {
    // They were kept to know who made the change.
    auto cut = cutter_.cut(event.change().json, 200);
    out += cut.ok() ? cut->json : event.change().json;
  } else {
    out += event.change().json;
  }
}

void JsonView::append_changes(const Event& event, std::string& out) const {
  const Writers writers(event.before(), event.object());
  Json latest = Json::array();
  for (const Writer& writer : writers.latest()) latest.push_back(writer.json());
  if (event.before() != nullptr && event.change().type == runtime::ChangeType::modified) {
    Json before = *event.before();
    Json after = event.object();
    secrets_.hide(before, hooks::SecretHash::Reader::person);
    secrets_.hide(after, hooks::SecretHash::Reader::person);
    Json changes = Json::array();
    for (const FieldChange& change : field_changes(before, after)) {
      Json one = {{"path", change.path}};
      if (change.before) one["old"] = *change.before;
      if (change.after) one["new"] = *change.after;
      if (const auto writer = writers.of(change)) one["by"] = writer->json();
      changes.push_back(std::move(one));
    }
    append_member("changes", changes, out);
  }
  append_member("writers", latest, out);
}

Result<void> JsonView::end_line(std::size_t start, std::string& out) const {
  out += "}\n";
  if (!options_.terminal.tty && !options_.yaml) return {};
  const std::string line = out.substr(start);
  out.resize(start);
  if (!options_.yaml) {
    out += shown_json(line);
    return {};
  }
  // The envelope is one level around an object that is as deep as can be.
  base::JsonLimits limits;
  ++limits.max_depth;
  KW_ASSIGN(const Json parsed, base::parse_json(line, limits));
  out += shown_text(base::dump_yaml(parsed), options_.terminal) + "---\n";
  return {};
}

Result<void> JsonView::event(const Event& event, WallTime, std::string& out) {
  const std::size_t start = out.size();
  const runtime::StoreChange& change = event.change();
  out += kHead;
  out += event_name(change.type);
  out += '"';
  if (change.initial) out += ",\"initial\":true";
  if (change.relisted) out += ",\"relisted\":true";
  if (change.reduced) out += ",\"reduced\":true";
  if (!event.source().context.empty()) append_member("context", event.source().context, out);
  append_object(event, out);
  if (!options_.fields.empty()) {
    Json fields = Json::array();
    for (const ShownField& field : event.fields) {
      Json one = {{"path", field.path}, {"new", field.after}};
      if (event.before() != nullptr) one["old"] = field.before;
      fields.push_back(std::move(one));
    }
    append_member("fields", fields, out);
  }
  if (options_.diff) append_changes(event, out);
  return end_line(start, out);
}

void JsonView::synced(const SourceInfo& source, std::size_t objects, std::string& out) {
  const std::size_t start = out.size();
  append_mark("SYNCED", source, out);
  append_member("objects", objects, out);
  (void)end_line(start, out);  // a mark is not deep
}

void JsonView::gap(const SourceInfo& source, std::string& out) {
  const std::size_t start = out.size();
  append_mark("GAP", source, out);
  (void)end_line(start, out);
}

}  // namespace kubewatch::cli::watch
