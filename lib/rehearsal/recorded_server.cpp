#include "rehearsal/recorded_server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/ascii.hpp"
#include "base/strings.hpp"
#include "core/meta.hpp"
#include "core/status.hpp"
#include "hooks/recording_format.hpp"

namespace kubewatch::rehearsal {

namespace {

using Answer = RecordedServer::Answer;
using hooks::api_target;

Answer refusal(int code, const std::string& message) {
  return {code, base::dump_json({{"kind", "Status"},
                                 {"apiVersion", "v1"},
                                 {"status", "Failure"},
                                 {"reason", core::reason_of_code(code)},
                                 {"code", code},
                                 {"message", message}})};
}

std::string type_key(const ApiTarget& target) {
  return fmt::format("{}.{}/{}", target.plural, target.group, target.version);
}

bool selects(const RecordedServer::Interest& interest, const Json& object) {
  const core::ObjectKey key = core::object_key(object);
  if (!interest.namespace_.empty() && key.namespace_ != interest.namespace_) return false;
  return interest.labels.matches(core::meta_of(object).labels) && interest.fields.matches(object);
}

constexpr std::string_view kName = "metadata.name=";

// "networkpolicies" -> "Networkpolicy": the last resort where no object told its kind.
std::string guessed_kind(const std::string& plural) {
  std::string out = plural;
  if (out.ends_with("ies")) {
    out.replace(out.size() - 3, 3, "y");
  } else if (out.ends_with("sses") || out.ends_with("xes")) {
    out.resize(out.size() - 2);
  } else if (out.ends_with("s")) {
    out.pop_back();
  }
  if (!out.empty()) out[0] = base::to_upper(out[0]);
  return out;
}

}  // namespace

Result<RecordedServer> RecordedServer::load(std::string_view bytes) {
  KW_ASSIGN(hooks::LoadedRecording loaded, hooks::load_recording(bytes));
  RecordedServer out;
  out.lines_ = std::move(loaded.lines);
  out.damage_ = std::move(loaded.damage);
  out.told_.resize(out.lines_.size());
  out.first_pass();
  return out;
}

// Every stream up to the end of its first list; and all that is said of kinds anywhere.
void RecordedServer::first_pass() {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    auto parsed = base::parse_json(lines_[i]);
    if (!parsed.ok() || !parsed->is_object()) continue;
    const Json& entry = *parsed;
    const std::string t = base::string_at(entry, {"t"});
    if (t == "types" && entry.contains("types") && entry["types"].is_array()) {
      for (const Json& one : entry["types"]) {
        core::ResourceType type = core::resource_type_of(one);
        types_[fmt::format("{}.{}/{}", type.plural, type.gvk.group, type.gvk.version)] =
            std::move(type);
      }
    }
    if (t == "kind" && entry.contains("crd") && entry["crd"].is_object()) {
      definitions_[base::string_at(entry, {"name"})] = entry["crd"];
    }
    const auto number = base::int_at(entry, {"s"});
    if (!number) continue;
    const auto found = streams_.find(static_cast<int>(*number));
    if (found != streams_.end() && found->second.synced) {
      if (const Json* object = base::find(entry, {"o"})) note_kind(*object, found->second.target);
      continue;
    }
    told_[i] = true;
    (void)take(entry);
  }
  infer_types();
}

void RecordedServer::note_kind(const Json& object, const ApiTarget& target) {
  const std::string kind = base::string_at(object, {"kind"});
  if (kind.empty() || kind == "PartialObjectMetadata") return;
  const auto [it, fresh] = types_.try_emplace(type_key(target));
  core::ResourceType& type = it->second;
  if (fresh) {
    type.gvk = {target.group, target.version, kind};
    type.plural = target.plural;
    type.singular = base::to_lower(kind);
    type.namespaced = false;
  }
  type.namespaced = type.namespaced || !core::object_key(object).namespace_.empty();
}

void RecordedServer::infer_types() {
  for (const auto& [number, stream] : streams_) {
    const ApiTarget& target = stream.target;
    const auto definition = definitions_.find(target.plural + "." + target.group);
    if (definition != definitions_.end()) {
      core::ResourceType type;
      type.gvk = {target.group, target.version,
                  base::string_at(definition->second, {"spec", "names", "kind"})};
      type.plural = target.plural;
      type.singular = base::to_lower(type.gvk.kind);
      type.namespaced = base::string_at(definition->second, {"spec", "scope"}) == "Namespaced";
      types_.try_emplace(type_key(target), std::move(type));
    }
    for (const auto& [key, object] : stream.objects) note_kind(object, target);
    const auto [it, fresh] = types_.try_emplace(type_key(target));
    if (!fresh) continue;
    core::ResourceType& type = it->second;
    type.gvk = {target.group, target.version, guessed_kind(target.plural)};
    type.plural = target.plural;
    type.singular = base::to_lower(type.gvk.kind);
    type.namespaced = !target.namespace_.empty() ||
                      std::any_of(stream.objects.begin(), stream.objects.end(),
                                  [](const auto& one) { return !one.first.namespace_.empty(); });
  }
  for (auto& [key, type] : types_) type.verbs = {"get", "list", "watch"};
}

void RecordedServer::open(const Json& entry) {
  const int number = static_cast<int>(base::int_at(entry, {"s"}).value_or(0));
  auto target = api_target(base::string_at(entry, {"path"}));
  if (!target) return;
  const auto [it, fresh] = streams_.try_emplace(number);
  Stream& stream = it->second;
  if (fresh) {  // who has listed it lists it again, whatever a damaged recording says of it later
    stream.target = std::move(*target);
    stream.labels = base::string_at(entry, {"labels"});
    stream.fields = base::string_at(entry, {"fields"});
  }
  stream.single = entry.value("object", Json(false)) == true;
  const std::string how = base::string_at(entry, {"how"});
  if (how == "list") {
    stream.listing.clear();
    stream.listing_open = true;
  } else if (how == "watch" && !stream.synced) {
    stream.synced = true;  // it was resumed: what was there before was not recorded
  }
}

std::optional<RecordedServer::Step> RecordedServer::end_list(int number, Stream& stream) {
  stream.listing_open = false;
  const auto before = std::exchange(stream.objects, std::exchange(stream.listing, {}));
  if (!std::exchange(stream.synced, true)) return std::nullopt;
  Step step;
  step.stream = number;
  if (!stream.single) {
    step.lost = true;
    return step;
  }
  if (before == stream.objects) return std::nullopt;
  const bool gone = stream.objects.empty();
  step.type = gone ? "DELETED" : before.empty() ? "ADDED" : "MODIFIED";
  step.object = (gone ? before : stream.objects).begin()->second;
  if (!before.empty()) step.before = before.begin()->second;
  return step;
}

std::optional<RecordedServer::Step> RecordedServer::take(const Json& entry) {
  const std::string t = base::string_at(entry, {"t"});
  if (t == "open") {
    open(entry);
    return std::nullopt;
  }
  const int number = static_cast<int>(base::int_at(entry, {"s"}).value_or(0));
  const auto found = streams_.find(number);
  if (found == streams_.end()) return std::nullopt;
  Stream& stream = found->second;
  const Json* object = base::find(entry, {"o"});
  if (t == "page") {
    stream.version = base::string_at(entry, {"rv"});
    if (entry.value("more", Json(false)) == true || !stream.listing_open) return std::nullopt;
    return end_list(number, stream);
  }
  if (object == nullptr) return std::nullopt;
  if (t == "item") {
    stream.listing[core::object_key(*object)] = *object;
    return std::nullopt;
  }
  if (t != "event") return std::nullopt;
  const std::string type = base::string_at(entry, {"type"});
  if (auto version = base::string_at(*object, {"metadata", "resourceVersion"}); !version.empty()) {
    stream.version = version;
  }
  if (stream.listing_open) {  // a streaming list
    if (type == "BOOKMARK") {
      return core::ends_initial_events(*object) ? end_list(number, stream) : std::nullopt;
    }
    if (type == "DELETED") {
      stream.listing.erase(core::object_key(*object));
    } else {
      stream.listing[core::object_key(*object)] = *object;
    }
    return std::nullopt;
  }
  Step step;
  step.stream = number;
  step.type = type;
  step.object = *object;
  if (type != "BOOKMARK") {
    const auto old = stream.objects.find(core::object_key(*object));
    if (old != stream.objects.end()) step.before = old->second;
    if (type == "DELETED") {
      stream.objects.erase(core::object_key(*object));
    } else {
      stream.objects[core::object_key(*object)] = *object;
    }
  }
  return step;
}

std::optional<RecordedServer::Step> RecordedServer::next(const std::set<int>& streams) {
  while (cursor_ < lines_.size()) {
    const std::size_t at = cursor_++;
    if (told_[at]) continue;
    const auto entry = base::parse_json(lines_[at]);
    if (!entry.ok() || !entry->is_object()) continue;
    auto step = take(*entry);
    if (step && streams.count(step->stream) != 0) return step;
  }
  return std::nullopt;
}

Result<RecordedServer::Interest> RecordedServer::interest_of(const ApiTarget& target) const {
  const std::string labels = target.parameter("labelSelector");
  const std::string fields = target.parameter("fieldSelector");
  const Stream* best = nullptr;
  const Stream* named = nullptr;
  Interest out;
  for (const auto& [number, stream] : streams_) {
    const ApiTarget& mine = stream.target;
    if (mine.plural != target.plural || mine.group != target.group) continue;
    const bool exact =
        mine.namespace_ == target.namespace_ && stream.labels == labels && stream.fields == fields;
    const bool covers = mine.namespace_.empty() && stream.labels.empty() && stream.fields.empty();
    const bool narrower =
        mine.namespace_ == target.namespace_ && stream.labels.empty() && stream.fields.empty();
    if (exact || (best == nullptr && (covers || narrower))) {
      best = &stream;
      out.stream = number;
    }
    if (exact) return out;
    const bool inside = target.namespace_.empty() || mine.namespace_ == target.namespace_;
    if (inside && stream.fields.find(kName) != std::string::npos) named = &stream;
  }
  // As of a server that lets nobody list them: who then asks for each by its name is answered.
  if (best == nullptr && named != nullptr && fields.find(kName) == std::string::npos) {
    const std::string name = named->fields.substr(named->fields.rfind(kName) + kName.size());
    return Error(ErrorKind::forbidden,
                 fmt::format("the recording has {0} one by one: name one, such as {0}/{1}",
                             target.plural, name));
  }
  if (best == nullptr) {
    return Error(
        ErrorKind::not_found,
        fmt::format("the recording has no {} with this namespace and selection", target.plural));
  }
  out.namespace_ = target.namespace_;
  KW_ASSIGN(out.labels, core::LabelSelector::parse(labels));
  KW_ASSIGN(out.fields, core::FieldSelector::parse(fields));
  return out;
}

std::string RecordedServer::event_line(const Step& step, const Interest& interest) {
  std::string type = step.type;
  if (type != "BOOKMARK") {
    const bool now = selects(interest, step.object);
    const bool before = step.before && selects(interest, *step.before);
    if (!now && !before) return "";
    if (now && !before && type == "MODIFIED") type = "ADDED";
    if (!now && before) type = "DELETED";
  }
  return base::dump_json({{"type", type}, {"object", step.object}}) + "\n";
}

Json RecordedServer::discovery(bool core) const {
  std::map<std::string, std::map<std::string, Json>> groups;
  // Whoever names no version at all does not say what there is; an empty recording does.
  if (core) groups[""]["v1"] = Json::array();
  for (const auto& [key, type] : types_) {
    if (type.gvk.group.empty() != core) continue;
    Json& resources = groups[type.gvk.group][type.gvk.version];
    resources.push_back(
        {{"resource", type.plural},
         {"responseKind",
          {{"group", type.gvk.group}, {"version", type.gvk.version}, {"kind", type.gvk.kind}}},
         {"scope", type.namespaced ? "Namespaced" : "Cluster"},
         {"singularResource", type.singular},
         {"shortNames", type.short_names},
         {"categories", type.categories},
         {"verbs", type.verbs}});
  }
  Json items = Json::array();
  for (const auto& [group, versions] : groups) {
    Json list = Json::array();
    for (const auto& [version, resources] : versions) {
      list.push_back({{"version", version}, {"resources", resources}, {"freshness", "Current"}});
    }
    Json metadata = Json::object();
    if (!group.empty()) metadata["name"] = group;
    items.push_back({{"metadata", metadata}, {"versions", list}});
  }
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", "apidiscovery.k8s.io/v2"},
          {"metadata", Json::object()},
          {"items", items}};
}

Answer RecordedServer::list(const ApiTarget& target) const {
  if (target.flag("sendInitialEvents")) {
    return refusal(422, "a recording is listed, then watched");
  }
  const auto interest = interest_of(target);
  if (!interest.ok()) {
    const std::string& why = interest.error().message();
    return interest.error().is_forbidden() ? refusal(403, why) : refusal(404, why);
  }
  const Stream& stream = streams_.at(interest->stream);
  const auto type = types_.find(type_key(target));
  const std::string kind = type == types_.end() ? "" : type->second.gvk.kind;
  Json items = Json::array();
  for (const auto& [key, object] : stream.objects) {
    if (selects(*interest, object)) items.push_back(object);
  }
  return {200,
          base::dump_json(
              {{"kind", kind + "List"},
               {"apiVersion", core::GroupVersion{target.group, target.version}.str()},
               {"metadata", {{"resourceVersion", stream.version.empty() ? "1" : stream.version}}},
               {"items", std::move(items)}})};
}

Answer RecordedServer::object(const ApiTarget& target) const {
  if (target.plural == "customresourcedefinitions") {
    const auto found = definitions_.find(target.name);
    if (found != definitions_.end()) return {200, base::dump_json(found->second)};
  }
  for (const auto& [number, stream] : streams_) {
    if (stream.target.plural != target.plural || stream.target.group != target.group) continue;
    const auto found = stream.objects.find({target.namespace_, target.name});
    if (found == stream.objects.end()) continue;
    Json object = found->second;
    const auto type = types_.find(type_key(target));
    if (!object.contains("kind") && type != types_.end()) {
      object["kind"] = type->second.gvk.kind;
      object["apiVersion"] = type->second.gvk.api_version();
    }
    return {200, base::dump_json(object)};
  }
  return refusal(404,
                 fmt::format("{} \"{}\" not found in the recording", target.plural, target.name));
}

Answer RecordedServer::answer(const std::string& method, const std::string& url) const {
  if (method != "GET") {
    return refusal(405, "a recording cannot be written to");
  }
  const auto ends = [&](std::string_view path) {
    return std::string_view(url).substr(0, url.find('?')).ends_with(path);
  };
  if (const auto target = api_target(url)) {
    return target->name.empty() ? list(*target) : object(*target);
  }
  if (ends("/api")) return {200, base::dump_json(discovery(true))};
  if (ends("/apis")) return {200, base::dump_json(discovery(false))};
  if (ends("/version")) {
    return {200, base::dump_json({{"major", "1"}, {"minor", "33"}, {"gitVersion", "v1.33.0"}})};
  }
  return refusal(404, "the recording does not have " + url);
}

}  // namespace kubewatch::rehearsal
