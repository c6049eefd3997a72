#include "cli/watch/event_filter.hpp"

#include "base/strings.hpp"
#include "cli/caret.hpp"

namespace kubewatch::cli::watch {

namespace {

Json old_or_null(const Json* value) {
  return value != nullptr ? *value : Json();
}

}  // namespace

Result<ValuePath> ValuePath::parse(const std::string& text) {
  ValuePath out;
  out.text_ = std::string(base::trim(text));
  if (out.text_.empty()) return Error(ErrorKind::invalid, "an empty path");
  if (out.text_.starts_with("{.") || out.text_.starts_with("{$")) {
    auto path = core::JsonPath::parse(out.text_);
    if (!path.ok()) {
      return Error(ErrorKind::invalid, with_named_caret(path.error().message(), out.text_));
    }
    out.path_ = std::move(*path);
    return out;
  }
  auto program = jq::Program::compile(out.text_);
  if (!program.ok()) {
    return Error(program.error().kind(), with_named_caret(program.error().message(), out.text_));
  }
  out.program_ = std::move(*program);
  return out;
}

Result<Json> ValuePath::of(const Json& object) const {
  std::vector<Json> found;
  if (path_) {
    for (const Json* value : path_->find(object)) found.push_back(*value);
  } else {
    KW_ASSIGN(found, program_->run(object));
  }
  if (found.empty()) return Json();
  if (found.size() == 1) return std::move(found.front());
  return Json(std::move(found));
}

Result<void> ValuePath::check(const std::string& flag, const MetadataReads& kept) const {
  constexpr auto kInput = MetadataReads::Input::object;
  return path_ ? kept.check_path(flag, text_, kInput) : kept.check(flag, *program_, kInput);
}

Json EventView::input() const {
  Json out = *object;
  out["old"] = old_or_null(before);
  out["event"] = type;
  out["initial"] = initial;
  return out;
}

std::vector<std::string> split_paths(std::string_view text) {
  std::vector<std::string> out(1);
  int depth = 0;
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != '\0') {
      if (c == '\\' && i + 1 < text.size()) {
        out.back() += c;
        out.back() += text[++i];
        continue;
      }
      if (c == quote) quote = '\0';
    } else if (c == '"' || c == '\'') {
      quote = c;
    } else if (c == '[' || c == '{' || c == '(') {
      ++depth;
    } else if (c == ']' || c == '}' || c == ')') {
      --depth;
    } else if (c == ',' && depth <= 0) {
      out.emplace_back();
      continue;
    }
    out.back() += c;
  }
  return out;
}

Result<EventFilter> EventFilter::parse(const std::vector<std::string>& fields,
                                       const std::string& when) {
  EventFilter out;
  for (const std::string& list : fields) {
    for (const std::string& text : split_paths(list)) {
      auto path = ValuePath::parse(text);
      if (!path.ok()) return std::move(path).error().with_context("--fields");
      out.fields_.push_back(std::move(*path));
    }
  }
  if (!when.empty()) {
    auto program = jq::Program::compile(when);
    if (!program.ok()) {
      return Error(program.error().kind(), with_named_caret(program.error().message(), when))
          .with_context("--when");
    }
    out.when_ = std::move(*program);
  }
  return out;
}

Result<void> EventFilter::check(const MetadataReads& kept) const {
  for (const ValuePath& field : fields_) KW_TRY(field.check("--fields", kept));
  return when_ ? kept.check("--when", *when_, MetadataReads::Input::event) : Result<void>();
}

std::vector<std::string> EventFilter::field_names() const {
  std::vector<std::string> out;
  for (const ValuePath& field : fields_) out.push_back(field.text());
  return out;
}

Result<std::optional<std::vector<ShownField>>> EventFilter::look(const EventView& event) const {
  using Fields = std::vector<ShownField>;
  if (when_) {
    auto wanted = when_->test(event.input());
    if (!wanted.ok()) return std::move(wanted).error().with_context("--when");
    if (!*wanted) return std::optional<Fields>();
  }
  Fields shown;
  bool changed = fields_.empty() || event.before == nullptr || event.type != "MODIFIED";
  for (const ValuePath& field : fields_) {
    auto after = field.of(*event.object);
    if (!after.ok()) return std::move(after).error().with_context("--fields " + field.text());
    auto before = event.before != nullptr ? field.of(*event.before) : Result<Json>(Json());
    // What the old state makes fail had no value there.
    Json old = before.ok() ? std::move(*before) : Json();
    changed = changed || old != *after;
    shown.push_back({field.text(), std::move(old), std::move(*after)});
  }
  if (!changed) return std::optional<Fields>();
  return std::optional<Fields>(std::move(shown));
}

}  // namespace kubewatch::cli::watch
