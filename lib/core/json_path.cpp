#include "core/json_path.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "base/json.hpp"
#include "base/strings.hpp"

namespace kubewatch::core {

namespace {

class PathParser {
 public:
  explicit PathParser(std::string_view text) : text_(text) {}

  Result<std::vector<JsonPath::Step>> run() {
    std::vector<JsonPath::Step> steps;
    if (peek() == '$') ++at_;
    while (at_ < text_.size()) {
      if (peek() == '[') {
        KW_ASSIGN(auto step, bracket());
        steps.push_back(std::move(step));
      } else {
        // The first dot may be left out: "status.phase".
        if (peek() == '.') {
          ++at_;
        } else if (!steps.empty()) {
          return error("a '.' or '[' is expected");
        }
        if (peek() == '.') return error("'..' is not supported");
        if (peek() == '[') continue;
        KW_ASSIGN(auto step, field());
        steps.push_back(std::move(step));
      }
    }
    if (steps.empty()) return error("it names no field");
    return steps;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  Error error(std::string_view what) const {
    return {ErrorKind::invalid, fmt::format("invalid JSONPath \"{}\": {} at character {}",
                                            std::string_view(text_), what, at_ + 1)};
  }

  Result<std::string> name(std::string_view ends) {
    std::string out;
    while (at_ < text_.size() && ends.find(text_[at_]) == std::string_view::npos) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;  // "a\.b" is one name
      out.push_back(text_[at_++]);
    }
    if (out.empty()) return error("a field name is missing");
    return out;
  }

  Result<JsonPath::Step> field() {
    if (peek() == '*') {
      ++at_;
      return JsonPath::Step{JsonPath::All{}};
    }
    KW_ASSIGN(auto out, name(".["));
    return JsonPath::Step{JsonPath::Field{std::move(out)}};
  }

  Result<std::string> quoted() {
    const char quote = text_[at_++];
    std::string out;
    while (at_ < text_.size() && text_[at_] != quote) {
      if (text_[at_] == '\\' && at_ + 1 < text_.size()) ++at_;
      out.push_back(text_[at_++]);
    }
    if (at_ >= text_.size()) return error("a quote is not closed");
    ++at_;
    return out;
  }

  Result<void> expect(char c) {
    if (peek() != c) return error(fmt::format("'{}' is expected", c));
    ++at_;
    return {};
  }

  Result<JsonPath::Step> bracket() {
    ++at_;
    JsonPath::Step step;
    const char c = peek();
    if (c == '*') {
      ++at_;
      step = JsonPath::All{};
    } else if (c == '\'' || c == '"') {
      KW_ASSIGN(auto key, quoted());
      step = JsonPath::Field{std::move(key)};
    } else if (c == '?') {
      ++at_;
      KW_TRY(expect('('));
      KW_ASSIGN(auto filter, this->filter());
      step = std::move(filter);
      KW_TRY(expect(')'));
    } else {
      KW_ASSIGN(const auto at, this->index());
      step = JsonPath::Index{at};
    }
    KW_TRY(expect(']'));
    return step;
  }

  Result<std::int64_t> index() {
    std::int64_t out = 0;
    const char* begin = text_.data() + at_;
    const char* end = text_.data() + text_.size();
    const auto [stop, code] = std::from_chars(begin, end, out);
    if (code != std::errc() || stop == begin) {
      return error("an index, '*', a quoted name or '?(' is expected");
    }
    at_ += static_cast<std::size_t>(stop - begin);
    return out;
  }

  void skip_space() {
    while (peek() == ' ') ++at_;
  }

  Result<JsonPath::Filter> filter() {
    JsonPath::Filter out;
    skip_space();
    KW_TRY(expect('@'));
    while (peek() == '.' || peek() == '[') {
      if (text_[at_++] == '[') {
        if (peek() != '\'' && peek() != '"') return error("a quoted name is expected");
        KW_ASSIGN(auto key, quoted());
        out.path.push_back(std::move(key));
        KW_TRY(expect(']'));
      } else {
        KW_ASSIGN(auto key, name(".[)=!<> "));
        out.path.push_back(std::move(key));
      }
    }
    skip_space();
    if (peek() == ')') return out;
    const std::string_view rest = text_.substr(at_);
    if (rest.substr(0, 2) == "==") {
      out.op = JsonPath::Filter::Op::equal;
    } else if (rest.substr(0, 2) == "!=") {
      out.op = JsonPath::Filter::Op::not_equal;
    } else {
      return error("'==', '!=' or ')' is expected (other comparisons are not supported)");
    }
    at_ += 2;
    skip_space();
    if (peek() == '\'' || peek() == '"') {
      KW_ASSIGN(out.value, quoted());
      out.quoted = true;
    } else {
      KW_ASSIGN(out.value, name(") "));
    }
    skip_space();
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

const Json* below(const Json& value, const std::vector<std::string>& path) {
  const Json* at = &value;
  for (const auto& key : path) {
    if (!at->is_object()) return nullptr;
    const auto it = at->find(key);
    if (it == at->end()) return nullptr;
    at = &*it;
  }
  return at;
}

bool passes(const JsonPath::Filter& filter, const Json& item) {
  const Json* found = below(item, filter.path);
  if (filter.op == JsonPath::Filter::Op::exists) return found != nullptr;
  // As kubectl: an absent field fails both comparisons.
  if (found == nullptr || found->is_structured()) return false;
  const bool equal = found->is_string() == filter.quoted && scalar_text(*found) == filter.value;
  return equal == (filter.op == JsonPath::Filter::Op::equal);
}

void take_step(const JsonPath::Step& step, const Json& value, std::vector<const Json*>& out) {
  if (const auto* field = std::get_if<JsonPath::Field>(&step)) {
    if (!value.is_object()) return;
    if (const auto it = value.find(field->name); it != value.end()) out.push_back(&*it);
  } else if (const auto* index = std::get_if<JsonPath::Index>(&step)) {
    if (!value.is_array()) return;
    const auto size = static_cast<std::int64_t>(value.size());
    const std::int64_t at = index->at < 0 ? index->at + size : index->at;
    if (at >= 0 && at < size) out.push_back(&value[static_cast<std::size_t>(at)]);
  } else if (value.is_structured()) {
    const auto* filter = std::get_if<JsonPath::Filter>(&step);
    for (const auto& item : value) {
      if (filter == nullptr || passes(*filter, item)) out.push_back(&item);
    }
  }
}

}  // namespace

std::string scalar_text(const Json& value) {
  return value.is_string() ? value.get<std::string>() : base::dump_json(value);
}

Result<JsonPath> JsonPath::parse(std::string_view text) {
  std::string_view inner = base::trim(text);
  if (!inner.empty() && inner.front() == '{') {
    if (inner.back() != '}') {
      return Error(ErrorKind::invalid,
                   fmt::format("invalid JSONPath \"{}\": '{{' is not closed", text));
    }
    inner = inner.substr(1, inner.size() - 2);
  }
  JsonPath path;
  KW_ASSIGN(path.steps_, PathParser(inner).run());
  return path;
}

std::vector<const Json*> JsonPath::find(const Json& value) const {
  std::vector<const Json*> at{&value};
  for (const auto& step : steps_) {
    std::vector<const Json*> next;
    for (const Json* from : at) take_step(step, *from, next);
    at = std::move(next);
  }
  return at;
}

bool JsonPath::set(Json& value, Json what) const {
  Json* at = &value;
  for (const auto& step : steps_) {
    const auto* field = std::get_if<Field>(&step);
    if (field == nullptr) return false;
    if (at->is_null()) *at = Json::object();
    if (!at->is_object()) return false;
    at = &(*at)[field->name];
  }
  *at = std::move(what);
  return true;
}

std::vector<const Json*> find_at(const Json& value, std::string_view path) {
  const auto parsed = JsonPath::parse(path);
  return parsed.ok() ? parsed->find(value) : std::vector<const Json*>();
}

bool set_at(Json& value, std::string_view path, Json what) {
  const auto parsed = JsonPath::parse(path);
  return parsed.ok() && parsed->set(value, std::move(what));
}

std::string JsonPath::first_field() const {
  const auto* field = steps_.empty() ? nullptr : std::get_if<Field>(&steps_.front());
  return field == nullptr ? "" : field->name;
}

}  // namespace kubewatch::core
