#include "hooks/kind_schemas.hpp"

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

#include "base/json.hpp"
#include "base/log.hpp"
#include "base/strings.hpp"
#include "hooks/result_document.hpp"
#include "schema/crd_check.hpp"
#include "schema/patch.hpp"
#include "schema/typed.hpp"

namespace kubewatch::hooks {
namespace {

constexpr std::string_view kUnknownField = "field not declared in schema";
constexpr std::string_view kValue = ", got &";
constexpr std::string_view kNumber = "json: cannot unmarshal number ";
constexpr std::string_view kSetItem = "[=";
constexpr Duration kFirstPause{1000};
constexpr Duration kLongestSchemaPause{60000};
const core::Gvk kCrd{"apiextensions.k8s.io", "v1", "CustomResourceDefinition"};
// Of a kind that is in no table and has no definition that may be read: an aggregated API has it,
// or a newer server.
const KindSchema kNone{nullptr, {}, false, true};

KindSchema schema_in(const Json& crd, const std::string& version) {
  const Json* found = schema::crd_version(crd, version);
  const Json* schema =
      found == nullptr ? nullptr : base::find(*found, {"schema", "openAPIV3Schema"});
  if (schema == nullptr) return {};
  return {schema::crd_merge_schema(*schema), status_shape_of_crd(crd, version)};
}

// The server has none, or nobody here may read it: that stays so for a while.
bool is_no_definition(const Error& error) {
  return error.is_not_found() || error.kind() == ErrorKind::forbidden;
}

// Problems are told line by line.
void flatten_texts(Json& value) {
  if (value.is_string()) {
    auto& text = value.get_ref<std::string&>();
    std::replace(text.begin(), text.end(), '\n', ' ');
  } else if (value.is_structured()) {
    for (Json& item : value) flatten_texts(item);
  }
}

// [id="..."]: what stands in the keys of a list is a value as well, but for those that name.
void hide_keys(std::string& problem) {
  static constexpr std::string_view kBegin = "=\"";
  for (auto at = problem.find(kBegin); at != std::string::npos; at = problem.find(kBegin, at)) {
    const auto open = problem.find_last_of("[,", at);
    const auto end = problem.find('"', at + kBegin.size());
    if (open == std::string::npos || end == std::string::npos) return;
    const std::string_view key = std::string_view(problem).substr(open + 1, at - open - 1);
    at += kBegin.size();
    if (key == "type" || key == "name") {
      at = end + 1;
    } else {
      problem.replace(at, end - at, "...");
    }
  }
}

// What is wrong and where, without the value: no part of a Secret may leave by that (P6).
std::string without_value(std::string_view problem) {
  std::string out(problem.substr(0, problem.find(kValue)));
  // An item of a set is its own address.
  if (const auto item = out.find(kSetItem); item != std::string::npos) {
    return out.substr(0, std::min(item, out.find(": "))) +
           ": an item is there twice, or has the wrong type";
  }
  hide_keys(out);
  const auto number = out.find(kNumber);
  const auto type = out.rfind(" into ");
  if (number != std::string::npos && type != std::string::npos) {
    out.erase(number + kNumber.size() - 1, type - (number + kNumber.size() - 1));
  }
  return out;
}

// Where conditions are no list-map they are written by a merge patch, and the server drops those of
// their fields that it does not know.
void drop_unknown(const schema::MergeNode& node, std::vector<Json>& conditions) {
  const schema::MergeNode* list = schema::child_or_deduced(node, "status").child("conditions");
  if (list == nullptr) return;
  const schema::MergeNode& item = schema::element_or_deduced(*list);
  for (Json& condition : conditions) {
    Json kept = Json::object();
    for (const auto& [name, value] : condition.items()) {
      if (item.child(name) != nullptr || !item.is_struct) kept[name] = value;
    }
    condition = std::move(kept);
  }
}

// By a definition that could not be read again: what it refuses may be allowed by now.
Result<SchemaVerdict> judge(const KindSchema& kind, const Json& object) {
  if (kind.node == nullptr) return kind.unread ? SchemaVerdict::to_ask : SchemaVerdict::fits;
  auto verdict = check_schema(*kind.node, object, kind.built_in);
  if (kind.unread && !verdict.ok()) return SchemaVerdict::to_ask;
  return verdict;
}

}  // namespace

Result<SchemaVerdict> check_schema(const schema::MergeNode& node, const Json& manifest,
                                   bool built_in) {
  if (schema::check_value(node, manifest, false).ok()) return SchemaVerdict::fits;
  Json flat = manifest;
  flatten_texts(flat);
  const auto checked = schema::check_value(node, flat, false);
  if (checked.ok()) return SchemaVerdict::fits;
  std::vector<std::string> problems;
  for (const std::string& line : base::split(checked.error().message(), '\n')) {
    const std::string_view text = base::trim(line);
    const std::string shown = without_value(text);
    // Without a path it is the rest of a value of several lines.
    if (shown.empty() || (shown.front() != '.' && !problems.empty())) continue;
    if (shown == "errors:") continue;
    if (built_in && shown.find(kUnknownField) != std::string::npos) continue;
    problems.push_back(shown);
  }
  if (problems.empty()) return SchemaVerdict::to_ask;
  if (built_in && base::string_at(manifest, {"kind"}) == "Secret") {
    return Error(ErrorKind::invalid,
                 "it is no valid Secret: data and stringData map names to text");
  }
  return Error(ErrorKind::invalid, base::join(problems, "; "));
}

Result<SchemaVerdict> check_status(const KindSchema& kind, const core::Gvk& gvk,
                                   const std::optional<Json>& status,
                                   const std::vector<Json>& conditions) {
  Json printed = schema::merge_patch(Json::object(), status.value_or(Json::object()));
  if (!conditions.empty()) KW_TRY(check_has_conditions(kind.shape, gvk));
  std::vector<Json> written = conditions;
  std::erase_if(written, is_removal);
  if (!written.empty()) {
    if (kind.node != nullptr && !kind.shape.list_map) drop_unknown(*kind.node, written);
    printed["conditions"] = std::move(written);
  }
  if (printed.empty()) return SchemaVerdict::fits;
  return judge(
      kind,
      {{"apiVersion", gvk.api_version()}, {"kind", gvk.kind}, {"status", std::move(printed)}});
}

void KindSchemas::with(const std::vector<core::Gvk>& kinds, const client::ResourceMap* resources,
                       TimePoint oldest, std::function<void()> done) {
  auto left = std::make_shared<std::size_t>(1);
  auto one_less = [left, done = std::move(done)] {
    if (--*left == 0) done();
  };
  for (const core::Gvk& gvk : kinds) {
    // In the order of what it costs: this is asked before each run.
    if (gvk.group.find('.') == std::string::npos || resources == nullptr) continue;
    if (is_fresh(gvk, oldest)) continue;
    const core::ResourceType* type = resources->find(gvk);
    const core::ResourceType* crds = resources->find(kCrd);
    if (type == nullptr || crds == nullptr || schema::builtin_merge_schema(gvk) != nullptr) {
      known_[gvk] = {kNone, client_.loop().now()};
      continue;
    }
    ++*left;
    Definition& definition = definitions_[gvk];
    definition.crds = *crds;
    definition.key = {"", type->plural + "." + gvk.group};
    // What is read from now on is new enough for whoever asks now.
    definition.waiting.push_back({std::min(oldest, client_.loop().now()), one_less});
    read(gvk);
  }
  one_less();
}

void KindSchemas::read(const core::Gvk& gvk) {
  Definition& definition = definitions_[gvk];
  if (definition.waiting.empty() || definition.asked) return;
  definition.asked = client_.loop().now();
  requests_.run<Result<Json>>([this, gvk](const Result<Json>& crd) { take(gvk, crd); },
                              [&](client::ObjectCallback callback) {
                                return client_.get(definition.crds, definition.key,
                                                   std::move(callback));
                              });
}

// What could not be read is not asked for again before its pause is over, however new it has to be.
bool KindSchemas::is_fresh(const core::Gvk& gvk, TimePoint oldest) const {
  const auto it = known_.find(gvk);
  if (it == known_.end()) return false;
  return it->second.again ? client_.loop().now() < *it->second.again : it->second.read_at >= oldest;
}

// Once, until it was read again.
void KindSchemas::note_failure(const core::Gvk& gvk, const core::ObjectKey& definition,
                               const Error& error) {
  Known& known = known_[gvk];
  if (!known.again) {
    base::log_warn("CustomResourceDefinition " + definition.name +
                   " cannot be read: until it can, what is checked by its schema is written only "
                   "after dry runs: " +
                   error.render());
  }
  Duration pause = kFirstPause;
  for (std::uint32_t i = 0; i < known.failures && pause < kLongestSchemaPause; ++i) pause *= 2;
  ++known.failures;
  known.again = client_.loop().now() + std::min(pause, kLongestSchemaPause);
  // What fitted still does. That there are no conditions is not to be trusted any more.
  if (!known.schema.shape.conditions) known.schema.shape = unknown_status_shape();
  known.schema.unread = true;
}

void KindSchemas::take(const core::Gvk& gvk, const Result<Json>& crd) {
  Definition& definition = definitions_[gvk];
  const TimePoint asked = *std::exchange(definition.asked, std::nullopt);
  const bool failed = !crd.ok() && !is_no_definition(crd.error());
  if (failed) {
    note_failure(gvk, definition.key, crd.error());
  } else {
    if (!crd.ok()) base::vlog(2, "no schema of " + gvk.str() + ": " + crd.error().render());
    known_[gvk] = {crd.ok() ? schema_in(*crd, gvk.version) : kNone, asked, {}, 0};
  }
  std::vector<Waiting> served = std::exchange(definition.waiting, {});
  const auto is_later = [&](const Waiting& one) { return !failed && one.oldest > asked; };
  const auto later = std::stable_partition(served.begin(), served.end(), std::not_fn(is_later));
  definition.waiting.assign(std::make_move_iterator(later), std::make_move_iterator(served.end()));
  served.erase(later, served.end());
  read(gvk);
  for (const Waiting& one : served) one.done();
}

StatusShape KindSchemas::status_shape(const core::Gvk& gvk) const {
  if (StatusShape built_in = status_shape_of_builtin(gvk); built_in.known) return built_in;
  return schema_of(gvk).shape;
}

const KindSchema& KindSchemas::schema_of(const core::Gvk& gvk) const {
  const auto it = known_.find(gvk);
  return it == known_.end() ? kNone : it->second.schema;
}

Result<SchemaVerdict> KindSchemas::check(const core::Gvk& gvk, const Json& manifest) const {
  if (const auto node = schema::builtin_merge_schema(gvk)) {
    return check_schema(*node, manifest, true);
  }
  return judge(schema_of(gvk), manifest);
}

Result<SchemaVerdict> KindSchemas::check_status(const core::Gvk& gvk,
                                                const std::optional<Json>& status,
                                                const std::vector<Json>& conditions) const {
  if (const auto node = schema::builtin_merge_schema(gvk)) {
    return hooks::check_status({node, status_shape_of_builtin(gvk), true}, gvk, status, conditions);
  }
  return hooks::check_status(schema_of(gvk), gvk, status, conditions);
}

}  // namespace kubewatch::hooks
