// JSON patch (RFC 6902) with the API server's dialect: negative indexes, replace that may add a
// key, its limits and its error sentences; and a limit of depth, which a patch could pass by
// putting one value into another. And JSON merge patch (RFC 7386).
#include <optional>

#include "base/json.hpp"
#include "base/json_pointer.hpp"
#include "base/number_text.hpp"
#include "base/strings.hpp"
#include "schema/go_words.hpp"
#include "schema/patch.hpp"

namespace kubewatch::schema {
namespace {

constexpr std::size_t kMaxOperations = 10000;
constexpr std::size_t kMaxCopied = 3U << 20U;
// List items that all operations together may shift: 10,000 inserts into one huge list would take
// minutes.
constexpr std::size_t kMaxShifted = 20'000'000;
// Values in all that moves take further down, which are looked through for their depth.
constexpr std::size_t kMaxSunk = 20'000'000;

Error invalid(const std::string& what) {
  return Error(ErrorKind::invalid, what);
}

// What a JSON pointer's last step is taken in: an object or a list.
struct Place {
  Json* container = nullptr;
  std::string key;
  std::size_t depth = 0;  // levels down to the container, itself included
};

// Whether a value is no deeper than that; counts what was looked at.
bool fits(const Json& value, std::size_t levels, std::size_t& looked_at) {
  ++looked_at;
  if (!value.is_structured()) return true;
  if (levels == 0) return false;
  for (const Json& below : value) {
    if (!fits(below, levels - 1, looked_at)) return false;
  }
  return true;
}

// No value may be in the document that could not be read again: nobody could write it either, and
// to copy, to compare and to destroy it takes a stack without end.
Result<void> check_depth(const Json& value, std::size_t below, std::size_t& looked_at) {
  const std::size_t deepest = base::JsonLimits().max_depth;
  if (below <= deepest && fits(value, deepest - below, looked_at)) return {};
  return invalid("nested deeper than " + std::to_string(deepest) + " levels");
}

Result<void> check_depth(const Json& value, std::size_t below) {
  std::size_t unlimited = 0;
  return check_depth(value, below, unlimited);
}

std::optional<long> number_of(const std::string& text) {
  return base::read_number<long>(std::string_view(text).substr(text.starts_with("+") ? 1 : 0));
}

Error bad_index(long index) {
  return invalid("Unable to access invalid index: " + std::to_string(index) +
                 ": invalid index referenced");
}

// The position of an existing item (or, to add, one past the last). Errors: invalid.
Result<std::size_t> index_of(const Json& list, const std::string& key, bool adding) {
  const std::optional<long> number = number_of(key);
  if (!number) {
    const std::string parse = "strconv.Atoi: parsing \"" + key + "\": invalid syntax";
    return invalid(adding ? "value was not a proper array index: '" + key + "': " + parse : parse);
  }
  const long size = static_cast<long>(list.size()) + (adding ? 1 : 0);
  const long index = *number < 0 ? *number + size : *number;
  if (index < 0 || index >= size) return bad_index(*number);
  return static_cast<std::size_t>(index);
}

// Null pointer in a value: an object lacks the key.
Result<Json*> get(const Place& place) {
  if (place.container->is_object()) {
    const auto found = place.container->find(place.key);
    return found == place.container->end() ? static_cast<Json*>(nullptr) : &*found;
  }
  KW_ASSIGN(const std::size_t index, index_of(*place.container, place.key, false));
  return &(*place.container)[index];
}

// The depth of what is added was checked.
Result<void> add(const Place& place, Json value, std::size_t& shifted) {
  if (place.container->is_object()) {
    (*place.container)[place.key] = std::move(value);
    return {};
  }
  if (place.key == "-") {
    place.container->push_back(std::move(value));
    return {};
  }
  KW_ASSIGN(const std::size_t index, index_of(*place.container, place.key, true));
  shifted += place.container->size() - index;
  place.container->insert(place.container->begin() + static_cast<long>(index), std::move(value));
  return {};
}

Result<void> remove(const Place& place, std::size_t& shifted) {
  if (place.container->is_object()) {
    if (place.container->erase(place.key) != 0) return {};
    return invalid("Unable to remove nonexistent key: " + place.key + ": missing value");
  }
  KW_ASSIGN(const std::size_t index, index_of(*place.container, place.key, false));
  shifted += place.container->size() - index;
  place.container->erase(index);
  return {};
}

// container is null when a step on the way is missing.
Place find_place(Json& document, const std::string& path) {
  std::vector<std::string> steps = base::split(path, '/');
  if (steps.size() < 2) return {};
  Json* at = &document;
  for (std::size_t i = 1; i + 1 < steps.size(); ++i) {
    const Result<Json*> next = get({at, base::unescape_pointer(steps[i])});
    if (!next.ok() || *next == nullptr || !(*next)->is_structured()) return {};
    at = *next;
  }
  return {at, base::unescape_pointer(steps.back()), steps.size() - 1};
}

class Patcher {
 public:
  explicit Patcher(Json document) : document_(std::move(document)) {}
  Result<void> run(const Json& operation);
  Json take() { return std::move(document_); }

 private:
  Result<std::string> text_of(const Json& operation, const char* name,
                              const std::string& otherwise);
  Result<void> run_add(const Json& operation);
  Result<void> run_remove(const Json& operation);
  Result<void> run_replace(const Json& operation);
  Result<void> run_move(const Json& operation);
  Result<void> run_copy(const Json& operation);
  Result<void> run_test(const Json& operation);

  Json document_;
  std::size_t copied_ = 0;
  std::size_t shifted_ = 0;
  std::size_t sunk_ = 0;
};

Json value_of(const Json& operation) {
  const auto found = operation.find("value");
  return found == operation.end() ? Json() : *found;
}

Result<std::string> Patcher::text_of(const Json& operation, const char* name,
                                     const std::string& otherwise) {
  const auto found = operation.find(name);
  if (found == operation.end() || !found->is_string())
    return invalid(otherwise + ": missing value");
  return found->get<std::string>();
}

Result<void> in(Result<void> result, const std::string& what) {
  if (result.ok()) return result;
  return invalid(what + ": " + result.error().message());
}

Result<void> Patcher::run_add(const Json& operation) {
  KW_ASSIGN(const std::string path,
            text_of(operation, "path", "add operation failed to decode path"));
  const Place place = find_place(document_, path);
  if (place.container == nullptr) {
    return invalid("add operation does not apply: doc is missing path: \"" + path +
                   "\": missing value");
  }
  const std::string what = "error in add for path: '" + path + "'";
  Json value = value_of(operation);
  KW_TRY(in(check_depth(value, place.depth), what));
  return in(add(place, std::move(value), shifted_), what);
}

Result<void> Patcher::run_remove(const Json& operation) {
  KW_ASSIGN(const std::string path,
            text_of(operation, "path", "remove operation failed to decode path"));
  const Place place = find_place(document_, path);
  if (place.container == nullptr) {
    return invalid("remove operation does not apply: doc is missing path: \"" + path +
                   "\": missing value");
  }
  return in(remove(place, shifted_), "error in remove for path: '" + path + "'");
}

Result<void> Patcher::run_replace(const Json& operation) {
  KW_ASSIGN(const std::string path, text_of(operation, "path",
                                            "replace operation failed to decode path: "
                                            "operation missing path field"));
  if (path.empty()) {
    Json value = value_of(operation);
    if (!value.is_structured()) return invalid("replace operation value must be object or array");
    KW_TRY(in(check_depth(value, 0), "error in replace for path: ''"));
    document_ = std::move(value);
    return {};
  }
  const Place place = find_place(document_, path);
  if (place.container == nullptr) {
    return invalid("replace operation does not apply: doc is missing path: " + path +
                   ": missing value");
  }
  const Result<Json*> old = get(place);
  if (!old.ok()) {
    return invalid("replace operation does not apply: doc is missing key: " + path +
                   ": missing value");
  }
  Json value = value_of(operation);
  KW_TRY(in(check_depth(value, place.depth), "error in replace for path: '" + path + "'"));
  if (*old == nullptr) return add(place, std::move(value), shifted_);
  **old = std::move(value);
  return {};
}

Result<void> Patcher::run_move(const Json& operation) {
  KW_ASSIGN(const std::string from, text_of(operation, "from",
                                            "move operation failed to decode from: "
                                            "operation, missing from field"));
  const Place source = find_place(document_, from);
  if (source.container == nullptr) {
    return invalid("move operation does not apply: doc is missing from path: " + from +
                   ": missing value");
  }
  const Result<Json*> found = get(source);
  if (!found.ok()) {
    return invalid("error in move for path: '" + source.key + "': " + found.error().message());
  }
  Json value = *found == nullptr ? Json() : std::move(**found);
  KW_TRY(in(remove(source, shifted_), "error in move for path: '" + source.key + "'"));
  KW_ASSIGN(const std::string path, text_of(operation, "path",
                                            "move operation failed to decode path: "
                                            "operation missing path field"));
  const Place target = find_place(document_, path);
  if (target.container == nullptr) {
    return invalid("move operation does not apply: doc is missing destination path: " + path +
                   ": missing value");
  }
  // What stays where it is or rises was shallow enough before.
  if (target.depth > source.depth) {
    KW_TRY(in(check_depth(value, target.depth, sunk_), "error in move for path: '" + path + "'"));
  }
  return in(add(target, std::move(value), shifted_), "error in move for path: '" + path + "'");
}

Result<void> Patcher::run_copy(const Json& operation) {
  KW_ASSIGN(const std::string from, text_of(operation, "from",
                                            "copy operation failed to decode from: "
                                            "operation, missing from field"));
  const Place source = find_place(document_, from);
  if (source.container == nullptr) {
    return invalid("copy operation does not apply: doc is missing from path: " + from +
                   ": missing value");
  }
  const Result<Json*> found = get(source);
  if (!found.ok()) {
    return invalid("error in copy for from: '" + from + "': " + found.error().message());
  }
  Json value = *found == nullptr ? Json() : **found;
  KW_ASSIGN(const std::string path,
            text_of(operation, "path", "copy operation failed to decode path"));
  const Place target = find_place(document_, path);
  if (target.container == nullptr) {
    return invalid("copy operation does not apply: doc is missing destination path: " + path +
                   ": missing value");
  }
  copied_ += base::dump_json(value).size();
  if (copied_ > kMaxCopied) {
    return Error(ErrorKind::invalid,
                 "Unable to complete the copy, the accumulated size increase of copy is " +
                     std::to_string(copied_) + ", exceeding the limit " +
                     std::to_string(kMaxCopied));
  }
  KW_TRY(in(check_depth(value, target.depth), "error while adding value during copy"));
  return in(add(target, std::move(value), shifted_), "error while adding value during copy");
}

Result<void> Patcher::run_test(const Json& operation) {
  KW_ASSIGN(const std::string path, text_of(operation, "path",
                                            "test operation failed to decode path: "
                                            "operation missing path field"));
  const Json wanted = value_of(operation);
  const Error failed = invalid("testing value " + path + " failed: test failed");
  if (path.empty()) return document_ == wanted ? Result<void>() : failed;
  const Place place = find_place(document_, path);
  if (place.container == nullptr) {
    return invalid("test operation does not apply: is missing path: " + path + ": missing value");
  }
  const Result<Json*> found = get(place);
  if (!found.ok())
    return invalid("error in test for path: '" + path + "': " + found.error().message());
  const bool equal = *found == nullptr ? wanted.is_null() : **found == wanted;
  return equal ? Result<void>() : failed;
}

Result<void> Patcher::run(const Json& operation) {
  if (!operation.is_object()) return invalid("a JSON patch operation is not an object");
  if (shifted_ > kMaxShifted) {
    return Error(ErrorKind::too_large, "the JSON patch shifts more than " +
                                           std::to_string(kMaxShifted) +
                                           " list items; use fewer operations on long lists");
  }
  if (sunk_ > kMaxSunk) {
    return Error(ErrorKind::too_large, "the JSON patch moves more than " +
                                           std::to_string(kMaxSunk) +
                                           " values further down; use fewer operations");
  }
  const std::string op = base::string_at(operation, {"op"});
  if (op == "add") return run_add(operation);
  if (op == "remove") return run_remove(operation);
  if (op == "replace") return run_replace(operation);
  if (op == "move") return run_move(operation);
  if (op == "copy") return run_copy(operation);
  if (op == "test") return run_test(operation);
  return invalid("Unexpected kind: " + (op.empty() ? "unknown" : op));
}

}  // namespace

std::optional<std::string> why_no_operations(const Json& operations) {
  for (const Json& operation : operations) {
    if (operation.is_null()) continue;
    if (!operation.is_object()) {
      return misread_value(json_word(operation), "handlers.jsonPatchOp");
    }
    for (const char* key : {"op", "path", "from"}) {
      const Json* text = base::find(operation, {key});
      if (text == nullptr || text->is_null() || text->is_string()) continue;
      return misread_field(json_word(*text), std::string("jsonPatchOp.") + key, "string");
    }
  }
  return std::nullopt;
}

Result<Json> json_patch(const Json& target, const Json& operations) {
  if (!operations.is_array()) return invalid("a JSON patch must be a list of operations");
  if (operations.size() > kMaxOperations) {
    return Error(ErrorKind::too_large,
                 "Request entity too large: The allowed maximum operations in a JSON patch is " +
                     std::to_string(kMaxOperations) + ", got " + std::to_string(operations.size()));
  }
  Patcher patcher(target);
  for (const Json& operation : operations) KW_TRY(patcher.run(operation));
  return patcher.take();
}

void drop_member_nulls(Json& value) {
  if (value.is_object()) {
    for (auto item = value.begin(); item != value.end();) {
      item = item->is_null() ? value.erase(item) : std::next(item);
    }
  }
  if (value.is_structured()) {
    for (Json& below : value) drop_member_nulls(below);
  }
}

// Nulls of the patch that delete nothing are left out, but not those in a list that replaces an
// object: the server's library has it so.
Json merge_patch(Json target, const Json& patch) {
  if (!target.is_object()) {
    Json made = patch;
    drop_member_nulls(made);
    return made;
  }
  if (!patch.is_object()) return patch;
  for (const auto& [key, value] : patch.items()) {
    if (value.is_null()) {
      target.erase(key);
    } else {
      Json& member = target[key];
      member = merge_patch(std::move(member), value);
    }
  }
  return target;
}

}  // namespace kubewatch::schema
