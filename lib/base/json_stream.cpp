// One pass finds where a document ends, a second one builds it within the limits.
#include "base/json_stream.hpp"

#include <fmt/format.h>

#include <string>

#include "base/strings.hpp"
#include "base/yaml_parser.hpp"
#include "base/yaml_scalar.hpp"

namespace kubewatch::base {

namespace {

constexpr std::string_view kSpace = " \t\r\n";

// The end of the object or array that begins at `begin`; 0 when it does not end.
std::size_t end_of_document(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  bool in_string = false;
  for (std::size_t i = begin; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && --depth == 0) {
      return i + 1;
    }
  }
  return 0;
}

// Whether a line of --- begins at `at`.
bool is_separator(std::string_view text, std::size_t at) {
  if (!text.substr(at).starts_with("---") || (at > 0 && text[at - 1] != '\n')) return false;
  return at + 3 == text.size() || kSpace.find(text[at + 3]) != std::string_view::npos;
}

// Of nlohmann's parser, which itself keeps the last of two equal keys in silence.
class Builder : public nlohmann::json_sax<Json> {
 public:
  // `nodes`: values and keys so far, over all documents.
  Builder(const YamlLimits& limits, std::size_t& nodes) : limits_(limits), nodes_(nodes) {}

  bool null() override { return place(nullptr) != nullptr; }
  bool boolean(bool value) override { return place(value) != nullptr; }
  bool number_integer(number_integer_t value) override { return place(value) != nullptr; }
  bool number_unsigned(number_unsigned_t value) override {
    constexpr auto kMax = static_cast<number_unsigned_t>(INT64_MAX);
    return (value > kMax ? place(value) : place(static_cast<std::int64_t>(value))) != nullptr;
  }
  bool number_float(number_float_t, const string_t& text) override {
    return place(resolve_plain_scalar(text)) != nullptr;
  }
  bool string(string_t& value) override { return place(std::move(value)) != nullptr; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    if (!count()) return false;
    const auto [at, added] = open_.back()->get_ref<Json::object_t&>().try_emplace(std::move(value));
    if (!added) {
      return refuse(ErrorKind::invalid,
                    fmt::format("key \"{}\" appears twice", escape_for_terminal(at->first)));
    }
    place_ = &at->second;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    place_of_error_ = position > 0 ? position - 1 : 0;
    return refuse(ErrorKind::invalid, "not valid JSON");
  }

  Json take() { return std::move(root_); }
  ErrorKind kind() const { return kind_; }
  const std::string& why() const { return why_; }
  std::size_t place_of_error() const { return place_of_error_; }  // 0: somewhere in the document

 private:
  bool refuse(ErrorKind kind, std::string why) {
    kind_ = kind;
    why_ = std::move(why);
    return false;
  }

  bool count() {
    if (++nodes_ <= limits_.max_nodes) return true;
    return refuse(ErrorKind::too_large, fmt::format("more than {} values", limits_.max_nodes));
  }

  template <class T>
  Json* place(T&& value) {
    if (!count()) return nullptr;
    if (place_ == nullptr) {
      auto& list = open_.back()->get_ref<Json::array_t&>();
      list.emplace_back(std::forward<T>(value));
      return &list.back();
    }
    *place_ = Json(std::forward<T>(value));
    return std::exchange(place_, nullptr);
  }

  bool open(Json empty) {
    if (open_.size() >= limits_.max_depth) {
      return refuse(ErrorKind::too_large,
                    fmt::format("nested deeper than {} levels", limits_.max_depth));
    }
    Json* placed = place(std::move(empty));
    if (placed != nullptr) open_.push_back(placed);
    return placed != nullptr;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const YamlLimits& limits_;
  std::size_t& nodes_;
  Json root_;
  Json* place_ = &root_;  // of the next value; null: at the end of the list that is open
  std::vector<Json*> open_;
  ErrorKind kind_ = ErrorKind::invalid;
  std::string why_;
  std::size_t place_of_error_ = 0;
};

}  // namespace

Result<std::vector<JsonAt>> parse_json_stream(std::string_view text, const YamlLimits& limits,
                                              bool& only_json) {
  std::vector<JsonAt> out;
  only_json = false;
  std::size_t nodes = 0;
  const auto refuse = [text](std::size_t at, ErrorKind kind, std::string_view why) {
    return yaml_error(kind, mark_at(text, at), why);
  };
  std::size_t at = text.find_first_not_of(kSpace);
  while (at != std::string_view::npos) {
    if (is_separator(text, at)) {
      at = text.find_first_not_of(kSpace, at + 3);
      only_json = false;
      continue;
    }
    if (text[at] != '{' && text[at] != '[')
      return refuse(at, ErrorKind::invalid, "not a JSON document");
    const std::size_t end = end_of_document(text, at);
    if (end == 0) return refuse(at, ErrorKind::invalid, "a JSON document does not end");
    if (out.size() >= limits.max_documents) {
      return refuse(at, ErrorKind::too_large,
                    fmt::format("more than {} {}", limits.max_documents, limits.documents_are));
    }
    Builder builder(limits, nodes);
    const std::string_view document = text.substr(at, end - at);
    if (!Json::sax_parse(document.begin(), document.end(), &builder)) {
      return refuse(at + builder.place_of_error(), builder.kind(), builder.why());
    }
    out.push_back({builder.take(), at});
    at = text.find_first_not_of(kSpace, end);
    only_json = true;
  }
  return out;
}

}  // namespace kubewatch::base
